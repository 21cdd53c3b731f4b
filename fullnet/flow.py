"""Gradient flow, event by event: Taylor series, exact switches, Filippov sliding (derived here).

Between events all neurons of one sign and state move by one displacement, linear in the impulses Sⱼ = ∫ Uⱼ
dt, so a smooth piece is an ODE in the N forces alone, whatever m and d are. Its Taylor series gives dense
output and the events as roots of polynomials; no step crosses a kink. Steps follow the forces, so they grow
like t.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from fullnet import checks
from fullnet.data import DataSet
from fullnet.decide import RIDGES
from fullnet.errors import InputError
from fullnet.history import Ints
from fullnet.loss import loss_named
from fullnet.network import Network, matching
from fullnet.plain import PlainEngine
from fullnet.standing import Log, Standing, first_standing
from fullnet.storage import save
from fullnet.task import Task
from fullnet.trajectory import Outcome, Trajectory, resumed, trajectory, with_shadow

Progress = Callable[[float, int], None]

FLOW_ENGINES = ("auto", "numba", "numpy")

_ORDER, _SHADOW_ORDER = 24, 20
_LATEST = 1e300
_WORTH_COMPILING = 12_000
_BETWEEN_REPORTS = 0.1
_MOST = 1 << 40
_WRITING_SHARE = 20


@dataclass(frozen=True)
class Budget:
    """The most a flow may use: smooth pieces, seconds of wall time, events (None: no bound)."""

    steps: int | None = None
    seconds: float | None = None
    events: int | None = None

    def __post_init__(self) -> None:
        """Check the bounds; raise InputError."""
        for name, bound in (("steps", self.steps), ("events", self.events)):
            if bound is not None:
                checks.count(bound, f"budget {name}", 0)
        if self.seconds is not None and checks.number(self.seconds, "budget seconds") < 0:
            raise InputError("budget seconds", self.seconds, "a number ≥ 0")


@dataclass(frozen=True)
class Checkpoint:
    """Where and how often a flow is saved on the way: path, seconds of wall time between two savings.

    The file is complete at any moment: it is written under another name and then moved. Savings are kept
    rarer than asked where they would take more than a twentieth of the time.
    """

    path: str | Path
    seconds: float = 5.0

    def __post_init__(self) -> None:
        """Check the interval; raise InputError."""
        if checks.number(self.seconds, "checkpoint seconds") < 0:
            raise InputError("checkpoint seconds", self.seconds, "a number ≥ 0")


def gradient_flow(
    network: Network,
    data: DataSet,
    until: float,
    loss: str = "exp",
    ridge: str | None = None,
    tolerance: float = 2.0**-56,
    budget: Budget | None = None,
    on_progress: Progress | None = None,
    estimate_error: bool = False,
    engine: str = "auto",
    checkpoint: Checkpoint | None = None,
    resume: Trajectory | None = None,
) -> Trajectory:
    """Follow the gradient flow of all weights from t = 0 to ``until``, with every switch of every neuron.

    Arguments: network; data; until > 0, flow time; loss ``exp`` or ``logistic``; ridge ``active``,
    ``inactive`` or ``slide``, the solution taken from a repelling kink; tolerance, the truncation error of a
    step relative to the forces; budget; on_progress(t, events so far), called now and then; estimate_error
    computes the flow a second time with another order, other steps and other roundings; engine ``numpy``,
    ``numba`` or ``auto`` (numba if installed and worth compiling); checkpoint, where the flow is saved on the
    way and at its end; resume, an earlier part of the same flow, as loaded from a checkpoint: the result is
    then bit for bit that of a flow never interrupted. Returns a Trajectory (outcome ``finished`` or
    ``budget``). Raises InputError, and NotUnique where a neuron lies on a repelling kink and no ridge is given.
    """
    matching(network, data)
    until = checks.positive(until, "until")
    if until > _LATEST:
        raise InputError("until", until, f"at most {_LATEST:g}")
    if ridge is not None:
        checks.choice(ridge, "ridge", RIDGES)
    tolerance = checks.positive(tolerance, "tolerance")
    if tolerance > 1e-3:
        raise InputError("tolerance", tolerance, "at most 1e-3")
    kind = loss_named(loss)
    compiled = _compiled(engine, network, data) if resume is None else resume.task.compiled
    task = Task(network, data, kind, ridge, _ORDER, tolerance, compiled)
    bounds = budget or Budget()
    run = _begun(task) if resume is None else _continued(task, resume, until)
    result = run.to(until, bounds, on_progress, checkpoint)
    if estimate_error:
        second = Task(network, data, kind, ridge, _SHADOW_ORDER, tolerance / 4, compiled, mirrored=True)
        result = with_shadow(result, _begun(second).to(until, bounds, None, None))
    if checkpoint is not None:
        save(result, checkpoint.path)
    return result


def _compiled(name: str, network: Network, data: DataSet) -> bool:
    """Decide for the compiled engine."""
    checks.choice(name, "engine", FLOW_ENGINES)
    installed = find_spec("numba") is not None
    if name == "numba" and not installed:
        raise InputError("engine", "numba", "numpy or auto where numba is not installed")
    return name == "numba" or (
        name == "auto" and installed and len(network.sign) * len(data.y) >= _WORTH_COMPILING
    )


class Engine(Protocol):
    """What follows a flow: plain NumPy or compiled."""

    def advance(self, until: float, most: int) -> None:
        """Integrate at least one and up to ``most`` smooth pieces, not past a time."""

    def pause(self) -> None:
        """Leave the standing as all that is needed to go on."""


def _engine(task: Task, standing: Standing, log: Log) -> Engine:
    if not task.compiled:
        return PlainEngine(task, standing, log)
    try:
        from fullnet.compiled import CompiledEngine
    except ImportError:
        raise InputError("resume", "a flow followed with numba", "numba to be installed") from None
    return CompiledEngine(task, standing, log)


@dataclass(eq=False)
class _Run:
    """A flow under way: what it is asked, where it began and stands, what it wrote down."""

    task: Task
    start: Ints
    standing: Standing
    log: Log

    def to(
        self, until: float, budget: Budget, on_progress: Progress | None, checkpoint: Checkpoint | None
    ) -> Trajectory:
        """String smooth pieces together up to a time, or until the budget is used up."""
        engine = _engine(self.task, self.standing, self.log)
        began = reported = saved = time.monotonic()
        pause = 0.0 if checkpoint is None else checkpoint.seconds
        while self.standing.t < until:
            now = time.monotonic()
            if self.exhausted(budget, now - began):
                break
            if on_progress is not None and now - reported > _BETWEEN_REPORTS:
                on_progress(self.standing.t, self.log.moves)
                reported = now
            if checkpoint is not None and now - saved > pause:
                engine.pause()
                save(self.record(until), checkpoint.path)
                saved = time.monotonic()
                pause = max(checkpoint.seconds, _WRITING_SHARE * (saved - now))
            left = None if budget.steps is None else budget.steps - self.log.pieces
            engine.advance(until, _MOST if left is None else left)
        engine.pause()
        return self.record(until)

    def exhausted(self, budget: Budget, seconds: float) -> bool:
        """Return whether the budget is used up."""
        used = ((self.log.pieces, budget.steps), (self.log.moves, budget.events))
        if any(bound is not None and count >= bound for count, bound in used):
            return True
        return budget.seconds is not None and seconds > budget.seconds

    def record(self, until: float) -> Trajectory:
        """Return the flow so far."""
        outcome = Outcome.FINISHED if self.standing.t >= until else Outcome.BUDGET
        return trajectory(self.task, self.standing, self.start, self.log, until, outcome)


def _begun(task: Task) -> _Run:
    standing = first_standing(task.network, task.data, task.loss, task.surfaces, task.ridge)
    return _Run(task, standing.member.copy(), standing, Log())


def _continued(task: Task, earlier: Trajectory, until: float) -> _Run:
    """Go on from an earlier part of the same flow."""
    if not task.same_as(earlier.task):
        raise InputError("resume", "a flow of another problem", "the same network, data, loss and options")
    if earlier.end > until:
        raise InputError("until", until, f"at least {earlier.end:g}, where the flow to resume is")
    return _Run(task, earlier.history.start, *resumed(earlier))

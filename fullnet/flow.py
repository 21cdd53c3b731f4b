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
from typing import Protocol

from fullnet import checks
from fullnet.data import DataSet
from fullnet.decide import RIDGES
from fullnet.errors import InputError
from fullnet.loss import loss_named
from fullnet.network import Network, matching
from fullnet.plain import PlainEngine
from fullnet.standing import Log, Standing, first_standing
from fullnet.task import Task
from fullnet.trajectory import Outcome, Trajectory, trajectory, with_shadow

Progress = Callable[[float, int], None]

_ORDER, _SHADOW_ORDER = 24, 20
_LATEST = 1e300


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
) -> Trajectory:
    """Follow the gradient flow of all weights from t = 0 to ``until``, with every switch of every neuron.

    Arguments: network; data; until > 0, flow time; loss ``exp`` or ``logistic``; ridge ``active``,
    ``inactive`` or ``slide``, the solution taken from a repelling kink; tolerance, the truncation error of a
    step relative to the forces; budget; on_progress(t, events so far), called now and then; estimate_error
    computes the flow a second time with another order, other steps and other roundings. Returns a Trajectory
    (outcome ``finished`` or ``budget``). Raises InputError, and NotUnique where a neuron lies on a repelling
    kink and no ridge is given.
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
    bounds = budget or Budget()
    result = _Run(Task(network, data, loss_named(loss), ridge, _ORDER, tolerance)).to(
        until, bounds, on_progress
    )
    if not estimate_error:
        return result
    second = Task(network, data, loss_named(loss), ridge, _SHADOW_ORDER, tolerance / 4, mirrored=True)
    return with_shadow(result, _Run(second).to(until, bounds, None))


class _Run:
    def __init__(self, task: Task) -> None:
        self.task = task
        self.log = Log()
        self.standing = first_standing(task.network, task.data, task.loss, task.surfaces, task.ridge)
        self.start = self.standing.member.copy()
        self.engine = PlainEngine(task, self.standing, self.log)

    def to(self, until: float, budget: Budget, on_progress: Progress | None) -> Trajectory:
        """String smooth pieces together up to a time, or until the budget is used up."""
        outcome, began = Outcome.FINISHED, time.monotonic()
        while self.standing.t < until:
            if budget.steps is not None and self.log.pieces >= budget.steps:
                outcome = Outcome.BUDGET
            if budget.seconds is not None and time.monotonic() - began > budget.seconds:
                outcome = Outcome.BUDGET
            if outcome is Outcome.BUDGET:
                break
            self.engine.advance(until, 1)
            if on_progress is not None and self.log.pieces % 64 == 0:
                on_progress(self.standing.t, self.log.moves)
        return trajectory(self.task, self.standing, self.start, self.log, until, outcome)

"""The paper's gradient descent, on the inner products ⟨wₖ, xⱼ⟩ only: d does not change a step's cost."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from fullnet import checks
from fullnet.checks import Floats
from fullnet.data import DataSet
from fullnet.descent_plain import run_arrays
from fullnet.descent_state import DescentState, DescentTask, Engine, first_state
from fullnet.errors import InputError
from fullnet.loss import loss_named
from fullnet.network import Network, matching
from fullnet.pace import BETWEEN_REPORTS, BETWEEN_SAVINGS, Pace
from fullnet.shown import shown
from fullnet.trajectory import Outcome

ENGINES = ("auto", "numba", "numpy")
SUBGRADIENTS = (0, 0.5, 1)

_WORTH_COMPILING = 20_000_000

# Scalar products moved between two looks at the clock: a fraction of a second, by the engine.
_COMPILED_AT_ONCE, _PLAIN_AT_ONCE = 50_000_000, 1_000_000


@dataclass(frozen=True, eq=False)
class Descent:
    """A gradient descent run. Times are flow times: step × lr.

    steps made, of the steps asked for; accuracy_changes: (step, accuracy from then on), beginning at step 0;
    right_since (N,): time from which a point is right for good, linearly interpolated inside its step, inf if
    it is not right at the end; T_plat: the last of these (for two-point data that of x₋), None if infinite;
    T_II (two-point data): time of the first step in which a positive neuron active on both points loses x₋,
    after the first r ≥ c, else None; living (m,): active on some point at the end; flips: how often an
    activation changed; network: the final weights; predictions (N,); task and state: all that is needed to go
    on.
    """

    lr: float
    steps: int
    asked: int
    outcome: Outcome
    accuracy_changes: tuple[tuple[int, float], ...]
    right_since: Floats
    T_plat: float | None
    T_II: float | None
    living: NDArray[np.bool_]
    flips: int
    network: Network
    predictions: Floats
    task: DescentTask = field(repr=False)
    state: DescentState = field(repr=False)

    __repr__ = shown


def gradient_descent(
    network: Network,
    data: DataSet,
    lr: float,
    steps: int,
    loss: str = "exp",
    subgradient: float = 0,
    stop_early: bool = True,
    engine: str = "auto",
    on_progress: Callable[[int], None] | None = None,
    seconds: float | None = None,
    on_checkpoint: Callable[[Descent], None] | None = None,
    resume: Descent | None = None,
) -> Descent:
    """Train by full-batch gradient descent.

    Arguments: network; data; lr > 0, the step; steps ≥ 0, the most to make; loss ``exp`` or ``logistic``;
    subgradient, the derivative of ReLU at 0: 0, 0.5 or 1; stop_early ends the run once every point is right
    and, for two-point data, T_II is found; engine ``numba``, ``numpy`` or ``auto`` (numba if installed and
    worth compiling); on_progress (steps made), called now and then; seconds, the most wall time;
    on_checkpoint, called every few seconds with the run so far, to be saved by :func:`save_descents`; resume,
    an earlier part of the same run: the result is then bit for bit that of a run never interrupted, by the
    same engine. Returns a Descent with outcome ``finished`` (stopped early), ``steps``, ``diverged`` or
    ``budget``. Raises InputError.
    """
    matching(network, data)
    lr, steps = checks.moderate(lr, "lr"), checks.count(steps, "steps", 0)
    kind = loss_named(loss)
    checks.choice(subgradient, "subgradient", SUBGRADIENTS)
    if seconds is not None and checks.number(seconds, "seconds") < 0:
        raise InputError("seconds", seconds, "a number ≥ 0")
    compiled = _is_compiled(engine, steps * network.W.shape[0] * len(data.y), resume)
    task = DescentTask(network, data, lr, kind, float(subgradient), compiled, stop_early)
    state = first_state(task) if resume is None else _going_on(task, steps, resume)
    advance, at_once = _engine(task)
    reports, savings, began = Pace(BETWEEN_REPORTS), Pace(BETWEEN_SAVINGS), time.monotonic()
    while state.made < steps and not state.diverged and not state.complete(task):
        if seconds is not None and time.monotonic() - began > seconds:
            break
        state.go(task, advance, min(steps - state.made, at_once))
        if on_progress is not None:
            reports.turn(partial(on_progress, state.made))
        if on_checkpoint is not None:
            savings.turn(lambda: on_checkpoint(descent(task, state.copy(), steps)))
    return descent(task, state, steps)


def _is_compiled(name: str, work: int, resume: Descent | None) -> bool:
    """Decide for the compiled engine: a run goes on with the one it began with."""
    checks.choice(name, "engine", ENGINES)
    if resume is not None:
        return resume.task.compiled
    if name == "numpy" or (name == "auto" and work < _WORTH_COMPILING):
        return False
    try:
        import fullnet.descent_kernel  # noqa: F401
    except ImportError:
        if name == "numba":
            raise InputError("engine", "numba", "numpy or auto where numba is not installed") from None
        return False
    return True


def _going_on(task: DescentTask, steps: int, earlier: Descent) -> DescentState:
    """Return the state in which an earlier part of the same run ended."""
    if task.lr != earlier.task.lr or not task.same_problem(earlier.task):
        expected = "the same network, data, loss, learning rate and subgradient"
        raise InputError("resume", "a descent of another problem", expected)
    if earlier.steps > steps:
        raise InputError("steps", steps, f"at least {earlier.steps}, made by the run to resume")
    return earlier.state.copy()


def _engine(task: DescentTask) -> tuple[Engine, int]:
    """Return what makes the steps, and how many of them between two looks at the clock."""
    products = task.network.W.shape[0] * len(task.data.y)
    if not task.compiled:
        return run_arrays, max(1, _PLAIN_AT_ONCE // products)
    try:
        from fullnet.descent_kernel import run_pair, run_points
    except ImportError:
        raise InputError("resume", "a descent made with numba", "numba to be installed") from None
    compiled: Engine = run_pair if task.data.is_two_point else run_points
    return compiled, max(1, _COMPILED_AT_ONCE // products)


def descent(task: DescentTask, state: DescentState, asked: int) -> Descent:
    """Return the record of a run as it stands: its task, its state, which it keeps, the steps asked for."""
    with np.errstate(over="ignore", invalid="ignore"):
        final = task.network.second_layer @ np.maximum(state.z, 0.0)
        W = task.network.W + state.amounts @ task.data.X
    ended = state
    if not state.diverged and np.any((task.data.y * final > 0) != state.right):
        # the last step is looked at here; a run that goes on looks at it itself
        ended = replace(state, f=state.f.copy(), right=state.right.copy(), changes=[*state.changes])
        ended.note_change(task, final)
    plateau = float(ended.right_since[1] if task.data.is_two_point else ended.right_since.max())
    return Descent(
        lr=task.lr,
        steps=state.made,
        asked=asked,
        outcome=_outcome(task, ended, asked),
        accuracy_changes=tuple(ended.changes),
        right_since=ended.right_since,
        T_plat=plateau if math.isfinite(plateau) else None,
        T_II=state.T_II,
        living=np.any(state.z > 0, axis=1),
        flips=state.flips,
        network=replace(task.network, W=W),
        predictions=final,
        task=task,
        state=state,
    )


def _outcome(task: DescentTask, ended: DescentState, asked: int) -> Outcome:
    if ended.diverged:
        return Outcome.DIVERGED
    if ended.complete(task):
        return Outcome.FINISHED
    return Outcome.STEPS if ended.made >= asked else Outcome.BUDGET

"""What a gradient flow leaves behind: its events and dense output."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullnet.checks import Floats
from fullnet.clock import time_text
from fullnet.data import DataSet
from fullnet.doubt import error_profile
from fullnet.errors import InputError
from fullnet.history import History, Ints
from fullnet.network import Network, total_log_loss, weight_of, weighted_accuracy
from fullnet.pieces import Pieces
from fullnet.standing import MOVE_COLUMNS, PIECE_COLUMNS, Log, Standing
from fullnet.surfaces import State
from fullnet.task import Task

# What is left of a scalar product with the data, relative to its first value, is rounding below this.
_ORIGIN = 1e-9


class Outcome(StrEnum):
    """How a run ended; the value is the name scripts see, ``message`` the sentence people read."""

    FINISHED = "finished"
    BUDGET = "budget"
    DIVERGED = "diverged"
    STEPS = "steps"

    @property
    def message(self) -> str:
        """The outcome in one sentence."""
        return _MESSAGES[self]


_MESSAGES = {
    Outcome.FINISHED: "finished: the run reached its end",
    Outcome.BUDGET: "the budget was used up before the end; everything up to there is kept",
    Outcome.DIVERGED: "diverged: the forces overflowed (the step is too large)",
    Outcome.STEPS: "all steps were made before everything looked for was found",
}


@dataclass(frozen=True)
class Event:
    """A switch: time t, kind (cross, slide, leave, die), the neuron, its pattern before and after.

    A pattern has one character for each data point: ``+`` active, ``-`` inactive, ``0`` sliding.
    """

    t: float
    kind: str
    neuron: int
    before: str
    after: str


@dataclass(frozen=True)
class Death:
    """A neuron inactive on every point from time t on: it never moves again.

    cause: ``start`` (inactive everywhere at time 0), ``left``, or ``origin`` (it came to rest in the origin of
    the data, which it might also leave again: the flow is not unique), with points, the indices of the data
    points it was last active or sliding on.
    """

    t: float
    neuron: int
    cause: str
    points: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A gradient flow from 0 to ``until``: weights and predictions at any time, and every switch in order.

    All times, also those of events and plateaus, are flow times up to 10³⁰⁰ and readings of a clock beyond
    (:mod:`fullnet.clock`: :func:`log_time`, :func:`clock_at`). outcome; shadow, the same flow computed with
    other order and steps when an error estimate was asked for. standing and task are what the flow needs to be
    continued.
    """

    task: Task
    until: float
    outcome: Outcome
    pieces: Pieces
    history: History
    standing: Standing
    shadow: Trajectory | None = None

    def __repr__(self) -> str:
        m, points = len(self.network.sign), len(self.data.y)
        switches = f"{len(self.history.time)} switches up to t = {time_text(self.end)}"
        return f"Trajectory({m} neurons, {points} points, {self.loss} loss; {switches}; {self.outcome.value})"

    def _repr_html_(self) -> str:
        from fullnet.notebook import flow_html

        return flow_html(self)

    @property
    def network(self) -> Network:
        """The network at time 0."""
        return self.task.network

    @property
    def data(self) -> DataSet:
        """The data set."""
        return self.task.data

    @property
    def loss(self) -> str:
        """The name of the loss."""
        return self.task.loss.value

    @property
    def steps(self) -> int:
        """The number of smooth pieces integrated."""
        return len(self.pieces.start) - 1

    @property
    def end(self) -> float:
        """The time up to which the flow is known: ``until``, or less when the budget ran out."""
        return float(self.pieces.start[-1])

    @cached_property
    def living(self) -> NDArray[np.bool_]:
        """Which neurons (m,) are not inactive on every point at the end."""
        alive = np.array([not motion.dead for motion in self.history.motions])
        return alive[self.standing.member]

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Every switch of every neuron, in order of time."""
        history = self.history
        names = history.patterns
        kinds: dict[tuple[int, int], str] = {}
        result = []
        for t, k, old, new in zip(
            history.time.tolist(),
            history.neuron.tolist(),
            history.before.tolist(),
            history.after.tolist(),
            strict=True,
        ):
            if (old, new) not in kinds:
                kinds[old, new] = _kind(history.keys[old][1], history.keys[new][1], names[new])
            result.append(Event(t, kinds[old, new], k, names[old], names[new]))
        return tuple(result)

    @cached_property
    def deaths(self) -> tuple[Death, ...]:
        """The neurons that are dead at the end, in order of time, with the cause of their death."""
        dead = [k for k, name in enumerate(self.patterns(0.0)) if set(name) == {"-"}]
        fatal = [event for event in self.events if event.kind == "die"]
        resting = self._in_origin([event.neuron for event in fatal])
        lost = [
            Death(
                event.t,
                event.neuron,
                "origin" if rests else "left",
                tuple(j for j, c in enumerate(event.before) if c != "-"),
            )
            for event, rests in zip(fatal, resting, strict=True)
        ]
        return (*(Death(0.0, k, "start", ()) for k in dead), *lost)

    def _in_origin(self, neurons: list[int]) -> list[bool]:
        """Return for each of some dead neurons whether it lies in the origin of the data, up to rounding."""
        if not neurons:
            return []
        first, last = (np.abs(self.neurons(t)[neurons] @ self.data.X.T).max(axis=1) for t in (0.0, self.end))
        result: list[bool] = (last <= _ORIGIN * first).tolist()
        return result

    def at(self, t: Any) -> Floats:
        """Return the predictions f(xⱼ) at times t: shape (N,) for one time, (T, N) for T times.

        Raises InputError for a time outside [0, end].
        """
        times = self.checked_times(t)
        f = self.pieces.prediction_at(times.reshape(-1))
        return f.reshape(*times.shape, f.shape[1])

    def log_forces(self, t: Any) -> Floats:
        """Return log Uⱼ, Uⱼ = wⱼ (−ℓ′(yⱼ fⱼ)), at times t, shape as in :meth:`at`."""
        margin = self.data.y * self.at(t)
        result: Floats = np.log(self.data.weights) + self.task.loss.log_force(margin)
        return result

    def log_loss(self, t: Any) -> Any:
        """Return log L at times t, shape of t."""
        return total_log_loss(self.at(t), self.data, self.loss)

    def accuracy(self, t: Any) -> Any:
        """Return the weight of the right points at times t, shape of t."""
        return weighted_accuracy(self.at(t), self.data)

    def neurons(self, t: float) -> Floats:
        """Return all weights (m, d) at a time t.

        A neuron that is dead, and every component orthogonal to the data, stays bit-identical.
        """
        time = float(self.checked_times(t))
        history, pieces = self.history, self.pieces
        done = history.made(time)
        last = np.full(len(history.start), -1)
        last[history.neuron[:done]] = np.arange(done)
        since = np.where(last >= 0, np.append(history.piece, 0)[last], 0)
        high, low = pieces.impulse_at(time)
        gained = (high - pieces.impulse[since]) + (low - pieces.impulse_low[since])
        amounts = _pushed(history, history.classes(time), gained)
        amounts[last >= 0] += self._amounts[last[last >= 0]]
        moved = (self.network.second_layer[:, None] * amounts) @ self.task.surfaces.units
        result: Floats = self.network.W + moved
        return result

    @cached_property
    def _amounts(self) -> Floats:
        """How far the neuron of each move had been pushed along the normals by then, (E, n)."""
        history, pieces = self.history, self.pieces
        previous = history.previous
        since = np.where(previous >= 0, history.piece[previous], 0)
        gained = (pieces.impulse[history.piece] - pieces.impulse[since]) + (
            pieces.impulse_low[history.piece] - pieces.impulse_low[since]
        )
        amounts = _pushed(history, history.before, gained)
        level = np.flatnonzero(previous < 0)
        following = history.following
        while len(level):
            after = following[level]
            ahead = after < len(previous)
            amounts[after[ahead]] += amounts[level[ahead]]
            level = after[ahead]
        return amounts

    def patterns(self, t: float) -> list[str]:
        """Return the pattern of every neuron at a time t (after the events at t)."""
        names = self.history.patterns
        return [names[c] for c in self.history.classes(float(self.checked_times(t))).tolist()]

    @cached_property
    def accuracy_changes(self) -> tuple[tuple[float, float], ...]:
        """(time, accuracy from then on), beginning at time 0; found as roots of the dense output."""
        label = self.data.y
        right = np.zeros(len(label), dtype=bool)
        changes = sorted(
            (t, j, sign * label[j] > 0)
            for j in range(len(label))
            for t, sign in self.pieces.prediction_signs(j)
        )
        found: list[tuple[float, float]] = []
        for t, j, is_right in changes:
            right[j] = is_right
            level = float(weight_of(right, self.data))
            if found and found[-1][0] == t:
                found.pop()
            if not found or found[-1][1] != level:
                found.append((t, level))
        return tuple(found)

    def turns(self, form: Any) -> list[tuple[float, int]]:
        """Return (time, sign from then on) of a linear form (N,) in the forces Uⱼ, beginning at time 0."""
        return self.pieces.form_signs(np.asarray(form, dtype=float))

    @cached_property
    def _error_profile(self) -> tuple[Floats, Floats, Floats, Floats]:
        if self.shadow is None:
            raise InputError("estimate_error", False, "a flow computed with estimate_error=True")
        return error_profile(self, self.shadow)

    def time_error(self, t: Any) -> Any:
        """Estimate the absolute error of event times up to t (needs ``estimate_error=True``)."""
        times, relative, _, _ = self._error_profile
        return np.asarray(t) * relative[np.maximum(np.searchsorted(times, t, side="right") - 1, 0)]

    def prediction_error(self, t: Any) -> Any:
        """Estimate the absolute error of predictions at t (needs ``estimate_error=True``)."""
        _, _, times, absolute = self._error_profile
        return absolute[np.maximum(np.searchsorted(times, t, side="right") - 1, 0)]

    def checked_times(self, t: Any) -> Floats:
        """Return times as an array; raise InputError for one outside [0, end]."""
        times = np.asarray(t, dtype=float)
        if not np.all((times >= 0) & (times <= self.end)):
            raise InputError("t", t, f"times between 0 and {time_text(self.end)}")
        return times


def with_shadow(trajectory: Trajectory, shadow: Trajectory) -> Trajectory:
    """Return the trajectory with its second computation attached."""
    return replace(trajectory, shadow=shadow)


def trajectory(
    task: Task, standing: Standing, start: Ints, log: Log, until: float, outcome: Outcome
) -> Trajectory:
    """Return the record of a flow so far; a last empty piece holds the final state."""
    last = (standing.t, 0.0, 0.0, standing.f, standing.impulse, standing.impulse_low)
    return assembled(task, standing, start, log.piece_columns(last), log.move_columns(), until, outcome)


def resumed(earlier: Trajectory) -> tuple[Standing, Log]:
    """Return copies of where a flow stands and what it wrote down, without the last empty piece."""
    pieces = tuple(getattr(earlier.pieces, name)[:-1] for name in PIECE_COLUMNS)
    moves = tuple(getattr(earlier.history, name) for name in MOVE_COLUMNS)
    log = Log()
    log.add_blocks(pieces, moves)
    return earlier.standing.copied(), log


def assembled(
    task: Task,
    standing: Standing,
    start: Ints,
    pieces: dict[str, Any],
    moves: dict[str, Any],
    until: float,
    outcome: Outcome,
) -> Trajectory:
    """Put a trajectory together from its arrays."""
    history = History(task.surfaces, task.share, tuple(standing.keys), start, **moves)
    smooth = Pieces(task.data, task.loss, history, task.order, **pieces)
    return Trajectory(task, until, outcome, smooth, history, standing)


def _pushed(history: History, classes: Ints, gained: Floats) -> Floats:
    """Return the pushes (M, n) of the classes (M,) by impulses (M, N)."""
    result = np.empty((len(classes), history.surfaces.count))
    for c in np.unique(classes).tolist():
        mine = classes == c
        result[mine] = gained[mine] @ history.pushes[c].T
    return result


def _kind(before: State, after: State, pattern: str) -> str:
    if set(pattern) == {"-"}:
        return "die"
    if any(old != 0 and new == 0 for old, new in zip(before, after, strict=True)):
        return "slide"
    if any(old == 0 and new != 0 for old, new in zip(before, after, strict=True)):
        return "leave"
    return "cross"

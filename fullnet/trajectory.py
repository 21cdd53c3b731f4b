"""What a gradient flow leaves behind: its events and dense output."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullnet.checks import Floats
from fullnet.data import DataSet
from fullnet.errors import InputError
from fullnet.loss import loss_named
from fullnet.network import Network, total_log_loss, weight_of, weighted_accuracy
from fullnet.pieces import Pieces
from fullnet.surfaces import State, Surfaces


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


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A gradient flow from 0 to ``until``: weights and predictions at any time, and every switch in order.

    living (m,): not inactive on every point at the end; outcome; steps, the smooth pieces integrated; shadow,
    the same flow computed with other order and steps when an error estimate was asked for. Times are flow
    times.
    """

    network: Network
    data: DataSet
    loss: str
    until: float
    outcome: Outcome
    events: tuple[Event, ...]
    living: NDArray[np.bool_]
    steps: int
    pieces: Pieces = field(repr=False)
    surfaces: Surfaces = field(repr=False)
    start_states: tuple[State, ...] = field(repr=False)
    event_states: tuple[State, ...] = field(repr=False)
    event_pieces: tuple[int, ...] = field(repr=False)
    shadow: Trajectory | None = field(default=None, repr=False)

    @property
    def end(self) -> float:
        """The time up to which the flow is known: ``until``, or less when the budget ran out."""
        return float(self.pieces.start[-1])

    def at(self, t: Any) -> Floats:
        """Return the predictions f(xⱼ) at times t: shape (N,) for one time, (T, N) for T times.

        Raises InputError for a time outside [0, end].
        """
        times = self._times(t)
        f = self.pieces.prediction_at(times.reshape(-1))
        return f.reshape(*times.shape, f.shape[1])

    def log_forces(self, t: Any) -> Floats:
        """Return log Uⱼ, Uⱼ = wⱼ (−ℓ′(yⱼ fⱼ)), at times t, shape as in :meth:`at`."""
        margin = self.data.y * self.at(t)
        result: Floats = np.log(self.data.weights) + loss_named(self.loss).log_force(margin)
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
        time = float(self._times(t))
        amounts = np.zeros((len(self.network.sign), self.surfaces.count))
        since = [0] * len(amounts)
        state = list(self.start_states)
        high, low = self.pieces.impulse, self.pieces.impulse_low
        for event, after, piece in zip(self.events, self.event_states, self.event_pieces, strict=True):
            if event.t > time:
                break
            k = event.neuron
            gained = (high[piece] - high[since[k]]) + (low[piece] - low[since[k]])
            amounts[k] += self._push(k, state[k]) @ gained
            since[k], state[k] = piece, after
        for k, gained in enumerate(self.pieces.impulse_between(time, since)):
            amounts[k] += self._push(k, state[k]) @ gained
        moved = (self.network.second_layer[:, None] * amounts) @ self.surfaces.units
        result: Floats = self.network.W + moved
        return result

    def patterns(self, t: float) -> list[str]:
        """Return the pattern of every neuron at a time t (after the events at t)."""
        time = float(self._times(t))
        state = list(self.start_states)
        for event, after in zip(self.events, self.event_states, strict=True):
            if event.t > time:
                break
            state[event.neuron] = after
        return [self.surfaces.pattern(one) for one in state]

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
        return _profile(self)

    def time_error(self, t: Any) -> Any:
        """Estimate the absolute error of event times up to t (needs ``estimate_error=True``)."""
        times, relative, _, _ = self._error_profile
        return np.asarray(t) * relative[np.maximum(np.searchsorted(times, t, side="right") - 1, 0)]

    def prediction_error(self, t: Any) -> Any:
        """Estimate the absolute error of predictions at t (needs ``estimate_error=True``)."""
        _, _, times, absolute = self._error_profile
        return absolute[np.maximum(np.searchsorted(times, t, side="right") - 1, 0)]

    def _push(self, neuron: int, state: State) -> Floats:
        return self.surfaces.motion(int(self.network.sign[neuron]), state).push

    def _times(self, t: Any) -> Floats:
        times = np.asarray(t, dtype=float)
        if not np.all((times >= 0) & (times <= self.end)):
            raise InputError("t", t, f"times between 0 and {self.end:g}")
        return times


def _profile(trajectory: Trajectory) -> tuple[Floats, Floats, Floats, Floats]:
    """Return (event times, running relative error) and (piece starts, running absolute error of predictions).

    The same flow at another order and other steps is compared; running maxima and a floor of a few roundings
    for each piece keep a lucky coincidence from being reported as precision.
    """
    shadow = trajectory.shadow
    if shadow is None:
        raise InputError("estimate_error", False, "a flow computed with estimate_error=True")
    eps = float(np.finfo(float).eps)
    starts = trajectory.pieces.start
    common = starts[starts <= shadow.end]
    gap = np.max(np.abs(trajectory.at(common) - shadow.at(common)), axis=1)
    size = 1 + np.max(np.abs(trajectory.pieces.prediction[: len(common)]), axis=1)
    floor = 2 * eps * size * np.sqrt(1 + np.arange(len(common)))
    absolute = np.maximum.accumulate(np.maximum(gap, floor))
    other = {_identity(event, order): event.t for event, order in _ordered(shadow.events)}
    times = np.array([0.0, *(event.t for event in trajectory.events)])
    relative = [16 * eps]
    for event, order in _ordered(trajectory.events):
        twin = other.get(_identity(event, order))
        relative.append(abs(event.t - twin) / event.t if twin is not None and event.t > 0 else 16 * eps)
    return times, np.maximum.accumulate(np.array(relative)), common, absolute


def _ordered(events: tuple[Event, ...]) -> list[tuple[Event, int]]:
    """Return the events with the number of earlier events of the same neuron."""
    seen: dict[int, int] = {}
    result = []
    for event in events:
        seen[event.neuron] = seen.get(event.neuron, -1) + 1
        result.append((event, seen[event.neuron]))
    return result


def _identity(event: Event, order: int) -> tuple[int, int, str, str]:
    return event.neuron, order, event.before, event.after


def with_shadow(trajectory: Trajectory, shadow: Trajectory) -> Trajectory:
    """Return the trajectory with its second computation attached."""
    return replace(trajectory, shadow=shadow)

"""How much of a flow is in doubt: its events and predictions compared with those of a second computation."""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import TYPE_CHECKING

import numpy as np

from fullnet.checks import Floats

if TYPE_CHECKING:
    from fullnet.trajectory import Event, Trajectory

# At so many times at most a flow is compared with its second computation.
_COMPARED = 20_000


def error_profile(trajectory: Trajectory, shadow: Trajectory) -> tuple[Floats, Floats, Floats, Floats]:
    """Return (event times, running relative error) and (piece starts, running absolute error of predictions).

    The same flow at another order and other steps is compared; running maxima and a floor of a few roundings
    for each piece keep a lucky coincidence from being reported as precision. Where the second computation does
    not reach, nothing is known.
    """
    eps = float(np.finfo(float).eps)
    starts = trajectory.pieces.start
    within = np.flatnonzero(starts <= shadow.end)
    which = within[:: 1 + len(within) // _COMPARED]
    common, f = starts[which], trajectory.pieces.prediction[which]
    gap = np.max(np.abs(f - shadow.at(common)), axis=1)
    size = 1 + np.max(np.abs(f), axis=1)
    floor = 2 * eps * size * np.sqrt(1 + which)
    absolute = np.maximum(gap, floor)
    twins = _Twins(shadow)
    times, relative = [0.0], [16 * eps]
    for event, order in _ordered(trajectory.events):
        times.append(event.t)
        relative.append(max(twins.gap(event, order), 16 * eps))
    errors = (_up_to(shadow.end, times, relative), _up_to(shadow.end, common.tolist(), absolute.tolist()))
    return *errors[0], *errors[1]


class _Twins:
    """The events of a second computation, to be found by neuron."""

    def __init__(self, shadow: Trajectory) -> None:
        self.end = shadow.end
        self.same: dict[tuple[int, int, str, str], float] = {}
        self.near: dict[int, list[float]] = {}
        for event, order in _ordered(shadow.events):
            self.same[_identity(event, order)] = event.t
            self.near.setdefault(event.neuron, []).append(event.t)

    def gap(self, event: Event, order: int) -> float:
        """Return by how much an event's time differs, relatively.

        Where the second computation has no such event, its neuron's nearest one counts, or its end.
        """
        twin = self.same.get(_identity(event, order))
        if twin is None:
            twin = min([*self.near.get(event.neuron, ()), self.end], key=lambda t: abs(t - event.t))
        return min(abs(event.t - twin) / event.t, 1.0) if event.t > 0 else 0.0


def _up_to(end: float, times: list[float], errors: list[float]) -> tuple[Floats, Floats]:
    """Return times (T,) and the running maxima of errors (T,), infinite from past ``end`` on."""
    known = bisect_right(times, end)
    running = np.maximum.accumulate([*errors[:known], math.inf])
    return np.array([*times[:known], math.nextafter(end, math.inf)]), running


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

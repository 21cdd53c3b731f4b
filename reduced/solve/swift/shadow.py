"""What rounding may have done to a flow in doubles, seen from a second flow whose input differs by rounding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from reduced.solve.swift.engine import Start, level_of
from reduced.solve.swift.path import Floats
from reduced.solve.swift.piece import Angle

if TYPE_CHECKING:
    from reduced.solve.swift.run import SwiftRun, Switches

_ROUNDING = 2.0**-52
_NUDGE = 4 * _ROUNDING
# A second flow may come out close by chance, and rounding inside the flow adds to that of its input.
_ON_DIFFERENCE = 64.0
_LEAST = 16 * _ROUNDING
_SEED = 20_231


@dataclass(frozen=True)
class Errors:
    """Estimated errors of a flow in doubles: of ln t for times, absolute for predictions.

    times and predictions: by name as in :class:`SwiftRun`; plateaus: of (start, end) of each; events (n,).
    An estimate is inf where the second flow has no such event.
    """

    times: dict[str, float]
    predictions: dict[str, float]
    plateaus: tuple[tuple[float, float], ...]
    events: Floats


def nudged(start: Start, gap: float) -> Start:
    """Return a start whose neurons and force ratio r are moved by a few units in their last place.

    Neurons exactly on a kink stay there, the patterns stay, and so does the level of r.
    """
    shifts = np.random.default_rng(_SEED).uniform(-_NUDGE, _NUDGE, (2, len(start.u)))
    # r = e^(f₊ + f₋)/p carries the absolute error of its exponent
    delta = start.delta + _NUDGE * (1 + abs(start.f_plus) + abs(start.f_minus)) * start.r
    if level_of(delta, gap) != start.level or start.delta in (0.0, gap):
        delta = start.delta
    return replace(
        start,
        u=start.u * (1 + shifts[0]),
        v=start.v * (1 + shifts[1]),
        f_plus=start.f_plus * (1 + _NUDGE),
        f_minus=start.f_minus * (1 + _NUDGE),
        r=start.r + (delta - start.delta),
        delta=delta,
    )


def blurred(angle: Angle) -> Angle:
    """Return the constants of the angle moved by a unit in their last place, as clocks that cancel feel it."""
    return angle._replace(
        c=angle.c * (1 - _ROUNDING), w=angle.w * (1 + _ROUNDING), s2=angle.s2 * (1 + _ROUNDING)
    )


def compare(run: SwiftRun, shadow: SwiftRun | None) -> Errors:
    """Estimate the errors of a flow from the one that began nudged (None: it did not exist). Derived here."""
    names = [name for name, t in run.times.items() if t is not None]
    unknown = ((inf, inf),) * len(run.plateaus)
    if shadow is None:
        nothing = np.full(len(run.events.neuron), inf)
        return Errors(dict.fromkeys(names, inf), dict.fromkeys(run.predictions, inf), unknown, nothing)
    alike = [level for _, _, level in run.plateaus] == [level for _, _, level in shadow.plateaus]
    pairs = zip(run.plateaus, shadow.plateaus, strict=True) if alike else ()
    return Errors(
        {name: _error(run.log_times[name], shadow.log_times[name]) for name in names},
        {name: _of_pair(pair, shadow.predictions.get(name)) for name, pair in run.predictions.items()},
        tuple((_of_times(a[0], b[0]), _of_times(a[1], b[1])) for a, b in pairs) if alike else unknown,
        _of_events(run.events, shadow.events),
    )


def _of_pair(pair: tuple[float, float], other: tuple[float, float] | None) -> float:
    """Return the error of a pair of predictions."""
    if other is None:
        return inf
    return max(_error(f, g) for f, g in zip(pair, other, strict=True))


def _error(value: float | None, other: float | None) -> float:
    """Return a bound on the error of a value that came out as ``other`` the second time (None: did not)."""
    if value is None or other is None:
        return inf
    if abs(value) == inf:
        return 0.0 if value == other else inf
    return _ON_DIFFERENCE * abs(value - other) + _LEAST * (1 + abs(value))


def _of_times(t: float | None, other: float | None) -> float:
    """Return the error of ln t of two flow times."""
    if t is None or other is None:
        return 0.0 if t is other else inf
    with np.errstate(divide="ignore"):
        return _error(float(np.log(t)), float(np.log(other)))


def _of_events(mine: Switches, other: Switches) -> Floats:
    """Return the error of ln t of every event, matched by neuron, the neuron's how-manieth, and patterns."""
    found = np.full(len(mine.neuron), inf)
    first, second = _keys(mine), _keys(other)
    _, here, there = np.intersect1d(first, second, assume_unique=True, return_indices=True)
    same = (mine.before[here] == other.before[there]) & (mine.after[here] == other.after[there])
    here, there = here[same], there[same]
    a, b = mine.log_time[here], other.log_time[there]
    with np.errstate(invalid="ignore"):
        error = _ON_DIFFERENCE * np.abs(a - b) + _LEAST * (1 + np.abs(a))
    found[here] = np.where(np.isfinite(a), error, np.where(a == b, 0.0, inf))
    return found


def _keys(events: Switches) -> Any:
    """Return one integer per event that tells the neuron and how many events of its own came before."""
    order = np.argsort(events.neuron, kind="stable")
    sorted_neurons = events.neuron[order].astype(np.int64)
    starts = np.flatnonzero(np.diff(sorted_neurons, prepend=-1))
    lengths = np.diff(np.append(starts, len(sorted_neurons)))
    rank = np.arange(len(sorted_neurons)) - np.repeat(starts, lengths)
    keys = np.empty(len(sorted_neurons), np.int64)
    keys[order] = sorted_neurons * (int(rank.max(initial=0)) + 1 << 20) + rank
    return keys

"""Phases found on any run: accuracy plateaus, the end of condensation, pattern changes (derived here).

Nothing is typed in but what the words mean. A sign owed to the random start is not learned: a point counts
from where its prediction first changes sign or reaches twice its initial value. A pause between switches is
long where time grows tenfold without one.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from fullnet.checks import Floats
from fullnet.clock import log_time
from fullnet.condensation import Cluster, direction_clusters
from fullnet.history import Ints
from fullnet.shown import shown
from fullnet.trajectory import Trajectory

_LONG = math.log(10.0)

_log_times = np.vectorize(log_time, otypes=[float])


@dataclass(frozen=True)
class Plateau:
    """A stretch of constant accuracy below 1: start and end (None while it goes on), level."""

    start: float
    end: float | None
    level: float


@dataclass(frozen=True)
class PatternChange:
    """Neurons of one sign that go from the pattern before to the pattern after, between times start and end.

    neurons: their indices, in the order in which they go.
    """

    sign: int
    before: str
    after: str
    start: float
    end: float
    neurons: tuple[int, ...]

    __repr__ = shown


@dataclass(frozen=True, eq=False)
class Detection:
    """What was found on a run.

    learned_from: the time from which no prediction owes its sign to its initial value (None: never);
    condensed_at: the last switch before the first long pause (None: no switch); clusters: the directions
    there; plateaus; changes, by kind and time, pauses apart.
    """

    learned_from: float | None
    condensed_at: float | None
    clusters: tuple[Cluster, ...]
    plateaus: tuple[Plateau, ...]
    changes: tuple[PatternChange, ...]

    __repr__ = shown

    def _repr_html_(self) -> str:
        from fullnet.notebook import detection_html

        return detection_html(self)


def detect(flow: Trajectory) -> Detection:
    """Find plateaus, condensation and pattern changes of a flow on any data; returns a Detection."""
    settled = condensed_at(flow)
    clusters = () if settled is None else direction_clusters(flow, settled)
    return Detection(learned_from(flow), settled, clusters, plateaus(flow), pattern_changes(flow))


def learned_from(flow: Trajectory) -> float | None:
    """Return the time from which no prediction has its sign from the random start, or None."""
    times = [learned(flow, point) for point in range(len(flow.data.y))]
    known = [t for t in times if t is not None]
    return max(known) if len(known) == len(times) else None


def learned(flow: Trajectory, point: int) -> float | None:
    """Return when f of a point first changes its sign or reaches twice its initial value, or None."""
    begin = float(flow.pieces.prediction[0, point])
    if begin == 0:
        return 0.0
    changes = (flow.pieces.prediction_signs(point, above) for above in (0.0, 2 * begin))
    return min((signs[1][0] for signs in changes if len(signs) > 1), default=None)


def plateaus(flow: Trajectory) -> tuple[Plateau, ...]:
    """Return the stretches of constant accuracy below 1, without what is owed to the random start."""
    learned = learned_from(flow)
    changes = flow.accuracy_changes
    ends = [*(t for t, _ in changes[1:]), None]
    return tuple(
        Plateau(start, end, level)
        for (start, level), end in zip(changes, ends, strict=True)
        if level < 1 and (end is None or (learned is not None and end > learned))
    )


def condensed_at(flow: Trajectory) -> float | None:
    """Return the time of the last switch before the first long pause after the random start, or None."""
    times = np.unique(flow.history.time)
    if not len(times):
        return None
    late = times[times >= (learned_from(flow) or 0.0)]
    if not len(late):
        return float(times[-1])
    pauses = _long_pauses(np.append(late, np.inf))
    return float(late[pauses[0]])


def pattern_changes(flow: Trajectory) -> tuple[PatternChange, ...]:
    """Return every kind of pattern change with the intervals of time in which it happens, by start."""
    history = flow.history
    kinds: dict[tuple[int, int], list[int]] = defaultdict(list)
    for i, kind in enumerate(zip(history.before.tolist(), history.after.tolist(), strict=True)):
        kinds[kind].append(i)
    found = []
    for (old, new), rows in kinds.items():
        for part in _apart(history.time, np.array(rows)):
            times, neurons = history.time[part], history.neuron[part]
            found.append(
                PatternChange(
                    history.keys[old][0],
                    history.patterns[old],
                    history.patterns[new],
                    float(times[0]),
                    float(times[-1]),
                    tuple(neurons.tolist()),
                )
            )
    return tuple(sorted(found, key=lambda change: (change.start, change.end)))


def _apart(time: Floats, rows: Ints) -> list[Ints]:
    """Split rows of rising times at long pauses."""
    return np.split(rows, _long_pauses(time[rows]) + 1)


def _long_pauses(times: Floats) -> Ints:
    """Return the indices i of rising times with a long pause between times[i] and the next."""
    logs = _log_times(times)
    return np.flatnonzero(logs[1:] > logs[:-1] + _LONG)

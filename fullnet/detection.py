"""Phases found on any run: accuracy plateaus, the end of condensation, pattern changes (derived here).

Nothing is typed in but what the words mean. A sign owed to the random start is not learned: a point counts
from where its prediction has moved by more than its initial value. Pauses between switches are compared in
log-time, and the long ones told from the short ones by the largest ratio between them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from fullnet.checks import Floats
from fullnet.condensation import Cluster, direction_clusters, separating
from fullnet.history import Ints
from fullnet.trajectory import Trajectory


@dataclass(frozen=True)
class Plateau:
    """A stretch of constant accuracy below 1: start and end (None while it goes on), level."""

    start: float
    end: float | None
    level: float


@dataclass(frozen=True)
class PatternChange:
    """Neurons of one sign that go from one pattern to another: from time start to end, in this order."""

    sign: int
    before: str
    after: str
    start: float
    end: float
    neurons: tuple[int, ...]


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


def detect(flow: Trajectory) -> Detection:
    """Find plateaus, condensation and pattern changes of a flow on any data."""
    settled = condensed_at(flow)
    clusters = () if settled is None else direction_clusters(flow, settled)
    return Detection(learned_from(flow), settled, clusters, plateaus(flow), pattern_changes(flow))


def learned_from(flow: Trajectory) -> float | None:
    """Return the first start of a smooth piece from which every |f − f(0)| > |f(0)| stays true, or None."""
    f = flow.pieces.prediction
    moved = np.all((np.abs(f - f[0]) > np.abs(f[0])) | (f[0] == 0), axis=1)
    failing = np.flatnonzero(~moved)
    first = int(failing[-1]) + 1 if len(failing) else 0
    return float(flow.pieces.start[first]) if first < len(moved) else None


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
    """Return the time of the last switch before the first long pause, or None without any switch."""
    times = np.unique(flow.history.time)
    times = times[times > 0]
    if not len(times):
        return None
    begun = learned_from(flow) or 0.0
    late = times[np.searchsorted(times, begun) :]
    if not len(late):
        return float(times[-1])
    pauses = np.append(late, max(flow.end, late[-1]))
    return float(late[int(_long_pauses(pauses)[0])])


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
    """Split rows of rising times at a long pause, one in which more time passes than in all before."""
    positive = np.maximum(time[rows], np.finfo(float).tiny)
    if len(rows) < 2 or positive[0] == positive[-1]:
        return [rows]
    cuts = [i for i in _long_pauses(positive).tolist() if positive[i + 1] > 2 * positive[i]]
    return np.split(rows, np.array(cuts, dtype=int) + 1)


def _long_pauses(times: Floats) -> Ints:
    """Return, in order, the indices i of rising times > 0 with a long pause after times[i]."""
    pause = np.diff(np.log(times))
    falling = np.argsort(-pause, kind="stable")
    mean = float(pause.mean())
    if mean == 0:
        return np.array([len(pause) - 1])
    return np.sort(falling[: separating(pause[falling], mean)])

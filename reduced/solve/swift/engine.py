"""The m-neuron flow from its start to its end: legs of events between the passages of r through c and 1/c."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reduced.solve.swift.chain import (
    BOTH,
    BUDGET,
    COLUMNS,
    COUNTS,
    DEAD,
    DELTA,
    DONE_S,
    F_MINUS,
    F_PLUS,
    FULL,
    LATE_R,
    LEVEL,
    NOBODY,
    ONLY_MINUS,
    ONLY_PLUS,
    RATIO,
    ROWS,
    SLIDE_MINUS,
    SLIDE_PLUS,
    TURNED,
    Neurons,
    Queue,
    Record,
    Setting,
)
from reduced.solve.swift.kernels import Kernels

# So many rows are written before the caller is asked whether to go on.
_ROWS_BETWEEN = 512

# By the levels before and after a passage of r: the groups (sign, sliding pattern) that leave their kink.
_RELEASED = {
    (1, 0): ((1, SLIDE_MINUS, BOTH), (-1, SLIDE_MINUS, ONLY_PLUS)),
    (1, 2): ((-1, SLIDE_PLUS, BOTH), (1, SLIDE_PLUS, ONLY_MINUS)),
}


@dataclass(frozen=True)
class Start:
    """The state at t = 0: per neuron sign ±1, pattern, u, v; f₊, f₋; r = Q/P, δ = r − c and its level."""

    sign: Any
    pattern: Any
    u: Any
    v: Any
    f_plus: Any
    f_minus: Any
    r: Any
    delta: Any
    level: int


def level_of(delta: Any, gap: Any) -> int:
    """Return 0 for r < c, 1 for c ≤ r ≤ 1/c, 2 for r > 1/c."""
    return int(delta >= 0) + int(delta > gap)


def follow(
    setting: Setting, start: Start, kernels: Kernels, stop: Callable[[], bool] | None = None
) -> tuple[Record, int]:
    """Follow the flow until nothing happens any more, or to the last time or row of the setting.

    Arguments: setting; start; kernels, where it runs; stop, asked before every few rows, ends it when it says True.
    Returns the record and why it ends: ENDED, CUT or BUDGET.
    """
    zero = 0 * start.r
    neurons = Neurons(
        kernels.codes(start.sign),
        kernels.codes(start.pattern),
        kernels.reals(start.u),
        kernels.reals(start.v),
    )
    m = len(neurons.sign)
    record = _first_row(start, kernels, neurons, zero)
    while True:
        queues = _queues(setting, neurons, record, kernels, zero)
        why = FULL
        while why == FULL:
            record = _with_room(record, kernels, m + 2, zero)
            why = _run_leg(setting, neurons, queues, record, kernels, stop)
        if why != TURNED:
            return record, int(why)
        mark = 3 * (int(record.counts[ROWS]) - 1)
        passage = int(record.switches[mark + 1]), int(record.switches[mark + 2])
        for sign, before, after in _RELEASED.get(passage, ()):
            kernels.release(setting, neurons, record, sign, before, after)


def _run_leg(
    setting: Setting,
    neurons: Neurons,
    queues: tuple[Queue, ...],
    record: Record,
    kernels: Kernels,
    stop: Callable[[], bool] | None,
) -> int:
    """Run a leg, in portions where there is somebody to ask between them."""
    if stop is None:
        return kernels.run_leg(setting, neurons, *queues, record)
    while not stop():
        most = min(setting.most_rows, int(record.counts[ROWS]) + _ROWS_BETWEEN)
        why = kernels.run_leg(setting._replace(most_rows=most), neurons, *queues, record)
        if why != BUDGET or most == setting.most_rows:
            return why
    return BUDGET


def _first_row(start: Start, kernels: Kernels, neurons: Neurons, zero: Any) -> Record:
    record = Record(kernels.integers([0] * COUNTS), kernels.blank(COLUMNS, zero), kernels.blank(3, 0))
    for pattern in range(DEAD, SLIDE_MINUS + 1):
        record.counts[pattern] = kernels.count(neurons, pattern)
    record.counts[LEVEL], record.counts[ROWS] = start.level, 1
    for column in range(COLUMNS):
        record.rows[column] = zero
    record.rows[F_PLUS], record.rows[F_MINUS] = start.f_plus, start.f_minus
    record.rows[RATIO], record.rows[DELTA] = start.r, start.delta
    for place in range(3):
        record.switches[place] = NOBODY
    return record


def _with_room(record: Record, kernels: Kernels, count: int, zero: Any) -> Record:
    """Return the record with room for at least so many more rows."""
    used = int(record.counts[ROWS])
    if len(record.switches) >= 3 * (used + count):
        return record
    needed = 2 * used + 3 * count
    return Record(
        record.counts,
        kernels.grow(record.rows, COLUMNS * needed, zero),
        kernels.grow(record.switches, 3 * needed, 0),
    )


def _queues(
    setting: Setting, neurons: Neurons, record: Record, kernels: Kernels, zero: Any
) -> tuple[Queue, ...]:
    """Return the four sorted lists and two empty heaps of the leg that begins."""
    c, s2 = setting.angle.c, setting.angle.s2
    level, members = record.counts[LEVEL], kernels.members(neurons)
    for place in range(DONE_S, LATE_R + 1):
        record.counts[place] = 0
    u, v = neurons.u, neurons.v
    by_S = (members(1, ONLY_PLUS), v, -c), (members(-1, ONLY_PLUS), u, 1), (members(-1, SLIDE_MINUS), u, s2)
    by_R = (members(1, ONLY_MINUS), v, 1), (members(-1, ONLY_MINUS), u, -c), (members(1, SLIDE_PLUS), v, s2)
    by_X = ((members(1 if level == 2 else -1, BOTH), u, 1),)
    by_Y = ((members(-1 if level == 0 else 1, BOTH), v, 1),)
    m = len(neurons.sign)
    heaps = tuple(Queue(kernels.blank(m, zero), kernels.blank(m, 0)) for _ in range(2))
    return (*(kernels.queue(groups) for groups in (by_S, by_R, by_X, by_Y)), *heaps)

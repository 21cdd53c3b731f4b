"""Table 1 of the paper: which neurons change their activation on which point in which phase."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from reduced.shown import shown
from reduced.theorems.evidence import Evidence

GROUPS = ("K+", "K-", "dead")


@dataclass(frozen=True)
class PatternRow:
    """One group in one period: its size, and what became of its activation on x₊ and x₋.

    ``begin`` and ``end`` are flow times; ``on_plus`` and ``on_minus`` count (before, after) pairs of sgn: 1
    active, 0 inactive or sliding. Source: Table 1.
    """

    period: str
    begin: float
    end: float
    group: str
    size: int
    on_plus: dict[tuple[int, int], int]
    on_minus: dict[tuple[int, int], int]

    __repr__ = shown


def pattern_table(e: Evidence) -> tuple[PatternRow, ...]:
    """Read Table 1 off the events of a flow: a row for every period that came and every group.

    Arguments: e, the evidence of a network. The groups are by what the neurons are in the end; the periods are
    Phase I (to its last event), Phase II, the transition, Phase III, its end, and Phase IV (to the end of the
    flow). Returns the rows in the order of the periods.
    """
    groups = dict(zip(GROUPS, (e.positive, e.negative, e.phases.dead), strict=True))
    rows = []
    for period in _periods(e):
        before, after = e.flow.patterns(period.look_from), e.flow.patterns(period.look_to)
        for group, members in groups.items():
            on_plus, on_minus = (_changes(before, after, members, point) for point in (0, 1))
            rows.append(
                PatternRow(period.name, period.begin, period.end, group, len(members), on_plus, on_minus)
            )
    return tuple(rows)


def changes_in_words(found: dict[tuple[int, int], int]) -> str:
    """Write the changes of a cell: ``1`` when all stay 1, ``1→0 (26)`` when 26 change, and so on.

    Arguments: found, how many neurons have which (before, after). Returns the text; ``–`` without neurons.
    """
    changed = [f"{a}→{b} ({n})" for (a, b), n in sorted(found.items()) if a != b]
    stayed = "/".join(str(a) for a in sorted({a for (a, b) in found if a == b}))
    if not changed:
        return stayed or "–"
    return ", ".join(changed)


@dataclass(frozen=True)
class _Period:
    """A period by name and times, and the times whose patterns tell its beginning from its end."""

    name: str
    begin: float
    end: float
    look_from: float
    look_to: float


def _periods(e: Evidence) -> list[_Period]:
    """Return the periods that came. A period that ends with an event is looked at just before that event."""
    settled, T_II, T_III_PT, T_III = (
        e.time(name) for name in ("last_phase_one_event", "T_II", "T_III_PT", "T_III")
    )
    begin = settled or 0.0
    periods = [_Period("I", 0.0, begin, 0.0, begin)]
    for quiet, passage, start, stop in (
        ("II", "II → III", T_II, T_III_PT),
        ("III", "III → IV", T_III, T_III),
    ):
        if start is None or stop is None:
            return [*periods, _Period(quiet, begin, e.flow.end, begin, e.flow.end)]
        eve = _before(e, start)
        periods += [_Period(quiet, begin, start, begin, eve), _Period(passage, start, stop, eve, stop)]
        begin = stop
    return [*periods, _Period("IV", begin, e.flow.end, begin, e.flow.end)]


def _before(e: Evidence, event: float) -> float:
    """Return a time between an event and the one before it."""
    return (max((one.t for one in e.flow.events if one.t < event), default=0.0) + event) / 2


def _changes(before: list[str], after: list[str], members: Any, point: int) -> dict[tuple[int, int], int]:
    return dict(Counter((int(before[k][point] == "+"), int(after[k][point] == "+")) for k in members))

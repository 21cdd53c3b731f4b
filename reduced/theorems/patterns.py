"""Table 1 of the paper: which neurons change their activation on which point in which phase."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from reduced.theorems.evidence import Evidence

GROUPS = ("K+", "K-", "dead")


@dataclass(frozen=True)
class PatternRow:
    """One group in one period: its size, and what became of its activation on x₊ and x₋.

    ``on_plus`` and ``on_minus`` count (before, after) pairs of sgn: 1 active, 0 inactive or sliding.
    """

    period: str
    begin: float
    end: float
    group: str
    size: int
    on_plus: dict[tuple[int, int], int]
    on_minus: dict[tuple[int, int], int]


def pattern_table(e: Evidence) -> tuple[PatternRow, ...]:
    """Read Table 1 off the events of a flow: a row for every period that came and every group.

    The groups are by what the neurons are in the end; the periods are Phase I (to its last event), Phase II,
    the transition, Phase III, its end, and Phase IV (to the end of the flow).
    """
    groups = dict(zip(GROUPS, (e.positive, e.negative, e.phases.dead), strict=True))
    rows = []
    for period, begin, end in _periods(e):
        before, after = e.flow.patterns(begin), e.flow.patterns(end)
        for group, members in groups.items():
            rows.append(
                PatternRow(
                    period,
                    begin,
                    end,
                    group,
                    len(members),
                    _changes(before, after, members, 0),
                    _changes(before, after, members, 1),
                )
            )
    return tuple(rows)


def changes_in_words(found: dict[tuple[int, int], int]) -> str:
    """Write the changes of a cell: ``1`` when all stay 1, ``1→0 (26)`` when 26 change, and so on."""
    changed = [f"{a}→{b} ({n})" for (a, b), n in sorted(found.items()) if a != b]
    stayed = "/".join(str(a) for a in sorted({a for (a, b) in found if a == b}))
    if not changed:
        return stayed or "–"
    return ", ".join(changed)


def _periods(e: Evidence) -> list[tuple[str, float, float]]:
    """Return (name, begin, end) of the periods that came."""
    times = {name: e.time(name) for name in ("T_II", "T_III_PT", "T_III")}
    settled, end = e.time("last_phase_one_event") or 0.0, e.flow.end
    marks: list[tuple[str, float | None]] = [
        ("I", settled),
        ("II", _before(e, times["T_II"])),
        ("II → III", times["T_III_PT"]),
        ("III", _before(e, times["T_III"])),
        ("III → IV", times["T_III"]),
    ]
    periods, begin = [], 0.0
    for name, stop in marks:
        if stop is None:
            break
        periods.append((name, begin, stop))
        begin = stop
    last = {"I": "II", "II → III": "III", "III → IV": "IV"}.get(periods[-1][0])
    if last is not None and begin < end:
        periods.append((last, begin, end))
    return periods


def _before(e: Evidence, event: float | None) -> float | None:
    """Return a time between an event and the one before it."""
    if event is None:
        return None
    earlier = [one.t for one in e.flow.events if one.t < event]
    return ((earlier[-1] if earlier else 0.0) + event) / 2


def _changes(before: list[str], after: list[str], members: Any, point: int) -> dict[tuple[int, int], int]:
    return dict(Counter((int(before[k][point] == "+"), int(after[k][point] == "+")) for k in members))

"""Which moments of a flow are worth showing: its window in log-time, the ends of its phases, its still pictures."""

from __future__ import annotations

import math
from itertools import pairwise

import fullnet

_BEFORE, _AFTER = 0.1, 30.0


def window(path: fullnet.Trajectory) -> tuple[float, float]:
    """Return the flow times worth showing: from before the first switch to well into the last phase.

    Arguments: path, a flow on two-point data. Returns (first, last), 0 < first < last ≤ path.end.
    """
    ends = [t for t in fullnet.phase_times(path).times.values() if t and t <= path.end]
    switches = [event.t for event in path.events if event.t > 0]
    known = [*ends, *switches[:1]] or [path.end]
    last = min(path.end, _AFTER * max(known))
    return min(_BEFORE * min(known), last / 10), last


def phase_ends(phases: fullnet.Phases) -> tuple[float, float | None, float | None]:
    """Return when Phases I, II, III end: at the last Phase I event (0 without one), T_II, T_III (None: never)."""
    times = phases.times
    return times["last_phase_one_event"] or 0.0, times["T_II"], times["T_III"]


def stills(path: fullnet.Trajectory) -> dict[str, float]:
    """Return up to six moments that tell the story of a flow on two-point data, by what they are.

    The start, the last Phase I event, the middle of the plateau, its end, a moment of Phase III (from the
    first crossing of K₊ to the reactivation of K₋) and the end of the window. Middles are taken in log t.
    """
    times, last = fullnet.phase_times(path).times, window(path)[1]
    condensed, plateau, left = times["last_phase_one_event"], times["T_plat"], times["T_II"]
    found: dict[str, float | None] = {
        "start": 0.0,
        "end of Phase I": condensed,
        "on the plateau": _between(condensed, plateau),
        "end of the plateau": plateau,
        "in Phase III": _between(left, times["T_III"]),
        "in the last phase": last,
    }
    known = sorted(((t, name) for name, t in found.items() if t is not None and t <= last))
    return {name: t for (t, name), (after, _) in pairwise([*known, (math.inf, "")]) if t < after}


def _between(one: float | None, other: float | None) -> float | None:
    """Return the middle in log t of two positive times in order, None when there is none."""
    if not one or not other or other < one:
        return None
    return math.sqrt(one * other)

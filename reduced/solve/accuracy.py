"""The accuracy along a two-point flow: its plateaus, told from where predictions pass zero (derived here).

A sign owed to the random start is not learned: a point counts from where its prediction first changes sign or
reaches twice its initial value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Plateau = tuple[Any, Any | None, Any]
"""Start, end (None while it goes on) and accuracy of a plateau."""


def plateaus(
    right: Sequence[bool],
    passages: Iterable[tuple[Any, int, int]],
    weights: Sequence[Any],
    learned: Sequence[Any | None],
) -> tuple[Plateau, ...]:
    """Return the stretches of constant accuracy below 1, without those that end before both points are learned.

    Arguments: which of x₊, x₋ are right at t = 0; passages (t, point 0 or 1, sign of f± from there on); the
    weights of the points; the times from which they are learned (None: never).
    """
    now = [*right]
    changes = [(0 * weights[0], tuple(now))]
    for t, point, sign in sorted(passages):
        now[point] = sign == 1 - 2 * point
        if changes[-1][0] == t:
            changes.pop()
        if not changes or changes[-1][1] != tuple(now):
            changes.append((t, tuple(now)))
    ends = [*(t for t, _ in changes[1:]), None]
    known = None if any(t is None for t in learned) else max(t for t in learned if t is not None)
    return tuple(
        (start, end, sum((w for w, ok in zip(weights, pair, strict=True) if ok), 0 * weights[0]))
        for (start, pair), end in zip(changes, ends, strict=True)
        if not all(pair) and (end is None or (known is not None and end > known))
    )

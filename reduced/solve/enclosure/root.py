"""Roots of monotone functions in balls: a guess is polished, then proved by the interval Newton test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flint

from reduced.solve.enclosure.ball import Undecided

Function = Callable[[Any], tuple[Any, Any]]
_MAX_STEPS = 60


def enclose_root(function: Function, guess: Any) -> Any:
    """Return an Arb ball that contains a root of a function, and with it exactly one root in a larger ball.

    Arguments: function(q) → (value, slope), Arb balls for an Arb ball q; guess, an Arb number near the root.
    For every choice of numbers inside the function's own balls the mean value theorem puts a root into N = q
    − f(q)/f′(X) as soon as N lies inside X, a ball around q on which the slope has one sign. Raises Undecided
    when the guess, or the precision, is too poor for this.
    """
    point, value, step = _polish(function, guess.mid())
    around = flint.arb(point, 2 * step.abs_upper())
    found = point - value / function(around)[1]
    if not around.contains_interior(found):
        raise Undecided("event", around.str(10), "a root that the interval Newton test can prove")
    return found


def _polish(function: Function, point: Any) -> tuple[Any, Any, Any]:
    """Return the point at which Newton steps no longer shrink, with the value and the step there."""
    last = flint.arb.pos_inf()
    for _ in range(_MAX_STEPS):
        value, slope = function(point)
        step = value / slope
        size = step.abs_upper()
        if not size < last or step.contains(0):
            break
        point, last = (point - step).mid(), size
    return point, value, step

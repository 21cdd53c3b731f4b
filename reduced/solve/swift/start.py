"""The start of an m-neuron flow: what each neuron adds to f₊ and f₋, and its pattern."""

from __future__ import annotations

from typing import Any

from reduced.solve.flow import NotUnique, Ridge
from reduced.solve.swift.chain import BOTH, DEAD, ONLY_MINUS, ONLY_PLUS, SLIDE_MINUS, SLIDE_PLUS

# Below this share of its terms a difference of two products is corrected for their rounding errors.
_CANCELS = 0.125
_SPLIT = 134217729.0


def contributions(W: Any, across: tuple[float, float], along: tuple[float, float], scale: float) -> Any:
    """Return (u, v) = scale · (⟨b,x₊⟩, ⟨b,x₋⟩), an array (2, m), right to nearly full relative precision.

    Arguments: W (m, d ≥ 2) float64; across = sin(Δ/2) and along = cos(Δ/2), each as a sum of two doubles; x± =
    (±sin(Δ/2), −cos(Δ/2), 0, …).
    """
    import numpy as np

    second = np.array([-W[:, 0], W[:, 0]])
    return -scale * _sum(np.broadcast_to(W[:, 1], second.shape), along, second, across)


def _sum(first: Any, on_first: tuple[float, float], second: Any, on_second: tuple[float, float]) -> Any:
    """Return first · on_first + second · on_second, mending the sums that cancel."""
    import numpy as np

    x, y = first * on_first[0], second * on_second[0]
    total = x + y
    close = np.nonzero(np.abs(total) < _CANCELS * (np.abs(x) + np.abs(y)))
    if close[0].size:
        a, b = first[close], second[close]
        errors = _error(a, on_first[0], x[close]) + a * on_first[1]
        errors += _error(b, on_second[0], y[close]) + b * on_second[1]
        total[close] += errors
    return total


def _error(a: Any, b: float, product: Any) -> Any:
    """Return a · b − product exactly (Dekker), product being the rounded a · b."""
    a_high, b_high = a * _SPLIT, b * _SPLIT
    a_high, b_high = a_high - (a_high - a), b_high - (b_high - b)
    a_low, b_low = a - a_high, b - b_high
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def patterns(sign: Any, u: Any, v: Any, level: int, ridge: Ridge | None) -> Any:
    """Return the patterns (m,) as small integers; neurons exactly on a kink are decided one by one."""
    import numpy as np

    table = np.array([[DEAD, ONLY_MINUS], [ONLY_PLUS, BOTH]], np.int8)
    found = table[(u > 0).astype(np.intp), (v > 0).astype(np.intp)]
    for k in np.flatnonzero((u == 0) | (v == 0)):
        found[k] = pattern_on_kink(int(sign[k]), u[k], v[k], level, ridge)
    return found


def pattern(sign: int, u: Any, v: Any, level: int, ridge: Ridge | None) -> int:
    """Return the pattern of one neuron at the start."""
    if u == 0 or v == 0:
        return pattern_on_kink(sign, u, v, level, ridge)
    if u > 0:
        return BOTH if v > 0 else ONLY_PLUS
    return ONLY_MINUS if v > 0 else DEAD


def pattern_on_kink(sign: int, u: Any, v: Any, level: int, ridge: Ridge | None) -> int:
    """Return the pattern of a neuron that starts with u = 0 or v = 0 (Def H.1, cases I–IV).

    level is 0 for r < c, 1 between, 2 for r > 1/c. In the origin a neuron can rest, which ridge ``inactive`` and
    ``slide`` choose, or leave at any time: positive ones into ++ for r < c, else along the kink of x₋, negative
    ones into ++ for r > 1/c, else along that of x₊. Raises NotUnique on a repelling ridge without a choice.
    """
    if u == 0 and v == 0:
        if ridge is None:
            raise NotUnique("a neuron starts at the origin: choose --ridge active, inactive or slide")
        if ridge != "active":
            return DEAD
        if sign > 0:
            return BOTH if level == 0 else SLIDE_MINUS
        return BOTH if level == 2 else SLIDE_PLUS
    if sign > 0:
        if u == 0:
            if v < 0:
                return ONLY_PLUS
            return ONLY_MINUS if level == 2 else _on_ridge(ridge, BOTH, ONLY_MINUS, SLIDE_PLUS)
        if u < 0:
            return DEAD
        return BOTH if level == 0 else SLIDE_MINUS
    if v == 0:
        if u < 0:
            return ONLY_MINUS
        return ONLY_PLUS if level == 0 else _on_ridge(ridge, BOTH, ONLY_PLUS, SLIDE_MINUS)
    if v < 0:
        return DEAD
    return BOTH if level == 2 else SLIDE_PLUS


def _on_ridge(ridge: Ridge | None, active: int, inactive: int, slide: int) -> int:
    if ridge is None:
        raise NotUnique("a neuron starts on a repelling ridge: choose --ridge active, inactive or slide")
    return {"active": active, "inactive": inactive, "slide": slide}[ridge]

"""The power series behind the time of a piece, with its derivatives by both exponents and the argument."""

from __future__ import annotations

from typing import Any, NamedTuple

_GUARD_BITS = 24


class Gradient(NamedTuple):
    """The value of Σ_{n≥1} (rise)_n/n! · xⁿ/(n+shift) and its partial derivatives."""

    value: Any
    by_rise: Any
    by_shift: Any
    by_x: Any


def rising_series(ctx: Any, rise: Any, shift: Any, x: Any) -> Gradient:
    """Sum Σ_{n≥1} (rise)_n/n! · xⁿ/(n+shift) and its derivatives term by term, in fixed-point arithmetic.

    Arguments: an mpmath context; mpf numbers 0 ≤ rise ≤ 2, shift > −1, |x| ≤ 3/4. Errors are a few units of
    2^(−prec) absolutely. The derivative of (rise)_n is carried by its own recurrence, so rise = 0 is ordinary.
    """
    bits = ctx.prec + _GUARD_BITS + 2 * max(0, -ctx.mag(1 + shift)) + max(0, -ctx.mag(1 + abs(shift)))
    one = 1 << bits
    a, s, ratio = (value.to_fixed(bits) for value in (rise, shift, x))
    # term = (rise)_n/n! xⁿ⁻¹ and its derivative by rise; the factor x is put in at the end
    term, slope, n = a, one, 1
    value = by_rise = by_shift = by_x = 0
    while term not in (0, -1) or slope not in (0, -1):
        below = n * one + s
        part = (term << bits) // below
        value += part
        by_rise += (slope << bits) // below
        by_shift -= (part << bits) // below
        by_x += n * part
        factor = a + n * one
        n += 1
        slope = (((slope * factor) >> bits) + term) * ratio >> bits
        term = ((term * factor) >> bits) * ratio >> bits
        slope //= n
        term //= n
    value, by_rise, by_shift, by_x = (ctx.ldexp(total, -bits) for total in (value, by_rise, by_shift, by_x))
    return Gradient(value * x, by_rise * x, by_shift * x, by_x)

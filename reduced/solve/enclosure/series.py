"""The power series behind the time of a piece, summed in Arb balls with a proved bound on the tail."""

from __future__ import annotations

from math import ceil, log2
from typing import Any

import flint

from reduced.solve.enclosure.ball import Undecided

_GUARD_BITS = 8


def rising_series(rise: Any, shift: Any, z: Any) -> Any:
    """Return Σ_{n≥1} (rise)_n/n! · zⁿ/(n−1+shift) as an Arb ball.

    Arguments: Arb balls rise ≥ 0, shift > 0 and z with |z| < 1. From one term to the next the factor is at
    most ρ = |z| max(1, (rise+n)/(n+1)), which does not grow with n, so all terms after the n-th sum to at
    most |term| ρ/(1−ρ) over the next denominator. Raises Undecided when the balls leave ρ < 1 open.
    """
    size = z.abs_upper()
    term, total, n = flint.arb(1), flint.arb(0), 0
    for n in range(1, _terms(size) + 1):
        term = term * ((rise + (n - 1)) * z) / n
        total += term / (shift + (n - 1))
    factor = size * flint.arb(1).max((rise + n) / (n + 1))
    if not (factor < 1 and shift > 0):
        raise Undecided("series", z.str(10), "an argument inside the circle of convergence")
    tail = abs(term) * factor / ((1 - factor) * (shift + n))
    return total + flint.arb(0, tail.abs_upper())


def _terms(size: Any) -> int:
    """Return how many terms make the last one negligible at the present precision."""
    if not size > 0 or not size < 1:
        return 1
    mantissa, exponent = size.man_exp()
    bits_per_term = -(log2(int(mantissa)) + int(exponent))
    return max(1, ceil((flint.ctx.prec + _GUARD_BITS) / max(bits_per_term, 2.0**-10)))

"""The power series behind the time of a piece, summed in Arb balls with proved bounds on the tails."""

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


def early_integral(lean: Any, beta: Any, y0: Any, q: Any) -> Any:
    """Return ∫₀^q F dτ, F = (y/y₀)^{−lean} e^{βτ}, y = 1 − (1 − y₀) e^{−τ}, as an Arb ball, by its series in q.

    Arguments: Arb balls 0 ≤ lean ≤ 1, β, y₀ > 0 and q > 0, small against 1 and y₀. The coefficients follow as
    in :func:`reduced.solve.series.early_integral`. With ρ = ln(1 + y₀/(y₀ + 2|1 − y₀|)) all |τ| ≤ ρ have
    |y/y₀ − 1| ≤ ½, so |F| ≤ 2 e^{|β|ρ} there, and by Cauchy's estimate the terms from the n-th on sum to at
    most 2 e^{|β|ρ} q xⁿ/(1 − x), x = q/ρ. Raises Undecided unless x < 1.
    """
    change = y0 - 1
    radius = (y0 / (y0 + 2 * abs(change))).log1p()
    ratio = (q / radius).abs_upper()
    if not ratio < 1:
        raise Undecided("time", q.str(10), "one within the first stretch of a piece")
    pull = beta + lean
    ys, Fs = [y0], [flint.arb(1)]
    power, total = q, q
    for n in range(_terms(ratio)):
        folded = sum((y * F for y, F in zip(reversed(ys), Fs, strict=True)), flint.arb(0))
        moved = sum((ys[n - k] * (k + 1) * Fs[k + 1] for k in range(n)), flint.arb(0))
        Fs.append((pull * folded - lean * Fs[n] - moved) / (y0 * (n + 1)))
        power *= q
        total += Fs[-1] * power / (n + 2)
        change = -change / (n + 1)
        ys.append(change)
    tail = 2 * (abs(beta) * radius).exp() * q * ratio ** len(Fs) / (1 - ratio)
    return total + flint.arb(0, tail.abs_upper())


def _terms(size: Any) -> int:
    """Return how many terms make the last one negligible at the present precision."""
    if not size > 0 or not size < 1:
        return 1
    mantissa, exponent = size.man_exp()
    bits_per_term = -(log2(int(mantissa)) + int(exponent))
    return max(1, ceil((flint.ctx.prec + _GUARD_BITS) / max(bits_per_term, 2.0**-10)))

"""The power series behind the time of a piece, two of them in fixed-point arithmetic."""

from __future__ import annotations

from typing import Any

_GUARD_BITS = 20


def middle_series(ctx: Any, a: Any, b: Any, z: Any) -> Any:
    """Return K(z) = Σ_{n≥1} (1−a)_n/n! · zⁿ/(n+b), so that ₂F₁(b, 1−a; 1+b; z) = 1 + b K(z).

    Arguments: an mpmath context; 0 < a ≤ 1; b ≥ −1; |z| ≤ 3/4. The error is a few units of 2^(−prec)
    absolutely. At a = 1 (Phase III, where also b = −1) every term vanishes.
    """
    if a == 1 or z == 0:
        return ctx.zero
    bits = ctx.prec + _GUARD_BITS + max(0, -ctx.mag(1 + b))
    rise, shift, ratio = (_fixed(value, bits) for value in (1 - a, b, z))
    one = 1 << bits
    term, total, n = one, 0, 0
    while term not in (0, -1):
        term = ((term * (rise + n * one)) >> bits) * ratio >> bits
        n += 1
        term //= n
        total += (term << bits) // (n * one + shift)
    return ctx.ldexp(total, -bits)


def outer_series(ctx: Any, power: Any, b: Any, y: Any) -> Any:
    """Return G(y) = Σ_{n≥0} (1−b)_n/n! · yⁿ/(power+n); y^power G(y) = ∫₀^y τ^(power−1) (1−τ)^(b−1) dτ.

    Arguments: an mpmath context; power > 0; −1 ≤ b ≤ 0; 0 ≤ y ≤ 4/7.
    """
    bits = ctx.prec + _GUARD_BITS + max(0, -ctx.mag(power))
    rise, shift, ratio = (_fixed(value, bits) for value in (1 - b, power, y))
    one = 1 << bits
    term, total, n = one, (one << bits) // shift, 0
    while term:
        term = ((term * (rise + n * one)) >> bits) * ratio >> bits
        n += 1
        term //= n
        total += (term << bits) // (n * one + shift)
    return ctx.ldexp(total, -bits)


def early_integral(ctx: Any, a: Any, beta: Any, y0: Any, q: Any) -> Any:
    """Return ∫₀^q (y/y₀)^{a−1} e^{βτ} dτ, y = 1 − (1 − y₀) e^{−τ}, by its power series in q.

    Arguments: an mpmath context; 0 ≤ a ≤ 1; |β| ≤ 1; y₀ > 0; q > 0 small against 1 and y₀. The coefficients
    F_n of the integrand follow from y F′ = F [(a − 1) + (β − a + 1) y].
    """
    pull = beta - a + 1
    ys, Fs = [y0], [ctx.one]
    power, total, n, negligible = q, q, 0, 0
    change = 1 - y0
    while negligible < 2:  # one coefficient may vanish by chance
        folded = sum((y * F for y, F in zip(reversed(ys), Fs, strict=True)), ctx.zero)
        moved = sum((ys[n - k] * (k + 1) * Fs[k + 1] for k in range(n)), ctx.zero)
        Fs.append(((a - 1) * Fs[n] + pull * folded - moved) / (y0 * (n + 1)))
        n += 1
        power *= q
        term = Fs[n] * power / (n + 1)
        total += term
        negligible = negligible + 1 if abs(term) <= abs(total) * ctx.ldexp(1, -ctx.prec) else 0
        change = -change / n if n > 1 else change
        ys.append(change)
    return total


def _fixed(value: Any, bits: int) -> Any:
    """Return ⌊value · 2^bits⌋ as an integer."""
    return value.context.mpf(value).to_fixed(bits)

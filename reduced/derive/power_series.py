"""Truncated power series in one small variable with symbolic coefficients."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from reduced.derive.symbols import Expr, c, s

ORDER = 4
"""Number of coefficients kept."""


@dataclass(frozen=True)
class PowerSeries:
    """Σ coefficients[k] dᵏ, k < :data:`ORDER`, in d = Δ²; coefficients are rational in the other symbols."""

    coefficients: tuple[Expr, ...]

    def __add__(self, other: PowerSeries | Expr) -> PowerSeries:
        pairs = zip(self.coefficients, as_series(other).coefficients, strict=True)
        return PowerSeries(tuple(sp.cancel(a + b) for a, b in pairs))

    __radd__ = __add__

    def __neg__(self) -> PowerSeries:
        return PowerSeries(tuple(-a for a in self.coefficients))

    def __sub__(self, other: PowerSeries | Expr) -> PowerSeries:
        return self + -as_series(other)

    def __rsub__(self, other: Expr) -> PowerSeries:
        return as_series(other) + -self

    def __mul__(self, other: PowerSeries | Expr) -> PowerSeries:
        a, b = self.coefficients, as_series(other).coefficients
        return PowerSeries(tuple(sp.cancel(sum(a[i] * b[k - i] for i in range(k + 1))) for k in range(ORDER)))

    __rmul__ = __mul__

    def __truediv__(self, other: PowerSeries | Expr) -> PowerSeries:
        """Divide by a series whose first coefficient is not 0."""
        divisor = as_series(other).coefficients
        quotient: list[Expr] = []
        for k in range(ORDER):
            rest = self.coefficients[k] - sum(quotient[i] * divisor[k - i] for i in range(k))
            quotient.append(sp.cancel(rest / divisor[0]))
        return PowerSeries(tuple(quotient))

    def lowered(self) -> PowerSeries:
        """Divide by d a series that begins with 0; its unknown last coefficient is written 0."""
        if self.coefficients[0] != 0:
            raise ValueError("only a series without constant term can be divided by d")
        return PowerSeries((*self.coefficients[1:], sp.Integer(0)))

    def exponential(self) -> PowerSeries:
        """Return e^(this − its constant term)."""
        a, result = self.coefficients, [sp.Integer(1)]
        for k in range(1, ORDER):
            total = sum(i * a[i] * result[k - i] for i in range(1, k + 1))
            result.append(sp.cancel(total / k))
        return PowerSeries(tuple(result))

    def logarithm(self) -> PowerSeries:
        """Return ln(this / its constant term)."""
        a = (self / self.coefficients[0]).coefficients
        result = [sp.Integer(0)]
        for k in range(1, ORDER):
            total = k * a[k] - sum(i * result[i] * a[k - i] for i in range(1, k))
            result.append(sp.cancel(total / k))
        return PowerSeries(tuple(result))

    def root(self) -> PowerSeries:
        """Return the square root of this / its constant term."""
        half: PowerSeries = self.logarithm() / sp.Integer(2)
        return half.exponential()


def as_series(value: PowerSeries | Expr) -> PowerSeries:
    """Return a constant as a series."""
    if isinstance(value, PowerSeries):
        return value
    return PowerSeries((sp.sympify(value), *[sp.Integer(0)] * (ORDER - 1)))


def in_squared_angle(expression: Expr) -> PowerSeries:
    """Expand a rational expression in cos Δ and sin² Δ in powers of Δ²."""
    cosine = sp.Dummy("cosine")
    whole = sp.together(sp.sympify(expression).subs(s**2, 1 - c**2).subs(c, cosine))
    numerator, denominator = (_substituted(part, cosine) for part in sp.fraction(whole))
    while numerator.coefficients[0] == 0 and denominator.coefficients[0] == 0:
        numerator, denominator = numerator.lowered(), denominator.lowered()
    return numerator / denominator


def _substituted(polynomial: Expr, cosine: Expr) -> PowerSeries:
    series = PowerSeries(tuple((-1) ** k / sp.factorial(2 * k) for k in range(ORDER)))
    total = as_series(sp.Integer(0))
    for coefficient in sp.Poly(polynomial, cosine).all_coeffs():
        total = total * series + coefficient
    return total

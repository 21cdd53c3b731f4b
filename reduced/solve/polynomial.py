"""Polynomials in fixed point, and their sign changes on an interval: isolated by sign, then polished.

Coefficients are integers times 2^−bits, so sums of products keep every digit and cost little at any precision.
The Bernstein coefficients on an interval enclose the values there; one change of sign among them, between end
values of certain and opposite sign, is one sign change of the polynomial (Descartes' rule).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import comb
from typing import Any

from reduced.solve.block import safe_newton

# Sign changes closer together than 2^−48 of the interval cancel in pairs: they count as a touch.
_DEPTH = 48


@dataclass(frozen=True)
class Polynomial:
    """The function scale · Σ cₖ τᵏ: cₖ are integers times 2^−bits, scale an mpf number of the context."""

    ctx: Any
    coefficients: Sequence[int]
    scale: Any
    bits: int

    def value(self, tau: Any) -> Any:
        """Return the value at τ."""
        return self.scale * self.ctx.ldexp(
            horner(self.coefficients, tau.to_fixed(self.bits), self.bits), -self.bits
        )

    def slope(self, tau: Any) -> Any:
        """Return the derivative at τ."""
        rates = [k * c for k, c in enumerate(self.coefficients)][1:]
        return self.scale * self.ctx.ldexp(horner(rates, tau.to_fixed(self.bits), self.bits), -self.bits)

    def sign(self, tau: Any) -> int:
        """Return the sign at τ, or 0 where rounding hides it."""
        fixed = horner(self.coefficients, tau.to_fixed(self.bits), self.bits)
        return _certain(fixed, _rounding(self.coefficients)) * int(self.ctx.sign(self.scale))

    def sign_changes(self, begin: Any, end: Any) -> Iterator[tuple[Any, int]]:
        """Yield in order the τ in (begin, end) at which the sign changes, each with the sign after it.

        A touch without change of sign, and a change that rounding hides at an end of the interval, are left out.
        """
        ctx, direction = self.ctx, int(self.ctx.sign(self.scale))
        noise = _rounding(self.coefficients)
        pending = [(begin, end, _bernstein(self._moved(begin, end)), 0)]
        while pending:
            low, high, shape, depth = pending.pop()
            signs = [sign for sign in (_certain(b, noise + depth) for b in shape) if sign]
            changes = sum(left != right for left, right in pairwise(signs))
            ends = _certain(shape[0], noise + depth) * _certain(shape[-1], noise + depth)
            if changes == 1 and ends < 0:
                yield self._root(low, high, signs[-1], (low + high) / 2), direction * signs[-1]
            elif changes and depth < _DEPTH:
                first, second = _halves(shape)
                middle = (low + high) / 2
                pending += [(middle, high, second, depth + 1), (low, middle, first, depth + 1)]
            elif changes % 2:
                yield ctx.mpf(low + high) / 2, direction * signs[-1]

    def _moved(self, begin: Any, end: Any) -> list[int]:
        """Return the coefficients in x, τ = begin + (end − begin) x."""
        moved = list(self.coefficients)
        if begin:
            shift = begin.to_fixed(self.bits)
            for start in range(len(moved) - 1):
                for k in range(len(moved) - 2, start - 1, -1):
                    moved[k] += moved[k + 1] * shift >> self.bits
        length, power = (end - begin).to_fixed(self.bits), 1 << self.bits
        for k, c in enumerate(moved):
            moved[k] = c * power >> self.bits
            power = power * length >> self.bits
        return moved

    def falling_root(self, low: Any, high: Any, guess: Any) -> Any:
        """Return the root in [low, high], where the polynomial falls from positive to negative just once."""
        return self._root(low, high, -int(self.ctx.sign(self.scale)), guess)

    def _root(self, low: Any, high: Any, sign_after: int, guess: Any) -> Any:
        rates = [k * c for k, c in enumerate(self.coefficients)][1:]

        def value_and_slope(tau: Any) -> tuple[Any, Any]:
            fixed = tau.to_fixed(self.bits)
            value, slope = (
                self.ctx.ldexp(horner(c, fixed, self.bits), -self.bits) for c in (self.coefficients, rates)
            )
            return -sign_after * value, -sign_after * slope

        return safe_newton(self.ctx, value_and_slope, low, high, guess)


def horner(coefficients: Sequence[int], fixed: int, bits: int) -> int:
    """Return Σ cₖ xᵏ in fixed point, x = fixed · 2^−bits."""
    total = 0
    for c in reversed(coefficients):
        total = (total * fixed >> bits) + c
    return total


def _bernstein(coefficients: Sequence[int]) -> list[int]:
    """Return the Bernstein coefficients on [0, 1]: b_i = Σ_k C(i,k)/C(n,k) c_k, by repeated running sums."""
    degree = len(coefficients) - 1
    # the differences Δᵏb₀, with as many more bits as the running sums can multiply their rounding by
    row = [(c << degree) // comb(degree, k) for k, c in enumerate(coefficients)]
    for start in range(degree):
        for k in range(degree, start, -1):
            row[k] += row[k - 1]
    return [b >> degree for b in row]


def _halves(shape: list[int]) -> tuple[list[int], list[int]]:
    """Return the Bernstein coefficients on the two halves (de Casteljau)."""
    row, first, second = shape, [shape[0]], [shape[-1]]
    while len(row) > 1:
        row = [(a + b) >> 1 for a, b in pairwise(row)]
        first.append(row[0])
        second.append(row[-1])
    return first, second[::-1]


def _rounding(coefficients: Sequence[int]) -> int:
    """Return a bound, in units, of what the roundings of conversion and evaluation add up to."""
    return 8 * len(coefficients) ** 2


def _certain(value: int, noise: int) -> int:
    return (value > noise) - (value < -noise)

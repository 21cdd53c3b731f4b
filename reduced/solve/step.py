"""One Taylor step of the forces of N points, in fixed point: the kernel of every series solution.

With g = −ℓ′ and the derived law dg/dz = φ₁ g + φ₂ g² along it, the forces Uᵢ = wᵢ g(yᵢfᵢ) of a system ḟ = K U
obey U̇ᵢ = yᵢ ḟᵢ (φ₁ Uᵢ + φ₂ Uᵢ²/wᵢ): a polynomial system, whose series follow from one convolution a product.
Each step runs in a rescaled time, in which the coefficients fall off like e^(−2k), and with every force in
units of its own value at the start, so that fixed-point integers carry all digits of great and small forces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from operator import mul
from typing import Any

from reduced.solve.polynomial import Polynomial, horner, product_term

_GUARD_BITS = 40


@dataclass(frozen=True)
class Step:
    """One step, t = t0 + unit·τ with 0 ≤ τ ≤ length.

    Force i is scales[i]·Σ cₖτᵏ (coefficients[i], fixed point); start (N,) are the impulses ∫Uᵢ dt at τ = 0.
    """

    ctx: Any
    t0: Any
    unit: Any
    length: Any
    scales: tuple[Any, ...]
    coefficients: tuple[list[int], ...]
    start: tuple[Any, ...]
    bits: int

    @property
    def end(self) -> Any:
        """The time at which the step ends."""
        return self.t0 + self.unit * self.length

    def time(self, tau: Any) -> Any:
        """Return the time at τ."""
        return self.t0 + self.unit * tau

    def forces(self, tau: Any) -> tuple[Any, ...]:
        """Return U (N,) at τ."""
        fixed = tau.to_fixed(self.bits)
        return tuple(
            scale * self.ctx.ldexp(horner(c, fixed, self.bits), -self.bits)
            for c, scale in zip(self.coefficients, self.scales, strict=True)
        )

    def gained(self, tau: Any) -> tuple[Any, ...]:
        """Return ∫U dt (N,) from the start of the step to τ."""
        fixed, span = tau.to_fixed(self.bits), self.ctx.ldexp(self.unit * tau, -self.bits)
        return tuple(
            scale * span * horner(mean, fixed, self.bits)
            for mean, scale in zip(self._means, self.scales, strict=True)
        )

    def impulses(self, tau: Any) -> tuple[Any, ...]:
        """Return ∫U dt (N,) from the start of the flow to τ."""
        return tuple(s + gained for s, gained in zip(self.start, self.gained(tau), strict=True))

    def force_form(self, row: Sequence[Any]) -> Polynomial:
        """Return Σ rowⱼ Uⱼ as a polynomial in τ."""
        weights = [r * scale for r, scale in zip(row, self.scales, strict=True)]
        size = max(map(abs, weights)) or self.ctx.one
        return Polynomial(self.ctx, self._combined(self.coefficients, weights, size), size, self.bits)

    def impulse_form(self, constant: Any, row: Sequence[Any]) -> Polynomial:
        """Return constant + Σ rowⱼ ∫Uⱼ dt, integrals from the start of the step, as a polynomial in τ."""
        weights = [r * scale * self.unit for r, scale in zip(row, self.scales, strict=True)]
        size = max(*map(abs, weights), abs(constant)) or self.ctx.one
        gained = self._combined(self._means, weights, size)
        return Polynomial(self.ctx, [int((constant / size).to_fixed(self.bits)), *gained], size, self.bits)

    @cached_property
    def _means(self) -> tuple[list[int], ...]:
        """The coefficients of ∫U dt / τ."""
        return tuple([c // (k + 1) for k, c in enumerate(series)] for series in self.coefficients)

    def _combined(self, series: Sequence[list[int]], weights: Sequence[Any], size: Any) -> list[int]:
        fixed = [int((w / size).to_fixed(self.bits)) for w in weights]
        return [sum(map(mul, fixed, column)) >> self.bits for column in zip(*series, strict=True)]


@dataclass(frozen=True)
class Kernel:
    """The system ḟ = K U of one smooth piece, ready to make steps.

    matrix K (N, N); labels yᵢ = ±1; weights wᵢ; law, the coefficients (of 1, g, g²) of the force law.
    """

    ctx: Any
    matrix: tuple[tuple[Any, ...], ...]
    labels: tuple[int, ...]
    weights: tuple[Any, ...]
    law: tuple[int, ...]

    def first_unit(self, forces: Sequence[Any]) -> Any:
        """Return a first guess of the length of a step: a part of the time scale of the fastest force."""
        speed = sum(abs(x) * U for row in self.matrix for x, U in zip(row, forces, strict=True))
        return 1 / (8 * (speed + max(forces)))

    def step(self, t0: Any, start: tuple[Any, ...], forces: Sequence[Any], unit: Any) -> Step:
        """Return the step from t0 with the forces U (N,) > 0; unit, a guess of its length, is adapted.

        Its length is where the last two terms of each force fall below the working precision.
        """
        ctx = self.ctx
        order, bits = ceil(0.35 * ctx.prec) + 4, ctx.prec + _GUARD_BITS
        moving = any(x for row in self.matrix for x in row)
        for _ in range(60):
            coefficients = self._series(order, bits, unit, forces)
            length = self._length(coefficients, order, bits) if moving else ctx.one
            if ctx.mpf("0.25") < length < 4:
                break
            # far from the natural scale the fixed-point coefficients over- or underflow: rescale the time
            unit = unit * min(max(length, ctx.mpf("1e-3")), 1000)
        return Step(ctx, t0, unit, length, tuple(forces), coefficients, start, bits)

    def _series(self, order: int, bits: int, unit: Any, forces: Sequence[Any]) -> tuple[list[int], ...]:
        """Return the coefficients in τ of each force over its start value, as integers times 2^−bits."""
        points = range(len(forces))
        rates = [
            [int((y * unit * x * U).to_fixed(bits)) for x, U in zip(row, forces, strict=True)]
            for y, row in zip(self.labels, self.matrix, strict=True)
        ]
        curve = self.law[2] if len(self.law) > 2 else 0
        squares = [int((curve * U / w).to_fixed(bits)) for U, w in zip(forces, self.weights, strict=True)]
        series = [[1 << bits] for _ in points]
        pushed: list[list[int]] = [[] for _ in points]
        speeds: list[list[int]] = [[] for _ in points]
        for k in range(order):
            latest = [U[k] for U in series]
            for i in points:
                U = series[i]
                value = self.law[1] * U[k]
                if squares[i]:
                    value += squares[i] * (product_term(U, U, k) >> bits) >> bits
                pushed[i].append(value)
                speeds[i].append(sum(map(mul, rates[i], latest)) >> bits)
            for i in points:
                series[i].append((product_term(pushed[i], speeds[i], k) >> bits) // (k + 1))
        return tuple(series)

    def _length(self, coefficients: tuple[list[int], ...], order: int, bits: int) -> Any:
        ctx = self.ctx
        size = max(max(abs(c[order]), abs(c[order - 1])) for c in coefficients)
        return ctx.exp(ctx.log(ctx.ldexp(1, bits - ctx.prec - 8) / max(size, 1)) / order)

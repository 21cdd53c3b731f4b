"""One Taylor step of the forces of N points, in fixed point: the kernel of every series solution.

With g = −ℓ′ and the derived law dg/dz = φ₁ g + φ₂ g² along it, the forces Uᵢ = wᵢ g(yᵢfᵢ) of a system ḟ = K U
obey U̇ᵢ = yᵢ ḟᵢ (φ₁ Uᵢ + φ₂ Uᵢ²/wᵢ): a polynomial system, whose series follow from one convolution a product.
Each step runs on a clock of its own, dt = unit·e^(pace·τ) dτ, in which the coefficients fall off like e^(−2k):
forces that fade like 1/t, as all do in the end, are still on it, and a step then multiplies the time by a factor.
Every force is in units of its own value at the start, so that fixed-point integers carry all digits of great and
small forces. A step that is to end early, at an event, needs few terms: the series is made only so far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil, inf, log2
from operator import mul
from typing import Any

from reduced.solve.outline import Outline, outline
from reduced.solve.polynomial import Polynomial, horner

_GUARD_BITS = 40
# Orders per bit of the working precision.
_ORDER = 0.4
# The order at which the natural length of a step is first judged; its logarithm to base 2 may lie in this range.
_FIRST_ORDER = 16
_SHORT, _LONG = -1.0, 5.0
# A pace below this is none: the clock is then the time itself.
_LEAST_PACE = 2.0**-6
_PACE_BITS = 20


@dataclass(frozen=True)
class Step:
    """One step, t = t0 + unit·(e^(pace·τ) − 1)/pace (t0 + unit·τ without pace) with 0 ≤ τ ≤ length ≤ 1.

    Force i is scales[i]·e^(−pace·τ) Σ cₖτᵏ (coefficients[i], fixed point); start (N,) are the impulses ∫Uᵢ dt at
    τ = 0; natural, how long the step might have been, on its clock.
    """

    ctx: Any
    t0: Any
    unit: Any
    pace: Any
    length: Any
    scales: tuple[Any, ...]
    coefficients: tuple[list[int], ...]
    start: tuple[Any, ...]
    bits: int
    natural: Any

    @property
    def end(self) -> Any:
        """The time at which the step ends."""
        return self.time(self.length)

    def time(self, tau: Any) -> Any:
        """Return the time at τ."""
        return self.t0 + self.unit * (self.ctx.expm1(self.pace * tau) / self.pace if self.pace else tau)

    def tau(self, t: Any) -> Any:
        """Return the τ of a time."""
        along = (t - self.t0) / self.unit
        return self.ctx.log1p(self.pace * along) / self.pace if self.pace else along

    def unit_at(self, tau: Any) -> Any:
        """Return dt/dτ at τ."""
        return self.unit * self.ctx.exp(self.pace * tau) if self.pace else self.unit

    def forces(self, tau: Any) -> tuple[Any, ...]:
        """Return U (N,) at τ."""
        fixed = tau.to_fixed(self.bits)
        fading = self.ctx.ldexp(self.ctx.exp(-self.pace * tau) if self.pace else 1, -self.bits)
        return tuple(
            scale * fading * horner(c, fixed, self.bits)
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
        """Return e^(pace·τ) Σ rowⱼ Uⱼ, of the sign of the sum, as a polynomial in τ."""
        weights = [r * scale for r, scale in zip(row, self.scales, strict=True)]
        size = max(map(abs, weights)) or self.ctx.one
        return Polynomial(self.ctx, self._combined(self.coefficients, weights, size), size, self.bits)

    def impulse_form(self, constant: Any, row: Sequence[Any]) -> Polynomial:
        """Return constant + Σ rowⱼ ∫Uⱼ dt, integrals from the start of the step, as a polynomial in τ."""
        weights = [r * scale * self.unit for r, scale in zip(row, self.scales, strict=True)]
        size = max(*map(abs, weights), abs(constant)) or self.ctx.one
        gained = self._combined(self._means, weights, size)
        return Polynomial(self.ctx, [int((constant / size).to_fixed(self.bits)), *gained], size, self.bits)

    def outline_of_impulses(self, end: Any) -> Outline:
        """Return the impulses gained from the start of the step up to τ = end, in doubles."""
        if end not in self._outlines:
            units = [scale * self.unit for scale in self.scales]
            self._outlines[end] = outline(self._means, self.bits, units, end, 1)
        return self._outlines[end]

    def outline_of_forces(self, end: Any) -> Outline:
        """Return e^(pace·τ) U up to τ = end, in doubles."""
        return outline(self.coefficients, self.bits, self.scales, end, 0)

    @cached_property
    def _outlines(self) -> dict[Any, Outline]:
        """The outlines made so far, by their ends."""
        return {}

    @cached_property
    def _means(self) -> tuple[list[int], ...]:
        """The coefficients of ∫U dt / τ."""
        return tuple([c // (k + 1) for k, c in enumerate(series)] for series in self.coefficients)

    def _combined(self, series: Sequence[list[int]], weights: Sequence[Any], size: Any) -> list[int]:
        fixed = [int((w / size).to_fixed(self.bits)) for w in weights]
        return [sum(map(mul, fixed, column)) >> self.bits for column in zip(*series, strict=True)]


@dataclass
class _Series:
    """The coefficients in τ of each force over its start value times e^(pace·τ), as integers times 2^−bits.

    rates (N, N), yᵢ unit Kᵢⱼ Uⱼ; law, φ₁; squares (N,), φ₂ Uᵢ/wᵢ; pace: all in fixed point but the law.
    """

    bits: int
    rates: list[list[int]]
    law: int
    squares: list[int]
    pace: int
    coefficients: list[list[int]] = field(init=False)

    def __post_init__(self) -> None:
        """Begin with the start values."""
        self.coefficients = [[1 << self.bits] for _ in self.rates]
        self._pushed: list[list[int]] = [[] for _ in self.rates]
        self._speeds: list[list[int]] = [[] for _ in self.rates]
        self._faded: list[list[int]] = [[] for _ in self.rates]
        self._fading = [1 << self.bits]

    @property
    def order(self) -> int:
        """The number of the last coefficients."""
        return len(self._fading) - 1

    @property
    def last(self) -> int:
        """The size of the greatest of the last two coefficients of every force."""
        return int(max(max(abs(c[-1]), abs(c[-2])) for c in self.coefficients))

    def extend(self) -> None:
        """Add a coefficient to every force."""
        bits, k = self.bits, self.order
        latest = [c[k] for c in self.coefficients]
        products = [self._product(i, latest) for i in range(len(latest))]
        for c, product in zip(self.coefficients, products, strict=True):
            c.append((product + self.pace * c[k] >> bits) // (k + 1))
        self._fading.append((-self.pace * self._fading[k] >> bits) // (k + 1))

    def _product(self, i: int, latest: list[int]) -> int:
        """Return the next coefficient of yᵢḟᵢ (φ₁ Uᵢ + φ₂ Uᵢ²/wᵢ), with twice the bits."""
        c, speeds, square, bits = self.coefficients[i], self._speeds[i], self.squares[i], self.bits
        speeds.append(sum(map(mul, self.rates[i], latest)) >> bits)
        if not square:
            return int(self.law * sum(map(mul, c, reversed(speeds))))
        squared = sum(map(mul, c, reversed(self._force(i)))) >> bits
        self._pushed[i].append(self.law * c[-1] + (square * squared >> bits))
        return int(sum(map(mul, self._pushed[i], reversed(speeds))))

    def _force(self, i: int) -> list[int]:
        """Return the coefficients, so far, of force i itself over its start value."""
        c, faded = self.coefficients[i], self._faded[i]
        if not self.pace:
            return c
        faded.append(sum(map(mul, c, reversed(self._fading))) >> self.bits)
        return faded


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

    @cached_property
    def moving(self) -> bool:
        """Whether any prediction moves at all."""
        return any(map(any, self.matrix))

    def first_unit(self, forces: Sequence[Any]) -> Any:
        """Return a first guess of the length of a step: a part of the time scale of the fastest force."""
        speed = sum(abs(x) * U for row in self.matrix for x, U in zip(row, forces, strict=True))
        return 1 / (8 * (speed + max(forces)))

    def step(
        self,
        t0: Any,
        start: tuple[Any, ...],
        forces: Sequence[Any],
        unit: Any,
        stop: Callable[[Step], Any] | None = None,
    ) -> Step:
        """Return the step from t0 with the forces U (N,) > 0; unit, a guess of its length, is adapted.

        Its length is where the last two terms of each force fall below the working precision, or what ``stop``
        says when it is shown the beginning of the series: the τ at which the step may end.
        """
        ctx = self.ctx
        order, bits = ceil(_ORDER * ctx.prec) + 4, ctx.prec + _GUARD_BITS
        if not self.moving:
            still = tuple([1 << bits] for _ in forces)
            return Step(ctx, t0, unit, ctx.zero, ctx.one, tuple(forces), still, start, bits, ctx.one)
        unit, series = self._beginning(forces, unit, order, bits)
        pace = ctx.ldexp(series.pace, -bits)
        coefficients = tuple(series.coefficients)
        step = Step(ctx, t0, unit, pace, ctx.one, tuple(forces), coefficients, start, bits, ctx.one)
        wanted = step.length if stop is None else stop(step)
        while series.order < order and not (wanted < 1 and self._falls_below(series, wanted)):
            series.extend()
        reach = self._length(series)
        if wanted < 1 and reach >= wanted:
            return replace(step, length=wanted)
        return replace(step, length=min(wanted, reach), natural=reach)

    def next_unit(self, step: Step, used: Any) -> Any:
        """Return a guess of the length of the step after one of which the part up to τ = used is used."""
        return step.unit_at(used) * min(step.natural, 2)

    def _beginning(self, forces: Sequence[Any], unit: Any, order: int, bits: int) -> tuple[Any, _Series]:
        """Return a unit on the natural scale of the series, and its first terms."""
        ctx = self.ctx
        for _ in range(60):
            series = self._series(bits, unit, forces)
            while series.order < _FIRST_ORDER:
                series.extend()
            reach = (bits - series.last.bit_length()) / _FIRST_ORDER - (ctx.prec + 8) / order
            if _SHORT < reach < _LONG:
                break
            # far from the natural scale the fixed-point coefficients over- or underflow: rescale the time
            unit = unit * ctx.mpf(2.0 ** min(max(reach, -10.0), 10.0))
        return unit, series

    def _series(self, bits: int, unit: Any, forces: Sequence[Any]) -> _Series:
        greatest, columns = self._columns
        shares = [int((unit * most * U).to_fixed(bits)) for most, U in zip(greatest, forces, strict=True)]
        rates = [[x * share >> bits for x, share in zip(row, shares, strict=True)] for row in columns]
        curve = self.law[2] if len(self.law) > 2 else 0
        squares = [int((curve * U / w).to_fixed(bits)) for U, w in zip(forces, self.weights, strict=True)]
        return _Series(bits, rates, self.law[1], squares, self._pace(bits, rates, squares, forces))

    @cached_property
    def _columns(self) -> tuple[list[Any], list[list[int]]]:
        """The greatest size in every column of K, and yᵢKᵢⱼ over it in fixed point."""
        bits = self.ctx.prec + _GUARD_BITS
        greatest = [max(map(abs, column)) or self.ctx.one for column in zip(*self.matrix, strict=True)]
        return greatest, [
            [y * int((x / most).to_fixed(bits)) for x, most in zip(row, greatest, strict=True)]
            for y, row in zip(self.labels, self.matrix, strict=True)
        ]

    def _pace(self, bits: int, rates: list[list[int]], squares: list[int], forces: Sequence[Any]) -> int:
        """Return the pace in fixed point at which the sum of all forces stays, to few bits."""
        greatest = max(forces)
        shares = [float(U / greatest) for U in forces]
        fading = [
            -sum(row) * ((self.law[1] << bits) + square) >> 2 * bits - _PACE_BITS
            for row, square in zip(rates, squares, strict=True)
        ]
        pace = sum(map(mul, shares, map(float, fading))) / sum(shares)
        return round(pace) << bits - _PACE_BITS if pace > _LEAST_PACE * 2**_PACE_BITS else 0

    def _falls_below(self, series: _Series, tau: Any) -> bool:
        """Tell whether the last two terms of each force at τ are below the working precision."""
        reach = log2(float(tau)) if float(tau) > 0 else -inf
        return bool(series.last.bit_length() + series.order * reach < series.bits - self.ctx.prec - 8)

    def _length(self, series: _Series) -> Any:
        ctx, size = self.ctx, max(series.last, 1)
        return ctx.exp(ctx.log(ctx.ldexp(1, series.bits - ctx.prec - 8) / size) / series.order)

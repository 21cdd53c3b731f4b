"""Taylor series for smooth pieces: any loss with a polynomial force law, any number of digits.

An independent way to the answers of the closed form, and the only one for the logistic loss. With g = −ℓ′ and
the derived law dg/dz = φ(g) = φ₁ g + φ₂ g² the forces obey U̇ᵢ = yᵢ ḟᵢ (φ₁ Uᵢ + φ₂ Uᵢ²/wᵢ), a polynomial
system: its series coefficients follow from one convolution per product. Each step runs in a rescaled time and
rescaled forces, in which the coefficients fall off like e^(−2k), so fixed-point integers carry every digit.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil
from operator import mul
from typing import Any

from reduced.errors import BudgetExceeded
from reduced.records import Loss, Problem, Start, Timeline
from reduced.solve.block import Block, Form, safe_newton, sign_of_sum
from reduced.solve.generated import FORCE_LAW
from reduced.solve.pieces import Pieces, Rates
from reduced.solve.promise import keep_promise
from reduced.solve.timeline import (
    Moments,
    check_state,
    collapsed_flow,
    guard_digits,
    moments,
    timeline_record,
)

MAX_STEPS = 50_000
_GUARD_BITS = 40
# A logistic flow whose forces are this small beside its distance from a ratio never crosses it any more.
_SETTLED = 0.01


def taylor_timeline(problem: Problem, start: Start, digits: int = 30) -> Timeline:
    """Solve the collapsed model by Taylor series and return its times and predictions, every digit right.

    Arguments: problem (exponential or logistic loss); start, the state at flow time 0; digits of every
    number. Returns a Timeline with decimal strings. Two runs of different order and steps must agree beyond
    the digits asked. Raises InputError for a state no network can be in, BudgetExceeded when the plateau
    needs too many steps (Δ ≲ 0.01).
    """
    check_state(problem, start)
    pieces = TaylorSeries(problem.loss)
    found = keep_promise(
        lambda ctx: moments(collapsed_flow(ctx, problem, start, pieces)),
        Moments.numbers,
        digits,
        guard_digits(problem, start),
    )
    return timeline_record(problem, start, found, "taylor", digits)


@dataclass(frozen=True)
class TaylorSeries(Pieces):
    """Smooth pieces by Taylor series, for the exponential or the logistic loss."""

    loss: Loss

    def forces(self, ctx: Any, weights: tuple[Any, Any], f: tuple[Any, Any]) -> tuple[Any, Any]:
        """Return (P, Q) = (w₊ g(f₊), w₋ g(−f₋))."""
        margins = (f[0], -f[1])
        if self.loss is Loss.EXP:
            P, Q = (w * ctx.exp(-z) for w, z in zip(weights, margins, strict=True))
        else:
            P, Q = (w / (1 + ctx.exp(z)) for w, z in zip(weights, margins, strict=True))
        return P, Q

    def piece(self, ctx: Any, weights: tuple[Any, Any], rates: Rates, forces: tuple[Any, Any]) -> Block:
        """Return the smooth piece with rates (A, B, C, D) that starts with the given forces."""
        return TaylorBlock(ctx, *rates, *forces, weights=weights, law=FORCE_LAW[self.loss.value])


@dataclass(frozen=True)
class _Step:
    """One step: t = t0 + unit·τ, 0 ≤ τ ≤ length; (P, Q) = force·Σ cₖτᵏ (fixed point); (S, R) at the start."""

    ctx: Any
    t0: Any
    unit: Any
    length: Any
    force: Any
    coefficients: tuple[list[int], list[int]]
    start: tuple[Any, Any]
    bits: int

    @property
    def end(self) -> Any:
        """The time at which the step ends."""
        return self.t0 + self.unit * self.length

    def forces(self, tau: Any) -> tuple[Any, Any]:
        """Return (P, Q) at τ."""
        fixed = tau.to_fixed(self.bits)
        P, Q = (self.force * self.ctx.ldexp(self._horner(c, fixed), -self.bits) for c in self.coefficients)
        return P, Q

    def displacements(self, tau: Any) -> tuple[Any, Any]:
        """Return (∫P dt, ∫Q dt) from the start of the block to τ."""
        fixed = tau.to_fixed(self.bits)
        scale = self.ctx.ldexp(self.force * self.unit * tau, -self.bits)
        means = ([c // (k + 1) for k, c in enumerate(series)] for series in self.coefficients)
        S, R = (s0 + scale * self._horner(mean, fixed) for s0, mean in zip(self.start, means, strict=True))
        return S, R

    def _horner(self, coefficients: list[int], fixed: int) -> int:
        total = 0
        for c in reversed(coefficients):
            total = (total * fixed >> self.bits) + c
        return total


@dataclass(frozen=True)
class TaylorBlock(Block):
    """A smooth piece integrated by Taylor steps, made on demand; q is the flow time from its start."""

    weights: tuple[Any, Any] = (1, 1)
    law: tuple[int, ...] = (0, -1)
    steps: list[_Step] = field(default_factory=list, compare=False)

    def S(self, q: Any) -> Any:
        """Return ∫P dt from the start to q."""
        return self._at(q)[0].displacements(self._at(q)[1])[0]

    def R(self, q: Any) -> Any:
        """Return ∫Q dt from the start to q."""
        return self._at(q)[0].displacements(self._at(q)[1])[1]

    def elapsed(self, q: Any) -> Any:
        """Return q: the path parameter is the time."""
        return q

    def path_of_time(self, t: Any) -> Any:
        """Return t: the path parameter is the time."""
        return t

    def speeds(self, q: Any) -> tuple[Any, Any]:
        """Return (P, Q) at q."""
        if not q:
            return self.P0, self.Q0
        step, tau = self._at(q)
        return step.forces(tau)

    def ratio(self, q: Any) -> Any:
        """Return r = Q/P at q."""
        P, Q = self.speeds(q)
        return Q / P

    def final_speeds(self) -> tuple[Any, Any]:
        """Return the direction of (S, R) as t → ∞: along the fixed ratio, or the force that does not fade."""
        g, h = self.A + self.C, self.B + self.D
        if g > 0 and h > 0:
            return 1 / g, 1 / h
        if g > 0 or h > 0:
            return self.ctx.mpf(int(h > 0)), self.ctx.mpf(int(g > 0))
        return self.P0, self.Q0

    def limit_sign(self, form: Form) -> int:
        """Return the sign of a form as t → ∞ (its own when it is constant)."""
        return super().limit_sign(form) or int(self.ctx.sign(form.e0))

    def path_of_ratio(self, ratio: Any) -> Any | None:
        """Return the first q > 0 at which r equals ratio, or None when it never does."""
        excess = Form(self.ctx.zero, -ratio, self.ctx.one)
        start, end = (
            self._slope_sign(excess, (self.P0, self.Q0)),
            self._slope_sign(excess, self.final_speeds()),
        )
        for step in self._all_steps():
            if start * end >= 0 and self._settled(step, excess):
                return None
            turn = self._turn_within(step, excess)
            if turn is not None:
                return step.t0 + step.unit * turn
        raise AssertionError("unreachable: steps go on for ever")

    def turn(self, form: Form) -> Any:
        """Return the first q > 0 at which the slope of a form vanishes."""
        return self.path_of_ratio(-form.on_S / form.on_R)

    def roots(self, form: Form) -> Iterator[tuple[Any, int]]:
        """Yield the roots q > 0 of a form in increasing order, each with the sign of its slope there.

        Steps are cut where the form's slope changes sign; the search ends once value and slope both have the
        signs they keep for ever.
        """
        end_value, end_slope = self.limit_sign(form), self._slope_sign(form, self.final_speeds())
        here = int(self.ctx.sign(form.e0)) or self._slope_sign(form, (self.P0, self.Q0)) or end_slope
        if not self._slope_sign(form, (self.P0, self.Q0)) and not end_slope:
            return
        for step in self._all_steps():
            turn = self._turn_within(step, form)
            cuts = [self.ctx.zero, step.length] if turn is None else [self.ctx.zero, turn, step.length]
            for low, high in pairwise(cuts):
                there = int(self.ctx.sign(self._value(step, form, high)))
                if here * there < 0:
                    yield step.t0 + step.unit * self._root_within(step, form, low, high), there
                here = there or here
            if here == end_value and self._slope_sign(form, step.forces(step.length)) in (end_slope, 0):
                return

    def _value(self, step: _Step, form: Form, tau: Any) -> Any:
        S, R = step.displacements(tau)
        return form.e0 + form.on_S * S + form.on_R * R

    def _slope_sign(self, form: Form, speeds: tuple[Any, Any]) -> int:
        return sign_of_sum(self.ctx, form.on_S * speeds[0], form.on_R * speeds[1])

    def _root_within(self, step: _Step, form: Form, low: Any, high: Any) -> Any:
        falling = -int(self.ctx.sign(self._value(step, form, high)))

        def value_and_slope(tau: Any) -> tuple[Any, Any]:
            P, Q = step.forces(tau)
            return falling * self._value(step, form, tau), falling * step.unit * (
                form.on_S * P + form.on_R * Q
            )

        return safe_newton(self.ctx, value_and_slope, low, high, (low + high) / 2)

    def _turn_within(self, step: _Step, form: Form) -> Any | None:
        """Return the τ inside a step at which the slope of a form changes sign, or None."""
        first, last = (self._slope_sign(form, step.forces(tau)) for tau in (self.ctx.zero, step.length))
        if first * last >= 0:
            return None
        P, Q = step.coefficients
        on_P, on_Q = (
            int((x * step.force * first / scale).to_fixed(step.bits)) for x, scale in self._scaled(step, form)
        )
        slopes = [(on_P * a + on_Q * b) >> step.bits for a, b in zip(P, Q, strict=True)]
        rates = [k * c for k, c in enumerate(slopes)][1:]

        def value_and_slope(tau: Any) -> tuple[Any, Any]:
            fixed = tau.to_fixed(step.bits)
            value, rate = (self.ctx.ldexp(step._horner(c, fixed), -step.bits) for c in (slopes, rates))
            return value, rate

        return safe_newton(self.ctx, value_and_slope, self.ctx.zero, step.length, step.length / 2)

    def _scaled(self, step: _Step, form: Form) -> list[tuple[Any, Any]]:
        scale = step.force * max(abs(form.on_S), abs(form.on_R))
        return [(form.on_S, scale), (form.on_R, scale)]

    def _settled(self, step: _Step, excess: Form) -> bool:
        """Return whether r stays on its side of a ratio (at once for exponential loss: r is monotone)."""
        if len(self.law) == 2 or not self.A + self.C > 0 or not self.B + self.D > 0:
            return True
        speeds = self.final_speeds()
        gap = abs(excess.on_S * speeds[0] + excess.on_R * speeds[1]) / (
            abs(excess.on_S) * speeds[0] + speeds[1]
        )
        P, Q = step.forces(self.ctx.zero)
        return bool(max(P / self.weights[0], Q / self.weights[1]) < _SETTLED * gap) or gap == 0

    def _at(self, q: Any) -> tuple[_Step, Any]:
        """Return the step that contains q and τ in it, making steps up to there."""
        if not self.steps or self.steps[-1].end < q:
            for step in self._all_steps():
                if step.end >= q:
                    break
        step = self.steps[max(0, bisect_right(self.steps, q, key=lambda step: step.t0) - 1)]
        return step, (q - step.t0) / step.unit

    def _all_steps(self) -> Iterator[_Step]:
        """Yield the steps from the start of the block on, making new ones for ever."""
        index = 0
        while True:
            if index == len(self.steps):
                if index >= MAX_STEPS:
                    raise BudgetExceeded(
                        f"the plateau needs more than {MAX_STEPS} Taylor steps: use --method exact"
                    )
                self.steps.append(self._next_step())
            yield self.steps[index]
            index += 1

    def _next_step(self) -> _Step:
        ctx = self.ctx
        if self.steps:
            last = self.steps[-1]
            t0, start, (P, Q) = last.end, last.displacements(last.length), last.forces(last.length)
            guess = last.unit * last.length
        else:
            t0, start, (P, Q) = ctx.zero, (ctx.zero, ctx.zero), (self.P0, self.Q0)
            guess = 1 / (8 * (self.A + self.B + self.C + self.D) * max(P, Q) + 8 * max(P, Q))
        order = ceil(0.35 * ctx.prec) + 4
        bits = ctx.prec + _GUARD_BITS
        force, unit = max(P, Q), guess
        for _ in range(60):
            coefficients = self._series(order, bits, unit, force, (P / force, Q / force))
            length = self._length(coefficients, order, bits)
            if ctx.mpf("0.25") < length < 4:
                break
            # far from the natural scale the fixed-point coefficients over- or underflow: rescale the time
            unit = unit * min(max(length, ctx.mpf("1e-3")), 1000)
        return _Step(ctx, t0, unit, length, force, coefficients, start, bits)

    def _series(
        self, order: int, bits: int, unit: Any, force: Any, first: tuple[Any, Any]
    ) -> tuple[list[int], list[int]]:
        """Return the coefficients of (P, Q)/force in τ, as integers times 2^−bits."""
        scale = unit * force
        A, B, C, D = (int((scale * x).to_fixed(bits)) for x in (self.A, self.B, self.C, self.D))
        square = self.law[2] if len(self.law) > 2 else 0
        squares = [int((square * force / w).to_fixed(bits)) for w in self.weights]
        P, Q = ([int(x.to_fixed(bits))] for x in first)
        forced_P: list[int] = []
        forced_Q: list[int] = []
        speed_P: list[int] = []
        speed_Q: list[int] = []
        for k in range(order):
            speed_P.append((A * P[k] - B * Q[k]) >> bits)
            speed_Q.append((D * Q[k] - C * P[k]) >> bits)
            for U, forced, on_square in ((P, forced_P, squares[0]), (Q, forced_Q, squares[1])):
                value = self.law[1] * U[k]
                if on_square:
                    value += on_square * (_convolve(U, U, k) >> bits) >> bits
                forced.append(value)
            P.append((_convolve(forced_P, speed_P, k) >> bits) // (k + 1))
            Q.append((_convolve(forced_Q, speed_Q, k) >> bits) // (k + 1))
        return P, Q

    def _length(self, coefficients: tuple[list[int], list[int]], order: int, bits: int) -> Any:
        """Return the τ at which the last two terms of the series fall below the working precision."""
        ctx = self.ctx
        size = max(max(abs(c[order]), abs(c[order - 1])) for c in coefficients)
        return ctx.exp(ctx.log(ctx.ldexp(1, bits - ctx.prec - 8) / max(size, 1)) / order)


def _convolve(left: list[int], right: list[int], k: int) -> int:
    """Return Σ_{i≤k} left[i]·right[k−i]."""
    return sum(map(mul, left[: k + 1], right[k::-1]))

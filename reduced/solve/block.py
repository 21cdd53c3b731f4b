"""One smooth piece of the two-point flow, solved in closed form.

Within a piece ḟ₊ = A P − B Q, ḟ₋ = C P − D Q with P = w₊ e^{−f₊}, Q = w₋ e^{f₋} and constant A, B, C, D ≥ 0.
All motion is a linear form in the two displacement integrals S = ∫P dt and R = ∫Q dt. With g = A + C, h = B +
D the ratio r = Q/P obeys ṙ = r P (g − h r), so y = r h/g runs monotonically to 1, and its complement z = 1 −
y decays as z = z₀ e^{−q} in the stretched variable q = h R = x − x₀ (x = −ln|z|). In q everything but the
time is elementary:

    R = q/h,   S = (q + ln(y/y₀))/g,   t = 1/(h Q₀) ∫₀^q (y/y₀)^{a−1} e^{βτ} dτ,   a = A/g,  β = (AD −
    BC)/(gh).

Nothing here subtracts near-equal numbers as q → 0 or z → 0, and y₀ < 1, y₀ = 1, y₀ > 1 are one formula.
Pieces in which only one point is learned (g = 0 or h = 0) are elementary and have their own classes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from reduced.solve.series import early_integral, middle_series, outer_series

# Between these values of y the series in z = 1 − y converges like (3/4)ⁿ; outside, those in y or 1/y do.
_LOW, _HIGH = 0.25, 1.75
# The start of a piece, where differences of those series cancel, is what so many terms of a third describe.
_EARLY_TERMS = 16
_MAX_ITERATIONS = 100_000


@dataclass(frozen=True)
class Form:
    """The linear form e₀ + σ S + ρ R along a piece, such as a prediction or the distance to a kink."""

    e0: Any
    on_S: Any
    on_R: Any


@dataclass(frozen=True)
class Block(ABC):
    """A smooth piece; q ≥ 0 is its own path parameter, 0 at the start and increasing with time."""

    ctx: Any
    A: Any
    B: Any
    C: Any
    D: Any
    P0: Any
    Q0: Any

    @abstractmethod
    def S(self, q: Any) -> Any:
        """Return ∫P dt from the start to q."""

    @abstractmethod
    def R(self, q: Any) -> Any:
        """Return ∫Q dt from the start to q."""

    @abstractmethod
    def elapsed(self, q: Any) -> Any:
        """Return the flow time from the start to q."""

    @abstractmethod
    def path_of_time(self, t: Any) -> Any:
        """Return the q at which the time elapsed is t ≥ 0."""

    @abstractmethod
    def path_of_ratio(self, ratio: Any) -> Any | None:
        """Return the q > 0 at which r = Q/P equals ratio, or None when it never does."""

    @abstractmethod
    def speeds(self, q: Any) -> tuple[Any, Any]:
        """Return (dS/dq, dR/dq) at q."""

    @abstractmethod
    def final_speeds(self) -> tuple[Any, Any]:
        """Return the directions (dS/dq, dR/dq) as q → ∞, up to a positive factor."""

    @abstractmethod
    def turn(self, form: Form) -> Any:
        """Return the q at which a form whose slope changes sign has slope 0."""

    def ratio(self, q: Any) -> Any:
        """Return r = Q/P at q."""
        return self.Q0 / self.P0 * self.ctx.exp((self.A + self.C) * self.S(q) - (self.B + self.D) * self.R(q))

    def value(self, form: Form, q: Any) -> Any:
        """Return the value of a form at q."""
        return form.e0 + form.on_S * self.S(q) + form.on_R * self.R(q)

    def limit_sign(self, form: Form) -> int:
        """Return the sign of a form as q → ∞."""
        on_S, on_R = self.final_speeds()
        return sign_of_sum(self.ctx, form.on_S * on_S, form.on_R * on_R)

    def roots(self, form: Form) -> Iterator[tuple[Any, int]]:
        """Yield the roots q > 0 of a form in increasing order, each with the sign of its slope there.

        A form's slope changes sign at most once along a piece (dR/dS is monotone), so between 0, that turn
        and infinity the form is monotone and safeguarded Newton finds its only root there.
        """
        ctx = self.ctx
        speed_S, speed_R = self.speeds(ctx.zero)
        slope_start = sign_of_sum(ctx, form.on_S * speed_S, form.on_R * speed_R)
        slope_end = sign_of_sum(
            ctx, *(k * v for k, v in zip((form.on_S, form.on_R), self.final_speeds(), strict=True))
        )
        here = int(ctx.sign(form.e0)) or slope_start or slope_end
        begin = ctx.zero
        if slope_start * slope_end < 0:
            turn = self.turn(form)
            there = int(ctx.sign(self.value(form, turn)))
            if here * there < 0:
                yield self._root(form, begin, turn), there
            here, begin = there or slope_end, turn
        there = self.limit_sign(form)
        if here * there < 0:
            yield self._root(form, begin, None), there

    def _root(self, form: Form, low: Any, high: Any | None) -> Any:
        """Return the root of a form that is monotone on [low, high], high = None meaning infinity.

        Raises ArithmeticError when at the working precision there is none up to infinity: whoever is sure of
        it has to raise the precision.
        """
        ctx = self.ctx
        left_sign = ctx.sign(self.value(form, low)) or -self.limit_sign(form)
        if high is None and left_sign * self.limit_sign(form) >= 0:
            raise ArithmeticError("at this precision a form keeps its sign for ever")

        def value_and_slope(q: Any) -> tuple[Any, Any]:
            speed_S, speed_R = self.speeds(q)
            return left_sign * self.value(form, q), left_sign * (form.on_S * speed_S + form.on_R * speed_R)

        return safe_newton(ctx, value_and_slope, low, high, start=low)


@dataclass(frozen=True)
class RatioBlock(Block):
    """The generic piece, g = A + C > 0 and h = B + D > 0."""

    @cached_property
    def g(self) -> Any:
        """The growth rate A + C of ln r per unit S."""
        return self.A + self.C

    @cached_property
    def h(self) -> Any:
        """The damping rate B + D of ln r per unit R."""
        return self.B + self.D

    @cached_property
    def a(self) -> Any:
        """The exponent A/g."""
        return self.A / self.g

    @cached_property
    def beta(self) -> Any:
        """The rate β = (AD − BC)/(gh) at which ln t grows with q on the fixed ratio."""
        return (self.A * self.D - self.B * self.C) / (self.g * self.h)

    @cached_property
    def y0(self) -> Any:
        """The start ratio over the fixed ratio."""
        return self.Q0 / self.P0 * self.h / self.g

    @cached_property
    def z0(self) -> Any:
        """The complement 1 − y₀, negative when the start lies above the fixed ratio."""
        return (self.g * self.P0 - self.h * self.Q0) / (self.g * self.P0)

    def _y(self, q: Any) -> Any:
        """Return y at q, a sum of positive terms."""
        return self.y0 * self.ctx.exp(-q) - self.ctx.expm1(-q)

    def _log_y(self, q: Any) -> Any:
        """Return ln(y/y₀), exact for tiny q and for a start far above the fixed ratio."""
        if self.z0 < 0 and q > 1:
            return self.ctx.log(self._y(q) / self.y0)
        return self.ctx.log1p(-self.z0 * self.ctx.expm1(-q) / self.y0)

    def S(self, q: Any) -> Any:
        """Return ∫P dt from the start to q."""
        return self.ctx.log1p(self.ctx.expm1(q) / self.y0) / self.g

    def R(self, q: Any) -> Any:
        """Return ∫Q dt from the start to q."""
        return q / self.h

    def ratio(self, q: Any) -> Any:
        """Return r = Q/P at q."""
        return self.Q0 / self.P0 * self.ctx.exp(self._log_y(q))

    def value(self, form: Form, q: Any) -> Any:
        """Return the value of a form at q."""
        on_log = form.on_S / self.g
        return form.e0 + (on_log + form.on_R / self.h) * q + on_log * self._log_y(q)

    def speeds(self, q: Any) -> tuple[Any, Any]:
        """Return (dS/dq, dR/dq) = (1/(g y), 1/h) at q."""
        return 1 / (self.g * self._y(q)), 1 / self.h

    def final_speeds(self) -> tuple[Any, Any]:
        """Return (1/g, 1/h)."""
        return 1 / self.g, 1 / self.h

    def limit_sign(self, form: Form) -> int:
        """Return the sign of a form as q → ∞ (it tends to a constant when its final slope is 0)."""
        return super().limit_sign(form) or int(
            self.ctx.sign(form.e0 - form.on_S / self.g * self.ctx.log(self.y0))
        )

    def turn(self, form: Form) -> Any:
        """Return the q at which the slope σ/(g y) + ρ/h vanishes."""
        on_R = form.on_R / self.h
        return self.ctx.log(self.z0 * on_R / (form.on_S / self.g + on_R))

    def path_of_ratio(self, ratio: Any) -> Any | None:
        """Return the q > 0 at which r equals ratio, or None when it never does.

        A target that agrees with the fixed ratio to rounding is never reached.
        """
        ctx = self.ctx
        gap = self.g - self.h * ratio
        if self.z0 == 0 or abs(gap) <= self.g * _rounding(ctx):
            return None
        # of z₀ a part is left at the target and a part gone: either may be too small to show in the other
        left = gap / (self.g * self.z0)
        gone = self.h * (self.P0 * ratio - self.Q0) / (self.g * self.P0 * self.z0)
        if not (left > 0 and gone > 0):
            return None
        return -ctx.log(left) if left < _LOW else -ctx.log1p(-gone)

    def elapsed(self, q: Any) -> Any:
        """Return the flow time from the start to q."""
        return self._integral(q) / (self.h * self.Q0)

    def _integral(self, q: Any) -> Any:
        """Return ∫₀^q (y/y₀)^{a−1} e^{βτ} dτ, region by region of y."""
        ctx = self.ctx
        if q == 0:
            return ctx.zero
        # y moves by about q: its differences cancel only where that is little beside y₀
        lost = max(0, min(0, ctx.mag(self.y0)) - ctx.mag(q))
        if lost * _EARLY_TERMS > self._bits():
            with ctx.extraprec(20):
                return self._early_integral(q)
        with ctx.extraprec(20 + lost):
            z_end = self.z0 * ctx.exp(-q)
            if self._within(_LOW, self.y0) and self._within(self.y0, _HIGH):
                return self._middle_integral(self.z0, z_end, ctx.zero, q)
            edge = ctx.mpf(_LOW if self.y0 < 1 else _HIGH)
            q_edge = ctx.log(self.z0 / (1 - edge))
            if self._within(q, q_edge):
                return self._outer_integral(self._y(q))
            return self._outer_integral(edge) + self._middle_integral(1 - edge, z_end, q_edge, q - q_edge)

    def _within(self, low: Any, high: Any) -> bool:
        """Tell whether low ≤ high where one is the edge of a region: near it the series of either side serves."""
        return bool(low <= high)

    def _outer_integral(self, y_stop: Any) -> Any:
        """Integrate from y₀ to y_stop where y < 1/4 (powers of y) or y > 7/4 (powers of 1/y)."""
        power = self.a if self.y0 < 1 else self.D / self.h
        first, last = (self.y0, y_stop) if self.y0 < 1 else (1 / y_stop, 1 / self.y0)
        value = last**power * self._outer_series(power, last)
        if self.y0 < 1:
            value -= first**power * self._outer_series(power, first)
        else:
            value = first**power * self._outer_series(power, first) - value
        return self.y0 ** (1 - self.a) * abs(self.z0) ** self.beta * value

    def _middle_integral(self, z_begin: Any, z_end: Any, q_begin: Any, q: Any) -> Any:
        """Integrate from q_begin over a further q, with |z| ≤ 3/4 throughout."""
        ctx = self.ctx
        K_begin, K_end = (self._middle_series(z) for z in (z_begin, z_end))
        growth = ctx.expm1(self.beta * q) / self.beta if self.beta else q
        value = growth * (1 - self.beta * K_end) - (K_end - K_begin)
        return self.y0 ** (1 - self.a) * ctx.exp(self.beta * q_begin) * value

    def _bits(self) -> int:
        """Return the working precision."""
        return int(self.ctx.prec)

    def _early_integral(self, q: Any) -> Any:
        return early_integral(self.ctx, self.a, self.beta, self.y0, q)

    def _outer_series(self, power: Any, y: Any) -> Any:
        return outer_series(self.ctx, power, -self.beta, y)

    def _middle_series(self, z: Any) -> Any:
        return middle_series(self.ctx, self.a, -self.beta, z)

    def path_of_time(self, t: Any) -> Any:
        """Return the q at which the time elapsed is t ≥ 0 (safeguarded Newton on the log of the time)."""
        ctx = self.ctx
        if t == 0:
            return ctx.zero
        target = t * self.h * self.Q0

        def value_and_slope(q: Any) -> tuple[Any, Any]:
            if q == 0:
                return ctx.inf, -ctx.one
            integral = self._integral(q)
            speed = ctx.exp((self.a - 1) * self._log_y(q) + self.beta * q)
            return ctx.log(target / integral), -speed / integral

        start = ctx.log1p(self.beta * target) / self.beta if self.beta else target
        return safe_newton(ctx, value_and_slope, ctx.zero, None, start)


@dataclass(frozen=True)
class PlusBlock(Block):
    """Only x₊ is learned (B = D = 0): q = S, and r grows like e^{gS}."""

    def S(self, q: Any) -> Any:
        """Return ∫P dt from the start to q."""
        return q

    def R(self, q: Any) -> Any:
        """Return ∫Q dt from the start to q."""
        g = self.A + self.C
        return self.Q0 / self.P0 * self.ctx.expm1(g * q) / g

    def speeds(self, q: Any) -> tuple[Any, Any]:
        """Return (dS/dq, dR/dq) at q."""
        return self.ctx.one, self.Q0 / self.P0 * self.ctx.exp((self.A + self.C) * q)

    def final_speeds(self) -> tuple[Any, Any]:
        """Return (0, 1): R outgrows S."""
        return self.ctx.zero, self.ctx.one

    def limit_sign(self, form: Form) -> int:
        """Return the sign of a form as q → ∞."""
        return int(self.ctx.sign(form.on_R) or self.ctx.sign(form.on_S) or self.ctx.sign(form.e0))

    def turn(self, form: Form) -> Any:
        """Return the q at which σ + ρ r vanishes."""
        return self.path_of_ratio(-form.on_S / form.on_R)

    def elapsed(self, q: Any) -> Any:
        """Return the flow time from the start to q."""
        return (self.ctx.expm1(self.A * q) / self.A if self.A else q) / self.P0

    def path_of_time(self, t: Any) -> Any:
        """Return the q at which the time elapsed is t ≥ 0."""
        return self.ctx.log1p(self.A * self.P0 * t) / self.A if self.A else self.P0 * t

    def path_of_ratio(self, ratio: Any) -> Any | None:
        """Return the q > 0 at which r equals ratio, or None when it never does."""
        q = self.ctx.log(ratio * self.P0 / self.Q0) / (self.A + self.C)
        return q if q > 0 else None


@dataclass(frozen=True)
class MinusBlock(Block):
    """Only x₋ is learned (A = C = 0): q = R, and r falls like e^{−hR}."""

    def S(self, q: Any) -> Any:
        """Return ∫P dt from the start to q."""
        h = self.B + self.D
        return self.P0 / self.Q0 * self.ctx.expm1(h * q) / h

    def R(self, q: Any) -> Any:
        """Return ∫Q dt from the start to q."""
        return q

    def speeds(self, q: Any) -> tuple[Any, Any]:
        """Return (dS/dq, dR/dq) at q."""
        return self.P0 / self.Q0 * self.ctx.exp((self.B + self.D) * q), self.ctx.one

    def final_speeds(self) -> tuple[Any, Any]:
        """Return (1, 0): S outgrows R."""
        return self.ctx.one, self.ctx.zero

    def limit_sign(self, form: Form) -> int:
        """Return the sign of a form as q → ∞."""
        return int(self.ctx.sign(form.on_S) or self.ctx.sign(form.on_R) or self.ctx.sign(form.e0))

    def turn(self, form: Form) -> Any:
        """Return the q at which σ + ρ r vanishes."""
        return self.path_of_ratio(-form.on_S / form.on_R)

    def elapsed(self, q: Any) -> Any:
        """Return the flow time from the start to q."""
        return (self.ctx.expm1(self.D * q) / self.D if self.D else q) / self.Q0

    def path_of_time(self, t: Any) -> Any:
        """Return the q at which the time elapsed is t ≥ 0."""
        return self.ctx.log1p(self.D * self.Q0 * t) / self.D if self.D else self.Q0 * t

    def path_of_ratio(self, ratio: Any) -> Any | None:
        """Return the q > 0 at which r equals ratio, or None when it never does."""
        q = self.ctx.log(self.Q0 / (self.P0 * ratio)) / (self.B + self.D)
        return q if q > 0 else None


@dataclass(frozen=True)
class StillBlock(Block):
    """Nothing is learned (A = B = C = D = 0): q = t and the forces are constant."""

    def S(self, q: Any) -> Any:
        """Return ∫P dt from the start to q."""
        return self.P0 * q

    def R(self, q: Any) -> Any:
        """Return ∫Q dt from the start to q."""
        return self.Q0 * q

    def speeds(self, q: Any) -> tuple[Any, Any]:
        """Return (dS/dq, dR/dq) at q."""
        return self.P0, self.Q0

    def final_speeds(self) -> tuple[Any, Any]:
        """Return (P₀, Q₀)."""
        return self.P0, self.Q0

    def limit_sign(self, form: Form) -> int:
        """Return the sign of a form as q → ∞ (its own when it is constant)."""
        return super().limit_sign(form) or int(self.ctx.sign(form.e0))

    def turn(self, form: Form) -> Any:
        """Raise: the slope of a form is constant here."""
        raise ArithmeticError("a form on a still piece has constant slope")

    def elapsed(self, q: Any) -> Any:
        """Return the flow time from the start to q."""
        return q

    def path_of_time(self, t: Any) -> Any:
        """Return the q at which the time elapsed is t ≥ 0."""
        return t

    def path_of_ratio(self, ratio: Any) -> Any | None:
        """Return None: the ratio is constant."""
        return None


def block(ctx: Any, rates: tuple[Any, Any, Any, Any], P0: Any, Q0: Any) -> Block:
    """Return the piece with rates (A, B, C, D) and forces P₀, Q₀ at its start.

    Arguments: ctx, a private mpmath context; rates, four numbers ≥ 0 per unit flow time and force; P0, Q0 >
    0.
    """
    A, B, C, D = rates
    learns_plus, learns_minus = A + C > 0, B + D > 0
    kind: Callable[..., Block] = {
        (True, True): RatioBlock,
        (True, False): PlusBlock,
        (False, True): MinusBlock,
        (False, False): StillBlock,
    }[learns_plus, learns_minus]
    return kind(ctx, A, B, C, D, P0, Q0)


def safe_newton(
    ctx: Any,
    value_and_slope: Callable[[Any], tuple[Any, Any]],
    low: Any,
    high: Any | None,
    start: Any,
) -> Any:
    """Return the root of a decreasing function on [low, high] by Newton's method inside a shrinking bracket.

    Arguments: ctx, an mpmath context; value_and_slope(q) → (value, slope), value > 0 left of the root; high =
    None means infinity; start, the first iterate. Stops when the step is at rounding level or no longer
    shrinks. Raises ArithmeticError after an absurd number of steps.
    """
    q, last_step = start, ctx.inf
    tolerance = ctx.ldexp(1, 8 - ctx.prec)
    for _ in range(_MAX_ITERATIONS):
        value, slope = value_and_slope(q)
        if value > 0:
            low = max(low, q)
        elif value < 0:
            high = q
        else:
            return q
        step = -value / slope if slope < 0 and ctx.isfinite(value) else ctx.inf
        size = abs(step)
        if size <= abs(q) * tolerance or (
            size <= abs(q) * ctx.ldexp(1, -ctx.prec // 2) and size >= last_step
        ):
            return q + step
        last_step = size
        q = q + step
        if high is None:
            # a tangent can point absurdly far along an exponential: grow by a factor at most
            if not low < q <= 8 * low + 1:
                q = 8 * low + 1
        elif not low < q < high:
            q = (low + high) / 2
            if high - low <= abs(high) * tolerance:
                return q
    raise ArithmeticError("Newton's method did not settle on an event equation")


def _rounding(ctx: Any) -> Any:
    """Return the relative size below which a difference counts as rounding."""
    return ctx.ldexp(1, 16 - ctx.prec)


def sign_of_sum(ctx: Any, first: Any, second: Any) -> int:
    """Return the sign of first + second, 0 when they cancel to rounding."""
    total = first + second
    if abs(total) <= (abs(first) + abs(second)) * _rounding(ctx):
        return 0
    return int(ctx.sign(total))

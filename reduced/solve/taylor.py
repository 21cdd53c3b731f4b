"""Two-point pieces by Taylor series: any loss with a polynomial force law, any number of digits.

An independent way to the answers of the closed form, and the only one for the logistic loss.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

from reduced.errors import BudgetExceeded
from reduced.records import Loss, Problem, Start, Timeline
from reduced.solve.block import Block, Form, safe_newton, sign_of_sum
from reduced.solve.generated import FORCE_LAW
from reduced.solve.pieces import Pieces, Rates
from reduced.solve.promise import keep_promise
from reduced.solve.step import Kernel, Step
from reduced.solve.timeline import (
    Moments,
    check_state,
    collapsed_flow,
    guard_digits,
    moments,
    timeline_record,
)

# About half a minute at 30 digits.
MAX_STEPS = 10_000
# A forecast is made from so many steps on, whenever their number has doubled, and may err by this factor.
_FIRST_FORECAST, _DOUBT = 128, 1.5
# A logistic flow whose forces are this small beside its distance from a ratio never crosses it any more.
_SETTLED = 0.01


def taylor_timeline(problem: Problem, start: Start, digits: int = 30) -> Timeline:
    """Solve the collapsed model by Taylor series and return its times and predictions, every digit right.

    Arguments: problem (exponential or logistic loss); start, the state at flow time 0; digits of every
    number. Returns a Timeline with decimal strings. Two runs of different order and steps must agree beyond
    the digits asked. Raises InputError for a state no network can be in, BudgetExceeded, as soon as it is
    foreseen, when the plateau needs too many steps (Δ ≲ 0.01). Source: Lemmas D.2–D.3, E.5–E.6, F.2–F.3;
    logistic loss: derived here.
    """
    check_state(problem, start)
    pieces = TaylorSeries(problem.loss)
    with budget_of(problem):
        found = keep_promise(
            lambda ctx: moments(collapsed_flow(ctx, problem, start, pieces)),
            Moments.numbers,
            digits,
            guard_digits(problem, start),
        )
    return timeline_record(problem, start, found, "taylor", digits)


@contextmanager
def budget_of(problem: Problem) -> Iterator[None]:
    """Let a BudgetExceeded from in here name the angle and the ways around it."""
    try:
        yield
    except BudgetExceeded as why:
        around = "a wider angle or earlier times are within reach; this loss has no closed form"
        if problem.loss is Loss.EXP:
            around = "the methods exact and enclosure have no steps"
        raise BudgetExceeded(f"{why} at delta = {problem.delta}: {around}") from None


class _Forecast:
    """How many steps a search will take, from how fast what is left to its end falls, in proportion to steps.

    On the slow motion of a plateau each step moves every prediction by nearly the same; in the end each step
    multiplies the time by nearly the same.
    """

    def __init__(self, left: Callable[[Step], Any]) -> None:
        """Take what is left to the end, a number that is 0 or less there, as a function of a step."""
        self._left = left
        self._due, self._before = _FIRST_FORECAST, None

    def check(self, steps: int, last: Step) -> None:
        """Raise BudgetExceeded once it is clear, so many steps on, that the end is too far off."""
        if steps < self._due:
            return
        now, before = self._left(last), self._before
        if before is not None and 0 < now < before:
            needed = steps + now / (before - now) * (steps // 2)
            if needed > _DOUBT * MAX_STEPS:
                shown = now.context.nstr(needed, 2)
                raise BudgetExceeded(f"the flow needs more than {MAX_STEPS} Taylor steps (about {shown})")
        self._due, self._before = 2 * self._due, now


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
class TaylorBlock(Block):
    """A smooth piece integrated by Taylor steps, made on demand; q is the flow time from its start."""

    weights: tuple[Any, Any] = (1, 1)
    law: tuple[int, ...] = (0, -1)
    steps: list[Step] = field(default_factory=list, compare=False)

    def S(self, q: Any) -> Any:
        """Return ∫P dt from the start to q."""
        return self._at(q)[0].impulses(self._at(q)[1])[0]

    def R(self, q: Any) -> Any:
        """Return ∫Q dt from the start to q."""
        return self._at(q)[0].impulses(self._at(q)[1])[1]

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
        forecast = _Forecast(lambda step: self.ctx.log(self._unrest(step, excess)))
        for index, step in enumerate(self._all_steps()):
            if start * end >= 0:
                if self._unrest(step, excess) <= 1:
                    return None
                forecast.check(index, step)
            turn = self._turn_within(step, excess)
            if turn is not None:
                return step.time(turn)
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
        forecast = _Forecast(lambda step: -end_value * self._value(step, form, self.ctx.zero))
        for index, step in enumerate(self._all_steps()):
            forecast.check(index, step)
            turn = self._turn_within(step, form)
            cuts = [self.ctx.zero, step.length] if turn is None else [self.ctx.zero, turn, step.length]
            for low, high in pairwise(cuts):
                there = int(self.ctx.sign(self._value(step, form, high)))
                if here * there < 0:
                    yield step.time(self._root_within(step, form, low, high)), there
                here = there or here
            if here == end_value and self._slope_sign(form, step.forces(step.length)) in (end_slope, 0):
                return

    def _value(self, step: Step, form: Form, tau: Any) -> Any:
        S, R = step.impulses(tau)
        return form.e0 + form.on_S * S + form.on_R * R

    def _slope_sign(self, form: Form, speeds: tuple[Any, Any]) -> int:
        return sign_of_sum(self.ctx, form.on_S * speeds[0], form.on_R * speeds[1])

    def _root_within(self, step: Step, form: Form, low: Any, high: Any) -> Any:
        falling = -int(self.ctx.sign(self._value(step, form, high)))

        def value_and_slope(tau: Any) -> tuple[Any, Any]:
            P, Q = step.forces(tau)
            return falling * self._value(step, form, tau), falling * step.unit_at(tau) * (
                form.on_S * P + form.on_R * Q
            )

        return safe_newton(self.ctx, value_and_slope, low, high, (low + high) / 2)

    def _turn_within(self, step: Step, form: Form) -> Any | None:
        """Return the τ inside a step at which the slope of a form changes sign, or None."""
        slope = step.force_form((form.on_S, form.on_R))
        return next((tau for tau, _ in slope.sign_changes(self.ctx.zero, step.length)), None)

    def _unrest(self, step: Step, excess: Form) -> Any:
        """Return a number that is 1 or less once r stays on its side of a ratio.

        It is 0 at once for exponential loss, where r is monotone, and for a ratio to which r tends.
        """
        if len(self.law) == 2 or not self.A + self.C > 0 or not self.B + self.D > 0:
            return self.ctx.zero
        speeds = self.final_speeds()
        gap = abs(excess.on_S * speeds[0] + excess.on_R * speeds[1]) / (
            abs(excess.on_S) * speeds[0] + speeds[1]
        )
        P, Q = step.forces(self.ctx.zero)
        return max(P / self.weights[0], Q / self.weights[1]) / (_SETTLED * gap) if gap else self.ctx.zero

    def _at(self, q: Any) -> tuple[Step, Any]:
        """Return the step that contains q and τ in it, making steps up to there."""
        if not self.steps or self.steps[-1].end < q:
            forecast = _Forecast(lambda step: self.ctx.log(q / step.end))
            for index, step in enumerate(self._all_steps(), 1):
                if step.end >= q:
                    break
                forecast.check(index, step)
        step = self.steps[max(0, bisect_right(self.steps, q, key=lambda step: step.t0) - 1)]
        return step, step.tau(q)

    def _all_steps(self) -> Iterator[Step]:
        """Yield the steps from the start of the block on, making new ones for ever."""
        index = 0
        while True:
            if index == len(self.steps):
                if index >= MAX_STEPS:
                    raise BudgetExceeded(f"the flow needs more than {MAX_STEPS} Taylor steps")
                self.steps.append(self._next_step())
            yield self.steps[index]
            index += 1

    def _next_step(self) -> Step:
        if self.steps:
            last = self.steps[-1]
            forces, unit = last.forces(last.length), self._kernel.next_unit(last, last.length)
            return self._kernel.step(last.end, last.impulses(last.length), forces, unit)
        start, forces = (self.ctx.zero, self.ctx.zero), (self.P0, self.Q0)
        return self._kernel.step(self.ctx.zero, start, forces, self._kernel.first_unit(forces))

    @cached_property
    def _kernel(self) -> Kernel:
        matrix = ((self.A, -self.B), (self.C, -self.D))
        return Kernel(self.ctx, matrix, (1, -1), self.weights, self.law)

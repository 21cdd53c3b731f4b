"""Smooth pieces in balls: the closed form of :mod:`reduced.solve.block` with proved roots and series.

The formulas are those of the mpmath pieces. What is added: a root is proposed by the mpmath piece through the
midpoints and proved by interval Newton; it is the only one between two certified places because a form's
slope has one sign there (its sign is certified at both ends, and it turns once at most since dR/dS is
monotone along a piece); the two power series have proved tails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import flint

from reduced.solve.block import Block, Form, MinusBlock, PlusBlock, RatioBlock, StillBlock, block
from reduced.solve.enclosure.ball import ZERO, Ball, Undecided
from reduced.solve.enclosure.root import enclose_root
from reduced.solve.enclosure.series import early_integral, rising_series
from reduced.solve.pieces import ClosedForm, Rates


class _ProvedRoots(Block):
    """A piece whose roots are proposed in mpmath and proved in balls."""

    def guess(self, propose: Callable[[Block], Any]) -> Any:
        """Return, as an Arb point, what the same piece in mpmath, through the midpoints, proposes."""
        rough = self.ctx.rough
        rates = (rough(self.A), rough(self.B), rough(self.C), rough(self.D))
        try:
            return self.ctx.point(propose(block(self.ctx.sketch, rates, rough(self.P0), rough(self.Q0))))
        except ArithmeticError as why:
            raise Undecided("event", why, "an approximate root, which this precision does not give") from None

    def roots(self, form: Form) -> Iterator[tuple[Any, int]]:
        """Yield the proved roots q > 0 of a form in increasing order, each with the sign of its slope there.

        Values of opposite sign at 0 and infinity leave exactly one root, wherever the slope turns: its sign
        at the start, which is 0 on a piece that begins as r passes c, need not be known then.
        """
        here, there = self.ctx.sign(form.e0), self.limit_sign(form)
        if here * there < 0:
            yield self._root(form, ZERO, None), there
        else:
            yield from super().roots(form)

    def _root(self, form: Form, low: Any, high: Any | None) -> Ball:
        rough = self.ctx.rough
        rough_form = Form(rough(form.e0), rough(form.on_S), rough(form.on_R))
        rough_high = None if high is None else rough(high)

        def value_and_slope(arb: Any) -> tuple[Any, Any]:
            q = Ball(arb)
            speed_S, speed_R = self.speeds(q)
            return self.value(form, q).arb, (form.on_S * speed_S + form.on_R * speed_R).arb

        guess = self.guess(lambda piece: piece._root(rough_form, rough(low), rough_high))
        found = Ball(enclose_root(value_and_slope, guess))
        if not low < found or (high is not None and not found < high):
            raise Undecided("event", found, "a root inside the stretch on which it is the only one")
        return found


class BallRatioBlock(_ProvedRoots, RatioBlock):
    """The generic piece, g = A + C > 0 and h = B + D > 0, in balls."""

    def path_of_time(self, t: Ball) -> Ball:
        """Return the q at which the time elapsed is t ≥ 0."""
        if t == ZERO:
            return ZERO
        ctx, target = self.ctx, t * self.h * self.Q0

        def value_and_slope(arb: Any) -> tuple[Any, Any]:
            q = Ball(arb)
            integral = self._integral(q)
            return ctx.log(integral / target).arb, (self._integrand(q) / integral).arb

        guess = self.guess(lambda piece: piece.path_of_time(ctx.rough(t)))
        return Ball(enclose_root(value_and_slope, guess))

    def _within(self, low: Any, high: Any) -> bool:
        return bool(self.ctx.rough(low) <= self.ctx.rough(high))

    def _integrand(self, q: Ball) -> Ball:
        growth: Ball = self.ctx.exp(self.beta * q - self.C / self.g * self._log_y(q))
        return growth

    def _bits(self) -> int:
        return int(flint.ctx.prec)

    def _early_integral(self, q: Ball) -> Ball:
        return Ball(early_integral((self.C / self.g).arb, self.beta.arb, self.y0.arb, q.arb))

    def _outer_series(self, power: Ball, y: Ball) -> Ball:
        """Return Σ_{n≥0} (1−b)_n/n! yⁿ/(power+n)."""
        return 1 / power + Ball(rising_series((1 + self.beta).arb, (1 + power).arb, y.arb))

    def _middle_series(self, z: Ball) -> Ball:
        """Return Σ_{n≥1} (1−a)_n/n! zⁿ/(n+b).

        1 − a = C/g and 1 + b = (AB + 2BC + CD)/(gh) are free of cancellation; both are 0 in Phase III, where
        every term vanishes.
        """
        if self.C == ZERO:
            return ZERO
        A, B, C, D = self.A, self.B, self.C, self.D
        rise = C / self.g
        shift = (A * B + 2 * B * C + C * D) / (self.g * self.h)
        return Ball(rising_series(rise.arb, shift.arb, z.arb))


class BallPlusBlock(_ProvedRoots, PlusBlock):
    """The piece that learns x₊ only, in balls."""


class BallMinusBlock(_ProvedRoots, MinusBlock):
    """The piece that learns x₋ only, in balls."""


class BallStillBlock(_ProvedRoots, StillBlock):
    """The piece that learns nothing, in balls."""


class BallClosedForm(ClosedForm):
    """Exponential loss, solved in closed form in balls."""

    def piece(self, ctx: Any, weights: tuple[Any, Any], rates: Rates, forces: tuple[Any, Any]) -> Block:
        """Return the smooth piece with rates (A, B, C, D) that starts with the given forces."""
        A, B, C, D = rates
        kinds: dict[tuple[bool, bool], type[Block]] = {
            (True, True): BallRatioBlock,
            (True, False): BallPlusBlock,
            (False, True): BallMinusBlock,
            (False, False): BallStillBlock,
        }
        return kinds[A + C > 0, B + D > 0](ctx, *rates, *forces)

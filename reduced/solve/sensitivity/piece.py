"""Smooth pieces in jets: the closed form of :mod:`reduced.solve.block` with implicitly differentiated roots.

The formulas are those of the mpmath pieces. What is added: a root q of F(q, θ) = 0 is found by the mpmath piece
and its derivatives follow from ∂q/∂θ = −(∂F/∂θ)/(∂F/∂q); the incomplete beta function of the time is
differentiated by both exponents and by its end, term by term in its power series.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from reduced.solve.block import Block, Form, MinusBlock, PlusBlock, RatioBlock, StillBlock, block
from reduced.solve.pieces import ClosedForm, Rates
from reduced.solve.sensitivity.jet import Jet, value_of
from reduced.solve.sensitivity.series import rising_series


class _ImplicitRoots(Block):
    """A piece whose roots are found in mpmath and differentiated implicitly."""

    @cached_property
    def plain(self) -> Block:
        """The same piece in mpmath."""
        rates = (self.A.value, self.B.value, self.C.value, self.D.value)
        return block(self.ctx.plain, rates, self.P0.value, self.Q0.value)

    def _root(self, form: Form, low: Any, high: Any | None) -> Jet:
        plain_form = Form(value_of(form.e0), value_of(form.on_S), value_of(form.on_R))
        q = self.plain._root(plain_form, low.value, None if high is None else high.value)
        speed_S, speed_R = self.plain.speeds(q)
        slope = plain_form.on_S * speed_S + plain_form.on_R * speed_R
        found: Jet = self.value(form, self.ctx.mpf(q)).along(-1 / slope, q)
        return found


class JetRatioBlock(_ImplicitRoots, RatioBlock):
    """The generic piece, g = A + C > 0 and h = B + D > 0, in jets."""

    def path_of_time(self, t: Jet) -> Jet:
        """Return the q at which the time elapsed is t ≥ 0."""
        q = self.ctx.mpf(self.plain.path_of_time(t.value))
        _, speed_R = self.plain.speeds(q.value)
        excess = self.elapsed(q) - t
        # dt/dq = (dR/dq)/Q with Q = Q₀ e^{CS − DR}
        force = self.Q0.value * self.ctx.plain.exp(
            self.C.value * self.plain.S(q.value) - self.D.value * self.plain.R(q.value)
        )
        found: Jet = excess.along(-force / speed_R, q.value)
        return found

    def _outer_series(self, power: Jet, y: Jet) -> Jet:
        """Return Σ_{n≥0} (1−b)_n/n! yⁿ/(power+n)."""
        rise = 1 + self.beta
        series = rising_series(self.ctx.plain, rise.value, power.value, y.value)
        rest: Jet = self.ctx.combined(
            series.value, (series.by_rise, rise), (series.by_shift, power), (series.by_x, y)
        )
        return rest + 1 / power

    def _middle_series(self, z: Jet) -> Jet:
        """Return Σ_{n≥1} (1−a)_n/n! zⁿ/(n+b); in Phase III, where C = 0 for all parameters, it vanishes."""
        if not self.C and not any(self.C.slopes):
            nothing: Jet = self.ctx.zero
            return nothing
        rise, shift = self.C / self.g, -self.beta
        series = rising_series(self.ctx.plain, rise.value, shift.value, z.value)
        found: Jet = self.ctx.combined(
            series.value, (series.by_rise, rise), (series.by_shift, shift), (series.by_x, z)
        )
        return found


class JetPlusBlock(_ImplicitRoots, PlusBlock):
    """The piece that learns x₊ only, in jets."""


class JetMinusBlock(_ImplicitRoots, MinusBlock):
    """The piece that learns x₋ only, in jets."""


class JetStillBlock(_ImplicitRoots, StillBlock):
    """The piece that learns nothing, in jets."""


class JetClosedForm(ClosedForm):
    """Exponential loss, solved in closed form in jets."""

    def piece(self, ctx: Any, weights: tuple[Any, Any], rates: Rates, forces: tuple[Any, Any]) -> Block:
        """Return the smooth piece with rates (A, B, C, D) that starts with the given forces."""
        A, B, C, D = rates
        kinds: dict[tuple[bool, bool], type[Block]] = {
            (True, True): JetRatioBlock,
            (True, False): JetPlusBlock,
            (False, True): JetMinusBlock,
            (False, False): JetStillBlock,
        }
        return kinds[A + C > 0, B + D > 0](ctx, *rates, *forces)

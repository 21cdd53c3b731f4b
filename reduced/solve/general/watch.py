"""What may happen to crowds within a step: the forms whose first zero is the next event, and that event.

Doubles tell which kinks and which ends of sliding are out of the question, and where the others come; only what
comes first is looked at with all digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from reduced.solve.general.crowds import Crowd, Kink
from reduced.solve.general.decision import value
from reduced.solve.general.motion import Exit
from reduced.solve.outline import Fall, Outline
from reduced.solve.polynomial import Polynomial
from reduced.solve.step import Step

# Bits at the end of a number that the roundings of a step may reach.
_NOISE_BITS = 20
# A step that is to end at an event goes on by this part of its length, to contain the event.
_BEYOND = 2.0**-6


@dataclass(frozen=True, eq=False)
class Watch:
    """A form that is positive until something happens to a crowd.

    crowd; surface, where; side, to which a sliding crowd leaves it, None when a particle arrives at it; path, the
    form along the step; tolerance, below which its value counts as 0; fall, where in the part of the step looked
    at it may get to 0.
    """

    crowd: Crowd
    surface: int
    side: int | None
    path: Polynomial
    tolerance: Any
    fall: Fall

    def first_zero(self, end: Any, before: Any) -> Any | None:
        """Return the first τ < before at which the form changes sign, or None; end ends the part looked at."""
        if self.fall.sure:
            low, high, guess = (end * part for part in (self.fall.low, self.fall.high, self.fall.guess))
            root = self.path.falling_root(low, high, guess)
            return root if root < before else None
        change = next(self.path.sign_changes(self.path.ctx.zero, before), None)
        return None if change is None else change[0]


class Lookout:
    """The crowds that move at the start of a step, and what may happen to them within it."""

    def __init__(self, ctx: Any, crowds: Iterable[Crowd], S: Sequence[Any]) -> None:
        """Take the crowds and the impulses S (N,) so far."""
        self.ctx, self.S = ctx, S
        self.crowds = list(crowds)
        rough = list(map(float, S))
        self.kinks = [kink for crowd in self.crowds for kink in crowd.kinks(rough)]
        self.exits = [(crowd, one) for crowd in self.crowds for one in crowd.motion.exits if any(one.row)]

    def forecast(self, step: Step, until: Any) -> Any:
        """Return the τ at which a step may end of which only the first terms are known: its length, or less."""
        end = min(step.length, step.tau(until))
        falls = [fall for _, fall in self._within_reach(step.outline_of_impulses(end))]
        falls += [fall for *_, fall in self._may_leave(step, end)]
        first = min((fall.guess for fall in falls if fall.sure), default=None)
        return step.length if first is None else min(step.length, end * (first * (1 + _BEYOND)))

    def next_event(self, step: Step, end: Any) -> tuple[Any, list[Watch]]:
        """Return the τ at which the step is left, and what happens then (nothing: the end)."""
        watches = sorted([*self._gates(step, end), *self._leavings(step, end)], key=lambda one: one.fall.low)
        first, found = end, None
        for one in watches:
            if end * one.fall.low > first:
                break
            zero = one.first_zero(end, first)
            if zero is not None:
                first, found = zero, one
        if found is None:
            return end, []
        near = (one for one in watches if end * one.fall.low <= first)
        return first, [one for one in near if one is found or abs(one.path.value(first)) <= one.tolerance]

    def _within_reach(self, impulses: Outline) -> Iterator[tuple[Kink, Fall]]:
        gained = impulses.most
        for kink in self.kinks:
            if kink.within_reach(gained):
                fall = impulses.fall(kink.distance, kink.row, kink.doubt)
                if fall is not None:
                    yield kink, fall

    def _gates(self, step: Step, end: Any) -> Iterator[Watch]:
        """Yield the kinks that a particle may reach within the step."""
        ctx, impulses = self.ctx, step.outline_of_impulses(end)
        gained = None
        for kink, _ in self._within_reach(impulses):
            gained = gained or step.gained(end)
            s, motion = kink.surface, kink.crowd.motion
            side, row, nearest = kink.crowd.state[s], motion.velocity[s], kink.crowd.nearest[s]
            travel = (U + more for U, more in zip(self.S, gained, strict=True))
            size = abs(nearest) + ctx.fsum(abs(x) * total for x, total in zip(row, travel, strict=True))
            noise = size * self._rounding
            distance = max(nearest + side * value(ctx, row, self.S), noise)
            fall = impulses.fall(float(distance), kink.row)
            if fall is not None:
                path = step.impulse_form(distance, [side * x for x in row])
                yield Watch(kink.crowd, s, None, path, 4 * noise, fall)

    def _may_leave(self, step: Step, end: Any) -> Iterator[tuple[Crowd, Exit, int, Fall]]:
        if not self.exits:
            return
        forces = step.outline_of_forces(end)
        for crowd, one in self.exits:
            direction = int(self.ctx.sign(value(self.ctx, one.jump, step.scales)))
            fall = forces.fall(0.0, [direction * x for x in one.rough])
            if fall is not None:
                yield crowd, one, direction, fall

    def _leavings(self, step: Step, end: Any) -> Iterator[Watch]:
        """Yield the multipliers of sliding crowds that may reach an end of their range within the step."""
        ctx, U = self.ctx, step.scales
        for crowd, one, direction, fall in self._may_leave(step, end):
            form = step.force_form([direction * x for x in one.row])
            noise = ctx.fsum(abs(x) * u for x, u in zip(one.row, U, strict=True)) * self._rounding
            start = max(form.value(ctx.zero), noise)
            coefficients = [int((start / form.scale).to_fixed(form.bits)), *form.coefficients[1:]]
            path = Polynomial(ctx, coefficients, form.scale, form.bits)
            yield Watch(crowd, one.surface, one.side, path, 4 * noise, fall)

    @cached_property
    def _rounding(self) -> Any:
        return self.ctx.ldexp(1, _NOISE_BITS - self.ctx.prec)

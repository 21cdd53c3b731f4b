"""From balls to answers: raise the precision until every radius is small, then write mid and rad as decimals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import ceil, log2
from typing import Any, TypeVar

import flint
from mpmath.libmp import from_man_exp

from reduced.numbers import decimal_string
from reduced.solve.enclosure.ball import INFINITY, ZERO, Ball, BallContext, Undecided, working_precision
from reduced.solve.promise import check_digits

# The printed middle has so many more digits than asked, so that rounding it costs next to nothing.
_MORE_DIGITS = 3
_BALL_MARGIN_BITS = 14
_FIRST_GUARD_BITS = 64
# Guard bits at which numbers that no ball has separated are given up on.
_LAST_GUARD_BITS = 20_000

T = TypeVar("T")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Enclosure:
    """A real number within rad of mid, both decimal strings; rad is rounded up ("inf" has no radius)."""

    mid: str
    rad: str | None

    def __str__(self) -> str:
        return self.mid if self.rad is None else f"{self.mid} +/- {self.rad}"


def certify(
    compute: Callable[[BallContext], T],
    numbers: Callable[[T], Iterable[Ball | None]],
    answer: Callable[[T], Answer],
    digits: int,
) -> Answer:
    """Compute in balls, at rising precision, until every number has its digits; return the answer made of it.

    Arguments: compute, a function of a context of balls; numbers, which lists the balls that count (None is
    skipped); answer, which turns the result into a record; digits, significant digits asked: every radius
    ends up below half a unit of the last one. Raises Undecided when numbers agree that far that no
    precision tried separates them.
    """
    wanted = ceil(check_digits(digits) * log2(10)) + _BALL_MARGIN_BITS
    guard = _FIRST_GUARD_BITS
    while True:
        try:
            with working_precision(wanted + guard):
                found = compute(BallContext())
                missing = max((_missing_bits(ball, wanted) for ball in numbers(found)), default=0)
                if missing <= 0:
                    return answer(found)
            guard += missing + 8
        except Undecided:
            if guard > _LAST_GUARD_BITS:
                raise
            guard *= 2


def enclosure(ball: Ball, digits: int) -> Enclosure:
    """Write a ball as decimal mid and rad; mid is rounded a few digits beyond those asked, rad covers that."""
    if ball is INFINITY or ball == ZERO:
        return Enclosure("inf", None) if ball is INFINITY else Enclosure("0", "0")
    mid = decimal_string(_midpoint(ball), digits + _MORE_DIGITS)
    return Enclosure(mid, _decimal_above((ball.arb - flint.arb(mid)).abs_upper()))


def _midpoint(ball: Ball) -> Any:
    """Return the exact midpoint of a ball as an mpf."""
    import mpmath

    mantissa, exponent = ball.arb.mid().man_exp()
    return mpmath.mp.make_mpf(from_man_exp(int(mantissa), int(exponent)))


def _missing_bits(ball: Ball | None, wanted: int) -> int:
    if ball is None or ball is INFINITY or ball == ZERO:
        return 0
    if ball.arb.contains(0):
        raise Undecided("number", ball.arb.str(10), "a number that balls tell from 0")
    return wanted - int(ball.arb.rel_accuracy_bits())


def _decimal_above(value: Any) -> str:
    """Return a number of three figures that is not below an Arb value ≥ 0."""
    if value.is_zero():
        return "0"
    mid, rad, exponent = (int(part) for part in value.mid_rad_10exp(3))
    above = mid + rad
    while above >= 1000:
        above, exponent = -(-above // 10), exponent + 1
    figures = str(above)
    return f"{figures[0]}.{figures[1:] or 0}e{exponent + len(figures) - 1:+d}"

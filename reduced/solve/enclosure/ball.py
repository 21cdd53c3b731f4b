"""Numbers as Arb balls: every operation rounds outward, every comparison is certified or refused.

A :class:`Ball` encloses one real number. Comparing two balls answers only when the answer holds for every
choice of numbers inside them; otherwise it raises :class:`Undecided`, and whoever asked tries again at a
higher precision. Equalities, which no precision decides, are decided symbolically where both sides still know
their formula. :class:`BallContext` offers balls under the names of an mpmath context, so that the algorithms
written for mpmath run in balls unchanged, with every decision they take proved.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import zip_longest
from typing import Any

import flint

from reduced.errors import InputError
from reduced.numbers import Exact, exact, is_zero
from reduced.solve.promise import private_context

# python-flint has one precision for the whole process: whoever computes with balls holds this lock.
_PRECISION = threading.RLock()
# How much of the working precision an approximate mpmath solution gets (Newton in balls supplies the rest).
_SKETCH_BITS, _SKETCH_SHARE = 64, 4
# Before symbols are asked, the sign of a formula is tried at so many times the working precision.
_DECIDING_FACTOR = 4


class Undecided(InputError):
    """Balls cannot separate two numbers at the present precision, and no formula proves them equal."""


@contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Compute with balls of this precision in here; other threads wait, and the old precision returns."""
    with _PRECISION:
        before = flint.ctx.prec
        flint.ctx.prec = bits
        try:
            yield
        finally:
            flint.ctx.prec = before


class Ball:
    """A real number enclosed by an Arb ball, with the formula it came from as long as that is exact.

    ``arb`` is the enclosure; ``origin`` is an Exact, or an operation with its operands, or None when the
    number is the result of a root search or a series.
    """

    __slots__ = ("arb", "origin")

    def __init__(self, arb: Any, origin: Exact | tuple[str, Ball, Ball] | tuple[str, Ball] | None = None):
        """Enclose a number; arb must contain the number that origin describes."""
        self.arb = arb
        self.origin = origin

    def formula(self) -> Exact | None:
        """Return the number as an exact expression, None when it has none."""
        if self.origin is None or isinstance(self.origin, Exact):
            return self.origin
        operation, *balls = self.origin
        operands = [ball.formula() for ball in balls]
        if None in operands:
            return None
        if operation in _FOLDED:
            return _FOLDED[operation](*operands)
        return Exact(operation, tuple(operands))

    @property
    def is_zero(self) -> bool:
        """Whether the ball is exactly the point 0 (no decision is taken)."""
        return bool(self.arb.is_zero())

    def __repr__(self) -> str:
        return f"Ball({self.arb})"

    def __add__(self, other: Any) -> Ball:
        other = as_ball(other)
        if self.is_zero or other.is_zero:
            return other if self.is_zero else self
        return Ball(self.arb + other.arb, _origin("+", self, other))

    def __radd__(self, other: Any) -> Ball:
        return as_ball(other) + self

    def __neg__(self) -> Ball:
        return Ball(-self.arb, _origin("*", MINUS_ONE, self))

    def __pos__(self) -> Ball:
        return self

    def __sub__(self, other: Any) -> Ball:
        other = as_ball(other)
        return ZERO if other is self else self + (-other)

    def __rsub__(self, other: Any) -> Ball:
        return as_ball(other) - self

    def __mul__(self, other: Any) -> Ball:
        other = as_ball(other)
        if self.is_zero or other.is_zero:
            return ZERO
        return Ball(self.arb * other.arb, _origin("*", self, other))

    def __rmul__(self, other: Any) -> Ball:
        return as_ball(other) * self

    def __truediv__(self, other: Any) -> Ball:
        other = as_ball(other)
        if other == ZERO:
            raise ZeroDivisionError("division of a ball by zero")
        return ONE if other is self else Ball(self.arb / other.arb, _origin("/", self, other))

    def __rtruediv__(self, other: Any) -> Ball:
        return as_ball(other) / self

    def __pow__(self, other: Any) -> Ball:
        other = as_ball(other)
        return ONE if other.is_zero else Ball(_checked(self.arb**other.arb), _origin("^", self, other))

    def __abs__(self) -> Ball:
        if self.origin is None and self.arb.contains(0):
            return Ball(abs(self.arb))
        return (ZERO, self, -self)[order(self, ZERO)]

    def __bool__(self) -> bool:
        return order(self, ZERO) != 0

    def __lt__(self, other: Any) -> bool:
        return order(self, as_ball(other)) < 0

    def __le__(self, other: Any) -> bool:
        return order(self, as_ball(other)) <= 0

    def __gt__(self, other: Any) -> bool:
        return order(self, as_ball(other)) > 0

    def __ge__(self, other: Any) -> bool:
        return order(self, as_ball(other)) >= 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ball | int | float) and order(self, as_ball(other)) == 0

    # one object is one number; equal numbers need not be one object, so no hash of the value exists
    __hash__ = object.__hash__


_FOLDED: dict[str, Callable[[Any, Any], Exact]] = {
    "+": lambda x, y: x + y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
    "^": lambda x, y: x**y,
}
ZERO, ONE, MINUS_ONE = (Ball(flint.arb(n), exact(n)) for n in (0, 1, -1))
INFINITY = Ball(flint.arb.pos_inf())


def as_ball(value: Any) -> Ball:
    """Return a number (int, float: their exact values) as a ball; a ball stays the same object."""
    return value if isinstance(value, Ball) else Ball(flint.arb(value), exact(value))


def order(left: Ball, right: Ball) -> int:
    """Return −1, 0 or 1 as left is below, equal to or above right: certified, or raise Undecided."""
    if left is right:
        return 0
    x, y = left.arb, right.arb
    if x < y:
        return -1
    if x > y:
        return 1
    if x == y:
        return 0
    formulas = left.formula(), right.formula()
    if formulas[0] is not None and formulas[1] is not None:
        return proved_sign(formulas[0] - formulas[1])
    raise Undecided("comparison", f"{x.str(20)} and {y.str(20)}", "two numbers that balls can separate")


def proved_sign(number: Exact) -> int:
    """Return the sign of an exact number: by a ball, else 0 by symbolic proof, else raise Undecided."""
    with working_precision(_DECIDING_FACTOR * flint.ctx.prec):
        value = enclosure_of(number)
    if value > 0 or value < 0:
        return 1 if value > 0 else -1
    if _proved_zero(number):
        return 0
    raise Undecided("comparison", number, "a number that balls or symbols can tell from 0")


_proved_zero = lru_cache(maxsize=1000)(is_zero)


@lru_cache
def _sketch_context() -> Any:
    """Return the one mpmath context for sketches (only whoever holds the precision lock uses it)."""
    return private_context(15)


class BallContext:
    """Balls under the names of an mpmath context, at the precision set by :func:`working_precision`.

    ``prec`` is infinite: what a comparison decides is certain, so there is no level below which a difference
    counts as rounding. ``sketch`` is an mpmath context for approximate solutions that balls then prove.
    """

    prec = math.inf
    zero, one, inf = ZERO, ONE, INFINITY

    def __init__(self) -> None:
        """Make the mpmath context for sketches at a share of the present precision."""
        self.sketch = _sketch_context()
        self.sketch.prec = _SKETCH_BITS + flint.ctx.prec // _SKETCH_SHARE

    def mpf(self, value: Any) -> Ball:
        """Return a number as a ball."""
        return as_ball(value)

    def enclose(self, number: Exact) -> Ball:
        """Return a ball that contains an exact number."""
        arb = enclosure_of(number)
        if arb.contains(0) and _proved_zero(number):
            return ZERO
        return Ball(arb, number)

    def exp(self, x: Any) -> Ball:
        """Return eˣ."""
        x = as_ball(x)
        return ONE if x.is_zero else Ball(x.arb.exp(), _origin("exp", x))

    def expm1(self, x: Any) -> Ball:
        """Return eˣ − 1, tight near 0."""
        x = as_ball(x)
        return ZERO if x.is_zero else Ball(x.arb.expm1())

    def log(self, x: Any) -> Ball:
        """Return ln x."""
        x = as_ball(x)
        return Ball(_checked(x.arb.log()), _origin("log", x))

    def log1p(self, x: Any) -> Ball:
        """Return ln(1 + x), tight near 0."""
        x = as_ball(x)
        return ZERO if x.is_zero else Ball(_checked(x.arb.log1p()))

    def sqrt(self, x: Any) -> Ball:
        """Return √x."""
        x = as_ball(x)
        return Ball(_checked(x.arb.sqrt()), _origin("sqrt", x))

    def atan2(self, y: Any, x: Any) -> Ball:
        """Return the angle of the point (x, y)."""
        y, x = as_ball(y), as_ball(x)
        return ZERO if y.is_zero and x > ZERO else Ball(flint.arb.atan2(y.arb, x.arb))

    def ldexp(self, x: int, exponent: float) -> Ball:
        """Return x · 2^exponent; 2^(−∞) is 0, the rounding level of a certain decision."""
        return ZERO if exponent == -math.inf else as_ball(math.ldexp(x, int(exponent)))

    def mag(self, x: Ball) -> int:
        """Return n with |x| about 2ⁿ (used for guard bits only)."""
        mantissa, exponent = x.arb.mid().man_exp()
        return int(mantissa).bit_length() + int(exponent)

    def sign(self, x: Any) -> int:
        """Return the certified sign."""
        return order(as_ball(x), ZERO)

    def fsum(self, terms: Iterable[Any]) -> Ball:
        """Return the sum, added in pairs to keep its formula shallow; exactly 0 when that is proved."""
        balls = [as_ball(term) for term in terms] or [ZERO]
        while len(balls) > 1:
            balls = [x + y for x, y in zip_longest(balls[::2], balls[1::2], fillvalue=ZERO)]
        total = balls[0]
        return ZERO if total.arb.contains(0) and total == ZERO else total

    @contextmanager
    def extraprec(self, bits: int) -> Iterator[None]:
        """Compute with so many more bits in here."""
        with working_precision(flint.ctx.prec + bits):
            yield

    def rough(self, x: Any) -> Any:
        """Return the midpoint as an mpf of the sketch context."""
        mantissa, exponent = as_ball(x).arb.mid().man_exp()
        return self.sketch.ldexp(self.sketch.mpf(int(mantissa)), int(exponent))

    def point(self, x: Any) -> Any:
        """Return an mpf ≥ 0 as an exact Arb point."""
        mantissa, exponent = x.man_exp
        return flint.arb(int(mantissa)) * flint.arb(2) ** int(exponent)


def enclosure_of(number: Exact) -> Any:
    """Evaluate an exact expression as an Arb ball at the present precision, outward rounded.

    Raises Undecided when the ball is not finite, as √x is for a ball x that touches 0.
    """
    if number.op == "rational":
        value = number.args[0]
        return flint.arb(flint.fmpq(value.numerator, value.denominator))
    if number.op in ("pi", "e"):
        return flint.arb.pi() if number.op == "pi" else flint.arb.const_e()
    if number.op == "^" and (power := number.args[1].fraction) is not None and power.denominator == 1:
        return _checked(enclosure_of(number.args[0]) ** int(power))
    args = [enclosure_of(arg) for arg in number.args]
    return _checked(_OPERATIONS[number.op](*args) if len(args) == 2 else getattr(args[0], number.op)())


_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda x, y: x + y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
    "^": lambda x, y: x**y,
}


def _origin(operation: str, *balls: Ball) -> Any:
    """Return the origin of a result, None as soon as one operand has none."""
    return (operation, *balls) if all(ball.origin is not None for ball in balls) else None


def _checked(value: Any) -> Any:
    if not value.is_finite():
        raise Undecided("value", value, "a finite ball")
    return value

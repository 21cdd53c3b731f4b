"""Numbers that carry their exact first derivatives: the closed form is differentiated as it is evaluated.

A :class:`Jet` is a value with its derivatives by every parameter, and each operation applies its own rule of
differentiation: no step size, no difference quotient. :class:`JetContext` offers jets under the names of an
mpmath context, so that the algorithms written for mpmath run on jets unchanged; decisions look at values only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Jet:
    """A value and its derivatives by the parameters, all mpf of one context."""

    __slots__ = ("slopes", "value")

    def __init__(self, value: Any, slopes: tuple[Any, ...]):
        """Pair a value with one derivative per parameter."""
        self.value = value
        self.slopes = slopes

    def __repr__(self) -> str:
        return f"Jet({self.value}, {self.slopes})"

    def along(self, slope: Any, value: Any) -> Jet:
        """Return a function of this jet: its value, and slope times the derivatives."""
        return Jet(value, tuple(slope * x if x else x for x in self.slopes))

    def __add__(self, other: Any) -> Jet:
        if not isinstance(other, Jet):
            return Jet(self.value + other, self.slopes)
        return Jet(self.value + other.value, _sum(self.slopes, other.slopes))

    __radd__ = __add__

    def __neg__(self) -> Jet:
        return self.along(-1, -self.value)

    def __sub__(self, other: Any) -> Jet:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> Jet:
        return (-self).__add__(other)

    def __mul__(self, other: Any) -> Jet:
        if not isinstance(other, Jet):
            return self.along(other, self.value * other)
        return _combined(self.value * other.value, (other.value, self), (self.value, other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Jet:
        if not isinstance(other, Jet):
            return Jet(self.value / other, tuple(x / other for x in self.slopes))
        quotient = self.value / other.value
        # the rule (x′y − x y′)/y² keeps the slopes of x/x exactly 0
        top = _combined(quotient, (other.value, self), (-self.value, other))
        return Jet(quotient, tuple(x / other.value**2 for x in top.slopes))

    def __rtruediv__(self, other: Any) -> Jet:
        quotient = other / self.value
        return self.along(-quotient / self.value, quotient)

    def __pow__(self, other: Any) -> Jet:
        if not isinstance(other, Jet):
            return self.along(other * self.value ** (other - 1), self.value**other)
        value = self.value**other.value
        logarithm = self.value.context.log(self.value)
        return _combined(value, (other.value * value / self.value, self), (logarithm * value, other))

    def __abs__(self) -> Jet:
        return -self if self.value < 0 else self

    def __bool__(self) -> bool:
        return bool(self.value)

    def __eq__(self, other: object) -> bool:
        return bool(self.value == value_of(other))

    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: Any) -> bool:
        return bool(self.value < value_of(other))

    def __le__(self, other: Any) -> bool:
        return bool(self.value <= value_of(other))

    def __gt__(self, other: Any) -> bool:
        return bool(self.value > value_of(other))

    def __ge__(self, other: Any) -> bool:
        return bool(self.value >= value_of(other))


class JetContext:
    """What the closed form asks of an mpmath context, answered in jets of a private one, ``plain``."""

    def __init__(self, plain: Any, parameters: int) -> None:
        """Compute in the context ``plain`` with derivatives by a number of parameters."""
        self.plain = plain
        self._flat = (plain.zero,) * parameters
        self.zero, self.one, self.inf = (self.mpf(x) for x in (0, 1, plain.inf))
        self.extraprec, self.ldexp = plain.extraprec, plain.ldexp

    @property
    def prec(self) -> int:
        """The working precision in bits."""
        return int(self.plain.prec)

    def mpf(self, value: Any) -> Jet:
        """Return a constant."""
        return Jet(self.plain.mpf(value), self._flat)

    def jet(self, value: Any, slopes: dict[int, Any]) -> Jet:
        """Return a value with its nonzero derivatives, keyed by the number of the parameter."""
        return Jet(value, tuple(slopes.get(i, zero) for i, zero in enumerate(self._flat)))

    def combined(self, value: Any, *parts: tuple[Any, Jet]) -> Jet:
        """Return a function of several jets by the chain rule: its value, and (partial derivative, jet) pairs."""
        return _combined(value, *parts)

    def exp(self, x: Jet) -> Jet:
        """Return eˣ."""
        value = self.plain.exp(x.value)
        return x.along(value, value)

    def expm1(self, x: Jet) -> Jet:
        """Return eˣ − 1 without cancellation."""
        return x.along(self.plain.exp(x.value), self.plain.expm1(x.value))

    def log(self, x: Jet) -> Jet:
        """Return ln x."""
        return x.along(1 / x.value, self.plain.log(x.value))

    def log1p(self, x: Jet) -> Jet:
        """Return ln(1 + x) without cancellation."""
        return x.along(1 / (1 + x.value), self.plain.log1p(x.value))

    def sign(self, x: Jet) -> int:
        """Return the sign of a value."""
        return int(self.plain.sign(value_of(x)))

    def mag(self, x: Jet) -> int:
        """Return the binary order of magnitude of a value."""
        return int(self.plain.mag(x.value))


def value_of(x: Any) -> Any:
    """Return the value of a jet, and any other number as it is."""
    return x.value if isinstance(x, Jet) else x


def _sum(first: Sequence[Any], second: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(x + y if x and y else x or y for x, y in zip(first, second, strict=True))


def _combined(value: Any, *parts: tuple[Any, Jet]) -> Jet:
    (slope, first), *others = parts
    total = first.along(slope, value).slopes
    for slope, jet in others:
        total = _sum(total, jet.along(slope, value).slopes)
    return Jet(value, total)

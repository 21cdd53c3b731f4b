"""Exact numbers in, trusted digits out.

Text such as ``0.1``, ``pi/15`` or ``sqrt(2)/3`` is read by a small recursive-descent parser (never evaluated
as code) into an :class:`Exact` expression, which any mpmath context can evaluate to full relative precision.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from decimal import Context as DecimalContext
from fractions import Fraction
from typing import Any, Union

from reduced.errors import InputError

MAX_TEXT = 1000
MAX_DEPTH = 50
MAX_EXPONENT = 100_000
MAX_BITS = 400_000
_MAX_DECIDING_BITS = 4096
_MAX_ARGUMENT = 10**12

FUNCTIONS = ("sqrt", "cos", "sin", "tan", "exp", "log", "acos", "asin", "atan")
_ALIASES = {"ln": "log", "arccos": "acos", "arcsin": "asin", "arctan": "atan"}
_EXAMPLES = "a number such as 4, 0.1, 1e-20, pi/15 or sqrt(2)/3"

ExactLike = Union["Exact", int, float, str, Fraction, Decimal]


class _Malformed(InputError):
    """Why a text or an operation is not an exact real number."""

    def __init__(self, why: str) -> None:
        super().__init__("number", why, _EXAMPLES)
        self.why = why


@dataclass(frozen=True)
class Exact:
    """An exact real number: a rational, π, e, or an elementary function or arithmetic of such.

    ``op`` is ``"rational"``, ``"pi"``, ``"e"``, one of ``+ * / ^`` or a name of :data:`FUNCTIONS`; ``args``
    are its operands (a Fraction for ``"rational"``). Two rationals always fold into one.
    """

    op: str
    args: tuple[Any, ...] = ()

    @property
    def fraction(self) -> Fraction | None:
        """The value as a Fraction when it is written as a rational, else None."""
        return self.args[0] if self.op == "rational" else None

    def __add__(self, other: ExactLike) -> Exact:
        return _fold("+", self, exact(other))

    def __radd__(self, other: ExactLike) -> Exact:
        return exact(other) + self

    def __neg__(self) -> Exact:
        return exact(-1) * self

    def __sub__(self, other: ExactLike) -> Exact:
        return self + (-exact(other))

    def __rsub__(self, other: ExactLike) -> Exact:
        return exact(other) - self

    def __mul__(self, other: ExactLike) -> Exact:
        return _fold("*", self, exact(other))

    def __rmul__(self, other: ExactLike) -> Exact:
        return exact(other) * self

    def __truediv__(self, other: ExactLike) -> Exact:
        return _fold("/", self, exact(other))

    def __rtruediv__(self, other: ExactLike) -> Exact:
        return exact(other) / self

    def __pow__(self, other: ExactLike) -> Exact:
        return _fold("^", self, exact(other))

    def __repr__(self) -> str:
        return f"exact({str(self)!r})"

    def __str__(self) -> str:
        if self.op == "rational":
            return _rational_text(self.args[0])
        if self.op in ("pi", "e"):
            return self.op
        if self.op in "+*/^":
            left, right = (
                f"({arg})" if arg.op in "+*/^" or "/" in str(arg) else str(arg) for arg in self.args
            )
            return f"{left}{self.op}{right}"
        return f"{self.op}({self.args[0]})"

    def evaluate(self, ctx: Any) -> Any:
        """Evaluate in an mpmath context to its full relative precision.

        Arguments: ctx, an mpmath context of the caller's own (its precision is raised meanwhile), or a context
        of balls, which encloses exact numbers in its own way. Returns a number of ctx.
        Raises InputError when the value is not real, or its digits cannot be decided.
        """
        if hasattr(ctx, "enclose"):
            return ctx.enclose(self)
        if self.op == "rational":
            return ctx.mpf(self.args[0].numerator) / self.args[0].denominator
        tolerance = ctx.ldexp(1, -ctx.prec - 4)
        extra = 20
        with ctx.extraprec(extra):
            previous = _evaluate(self, ctx)
        while extra < _MAX_DECIDING_BITS:
            extra = 2 * extra + ctx.prec
            with ctx.extraprec(extra):
                value = _evaluate(self, ctx)
                settled = value != 0 and abs(value - previous) <= abs(value) * tolerance
            if settled:
                return +value
            previous = value
        if is_zero(self):
            return ctx.mpf(0)
        raise InputError("number", self, "a value whose digits can be decided")

    def sympy(self) -> Any:
        """Return the same number as a SymPy expression (built node by node, nothing is parsed)."""
        import sympy

        if self.op == "rational":
            return sympy.Rational(self.args[0].numerator, self.args[0].denominator)
        if self.op == "pi":
            return sympy.pi
        if self.op == "e":
            return sympy.E
        args = [arg.sympy() for arg in self.args]
        if self.op == "+":
            return sympy.Add(*args)
        if self.op == "*":
            return sympy.Mul(*args)
        if self.op == "/":
            return sympy.Mul(args[0], sympy.Pow(args[1], -1))
        if self.op == "^":
            return sympy.Pow(*args)
        return getattr(sympy, self.op)(*args)


PI = pi = Exact("pi")


def exact(value: ExactLike | Any, name: str = "number") -> Exact:
    """Turn an int, Fraction, Decimal, text, or float into an exact number.

    A float (Python's, NumPy's or mpmath's) stands for its exact binary value; text is read by
    :func:`read_number`. Raises InputError for NaN, infinities, booleans, complex numbers and anything else.
    """
    if isinstance(value, Exact):
        return value
    if isinstance(value, str):
        return read_number(value, name)
    if isinstance(value, bool):
        raise InputError(name, value, _EXAMPLES)
    if isinstance(value, int | Fraction | Decimal | float):
        try:
            return Exact("rational", (Fraction(value),))
        except (ValueError, OverflowError):
            raise InputError(name, value, "a finite number") from None
    if hasattr(value, "man_exp"):
        man, exp = value.man_exp
        if man == 0 and value != 0:
            raise InputError(name, value, "a finite number")
        return Exact("rational", (Fraction(-int(man) if value < 0 else int(man)) * Fraction(2) ** int(exp),))
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        return exact(value.item(), name)
    raise InputError(name, repr(value), _EXAMPLES)


def cos(value: ExactLike) -> Exact:
    """Return the exact expression cos(value)."""
    return Exact("cos", (exact(value),))


def sin(value: ExactLike) -> Exact:
    """Return the exact expression sin(value)."""
    return Exact("sin", (exact(value),))


def acos(value: ExactLike) -> Exact:
    """Return the exact expression acos(value)."""
    return Exact("acos", (exact(value),))


def sqrt(value: ExactLike) -> Exact:
    """Return the exact expression sqrt(value)."""
    return Exact("sqrt", (exact(value),))


def is_zero(value: Exact) -> bool:
    """Decide symbolically whether an exact number is zero (False also when SymPy cannot tell)."""
    if value.op == "rational":
        return bool(value.args[0] == 0)
    import sympy

    expression = value.sympy()
    try:
        return bool(expression.is_zero or sympy.simplify(expression) == 0)
    except ValueError:
        # SymPy converts integers through text, which Python limits to a few thousand digits
        return False


def sign(value: Exact) -> int:
    """Return −1, 0 or 1: the sign of an exact number, decided by digits and, failing these, symbolically.

    Raises InputError when neither 4096 bits nor SymPy can tell it from zero.
    """
    if value.op == "rational":
        return int(value.args[0] > 0) - int(value.args[0] < 0)
    import mpmath

    ctx = mpmath.mp.clone()
    for prec in (64, 256):
        ctx.prec = prec
        rough = _evaluate(value, ctx)
        ctx.prec = 2 * prec
        fine = _evaluate(value, ctx)
        if abs(fine - rough) * 4 < abs(fine):
            return 1 if fine > 0 else -1
    ctx.prec = 128
    fine = value.evaluate(ctx)
    return int(fine > 0) - int(fine < 0)


_TOKEN = re.compile(
    r"\s*(?:((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|([A-Za-zπ_]+)|(\*\*|[-+*/^(),]))"
)


def read_number(text: str, name: str = "number") -> Exact:
    """Read an exact number from text: decimals, pi, e, + - * / ^, parentheses and :data:`FUNCTIONS`.

    Arguments: text; name, the argument to blame. Returns an Exact. Raises InputError on anything else,
    including exponents beyond ±100000, texts over 1000 characters, and values that are infinite or not real.
    """
    try:
        if len(text) > MAX_TEXT:
            raise _Malformed(f"longer than {MAX_TEXT} characters")
        value = _Parser(_tokens(text)).parse()
        if value.op != "rational":
            import mpmath

            ctx = mpmath.mp.clone()
            ctx.prec = 64
            value.evaluate(ctx)
    except _Malformed as why:
        raise InputError(name, f"{text!r} ({why.why})", _EXAMPLES) from None
    except InputError:
        raise InputError(name, repr(text), _EXAMPLES) from None
    return value


def _tokens(text: str) -> list[str]:
    found, position = [], 0
    text = text.strip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if not match:
            raise _Malformed(f"unexpected {text[position]!r}")
        found.append(match.group().strip())
        position = match.end()
    return found


class _Parser:
    """Recursive descent: sum := product {± product}; product := unary {*/ unary}; unary := ±unary | power."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.depth = 0

    def parse(self) -> Exact:
        if not self.tokens:
            raise _Malformed("empty")
        value = self.sum()
        if self.tokens:
            raise _Malformed(f"unexpected {self.tokens[0]!r}")
        return value

    def take(self, *wanted: str) -> str | None:
        if self.tokens and self.tokens[0] in wanted:
            return self.tokens.pop(0)
        return None

    def sum(self) -> Exact:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _Malformed("nested too deeply")
        value = self.product()
        while op := self.take("+", "-"):
            term = self.product()
            value = value + term if op == "+" else value - term
        self.depth -= 1
        return value

    def product(self) -> Exact:
        value = self.unary()
        while op := self.take("*", "/"):
            factor = self.unary()
            value = value * factor if op == "*" else value / factor
        return value

    def unary(self) -> Exact:
        negative = False
        while op := self.take("+", "-"):
            negative ^= op == "-"
        value = self.power()
        return -value if negative else value

    def power(self) -> Exact:
        base = self.atom()
        if self.take("^", "**"):
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise _Malformed("nested too deeply")
            exponent = self.unary()
            self.depth -= 1
            return base**exponent
        return base

    def atom(self) -> Exact:
        if not self.tokens:
            raise _Malformed("ends too early")
        token = self.tokens.pop(0)
        if token[0].isdigit() or token[0] == ".":
            return _decimal(token)
        if token == "(":
            value = self.sum()
            if not self.take(")"):
                raise _Malformed("missing ')'")
            return value
        if token in ("pi", "π"):
            return PI
        if token in ("e", "E"):
            return Exact("e")
        function = _ALIASES.get(token, token)
        if function in FUNCTIONS:
            if not self.take("("):
                raise _Malformed(f"'{token}' needs '('")
            argument = self.sum()
            if not self.take(")"):
                raise _Malformed("missing ')'")
            return Exact(function, (argument,))
        raise _Malformed(f"unknown {token!r}")


def _decimal(token: str) -> Exact:
    mantissa, _, exponent = token.lower().partition("e")
    if exponent and (len(exponent) > 8 or abs(int(exponent)) > MAX_EXPONENT):
        raise _Malformed(f"exponent beyond ±{MAX_EXPONENT}")
    return Exact("rational", (Fraction(mantissa) * Fraction(10) ** int(exponent or 0),))


def _fold(op: str, left: Exact, right: Exact) -> Exact:
    x, y = left.fraction, right.fraction
    if op == "/" and y == 0:
        raise _Malformed("division by zero")
    if x is None or y is None:
        return Exact(op, (left, right))
    if op == "^":
        if y.denominator != 1:
            return Exact(op, (left, right))
        bits = max(x.numerator.bit_length(), x.denominator.bit_length())
        if abs(y) > MAX_EXPONENT or abs(y) * bits > MAX_BITS:
            raise _Malformed("power too large")
        if x == 0 and y < 0:
            raise _Malformed("division by zero")
        result = x ** int(y)
    else:
        result = {"+": x.__add__, "*": x.__mul__, "/": x.__truediv__}[op](y)
    if max(result.numerator.bit_length(), result.denominator.bit_length()) > 4 * MAX_BITS:
        raise _Malformed("too many digits")
    return Exact("rational", (result,))


def _evaluate(value: Exact, ctx: Any) -> Any:
    if value.op == "rational":
        return ctx.mpf(value.args[0].numerator) / value.args[0].denominator
    if value.op in ("pi", "e"):
        return +getattr(ctx, value.op)
    args = [_evaluate(arg, ctx) for arg in value.args]
    if any(abs(arg) > _MAX_ARGUMENT for arg in args) and value.op in ("exp", "^", "cos", "sin", "tan"):
        raise InputError("number", value, "function arguments up to 1e12")
    try:
        result = _operation(value.op, ctx)(*args)
    except (ZeroDivisionError, ValueError, OverflowError):
        raise InputError("number", value, "a finite real number") from None
    if isinstance(result, ctx.mpc) or not ctx.isfinite(result):
        raise InputError("number", value, "a finite real number")
    return result


def _operation(op: str, ctx: Any) -> Callable[..., Any]:
    arithmetic: dict[str, Callable[..., Any]] = {
        "+": lambda x, y: x + y,
        "*": lambda x, y: x * y,
        "/": lambda x, y: x / y,
        "^": ctx.power,
    }
    return arithmetic.get(op) or getattr(ctx, op)


def decimal_string(value: Any, digits: int) -> str:
    """Write an mpmath number as a decimal string rounded to nearest at ``digits`` significant digits.

    Zero is "0", infinities "inf" and "-inf"; trailing zeros are dropped. The result is readable by
    decimal.Decimal.
    """
    from mpmath.libmp import to_digits_exp

    if value == 0:
        return "0"
    if not abs(value) < value.context.inf:
        return "inf" if value > 0 else "-inf"
    sign_text, figures, exponent = to_digits_exp(value._mpf_, digits + 10)
    rounded = DecimalContext(prec=digits, rounding=ROUND_HALF_EVEN).create_decimal(f"0.{figures}")
    _, shown, shift = rounded.as_tuple()
    exponent += len(shown) + int(shift)
    return str(sign_text) + _place_point("".join(map(str, shown)).rstrip("0"), exponent, digits)


def double_string(value: float, digits: int) -> str:
    """Write a double as :func:`decimal_string` writes an mpmath number, 17 significant digits at most."""
    if value == 0:
        return "0"
    if not abs(value) < float("inf"):
        return "inf" if value > 0 else "-inf"
    known = min(digits, 17)
    figures, _, exponent = f"{abs(value):.{known - 1}e}".partition("e")
    sign_text = "-" if value < 0 else ""
    return sign_text + _place_point(figures.replace(".", "").rstrip("0"), int(exponent), known)


def _rational_text(value: Fraction) -> str:
    """Write a rational for messages: in full when short, else its leading digits."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) <= 200:
        return str(value)
    import mpmath

    ctx = mpmath.mp.clone()
    return decimal_string(ctx.mpf(value.numerator) / value.denominator, 12)


def _place_point(figures: str, exponent: int, known: int) -> str:
    """Place the decimal point: figures d₁d₂d₃… stand for d₁.d₂d₃… × 10^exponent.

    Zeros are filled in up to the digits known, so that none is printed that need not be right.
    """
    if -6 <= exponent < 0:
        return "0." + "0" * (-exponent - 1) + figures
    if 0 <= exponent < min(known, 40):
        whole, fraction = figures[: exponent + 1].ljust(exponent + 1, "0"), figures[exponent + 1 :]
        return whole + ("." + fraction if fraction else "")
    fraction = figures[1:]
    return figures[0] + ("." + fraction if fraction else "") + f"e{exponent:+d}"

"""The promise of ``digits=``: compute at two precisions, return what agrees beyond every digit asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from reduced.errors import InputError

MAX_DIGITS = 10_000
# Digits by which the answers at the two precisions must agree beyond those asked.
_MARGIN = 4
_ATTEMPTS = 8

T = TypeVar("T")


def private_context(digits: int) -> Any:
    """Return a new mpmath context at a decimal working precision (the global one is never touched)."""
    import mpmath

    ctx = mpmath.mp.clone()
    ctx.dps = digits
    return ctx


def check_digits(digits: int) -> int:
    """Return digits if it is a count from 1 to MAX_DIGITS, else raise InputError."""
    if isinstance(digits, bool) or not isinstance(digits, int) or not 1 <= digits <= MAX_DIGITS:
        raise InputError("digits", digits, f"an integer from 1 to {MAX_DIGITS}")
    return digits


def keep_promise(
    compute: Callable[[Any], T], numbers: Callable[[T], Iterable[Any]], digits: int, guard: int = 15
) -> T:
    """Return compute(ctx) at a precision at which all its numbers are right to ``digits`` significant digits.

    Arguments: compute, a function of a private mpmath context; numbers, which lists the mpf values that count
    (None is skipped); digits asked; guard, the extra digits of the first attempt. The working precision grows
    until two attempts, the second a good deal finer, agree relatively to 10^−(digits+4); an attempt that ends
    in an ArithmeticError agrees with nothing. Raises ArithmeticError if they never agree.
    """
    check_digits(digits)
    failed: ArithmeticError | None = None
    for _ in range(_ATTEMPTS):
        fine_guard = guard + 10 + guard // 2
        try:
            coarse = compute(private_context(digits + guard))
            fine = compute(private_context(digits + fine_guard))
        except ArithmeticError as why:
            failed = why
        else:
            if agree(list(numbers(coarse)), list(numbers(fine)), digits):
                return fine
        guard = 2 * guard
    raise ArithmeticError(f"no working precision gave {digits} stable digits") from failed


def agree(coarse: list[Any], fine: list[Any], digits: int) -> bool:
    """Tell whether numbers at two precisions (mpf, or None in both) agree well beyond ``digits`` digits."""
    if len(coarse) != len(fine):
        return False
    return all(_close(x, y, digits) for x, y in zip(coarse, fine, strict=True))


def _close(x: Any, y: Any, digits: int) -> bool:
    if x is None or y is None:
        return x is y
    if x == y:
        return True
    return bool(abs(x - y) <= abs(y) * y.context.mpf(10) ** (-digits - _MARGIN))

"""The parameters of a problem and of a start, read and checked: Assumption 3.1 in one place."""

from __future__ import annotations

from typing import Any

from reduced import numbers
from reduced.errors import InputError
from reduced.numbers import PI, Exact, ExactLike, cos, exact, sign
from reduced.records import Loss, Problem, Start

SMALLEST_ANGLE_TEXT = "1e-100"
SMALLEST_ANGLE = exact(SMALLEST_ANGLE_TEXT)
LARGEST_PREDICTION = 1_000_000


def expected_fractions(p: Exact, delta: Exact) -> tuple[Exact, Exact]:
    """Return the expected living fractions (α₊, α₋) as κ₁ → 0, derived from the fates of the initial directions."""
    from reduced.solve.generated import living_fractions

    plus, minus = living_fractions(p, delta, numbers)
    return exact(plus), minus


def problem(
    p: ExactLike = 4,
    delta: ExactLike = "pi/15",
    alpha_plus: ExactLike | None = None,
    alpha_minus: ExactLike | None = None,
    kappa2: ExactLike = 1,
    loss: Loss | str = Loss.EXP,
    *,
    assumption: bool = True,
) -> Problem:
    """Build a checked Problem from numbers or exact texts.

    Arguments: p = n₊/n₋ with p cos Δ > 1; delta, the angle Δ in (0, π/2), radians; alpha_plus, alpha_minus,
    living fractions of the m neurons, ≥ 0, default the κ₁ → 0 law; kappa2 > 0; loss ``exp`` or ``logistic``;
    assumption=False leaves p cos Δ > 1 unchecked (for networks outside Assumption 3.1). Raises InputError
    naming the argument.
    """
    p, delta, kappa2 = exact(p, "p"), exact(delta, "delta"), exact(kappa2, "kappa2")
    require_positive(p, "p")
    require_positive(kappa2, "kappa2")
    if sign(delta - SMALLEST_ANGLE) < 0 or sign(PI / 2 - delta) <= 0:
        raise InputError(
            "delta", delta, f"an angle strictly between 0 (at least {SMALLEST_ANGLE_TEXT}) and pi/2"
        )
    if assumption and sign(p * cos(delta) - 1) <= 0:
        raise InputError("p", p, "p cos(delta) > 1 (Assumption 3.1)")
    if alpha_plus is None or alpha_minus is None:
        plus, minus = expected_fractions(p, delta)
        alpha_plus = plus if alpha_plus is None else alpha_plus
        alpha_minus = minus if alpha_minus is None else alpha_minus
    alpha_plus, alpha_minus = exact(alpha_plus, "alpha_plus"), exact(alpha_minus, "alpha_minus")
    for name, value in (("alpha_plus", alpha_plus), ("alpha_minus", alpha_minus)):
        if sign(value) < 0 or sign(1 - value) < 0:
            raise InputError(name, value, "a fraction between 0 and 1")
    if sign(1 - alpha_plus - alpha_minus) < 0:
        raise InputError("alpha_plus + alpha_minus", alpha_plus + alpha_minus, "a sum of at most 1")
    return Problem(p, delta, alpha_plus, alpha_minus, kappa2, _loss(loss))


def start(f_plus: ExactLike = 0, f_minus: ExactLike = 0, f_minus_negative: ExactLike = 0) -> Start:
    """Build a checked Start.

    Arguments: f_plus = f(x₊), f_minus = f(x₋) (the whole), f_minus_negative ≤ 0 the share of K₋ in it; the
    rest, f_minus − f_minus_negative, is the share of K₊ and must be ≥ 0. Returns a Start at flow time 0.
    Raises InputError naming the argument.
    """
    whole, share = exact(f_minus, "f_minus"), exact(f_minus_negative, "f_minus_negative")
    first = exact(f_plus, "f_plus")
    for name, value in (("f_plus", first), ("f_minus", whole), ("f_minus_negative", share)):
        if sign(value - LARGEST_PREDICTION) > 0 or sign(value + LARGEST_PREDICTION) < 0:
            raise InputError(name, value, f"a number between -{LARGEST_PREDICTION} and {LARGEST_PREDICTION}")
    if sign(share) > 0:
        raise InputError("f_minus_negative", share, "a number ≤ 0")
    if sign(whole - share) < 0:
        raise InputError("f_minus", whole, f"at least f_minus_negative = {share} (the share of K₊ is ≥ 0)")
    return Start(first, whole, share)


def require_positive(value: Exact, name: str) -> None:
    """Raise InputError unless value > 0."""
    if sign(value) <= 0:
        raise InputError(name, value, "a positive number")


def _loss(value: Any) -> Loss:
    aliases = {"cross-entropy": Loss.LOGISTIC}
    try:
        return aliases.get(value) or Loss(value)
    except ValueError:
        raise InputError("loss", value, "one of exp, logistic") from None

"""The end of training in numbers: limit direction, kink multipliers and margins at any digits (theory §7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reduced.errors import InputError
from reduced.numbers import Exact, ExactLike, cos, decimal_string, exact, sign, sin
from reduced.problem import problem as checked_problem
from reduced.records import Problem, Regime
from reduced.solve.generated import LIMIT
from reduced.solve.promise import keep_promise
from reduced.solve.timeline import regime as regime_of


@dataclass(frozen=True)
class LimitValues:
    """The limit direction as mpf numbers: ρ, v± on [x₊, x₋], γ, kink multipliers (None without a kink)."""

    regime: Regime
    rho: Any
    v_plus: tuple[Any, Any]
    v_minus: tuple[Any, Any]
    gamma: Any
    kink_plus: Any
    kink_minus: Any


@dataclass(frozen=True)
class LimitDirection:
    """The limit direction as decimal strings; all but gamma and gamma_max are None when a group is empty."""

    regime: Regime | None
    rho: str | None
    v_plus: tuple[str, str] | None
    v_minus: tuple[str, str] | None
    gamma: str
    kink_plus: str | None
    kink_minus: str | None
    gamma_max: str
    gamma_ratio: str | None


def limit_values(ctx: Any, problem: Problem) -> LimitValues:
    """Evaluate the derived limit direction in a private mpmath context (both groups must be non-empty)."""
    found = regime_of(problem)
    if found is None:
        raise InputError(
            "alpha_plus, alpha_minus",
            f"{problem.alpha_plus}, {problem.alpha_minus}",
            "two positive fractions",
        )
    rho, v_plus, v_minus, gamma_squared, kink_plus, kink_minus = LIMIT[found.value](
        problem.alpha_plus.evaluate(ctx),
        problem.alpha_minus.evaluate(ctx),
        problem.kappa2.evaluate(ctx),
        cos(problem.delta).evaluate(ctx),
        (sin(problem.delta) ** 2).evaluate(ctx),
        _versine(problem.delta).evaluate(ctx),
    )
    one = ctx.one
    return LimitValues(
        found,
        rho,
        (v_plus[0] * one, v_plus[1] * one),
        (v_minus[0] * one, v_minus[1] * one),
        ctx.sqrt(gamma_squared),
        kink_plus,
        kink_minus,
    )


def limit(
    problem: Problem, digits: int = 30, beta_plus: ExactLike = "1/2", beta_minus: ExactLike = "1/2"
) -> LimitDirection:
    """Return the limiting direction, its KKT multipliers, and its margin beside the best possible one.

    Arguments: problem; digits of every number; beta_plus, beta_minus, fractions of positive and negative
    neurons among all m (for γ_max, attained with every neuron alive). Source: Thm 4.10–4.11; margins derived
    here (theory §7).
    """
    betas = [exact(beta_plus, "beta_plus"), exact(beta_minus, "beta_minus")]
    for name, beta, alpha in zip(
        ("beta_plus", "beta_minus"), betas, (problem.alpha_plus, problem.alpha_minus), strict=True
    ):
        if sign(beta) < 0 or sign(1 - beta) < 0:
            raise InputError(name, beta, "a fraction between 0 and 1")
        if sign(beta - alpha) < 0:
            raise InputError(name, beta, f"at least the living fraction {alpha}")
    if sign(1 - betas[0] - betas[1]) < 0:
        raise InputError("beta_plus + beta_minus", betas[0] + betas[1], "a sum of at most 1")
    best = checked_problem(problem.p, problem.delta, betas[0], betas[1], problem.kappa2)
    own = keep_promise(lambda ctx: _values_or_none(ctx, problem), _numbers, digits)
    top = keep_promise(lambda ctx: _values_or_none(ctx, best), _numbers, digits)
    ratio = None
    if top is not None:
        ratio = "0" if own is None else decimal_string(own.gamma / top.gamma, digits)

    def text(value: Any) -> str | None:
        return None if value is None else decimal_string(value, digits)

    def pair(values: tuple[Any, Any]) -> tuple[str, str]:
        return decimal_string(values[0], digits), decimal_string(values[1], digits)

    return LimitDirection(
        regime_of(problem),
        None if own is None else text(own.rho),
        None if own is None else pair(own.v_plus),
        None if own is None else pair(own.v_minus),
        "0" if own is None else decimal_string(own.gamma, digits),
        None if own is None else text(own.kink_plus),
        None if own is None else text(own.kink_minus),
        "0" if top is None else decimal_string(top.gamma, digits),
        ratio,
    )


def _versine(delta: Exact) -> Exact:
    """Return 1 − cos Δ without cancellation."""
    return 2 * sin(delta / 2) ** 2


def _values_or_none(ctx: Any, problem: Problem) -> LimitValues | None:
    return None if regime_of(problem) is None else limit_values(ctx, problem)


def _numbers(values: LimitValues | None) -> list[Any]:
    if values is None:
        return []
    return [values.rho, *values.v_plus, *values.v_minus, values.gamma, values.kink_plus, values.kink_minus]

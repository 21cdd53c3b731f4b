"""The end of training in numbers: limit direction, kink multipliers and margins at any digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reduced.errors import InputError
from reduced.numbers import Exact, ExactLike, cos, decimal_string, exact, sign, sin
from reduced.parameters import problem as checked_problem
from reduced.records import Problem, Regime
from reduced.shown import shown
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

    __repr__ = shown


@dataclass(frozen=True)
class LimitDirection:
    """The limit direction as decimal strings; all but gamma and gamma_max are None when a group is empty.

    ``regime``; ``rho`` = λ₋/λ₊ = lim Q/P; ``v_plus``, ``v_minus`` on [x₊, x₋], up to one common factor;
    ``kink_plus``, ``kink_minus``, the multipliers of K₊ on x₋ and of K₋ on x₊ (None without a kink); ``gamma``,
    ``gamma_max`` and ``gamma_ratio``, the margin, the largest one and their quotient. Source: Thm 4.10–4.11.
    """

    regime: Regime | None
    rho: str | None
    v_plus: tuple[str, str] | None
    v_minus: tuple[str, str] | None
    gamma: str
    kink_plus: str | None
    kink_minus: str | None
    gamma_max: str | None
    gamma_ratio: str | None

    __repr__ = shown

    def _repr_html_(self) -> str:
        from reduced.report import tables

        return tables.limit_html(self)


def limit_values(ctx: Any, problem: Problem) -> LimitValues:
    """Evaluate the derived limit direction in a private mpmath context.

    Arguments: ctx, the context; problem, both of whose groups must be non-empty. Returns LimitValues at the
    precision of ctx. Raises InputError for an empty group. Source: Thm 4.10–4.11; regimes and margins derived here.
    """
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
    problem: Problem,
    digits: int = 30,
    beta_plus: ExactLike | None = None,
    beta_minus: ExactLike | None = None,
) -> LimitDirection:
    """Return the limiting direction, its KKT multipliers, and its margin beside the best possible one.

    Arguments: problem; digits of every number; beta_plus, beta_minus, fractions of positive and negative
    neurons among all m, which fix γ_max, attained with every neuron alive (default one half each; with more
    than half of all neurons alive in one sign γ_max is then None).
    Raises InputError. Source: Thm 4.10–4.11; margins derived here.
    """
    unknown = beta_plus is None and beta_minus is None and _more_than_half_live(problem)
    best = None if unknown else _everyone_alive(problem, beta_plus, beta_minus)
    own = keep_promise(lambda ctx: _values_or_none(ctx, problem), _numbers, digits)
    top = None if best is None else keep_promise(lambda ctx: _values_or_none(ctx, best), _numbers, digits)
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
        None if unknown else "0" if top is None else decimal_string(top.gamma, digits),
        ratio,
    )


def _more_than_half_live(problem: Problem) -> bool:
    half = exact("1/2")
    return sign(problem.alpha_plus - half) > 0 or sign(problem.alpha_minus - half) > 0


def _everyone_alive(problem: Problem, beta_plus: ExactLike | None, beta_minus: ExactLike | None) -> Problem:
    """Return the problem in which all positive and all negative neurons live."""
    given = {"beta_plus": beta_plus, "beta_minus": beta_minus}
    betas = {name: exact("1/2" if value is None else value, name) for name, value in given.items()}
    alphas = {"beta_plus": problem.alpha_plus, "beta_minus": problem.alpha_minus}
    for name, beta in betas.items():
        if sign(beta) < 0 or sign(1 - beta) < 0:
            raise InputError(name, beta, "a fraction between 0 and 1")
        if sign(beta - alphas[name]) < 0:
            raise InputError(name, beta, f"at least the living fraction {alphas[name]}")
    total = betas["beta_plus"] + betas["beta_minus"]
    if sign(1 - total) < 0:
        raise InputError("beta_plus + beta_minus", total, "a sum of at most 1")
    return checked_problem(
        problem.p, problem.delta, betas["beta_plus"], betas["beta_minus"], problem.kappa2, assumption=False
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

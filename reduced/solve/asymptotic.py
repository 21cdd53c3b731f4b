"""The leading laws of the plateau's times as Δ → 0, for both losses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reduced.numbers import Exact, decimal_string, exact, sign
from reduced.records import Loss, Problem, Start
from reduced.solve.block import safe_newton
from reduced.solve.promise import keep_promise, private_context
from reduced.solve.timeline import closeness


@dataclass(frozen=True)
class Asymptotic:
    """The leading terms of T_plat and T_II as decimal strings, None where there is no such law."""

    T_plat: str | None
    T_II: str | None


def asymptotic(problem: Problem, start: Start, digits: int = 30) -> Asymptotic:
    """Return the leading small-Δ laws of T_plat and T_II, exact in everything but Δ.

    A fast motion at fixed f₊ − f₋ takes r = Q/P to 1; then the predictions creep along r = 1, with f₊ − f₋
    growing at κ₂²(α₊+α₋)Δ² P and f₋⁽⁻⁾ falling at κ₂² α₋ Δ² P. With E = e^{−f₋} on that curve, times are
    (1+p)/(κ₂²(α₊+α₋)Δ²) [F(E_end) − F(E_start)].

    Exponential loss: e^{f₊} = pE, F = 2E, E_start = p^{−1/2} e^{(f₊−f₋)/2}; E_end = 1 for T_plat, and for T_II
    E_start e^{V(1+α)/(1−α)} with V = f₋⁽⁺⁾ + (ln p − f₊ − f₋)/2. From f = 0: 1 − p^{−1/2} and p^{α/(1−α)} −
    p^{−1/2}. Logistic loss: e^{f₊} = p − 1 + pE, F = 2E + ln E + ln(p − 1 + pE)/p, E_start = 1/p from f = 0;
    E_end = 1 for T_plat, and (p − 1 + pE)^α = E from f = 0 for T_II.

    Arguments: problem; start; digits of the numbers. A law is None from a start with r ≥ 1, without the group
    it speaks of, for T_plat when the plateau is over before the slow motion begins, and for T_II when α ≥ 1.
    Derived here (:mod:`reduced.derive.slow_motion`).
    """
    slow = _before_ratio_one(problem, start)
    plus, minus = sign(problem.alpha_plus) > 0, sign(problem.alpha_minus) > 0
    later = sign(problem.alpha_plus - problem.alpha_minus) > 0
    exponential = problem.loss is Loss.EXP
    plateau, second = (_plateau_law, _second_law) if exponential else (_logistic_plateau, _logistic_second)
    found = keep_promise(
        lambda ctx: (
            plateau(ctx, problem, start) if slow and plus and minus else None,
            second(ctx, problem, start) if slow and later else None,
        ),
        list,
        digits,
        15 + (closeness(private_context(15), problem.alpha_plus - problem.alpha_minus) if later else 0),
    )
    T_plat, T_II = (None if value is None or value < 0 else decimal_string(value, digits) for value in found)
    return Asymptotic(T_plat, T_II)


def _before_ratio_one(problem: Problem, start: Start) -> bool:
    """Tell exactly whether Q < P."""
    if problem.loss is Loss.EXP:
        return sign(Exact("log", (problem.p,)) - start.f_plus - start.f_minus) > 0
    first, second = _exponential(start.f_plus), _exponential(-start.f_minus)
    return sign(problem.p * (1 + second) - 1 - first) > 0


def _exponential(value: Exact) -> Exact:
    return Exact("exp", (value,)) if sign(value) else exact(1)


def _plateau_law(ctx: Any, problem: Problem, start: Start) -> Any:
    at_one, _ = _slow_start(ctx, problem, start)
    return -2 * _unit(ctx, problem) * ctx.expm1(at_one)


def _second_law(ctx: Any, problem: Problem, start: Start) -> Any:
    at_one, share = _slow_start(ctx, problem, start)
    ratio = (problem.alpha_plus + problem.alpha_minus) / (problem.alpha_plus - problem.alpha_minus)
    return 2 * _unit(ctx, problem) * ctx.exp(at_one) * ctx.expm1(share * ratio.evaluate(ctx))


def _unit(ctx: Any, problem: Problem) -> Any:
    """Return the unit of slow time (1+p)/(κ₂²(α₊+α₋)Δ²)."""
    alphas = (problem.alpha_plus + problem.alpha_minus).evaluate(ctx)
    kappa2, delta, p = (x.evaluate(ctx) for x in (problem.kappa2, problem.delta, problem.p))
    return (1 + p) / (kappa2**2 * alphas * delta**2)


def _slow_start(ctx: Any, problem: Problem, start: Start) -> tuple[Any, Any]:
    """Return ln E and the share V of K₊ in f₋ when r has come to 1 (exponential loss)."""
    p = problem.p.evaluate(ctx)
    half = exact("1/2")
    at_one = (half * (start.f_plus - start.f_minus)).evaluate(ctx) - ctx.log(p) / 2
    share = (half * (start.f_minus - start.f_plus) - start.f_minus_negative).evaluate(ctx) + ctx.log(p) / 2
    return at_one, share


def _logistic_plateau(ctx: Any, problem: Problem, start: Start) -> Any:
    p = problem.p.evaluate(ctx)
    begin = _logistic_start(ctx, problem, start)
    return _unit(ctx, problem) * (_progress(ctx, p, ctx.zero) - _progress(ctx, p, begin))


def _logistic_second(ctx: Any, problem: Problem, start: Start) -> Any:
    """Return the law of T_II: the share −ln E − f₋⁽⁻⁾ of K₊ in f₋ vanishes on the slow curve."""
    p, alpha = problem.p.evaluate(ctx), (problem.alpha_minus / problem.alpha_plus).evaluate(ctx)
    begin = _logistic_start(ctx, problem, start)
    held = ((start.f_plus - start.f_minus) * problem.alpha_minus / problem.alpha_plus).evaluate(ctx)
    held += (1 + alpha) * start.f_minus_negative.evaluate(ctx)

    def share_and_slope(way: Any) -> tuple[Any, Any]:
        grown = p * ctx.exp(begin + way)
        return alpha * ctx.log(p - 1 + grown) - begin - way - held, alpha * grown / (p - 1 + grown) - 1

    end = begin + safe_newton(ctx, share_and_slope, ctx.zero, None, ctx.zero)
    return _unit(ctx, problem) * (_progress(ctx, p, end) - _progress(ctx, p, begin))


def _progress(ctx: Any, p: Any, log_E: Any) -> Any:
    """Return F = 2E + ln E + ln(p − 1 + pE)/p."""
    E = ctx.exp(log_E)
    return 2 * E + log_E + ctx.log(p - 1 + p * E) / p


def _logistic_start(ctx: Any, problem: Problem, start: Start) -> Any:
    """Return ln E when r has come to 1: the root of (p − 1 + pE) E = e^{f₊−f₋}."""
    p, kept = problem.p.evaluate(ctx), ctx.exp((start.f_plus - start.f_minus).evaluate(ctx))
    return ctx.log(2 * kept / (p - 1 + ctx.sqrt((p - 1) ** 2 + 4 * p * kept)))

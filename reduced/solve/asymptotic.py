"""The leading laws of the plateau's times as Δ → 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reduced.numbers import Exact, decimal_string, exact, sign
from reduced.records import Loss, Problem, Start
from reduced.solve.promise import keep_promise


@dataclass(frozen=True)
class Asymptotic:
    """The leading terms of T_plat and T_II as decimal strings, None where there is no such law."""

    T_plat: str | None
    T_II: str | None


def asymptotic(problem: Problem, start: Start, digits: int = 30) -> Asymptotic:
    """Return the leading small-Δ laws of T_plat and T_II, exact in everything but Δ.

    With 𝒯 = 2(1+p)/(κ₂²(α₊+α₋)Δ²), E = p^{−1/2} e^{(f₊−f₋)/2} and V = f₋⁽⁺⁾ + (ln p − f₊ − f₋)/2 at
    the start: T_plat → 𝒯 (1 − E) and T_II → 𝒯 E (e^{V(1+α)/(1−α)} − 1); from f = 0 the latter is 𝒯
    (p^{α/(1−α)} − p^{−1/2}).

    Arguments: problem; start; digits of the numbers. A law is None for another loss than the
    exponential, from a start with f₊ + f₋ ≥ ln p (r has already passed 1), without the group it
    speaks of, for T_plat when the plateau is over before the slow motion begins, and for T_II when
    α ≥ 1. Derived here: a fast motion at fixed f₊ − f₋ takes r to 1, then f₊ + f₋ = ln p and ḟ₊ =
    κ₂²(α₊+α₋)PΔ²/2, ḟ₋⁽⁺⁾ = −κ₂²(α₊−α₋)PΔ²/2 to leading order.
    """
    slow = problem.loss is Loss.EXP and _before_ratio_one(problem, start)
    plus, minus = sign(problem.alpha_plus) > 0, sign(problem.alpha_minus) > 0
    later = sign(problem.alpha_plus - problem.alpha_minus) > 0
    found = keep_promise(
        lambda ctx: (
            _plateau_law(ctx, problem, start) if slow and plus and minus else None,
            _second_law(ctx, problem, start) if slow and later else None,
        ),
        list,
        digits,
    )
    T_plat, T_II = (None if value is None or value < 0 else decimal_string(value, digits) for value in found)
    return Asymptotic(T_plat, T_II)


def _before_ratio_one(problem: Problem, start: Start) -> bool:
    return sign(Exact("log", (problem.p,)) - start.f_plus - start.f_minus) > 0


def _plateau_law(ctx: Any, problem: Problem, start: Start) -> Any:
    scale, at_one, _ = _slow_motion(ctx, problem, start)
    return -scale * ctx.expm1(at_one)


def _second_law(ctx: Any, problem: Problem, start: Start) -> Any:
    scale, at_one, share = _slow_motion(ctx, problem, start)
    alpha = (problem.alpha_minus / problem.alpha_plus).evaluate(ctx)
    return scale * ctx.exp(at_one) * ctx.expm1(share * (1 + alpha) / (1 - alpha))


def _slow_motion(ctx: Any, problem: Problem, start: Start) -> tuple[Any, Any, Any]:
    """Return the time scale 𝒯, and ln E and the share V of K₊ in f₋ when r has come to 1."""
    p = problem.p.evaluate(ctx)
    alphas = (problem.alpha_plus + problem.alpha_minus).evaluate(ctx)
    scale = 2 * (1 + p) / (problem.kappa2.evaluate(ctx) ** 2 * alphas * problem.delta.evaluate(ctx) ** 2)
    half = exact("1/2")
    at_one = (half * (start.f_plus - start.f_minus)).evaluate(ctx) - ctx.log(p) / 2
    share = (half * (start.f_minus - start.f_plus) - start.f_minus_negative).evaluate(ctx) + ctx.log(p) / 2
    return scale, at_one, share

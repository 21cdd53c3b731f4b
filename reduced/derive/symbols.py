"""The alphabet of the derivation: its symbols, their tidy form, their LaTeX names."""

from __future__ import annotations

from typing import Any, TypeAlias

import sympy as sp
from sympy.simplify.fu import TR6

Expr: TypeAlias = Any
"""A SymPy object (SymPy ships no types)."""

p, Delta = sp.symbols("p Delta", positive=True)
alpha_plus, alpha_minus, kappa2 = sp.symbols("alpha_plus alpha_minus kappa2", positive=True)
m = sp.Symbol("m", positive=True)
_root_m = sp.Symbol("root_m", positive=True)

c = sp.cos(Delta)
s = sp.sin(Delta)


_LONG = 5


class DerivationError(ValueError):
    """A step of the derivation does not go through for the network it was asked for."""


def tidy(expression: Expr) -> Expr:
    """Write an expression in factored form, with sin² for 1 − cos²."""
    expanded = sp.expand(TR6(sp.expand(sp.sympify(expression))))
    if _is_long_and_linear(expanded):
        # all there is to take out is a number, and general factoring is slow at long sums
        content, form = expanded.primitive()
        return form if content == 1 else sp.Mul(content, form, evaluate=False)
    return sp.factor(expanded)


def _is_long_and_linear(expanded: Expr) -> bool:
    """Tell whether an expanded expression is a long sum of rational multiples of symbols."""
    terms = [term.as_coeff_Mul() for term in sp.Add.make_args(expanded)]
    return len(terms) >= _LONG and all(part.is_Symbol and number.is_Rational for number, part in terms)


def in_cosines(expression: Expr, cosine: Expr = c, versine: Expr = 1 - c, sine_squared: Expr = s**2) -> Expr:
    """Write an expression rational in cos Δ as a product of factors in which nothing cancels for small Δ.

    A factor is written in the versine 1 − cos Δ where that makes its terms agree in sign. Arguments: the
    expression; what to write for cos Δ, 1 − cos Δ and sin² Δ (symbols when the result is to be exported).
    """
    w = sp.Symbol("w", positive=True)
    polynomial = sp.sympify(expression).subs(s**2, 1 - c**2).subs(c, 1 - w).subs(m, _root_m**2)
    numerator, denominator = sp.fraction(sp.cancel(sp.together(polynomial)))
    result, powers = sp.Integer(1), {w: 0, w - 2: 0}
    for part, direction in ((numerator, 1), (denominator, -1)):
        content, factors = (part, []) if part.is_number else sp.factor_list(part)
        result *= sp.Rational(content) ** direction
        for factor, power in factors:
            powers[factor] = powers.get(factor, 0) + direction * power
    versines, complements = powers.pop(w), powers.pop(w - 2)
    squares = min(versines, complements) if versines > 0 and complements > 0 else 0
    result *= sp.Integer(-1) ** complements * sine_squared**squares
    result *= versine ** (versines - squares) * (1 + cosine) ** (complements - squares)
    for factor, power in powers.items():
        if factor == w - 1:
            result *= sp.Integer(-1) ** power * cosine**power
            continue
        signs = {term.as_coeff_Mul()[0] > 0 for term in sp.Add.make_args(factor)}
        if len(signs) == 1:
            sign = sp.Integer(1 if signs.pop() else -1)
            result *= sign**power * (sign * factor).subs(w, versine) ** power
        else:
            result *= sp.expand(factor.subs(w, 1 - cosine)) ** power
    return result.subs(_root_m, sp.sqrt(m))


def is_zero(expression: Expr) -> bool:
    """Decide whether an expression vanishes identically."""
    in_cosine = sp.sympify(expression).subs(s**2, 1 - c**2)
    return bool(sp.cancel(sp.together(in_cosine)) == 0 or sp.simplify(in_cosine) == 0)


def sign_under_assumption(expression: Expr) -> int:
    """Decide the sign (−1, 0 or 1) that an expression has for all p, Δ with p cos Δ > 1, 0 < Δ < π/2.

    Substituting cos Δ = 1/(1+h) and p = (1+q)(1+h) with h, q > 0 turns the assumption into positivity; an
    expression whose numerator and denominator then have coefficients of one sign is decided. Every other
    symbol must be positive. Raises DerivationError when this does not decide.
    """
    h, q = sp.symbols("h q", positive=True)
    positive = in_cosines(expression).subs({c: 1 / (1 + h), p: (1 + q) * (1 + h)})
    numerator, denominator = sp.fraction(sp.cancel(sp.together(positive)))
    return _one_sign(numerator) * _one_sign(denominator)


def latex(expression: Expr) -> str:
    """Typeset an expression with the paper's names for the symbols."""
    names = {symbol: latex_name(symbol.name) for symbol in expression.free_symbols}
    return str(sp.latex(expression, symbol_names=names))


def latex_name(name: str) -> str:
    """Return the LaTeX name of a plain name: alpha_plus becomes \\alpha_{+}, gamma_squared \\gamma^{2}."""
    head, *parts = name.split("_")
    base = str(sp.latex(sp.Symbol(head)))
    if parts and parts[-1] == "squared":
        return f"{base}^{{2}}"
    shown = "".join({"plus": "+", "minus": "-", "positive": "(+)"}.get(part, part) for part in parts)
    return f"{base}_{{{shown}}}" if shown else base


def _one_sign(polynomial: Expr) -> int:
    terms = sp.Add.make_args(sp.expand(polynomial))
    signs = {sp.sign(term.as_coeff_Mul()[0]) for term in terms}
    if len(signs) != 1:
        raise DerivationError(f"the sign of {polynomial} is not decided by p cos Δ > 1")
    return int(signs.pop())

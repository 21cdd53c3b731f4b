"""The exact solution inside a phase, the equation of the plateau's end, and its law for small angles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import sympy as sp

from reduced.derive.export import Formula, Formulas
from reduced.derive.network import MINUS, PLUS
from reduced.derive.phases import PHASES, phase
from reduced.derive.prediction import PredictionODE
from reduced.derive.symbols import Delta, DerivationError, Expr, in_cosines, is_zero, latex_name, p
from reduced.errors import InputError

x, x_0 = sp.symbols("x x_0", positive=True)
"""The variable x = −ln(1 − r/r∞) and its value at the start of the phase."""

r = sp.Symbol("r", positive=True)
_f_plus_0, _f_minus_0 = sp.symbols("f_plus_0 f_minus_0", real=True)


@dataclass(frozen=True)
class ClosedForm(Formulas):
    """The solution of a two-point prediction ODE with exponential loss, elementary in x = −ln(1 − r/r∞), r = Q/P.

    Fields: ode; fixed_ratio r∞; ratio r(x); S = ∫P dt and R = ∫Q dt since x = x_0; f_plus and f_minus; and
    time_rate dt/dx, whose integral is an incomplete beta function. Built by :func:`closed_form`.
    """

    ode: PredictionODE
    fixed_ratio: Expr
    ratio: Expr
    S: Expr
    R: Expr
    f_plus: Expr
    f_minus: Expr
    time_rate: Expr

    def formulas(self) -> tuple[Formula, ...]:
        """Return r, S, R, f₊, f₋ and dt/dx."""
        names = {"r": self.ratio, "S": self.S, "R": self.R, "f_plus": self.f_plus, "f_minus": self.f_minus}
        listed = [Formula(name, latex_name(name), expression) for name, expression in names.items()]
        return (*listed, Formula("dt_dx", r"\frac{dt}{dx}", self.time_rate))

    def displacement(self, on_P: Expr, on_Q: Expr) -> Expr:
        """Return on_P · S + on_Q · R, the change since x_0 of anything whose rate is on_P · P + on_Q · Q."""
        return on_P * self.S + on_Q * self.R

    def initial_x(self) -> Expr:
        """Return x_0 as a function of f₊ and f₋ at the start."""
        first, second = (
            force.subs(f, start)
            for force, f, start in zip(
                self.ode.model.forces.values(),
                self.ode.model.data.predictions,
                (_f_plus_0, _f_minus_0),
                strict=True,
            )
        )
        return -sp.log(1 - sp.powsimp(second / first) / self.fixed_ratio)


def closed_form(ode: PredictionODE) -> ClosedForm:
    """Derive the exact solution of a two-point system whose ratio r = Q/P tends to a fixed ratio r∞ from below.

    With g = A + C and h = B + D the ratio obeys ṙ = rP(g − hr), so r∞ = g/h and r = r∞(1 − e⁻ˣ) makes S and R
    elementary in x. Checked by substitution: both prediction equations, and Q/P = r. Derived here.
    Raises DerivationError when the check fails.
    """
    A, B, C, D = ode.A, ode.B, ode.C, ode.D
    g, h = in_cosines(A + C), in_cosines(B + D)
    limit_ratio = in_cosines(g / h)
    ratio = limit_ratio * (1 - sp.exp(-x))
    S = sp.log(sp.expm1(x) / sp.expm1(x_0)) / g if hasattr(sp, "expm1") else _log_growth() / g
    R = (x - x_0) / h
    f_plus, f_minus = _f_plus_0 + A * S - B * R, _f_minus_0 + C * S - D * R
    force = ode.model.force(PLUS).subs(ode.model.data.predictions[PLUS], f_plus)
    found = ClosedForm(ode, limit_ratio, ratio, S, R, f_plus, f_minus, 1 / (g * (1 - sp.exp(-x)) * force))
    _check(found)
    return found

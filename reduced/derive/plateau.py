"""The exact solution inside a phase, the equation of the plateau's end, and its law for small angles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import sympy as sp

from reduced.derive.export import Formula, Formulas
from reduced.derive.limit import fixed_ratio
from reduced.derive.network import MINUS, PLUS
from reduced.derive.phases import PHASES, phase
from reduced.derive.prediction import PredictionODE
from reduced.derive.symbols import Delta, DerivationError, Expr, in_cosines, is_zero, latex_name, p
from reduced.errors import InputError

x, x_0 = sp.symbols("x x_0", positive=True)
"""The variable x = −ln(1 − r/r∞) and its value at the start of the phase."""

r = sp.Symbol("r", positive=True)
f_plus_0, f_minus_0, share_0 = sp.symbols("f_plus_0 f_minus_0 f_minus_positive_0", real=True)
"""The predictions at the start of the phase, and the share of K₊ in f₋ there."""


@dataclass(frozen=True, repr=False)
class ClosedForm(Formulas):
    """The solution of a two-point prediction ODE with exponential loss, in x = −ln(1 − r/r∞), r = Q/P.

    All but the time is elementary in x. Fields: ode; fixed_ratio r∞; ratio r(x); S = ∫P dt and R = ∫Q dt
    since x = x_0; f_plus and f_minus; and time_rate dt/dx, whose integral is an incomplete beta function.
    Built by :func:`closed_form`.
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
                (f_plus_0, f_minus_0),
                strict=True,
            )
        )
        return -sp.log(1 - sp.powsimp(second / first) / self.fixed_ratio)


@cache
def closed_form(ode: PredictionODE) -> ClosedForm:
    """Derive the exact solution of a two-point system whose ratio r = Q/P rises to a fixed ratio r∞.

    With g = A + C and h = B + D the ratio obeys ṙ = rP(g − hr), so r∞ = g/h and r = r∞(1 − e⁻ˣ) makes S and R
    elementary in x. Checked by substitution: both prediction equations, and Q/P = r. Derived here.
    Raises DerivationError when the check fails.
    """
    A, B, C, D = ode.A, ode.B, ode.C, ode.D
    g, h = in_cosines(A + C), in_cosines(B + D)
    limit_ratio = fixed_ratio(ode)
    ratio = limit_ratio * (1 - sp.exp(-x))
    S = sp.log((sp.exp(x) - 1) / (sp.exp(x_0) - 1)) / g
    R = (x - x_0) / h
    f_plus, f_minus = f_plus_0 + A * S - B * R, f_minus_0 + C * S - D * R
    P = ode.model.force(PLUS).subs(ode.model.data.predictions[PLUS], f_plus)
    found = ClosedForm(ode, limit_ratio, ratio, S, R, f_plus, f_minus, 1 / (g * (1 - sp.exp(-x)) * P))
    for name, residual in substitution_residuals(found).items():
        if not is_zero(residual):
            raise DerivationError(f"the closed form fails its check by substitution into {name}")
    return found


def substitution_residuals(found: ClosedForm) -> dict[str, Expr]:
    """Substitute a closed form into what it must solve; every residual returned must vanish identically.

    Arguments: found, the closed form. Returns the residuals by name: Ṡ = P, Ṙ = Q = rP, both prediction
    equations (all per unit of P), and the growth of Q/P computed from the forces against that of r.
    """
    ode = found.ode
    P, _ = ode.model.data.forces
    f_plus, f_minus = ode.model.data.predictions
    P_along = ode.model.force(PLUS).subs(f_plus, found.f_plus)
    Q_along = ode.model.force(MINUS).subs(f_minus, found.f_minus)
    time = found.time_rate * P_along
    rates = [sp.expand(rate).subs(ode.model.data.forces[MINUS], found.ratio * P) / P for rate in ode.rates]
    growth = sp.diff(sp.expand_log(sp.log(Q_along) - sp.log(P_along), force=True), x)
    return {
        "dS/dt = P": sp.diff(found.S, x) - time,
        "dR/dt = Q": sp.diff(found.R, x) - found.ratio * time,
        "the equation of f_plus": sp.diff(found.f_plus, x) - rates[PLUS] * time,
        "the equation of f_minus": sp.diff(found.f_minus, x) - rates[MINUS] * time,
        "Q/P = r": growth - sp.diff(sp.log(found.ratio), x),
    }


def plateau_end(name: str) -> tuple[Expr, Expr, Expr]:
    """Return what must vanish at T_plat or T_II in Phase II: its start, its rates on P and on Q.

    T_plat: f₋; T_II: the share of K₊ in f₋. Arguments: name, T_plat or T_II. Returns (start, rate on P, rate on
    Q), read off the derived Phase II system. Raises InputError for another name. Source: Lem D.2, Thm 4.4–4.5.
    """
    ode = phase("II")
    positive = next(i for i, group in enumerate(PHASES["II"]) if group.sign > 0)
    vanishing = {"T_plat": (f_minus_0, ode.matrix), "T_II": (share_0, ode.share_matrix(positive))}
    if name not in vanishing:
        raise InputError("name", name, "T_plat or T_II")
    start, matrix = vanishing[name]
    return start, matrix[MINUS, PLUS], matrix[MINUS, MINUS]


@cache
def small_angle_law(name: str) -> Expr:
    """Derive the leading law of T_plat or T_II as Δ → 0, from any start with Q < P.

    In the closed form the event comes at an x that grows like ξ/Δ² while e⁻ˣ vanishes; the event's equation
    and f₊ are expanded at fixed ξ = Δ² x and the time is integrated over ξ. Returns an expression in the
    start's f_plus_0, f_minus_0 and share_0 (of K₊ in f₋). For T_II α₋ < α₊ is needed. Derived here.
    """
    found = closed_form(phase("II"))
    start, on_P, on_Q = plateau_end(name)
    constant, slope = far_expansion(found, on_P, on_Q)
    rise_constant, rise_slope = far_expansion(found, found.ode.A, -found.ode.B)
    at_event = -(start + constant) / slope
    f_plus = found.ode.model.data.predictions[PLUS]
    growth = sp.limit(found.ode.A + found.ode.C, Delta, 0)
    factor = found.ode.model.force(PLUS).subs(f_plus, 0) * growth * rise_slope
    first, last = (
        in_powers_of_p(f_plus_0 + rise_constant + rise_slope * xi - sp.log(p)) for xi in (0, at_event)
    )
    return sp.factor(p / factor) / Delta**2 * (last - first)


def far_expansion(found: ClosedForm, on_P: Expr, on_Q: Expr) -> tuple[Expr, Expr]:
    """Expand a displacement for small Δ at x = ξ/Δ², e⁻ˣ = 0, as constant + slope · ξ.

    Arguments: found, the closed form; on_P and on_Q, the rate's coefficients. Returns (constant, slope), the
    constant in the predictions at the start. Derived here.
    """
    far = found.displacement(on_P, on_Q).subs(
        sp.log((sp.exp(x) - 1) / (sp.exp(x_0) - 1)), x - sp.log(sp.exp(x_0) - 1)
    )
    slope = in_cosines(sp.diff(far, x))
    constant = sp.simplify(far.subs(x, 0).subs(x_0, found.initial_x()).subs(Delta, 0))
    return sp.expand(sp.expand_log(constant, force=True)), sp.limit(slope / Delta**2, Delta, 0)


def in_powers_of_p(exponent: Expr) -> Expr:
    """Write e^exponent as a power of p times an exponential free of p."""
    power = sp.factor(sp.expand(exponent).coeff(sp.log(p)))
    rest = sp.simplify(exponent - power * sp.log(p))
    return p**power * sp.exp(rest)

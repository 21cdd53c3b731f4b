"""The slow motion of the plateau as Δ → 0, for any loss: along P = Q, in the variable E = e^(−f₋).

At Δ = 0 Phase II moves f₊ and f₋ together (A = B = C = D), so f₊ − f₋ is kept while P and Q become equal. From
then on the predictions creep along P = Q, f₊ − f₋ growing at a rate of order Δ² times P. In E the curve, the
time and the shares of the two groups are elementary, so a time of Phase II is T ~ [F(E_end) − F(E_start)]/Δ².
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import sympy as sp

from reduced.derive.export import Formula, Formulas
from reduced.derive.network import MINUS, PLUS, Loss, NetworkModel
from reduced.derive.phases import PHASES, phase
from reduced.derive.symbols import Delta, DerivationError, Expr, is_zero, p

E = sp.Symbol("E", positive=True)
"""e^(−f₋) on the slow curve."""


@dataclass(frozen=True, repr=False)
class SlowMotion(Formulas):
    """Phase II to leading order in Δ, once P and Q have become equal.

    f_plus: f₊ as a function of E; difference: f₊ − f₋; duration: F(E), whose growth is Δ² times the time that
    passes; negative_share: by how much f₋⁽⁻⁾ falls per growth of the difference.
    """

    f_plus: Expr
    difference: Expr
    duration: Expr
    negative_share: Expr

    def formulas(self) -> tuple[Formula, ...]:
        """Return f₊, f₊ − f₋, F and the share."""
        return tuple(Formula(name, name.replace("_", r"\_"), value) for name, value in vars(self).items())


@cache
def slow_motion(loss: Loss) -> SlowMotion:
    """Derive the slow motion of Phase II for a loss, checked by differentiation.

    Raises DerivationError when f₊ and f₋ do not move together at Δ = 0, P = Q is not one elementary curve, or a
    check fails. Derived here.
    """
    model = NetworkModel(loss=loss)
    ode = phase("II", model)
    fast = {sp.limit(rate, Delta, 0) for rate in (ode.A, ode.B, ode.C, ode.D)}
    if len(fast) != 1:
        raise DerivationError("f₊ and f₋ do not move together at Δ = 0")
    f_plus, f_minus = model.data.predictions
    P, Q = (model.force(i).subs(f_minus, -sp.log(E)) for i in (PLUS, MINUS))
    growth = sp.Symbol("growth", positive=True)
    found = sp.solve(sp.numer(sp.together((P - Q).subs(f_plus, sp.log(growth)))), growth)
    if len(found) != 1:
        raise DerivationError("P = Q is not one elementary curve of f₊ over e^(−f₋)")
    curve = sp.log(sp.factor(found[0]))
    difference = curve + sp.log(E)
    creep = sp.limit((ode.A - ode.B - ode.C + ode.D) / Delta**2, Delta, 0)
    rate = sp.factor(sp.simplify(sp.diff(difference, E) / (creep * Q)))
    unit = (1 + p) / sp.factor(creep)
    duration = unit * sp.integrate(sp.apart(sp.cancel(rate / unit), E), E)
    negative = next(i for i, group in enumerate(PHASES["II"]) if group.sign < 0)
    loses = sp.limit(-sum(ode.share_matrix(negative)[MINUS, :]) / Delta**2, Delta, 0)
    residuals = (sp.diff(duration, E) - rate, sp.simplify((P - Q).subs(f_plus, curve)))
    if not all(is_zero(residual) for residual in residuals):
        raise DerivationError("the slow motion fails its check by differentiation")
    return SlowMotion(curve, difference, duration, sp.factor(loses / creep))

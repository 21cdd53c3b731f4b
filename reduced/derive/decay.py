"""How directions close in on their limits: angle(t) ~ constant/(log t + shift), derived from the final phase.

In the final phase ρS − R tends to ln(ρ/r₁)/h (S = ∫P, R = ∫Q from a time t₁ in it, r₁ = Q/P there), so a neuron
moves like S v + w: v its limit direction, w a vector that no longer changes. S grows like log t, and only the
part of w across v keeps the angle open: the part in the plane of the data, and the frozen one outside. A neuron
on a kink has w along v: its angle in the plane is exactly 0. Derived here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import sympy as sp

from reduced.derive.export import Formula, Formulas
from reduced.derive.limit import LimitDirection, fixed_ratio, limit
from reduced.derive.network import MINUS, PLUS, Velocity
from reduced.derive.phases import PHASES, phase
from reduced.derive.plateau import f_minus_0, f_plus_0, plateau_end, share_0
from reduced.derive.symbols import DerivationError, Expr, c, in_cosines, is_zero, kappa2, latex_name, p, s
from reduced.errors import InputError

u_1, v_1 = sp.symbols("u_1 v_1", real=True)
"""⟨b, x₊⟩ and ⟨b, x₋⟩ of a neuron at t₁, in units of |a| = κ₂/√m."""

frozen = sp.Symbol("frozen", nonnegative=True)
"""The length of a neuron's part outside the plane of the data, in units of |a|; it never changes."""

f_plus_1 = sp.Symbol("f_plus_1", real=True)
"""The prediction f₊ at t₁."""

rise = sp.Symbol("ell", real=True)
"""ln(ρ/r₁), the way r still has to go at t₁; also ln ρ + ln p − f₊ − f₋ there."""


@dataclass(frozen=True, repr=False)
class AngleLaw(Formulas):
    """angle(t) = constant/(log t + shift) (1 + O(1/log² t)) for the neurons of one group.

    growth: d f₊/d log t per unit of S; turn: the part of the constant inside the plane of the data is
    sin Δ · |turn|; stretch_squared: the square of that outside, per unit of ``frozen``; drift: the shift is
    ln(growth · w₊) + drift. In the symbols of the state at a time t₁ of the final phase.
    """

    limit: LimitDirection
    group: str
    growth: Expr
    turn: Expr
    stretch_squared: Expr
    drift: Expr

    @property
    def constant(self) -> Expr:
        """The limit of angle · log t."""
        return sp.sqrt(s**2 * self.turn**2 + self.stretch_squared * frozen**2)

    @property
    def shift(self) -> Expr:
        """What log t is shifted by: with it the error of the law is of second order."""
        return sp.log(self.growth * self.limit.ode.model.data.weights[PLUS]) + self.drift

    def formulas(self) -> tuple[Formula, ...]:
        """Return the constant and the shift."""
        end = self.group.removeprefix("K_")
        return (
            Formula(f"angle_{end}_constant", latex_name(f"C_{end}"), self.constant),
            Formula(f"angle_{end}_shift", latex_name(f"k_{end}"), self.shift),
        )


@cache
def angle_law(regime: str, group: str) -> AngleLaw:
    """Derive the law by which the angle of a group (K_plus, K_minus) to its limit closes in a regime.

    Raises InputError for other words, DerivationError when the direction is not that of the limit.
    """
    found = limit(regime)
    names = [each.name for each in found.ode.groups]
    if group not in names:
        raise InputError("group", group, " or ".join(names))
    index = names.index(group)
    on_P, on_Q = _directions(found, index)
    ratio, matrix = found.ratio, found.ode.lotka_volterra()
    slowing = in_cosines(matrix[MINUS, MINUS] - matrix[PLUS, MINUS])
    if not is_zero(slowing * ratio + matrix[MINUS, PLUS] - matrix[PLUS, PLUS]):
        raise DerivationError("Q/P is not at rest at the fixed ratio")
    lag = rise / slowing  # what R − ρS tends to
    kept = _combined(_at_start(found, index), on_Q, lag)
    end = _combined(on_P, on_Q, ratio)
    growth = in_cosines(found.ode.A - found.ode.B * ratio)
    norm_squared = in_cosines(end.dot(end))
    (a, b), (at_plus, at_minus) = kept.coefficients, end.coefficients
    return AngleLaw(
        found,
        group,
        growth,
        _linear((a * at_minus - b * at_plus) * growth / norm_squared),
        in_cosines(growth**2 / norm_squared),
        _linear(kept.dot(end) * growth / norm_squared + found.ode.B * lag) - f_plus_1,
    )


def constant_from_start(regime: str) -> Expr:
    """Derive the constant of the one open angle, K₋ in four-phase, K₊ in two-phase, from the start of training.

    For condensed groups that start in Phase II with predictions f_plus_0, f_minus_0, of which K₊ has the share
    share_0 in f₋; κ₂ drops out. Arguments: regime, four-phase or two-phase. Returns the constant of
    :class:`AngleLaw`, in radians times log t. Two-phase: exact; four-phase: up to e^(−x) at T_II, beyond all
    orders in Δ. Raises InputError in three-phase, where both angles end at 0. Derived here.
    """
    if regime == "two-phase":
        law = angle_law(regime, "K_plus")
        start = {u_1: f_plus_0 / _output("K_plus"), v_1: share_0 / _output("K_plus")}
        return -s * law.turn.subs(start).subs(rise, _rise_from_start(law.limit.ratio))
    if regime == "four-phase":
        law = angle_law(regime, "K_minus")
        turn = law.turn.subs({u_1: 0, v_1: -f_minus_at_reactivation() / _output("K_minus")})
        return -s * turn.subs(rise, sp.log(in_cosines(c * law.limit.ratio)))
    raise InputError("regime", regime, "four-phase or two-phase, in which an angle stays open")


@cache
def f_minus_at_reactivation() -> Expr:
    """Derive f₋ at T_III from the start of training, up to e^(−x) at T_II.

    At T_II the share of K₊ in f₋ is used up, and ρS − R has its final value; then e^(f₊) and e^(−f₋) are affine
    in t until Q/P = 1/c.
    """
    ode, third = phase("II"), phase("III")
    ratio = fixed_ratio(ode)
    start, on_P, on_Q = plateau_end("T_II")
    lag = _rise_from_start(ratio) / in_cosines(ode.B + ode.D)
    S = (on_Q * lag - start) / in_cosines(on_P + on_Q * ratio)  # with R = ρS − lag
    f_minus = f_minus_0 + in_cosines(ode.C - ode.D * ratio) * S + ode.D * lag
    slowed = in_cosines(1 + third.D * (1 - c * ratio) / (c * third.A - third.D))
    return f_minus - sp.log(slowed)


def _rise_from_start(ratio: Expr) -> Expr:
    """Return ln(ratio/r₀)."""
    return sp.log(ratio) + sp.log(p) - f_plus_0 - f_minus_0


def _output(group: str) -> Expr:
    """Return f/(⟨b, x⟩/|a|) of a group: κ₂² times its fraction."""
    return kappa2**2 * next(each.fraction for each in PHASES["II"] if each.name == group)


def _directions(found: LimitDirection, index: int) -> tuple[Velocity, Velocity]:
    """Return the directions in which S and R move a neuron, in units of |a|."""
    moving = found.ode.motions[index].velocity.scaled(1 / found.ode.model.output_scale)
    P, Q = found.ode.model.data.forces
    return moving.at({P: sp.Integer(1), Q: sp.Integer(0)}), moving.at({P: sp.Integer(0), Q: sp.Integer(1)})


def _at_start(found: LimitDirection, index: int) -> Velocity:
    """Return a neuron's place at t₁ in the plane of the data; ⟨b, x⟩ = 0 where its group slides."""
    data, sliding = found.ode.model.data, found.ode.groups[index].sliding
    coordinates = [0 if i in sliding else symbol for i, symbol in enumerate((u_1, v_1))]
    return Velocity(data, tuple(data.gram.inv() * sp.Matrix(coordinates)))


def _combined(first: Velocity, second: Velocity, factor: Expr) -> Velocity:
    pairs = zip(first.coefficients, second.coefficients, strict=True)
    return Velocity(first.data, tuple(a + factor * b for a, b in pairs))


def _linear(expression: Expr) -> Expr:
    """Write a linear form in the state at t₁ with tidy coefficients."""
    terms = (in_cosines(sp.diff(expression, each)) * each for each in (u_1, v_1, rise))
    return sp.factor_terms(sum(terms, sp.Integer(0)))

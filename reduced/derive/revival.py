"""Slopes of the margin when dead neurons are revived at the limit θ̄ (Theorem 4.11), derived from the network.

The margins yᵢf(xᵢ) are differentiated along a direction D; a neuron on a kink of x counts max(⟨D, x⟩, 0), and the
patterns at θ̄ say which neurons lie on one (a dead neuron's limit is 0: on both). With ‖θ̄‖ = ‖D‖ = 1 and D ⟂ θ̄ the
slope of γ is the least derivative of a margin. Dead positive neurons are revived along x₋⊥, negative along x₊⊥.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import sympy as sp

from reduced.derive.export import Formula, Formulas
from reduced.derive.limit import limit
from reduced.derive.network import MINUS, PLUS, NetworkModel, Velocity
from reduced.derive.symbols import DerivationError, Expr, in_cosines, is_zero, m, s, sign_under_assumption
from reduced.errors import InputError

CASES = ("both", "positive", "negative", "one-neuron")
"""Which dead neurons are revived; one-neuron is a single positive one."""

dead_plus, dead_minus = sp.symbols("dead_plus dead_minus", positive=True)
"""The fractions of all neurons that are dead positive and dead negative ones."""

_on_plus, _on_minus = sp.symbols("h_plus h_minus", real=True)
_gain_plus, _gain_minus = sp.symbols("g_plus g_minus", real=True)
_imbalance = (_gain_plus - _gain_minus) ** 2


@dataclass(frozen=True, repr=False)
class Revival(Formulas):
    """One way to revive dead neurons of a limit network, ‖D‖ = ‖θ̄‖ = 1.

    gains: derivatives of the two margins with the revived part alone; plain: the slope of γ then, the lesser gain;
    living_squared: ‖D_L‖² of the living neurons' move that re-balances the margins, for a revived part of norm 1;
    rebalanced: the slope with that move.
    """

    regime: str
    case: str
    gains: tuple[Expr, Expr]
    plain: Expr
    living_squared: Expr
    rebalanced: Expr

    def formulas(self) -> tuple[Formula, ...]:
        """Return the plain slope and the one with the living neurons re-balanced."""
        return (
            Formula("slope_plain", r"\gamma'", self.plain),
            Formula("slope_rebalanced", r"\gamma'_{*}", self.rebalanced),
        )


@cache
def revival(regime: str, case: str) -> Revival:
    """Derive the slopes of γ for one way (:data:`CASES`) to revive dead neurons in a regime.

    Raises InputError for other words, DerivationError when the margins cannot be re-balanced.
    """
    if case not in CASES:
        raise InputError("case", case, ", ".join(CASES))
    common, living_squared = rebalancing(regime)
    gains = _gains(limit(regime).ode.model, case)
    values = {_gain_plus: gains[PLUS], _gain_minus: gains[MINUS]}
    if is_zero(gains[PLUS] - gains[MINUS]):
        common, plain = sp.cancel(common.subs(_gain_minus, _gain_plus)), gains[PLUS]
    else:
        plain = sp.Integer(0)  # no gain is negative, and the sign left dead gains nothing
    squared = living_squared.subs(values)
    return Revival(regime, case, gains, plain, squared, common.subs(values) / sp.sqrt(1 + squared))


@cache
def rebalancing(regime: str) -> tuple[Expr, Expr]:
    """Derive the common gain of both margins and ‖D_L‖², for gains g_plus, g_minus of the revived part.

    The living neurons move by a combination of the margins' gradients along their kinks that is orthogonal to θ̄, so
    that the norm stays, and makes both margins rise equally.
    """
    found = limit(regime)
    ode, forces = found.ode, found.ode.model.data.forces
    pull = dict(zip(forces, (_on_plus, _on_minus), strict=True))
    one = sp.Integer(1)
    movers = [
        _Mover(group.sign, group.fraction * m, group.pattern(len(forces)), moving.velocity.at(pull), one)
        for group, moving in zip(ode.groups, ode.motions, strict=True)
    ]
    moved = _margin_slopes(ode.model, movers)
    along = sum(each.count * each.move.dot(v) for each, v in zip(movers, found.directions, strict=True))
    rows = sp.Matrix(
        [[sp.diff(each, h) for h in pull.values()] for each in (moved[PLUS] - moved[MINUS], along)]
    )
    if is_zero(rows.det()):
        raise DerivationError("the living neurons cannot re-balance the margins")
    shift = rows.applyfunc(in_cosines).inv() * sp.Matrix([_gain_minus - _gain_plus, 0])
    solution = dict(zip(pull.values(), shift, strict=True))
    common = (_gain_plus + moved[PLUS]).subs(solution)
    squared = sum(each.count * each.move.dot(each.move) for each in movers).subs(solution)
    return sp.factor_terms(_linear(common)), in_cosines(squared / _imbalance) * _imbalance


@dataclass(frozen=True)
class _Mover:
    """``count`` neurons of one sign with one pattern at θ̄ and the move D of each, ``size`` > 0 times ``move``."""

    sign: int
    count: Expr
    pattern: str
    move: Velocity
    size: Expr

    def slope(self, i: int) -> Expr:
        """Return the derivative of Σ σ(⟨b, xᵢ⟩) over these neurons: a kink passes only a positive rate."""
        place, rate = self.pattern[i], self.move.along(i)
        if place == "-" or is_zero(rate) or (place == "0" and sign_under_assumption(rate) < 0):
            return sp.Integer(0)
        return self.count * self.size * rate


def _margin_slopes(model: NetworkModel, movers: list[_Mover]) -> tuple[Expr, Expr]:
    """Differentiate the margins yᵢf(xᵢ) along the moves at ε = 0⁺."""
    plus, minus = (
        sum(label * each.sign * model.output_scale * each.slope(i) for each in movers)
        for i, label in enumerate(model.data.labels)
    )
    return plus, minus


def _gains(model: NetworkModel, case: str) -> tuple[Expr, Expr]:
    """Differentiate the margins along the revived neurons' moves, of norm 1 in all and equal in total by sign."""
    counts = {
        "both": {1: dead_plus * m, -1: dead_minus * m},
        "positive": {1: dead_plus * m},
        "negative": {-1: dead_minus * m},
        "one-neuron": {1: sp.Integer(1)},
    }[case]
    total = sp.sqrt(1 / sum(1 / count for count in counts.values()))
    movers = [
        _Mover(sign, count, "0" * model.data.size, _away(model, sign), total / count)
        for sign, count in counts.items()
    ]
    plus, minus = _margin_slopes(model, movers)
    return sp.simplify(plus), sp.simplify(minus)


def _away(model: NetworkModel, sign: int) -> Velocity:
    """Return the unit direction that sees the point of its own sign and is orthogonal to the other."""
    own, other = (PLUS, MINUS) if sign > 0 else (MINUS, PLUS)
    coefficients = [sp.Integer(0)] * model.data.size
    coefficients[own], coefficients[other] = 1 / s, -model.data.gram[own, other] / s
    return Velocity(model.data, tuple(coefficients))


def _linear(expression: Expr) -> Expr:
    """Write a linear form in the gains with tidy coefficients."""
    return sum(in_cosines(sp.diff(expression, gain)) * gain for gain in (_gain_plus, _gain_minus))

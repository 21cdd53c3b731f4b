"""Sliding: the velocity of a neuron that stays on a kink, and when it does (Def H.1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import sympy as sp

from reduced.derive.network import NetworkModel, Velocity, smooth_velocity
from reduced.derive.symbols import DerivationError, Expr, latex, tidy
from reduced.errors import InputError
from reduced.shown import shown


@dataclass(frozen=True)
class Condition:
    """An inequality that must hold for a motion to be the true one, with the reason in words."""

    reason: str
    relation: Expr

    def _repr_latex_(self) -> str:
        return f"$${latex(self.relation)}$$"


@dataclass(frozen=True)
class Motion:
    """How a neuron moves: velocity, multiplier of each sliding point, and the conditions for it.

    ``multipliers`` has one entry for each data point: where the neuron slides, the derivative of the
    activation that keeps it there; elsewhere None.
    """

    velocity: Velocity
    multipliers: tuple[Expr | None, ...]
    conditions: tuple[Condition, ...]

    __repr__ = shown


@cache
def motion(model: NetworkModel, sign: int, active: tuple[int, ...], sliding: tuple[int, ...] = ()) -> Motion:
    """Derive the motion of a neuron active on some points and sliding on the kinks of others.

    The derivative of the activation at sliding point j is an unknown λⱼ, fixed by ⟨ḃ,xⱼ⟩ = 0. The
    conditions are λⱼ between the two one-sided slopes, and both one-sided normal components pointing to the
    kink (the other sliding points at their own multipliers). Raises InputError for overlapping or unknown
    points or an activation without a kink, DerivationError when the sliding points are linearly dependent
    (the multipliers are then not unique). Source: Def H.1.
    """
    _check_points(model, active, sliding)
    if not sliding:
        return Motion(smooth_velocity(model, sign, active), (None,) * model.data.size, ())
    unknowns = {j: sp.Symbol(f"lambda_{model.data.names[j]}", real=True) for j in sliding}
    moving = _velocity_with_slopes(model, sign, active, unknowns)
    solutions = sp.solve([moving.along(j) for j in sliding], list(unknowns.values()), dict=True)
    if not solutions or len(solutions[0]) < len(sliding):
        raise DerivationError("the sliding points are linearly dependent, their multipliers are not unique")
    multipliers = {j: tidy(solutions[0][unknown]) for j, unknown in unknowns.items()}
    velocity = _velocity_with_slopes(model, sign, active, multipliers)
    conditions = []
    for j in sliding:
        conditions += _conditions(model, sign, active, multipliers, j)
    by_point = tuple(multipliers.get(i) for i in range(model.data.size))
    return Motion(Velocity(model.data, tuple(map(tidy, velocity.coefficients))), by_point, tuple(conditions))


def _check_points(model: NetworkModel, active: tuple[int, ...], sliding: tuple[int, ...]) -> None:
    points = active + sliding
    if len(set(points)) != len(points) or not set(points) <= set(range(model.data.size)):
        raise InputError(
            "active, sliding", (active, sliding), f"disjoint sets of points 0 … {model.data.size - 1}"
        )
    if sliding and _slopes(model)[0] == _slopes(model)[1]:
        raise InputError("activation", model.activation, "an activation with a kink at 0 to slide on")


def _slopes(model: NetworkModel) -> tuple[Expr, Expr]:
    return model.activation.slope_at_kink(False), model.activation.slope_at_kink(True)


def _velocity_with_slopes(
    model: NetworkModel, sign: int, active: tuple[int, ...], slopes: dict[int, Expr]
) -> Velocity:
    """Return the velocity with the activation's derivative at each point of ``slopes`` as given there."""
    low, high = _slopes(model)
    kink = {model.data.coordinates[j]: 0 for j in slopes}
    below = smooth_velocity(model, sign, active)
    above = smooth_velocity(model, sign, tuple(sorted((*active, *slopes))))
    coefficients = list(below.coefficients)
    for j, slope in slopes.items():
        start, end = below.coefficients[j].subs(kink), above.coefficients[j].subs(kink)
        coefficients[j] = start + (slope - low) / (high - low) * (end - start)
    return Velocity(model.data, tuple(coefficients))


def _conditions(
    model: NetworkModel, sign: int, active: tuple[int, ...], multipliers: dict[int, Expr], j: int
) -> list[Condition]:
    low, high = _slopes(model)
    point = f"x_{model.data.names[j]}"

    def normal(slope: Expr) -> Expr:
        return tidy(
            _velocity_with_slopes(model, sign, active, {**multipliers, j: slope}).along(j)
            / model.output_scale
        )

    return [
        Condition(f"multiplier on {point} not below the inactive slope", sp.Ge(multipliers[j], low)),
        Condition(f"multiplier on {point} not above the active slope", sp.Le(multipliers[j], high)),
        Condition(f"pushed to the kink of {point} from its active side", sp.Le(normal(high), 0)),
        Condition(f"pushed to the kink of {point} from its inactive side", sp.Ge(normal(low), 0)),
    ]

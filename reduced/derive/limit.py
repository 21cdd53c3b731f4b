"""The end of training: limiting directions, their KKT certificate and margin, and the regimes' bounds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import takewhile

import sympy as sp

from reduced.derive.export import Formula, Formulas
from reduced.derive.filippov import Condition
from reduced.derive.network import Velocity
from reduced.derive.phases import phase
from reduced.derive.prediction import PredictionODE
from reduced.derive.symbols import (
    DerivationError,
    Expr,
    alpha_minus,
    alpha_plus,
    in_cosines,
    is_zero,
    latex_name,
    m,
    sign_under_assumption,
)
from reduced.errors import InputError

FINAL_PHASES = {"four-phase": "IV", "three-phase": "III", "two-phase": "II"}
"""The phase in which each regime ends, the last phase first."""

alpha = sp.Symbol("alpha", positive=True)
"""The ratio α = α₋/α₊."""

rho = sp.Symbol("rho", positive=True)


@dataclass(frozen=True, repr=False)
class LimitDirection(Formulas):
    """The limiting direction of a two-point prediction ODE that stays in its phase for ever (Thm 4.10–4.11).

    Fields: ode; ratio, ρ = lim Q/P; directions, for each group the limit of b_k up to a common positive
    factor, as coefficients on the data; gamma_squared, the square of the normalised margin min yᵢfᵢ/‖θ‖;
    kinks, for each group the KKT multiplier of its kink, None without one; conditions, what must hold of α
    for this to be the limit.
    """

    ode: PredictionODE
    ratio: Expr
    directions: tuple[Velocity, ...]
    gamma_squared: Expr
    kinks: tuple[Expr | None, ...]
    conditions: tuple[Condition, ...]

    @property
    def gamma(self) -> Expr:
        """The normalised margin γ."""
        return sp.sqrt(self.gamma_squared)

    def formulas(self) -> tuple[Formula, ...]:
        """Return ρ, the coefficients of v₊ and v₋ on x₊ and x₋, γ² and the kink multipliers."""
        found = [Formula("rho", r"\rho", self.ratio)]
        for group, direction in zip(self.ode.groups, self.directions, strict=True):
            end = group.name.removeprefix("K_")
            for name, coefficient in zip(self.ode.model.data.names, direction.coefficients, strict=True):
                shown = f"{latex_name(f'v_{end}')}|_{{{latex_name(f'x_{name}')}}}"
                found.append(Formula(f"v_{end}_on_x_{name}", shown, coefficient))
        found.append(Formula("gamma_squared", latex_name("gamma_squared"), self.gamma_squared))
        for group, kink in zip(self.ode.groups, self.kinks, strict=True):
            if kink is not None:
                end = group.name.removeprefix("K_")
                found.append(Formula(f"kink_{end}", latex_name(f"lambda_{end}"), kink))
        return tuple(found)


def limit(regime: str) -> LimitDirection:
    """Derive the limit direction of a regime from its final phase.

    Arguments: regime, one of :data:`FINAL_PHASES`. Returns the LimitDirection. Raises InputError for another
    word. Source: Thm 4.10 (four-phase); the other regimes are derived here.
    """
    if regime not in FINAL_PHASES:
        raise InputError("regime", regime, "four-phase, three-phase or two-phase")
    return limit_direction(phase(FINAL_PHASES[regime]))


@cache
def limit_direction(ode: PredictionODE) -> LimitDirection:
    """Derive the limit direction of a two-point system with exponential loss that never leaves its phase.

    At the fixed ratio Q/P = ρ every neuron moves along a constant direction, so θ/‖θ‖ tends to that
    direction. Checked on the way: both margins are equal and the KKT stationarity residual is 0. Raises
    DerivationError if not. Source: Thm 4.10–4.11; three- and two-phase regimes and the margin: derived
    here.
    """
    ratio = fixed_ratio(ode)
    at_limit = dict(zip(ode.model.data.forces, (sp.Integer(1), ratio), strict=True))
    scale = ode.model.output_scale
    directions = tuple(_reduced(moving.velocity.scaled(1 / scale).at(at_limit)) for moving in ode.motions)
    growth = _common_margin(ode, at_limit)
    norm_squared = sum(
        group.fraction * m * scale**2 * direction.dot(direction)
        for group, direction in zip(ode.groups, directions, strict=True)
    )
    kinks = tuple(
        next((in_cosines(x.subs(at_limit)) for x in moving.multipliers if x is not None), None)
        for moving in ode.motions
    )
    found = LimitDirection(
        ode,
        ratio,
        directions,
        in_cosines(growth**2 / norm_squared),
        kinks,
        _conditions(ode, directions, at_limit),
    )
    if any(not is_zero(entry) for entry in stationarity_residual(found)):
        raise DerivationError("the limit direction is not stationary for the max-margin problem")
    return found


def fixed_ratio(ode: PredictionODE) -> Expr:
    """Solve for the ratio ρ = Q/P of a two-point system at which d/dt ln(Q/P) = 0.

    Arguments: ode, of two points with exponential loss. Returns ρ in the ODE's symbols. Raises InputError for
    other than two points, DerivationError without exponential loss or such a ratio. Source: Lem D.4, F.4.
    """
    matrix = ode.lotka_volterra()
    if matrix.shape != (2, 2):
        raise InputError("ode", f"{matrix.rows} points", "a system of two points")
    rate = (matrix[1, 0] - matrix[0, 0]) + (matrix[1, 1] - matrix[0, 1]) * rho
    solutions = sp.solve(rate, rho)
    if not solutions:
        raise DerivationError("no ratio Q/P > 0 stays fixed")
    return in_cosines(solutions[0])


def stationarity_residual(found: LimitDirection) -> tuple[Expr, ...]:
    """Return the KKT stationarity residual of min ½‖θ‖² subject to yᵢf(xᵢ) ≥ 1.

    Arguments: found, from :func:`limit`. Returns one entry for each group and data point, in units of the output
    weight; 0 at a KKT point. θ is scaled to margin 1; the point multipliers are in ratio 1 : ρ, and an element
    of the Clarke subdifferential with the kink multipliers stands for the gradient of f. Source: Thm 4.11.
    """
    ode = found.ode
    data = ode.model.data
    at_limit = dict(zip(data.forces, (sp.Integer(1), found.ratio), strict=True))
    growth = _common_margin(ode, at_limit)
    multipliers = (1 / growth, found.ratio / growth)
    residual: list[Expr] = []
    for group, moving, direction in zip(ode.groups, ode.motions, found.directions, strict=True):
        for i, coefficient in enumerate(direction.coefficients):
            kink = moving.multipliers[i]
            smooth = ode.model.activation.slope_at_kink(i in group.active)
            slope = smooth if kink is None else kink.subs(at_limit)
            gradient = group.sign * data.labels[i] * slope
            residual.append(in_cosines(coefficient / growth - multipliers[i] * gradient))
    return tuple(residual)


def regime_bounds(found: LimitDirection) -> tuple[Expr, ...]:
    """Return where training ends in the phase of a limit direction, as inequalities for α = α₋/α₊ alone.

    Training ends in the first phase that may last at its fixed ratio. On the border of two regimes both may; the
    earlier one does, for Q/P only tends to the value at which the next phase begins, so the later regime's bound
    is strict. Arguments: found, from :func:`limit`. Returns relations such as α ≥ cos Δ; those that hold for every
    0 < Δ < π/2 are dropped. Derived here.
    """
    earlier = takewhile(lambda other: other != found, map(limit, reversed(FINAL_PHASES)))
    taken = {bound.rhs for other in earlier for bound in _closed_bounds(other)}
    return tuple(bound.strict if bound.rhs in taken else bound for bound in _closed_bounds(found))


def _closed_bounds(found: LimitDirection) -> tuple[Expr, ...]:
    """Reduce what must hold for a limit direction to inequalities for α alone, borders included."""
    bounds: list[Expr] = []
    for condition in found.conditions:
        difference = condition.relation.lhs - condition.relation.rhs
        at_least = difference if condition.relation.rel_op in (">=", ">") else -difference
        bound = _bound_on_alpha(in_cosines(at_least.subs(alpha_minus, alpha * alpha_plus)))
        if bound is not None and bound not in bounds:
            bounds.append(bound)
    return tuple(bounds)


def _bound_on_alpha(expression: Expr) -> Expr | None:
    """Return the bound on α equivalent to expression ≥ 0, or None if that always holds."""
    sign, open_factor = 1, None
    numerator, denominator = sp.fraction(expression)
    for factor in (*sp.Mul.make_args(numerator), denominator):
        try:
            sign *= sign_under_assumption(factor)
        except DerivationError:
            if open_factor is not None:
                raise
            open_factor = factor
    if open_factor is None:
        if sign < 0:
            raise DerivationError(f"{expression} is negative: the phase never lasts")
        return None
    slope = sign * sign_under_assumption(sp.diff(open_factor, alpha))
    threshold = sp.solve(open_factor, alpha)[0]
    return sp.Ge(alpha, threshold) if slope > 0 else sp.Le(alpha, threshold)


def _reduced(velocity: Velocity) -> Velocity:
    return Velocity(velocity.data, tuple(in_cosines(coefficient) for coefficient in velocity.coefficients))


def _common_margin(ode: PredictionODE, at_limit: dict[Expr, Expr]) -> Expr:
    """Return the growth of yᵢfᵢ along the limit direction, checked to be the same for both points."""
    first, second = (
        in_cosines(label * rate.subs(at_limit))
        for label, rate in zip(ode.model.data.labels, ode.rates, strict=True)
    )
    if not is_zero(first - second):
        raise DerivationError("the margins of the limit direction differ")
    return first


def _conditions(
    ode: PredictionODE, directions: tuple[Velocity, ...], at_limit: dict[Expr, Expr]
) -> tuple[Condition, ...]:
    """Collect what keeps the phase alive at the fixed ratio: sliding conditions and patterns."""
    sliding = [
        Condition(
            condition.reason,
            condition.relation.func(*(in_cosines(arg.subs(at_limit)) for arg in condition.relation.args)),
        )
        for condition in ode.conditions
        if condition.relation != sp.true
    ]
    patterns = [
        Condition(
            f"{group.name}: stays active on x_{ode.model.data.names[i]}",
            sp.Ge(in_cosines(direction.along(i)), 0, evaluate=False),
        )
        for group, direction in zip(ode.groups, directions, strict=True)
        for i in group.active
    ]
    return (*sliding, *patterns)

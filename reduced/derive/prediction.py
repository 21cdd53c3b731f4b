"""From groups of neurons to the autonomous ODE of the predictions (Lem D.2–D.3, F.2–F.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import sympy as sp

from reduced.derive.export import Formula, Formulas
from reduced.derive.filippov import Condition, Motion, motion
from reduced.derive.network import MINUS, PLUS, TWO_POINTS, NetworkModel, Velocity
from reduced.derive.symbols import DerivationError, Expr, is_zero, latex_name, m, tidy
from reduced.errors import InputError


class AutonomyError(DerivationError):
    """The predictions' rates depend on the neurons' own weights: there is no closed prediction ODE."""


@dataclass(frozen=True)
class Group:
    """Neurons that share one velocity: a name, their output sign, their fraction of all m, and their pattern.

    ``active`` and ``sliding`` hold indices of data points; on the others the group is inactive.
    """

    name: str
    sign: int
    fraction: Expr
    active: tuple[int, ...] = ()
    sliding: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a sign that is not ±1."""
        if self.sign not in (1, -1):
            raise InputError("sign", self.sign, "+1 or -1")

    def pattern(self, size: int) -> str:
        """Return the pattern over ``size`` points: ``+`` active, ``-`` inactive, ``0`` sliding."""
        return "".join("+" if i in self.active else "0" if i in self.sliding else "-" for i in range(size))


@dataclass(frozen=True, repr=False)
class PredictionODE(Formulas):
    """The prediction ODE ḟ = K U of a network whose neurons move in groups.

    Fields: model; groups; motions, one for each group (velocity, multipliers, conditions); shares, for each
    group its part of every ḟᵢ; rates, their sums. Rates and shares are linear in the force symbols Uᵢ (P
    and Q for two points), which stand for ``model.force(i)``. Built by :func:`prediction_ode`.
    """

    model: NetworkModel
    groups: tuple[Group, ...]
    motions: tuple[Motion, ...]
    shares: tuple[tuple[Expr, ...], ...]
    rates: tuple[Expr, ...]

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The inequalities under which every sliding group really slides."""
        return tuple(
            Condition(f"{group.name}: {condition.reason}", condition.relation)
            for group, moving in zip(self.groups, self.motions, strict=True)
            for condition in moving.conditions
        )

    @cached_property
    def matrix(self) -> Expr:
        """The (N, N) matrix K of ḟ = K U."""
        return _linear_part(self.rates, self.model.data.forces)

    def share_matrix(self, group: int) -> Expr:
        """Return the (N, N) matrix of one group's part of ḟ."""
        return _linear_part(self.shares[group], self.model.data.forces)

    def lotka_volterra(self) -> Expr:
        """Derive the matrix M of the generalised Lotka–Volterra system U̇ᵢ = Uᵢ Σⱼ Mᵢⱼ Uⱼ.

        Uᵢ is differentiated along the flow and the result checked by substitution. Raises DerivationError
        when U̇ᵢ/Uᵢ is not linear in the forces (any loss but the exponential). Derived here.
        """
        data, rows = self.model.data, []
        for i, f in enumerate(data.predictions):
            force = self.model.force(i)
            per_rate = sp.simplify(sp.diff(force, f) / force)
            if per_rate.has(f):
                raise DerivationError("the forces form no Lotka–Volterra system: −ℓ′ is not exponential")
            rows.append([tidy(per_rate * entry) for entry in self.matrix[i, :]])
        matrix = sp.ImmutableMatrix(rows)
        for i, f in enumerate(data.predictions):
            growth = data.forces[i] * sum(matrix[i, j] * force for j, force in enumerate(data.forces))
            along_flow = sp.diff(self.model.force(i), f) * self.rates[i]
            if not is_zero((along_flow - growth).subs(self.model.forces)):
                raise DerivationError("the Lotka–Volterra matrix fails its check by substitution")
        return matrix

    @property
    def A(self) -> Expr:
        """The coefficient A of ḟ₊ = A P − B Q."""
        return self._two_point_coefficient(PLUS, PLUS)

    @property
    def B(self) -> Expr:
        """The coefficient B of ḟ₊ = A P − B Q."""
        return -self._two_point_coefficient(PLUS, MINUS)

    @property
    def C(self) -> Expr:
        """The coefficient C of ḟ₋ = C P − D Q."""
        return self._two_point_coefficient(MINUS, PLUS)

    @property
    def D(self) -> Expr:
        """The coefficient D of ḟ₋ = C P − D Q."""
        return -self._two_point_coefficient(MINUS, MINUS)

    def coefficient_strings(self) -> dict[str, str]:
        """Return A, B, C, D as text in p, Delta, alpha_plus, alpha_minus, kappa2."""
        return {name: str(getattr(self, name)) for name in "ABCD"}

    def formulas(self) -> tuple[Formula, ...]:
        """Return ḟᵢ as functions of the predictions and the parameters."""
        return tuple(
            Formula(f"df_{name}", rf"\dot {latex_name(f'f_{name}')}", rate.subs(self.model.forces))
            for name, rate in zip(self.model.data.names, self.rates, strict=True)
        )

    @property
    def arguments(self) -> tuple[Expr, ...]:
        """The predictions, then the parameters in alphabetical order."""
        predictions = self.model.data.predictions
        return predictions + tuple(symbol for symbol in super().arguments if symbol not in predictions)

    def _two_point_coefficient(self, i: int, j: int) -> Expr:
        if self.model.data.size != TWO_POINTS.size:
            raise InputError(
                "data", f"{self.model.data.size} points", "the two points that A, B, C, D belong to"
            )
        return self.matrix[i, j]


def prediction_ode(model: NetworkModel, groups: Sequence[Group]) -> PredictionODE:
    """Derive the prediction ODE of a network whose living neurons form the given groups.

    Each neuron of a group moves fᵢ at a σ′(uᵢ)⟨ḃ,xᵢ⟩ (0 where it slides); a group has (fraction · m) of them.
    Arguments: model, the network; groups, the living groups (dead neurons move nothing). Returns the
    PredictionODE, time derivatives in flow time. Raises AutonomyError when a neuron's own coordinates survive in
    the rates. Source: Lem D.2–D.3, F.2–F.3; any data, loss and groups: derived here.
    """
    motions = tuple(motion(model, group.sign, group.active, group.sliding) for group in groups)
    shares = tuple(
        _share(model, group, moving.velocity) for group, moving in zip(groups, motions, strict=True)
    )
    _require_autonomy(model, groups, shares)
    rates = tuple(tidy(sum(share[i] for share in shares)) for i in range(model.data.size))
    return PredictionODE(model, tuple(groups), motions, shares, rates)


def _share(model: NetworkModel, group: Group, velocity: Velocity) -> tuple[Expr, ...]:
    data, a = model.data, group.sign * model.output_scale
    share = []
    for i, u in enumerate(data.coordinates):
        slope = 0 if i in group.sliding else sp.diff(model.activation.on(i in group.active)(u), u)
        share.append(tidy(group.fraction * m * a * slope * velocity.along(i)))
    return tuple(share)


def _require_autonomy(model: NetworkModel, groups: Sequence[Group], shares: Sequence[Sequence[Expr]]) -> None:
    own = set(model.data.coordinates)
    for group, share in zip(groups, shares, strict=True):
        surviving = sorted(str(symbol) for rate in share for symbol in rate.free_symbols & own)
        if surviving:
            listed = ", ".join(dict.fromkeys(surviving))
            raise AutonomyError(
                f"the rates of group {group.name} depend on its neurons' own coordinates {listed}"
            )


def _linear_part(rates: Sequence[Expr], forces: Sequence[Expr]) -> Expr:
    rows = [[tidy(sp.diff(sp.expand(rate), force)) for force in forces] for rate in rates]
    return sp.ImmutableMatrix(rows)

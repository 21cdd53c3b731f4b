"""The explicit m-neuron network θ̄ around which the perturbation test moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from reduced.errors import InputError
from reduced.maxmargin.margin import Optimum, optimum
from reduced.maxmargin.network import Floats, Mask, Pair, checked_network, data_points, living_sets
from reduced.numbers import Exact, ExactLike, exact, sign


@dataclass(frozen=True, eq=False)
class LimitPoint:
    """θ̄ (‖θ̄‖ = 1) of an m-neuron network with given living sets, exact on its kinks.

    ``signs`` (m,); ``living_plus``, ``living_minus`` masks (m,); ``dim`` the neurons' dimension;
    ``optimum`` the solution of the stationarity equations in high precision.
    """

    delta: Exact
    kappa2: Exact
    dim: int
    signs: Floats
    living_plus: Mask
    living_minus: Mask
    optimum: Optimum

    @property
    def ctx(self) -> Any:
        """The private mpmath context of the optimum."""
        return self.optimum.ctx

    @property
    def living(self) -> Mask:
        """The living neurons, mask (m,)."""
        return self.living_plus | self.living_minus

    def dead(self, of_sign: int) -> list[int]:
        """Return the dead neurons of one sign."""
        return [int(k) for k in np.flatnonzero(~self.living & (self.signs == of_sign))]

    def combination(self, weights: Pair, scale: Any) -> list[Pair]:
        """Return scale · Σ weightsᵢ ∇margin i per neuron as (⟨b_k, x₊⟩, ⟨b_k, x₋⟩), 0 for dead ones."""
        plus, minus = ((u * scale, v * scale) for u, v in self.optimum.combination(weights))
        zero = (self.ctx.zero, self.ctx.zero)
        return [
            plus if positive else minus if negative else zero
            for positive, negative in zip(self.living_plus, self.living_minus, strict=True)
        ]

    @property
    def inner(self) -> list[Pair]:
        """The inner products (⟨b_k, x₊⟩, ⟨b_k, x₋⟩) of θ̄, for every neuron, in high precision."""
        scale = self.optimum.gamma / self.ctx.sqrt(len(self.signs))
        return self.combination(self.optimum.multipliers, scale)

    @property
    def weights(self) -> Floats:
        """The weights (m, dim) of θ̄, rounded to doubles."""
        W = np.zeros((len(self.signs), self.dim))
        half = self.delta.evaluate(self.ctx) / 2
        for k, (u, v) in enumerate(self.inner):
            W[k, 0] = float((u - v) / (2 * self.ctx.sin(half)))
            W[k, 1] = -float((u + v) / (2 * self.ctx.cos(half)))
        return W


def limit_point(
    W: ArrayLike, signs: ArrayLike, delta: ExactLike, kappa2: ExactLike = 1, digits: int = 50
) -> LimitPoint:
    """Build θ̄ for the living sets that the weights show.

    Arguments: W (m, d), data at :func:`data_points`; signs (m,); delta, the angle Δ; kappa2 > 0; digits of
    θ̄. Raises InputError, also when no neuron of one sign lives: then no margin is positive and θ̄ does not
    exist.
    """
    weights, ς = checked_network(W, signs)
    scale = exact(kappa2, "kappa2")
    if sign(scale) <= 0:
        raise InputError("kappa2", scale, "a positive number")
    plus, minus = living_sets(weights, ς, data_points(delta, weights.shape[1]))
    for name, mask in (("positive", plus), ("negative", minus)):
        if not mask.any():
            raise InputError("W", f"no living {name} neuron", "at least one living neuron of each sign")
    m = len(ς)
    solution = optimum(exact(int(plus.sum())) / m, exact(int(minus.sum())) / m, delta, digits)
    return LimitPoint(exact(delta), scale, weights.shape[1], ς, plus, minus, solution)

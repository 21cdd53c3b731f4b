"""Perturbing the living neurons only: θ̄ is a local optimum of the margin (Theorem 4.11, first half).

Hypotheses. A share yᵢ a_k σ(⟨b_k, xᵢ⟩) of margin i is concave in b_k everywhere when yᵢ a_k < 0 (a valley),
and linear as long as the neuron stays active when yᵢ a_k > 0. Every living neuron is active on its own
point (K₊ on x₊, K₋ on x₋), so both margins are concave in a ball around θ̄, whose radius is the least ⟨b_k,
own point⟩. The objective ‖θ‖² is convex. Then a KKT point is optimal there, and the slope of γ along D, the
least directional derivative of a margin minus γ⟨θ̄, D⟩, is a concave function of D: its largest value on
unit directions is a convex program, bounded by the certificate (weak duality).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reduced.maxmargin.cone import farkas_residual
from reduced.maxmargin.kkt import kkt
from reduced.maxmargin.margin import convex_optimum, margin_rows
from reduced.maxmargin.network import Floats, Mask, as_float, data_points
from reduced.maxmargin.point import LimitPoint

_OPTIMAL = 1e-12
_CHUNK = 100_000


@dataclass(frozen=True)
class Hypotheses:
    """The hypotheses of local optimality, checked on the network.

    ``kinks_are_valleys``: yᵢ a_k < 0 on every kink of a living neuron; ``concavity_radius``: the margins
    are concave in the ball of this radius around θ̄; ``midpoint_excess``: the largest of ½m(D₁) + ½m(D₂) −
    m(½D₁ + ½D₂) over seeded pairs in that ball (≤ rounding when concave); ``hold``: all of them.
    """

    kinks_are_valleys: bool
    concavity_radius: float
    midpoint_excess: float
    hold: bool


@dataclass(frozen=True)
class LivingOnly:
    """What perturbations of living neurons can do to γ at θ̄, ‖θ̄‖ = ‖D‖ = 1.

    ``best_slope``: optimum of the convex program over unit D, 0 up to rounding (reached along θ̄ itself);
    ``upper_bound``: weak duality's bound on every slope, from the KKT certificate; ``random_best``: the
    largest slope over ``random_count`` seeded directions; ``program_distance``: distance of θ̄ from the
    optimum of the convex max-margin program over the living neurons; ``local_optimum``: hypotheses hold and
    the bound is 0 up to rounding.
    """

    best_slope: float
    upper_bound: float
    random_best: float
    random_count: int
    program_distance: float
    hypotheses: Hypotheses
    local_optimum: bool


def living_only(point: LimitPoint, directions: int, seed: int) -> LivingOnly:
    """Test θ̄ against perturbations of its living neurons.

    Arguments: point, the limit network; directions, how many random ones confirm the bound; seed.
    """
    κ2 = as_float(point.kappa2, "kappa2")
    hypotheses = _hypotheses(point, seed)
    bound = _upper_bound(point)
    return LivingOnly(
        best_slope=κ2 * _best_slope(point),
        upper_bound=κ2 * bound,
        random_best=random_best_slope(point, point.living, directions, seed),
        random_count=directions,
        program_distance=_program_distance(point),
        hypotheses=hypotheses,
        local_optimum=hypotheses.hold and bound <= _OPTIMAL,
    )


def random_best_slope(point: LimitPoint, moved: Mask, directions: int, seed: int) -> float:
    """Return the largest slope of γ over seeded uniform unit directions in the weights of the moved neurons.

    Only the plane of the data matters to the slope, so a direction is drawn as its Gaussian part in that
    plane and a χ² for the squared length of the rest: the same law as drawing all ``dim`` coordinates.
    """
    generator = np.random.default_rng(seed)
    network = _Plane.of(point)
    neurons = np.flatnonzero(moved)
    hidden = len(neurons) * (point.dim - 2)
    best, left = -np.inf, directions
    while left > 0:
        count = min(left, max(1, _CHUNK // len(neurons)))
        drawn = generator.standard_normal((count, len(neurons), 2))
        rest = generator.chisquare(hidden, count) if hidden else np.zeros(count)
        norms = np.sqrt(np.sum(drawn**2, axis=(1, 2)) + rest)
        moves = np.zeros((count, len(moved), 2))
        moves[:, neurons] = drawn / norms[:, None, None]
        best = max(best, float(np.max(network.slopes(moves))))
        left -= count
    return as_float(point.kappa2, "kappa2") * best


@dataclass(frozen=True, eq=False)
class _Plane:
    """θ̄ in the plane of the data, in doubles and units of κ₂; ``inner`` (m, 2) is exactly 0 on kinks."""

    weights: Floats
    X: Floats
    inner: Floats
    factor: Floats
    gamma: float

    @classmethod
    def of(cls, point: LimitPoint) -> _Plane:
        inner = np.array([[float(u), float(v)] for u, v in point.inner])
        factor = np.outer(point.signs, [1.0, -1.0]) / np.sqrt(len(point.signs))
        return cls(
            point.weights[:, :2], data_points(point.delta, 2), inner, factor, float(point.optimum.gamma)
        )

    def slopes(self, moves: Floats) -> Floats:
        """Return dγ/dε at 0⁺ along unit directions (n, m, 2): the least margin derivative minus γ⟨θ̄, D⟩."""
        along = moves @ self.X.T
        passed = np.where(self.inner > 0, along, np.where(self.inner == 0, np.maximum(along, 0.0), 0.0))
        gains = np.sum(self.factor * passed, axis=1)
        result: Floats = gains.min(axis=1) - self.gamma * np.sum(self.weights * moves, axis=(1, 2))
        return result

    def margins(self, moves: Floats) -> Floats:
        """Return the two margins (n, 2) at θ̄ + D for moves (n, m, 2)."""
        shares = self.factor * np.maximum(self.inner + moves @ self.X.T, 0.0)
        result: Floats = np.sum(shares, axis=1)
        return result


def _hypotheses(point: LimitPoint, seed: int, pairs: int = 200) -> Hypotheses:
    network, living = _Plane.of(point), point.living
    kinked = (network.inner == 0) & living[:, None]
    valleys = bool(np.all(network.factor[kinked] < 0))
    own = (
        network.inner[living & (network.factor[:, 0] > 0), 0],
        network.inner[living & (network.factor[:, 1] > 0), 1],
    )
    radius = float(min(values.min() for values in own))
    generator = np.random.default_rng(seed)
    moves = generator.standard_normal((2, pairs, len(living), 2)) * living[:, None]
    moves *= radius / np.sqrt(np.sum(moves**2, axis=(2, 3), keepdims=True))
    first, second = moves
    mean = (network.margins(first) + network.margins(second)) / 2
    excess = float(np.max(mean - network.margins((first + second) / 2)))
    return Hypotheses(valleys, radius, excess, valleys and radius > 0 and excess <= _OPTIMAL)


def _upper_bound(point: LimitPoint) -> float:
    """Bound every living slope by ‖(1/Λ − γ)θ̄ − R/Λ‖, Λ = λ₊ + λ₋, R the stationarity residual (units of κ₂).

    For unit D: min m′ ≤ Σ(λᵢ/Λ)mᵢ′(D) ≤ ⟨θ̄ − R, D⟩/Λ, because mᵢ′ is concave and ξ is one of its
    supergradients.
    """
    living = point.living
    scale = float(np.sqrt(np.count_nonzero(living) / len(living)))
    certificate = kkt(
        point.weights[living], point.signs[living], data_points(point.delta, point.dim), [1, -1], scale
    )
    total = float(certificate.multipliers.sum())
    return abs(1 / total - float(point.optimum.gamma)) + certificate.residual / total


def _class_fractions(point: LimitPoint) -> tuple[float, float]:
    m = len(point.signs)
    return np.count_nonzero(point.living_plus) / m, np.count_nonzero(point.living_minus) / m


def _classes(point: LimitPoint) -> Floats:
    """Return θ̄ with one vector per sign, (4,): √N₊ b₊ and √N₋ b₋."""
    W = point.weights[:, :2]
    sets = (point.living_plus, point.living_minus)
    return np.concatenate([np.sqrt(np.count_nonzero(mask)) * W[mask][0] for mask in sets])


def _best_slope(point: LimitPoint) -> float:
    """Maximise the slope over unit D, exactly: by Jensen one direction per sign is enough (units of κ₂)."""
    rows = margin_rows(*_class_fractions(point), point.delta, point.optimum.kinks)
    residual = farkas_residual(rows - float(point.optimum.gamma) * _classes(point))
    size = float(np.linalg.norm(residual))
    return size / float(np.sqrt(1 - size**2))


def _program_distance(point: LimitPoint) -> float:
    program = convex_optimum(*_class_fractions(point), point.delta)
    return float(np.linalg.norm(program.classes.ravel() - _classes(point)))

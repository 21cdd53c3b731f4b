"""The KKT certificate of the max-margin problem, for any network and any data.

At θ̂ = θ/‖θ‖ stationarity of min ½‖θ‖² s.t. yᵢf(xᵢ) ≥ 1 asks for multipliers λᵢ ≥ 0 and Clarke subgradients
ξ_ki of the ReLU (1 where active, 0 where inactive, anything in [0, 1] on a kink) with θ̂_k = Σᵢ λᵢ ξ_ki yᵢ
a_k xᵢ. With μ_ki = λᵢ ξ_ki ∈ [0, λᵢ] the smallest residual is a convex quadratic program. Given λ it splits
into one tiny bounded least-squares problem per neuron; what is left is convex, continuously differentiable
and piecewise quadratic in λ, and is minimised by Newton steps on the pieces, each a non-negative
least-squares problem in λ alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from reduced.errors import InputError
from reduced.maxmargin.cone import nonnegative_least_squares
from reduced.maxmargin.network import (
    KINK_TOLERANCE,
    Floats,
    Mask,
    as_float,
    checked_network,
    checked_signs,
)
from reduced.numbers import ExactLike, exact, sign
from reduced.shown import shown

_MAX_STEPS = 200
_MAX_HALVINGS = 40


@dataclass(frozen=True, eq=False)
class KKT:
    """How nearly the direction of a network is a KKT point of the max-margin problem.

    ``residual``: smallest ‖θ̂ − Σ λᵢ yᵢ ∂f(xᵢ)‖ (‖θ̂‖ = 1); ``multipliers`` λ (N,) that reach it (their
    ratios are what matters; not unique when the data are dependent); ``subgradients`` ξ (m, N); ``kinked``
    (m, N), where ξ was free; ``margins`` yᵢf(xᵢ; θ̂) (N,); ``normalised_margin`` their minimum γ;
    ``complementarity``: mean over λ of the relative slack (marginᵢ − γ)/γ, None when γ ≤ 0;
    ``feasible``: γ > 0, so that θ̂/γ meets the constraints; ``slope``: the largest rate at which ½ residual²
    could still fall in some λᵢ, 0 up to rounding when the residual is the smallest.
    """

    residual: float
    multipliers: Floats
    subgradients: Floats
    kinked: Mask
    margins: Floats
    normalised_margin: float
    complementarity: float | None
    feasible: bool
    slope: float

    __repr__ = shown


def kkt(
    W: ArrayLike,
    signs: ArrayLike,
    X: ArrayLike,
    y: ArrayLike,
    kappa2: ExactLike = 1,
    *,
    kink_tolerance: float = KINK_TOLERANCE,
) -> KKT:
    """Find the smallest stationarity residual of a network's direction over multipliers and subgradients.

    Arguments: W (m, d) weights, not all zero; signs (m,) of ±1 (a_k = ±κ₂/√m); X (N, d) data; y (N,) labels
    ±1; kappa2 > 0; kink_tolerance ≥ 0: ξ_ki is free where |⟨b_k, xᵢ⟩| ≤ kink_tolerance ‖b_k‖ ‖xᵢ‖. Returns
    a KKT record. Raises InputError naming the argument. Source: Theorem 4.10–4.11; the solver is derived
    here.
    """
    weights, ς = checked_network(W, signs)
    points = _checked_points(X, weights.shape[1])
    labels = checked_signs(y, len(points), "y")
    if sign(exact(kappa2, "kappa2")) <= 0:
        raise InputError("kappa2", kappa2, "a positive number")
    if not kink_tolerance >= 0:
        raise InputError("kink_tolerance", kink_tolerance, "a number >= 0")
    scale = float(np.linalg.norm(weights))
    if scale == 0:
        raise InputError("W", "all zeros", "at least one non-zero weight")
    direction, outer = weights / scale, ς * as_float(kappa2, "kappa2") / np.sqrt(len(ς))

    inner = direction @ points.T
    threshold = kink_tolerance * np.linalg.norm(direction, axis=1)[:, None] * np.linalg.norm(points, axis=1)
    active, kinked = inner > threshold, np.abs(inner) <= threshold
    basis = _span(points)
    blocks = _Blocks(direction @ basis, outer[:, None] * labels, points @ basis, active, kinked)
    outside = float(np.linalg.norm(direction - (direction @ basis) @ basis.T))

    best = _minimise(blocks)
    margins = labels * (outer @ np.maximum(inner, 0.0))
    gamma = float(margins.min())
    total = float(best.multipliers.sum())
    slack = float(best.multipliers @ (margins - gamma)) / (total * gamma) if gamma > 0 and total > 0 else None
    return KKT(
        residual=float(np.hypot(np.linalg.norm(best.rest), outside)),
        multipliers=best.multipliers,
        subgradients=_subgradients(blocks, best),
        kinked=kinked,
        margins=margins,
        normalised_margin=gamma,
        complementarity=slack,
        feasible=gamma > 0,
        slope=_slope(blocks, best),
    )


@dataclass(frozen=True, eq=False)
class _Point:
    """Multipliers λ (N,), the best μ (m, N) on the kinks for them, and what is left of θ̂ (m, r)."""

    multipliers: Floats
    kink_parts: Floats
    rest: Floats


@dataclass(frozen=True, eq=False)
class _Blocks:
    """The program per neuron, in an orthonormal basis of the data's span (r dimensions).

    ``target`` (m, r) is θ̂; the gradient of margin i in block k is factor[k, i] · points[i].
    """

    target: Floats
    factor: Floats
    points: Floats
    active: Mask
    kinked: Mask

    def at(self, multipliers: Floats) -> _Point:
        """Return the point with the best kink parts for these multipliers."""
        base = self.target - (self.factor * self.active * multipliers) @ self.points
        parts = np.zeros_like(self.factor)
        count = self.kinked.sum(axis=1)
        single = np.flatnonzero(count == 1)
        if len(single):
            kink = self.kinked[single].argmax(axis=1)
            column = self.factor[single, kink][:, None] * self.points[kink]
            best = np.sum(column * base[single], axis=1) / np.sum(column**2, axis=1)
            parts[single, kink] = np.clip(best, 0.0, multipliers[kink])
        for k in np.flatnonzero((count > 1) & np.any(base != 0, axis=1)).tolist():
            parts[k] = self._bounded(k, base[k], multipliers)
        return _Point(multipliers, parts, base - (self.factor * parts) @ self.points)

    def _bounded(self, k: int, base: Floats, multipliers: Floats) -> Floats:
        """Return the best parts (N,) of a neuron on several kinks: least squares with 0 ≤ μ ≤ λ."""
        from scipy.optimize import lsq_linear

        parts = np.zeros(len(multipliers))
        open_kinks = np.flatnonzero(self.kinked[k] & (multipliers > 0))
        if len(open_kinks):
            columns = (self.factor[k, open_kinks][:, None] * self.points[open_kinks]).T
            bounds = (np.zeros(len(open_kinks)), multipliers[open_kinks])
            parts[open_kinks] = lsq_linear(columns, base, bounds, method="bvls", tol=1e-15).x
        return parts

    def descent(self, point: _Point) -> Floats:
        """Return how fast ½ residual² falls as each λᵢ grows (envelope theorem)."""
        along = self.factor * (point.rest @ self.points.T)
        total: Floats = np.sum(
            np.where(self.active, along, np.where(self.kinked, np.maximum(along, 0.0), 0.0)), axis=0
        )
        return total

    def states(self, point: _Point) -> tuple[Mask, Mask]:
        """Return which kink parts are free (0 < μ < λ) and which full (μ = λ, or will be as λ leaves 0)."""
        below = point.kink_parts < point.multipliers
        wanted = self.factor * (point.rest @ self.points.T) > 0
        full = self.kinked & ~below & ((point.multipliers > 0) | wanted)
        return self.kinked & below & (point.kink_parts > 0), full

    def newton(self, free: Mask, full: Mask) -> Floats:
        """Return the λ ≥ 0 minimising the quadratic piece on which these kink parts are free or full."""
        columns = np.where(self.active | full, self.factor, 0.0)[:, :, None] * self.points
        target = self.target.copy()
        for k in np.flatnonzero(free.any(axis=1)):
            basis = _span(self.points[free[k]])
            target[k] -= basis @ (basis.T @ target[k])
            columns[k] -= (columns[k] @ basis) @ basis.T
        stacked = columns.transpose(0, 2, 1).reshape(-1, len(self.points))
        return nonnegative_least_squares(stacked, target.ravel())


def _minimise(blocks: _Blocks) -> _Point:
    """Minimise over λ ≥ 0: Newton on the quadratic piece at hand, until a minimum lies on its own piece."""
    awake = np.any(blocks.target != 0, axis=1)[:, None]
    point = blocks.at(blocks.newton(blocks.kinked & awake, np.zeros_like(blocks.kinked)))
    for _ in range(_MAX_STEPS):
        pieces = blocks.states(point)
        goal = blocks.at(blocks.newton(*pieces))
        if all(np.array_equal(old, new) for old, new in zip(pieces, blocks.states(goal), strict=True)):
            return goal
        better = _towards(blocks, point, goal)
        if better is None:
            return point
        point = better
    return point


def _towards(blocks: _Blocks, point: _Point, goal: _Point) -> _Point | None:
    """Return the first point, halving the way from ``goal`` to ``point``, that gains enough (Armijo).

    None when rounding hides every gain: the point is the minimum.
    """
    reached, step = float(np.sum(point.rest**2)), goal.multipliers - point.multipliers
    promise = 2 * float(blocks.descent(point) @ step)
    for share in 0.5 ** np.arange(_MAX_HALVINGS):
        trial = goal if share == 1 else blocks.at(point.multipliers + share * step)
        gain = reached - float(np.sum(trial.rest**2))
        if gain > 0 and gain >= 0.1 * share * promise:
            return trial
    return None


def _slope(blocks: _Blocks, point: _Point) -> float:
    descent = blocks.descent(point)
    return float(np.max(np.where(point.multipliers > 0, np.abs(descent), np.maximum(descent, 0.0))))


def _subgradients(blocks: _Blocks, point: _Point) -> Floats:
    positive = np.where(point.multipliers > 0, point.multipliers, 1.0)
    ξ: Floats = np.where(blocks.kinked, point.kink_parts / positive, blocks.active.astype(np.float64))
    return ξ


def _span(points: Floats) -> Floats:
    """Return an orthonormal basis (d, r) of the span of the rows."""
    _, sizes, directions = np.linalg.svd(points, full_matrices=False)
    rank = int(np.sum(sizes > sizes[0] * max(points.shape) * np.finfo(float).eps))
    basis: Floats = directions[:rank].T
    return basis


def _checked_points(X: ArrayLike, dim: int) -> Floats:
    points = np.asarray(X, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != dim or len(points) == 0:
        raise InputError("X", f"shape {points.shape}", f"shape (N, {dim}) with N >= 1")
    if not np.all(np.isfinite(points)) or np.any(np.all(points == 0, axis=1)):
        raise InputError("X", "NaN, infinity or a zero row", "finite, non-zero data points")
    return points

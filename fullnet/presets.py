"""Named data sets: the paper's noisy points (§A.3) and orthogonally separable points."""

from __future__ import annotations

import math

import numpy as np

from fullnet.checks import count, positive
from fullnet.data import DataSet, data_set
from fullnet.errors import InputError

PRESETS = ("two-point", "noisy", "orthogonal")

_WIDEST, _NARROWEST = math.pi / 30, math.pi / 60
_COPIES = 3


def noisy(p: float = 4, dim: int = 2, seed: int = 0) -> DataSet:
    """Build the paper's noisy data (§A.3): 3(p+1) unit points, 3p positive and 3 negative, equal weights.

    The first point of either label is at the half-angle π/30 from the axis (0, −1, 0, …), the others at
    half-angles uniform in [π/60, π/30] on their side, so x = (sin θ, −cos θ, 0, …). Arguments: p ≥ 1, an
    integer; dim ≥ 2, the dimension d; seed of the draw. Positive points come first. Raises InputError.
    """
    ratio, dim, seed = _whole(p), count(dim, "dim", 2), count(seed, "seed", 0)
    plus, minus = _COPIES * ratio, _COPIES
    drawn = np.random.default_rng(seed).uniform(_NARROWEST, _WIDEST, plus + minus)
    drawn[[0, plus]] = _WIDEST
    y = np.where(np.arange(plus + minus) < plus, 1.0, -1.0)
    X = np.zeros((len(y), dim))
    X[:, 0], X[:, 1] = np.sin(y * drawn), -np.cos(drawn)
    return data_set(X, y)


def orthogonal(points: int = 6, dim: int = 4, seed: int = 0) -> DataSet:
    """Build orthogonally separable data: ⟨xᵢ, xⱼ⟩ > 0 for equal labels and ≤ 0 for different ones.

    Unit points, the first half (rounded up) positive, equal weights; each is y along the first axis plus a
    random part of length below 1 across it, normalised, so the labels decide the signs. Arguments: points ≥
    2; dim ≥ 2, the dimension d; seed of the draw. Raises InputError.
    """
    points, dim, seed = count(points, "points", 2), count(dim, "dim", 2), count(seed, "seed", 0)
    y = np.where(np.arange(points) < (points + 1) // 2, 1.0, -1.0)
    draw = np.random.default_rng(seed)
    across = draw.standard_normal((points, dim - 1))
    across *= (draw.uniform(0, 1, points) / np.linalg.norm(across, axis=1))[:, None]
    X = np.column_stack([y, across])
    return data_set(X / np.linalg.norm(X, axis=1, keepdims=True), y)


def _whole(p: float) -> int:
    """Return the weight ratio as an integer ≥ 1: the noisy data has 3p positive points."""
    value = positive(p, "p")
    if value != int(value):
        raise InputError("p", p, "an integer of at least 1 for the noisy data")
    return int(value)

"""Data sets: N points in ℝᵈ with labels ±1 and weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fullnet.checks import LARGEST, Floats, count, number, positive, real_array, sign_array
from fullnet.errors import InputError
from fullnet.files import inside, read_arrays
from fullnet.point_table import read_points
from fullnet.shown import shown


@dataclass(frozen=True, eq=False)
class DataSet:
    """N data points; build it with :func:`two_point`, :func:`data_set` or :func:`load_data`, which check it.

    X (N, d) float64, d ≥ 2, no zero row; y (N,) of ±1; weights (N,) positive, summing to 1. All arrays
    read-only.
    """

    X: Floats
    y: Floats
    weights: Floats

    __repr__ = shown

    @property
    def is_two_point(self) -> bool:
        """Whether this is one positive point followed by one negative point at an acute angle."""
        return self.y.tolist() == [1.0, -1.0] and 0 < self.cosine < 1

    @property
    def cosine(self) -> float:
        """The cosine of the angle between the first two points."""
        first, second = self.X[0], self.X[1]
        return float(first @ second / (np.linalg.norm(first) * np.linalg.norm(second)))


def two_point(p: float, delta: float, dim: int) -> DataSet:
    """Build the paper's two-point data: x± = (±sin(Δ/2), −cos(Δ/2), 0, …), weights p/(1+p) and 1/(1+p).

    Arguments: p > 0, the weight ratio n₊/n₋; delta, the angle Δ in (0, π/2), radians; dim ≥ 2, the dimension
    d. p cos Δ ≤ 1 (outside Assumption 3.1) is allowed. Raises InputError.
    """
    ratio, angle, dim = positive(p, "p"), number(delta, "delta"), count(dim, "dim", 2)
    if not 0 < angle < math.pi / 2:
        raise InputError("delta", delta, "an angle strictly between 0 and pi/2")
    X = np.zeros((2, dim))
    X[:, 0] = math.sin(angle / 2), -math.sin(angle / 2)
    X[:, 1] = -math.cos(angle / 2)
    return data_set(X, [1.0, -1.0], [ratio / (1 + ratio), 1 / (1 + ratio)])


def data_set(X: Any, y: Any, weights: Any = None) -> DataSet:
    """Build a checked data set from arrays.

    Arguments: X (N, d) real, d ≥ 2, no row zero; y (N,) of ±1; weights (N,) positive, normalised here to sum
    1, default equal. Returns a DataSet. Raises InputError.
    """
    points = real_array(X, "X", 2)
    if points.shape[1] < 2:
        raise InputError("X", f"shape {points.shape}", "at least 2 columns (dimension d ≥ 2)")
    labels = sign_array(y, "y", len(points))
    least = float(np.abs(points).max(axis=1).min())
    if least < 1 / LARGEST:
        raise InputError("X", f"a row of size {least:g}", "rows of size at least 1e-100")
    if weights is None:
        share = np.full(len(points), 1 / len(points))
    else:
        share = real_array(weights, "weights", 1).copy()
        if len(share) != len(points):
            raise InputError(
                "weights", f"{len(share)} entries", f"{len(points)} entries, one for each row of X"
            )
        if np.any(share <= 0):
            raise InputError("weights", f"entry {share.min():g}", "positive entries")
        total = math.fsum(share)
        if abs(total - 1) > 4e-16:
            share /= total
    share.setflags(write=False)
    return DataSet(points, labels, share)


def load_data(path: str | Path, argument: str = "path") -> DataSet:
    """Read a data set from .npz or CSV.

    .npz: arrays ``X`` (N, d), ``y`` (N,) of ±1, optional ``weights`` (N,); others in it are not read. Any other
    suffix is read as a table, one point a line: d coordinates, then the label ±1 as last column, weights equal;
    or under a header that names a column ``label`` or ``y`` and, if wanted, one ``weight``. Cells are separated
    by commas, semicolons or tabs; lines starting with ``#`` are ignored.

    Arguments: path; argument, the name by which errors call the file. Returns a DataSet. Raises InputError.
    """
    with inside(path, argument):
        if Path(path).suffix.lower() == ".npz":
            return data_set(**read_arrays(path, ("X", "y"), ("weights",)))
        return data_set(*read_points(path))

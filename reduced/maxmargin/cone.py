"""Projection on a finitely generated cone, and the two questions it answers: shortest point, best slope."""

from __future__ import annotations

import numpy as np

from reduced.errors import InputError
from reduced.maxmargin.network import Floats, Mask

_FLAT = 1e-13
"""A column whose gain is below this (relative) is in the span already."""


def nonnegative_least_squares(columns: Floats, target: Floats) -> Floats:
    """Solve min ‖columns u − target‖ over u ≥ 0 by Lawson & Hanson's active-set method.

    Written out here because the columns may be dependent (repeated data points), which SciPy's ``nnls`` does
    not survive: a column enters only while it makes an acute angle with the residual, so those in use stay
    independent, and each solve is by orthogonal factors. Returns u; when not unique, one with few columns.
    """
    u, used = np.zeros(columns.shape[1]), np.zeros(columns.shape[1], dtype=bool)
    flat = _FLAT * float(np.linalg.norm(columns, axis=0).max()) * float(np.linalg.norm(target))
    for _ in range(10 * len(u) + 10):
        gains = np.where(used, -np.inf, columns.T @ (target - columns @ u))
        entering = int(np.argmax(gains))
        if gains[entering] <= flat:
            break
        used[entering] = True
        u, used = _feasible(columns, target, u, used)
    return u


def _feasible(columns: Floats, target: Floats, u: Floats, used: Mask) -> tuple[Floats, Mask]:
    """Move from u to the least-squares solution on the used columns, dropping those that reach 0."""
    while used.any():
        goal = np.zeros_like(u)
        goal[used] = np.linalg.lstsq(columns[:, used], target, rcond=None)[0]
        falling = used & (goal <= 0)
        if not falling.any():
            return goal, used
        shares = u[falling] / (u[falling] - goal[falling])
        u = u + shares.min() * (goal - u)
        used = used.copy()
        used[np.flatnonzero(falling)[shares == shares.min()]] = False
        u[~used] = 0.0
    return u, used


def least_distance(rows: Floats) -> Floats:
    """Return the shortest z with rows @ z ≥ 1 (Lawson & Hanson's LDP); InputError when there is none."""
    residual = farkas_residual(rows)
    if residual[-1] <= 1e-20:
        raise InputError("rows", f"{len(rows)} constraints", "constraints that some z meets")
    point: Floats = -residual[:-1] / residual[-1]
    return point


def farkas_residual(rows: Floats) -> Floats:
    """Return the residual of min ‖[rowsᵀ; 1ᵀ] u − e‖ over u ≥ 0, e the last unit vector.

    It vanishes exactly when no z has rows @ z > 0 (Farkas); otherwise its norm ν gives the best slope
    max min(rows @ z) over unit z as ν/√(1 − ν²).
    """
    columns = np.vstack([rows.T, np.ones(len(rows))])
    target = np.zeros(len(columns))
    target[-1] = 1.0
    residual: Floats = target - columns @ nonnegative_least_squares(columns, target)
    return residual

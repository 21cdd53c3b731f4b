"""Neurons and data in the plane of the two data points, the only one in which anything moves."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import fullnet

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Plane:
    """Neurons projected on span{x₊, x₋} at one time: angle (m,), radians, and radius (m,) there.

    Angles are counted from the bisector of the data turned by a quarter towards x₊, so that x± lie at −π/2 ±
    Δ/2, as in the paper's coordinates x± = (±sin Δ/2, −cos Δ/2). positive, negative, dead: masks (m,); a neuron
    is dead when it is inactive on both points at that time.
    """

    angle: Floats
    radius: Floats
    positive: NDArray[np.bool_]
    negative: NDArray[np.bool_]
    dead: NDArray[np.bool_]


def plane_axes(data: fullnet.DataSet) -> Floats:
    """Return orthonormal axes (2, d) of the plane: from x₋ to x₊, and against the bisector."""
    units = data.X / np.linalg.norm(data.X, axis=1, keepdims=True)
    across, along = units[0] - units[1], -(units[0] + units[1])
    axes: Floats = np.array([across / np.linalg.norm(across), along / np.linalg.norm(along)])
    return axes


def plane_of(path: fullnet.Trajectory, t: float) -> Plane:
    """Return the neurons of a flow on two-point data in the plane of the data at a time."""
    x, y = plane_axes(path.data) @ path.neurons(t).T
    dead = np.array([set(pattern) == {"-"} for pattern in path.patterns(t)])
    sign = path.network.sign
    return Plane(np.arctan2(y, x), np.hypot(x, y), ~dead & (sign > 0), ~dead & (sign < 0), dead)


def half_angle(data: fullnet.DataSet) -> float:
    """Return Δ/2, radians."""
    return math.acos(min(1.0, data.cosine)) / 2

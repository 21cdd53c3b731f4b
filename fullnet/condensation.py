"""Condensation: the living neurons' directions gather in clusters, found from their gaps alone (derived here).

Only the part of a neuron in the span of the data counts, since the rest never moves. Neurons of one sign and
pattern move by one common displacement, which is what condenses them; kinks therefore bound clusters. Within
a pattern, directions in a plane are sorted by angle and separated at gaps; in more dimensions the gaps are
the edges of the shortest tree that joins all directions (single linkage). Where to cut is not typed in: at
the largest ratio of a gap to the next smaller one, gaps below the mean spacing of as many evenly spread
directions being no gaps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fullnet.checks import Floats
from fullnet.shown import shown
from fullnet.trajectory import Trajectory

_RANK = 1e-10


@dataclass(frozen=True, eq=False)
class Cluster:
    """Neurons of nearly one direction: members, their indices; direction (d,), unit, the mean; spread.

    spread: the largest angle between a member and the mean, radians.
    """

    members: NDArray[np.intp]
    direction: Floats
    spread: float

    __repr__ = shown


def direction_clusters(flow: Trajectory, t: float) -> tuple[Cluster, ...]:
    """Return the clusters of directions of the neurons living at a time, largest first.

    Arguments: flow; t, a flow time. A neuron is left out where it has no part in the span of the data. Raises
    InputError for a time outside the flow.
    """
    axes = span(flow.data.X)
    inside = flow.neurons(t) @ axes.T
    size = np.linalg.norm(inside, axis=1)
    units = inside / np.where(size > 0, size, 1.0)[:, None]
    classes = np.where(size > 0, flow.history.classes(t), -1)
    found = []
    for number in np.unique(classes[classes >= 0]).tolist():
        if not flow.history.motions[number].dead:
            mine = np.flatnonzero(classes == number)
            found += [mine[group] for group in gathered(units[mine])]
    found.sort(key=lambda members: (-len(members), members[0]))
    return tuple(_cluster(members, units[members], axes) for members in found)


def span(X: Floats) -> Floats:
    """Return orthonormal axes (r, d) of the span of the rows of X."""
    parts = np.linalg.svd(X / np.linalg.norm(X, axis=1, keepdims=True), full_matrices=False)
    axes: Floats = parts.Vh[np.greater(parts.S, _RANK * parts.S[0])]
    return axes


def gathered(units: Floats) -> list[NDArray[np.intp]]:
    """Return the clusters of unit vectors (n, r), each as sorted indices."""
    if len(units) < 2:
        return [np.arange(len(units))] if len(units) else []
    if units.shape[1] == 1:
        return [
            side for side in (np.flatnonzero(units[:, 0] > 0), np.flatnonzero(units[:, 0] < 0)) if len(side)
        ]
    if units.shape[1] == 2:
        return _around(units)
    return _along_tree(units)


def separating(gaps: Floats, spacing: float) -> int:
    """Return how many of the gaps, in falling order, separate clusters: those before the largest ratio."""
    clamped = np.maximum(np.append(gaps, 0.0), spacing)
    return int(np.argmax(clamped[:-1] / clamped[1:])) + 1


def _around(units: Floats) -> list[NDArray[np.intp]]:
    angle = np.arctan2(units[:, 1], units[:, 0])
    order = np.argsort(angle, kind="stable")
    gap = np.diff(angle[order], append=angle[order[0]] + 2 * math.pi)
    falling = np.argsort(-gap, kind="stable")
    cuts = np.sort(falling[: separating(gap[falling], 2 * math.pi / len(units))]) + 1
    turned = np.roll(order, -cuts[0])
    edges = [*(cuts - cuts[0]).tolist(), len(order)]
    return [np.sort(turned[first:last]) for first, last in pairwise(edges)]


def _along_tree(units: Floats) -> list[NDArray[np.intp]]:
    """Cut the shortest joining tree (Prim); one cluster is as far from itself as directions can be."""
    count, r = units.shape
    parent, length = np.zeros(count, dtype=int), np.full(count, np.inf)
    outside = np.ones(count, dtype=bool)
    edges: list[tuple[float, int, int]] = []
    latest = 0
    for _ in range(count - 1):
        outside[latest] = False
        angle = _angles(units, units[latest])
        nearer = angle < length
        length[nearer], parent[nearer] = angle[nearer], latest
        latest = int(np.argmin(np.where(outside, length, np.inf)))
        edges.append((float(length[latest]), int(parent[latest]), latest))
    edges.sort(reverse=True)
    gaps = np.array([math.pi, *(edge[0] for edge in edges)])
    cut = separating(gaps, math.pi / count ** (1 / (r - 1))) - 1
    label = np.arange(count)
    for _, a, b in edges[cut:]:
        label[label == label[b]] = label[a]
    return [np.flatnonzero(label == one) for one in np.unique(label)]


def _angles(units: Floats, other: Floats) -> Floats:
    """Return the angles (n,) to one unit vector, exact for small ones."""
    apart, along = np.linalg.norm(units - other, axis=1), np.linalg.norm(units + other, axis=1)
    result: Floats = 2 * np.arctan2(apart, along)
    return result


def _cluster(members: NDArray[np.intp], units: Floats, axes: Floats) -> Cluster:
    mean = units.mean(axis=0)
    size = float(np.linalg.norm(mean))
    mean = mean / size if size > 0 else units[0]
    return Cluster(members, mean @ axes, float(_angles(units, mean).max()))

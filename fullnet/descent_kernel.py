"""The descent loops compiled by numba, imported only for runs long enough to pay for it.

The same algorithm as ``run_arrays`` in :mod:`fullnet.descent_plain`, which documents arguments and codes. A neuron
that is inactive everywhere never moves again, so only the others are visited.
"""

from __future__ import annotations

from math import exp, isfinite
from typing import Any

import numpy as np

from fullnet.compilation import inner, kernel


@inner
def movable(z: Any, subgradient: float) -> Any:
    """Return the indices of the neurons that are not inactive everywhere."""
    m, points = z.shape
    alive = np.empty(m, np.int64)
    count = 0
    for k in range(m):
        for j in range(points):
            if z[k, j] > 0 or (z[k, j] == 0 and subgradient > 0):
                alive[count] = k
                count += 1
                break
    return alive[:count]


@inner
def look(fresh: Any, f: Any, force: Any, right: Any, y: Any, weights: Any, logistic: bool) -> int:
    """Set the forces for predictions fresh; return 0, or 1 when the right points change, or 3 on overflow."""
    points = len(y)
    changed = False
    for j in range(points):
        margin = y[j] * fresh[j]
        force[j] = weights[j] / (1 + exp(margin)) if logistic else weights[j] * exp(-margin)
        if not (isfinite(fresh[j]) and isfinite(force[j])):
            return 3
        if (margin > 0) != right[j]:
            changed = True
    for j in range(points):
        f[j + points if changed else j] = fresh[j]
    return 1 if changed else 0


@kernel()
def run_points(
    z: Any,
    amounts: Any,
    f: Any,
    right: Any,
    flags: Any,
    second_layer: Any,
    gram: Any,
    y: Any,
    weights: Any,
    lr: float,
    logistic: bool,
    subgradient: float,
    ratio: float,
    steps: int,
) -> tuple[int, int, int]:
    """Make up to ``steps`` steps on any data; return (steps made, why it stopped, activation flips)."""
    points = z.shape[1]
    alive = movable(z, subgradient)
    force, fresh, change = np.zeros(points), np.zeros(points), np.zeros(points)
    moves = np.zeros((points, points))
    for k in alive:
        for j in range(points):
            fresh[j] += second_layer[k] * max(z[k, j], 0.0)
    flips = 0
    for n in range(steps):
        why = look(fresh, f, force, right, y, weights, logistic)
        if why != 0:
            return n, why, flips
        for i in range(points):
            force[i] *= lr * y[i]
            fresh[i] = 0.0
            for j in range(points):
                moves[i, j] = force[i] * gram[i, j]
        gone = False
        for k in alive:
            change[:] = 0.0
            for i in range(points):
                slope = 1.0 if z[k, i] > 0 else (subgradient if z[k, i] == 0 else 0.0)
                if slope > 0:
                    amounts[k, i] += second_layer[k] * slope * force[i]
                    for j in range(points):
                        change[j] += slope * moves[i, j]
            moving = False
            for j in range(points):
                moved = z[k, j] + second_layer[k] * change[j]
                if (moved > 0) != (z[k, j] > 0):
                    flips += 1
                z[k, j] = moved
                fresh[j] += second_layer[k] * max(moved, 0.0)
                moving = moving or moved > 0 or (moved == 0 and subgradient > 0)
            gone = gone or not moving
        if gone:
            alive = movable(z, subgradient)
    return steps, 0, flips


@kernel()
def run_pair(
    z: Any,
    amounts: Any,
    f: Any,
    right: Any,
    flags: Any,
    second_layer: Any,
    gram: Any,
    y: Any,
    weights: Any,
    lr: float,
    logistic: bool,
    subgradient: float,
    ratio: float,
    steps: int,
) -> tuple[int, int, int]:
    """Do the same for two-point data, written out for speed, and watch for the first loss of x₋."""
    force, fresh = np.zeros(2), np.zeros(2)
    alive = movable(z, subgradient)
    a, u, v = second_layer[alive], z[alive, 0], z[alive, 1]
    p, q = amounts[alive, 0], amounts[alive, 1]
    for k in range(len(alive)):
        fresh[0] += a[k] * max(u[k], 0.0)
        fresh[1] += a[k] * max(v[k], 0.0)
    own, cross, other = gram[0, 0], gram[0, 1], gram[1, 1]
    flips = made = why = 0
    while made < steps and why == 0:
        why = look(fresh, f, force, right, y, weights, logistic)
        if why != 0:
            break
        if force[1] >= ratio * force[0]:
            flags[0] = True
        watching = flags[0] and not flags[1]
        pull, push = lr * y[0] * force[0], lr * y[1] * force[1]
        f_plus = f_minus = 0.0
        moving = 0
        for k in range(len(alive)):
            was_plus, was_minus = u[k] > 0, v[k] > 0
            dp = a[k] * pull * (1.0 if was_plus else (subgradient if u[k] == 0 else 0.0))
            dq = a[k] * push * (1.0 if was_minus else (subgradient if v[k] == 0 else 0.0))
            p[k] += dp
            q[k] += dq
            u[k] += dp * own + dq * cross
            v[k] += dp * cross + dq * other
            is_plus, is_minus = u[k] > 0, v[k] > 0
            flips += (is_plus != was_plus) + (is_minus != was_minus)
            moving += is_plus or is_minus or (subgradient > 0 and (u[k] == 0 or v[k] == 0))
            f_plus += a[k] * max(u[k], 0.0)
            f_minus += a[k] * max(v[k], 0.0)
            if watching and was_plus and was_minus and not is_minus and a[k] > 0:
                why = 2
        fresh[0], fresh[1] = f_plus, f_minus
        made += 1
        if moving < len(alive):
            write_back(z, amounts, alive, u, v, p, q)
            alive = movable(z, subgradient)
            a, u, v = second_layer[alive], z[alive, 0], z[alive, 1]
            p, q = amounts[alive, 0], amounts[alive, 1]
    if why == 2:
        flags[1] = True
    write_back(z, amounts, alive, u, v, p, q)
    return made, why, flips


@inner
def write_back(z: Any, amounts: Any, alive: Any, u: Any, v: Any, p: Any, q: Any) -> None:
    """Put the rows of the moving neurons back in their places."""
    for place in range(len(alive)):
        k = alive[place]
        z[k, 0], z[k, 1], amounts[k, 0], amounts[k, 1] = u[place], v[place], p[place], q[place]

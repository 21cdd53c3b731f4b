"""Taylor series of the forces and first roots, compiled by numba; the same as fullnet.series."""

from __future__ import annotations

from math import exp, inf, lgamma, log, log1p, sqrt
from typing import Any

import numpy as np

from fullnet.compilation import inner

EPS = float(np.finfo(np.float64).eps)


@inner
def scale_forces(problem: Any, f: Any, heard: Any, u: Any, idle: Any, q: Any) -> tuple[int, float]:
    """Set u, idle and q as fullnet.forces.scaled; return the leading point and its log force.

    heard (N,): how many neurons each force moves; at least one moves some.
    """
    lead = -1
    for j in range(len(f)):
        margin = problem.y[j] * f[j]
        if problem.logistic:
            soft = log1p(exp(-abs(margin)))
            u[j] = problem.log_weights[j] - (max(margin, 0.0) + soft)
            q[j] = exp(-(max(-margin, 0.0) + soft))
        else:
            u[j] = problem.log_weights[j] - margin
        if heard[j] > 0 and (lead < 0 or u[j] > u[lead]):
            lead = j
    top = u[lead]
    for j in range(len(f)):
        share = exp(min(u[j] - top, 700.0))
        u[j], idle[j] = (share, 0.0) if heard[j] > 0 else (0.0, share)
    return lead, top


@inner
def prepare(problem: Any, state: Any, room: Any) -> tuple[int, float, float]:
    """Set the forces and coefficients a step begins with; return (lead, its log force, pace)."""
    lead, top = scale_forces(problem, state.f, state.live, room.p[0], room.idle, room.q[0])
    points = len(state.f)
    pace = 0.0
    for i in range(points):
        for j in range(points):
            # what is left of the coefficients of a point that no neuron is active on is rounding
            active = state.live[i] > 0 and state.live[j] > 0
            room.rates[i, j] = problem.share * state.total[i, j] if active else 0.0
            pace = max(pace, abs(room.rates[i, j]))
    if pace == 0:
        pace = 1.0
    for i in range(points):
        room.g[0, i] = 1 - room.q[0, i]
        for j in range(points):
            room.growth[i, j] = -problem.y[i] * room.rates[i, j] / pace
    room.w[0] = 1.0
    return lead, top, pace


@inner
def extend(room: Any, k: int, lead: int, logistic: bool) -> float:
    """Add coefficient k + 1 to the series of shares p, clock rate w, factors q and g = 1 − q.

    Return its size relative to the shares.
    """
    p, rate, q, g, w = room.p, room.rate, room.q, room.g, room.w
    points = p.shape[1]
    for i in range(points):
        value = 0.0
        for j in range(points):
            value += room.growth[i, j] * p[k, j]
        room.rho[k, i] = value
    for i in range(points):
        if logistic:
            value = 0.0
            for n in range(k + 1):
                value += q[n, i] * room.rho[k - n, i]
            rate[k, i] = value
        else:
            rate[k, i] = room.rho[k, i]
    w[k + 1] = 0.0
    for n in range(k + 1):
        w[k + 1] -= w[n] * rate[k - n, lead] / (k + 1)
    for i in range(points):
        value = change = 0.0
        for n in range(k + 1):
            value += p[n, i] * (rate[k - n, i] - rate[k - n, lead])
            if logistic:
                change += g[n, i] * rate[k - n, i]
        p[k + 1, i] = value / (k + 1)
        if logistic:
            g[k + 1, i] = change / (k + 1)
            q[k + 1, i] = -g[k + 1, i]
    return relative_size(room, k + 1)


@inner
def relative_size(room: Any, k: int) -> float:
    """Return the largest coefficient k of the shares and the clock, relative to each one's first."""
    size: float = abs(room.w[k])
    for i in range(room.p.shape[1]):
        size = max(size, abs(room.p[k, i]) / max(room.p[0, i], 1e-308))
    return size


@inner
def expand(problem: Any, room: Any, lead: int, most: float) -> tuple[float, int]:
    """Expand the forces for a step of at most ``most``; return the step and the order that it needs.

    The coefficients are then those in x = time/step.
    """
    # not the constant 0, for which numba would compile ``extend`` a second time
    step, order, small, power = most, 0 * problem.order, 0, 1.0
    while order < problem.order and small < 2:
        power *= step
        size = extend(room, order, lead, problem.logistic)
        small = small + 1 if size * power <= problem.tolerance else 0
        order += 1
    if small < 2:
        for n in (order - 1, order):
            size = relative_size(room, n)
            if size > 0:
                step = min(step, (problem.tolerance / size) ** (1.0 / n))
    if step > 1:
        step = min(step, steady_length(room, lead, problem.order, problem.logistic))
    power = 1.0
    for n in range(1, order + 1):
        power *= step
        room.w[n] *= power
        for j in range(room.p.shape[1]):
            room.p[n, j] *= power
    return step, order


@inner
def steady_length(room: Any, lead: int, order: int, logistic: bool) -> float:
    """Return the step over which roundings of the shares stay roundings; see fullnet.series."""
    p, q, growth, work = room.p, room.q, room.growth, room.powers
    points = growth.shape[0]
    scale = 0.0
    for i in range(points):
        for j in range(points):
            own = q[0, i] * growth[i, j] if logistic else growth[i, j]
            leading = q[0, lead] * growth[lead, j] if logistic else growth[lead, j]
            work[0, i, j] = abs(p[0, i]) * (own - leading)
            scale = max(scale, abs(work[0, i, j]))
    if scale == 0:
        return inf
    for i in range(points):
        for j in range(points):
            work[0, i, j] /= scale
            work[1, i, j] = 1.0 if i == j else 0.0
    left = order
    while left > 0:
        if left % 2 == 1:
            multiply(work[1], work[0], work[2])
        left //= 2
        if left > 0:
            multiply(work[0], work[0], work[2])
    size = 0.0
    for i in range(points):
        row = 0.0
        for j in range(points):
            row += abs(work[1, i, j]) * p[0, j]
        size = max(size, row / max(p[0, i], 1e-308))
    if size == 0:
        return inf
    return exp(min((lgamma(order + 1.0) - log(size)) / order - log(scale), 700.0))


@inner
def multiply(a: Any, b: Any, result: Any) -> None:
    """Set a to the matrix product a b, with ``result`` as room."""
    n = len(a)
    for i in range(n):
        for j in range(n):
            value = 0.0
            for k in range(n):
                value += a[i, k] * b[k, j]
            result[i, j] = value
    for i in range(n):
        for j in range(n):
            a[i, j] = result[i, j]


@inner
def impulse_until(room: Any, order: int, unit: float, x: float) -> float:
    """Set ``gained``, the impulses from 0 to x; return their sum."""
    travel = 0.0
    for j in range(room.p.shape[1]):
        value = 0.0
        for n in range(order, -1, -1):
            value = value * x + room.p[n, j] / (n + 1)
        room.gained[j] = value * x * unit
        travel += room.gained[j]
    return travel


@inner
def first_root(c: Any, degree: int, last: float) -> float:
    """Return the first x in [0, last] at which a polynomial ≥ 0 at 0 goes below 0, or −1.

    From the left, by the root of value + slope δ − bend δ²/2 with bend ≥ |second derivative|: it never steps
    over a root and converges quadratically.
    """
    bend, power = 0.0, 1.0
    for k in range(2, degree + 1):
        bend += k * (k - 1) * abs(c[k]) * power
        power *= last
    x = 0.0
    for _ in range(10_000):
        value = slope = size = 0.0
        for k in range(degree, -1, -1):
            slope = slope * x + value
            value = value * x + c[k]
            size = size * x + abs(c[k])
        if slope < 0 and value <= 2 * EPS * size:
            return x
        value = max(value, 0.0)
        root = sqrt(slope * slope + 2 * bend * value)
        if slope < 0:
            ahead = 2 * value / (root - slope)
        elif bend > 0:
            ahead = (slope + root) / bend
        else:
            return -1.0
        if ahead <= 0 or x + ahead > last:
            return -1.0
        if ahead <= 2e-16 * x and slope < 0:
            return x
        x += ahead
    return x

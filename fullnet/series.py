"""Taylor series of the forces, and the roots of the polynomials they give.

With all neurons of a state sharing one velocity, the forces obey u′ⱼ = uⱼ qⱼ (M u)ⱼ, where q ≡ 1 for exponential loss
and q = 1 − (−ℓ′) for logistic loss. Polynomials are kept on the unit interval, lowest coefficient first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from operator import mul

import numpy as np

from fullnet.checks import Floats

_FEW = 6


def force_series(u: Floats, q: Floats, slope: Floats, M: Floats, order: int) -> Floats:
    """Return the Taylor coefficients (N, order + 1) of the forces in the scaled time.

    Arguments: u (N,) forces; q (N,) their factors, with q′ = −slope u′ (slope 0 for exponential loss); M (N, N).
    """
    if len(u) <= _FEW:
        return np.array(_small_series(u.tolist(), q.tolist(), slope.tolist(), M.tolist(), order))
    c, rho, factor, h = (np.zeros((order + 1, len(u))) for _ in range(4))
    c[0], factor[0] = u, q
    plain = not np.any(slope)
    for k in range(order):
        rho[k] = M @ c[k]
        h[k] = c[k] if plain else np.einsum("ij,ij->j", c[: k + 1], factor[k::-1])
        c[k + 1] = np.einsum("ij,ij->j", h[: k + 1], rho[k::-1]) / (k + 1)
        factor[k + 1] = -slope * c[k + 1]
    return c.T


def _small_series(
    u: list[float], q: list[float], slope: list[float], M: list[list[float]], order: int
) -> list[list[float]]:
    """Do the same for few points in plain Python, faster than array calls on tiny arrays."""
    points = range(len(u))
    c = [[value] for value in u]
    backward: list[list[float]] = [[] for _ in points]
    plain = not any(slope)
    h = c if plain else [[] for _ in points]
    factor = [[value] for value in q]
    for k in range(order):
        latest = [row[k] for row in c]
        for j in points:
            backward[j].insert(0, sum(map(mul, M[j], latest)))
            if not plain:
                h[j].append(sum(map(mul, c[j], reversed(factor[j]))))
        for j in points:
            c[j].append(sum(map(mul, h[j], backward[j])) / (k + 1))
            if not plain:
                factor[j].append(-slope[j] * c[j][k + 1])
    return c


def step_length(series: Floats, tolerance: float) -> float:
    """Return the step at which the last terms of a series reach the tolerance (infinite for constants)."""
    order = series.shape[1] - 1
    step = math.inf
    for k in (order - 1, order):
        size = float(np.max(np.abs(series[:, k])))
        if size > 0:
            step = min(step, (tolerance / size) ** (1 / k))
    return step


def stretched(series: Floats, step: float) -> Floats:
    """Return the coefficients in x = time/step."""
    result: Floats = series * step ** np.arange(series.shape[1])
    return result


def integrated(series: Floats) -> Floats:
    """Return the coefficients of the antiderivative that is 0 at 0."""
    length = series.shape[1]
    result = np.zeros((series.shape[0], length + 1))
    result[:, 1:] = series / np.arange(1, length + 1)
    return result


def value_at(coefficients: Floats, x: float) -> Floats:
    """Return the values at x of polynomials (..., K + 1)."""
    result: Floats = coefficients @ x ** np.arange(coefficients.shape[-1])
    return result


@cache
def bernstein_matrix(degree: int) -> Floats:
    """Return the matrix B with coefficients @ B the Bernstein coefficients on [0, 1] (all weights in [0, 1])."""
    matrix = np.zeros((degree + 1, degree + 1))
    for k in range(degree + 1):
        for i in range(k, degree + 1):
            matrix[k, i] = math.comb(i, k) / math.comb(degree, k)
    return matrix


def bernstein(coefficients: Floats) -> Floats:
    """Return the Bernstein coefficients of polynomials (..., K + 1): they enclose the values on [0, 1]."""
    result: Floats = coefficients @ bernstein_matrix(coefficients.shape[-1] - 1)
    return result


def roots(coefficients: Floats) -> Iterator[float]:
    """Yield in order the points of (0, 1] at which a polynomial changes sign; two in one step are not missed.

    Isolated by the sign changes of the Bernstein coefficients and subdivision, then polished by guarded Newton steps.
    A polynomial that is 0 at 0 and goes negative yields 0 first: it is on its way already.
    """
    poly = coefficients.tolist()
    pending = [(0.0, 1.0, bernstein(coefficients))]
    while pending:
        left, right, shape = pending.pop()
        signs = np.sign(shape[shape != 0])
        changes = int(np.count_nonzero(signs[1:] != signs[:-1]))
        if left == 0 and shape[0] == 0 and len(signs) and signs[0] < 0:
            yield 0.0
            changes += 0
        if changes == 0:
            continue
        middle = (left + right) / 2
        if changes == 1 and shape[0] * shape[-1] < 0:
            yield _polished(poly, left, right)
        elif right - left > 1e-12:
            first, second = _halves(shape)
            pending += [(middle, right, second), (left, middle, first)]
        elif changes % 2:
            yield middle


def first_root(coefficients: Floats) -> float | None:
    """Return the first root of :func:`roots`, or None."""
    return next(roots(coefficients), None)


def _halves(shape: Floats) -> tuple[Floats, Floats]:
    """Split Bernstein coefficients at the middle (de Casteljau)."""
    row, first, second = shape, [shape[0]], [shape[-1]]
    while len(row) > 1:
        row = (row[1:] + row[:-1]) / 2
        first.append(row[0])
        second.append(row[-1])
    return np.array(first), np.array(second[::-1])


def _polished(poly: list[float], left: float, right: float) -> float:
    """Return the one root in [left, right], by Newton steps kept inside the shrinking bracket."""
    rising = _horner(poly, right)[0] > 0
    x = (left + right) / 2
    for _ in range(200):
        value, slope = _horner(poly, x)
        if value == 0:
            return x
        if (value > 0) == rising:
            right = x
        else:
            left = x
        following = x - value / slope if slope else (left + right) / 2
        if not left <= following <= right:
            following = (left + right) / 2
        if abs(following - x) <= 2e-16 * x or following in (left, right):
            return following
        x = following
    return x


def _horner(poly: list[float], x: float) -> tuple[float, float]:
    value = slope = 0.0
    for coefficient in reversed(poly):
        slope = slope * x + value
        value = value * x + coefficient
    return value, slope

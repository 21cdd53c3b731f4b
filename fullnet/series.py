"""Taylor series of the forces, and the roots of the polynomials they give.

The independent variable is the impulse of the leading (greatest) force, τ = pace·∫ U_lead dt: it grows like
log t, and the shares pᵢ = Uᵢ/U_lead are entire-like functions of it. With Uᵢ′ = Uᵢ (rates of the force) and M
the matrix from forces to those rates, d pᵢ/dτ = pᵢ (rateᵢ − rate_lead), rate = g′/g = q ∘ M p, where q ≡ 1
for exponential loss and q = 1 − g, g = −ℓ′, for logistic loss; the clock runs at dt/dτ ∝ w, w′ = −w
rate_lead. Polynomials are kept with the lowest coefficient first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from operator import mul
from typing import Any

import numpy as np

from fullnet.checks import Floats

_FEW = 6
_NARROW = 1e-12
# One more place to split at than a polynomial has roots.
_SPLITS = tuple(0.5 - k / 128 for k in range(40))


def force_series(shares: Floats, q: Floats | None, M: Floats, lead: int, order: int) -> Floats:
    """Return Taylor coefficients (N + 1, order + 1) of the shares (N,) and, last, the clock rate w, w(0) = 1.

    Arguments: the shares at the start, shares[lead] = 1; q (N,), the factors of the rates, None for
    exponential loss; M (N, N), scaled like τ.
    """
    if len(shares) <= _FEW:
        factors = None if q is None else q.tolist()
        return np.array(_small_series(shares.tolist(), factors, M.tolist(), lead, order))
    points = len(shares)
    p, rho, rate, factor = (np.zeros((order + 1, points)) for _ in range(4))
    w = np.zeros(order + 1)
    p[0], w[0] = shares, 1.0
    if q is not None:
        factor[0], force = q, np.zeros((order + 1, points))
        force[0] = 1 - q
    for k in range(order):
        rho[k] = M @ p[k]
        rate[k] = rho[k] if q is None else np.einsum("ij,ij->j", factor[: k + 1], rho[k::-1])
        p[k + 1] = np.einsum("ij,ij->j", p[: k + 1], rate[k::-1] - rate[k::-1, lead, None]) / (k + 1)
        w[k + 1] = -(w[: k + 1] @ rate[k::-1, lead]) / (k + 1)
        if q is not None:
            force[k + 1] = np.einsum("ij,ij->j", force[: k + 1], rate[k::-1]) / (k + 1)
            factor[k + 1] = -force[k + 1]
    return np.vstack([p.T, w])


def _small_series(
    shares: list[float], q: list[float] | None, M: list[list[float]], lead: int, order: int
) -> list[list[float]]:
    """Do the same for few points in plain Python, faster than array calls on tiny arrays.

    The lists ``rho``, ``rate`` and ``excess`` run backward, newest first, so that products of series are
    plain sums.
    """
    points = range(len(shares))
    others = [j for j in points if j != lead]
    p = [[value] for value in shares]
    w = [1.0]
    rho: list[list[float]] = [[] for _ in points]
    rate = rho if q is None else [[] for _ in points]
    excess: list[list[float]] = [[] for _ in points]
    factor = [] if q is None else [[value] for value in q]
    force = [[1 - row[0]] for row in factor]
    for k in range(order):
        latest = [row[k] for row in p]
        for j in points:
            rho[j].insert(0, sum(map(mul, M[j], latest)))
            if q is not None:
                rate[j].insert(0, sum(map(mul, factor[j], rho[j])))
                force[j].append(sum(map(mul, force[j], rate[j])) / (k + 1))
                factor[j].append(-force[j][k + 1])
        for j in others:
            excess[j].insert(0, rate[j][0] - rate[lead][0])
            p[j].append(sum(map(mul, p[j], excess[j])) / (k + 1))
        p[lead].append(0.0)
        w.append(-sum(map(mul, w, rate[lead])) / (k + 1))
    return [*p, w]


def force_series_of_many(shares: Floats, q: Floats | None, M: Floats, lead: Any, order: int) -> Floats:
    """Do the same for T flows at once: shares, q (T, N), M (T, N, N), lead (T,), result (T, N+1, K+1)."""
    flows, points = shares.shape
    p, rho, rate, factor, force = (np.zeros((order + 1, flows, points)) for _ in range(5))
    leading = np.zeros((order + 1, flows))
    w = np.zeros((order + 1, flows))
    p[0], w[0] = shares, 1.0
    each = np.arange(flows)
    if q is not None:
        factor[0], force[0] = q, 1 - q
    for k in range(order):
        rho[k] = np.matmul(M, p[k][:, :, None])[:, :, 0]
        rate[k] = rho[k] if q is None else np.einsum("itj,itj->tj", factor[: k + 1], rho[k::-1])
        leading[k] = rate[k][each, lead]
        excess = rate[k::-1] - leading[k::-1, :, None]
        p[k + 1] = np.einsum("itj,itj->tj", p[: k + 1], excess) / (k + 1)
        w[k + 1] = -np.einsum("it,it->t", w[: k + 1], leading[k::-1]) / (k + 1)
        if q is not None:
            force[k + 1] = np.einsum("itj,itj->tj", force[: k + 1], rate[k::-1]) / (k + 1)
            factor[k + 1] = -force[k + 1]
    return np.concatenate([p, w[:, :, None]], axis=2).transpose(1, 2, 0)


def step_length(series: Floats, tolerance: float) -> float:
    """Return the step at which the last terms reach the tolerance relative to each force (or inf)."""
    order = series.shape[1] - 1
    step = math.inf
    start = np.maximum(series[:, 0], np.finfo(float).tiny)
    for k in (order - 1, order):
        size = float(np.max(np.abs(series[:, k]) / start))
        if size > 0:
            step = min(step, (tolerance / size) ** (1 / k))
    return step


def steady_length(shares: Floats, q: Floats | None, M: Floats, lead: int, order: int) -> float:
    """Return the step over which roundings of the shares stay roundings in a series of that order (or inf).

    Near an equilibrium of the shares a decaying mode e^{−λτ} is present as noise only; its Taylor polynomial
    grows to (λτ)^K/K! times that noise. J^K measures λ.
    """
    rate = M if q is None else q[:, None] * M
    jacobian = shares[:, None] * (rate - rate[lead])
    scale = float(np.max(np.abs(jacobian)))
    if scale == 0:
        return math.inf
    power = np.linalg.matrix_power(jacobian / scale, order)
    size = float(np.max(np.abs(power) @ shares / np.maximum(shares, np.finfo(float).tiny)))
    grown = (math.lgamma(order + 1) - math.log(size)) / order if size > 0 else math.inf
    return math.exp(min(grown - math.log(scale), 700.0))


def stretched(series: Floats, step: float) -> Floats:
    """Return the coefficients in x = time/step."""
    result: Floats = series * step ** np.arange(series.shape[-1])
    return result


def integrated(series: Floats) -> Floats:
    """Return the coefficients of the antiderivative that is 0 at 0."""
    length = series.shape[-1]
    result = np.zeros((*series.shape[:-1], length + 1))
    result[..., 1:] = series / np.arange(1, length + 1)
    return result


def value_at(coefficients: Floats, x: float) -> Floats:
    """Return the values at x of polynomials (..., K + 1)."""
    result: Floats = coefficients @ x ** np.arange(coefficients.shape[-1])
    return result


@cache
def bernstein_matrix(degree: int) -> Floats:
    """Return B, all weights in [0, 1]: coefficients @ B are the Bernstein coefficients on [0, 1]."""
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
    """Yield in order the points of [0, 1] at which a polynomial changes sign; two in one step are not missed.

    Isolated by the sign changes of the Bernstein coefficients and subdivision, then polished by guarded
    Newton steps. A polynomial that is 0 at 0 and goes negative yields 0 first: it is on its way already.
    """
    poly = coefficients.tolist()
    noise = 8 * np.finfo(float).eps * float(np.abs(coefficients).sum())
    pending = [(0.0, 1.0, bernstein(coefficients))]
    while pending:
        left, right, shape = pending.pop()
        signs = np.sign(shape[shape != 0])
        if left == 0 and shape[0] == 0 and len(signs) and signs[0] < 0:
            yield 0.0
        changes = int(np.count_nonzero(signs[1:] != signs[:-1]))
        if changes == 1 and shape[0] * shape[-1] < 0:
            yield _polished(poly, left, right, bool(shape[-1] > 0))
        elif changes and right - left > _NARROW:
            middle, first, second = _split(left, right, shape, noise)
            pending += [(middle, right, second), (left, middle, first)]
        elif changes % 2:
            yield (left + right) / 2


def first_root(coefficients: Floats) -> float | None:
    """Return the first root of :func:`roots`, or None."""
    return next(roots(coefficients), None)


def earliest(rows: Floats) -> tuple[float, list[int]]:
    """Return the first x in [0, 1] at which one of the polynomials goes below 0, and which ones do so there.

    rows (R, K + 1), each ≥ 0 at 0. After each root found only polynomials that may go below 0 before it stay.
    Returns (1, []) when none does.
    """
    first, found = 1.0, -1
    left = np.flatnonzero(bernstein(rows).min(axis=1, initial=0.0) < 0)
    while len(left):
        start, slope = rows[left, 0], rows[left, 1]
        guess = np.where(slope < 0, start / np.maximum(-slope, 1e-300), np.inf)
        i = int(left[np.argmin(guess)])
        left = left[left != i]
        root = first_root(stretched(rows[i], first))
        if root is not None:
            first, found = first * root, i
            left = left[bernstein(stretched(rows[left], first)).min(axis=1, initial=0.0) < 0]
    if found < 0:
        return 1.0, []
    terms = stretched(rows, first)
    falling = terms @ np.arange(rows.shape[1]) < 0
    arrived = terms.sum(axis=1) <= 4 * np.finfo(float).eps * np.abs(terms).sum(axis=1)
    arrived &= falling
    arrived[found] = True
    return first, np.flatnonzero(arrived).tolist()


def _split(left: float, right: float, shape: Floats, noise: float) -> tuple[float, Floats, Floats]:
    """Split an interval and its Bernstein coefficients (de Casteljau), not where the value is noise."""
    for part in _SPLITS[: len(shape)]:
        row, first, second = shape, [shape[0]], [shape[-1]]
        while len(row) > 1:
            row = row[:-1] * (1 - part) + row[1:] * part
            first.append(row[0])
            second.append(row[-1])
        if abs(row[0]) > noise:
            break
    return left + part * (right - left), np.array(first), np.array(second[::-1])


def _polished(poly: list[float], left: float, right: float, rising: bool) -> float:
    """Return the one root in [left, right], by Newton steps kept inside the shrinking bracket."""
    x = left
    for _ in range(200):
        value, slope = _horner(poly, x)
        if value == 0:
            return x
        if (value > 0) == rising:
            right = x
        else:
            left = x
        following = x - value / slope if slope else math.inf
        if abs(following - x) <= 2e-16 * x:
            return min(max(following, left), right)
        if not left < following < right:
            following = (left + right) / 2
        if following in (left, right):
            return following
        x = following
    return x


def _horner(poly: list[float], x: float) -> tuple[float, float]:
    value = slope = 0.0
    for coefficient in reversed(poly):
        slope = slope * x + value
        value = value * x + coefficient
    return value, slope

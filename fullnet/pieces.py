"""The smooth pieces of a flow: on each, forces, impulses and predictions are polynomials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fullnet.checks import Floats
from fullnet.series import bernstein, roots

_NOISE = 64 * np.finfo(float).eps
_OPEN = 2


@dataclass(frozen=True, eq=False)
class Pieces:
    """P smooth pieces; on piece i everything is a polynomial in x, which runs from 0 to ``used`` ≤ 1.

    start (P,): the time at x = 0; clock (P, K+2): t − start in x; shares (P, N, K+1): Uⱼ over the leading
    force; step (P,): the impulse of the leading force at x = 1; rates (P, N, N): df/dt = rates U; prediction
    (P, N): f at the start; impulse, impulse_low (P, N): S = ∫₀ᵗ U there, as an unevaluated sum, since S grows
    large while neurons feel small differences of it.
    """

    start: Floats
    used: Floats
    clock: Floats
    shares: Floats
    step: Floats
    rates: Floats
    prediction: Floats
    impulse: Floats
    impulse_low: Floats

    def locate(self, t: Floats) -> tuple[NDArray[np.intp], Floats]:
        """Return piece and x for times t (T,): the last piece that starts at or before t."""
        piece = np.maximum(np.searchsorted(self.start, t, side="right") - 1, 0)
        return piece, _inverse(self.clock[piece], t - self.start[piece], self.used[piece])

    @cached_property
    def impulse_series(self) -> Floats:
        """Coefficients (P, N, K+2) in x of the impulse gained since the start of the piece."""
        degree = self.shares.shape[2]
        result = np.zeros((*self.shares.shape[:2], degree + 1))
        result[:, :, 1:] = self.shares / np.arange(1, degree + 1) * self.step[:, None, None]
        return result

    @cached_property
    def prediction_series(self) -> Floats:
        """Coefficients (P, N, K+2) in x of the predictions."""
        result: Floats = np.matmul(self.rates, self.impulse_series)
        result[:, :, 0] = self.prediction
        return result

    def impulse_between(self, t: float, since: Sequence[int]) -> Floats:
        """Return S(t) − S(start of a piece) for each of the pieces since (M,), shape (M, N)."""
        piece, x = self.locate(np.array([t]))
        gained = _evaluated(self.impulse_series[piece], x)
        index = np.asarray(since, dtype=int)
        high = self.impulse[piece] - self.impulse[index]
        result: Floats = high + (self.impulse_low[piece] - self.impulse_low[index]) + gained
        return result

    def prediction_at(self, t: Floats) -> Floats:
        """Return f(t), shape (T, N)."""
        piece, x = self.locate(t)
        return _evaluated(self.prediction_series[piece], x)

    def prediction_signs(self, point: int) -> list[tuple[float, int]]:
        """Return (time, sign of f at the point from then on), beginning at time 0."""
        return self._signs(self.prediction_series[:, point, :])

    def form_signs(self, form: Floats) -> list[tuple[float, int]]:
        """Return (time, sign of form·U from then on) for a linear form (N,), beginning at time 0."""
        series = np.einsum("n,pnk->pk", form, self.shares)
        # A piece may begin at an event where the form vanishes; rounding must not be read as a sign there.
        noise = _NOISE * np.einsum("n,pn->p", np.abs(form), self.shares[:, :, 0])
        series[np.abs(series[:, 0]) <= noise, 0] = 0.0
        return self._signs(series)

    def _signs(self, series: Floats) -> list[tuple[float, int]]:
        """Follow the sign of one polynomial a piece through all pieces that last."""
        lasting = np.flatnonzero(self.used > 0)
        if not len(lasting):
            return [(0.0, int(np.sign(series[0, 0])))]
        clipped = series[lasting] * self.used[lasting, None] ** np.arange(series.shape[1])
        shapes = bernstein(clipped)
        low, high = shapes.min(axis=1), shapes.max(axis=1)
        certain = np.where(low > 0, 1, np.where(high < 0, -1, np.where((low == 0) & (high == 0), 0, _OPEN)))
        found: list[tuple[float, int]] = []
        for i in np.flatnonzero((certain == _OPEN) | (np.diff(certain, prepend=_OPEN) != 0)).tolist():
            inside = _signs_within(clipped[i]) if certain[i] == _OPEN else [(0.0, int(certain[i]))]
            for x, sign in inside:
                time = self._time(int(lasting[i]), x)
                if found and found[-1][0] == time:
                    found.pop()
                if not found or found[-1][1] != sign:
                    found.append((time, sign))
        return found

    def _time(self, piece: int, part: float) -> float:
        """Return the time at a part in [0, 1] of a piece."""
        x = np.array([self.used[piece] * part])
        return float(self.start[piece] + _evaluated(self.clock[piece, None, None], x)[0, 0])


def _signs_within(poly: Floats) -> list[tuple[float, int]]:
    """Return (x, sign from there on) of a polynomial on [0, 1]."""
    places = [0.0, *(x for x in roots(poly) if 0 < x < 1), 1.0]
    found = []
    for left, right in pairwise(places):
        middle = np.polynomial.polynomial.polyval((left + right) / 2, poly)
        found.append((left, int(np.sign(middle))))
    return found


def _evaluated(series: Floats, x: Floats) -> Floats:
    """Return the values (T, N) of polynomials (T, N, K) at x (T,)."""
    value = np.zeros(series.shape[:2])
    for k in range(series.shape[2] - 1, -1, -1):
        value = value * x[:, None] + series[:, :, k]
    return value


def _inverse(clock: Floats, elapsed: Floats, used: Floats) -> Floats:
    """Return x (T,) in [0, used] with clock(x) = elapsed, clocks (T, K) rising: guarded Newton steps."""
    low, high, x = np.zeros_like(used), used.copy(), used.copy()
    slopes = clock[:, 1:] * np.arange(1, clock.shape[1])
    for _ in range(200):
        gap = _evaluated(clock[:, None], x)[:, 0] - elapsed
        high, low = np.where(gap >= 0, x, high), np.where(gap <= 0, x, low)
        slope = _evaluated(slopes[:, None], x)[:, 0]
        following = x - gap / np.where(slope > 0, slope, np.inf)
        following = np.where((following > low) & (following < high), following, (low + high) / 2)
        following = np.where(low == high, low, following)
        if np.all(np.abs(following - x) <= 2e-16 * np.maximum(x, 1e-10)):
            return following
        x = following
    return x

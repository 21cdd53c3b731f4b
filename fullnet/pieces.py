"""The smooth pieces of a flow: on each, forces, impulses and predictions are polynomials."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from fullnet.checks import Floats
from fullnet.clock import clock_after, units_between
from fullnet.data import DataSet
from fullnet.forces import scaled
from fullnet.history import History, Ints
from fullnet.loss import Loss
from fullnet.series import bernstein, force_series_of_many, integrated, roots
from fullnet.shown import shown

_NOISE = 64 * np.finfo(float).eps
_OPEN = 2
_SLIVER = 1e-9
_BLOCK = 2048

_units_between = np.vectorize(units_between, otypes=[float])
_clock_after = np.vectorize(clock_after, otypes=[float])


@dataclass(frozen=True, eq=False)
class Series:
    """Polynomials in x of T pieces: shares (T, N, K+1) of the forces, their impulse, predictions, clock.

    impulse and prediction (T, N, K+2): S gained and f; elapsed (T, K+2): time gained in units of e^log_unit
    (T,).
    """

    shares: Floats
    impulse: Floats
    prediction: Floats
    elapsed: Floats
    log_unit: Floats


@dataclass(frozen=True, eq=False)
class Pieces:
    """P smooth pieces; on piece i everything is a polynomial in x, which runs from 0 to ``used`` ≤ 1.

    start (P,): the clock's reading at x = 0; step (P,): the impulse of the leading force at x = 1, 0 where no
    neuron moves; prediction (P, N): f at the start; impulse, impulse_low (P, N): S = ∫₀ᵗ U there, as an
    unevaluated sum, since S grows large while neurons feel small differences of it. The polynomials follow from
    these and the history.
    """

    data: DataSet
    loss: Loss
    history: History
    order: int
    start: Floats
    used: Floats
    step: Floats
    prediction: Floats
    impulse: Floats
    impulse_low: Floats

    __repr__ = shown

    def series(self, pieces: Ints) -> Series:
        """Return the polynomials of the pieces (T,)."""
        f = self.prediction[pieces]
        counts = self.history.counts(pieces)
        rates = self.history.rates(counts)
        force = scaled(f, self.data, self.loss, self.history.heard(counts))
        step = self.step[pieces]
        growth = -self.data.y[:, None] * rates * step[:, None, None]
        every = force_series_of_many(force.u, force.q, growth, force.lead, self.order)
        antiderivative = integrated(every)
        impulse = antiderivative[:, :-1] * step[:, None, None]
        prediction = np.matmul(rates, impulse)
        prediction[:, :, 0] = f
        with np.errstate(divide="ignore"):
            log_unit = np.log(step) - force.log_lead
        # a force that moves nobody stays as it is, while the leading one falls like 1/clock rate
        shares = every[:, :-1] + force.idle[:, :, None] * every[:, -1:]
        return Series(shares, impulse, prediction, antiderivative[:, -1], log_unit)

    def holding(self, t: Floats) -> Ints:
        """Return the piece (T,) for each of the times t (T,): the last one starting by then."""
        return np.maximum(np.searchsorted(self.start, t, side="right") - 1, 0)

    def locate(self, t: Floats) -> tuple[Ints, Floats, Series]:
        """Return piece, x and the polynomials there for times t (T,): the last piece starting by then."""
        piece = self.holding(t)
        series = self.series(piece)
        log_unit = np.where(self.step[piece] > 0, series.log_unit, np.inf)
        elapsed = _units_between(self.start[piece], t, log_unit)
        return piece, _inverse(series.elapsed, elapsed, self.used[piece]), series

    def impulse_at(self, t: float) -> tuple[Floats, Floats]:
        """Return S(t) as an unevaluated sum (N,), (N,)."""
        piece, x, series = self.locate(np.array([t]))
        gained = _evaluated(series.impulse, x)[0]
        return self.impulse[piece[0]], self.impulse_low[piece[0]] + gained

    def prediction_at(self, t: Floats) -> Floats:
        """Return f(t), shape (T, N)."""
        blocks = [t[i : i + _BLOCK] for i in range(0, len(t), _BLOCK)]
        found = [_evaluated(series.prediction, x) for _, x, series in map(self.locate, blocks)]
        return np.concatenate(found) if found else np.zeros((0, self.prediction.shape[1]))

    def prediction_signs(self, point: int, above: float = 0.0) -> list[tuple[float, int]]:
        """Return (time, sign from then on) of f at the point, less ``above``, beginning at time 0."""
        f = self.prediction[self._lasting, point] - above
        moved = self._gained @ self.history.largest_rates[point]
        certain = np.where(np.abs(f) > 2 * moved, np.sign(f), _OPEN)

        def values(series: Series) -> Floats:
            poly = series.prediction[:, point, :].copy()
            poly[:, 0] -= above
            return poly

        return _without_slivers(self._signs(certain, values))

    def form_signs(self, form: Floats) -> list[tuple[float, int]]:
        """Return (time, sign of form·U from then on) for a linear form (N,), beginning at time 0."""

        def values(series: Series) -> Floats:
            poly: Floats = np.einsum("n,tnk->tk", form, series.shares)
            # A piece may begin where the form vanishes; rounding must not be read as a sign there.
            noise = _NOISE * np.einsum("n,tn->t", np.abs(form), series.shares[:, :, 0])
            poly[np.abs(poly[:, 0]) <= noise, 0] = 0.0
            return poly

        return self._signs(self._certain_form(form), values)

    @cached_property
    def _lasting(self) -> Ints:
        return np.flatnonzero(self.used > 0)

    @cached_property
    def _gained(self) -> Floats:
        """How much impulse each piece that lasts brings, (L, N)."""
        after = np.minimum(self._lasting + 1, len(self.used) - 1)
        low = self.impulse_low[after] - self.impulse_low[self._lasting]
        return (self.impulse[after] - self.impulse[self._lasting]) + low

    def _certain_form(self, form: Floats) -> Floats:
        """Return the sign of form·U on each lasting piece where bounds of its change decide it, else open.

        Along a piece |d log Uᵢ| ≤ largest rates · impulse gained, as q ≤ 1.
        """
        u = scaled(self.prediction[self._lasting], self.data, self.loss).u
        growth = 2 * (self._gained @ self.history.largest_rates.T)
        change = u * np.expm1(np.minimum(growth, 700.0))
        value, slack = u @ form, change @ np.abs(form)
        return np.where(np.abs(value) > slack + 4 * _NOISE * (u @ np.abs(form)), np.sign(value), _OPEN)

    def _signs(self, certain: Floats, values: Any) -> list[tuple[float, int]]:
        """Follow the sign of one polynomial a piece through all pieces that last.

        Arguments: certain (L,), the signs already known, else open; values, from Series to polynomials.
        """
        if not len(self._lasting):
            return [(0.0, int(np.sign(values(self.series(np.array([0])))[0, 0])))]
        found: list[tuple[float, int]] = []
        for time, sign in self._sign_changes(certain, values):
            if found and found[-1][0] == time:
                found.pop()
            if not found or found[-1][1] != sign:
                found.append((time, sign))
        return found

    def _sign_changes(self, certain: Floats, values: Any) -> Iterator[tuple[float, int]]:
        open_ones = np.flatnonzero(certain == _OPEN)
        inside: dict[int, list[tuple[float, int]]] = {}
        for i in range(0, len(open_ones), _BLOCK):
            inside |= self._inside(open_ones[i : i + _BLOCK], values)
        turning = (certain == _OPEN) | (np.diff(certain, prepend=_OPEN) != 0)
        for i in np.flatnonzero(turning).tolist():
            if certain[i] == _OPEN:
                yield from inside[i]
            else:
                yield float(self.start[self._lasting[i]]), int(certain[i])

    def _inside(self, which: Ints, values: Any) -> dict[int, list[tuple[float, int]]]:
        """Return (time, sign from then on) within each of the lasting pieces ``which``."""
        pieces = self._lasting[which]
        series = self.series(pieces)
        poly = values(series)
        clipped = poly * self.used[pieces, None] ** np.arange(poly.shape[1])
        shapes = bernstein(clipped)
        low, high = shapes.min(axis=1), shapes.max(axis=1)
        sign = np.where(low > 0, 1, np.where(high < 0, -1, np.where((low == 0) & (high == 0), 0, _OPEN)))
        starts = self.start[pieces].tolist()
        result = {place: [(starts[i], int(sign[i]))] for i, place in enumerate(which.tolist())}
        for i in np.flatnonzero(sign == _OPEN).tolist():
            parts = _signs_within(clipped[i])
            x = self.used[pieces[i]] * np.array([part for part, _ in parts])
            gained = np.polynomial.polynomial.polyval(x, series.elapsed[i])
            times = _clock_after(starts[i], gained, series.log_unit[i]).tolist()
            result[int(which[i])] = [(time, one) for time, (_, one) in zip(times, parts, strict=True)]
        return result


def _without_slivers(signs: list[tuple[float, int]]) -> list[tuple[float, int]]:
    """Return (time, sign) without signs that roundings give to a prediction just before it becomes exactly 0.

    That is where its last active neurons reach their kink.
    """
    found: list[tuple[float, int]] = []
    for t, sign in signs:
        if sign == 0 and len(found) > 1 and t - found[-1][0] <= _SLIVER * t:
            found.pop()
        found.append((t, sign))
    return found


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


def _inverse(gained: Floats, elapsed: Floats, used: Floats) -> Floats:
    """Return x (T,) in [0, used] with gained(x) = elapsed, polynomials (T, K) rising: guarded Newton steps."""
    low, high, x = np.zeros_like(used), used.copy(), used.copy()
    slopes = gained[:, 1:] * np.arange(1, gained.shape[1])
    for _ in range(200):
        gap = _evaluated(gained[:, None], x)[:, 0] - elapsed
        high, low = np.where(gap >= 0, x, high), np.where(gap <= 0, x, low)
        slope = _evaluated(slopes[:, None], x)[:, 0]
        following = x - gap / np.where(slope > 0, slope, np.inf)
        following = np.where((following > low) & (following < high), following, (low + high) / 2)
        following = np.where(low == high, low, following)
        if np.all(np.abs(following - x) <= 2e-16 * np.maximum(x, 1e-10)):
            return following
        x = following
    return x

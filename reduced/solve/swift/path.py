"""A finished flow in doubles: its rows, and everything that can be read off them at any time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import exp, inf, log, log1p
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from reduced.solve.swift import chain
from reduced.solve.swift.chain import HUGE, PATTERNS, Setting
from reduced.solve.swift.duration import duration
from reduced.solve.swift.piece import GENERIC, MINUS, PLUS, STILL, Motion, Piece, learn, move, start_piece

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer[Any]]

_ITERATIONS = 2000
_ROUNDING = 2.0**-53


class Place(NamedTuple):
    """A point of a path: the row its piece starts from, q inside that piece, its time (inf past 1e308) and ln t."""

    row: int
    q: float
    time: float
    log_time: float


@dataclass(frozen=True)
class Path:
    """Rows (n, COLUMNS) and switches (n, 3) of a flow of m neurons, with the start they continue.

    Row 0 is the start, every further row a neuron's switch or (neuron −1) a passage of r through c or 1/c;
    switches hold neuron, and pattern codes (or levels) before and after. u and v are per neuron at t = 0 in
    units of contributions |a|⟨b,x±⟩ to f±; scale is |a|; endless, whether the flow goes on after the last row
    as its piece says (False: it was broken off there).
    """

    setting: Setting
    scale: float
    sign: Integers
    pattern: Integers
    u: Floats
    v: Floats
    rows: Floats
    switches: Integers
    endless: bool

    @cached_property
    def moves(self) -> Integers:
        """Return the rows in which a neuron switched."""
        return np.flatnonzero(self.switches[:, 0] != chain.NOBODY)

    @cached_property
    def counts(self) -> Integers:
        """Living and dead neurons by pattern code, (6, n): after every row."""
        rows = self.moves
        before, after = self.switches[rows, 1], self.switches[rows, 2]
        found = np.zeros((len(PATTERNS), len(self.rows)), np.int32)
        found[:, 0] = np.bincount(self.pattern, minlength=len(PATTERNS))
        found[before, rows], found[after, rows] = -1, 1
        return np.cumsum(found, axis=1, out=found)

    def piece(self, row: int) -> Piece:
        """Return the smooth piece that starts at a row."""
        _, n1, n2, n3, n4, n5 = self.counts[:, row].tolist()
        ratio, delta = self.rows[row, chain.RATIO : chain.DELTA + 1].tolist()
        return start_piece(self.setting.angle, n1, n2, n3, n4, n5, ratio, delta)

    @cached_property
    def _last_piece(self) -> Piece:
        return self.piece(len(self.rows) - 1)

    def place(self, row: int) -> Place:
        """Return the place of a row."""
        t = float(self.rows[row, chain.TIME])
        log_t = float(self.rows[row, chain.LOG_TIME]) if t >= HUGE else log(t) if t > 0 else -inf
        return Place(row, 0.0, t, log_t)

    def _inside(self, row: int, piece: Piece, q: float) -> Place:
        """Return the place at q of the piece that starts at a row."""
        start = self.place(row)
        value, exponent = duration(piece, q, move(piece, q))
        if value == 0:
            return start
        step = log(value) + exponent + float(self.rows[row, chain.F_PLUS]) - self.setting.log_force
        high, low = max(step, start.log_time), min(step, start.log_time)
        total = high + log1p(exp(low - high))
        return Place(row, q, start.time + exp(step) if total < log(HUGE) else inf, total)

    def locate(self, t: float) -> Place:
        """Return the place of flow time t ≥ 0."""
        row = int(np.searchsorted(self.rows[:, chain.TIME], t, side="right")) - 1
        since = t - float(self.rows[row, chain.TIME])
        if not since > 0:
            return self.place(row)
        begin = float(self.rows[row, chain.F_PLUS])
        q = q_of_duration(self.piece(row), log(since) + self.setting.log_force - begin)
        return Place(row, q, t, log(t))

    def includes(self, place: Place) -> bool:
        """Return whether a place lies inside the flow as far as it was followed."""
        if place.row + 1 == len(self.rows) and place.q > 0 and not self.endless:
            return False
        return bool(place.time <= self.setting.until and place.log_time <= self.setting.log_until)

    def predictions(self, t: Any) -> tuple[Any, Any]:
        """Return (f₊, f₋) at flow times t ≥ 0 (a number or an array, in any order)."""
        places = [self.locate(float(x)) for x in np.ravel(t)]
        found = np.array([self.predictions_at(place) for place in places]).reshape(-1, 2)
        shape = np.shape(t)
        return found[:, 0].reshape(shape)[()], found[:, 1].reshape(shape)[()]

    def predictions_at(self, place: Place) -> tuple[float, float]:
        """Return (f₊, f₋) at a place."""
        f_plus, f_minus = self.rows[place.row, chain.F_PLUS : chain.F_MINUS + 1].tolist()
        if place.q == 0:
            return f_plus, f_minus
        piece = self.piece(place.row)
        plus, minus = learn(piece, place.q, move(piece, place.q).L)
        return f_plus + plus, f_minus + minus

    def neurons(self, t: float) -> tuple[Integers, Floats, Floats]:
        """Return pattern codes, ⟨b,x₊⟩ and ⟨b,x₋⟩ of all neurons at flow time t, arrays (m,)."""
        place = self.locate(t)
        motion = move(self.piece(place.row), place.q)
        clocks = self.rows[place.row, chain.S : chain.Y + 1] + np.array(
            [motion.S, motion.R, motion.X, motion.Y]
        )
        since, pattern = np.zeros(len(self.sign), np.intp), self.pattern.copy()
        rows = self.moves[: np.searchsorted(self.moves, place.row, side="right")]
        np.maximum.at(since, self.switches[rows, 0], rows)
        moved = np.flatnonzero(since)
        pattern[moved] = self.switches[since[moved], 2]
        u, v = self.u.copy(), self.v.copy()
        u[moved], v[moved] = self.rows[since[moved], chain.U], self.rows[since[moved], chain.V]
        on_u, on_v = self._forms()
        run = clocks - self.rows[since, chain.S : chain.Y + 1]
        u += self.sign * np.einsum("ij,ij->i", on_u[pattern], run)
        v += self.sign * np.einsum("ij,ij->i", on_v[pattern], run)
        return pattern, u / self.scale, v / self.scale

    def _forms(self) -> tuple[Floats, Floats]:
        """Return by pattern code what the clocks (S, R, X, Y) add to u and to v."""
        c, s2 = self.setting.angle.c, self.setting.angle.s2
        on_u = [[0, 0, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0], [0, -c, 0, 0], [0, 0, 0, 0], [s2, 0, 0, 0]]
        on_v = [[0, 0, 0, 0], [0, 0, 0, 1], [c, 0, 0, 0], [0, -1, 0, 0], [0, -s2, 0, 0], [0, 0, 0, 0]]
        return np.array(on_u, float), np.array(on_v, float)

    def final_sign(self, point: int, above: float = 0.0) -> int:
        """Return the sign of f₊ (point 0) or f₋ (point 1), less ``above``, as t → ∞."""
        return self._final_slope(point) or int(np.sign(self.rows[-1, chain.F_PLUS + point] - above))

    def sign_at_start(self, point: int) -> int:
        """Return the sign of f₊ or f₋ from t = 0 on, 0 only when it stays exactly 0."""
        return int(np.sign(self.rows[0, chain.F_PLUS + point]) or self._slopes[0][point, 0])

    def crossings(
        self, point: int, above: float = 0.0, last: int | None = None
    ) -> Iterator[tuple[Place, int]]:
        """Yield in order where the sign of f₊ (point 0) or f₋ (point 1) changes, with the sign from there on.

        A prediction that no neuron contributes to is exactly 0 and stays so: then the sign is 0. Arguments:
        point; above, a value subtracted from the prediction; last, the row up to which to look (None: all).
        """
        f = self.rows[: None if last is None else last + 1, chain.F_PLUS + point] - above
        first_slope, last_slope = (slopes[point, : len(f)] for slopes in self._slopes)
        begin, end = np.sign(f), np.empty(len(f))
        end[:-1], end[-1] = begin[1:], self.final_sign(point, above) if last is None else begin[-1]
        exact = np.flatnonzero(begin == 0)
        jumps: list[int] = []
        if exact.size:
            begin[exact] = first_slope[exact]
            exact = exact[exact > 0]
            end[exact - 1] = -last_slope[exact - 1]
            jumps = exact[end[exact - 1] != begin[exact]].tolist()
        inside = np.flatnonzero(begin * end < 0).tolist()
        inside += [row for row in self._bent[point] if row < len(f) and first_slope[row] * begin[row] < 0]
        for row in sorted({*jumps, *inside}):
            if row in jumps:
                yield self.place(row), int(begin[row])
            if row in inside:
                yield from self._crossings_inside(row, point, int(begin[row]), int(end[row]), above)

    def doubling(self, point: int, last: int | None = None) -> Place | None:
        """Return where f₊ (point 0) or f₋ (point 1) first reaches twice its initial value (not 0), None if never.

        Arguments: point; last, the row up to which to look (None: all).
        """
        f = self.rows[: None if last is None else last + 1, chain.F_PLUS + point]
        double = 2 * float(f[0])
        reached = np.flatnonzero(f >= double if double > 0 else f <= double)
        found = self.crossings(point, double, int(reached[0]) if reached.size else last)
        return next((place for place, _ in found), None)

    @cached_property
    def _slopes(self) -> tuple[Floats, Floats]:
        """Return the signs of the slopes of f₊ and f₋ at the start and at the end of every piece, (2, n) each."""
        c, s2 = self.setting.angle.c, self.setting.angle.s2
        rates = np.array([[0, 1, 1, 0, 0, s2], [0, c, 0, 0, 0, 0], [0, 1, 0, 1, s2, 0]]) @ self.counts
        on_P, on_Q, ratio = rates[:2], rates[1:], self.rows[:, chain.RATIO].copy()
        first, last = np.sign(on_P - on_Q * ratio), np.empty(on_P.shape)
        last[:, :-1] = np.sign(on_P[:, :-1] - on_Q[:, :-1] * ratio[1:])
        last[:, -1] = [self._final_slope(point) for point in (0, 1)]
        return first, last

    @cached_property
    def _bent(self) -> tuple[list[int], list[int]]:
        """Return the rows of the pieces inside which the slope of f₊ (and of f₋) changes its sign."""
        first, last = self._slopes
        plus, minus = first * last < 0
        return np.flatnonzero(plus).tolist(), np.flatnonzero(minus).tolist()

    def _final_slope(self, point: int) -> int:
        """Return the sign of the slope of f₊ or f₋ as t → ∞."""
        kind = self._last_piece.kind
        return 1 - 2 * point if kind == GENERIC or kind == (PLUS, MINUS)[point] else 0

    def _crossings_inside(
        self, row: int, point: int, begin: int, end: int, above: float
    ) -> Iterator[tuple[Place, int]]:
        """Yield the zeros inside a piece of given signs at its ends, the slope changing sign at most once."""
        piece, start = self.piece(row), float(self.rows[row, chain.F_PLUS + point]) - above
        length = inf if row + 1 == len(self.rows) else float(self.rows[row + 1, chain.LENGTH])
        turn = _turn(piece, point)
        bounds, signs = [0.0, length], [begin, end]
        if 0 < turn < length:
            bounds.insert(1, turn)
            signs.insert(1, int(np.sign(start + learn(piece, turn, move(piece, turn).L)[point])))
        for n in range(len(bounds) - 1):
            if signs[n] * signs[n + 1] < 0:
                q = _zero(piece, start, point, bounds[n], bounds[n + 1], signs[n])
                yield self._inside(row, piece, q), signs[n + 1]


def _turn(piece: Piece, point: int) -> float:
    """Return the q at which the slope of f₊ (r = A/B) or f₋ (r = C/D) vanishes, inf when it never does."""
    if piece.kind != GENERIC:
        return inf
    if point == 0:
        part = -piece.h * (piece.A - piece.B * piece.r) / piece.det
    else:
        part = piece.h * (piece.B - piece.D * piece.r) / piece.det
    return log1p(part) if part > 0 else inf


def _zero(piece: Piece, start: float, point: int, low: float, high: float, before: int) -> float:
    """Return the q in (low, high) at which a prediction that is ``start`` at 0 and monotone there is 0.

    before is its sign left of the zero. Newton's method inside a bracket, until its steps are rounding.
    """
    slope, last = _slope(piece, point, piece.r), 0.0
    q = -start / slope if low == 0 and slope * before < 0 else low
    for _ in range(_ITERATIONS):
        if not low < q < high:
            q, last = (low + high) / 2 if high < inf else 2 * low + 1, 0.0
            if not low < q < high:
                return q
        motion = move(piece, q)
        value = start + learn(piece, q, motion.L)[point]
        slope = _slope(piece, point, motion.r)
        low, high = (q, high) if value * before > 0 else (low, q)
        step = -value / slope if slope * before < 0 else inf
        size = abs(step)
        # steps square: what this one leaves is below rounding; or they no longer shrink, which is rounding's work
        if size * size <= _ROUNDING * q * last or 0 < last <= size <= 1e-9 * q:
            return q + step
        last, q = size, q + step
    return q


def _slope(piece: Piece, point: int, r: float) -> float:
    """Return d f/dq of f₊ or f₋ where the ratio is r."""
    along_S = piece.A - piece.B * r if point == 0 else piece.B - piece.D * r
    if piece.kind == STILL:
        return 0.0
    if piece.kind == PLUS:
        return float(along_S / piece.g)
    return float(along_S / (piece.h * r))


def q_of_duration(piece: Piece, log_target: float) -> float:
    """Return the q at which ln ∫₀^q P₀/P dS equals log_target (Newton's method on that concave function)."""
    if piece.kind == STILL:
        return exp(log_target)
    if piece.kind != GENERIC:
        scale = log_target + log(piece.g if piece.kind == PLUS else piece.r * piece.h)
        return log1p(exp(scale)) if scale < 600 else scale
    growth = piece.det / (piece.g * piece.h)
    scale = log_target + log(piece.h * piece.r)
    q = log1p(growth * exp(scale)) / growth if scale < 600 else (scale + log(growth)) / growth
    last = inf
    for _ in range(_ITERATIONS):
        motion: Motion = move(piece, q)
        value, exponent = duration(piece, q, motion)
        short = log_target - log(value) - exponent
        speed = exp(learn(piece, q, motion.L)[0] - log(value) - exponent) / (piece.h * motion.r)
        step = short / speed
        if abs(step) <= 1e-16 * q or (abs(step) <= 1e-9 * q and abs(step) >= last):
            break
        last = abs(step)
        q = q + step if q + step > 0 else q / 8
    return float(q)

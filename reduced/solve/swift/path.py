"""A finished flow in doubles: its rows, and everything that can be read off them at any time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp, inf, log, log1p
from typing import Any

import numpy as np
import numpy.typing as npt

from reduced.solve.swift import chain
from reduced.solve.swift.chain import HUGE, PATTERNS, Setting
from reduced.solve.swift.duration import duration
from reduced.solve.swift.piece import GENERIC, MINUS, PLUS, STILL, Motion, Piece, learn, move, start_piece

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer[Any]]

_ITERATIONS = 2000


@dataclass(frozen=True)
class Place:
    """A point of a path: the row its piece starts from, and q inside that piece."""

    row: int
    q: float


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
    def counts(self) -> Integers:
        """Living and dead neurons by pattern code, (6, n): after every row."""
        before, after = (np.ascontiguousarray(self.switches[:, column]) for column in (1, 2))
        moved = self.switches[:, 0] != chain.NOBODY
        found = np.empty((len(PATTERNS), len(self.rows)), np.int32)
        for code in range(len(PATTERNS)):
            gained = (moved & (after == code)).astype(np.int8) - (moved & (before == code)).astype(np.int8)
            np.cumsum(gained, dtype=np.int32, out=found[code])
            found[code] += np.count_nonzero(self.pattern == code)
        return found

    def piece(self, row: int) -> Piece:
        """Return the smooth piece that starts at a row."""
        _, n1, n2, n3, n4, n5 = (int(n) for n in self.counts[:, row])
        ratio, delta = (float(self.rows[row, column]) for column in (chain.RATIO, chain.DELTA))
        return start_piece(self.setting.angle, n1, n2, n3, n4, n5, ratio, delta)

    def locate(self, t: float) -> Place:
        """Return the place of flow time t ≥ 0."""
        row = int(np.searchsorted(self.rows[:, chain.TIME], t, side="right")) - 1
        since = t - float(self.rows[row, chain.TIME])
        if not since > 0:
            return Place(row, 0.0)
        begin = float(self.rows[row, chain.F_PLUS])
        return Place(row, q_of_duration(self.piece(row), log(since) + self.setting.log_force - begin))

    def time(self, place: Place) -> tuple[float, float]:
        """Return the flow time of a place and its logarithm (the time is inf past 1e308)."""
        row = self.rows[place.row]
        piece = self.piece(place.row)
        value, exponent = duration(piece, place.q, move(piece, place.q))
        t = float(row[chain.TIME])
        known = float(row[chain.LOG_TIME]) if t >= HUGE else log(t) if t > 0 else -inf
        if value == 0:
            return t, known
        step = log(value) + exponent + float(row[chain.F_PLUS]) - self.setting.log_force
        high, low = max(step, known), min(step, known)
        total = high + log1p(exp(low - high))
        return (t + exp(step) if total < log(HUGE) else inf), total

    def includes(self, place: Place) -> bool:
        """Return whether a place lies inside the flow as far as it was followed."""
        if place.row + 1 == len(self.rows) and place.q > 0 and not self.endless:
            return False
        t, log_t = self.time(place)
        return bool(t <= self.setting.until and log_t <= self.setting.log_until)

    def predictions(self, t: Any) -> tuple[Any, Any]:
        """Return (f₊, f₋) at flow times t ≥ 0 (a number or an array, in any order)."""
        places = [self.locate(float(x)) for x in np.ravel(t)]
        found = np.array([self.predictions_at(place) for place in places]).reshape(-1, 2)
        shape = np.shape(t)
        return found[:, 0].reshape(shape)[()], found[:, 1].reshape(shape)[()]

    def predictions_at(self, place: Place) -> tuple[float, float]:
        """Return (f₊, f₋) at a place."""
        piece = self.piece(place.row)
        plus, minus = learn(piece, place.q, move(piece, place.q).L)
        row = self.rows[place.row]
        return float(row[chain.F_PLUS] + plus), float(row[chain.F_MINUS] + minus)

    def neurons(self, t: float) -> tuple[Integers, Floats, Floats]:
        """Return pattern codes, ⟨b,x₊⟩ and ⟨b,x₋⟩ of all neurons at flow time t, arrays (m,)."""
        place = self.locate(t)
        motion = move(self.piece(place.row), place.q)
        clocks = self.rows[place.row, chain.S : chain.Y + 1] + np.array(
            [motion.S, motion.R, motion.X, motion.Y]
        )
        since, pattern = np.zeros(len(self.sign), np.intp), self.pattern.copy()
        rows = np.flatnonzero(self.switches[: place.row + 1, 0] != chain.NOBODY)
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
        last = len(self.rows) - 1
        kind = self.piece(last).kind
        if kind == GENERIC or kind == (PLUS, MINUS)[point]:
            return 1 - 2 * point
        return int(np.sign(self.rows[last, chain.F_PLUS + point] - above))

    def sign_after(self, row: int, point: int) -> int:
        """Return the sign of f₊ or f₋ from a row on, 0 only when it stays exactly 0."""
        piece, f = self.piece(row), float(self.rows[row, chain.F_PLUS + point])
        return int(np.sign(f) or np.sign(_slope(piece, point, piece.r)))

    def crossings(self, point: int, above: float = 0.0, last: int | None = None) -> list[tuple[Place, int]]:
        """Return where the sign of f₊ (point 0) or f₋ (point 1) changes, with the sign from there on.

        A prediction that no neuron contributes to is exactly 0 and stays so: then the sign is 0. Arguments:
        point; above, a value subtracted from the prediction; last, the row up to which to look (None: all).
        """
        f = self.rows[: None if last is None else last + 1, chain.F_PLUS + point] - above
        slope, last_slope = self._slopes(point, len(f))
        right = np.where(f != 0, np.sign(f), slope)
        left = np.where(f[1:] != 0, np.sign(f[1:]), -last_slope[: len(f) - 1])
        end = np.append(left, self.final_sign(point, above) if last is None else right[-1])
        dips = (slope * last_slope < 0) & (slope * right < 0)
        found = []
        for row in np.flatnonzero((right * end < 0) | dips):
            found += self._crossings_inside(int(row), point, int(right[row]), int(end[row]), above)
        for row in np.flatnonzero(left != right[1:]):
            found.append((Place(int(row) + 1, 0.0), int(right[row + 1])))
        return sorted(found, key=lambda crossing: (crossing[0].row, crossing[0].q))

    def doubling(self, point: int, last: int | None = None) -> Place | None:
        """Return where f₊ (point 0) or f₋ (point 1) first reaches twice its initial value, None if never.

        Arguments: point; last, the row up to which to look (None: all).
        """
        f = self.rows[: None if last is None else last + 1, chain.F_PLUS + point]
        reached = np.flatnonzero(f * np.sign(f[0]) >= 2 * abs(f[0]))
        found = self.crossings(point, 2 * float(f[0]), int(reached[0]) if reached.size else last)
        return found[0][0] if found else None

    def _slopes(self, point: int, rows: int) -> tuple[Floats, Floats]:
        """Return the sign of the slope of f₊ or f₋ at the start and at the end of the first pieces."""
        _, n1, n2, n3, n4, n5 = self.counts[:, :rows]
        c, s2 = self.setting.angle.c, self.setting.angle.s2
        on_P, on_Q = (n1 + n2 + s2 * n5, c * n1) if point == 0 else (c * n1, n1 + n3 + s2 * n4)
        ratio = np.ascontiguousarray(self.rows[: rows + 1, chain.RATIO])
        first, last = np.sign(on_P - on_Q * ratio[:rows]), np.zeros(rows)
        within = len(ratio) - 1
        last[:within] = np.sign(on_P[:within] - on_Q[:within] * ratio[1:])
        if within < rows:
            kind = self.piece(within).kind
            last[-1] = 1 - 2 * point if kind == GENERIC or kind == (PLUS, MINUS)[point] else 0
        return first, last

    def _crossings_inside(
        self, row: int, point: int, begin: int, end: int, above: float
    ) -> list[tuple[Place, int]]:
        """Return the zeros inside a piece of given signs at its ends, the slope changing sign at most once."""
        piece, start = self.piece(row), float(self.rows[row, chain.F_PLUS + point]) - above
        length = inf if row + 1 == len(self.rows) else float(self.rows[row + 1, chain.LENGTH])
        turn = _turn(piece, point)
        bounds, signs = [0.0, length], [begin, end]
        if 0 < turn < length:
            bounds.insert(1, turn)
            signs.insert(1, int(np.sign(start + learn(piece, turn, move(piece, turn).L)[point])))
        return [
            (Place(row, _zero(piece, start, point, bounds[n], bounds[n + 1], signs[n])), signs[n + 1])
            for n in range(len(bounds) - 1)
            if signs[n] * signs[n + 1] < 0
        ]


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
    q = (low + high) / 2 if high < inf else 2 * low + 1
    last = inf
    for _ in range(_ITERATIONS):
        motion = move(piece, q)
        value = start + learn(piece, q, motion.L)[point]
        slope = _slope(piece, point, motion.r)
        low, high = (q, high) if value * before > 0 else (low, q)
        step = -value / slope if slope * before < 0 else inf
        if abs(step) <= 2e-16 * q or last <= abs(step) <= 1e-9 * q:
            return q + step
        last, following = abs(step), q + step
        if not low < following < high:
            following = (low + high) / 2 if high < inf else 2 * q + 1
        if following == q:
            return q
        q = following
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

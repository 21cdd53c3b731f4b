"""A finished flow in doubles: its rows, and everything that can be read off them at any time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp, inf, log, log1p
from typing import Any

import numpy as np
import numpy.typing as npt

from reduced.solve.swift import chain
from reduced.solve.swift.chain import Setting
from reduced.solve.swift.duration import duration
from reduced.solve.swift.piece import GENERIC, MINUS, PLUS, STILL, Motion, Piece, learn, move, start_piece

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer[Any]]

PATTERNS = ("--", "++", "+-", "-+", "0+", "+0")
"""The names of the pattern codes (x₊ then x₋: ``+`` active, ``-`` inactive, ``0`` sliding)."""

_HUGE = 1e300
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
    units of contributions |a|⟨b,x±⟩ to f±; scale is |a|.
    """

    setting: Setting
    scale: float
    sign: Integers
    pattern: Integers
    u: Floats
    v: Floats
    rows: Floats
    switches: Integers

    @cached_property
    def counts(self) -> Integers:
        """Living and dead neurons by pattern code after every row, (n, 6)."""
        steps = np.zeros((len(self.rows), len(PATTERNS)), np.int32)
        steps[0] = np.bincount(self.pattern, minlength=len(PATTERNS))
        rows = np.flatnonzero(self.switches[:, 0] != chain.NOBODY)
        steps[rows, self.switches[rows, 1]] -= 1
        steps[rows, self.switches[rows, 2]] += 1
        return np.cumsum(steps, axis=0, dtype=np.int32)

    def piece(self, row: int) -> Piece:
        """Return the smooth piece that starts at a row."""
        living = (int(n) for n in self.counts[row, 1:])
        ratio, delta = (float(self.rows[row, column]) for column in (chain.RATIO, chain.DELTA))
        return start_piece(self.setting.angle, *living, ratio, delta)

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
        known = float(row[chain.LOG_TIME]) if t >= _HUGE else log(t) if t > 0 else -inf
        if value == 0:
            return t, known
        step = log(value) + exponent + float(row[chain.F_PLUS]) - self.setting.log_force
        high, low = max(step, known), min(step, known)
        total = high + log1p(exp(low - high))
        return (t + exp(step) if total < log(_HUGE) else inf), total

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

    def final_sign(self, point: int) -> int:
        """Return the sign of f₊ (point 0) or f₋ (point 1) as t → ∞."""
        last = len(self.rows) - 1
        kind = self.piece(last).kind
        if kind == GENERIC or kind == (PLUS, MINUS)[point]:
            return 1 - 2 * point
        return int(np.sign(self.rows[last, chain.F_PLUS + point]))

    def crossings(self, point: int) -> list[tuple[Place, int]]:
        """Return where f₊ (point 0) or f₋ (point 1) passes zero, with the direction of passing."""
        f = self.rows[:, chain.F_PLUS + point]
        n1, n2, n3, n4, n5 = self.counts[:, 1:].T
        c, s2 = self.setting.angle.c, self.setting.angle.s2
        speeds = (n1 + n2 + s2 * n5, c * n1) if point == 0 else (c * n1, n1 + n3 + s2 * n4)
        slope = np.sign(speeds[0] - speeds[1] * self.rows[:, chain.RATIO])
        ending = np.append(
            np.sign(speeds[0][:-1] - speeds[1][:-1] * self.rows[1:, chain.RATIO]), self._last_slope(point)
        )
        here = np.sign(f)
        there = np.append(here[1:], self.final_sign(point))
        turning = (slope * ending < 0) & (slope * np.where(here == 0, -slope, here) < 0)
        found = []
        for row in np.flatnonzero((here * there <= 0) & ((here != 0) | (slope != 0)) | turning):
            found += self._crossings_of_piece(int(row), point)
        return found

    def _last_slope(self, point: int) -> int:
        kind = self.piece(len(self.rows) - 1).kind
        return 1 - 2 * point if kind == GENERIC or kind == (PLUS, MINUS)[point] else 0

    def _crossings_of_piece(self, row: int, point: int) -> list[tuple[Place, int]]:
        """Return the zeros of a prediction inside one piece, whose slope changes sign at most once."""
        piece, start = self.piece(row), float(self.rows[row, chain.F_PLUS + point])
        last = row + 1 == len(self.rows)
        end = inf if last else float(self.rows[row + 1, chain.LENGTH])
        if piece.kind == STILL or (not last and end == 0):
            return []

        def value(q: float) -> float:
            return start + float(learn(piece, q, move(piece, q).L)[point])

        turn = _turn(piece, point)
        bounds = [0.0, *([turn] if 0 < turn < end else []), end]
        first = piece.A - piece.B * piece.r if point == 0 else piece.B - piece.D * piece.r
        signs = [np.sign(start) or np.sign(first)]
        signs += [self.final_sign(point) if bound == inf else np.sign(value(bound)) for bound in bounds[1:]]
        pairs = zip(bounds, bounds[1:], signs, signs[1:], strict=False)
        return [
            (Place(row, _zero(value, low, high)), int(after))
            for low, high, before, after in pairs
            if before * after < 0
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


def _zero(value: Any, low: float, high: float) -> float:
    """Return the zero of a function that changes sign once on [low, high], by bisection and secants (Illinois)."""
    at_low = value(low)
    if high == inf:
        high = max(1.0, 2 * low)
        while value(high) * at_low > 0 or (at_low == 0 and value(high) == 0):
            low, high = high, 2 * high
            at_low = value(low)
    at_high = value(high)
    kept = 0
    for _ in range(_ITERATIONS):
        if at_high == 0 or at_low == at_high:
            return high
        q = high - at_high * (high - low) / (at_high - at_low)
        if not min(low, high) < q < max(low, high):
            return high
        at_q = value(q)
        if at_q * at_high < 0:
            low, at_low, kept = high, at_high, 0
        else:
            kept += 1
            at_low *= 0.5 if kept else 1.0
        if abs(q - high) <= 2e-16 * abs(q):
            return q
        high, at_high = q, at_q
    return high


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
    return q

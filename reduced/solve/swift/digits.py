"""The m-neuron flow to any number of digits: the chain of events in mpf numbers, as a :class:`Flow`."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from reduced.records import Event, Outcome
from reduced.solve.flow import TIE, Flow, Geometry, Particle, Ridge, Segment, Stay
from reduced.solve.swift import chain
from reduced.solve.swift.chain import COLUMNS, NOBODY, PATTERNS, Record, Setting
from reduced.solve.swift.closed_form import block_of, path_of
from reduced.solve.swift.engine import Start, follow, level_of
from reduced.solve.swift.kernels import Interpreted
from reduced.solve.swift.piece import Angle, start_piece
from reduced.solve.swift.start import pattern

_PASSAGES = {(0, 1): ("c", 1), (1, 0): ("c", -1), (1, 2): ("1/c", 1), (2, 1): ("1/c", -1)}
_UNBOUNDED = 2**62


def neuron_flow(
    ctx: Any,
    geometry: Geometry,
    neurons: Sequence[Particle],
    predictions: tuple[Any, Any],
    until: Any | None = None,
    ridge: Ridge | None = None,
    max_events: int | None = None,
) -> NeuronFlow:
    """Solve the flow of neurons (particles of mass 1, labelled 0, 1, …) as :func:`exact_flow` does, faster.

    Arguments and result as there: ctx, a private mpmath context; geometry; neurons with their (u, v)/|a|;
    predictions (f₊, f₋) at t = 0; until; ridge; max_events. Raises NotUnique.
    """
    scale = geometry.scale
    ratio = geometry.w_minus / geometry.w_plus * ctx.exp(predictions[0] + predictions[1])
    c, s2 = geometry.c, geometry.s2
    angle = Angle(c, 1 - c, s2, s2 / c, ctx.ldexp(1, 1 - ctx.prec))
    force = scale * geometry.w_plus
    setting = Setting(
        angle,
        force,
        ctx.log(force),
        inf if until is None else until,
        inf if until is None or until <= 0 else ctx.log(until),
        _UNBOUNDED if max_events is None else max_events + 1,
        ctx.ldexp(1, TIE - ctx.prec),
        ridge != "active",
    )
    level = level_of(ratio - c, angle.gap)
    start = Start(
        [neuron.sign for neuron in neurons],
        [pattern(neuron.sign, neuron.u, neuron.v, level, ridge) for neuron in neurons],
        [neuron.u * scale for neuron in neurons],
        [neuron.v * scale for neuron in neurons],
        *predictions,
        ratio,
        ratio - c,
        level,
    )
    record, why = follow(setting, start, Interpreted())
    return _Reading(ctx, geometry, angle, start, record, why).flow(tuple(neurons))


class NeuronFlow(Flow):
    """A flow whose predictions are exactly 0 where no neuron contributes to them, so that signs are certain."""

    def crossings(self, point: int) -> list[tuple[int, Any, int]]:
        """Return where the sign of f₊ (point 0) or f₋ (point 1) changes, with the sign from there on.

        Places are (segment index, q). Segments without a change are passed over by the signs of value and slope
        at their ends: inside, the slope changes sign at most once.
        """
        sign = self.ctx.sign
        found: list[tuple[int, Any, int]] = []
        left = None
        for index, segment in enumerate(self.segments):
            value = (segment.f_plus, segment.f_minus)[point]
            first, last, end = self._signs(index, point)
            begin = int(sign(value)) or first
            if left is not None and left != begin:
                found.append((index, self.ctx.zero, begin))
            if begin * end < 0 or (first * last < 0 and first * begin < 0):
                found += [(index, q, direction) for q, direction in segment.crossings(point)]
            left = end
        return found

    def _signs(self, index: int, point: int) -> tuple[int, int, int]:
        """Return the signs of a prediction's slope at a segment's start and end, and of its value at the end."""
        segment, sign = self.segments[index], self.ctx.sign
        form, block = segment.prediction_form(point), segment.block
        first = int(sign(form.on_S * block.P0 + form.on_R * block.Q0))
        if index + 1 < len(self.segments):
            after = self.segments[index + 1]
            last = int(sign(form.on_S * after.block.P0 + form.on_R * after.block.Q0))
            return first, last, int(sign((after.f_plus, after.f_minus)[point])) or -last
        final = self.final_sign(point)
        return first, final, final


class _Reading:
    """A record read row by row into segments, events and stays."""

    def __init__(
        self, ctx: Any, geometry: Geometry, angle: Angle, start: Start, record: Record, why: int
    ) -> None:
        self.ctx, self.geometry, self.angle, self.why = ctx, geometry, angle, why
        self.rows, self.switches = record.rows, record.switches
        self.used = record.counts[chain.ROWS]
        self.first = start.pattern
        self.counts = [start.pattern.count(code) for code in range(len(PATTERNS))]

    def flow(self, neurons: tuple[Particle, ...]) -> NeuronFlow:
        segments: list[Segment] = []
        events: list[Event] = []
        passages: list[tuple[Any, str, int]] = []
        stays = [[Stay(0, PATTERNS[code], n.u, n.v)] for n, code in zip(neurons, self.first, strict=True)]
        for row in range(self.used):
            who, before, after = self.switches[3 * row : 3 * row + 3]
            time = self.at(row, chain.TIME)
            if who != NOBODY:
                self.counts[before] -= 1
                self.counts[after] += 1
                kind = chain.KINDS[chain.kind_of(before, after)]
                residual = self.residual(stays[who][-1], row, neurons[who].sign, before, after)
                label = neurons[who].label
                events.append(Event(time, kind, label, PATTERNS[before], PATTERNS[after], residual))
                stays[who].append(self.stay(len(segments), row, neurons[who].sign, after))
            elif row > 0:
                passages.append((time, *_PASSAGES[before, after]))
            length = self.length(row)
            if length is None or length > 0 or row + 1 == self.used:
                segments.append(self.segment(row, length))
        return NeuronFlow(
            self.ctx,
            self.geometry,
            neurons,
            tuple(segments),
            tuple(events),
            tuple(passages),
            {neuron.label: tuple(found) for neuron, found in zip(neurons, stays, strict=True)},
            Outcome.BUDGET if self.why == chain.BUDGET else Outcome.FINISHED,
        )

    def at(self, row: int, column: int) -> Any:
        return self.rows[row * COLUMNS + column]

    def length(self, row: int) -> Any | None:
        """Return the q of the piece after a row: None when it is endless, 0 when the budget ends there."""
        if row + 1 == self.used and self.why != chain.CUT:
            return None if self.why == chain.ENDED else self.ctx.zero
        return self.at(row + 1, chain.LENGTH)

    def segment(self, row: int, length: Any | None) -> Segment:
        scale, f_plus = self.geometry.scale, self.at(row, chain.F_PLUS)
        ratio, delta = self.at(row, chain.RATIO), self.at(row, chain.DELTA)
        n1, n2, n3, n4, n5 = self.counts[1:]
        piece = start_piece(self.angle, n1, n2, n3, n4, n5, ratio, delta)
        return Segment(
            self.at(row, chain.TIME),
            f_plus,
            self.at(row, chain.F_MINUS),
            self.at(row, chain.S) / scale,
            self.at(row, chain.R) / scale,
            block_of(piece, scale, self.geometry.w_plus * self.ctx.exp(-f_plus)),
            None if length is None else path_of(piece, scale, length),
        )

    def stay(self, segment: int, row: int, sign: int, code: int) -> Stay:
        on_u, on_v = chain.clock_forms(self.angle.c, self.angle.s2, code, self.rows, row * COLUMNS)
        u, v = self.at(row, chain.U) - sign * on_u, self.at(row, chain.V) - sign * on_v
        return Stay(segment, PATTERNS[code], u / self.geometry.scale, v / self.geometry.scale)

    def residual(self, stay: Stay, row: int, sign: int, before: int, after: int) -> Any:
        """Return by how much a neuron misses, for rounding, the kink it reaches in a row (0 when it leaves one)."""
        if before >= chain.SLIDE_PLUS:
            return self.ctx.zero
        forms = chain.clock_forms(self.angle.c, self.angle.s2, before, self.rows, row * COLUMNS)
        reached = int(PATTERNS[before][0] == PATTERNS[after][0])
        return (stay.u, stay.v)[reached] + sign * forms[reached] / self.geometry.scale

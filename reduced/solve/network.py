"""The whole m-neuron flow solved exactly: every neuron its own particle, times to any number of digits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import floor, log10
from typing import Any

from reduced.errors import InputError
from reduced.numbers import Exact, cos, exact, sin
from reduced.numbers import sign as sign_of
from reduced.records import Event, Loss, Outcome, Problem
from reduced.shown import shown
from reduced.solve.accuracy import Plateau, plateaus
from reduced.solve.flow import DEAD, Flow, Geometry, Particle, Ridge, Segment, exact_flow
from reduced.solve.promise import keep_promise, private_context
from reduced.solve.weights import checked_network

TIMES = ("last_phase_one_event", "T_r_equals_c", "T_plat", "T_II", "T_III_PT", "T_III")

# Below this angle the times between events overflow the fast chain's logarithms; the plain driver has none.
NARROW = exact("1/1000")


@dataclass(frozen=True)
class ExactRun:
    """An exact network flow as mpf numbers.

    times: flow times by name (:data:`TIMES`, None when the event never comes); predictions: (f₊, f₋) at each
    of these and at ``start``; positive, negative, dead: neuron indices at the end; plateaus: (start, end or
    None, accuracy); events in order; flow: the solved flow, for predictions and weights at any time.
    """

    times: dict[str, Any]
    predictions: dict[str, tuple[Any, Any]]
    positive: tuple[int, ...]
    negative: tuple[int, ...]
    dead: tuple[int, ...]
    plateaus: tuple[Plateau, ...]
    events: tuple[Event, ...]
    outcome: Outcome
    flow: Flow

    __repr__ = shown

    def _repr_html_(self) -> str:
        from reduced.report import tables

        return tables.network_html(self)

    def numbers(self) -> list[Any]:
        """Return every number that must be right."""
        return [
            *self.times.values(),
            *(event.time for event in self.events),
            *(f for pair in self.predictions.values() for f in pair),
        ]


def network_flow(
    W: Any,
    sign: Any,
    problem: Problem,
    digits: int = 30,
    until: Any | None = None,
    ridge: Ridge | None = None,
    max_events: int | None = None,
) -> ExactRun:
    """Solve the gradient flow of an m-neuron network on the two data points exactly.

    Arguments: W (m, d) and sign (m,), the initial weights and ±1, standing for their exact binary values;
    problem, of which p, delta and kappa2 count (exponential loss); digits, right in every number; until, the
    last flow time of interest (None: for ever); ridge, the choice on repelling ridges and in the origin, where a
    neuron that comes by moving rests unless it is ``active``; max_events, a budget. Returns an ExactRun. Raises
    InputError, or NotUnique for a start on a repelling ridge or in the origin. Derived here.
    """
    from reduced.solve.swift.digits import neuron_flow

    if problem.loss is not Loss.EXP:
        raise InputError("method", "exact", f"ode: loss {problem.loss.value} has no closed form")
    W, sign = checked_network(W, sign)
    horizon = None if until is None else exact(until, "until")
    narrow = sign_of(problem.delta - NARROW) < 0
    smallest = min((abs(float(w)) for row in W for w in row[:2] if w), default=1.0)

    def compute(ctx: Any) -> ExactRun:
        end = None if horizon is None else horizon.evaluate(ctx)
        solve = exact_flow if narrow else neuron_flow
        return measure(solve(ctx, *setting(ctx, W, sign, problem), end, ridge, max_events), end)

    return keep_promise(compute, ExactRun.numbers, digits, 20 + _zeros(smallest) + _zeros_of(problem.delta))


def setting(
    ctx: Any, W: Any, sign: Any, problem: Problem
) -> tuple[Geometry, list[Particle], tuple[Any, Any]]:
    """Return geometry, particles (u = ⟨b,x₊⟩√m/κ₂) and predictions; x± = (±sin(Δ/2), −cos(Δ/2), 0, …)."""
    m = len(W)
    p, kappa2 = problem.p.evaluate(ctx), problem.kappa2.evaluate(ctx)
    across, along = sin(problem.delta / 2).evaluate(ctx), cos(problem.delta / 2).evaluate(ctx)
    unscale = ctx.sqrt(m) / kappa2
    particles = []
    for k in range(m):
        first, second = ctx.mpf(float(W[k][0])) * across, ctx.mpf(float(W[k][1])) * along
        particles.append(
            Particle(k, int(sign[k]), 1, (first - second) * unscale, (-first - second) * unscale)
        )
    scale = kappa2**2 / m
    geometry = Geometry(
        cos(problem.delta).evaluate(ctx),
        (sin(problem.delta) ** 2).evaluate(ctx),
        p / (1 + p),
        1 / (1 + p),
        scale,
    )
    f_plus = scale * ctx.fsum(q.sign * max(q.u, 0) for q in particles)
    f_minus = scale * ctx.fsum(q.sign * max(q.v, 0) for q in particles)
    return geometry, particles, (f_plus, f_minus)


def measure(flow: Flow, until: Any | None = None) -> ExactRun:
    """Read the phase times off the log of a flow, accuracies up to the last time of interest (None: for ever)."""
    ctx = flow.ctx
    reached = next((t for t, name, direction in flow.ratio_events if name == "c" and direction > 0), None)
    first = flow.segments[0]
    if flow.geometry.c * first.block.P0 <= first.block.Q0:
        reached = first.t
    bound = ctx.inf if reached is None else reached
    final = {label: stays[-1].pattern for label, stays in flow.stays.items()}
    signs = {particle.label: particle.sign for particle in flow.particles}
    early = [event.time for event in flow.events if event.time < bound]
    late = [event for event in flow.events if event.time >= bound]
    losses = [e for e in late if signs[e.neuron] > 0 and e.before == "++" and e.after[1] != "+"]
    lasting = [e.time for e in losses if final[e.neuron] != DEAD]
    regained = [e.time for e in late if signs[e.neuron] < 0 and e.before[0] == "0" and e.after[0] == "+"]
    end = until if flow.outcome is Outcome.FINISHED else None
    passages = [_passages(flow, point, end) for point in (0, 1)]
    learned = [_learned(flow, point, passages[point], end) for point in (0, 1)]
    falls = [passage for passage in passages[1] if passage.sign < 0]
    last_sign = flow.final_sign(1) if end is None else ctx.sign(flow.predictions(end)[1])
    plateau_end = None
    if last_sign < 0 and learned[1] is not None:
        plateau_end = falls[-1].t if falls else ctx.zero
    times = {
        "last_phase_one_event": early[-1] if early else None,
        "T_r_equals_c": reached,
        "T_plat": plateau_end,
        "T_II": losses[0].time if losses else None,
        "T_III_PT": lasting[-1] if lasting else None,
        "T_III": regained[0] if regained else None,
    }
    predictions = {"start": (flow.segments[0].f_plus, flow.segments[0].f_minus)}
    starts = {segment.t: (segment.f_plus, segment.f_minus) for segment in flow.segments}
    last = flow.segments[-1]
    if last.length is not None:
        starts[flow.time(len(flow.segments) - 1, last.length)] = last.predictions(last.length)
    for name, t in times.items():
        if t is not None and name != "T_plat":
            predictions[name] = starts[t]
    if plateau_end is not None and falls:
        fall = falls[-1]
        predictions["T_plat"] = (flow.segments[fall.segment].predictions(fall.q)[0], ctx.zero)
    elif plateau_end is not None:
        predictions["T_plat"] = predictions["start"]
    living = [label for label, pattern in final.items() if pattern != DEAD]
    return ExactRun(
        times,
        predictions,
        tuple(int(k) for k in living if signs[k] > 0),
        tuple(int(k) for k in living if signs[k] < 0),
        tuple(int(k) for k, pattern in final.items() if pattern == DEAD),
        _plateaus(flow, passages, learned),
        flow.events,
        flow.outcome,
        flow,
    )


@dataclass(frozen=True)
class _Passage:
    """Where f₊ or f₋ passes a value: time, segment and q, and the side it is on from there."""

    t: Any
    segment: int
    q: Any
    sign: int


def _passages(flow: Flow, point: int, end: Any | None) -> list[_Passage]:
    """Return where f₊ or f₋ passes zero up to a time."""
    found = (_Passage(flow.time(i, q), i, q, sign) for i, q, sign in flow.crossings(point))
    return [passage for passage in found if end is None or passage.t <= end]


def _plateaus(
    flow: Flow, passages: Sequence[Sequence[_Passage]], learned: Sequence[Any | None]
) -> tuple[Plateau, ...]:
    first = flow.segments[0]
    changes = [(one.t, point, one.sign) for point in (0, 1) for one in passages[point]]
    return plateaus([_begins(first, 0) > 0, _begins(first, 1) < 0], changes, flow.geometry.weights, learned)


def _learned(flow: Flow, point: int, passages: Sequence[_Passage], end: Any | None) -> Any | None:
    """Return the time up to ``end`` from which the sign of f₊ or f₋ is not that of the random start, or None."""
    begin = flow.segments[0].prediction_form(point).e0
    if begin == 0:
        return flow.ctx.zero
    times = [passage.t for passage in passages[:1]]
    for index, segment in enumerate(flow.segments):
        form = segment.prediction_form(point)
        doubled = next(segment.block.roots(replace(form, e0=form.e0 - 2 * begin)), None)
        if doubled is not None and (segment.length is None or doubled[0] <= segment.length):
            t = flow.time(index, doubled[0])
            return min([*times, t]) if end is None or t <= end else min(times, default=None)
        if times and segment.t > times[0]:
            break
    return min(times, default=None)


def _begins(segment: Segment, point: int) -> Any:
    """Return a number with the sign f₊ or f₋ has from the start of a segment on."""
    value, form = (segment.f_plus, segment.f_minus)[point], segment.prediction_form(point)
    return value if value != 0 else form.on_S * segment.block.P0 + form.on_R * segment.block.Q0


def _zeros(value: float) -> int:
    """Return the number of decimal zeros in front of a small positive number."""
    return max(0, 1 - floor(log10(value)))


def _zeros_of(delta: Exact) -> int:
    """Return the digits that Δ² − differences (g − h r and the like) may cancel."""
    return 4 * _zeros(float(delta.evaluate(private_context(15))))

"""The whole m-neuron flow solved exactly: every neuron its own particle, times to any number of digits."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10
from typing import Any

from reduced.errors import InputError
from reduced.numbers import Exact, cos, exact, sin
from reduced.numbers import sign as sign_of
from reduced.records import Event, Loss, Outcome, Problem
from reduced.solve.flow import DEAD, Flow, Geometry, Particle, Ridge, Segment, exact_flow
from reduced.solve.promise import keep_promise, private_context

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
    plateaus: tuple[tuple[Any, Any | None, Any], ...]
    events: tuple[Event, ...]
    outcome: Outcome
    flow: Flow

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
    last flow time of interest (None: for ever); ridge, the choice on repelling ridges; max_events, a budget.
    Returns an ExactRun. Raises InputError, or NotUnique for a start on a repelling ridge. Derived here.
    """
    from reduced.solve.swift.digits import neuron_flow

    if problem.loss is not Loss.EXP:
        raise InputError("method", "exact", f"ode: loss {problem.loss.value} has no closed form")
    horizon = None if until is None else exact(until, "until")
    narrow = sign_of(problem.delta - NARROW) < 0
    smallest = min((abs(float(w)) for row in W for w in row[:2] if w), default=1.0)

    def compute(ctx: Any) -> ExactRun:
        end = None if horizon is None else horizon.evaluate(ctx)
        solve = exact_flow if narrow else neuron_flow
        return measure(solve(ctx, *setting(ctx, W, sign, problem), end, ridge, max_events))

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


def measure(flow: Flow) -> ExactRun:
    """Read the phase times off the log of a flow."""
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
    falls = [place for place in flow.crossings(1) if place[2] < 0]
    plateau_end = None
    if flow.final_sign(1) < 0:
        plateau_end = flow.time(*falls[-1][:2]) if falls else ctx.zero
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
        index, q, _ = falls[-1]
        predictions["T_plat"] = (flow.segments[index].predictions(q)[0], ctx.zero)
    living = [label for label, pattern in final.items() if pattern != DEAD]
    return ExactRun(
        times,
        predictions,
        tuple(int(k) for k in living if signs[k] > 0),
        tuple(int(k) for k in living if signs[k] < 0),
        tuple(int(k) for k, pattern in final.items() if pattern == DEAD),
        _plateaus(flow, times["last_phase_one_event"]),
        flow.events,
        flow.outcome,
        flow,
    )


def _plateaus(flow: Flow, settled: Any | None) -> tuple[tuple[Any, Any | None, Any], ...]:
    """Return the stretches of constant accuracy below 1, without levels that pass before Phase I is over."""
    weight = (flow.geometry.w_plus, flow.geometry.w_minus)
    first = flow.segments[0]
    right = [_begins(first, 0) > 0, _begins(first, 1) < 0]
    changes = [(flow.ctx.zero, sum(w for w, ok in zip(weight, right, strict=True) if ok))]
    passages = [
        (flow.time(i, q), point, direction) for point in (0, 1) for i, q, direction in flow.crossings(point)
    ]
    for t, point, direction in sorted(passages):
        is_right = direction > 0 if point == 0 else direction < 0
        if is_right != right[point]:
            right[point] = is_right
            changes.append((t, sum(w for w, ok in zip(weight, right, strict=True) if ok)))
    ends = [t for t, _ in changes[1:]] + [None]
    return tuple(
        (start, end, level)
        for (start, level), end in zip(changes, ends, strict=True)
        if level < 1 and (end is None or end > (settled or 0))
    )


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

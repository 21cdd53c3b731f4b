"""The collapsed model in balls: the flow of the two groups, every decision of it proved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from reduced.errors import InputError
from reduced.numbers import ExactLike
from reduced.records import Problem, Regime, Start, Timeline
from reduced.solve.enclosure.answer import Enclosure, certify, enclosure
from reduced.solve.enclosure.ball import Ball, BallContext, Undecided, proved_sign
from reduced.solve.enclosure.piece import BallClosedForm
from reduced.solve.flow import Flow
from reduced.solve.limit import LimitValues, limit_values
from reduced.solve.predict import checked_times
from reduced.solve.timeline import (
    Moments,
    check_state,
    collapsed_flow,
    moments,
    outcome_of,
    predictions_of_groups,
    regime,
    require_exponential,
)


@dataclass(frozen=True)
class EnclosedTimeline(Timeline):
    """A Timeline whose every number is within a proved radius of what is printed.

    ``radius`` holds one decimal string per time (None for an infinite one), ``prediction_radius`` a pair per
    prediction. The numbers carry a few digits more than ``digits``; each radius is below half a unit of the
    last digit asked.
    """

    radius: dict[str, str | None] = field(default_factory=dict)
    prediction_radius: dict[str, tuple[str | None, str | None] | None] = field(default_factory=dict)


@dataclass(frozen=True)
class EnclosedPoint:
    """The collapsed model at one flow time: f₊, f₋ and the loss w₊ e^{−f₊} + w₋ e^{f₋}."""

    t: Enclosure
    f_plus: Enclosure
    f_minus: Enclosure
    loss: Enclosure


@dataclass(frozen=True)
class EnclosedLimit:
    """The end of training: ρ = lim r and the normalised margin γ."""

    regime: Regime
    rho: Enclosure
    gamma: Enclosure


def enclosure_timeline(problem: Problem, start: Start, digits: int = 30) -> EnclosedTimeline:
    """Enclose T_plat, T_II and T_III and the predictions there, from exact input with outward rounding.

    Arguments: problem (exponential loss); start, the state at flow time 0; digits asked. The flow is solved
    event by event in balls: every event is a proved root, and proved to be the first, since each competing
    distance is certified positive there and monotone up to there. Raises InputError as ``timeline`` does, and
    Undecided for an equality that neither balls nor symbols can decide. Source: closed form derived here.
    """
    require_exponential(problem)
    check_state(problem, start)

    def answer(found: Moments) -> EnclosedTimeline:
        return _record(problem, start, found, digits)

    return certify(lambda ctx: moments(_proved_flow(ctx, problem, start)), Moments.numbers, answer, digits)


def enclosure_predict(
    problem: Problem, start: Start, at: Sequence[ExactLike], digits: int = 30
) -> tuple[EnclosedPoint, ...]:
    """Enclose f₊, f₋ and the loss at given flow times t ≥ 0.

    Arguments and errors as for ``predict``; the path parameter of each time is a proved root of the time
    equation, which is monotone.
    """
    require_exponential(problem)
    check_state(problem, start)
    times = checked_times(at)

    def compute(ctx: BallContext) -> list[tuple[Ball, ...]]:
        flow = _proved_flow(ctx, problem, start)
        return [_state(flow, ctx.enclose(time)) for time in times]

    def answer(found: list[tuple[Ball, ...]]) -> tuple[EnclosedPoint, ...]:
        return tuple(EnclosedPoint(*(enclosure(ball, digits) for ball in state)) for state in found)

    return certify(compute, lambda found: [ball for state in found for ball in state], answer, digits)


def enclosure_limit(problem: Problem, digits: int = 30) -> EnclosedLimit:
    """Enclose the margin γ and ρ of the limit direction (both groups must be non-empty).

    Source: Thm 4.10–4.11; margins derived here. The regime is decided exactly.
    """

    def compute(ctx: BallContext) -> LimitValues:
        found = limit_values(ctx, problem)
        if found.regime is not regime(problem, proved_sign):
            raise Undecided("alpha_minus", problem.alpha_minus, "a fraction whose regime balls confirm")
        return found

    def answer(found: LimitValues) -> EnclosedLimit:
        return EnclosedLimit(found.regime, enclosure(found.rho, digits), enclosure(found.gamma, digits))

    return certify(compute, lambda found: [found.rho, found.gamma], answer, digits)


def _proved_flow(ctx: BallContext, problem: Problem, start: Start) -> Flow:
    """Return the flow of the groups in balls; a start on r = c or 1/c must not pass it at once."""
    flow = collapsed_flow(ctx, problem, start, BallClosedForm())
    first, c = flow.segments[0].block, flow.geometry.c
    climbing = ctx.sign((first.A + first.C) * first.P0 - (first.B + first.D) * first.Q0)
    for name, direction, on_it in (("c", -1, c * first.P0 == first.Q0), ("1/c", 1, c * first.Q0 == first.P0)):
        if on_it and climbing == direction:
            raise InputError(
                "start", f"r = {name} exactly", "a start on one side of it, which balls can tell"
            )
    return flow


def _state(flow: Flow, t: Ball) -> tuple[Ball, ...]:
    ctx, geometry = flow.ctx, flow.geometry
    f_plus, f_minus = predictions_of_groups(flow, *flow.locate(t))
    return t, f_plus, f_minus, geometry.w_plus * ctx.exp(-f_plus) + geometry.w_minus * ctx.exp(f_minus)


def _record(problem: Problem, start: Start, found: Moments, digits: int) -> EnclosedTimeline:
    times = {name: enclosure(time, digits) for name, time in found.times.items()}
    pairs = {
        name: None if pair is None else (enclosure(pair[0], digits), enclosure(pair[1], digits))
        for name, pair in found.predictions.items()
    }
    return EnclosedTimeline(
        problem,
        start,
        regime(problem, proved_sign) if found.both_live else None,
        {name: time.mid for name, time in times.items()},
        {name: None if pair is None else (pair[0].mid, pair[1].mid) for name, pair in pairs.items()},
        "enclosure",
        outcome_of(problem, start, found),
        digits,
        radius={name: time.rad for name, time in times.items()},
        prediction_radius={
            name: None if pair is None else (pair[0].rad, pair[1].rad) for name, pair in pairs.items()
        },
    )

"""The collapsed model in balls: the flow of the two groups, every decision of it proved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from reduced.numbers import ExactLike
from reduced.records import Problem, Regime, Start, Timeline
from reduced.shown import shown
from reduced.solve.enclosure.answer import Enclosure, certify, enclosure
from reduced.solve.enclosure.ball import Ball, BallContext, Undecided, as_ball, proved_sign
from reduced.solve.enclosure.piece import BallClosedForm
from reduced.solve.limit import LimitValues, limit_values
from reduced.solve.predict import PointValues, checked_times, values_at
from reduced.solve.timeline import (
    Moments,
    check_state,
    collapsed_flow,
    moments,
    outcome_of,
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

    __repr__ = shown


@dataclass(frozen=True)
class EnclosedPoint:
    """The collapsed model at one flow time, every number enclosed and every decision proved.

    Fields as in ``predict``'s Point: ``loss`` is w₊ e^{−f₊} + w₋ e^{f₋}; angles in radians, None without a
    direction.
    """

    t: Enclosure
    f_plus: Enclosure
    f_minus: Enclosure
    loss: Enclosure
    phase: str
    accuracy: Enclosure
    angle_plus: Enclosure | None
    angle_minus: Enclosure | None


@dataclass(frozen=True)
class EnclosedLimit:
    """The end of training: ρ = lim r and the normalised margin γ."""

    regime: Regime
    rho: Enclosure
    gamma: Enclosure


def enclosure_timeline(problem: Problem, start: Start, digits: int = 30) -> EnclosedTimeline:
    """Enclose T_plat, T_II and T_III and the predictions there, from exact input with outward rounding.

    Arguments: problem (exponential loss); start, the state at flow time 0; digits asked. Returns an
    EnclosedTimeline. The flow is solved event by event in balls: every event is a proved root, and proved to be
    the first, since each competing distance is certified positive there and monotone up to there. Raises
    InputError as ``timeline`` does, and Undecided for an equality that neither balls nor symbols can decide.
    Source: closed form derived here.
    """
    require_exponential(problem, "enclosure")
    check_state(problem, start)

    def answer(found: Moments) -> EnclosedTimeline:
        return _record(problem, start, found, digits)

    return certify(
        lambda ctx: moments(collapsed_flow(ctx, problem, start, BallClosedForm())),
        Moments.numbers,
        answer,
        digits,
    )


def enclosure_predict(
    problem: Problem, start: Start, at: ExactLike | Sequence[ExactLike], digits: int = 30
) -> tuple[EnclosedPoint, ...]:
    """Enclose f₊, f₋, loss, accuracy and the angles to the limit directions at one or several flow times t ≥ 0.

    Arguments problem, start, at, digits and errors as for ``predict``; returns a point for each time. The path
    parameter of each time is a proved root of the time equation, which is monotone. Derived here.
    """
    require_exponential(problem, "enclosure")
    check_state(problem, start)
    times = checked_times(at)

    def compute(ctx: BallContext) -> list[PointValues]:
        flow = collapsed_flow(ctx, problem, start, BallClosedForm())
        ends = limit_values(ctx, problem) if regime(problem, proved_sign) else None
        return [values_at(flow, ctx.enclose(time), ends, {}, problem.loss) for time in times]

    def answer(found: list[PointValues]) -> tuple[EnclosedPoint, ...]:
        return tuple(_point(values, digits) for values in found)

    return certify(
        compute, lambda found: [ball for values in found for ball in _balls(values)], answer, digits
    )


def enclosure_limit(problem: Problem, digits: int = 30) -> EnclosedLimit:
    """Enclose the margin γ and ρ of the limit direction.

    Arguments: problem, both of whose groups must be non-empty; digits asked. Returns an EnclosedLimit; the
    regime is decided exactly. Raises InputError. Source: Thm 4.10–4.11; margins derived here.
    """

    def compute(ctx: BallContext) -> LimitValues:
        found = limit_values(ctx, problem)
        if found.regime is not regime(problem, proved_sign):
            raise Undecided("alpha_minus", problem.alpha_minus, "a fraction whose regime balls confirm")
        return found

    def answer(found: LimitValues) -> EnclosedLimit:
        return EnclosedLimit(found.regime, enclosure(found.rho, digits), enclosure(found.gamma, digits))

    return certify(compute, lambda found: [found.rho, found.gamma], answer, digits)


def _balls(values: PointValues) -> list[Ball | None]:
    return [None if x is None else as_ball(x) for x in (values.t, *values.numbers())]


def _point(values: PointValues, digits: int) -> EnclosedPoint:
    def shown(number: Ball | int) -> Enclosure:
        return enclosure(as_ball(number), digits)

    t, f, loss = values.t, values.f, values.loss
    angles = [None if angle is None else shown(angle) for angle in values.angles]
    return EnclosedPoint(
        shown(t), shown(f[0]), shown(f[1]), shown(loss), values.phase, shown(values.accuracy), *angles
    )


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

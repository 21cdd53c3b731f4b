"""What the collapsed model says at given times: predictions, loss, accuracy, phase, angles to the limit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from reduced.errors import InputError
from reduced.numbers import Exact, ExactLike, decimal_string, exact, sign
from reduced.records import Loss, Problem, Start
from reduced.shown import shown
from reduced.solve.decay import AngleLaw, flow_laws
from reduced.solve.flow import Flow
from reduced.solve.limit import LimitValues, limit_values
from reduced.solve.pieces import ClosedForm
from reduced.solve.promise import keep_promise
from reduced.solve.taylor import TaylorSeries, budget_of
from reduced.solve.timeline import (
    MINUS,
    PLUS,
    check_state,
    collapsed_flow,
    guard_digits,
    predictions_of_groups,
    regime,
    require_exponential,
)

# Which phase the patterns of (K₊, K₋) mean; None stands for an empty group.
_PHASES = {
    ("++", "0+"): "II",
    ("+0", "0+"): "III",
    ("+0", "++"): "IV",
    ("++", None): "II",
    ("+0", None): "III",
    (None, "0+"): "II",
}


@dataclass(frozen=True)
class Point:
    """The collapsed model at one flow time: decimal strings, angles in radians (None: no direction).

    ``f_plus``, ``f_minus``, ``loss`` L and ``accuracy`` are those of the two points; ``angle_plus`` and
    ``angle_minus`` are between the weights of K₊, K₋ and their limit directions.
    ``phase`` is II, III, IV, or ``overlap`` for a pattern that belongs to none of them; ``angle_plus_law`` and
    ``angle_minus_law`` are the leading laws constant/log t of :func:`~reduced.solve.decay.angle_laws` (None for
    t ≤ 1).
    """

    t: str
    f_plus: str
    f_minus: str
    phase: str
    loss: str
    accuracy: str
    angle_plus: str | None
    angle_minus: str | None
    angle_plus_law: str | None
    angle_minus_law: str | None

    __repr__ = shown

    def _repr_html_(self) -> str:
        from reduced.report import tables

        return tables.points_html((self,))


class Points(tuple[Point, ...]):
    """The collapsed model at several flow times: a tuple, which a notebook shows as one table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        from reduced.report import tables

        return tables.points_html(self)


def predict(
    problem: Problem,
    start: Start,
    at: ExactLike | Sequence[ExactLike],
    digits: int = 30,
    method: str = "exact",
) -> Points:
    """Return the collapsed model's predictions at flow times t ≥ 0, up to 10^1000 and beyond.

    Arguments: problem; start, the state at t = 0; at, one flow time or several (numbers or exact texts); digits
    of every number; method ``exact`` (closed form, exponential loss) or ``taylor`` (both losses). Returns a point
    for each time. Source: derived here; limit directions of Thm 4.10. Raises InputError naming the argument, and
    BudgetExceeded for a time that too many Taylor steps lead to (beyond 10^500 or so).
    """
    if method == "exact":
        require_exponential(problem)
    pieces = ClosedForm() if method == "exact" else TaylorSeries(problem.loss)
    check_state(problem, start)
    times = checked_times(at)

    def compute(ctx: Any) -> list[PointValues]:
        flow = collapsed_flow(ctx, problem, start, pieces)
        ends = limit_values(ctx, problem) if regime(problem) else None
        laws = flow_laws(flow, problem) if method == "exact" else {}
        return [values_at(flow, time.evaluate(ctx), ends, laws, problem.loss) for time in times]

    with budget_of(problem):
        found = keep_promise(
            compute,
            lambda points: [x for p in points for x in p.numbers()],
            digits,
            guard_digits(problem, start),
        )
    return Points(_point(values, digits) for values in found)


def checked_times(values: ExactLike | Sequence[ExactLike]) -> list[Exact]:
    """Return exact flow times ≥ 0 from one number or text, or several; raises InputError naming ``at``."""
    several = isinstance(values, Iterable) and not isinstance(values, str) and getattr(values, "ndim", 1) != 0
    times = [exact(value, "at") for value in (cast(Sequence[ExactLike], values) if several else [values])]
    for time in times:
        if sign(time) < 0:
            raise InputError("at", time, "a flow time ≥ 0")
    return times


@dataclass(frozen=True)
class PointValues:
    """The collapsed model at one flow time, as numbers of the context it was solved in."""

    t: Any
    f: tuple[Any, Any]
    phase: str
    loss: Any
    accuracy: Any
    angles: tuple[Any, Any]
    laws: tuple[Any, Any]

    def numbers(self) -> list[Any]:
        """Return every number that must be right."""
        return [*self.f, self.loss, self.accuracy, *self.angles, *self.laws]


def values_at(
    flow: Flow, t: Any, ends: LimitValues | None, laws: dict[str, AngleLaw], loss_name: Loss
) -> PointValues:
    """Return the collapsed model at a flow time; ends, the limit directions (None: no angles)."""
    index, q = flow.locate(t)
    f_plus, f_minus = predictions_of_groups(flow, index, q)
    states = {particle.label: flow.particle(particle.label, index, q) for particle in flow.particles}
    patterns = _pattern(states, PLUS), _pattern(states, MINUS)
    geometry, ctx = flow.geometry, flow.ctx
    losses = [_loss(ctx, loss_name, margin) for margin in (f_plus, -f_minus)]
    loss = geometry.w_plus * losses[0] + geometry.w_minus * losses[1]
    accuracy = (geometry.w_plus if f_plus > 0 else 0) + (geometry.w_minus if f_minus < 0 else 0)
    angles = (
        _angle(flow, states.get(PLUS), PLUS, ends),
        _angle(flow, states.get(MINUS), MINUS, ends),
    )
    leading = _leading(laws.get(PLUS), t), _leading(laws.get(MINUS), t)
    return PointValues(
        t, (f_plus, f_minus), _PHASES.get(patterns, "overlap"), loss, accuracy, angles, leading
    )


def _loss(ctx: Any, name: Loss, margin: Any) -> Any:
    return ctx.exp(-margin) if name is Loss.EXP else ctx.log1p(ctx.exp(-margin))


def _leading(law: AngleLaw | None, t: Any) -> Any | None:
    """Return the angle's leading law at t, None where log t ≤ 0."""
    return None if law is None or t <= 1 else law.constant / t.context.log(t)


def _pattern(states: dict[int | str, tuple[str, Any, Any]], label: str) -> str | None:
    return states[label][0] if label in states else None


def _angle(
    flow: Flow, state: tuple[str, Any, Any] | None, label: str, ends: LimitValues | None
) -> Any | None:
    """Return the angle of a group's weight vector to its limit v±, exactly 0 when both lie on one kink."""
    if state is None or ends is None or not (state[1] or state[2]):
        return None
    ctx, c, s2 = flow.ctx, flow.geometry.c, flow.geometry.s2
    _, u, v = state
    on_plus, on_minus = ends.v_plus if label == PLUS else ends.v_minus
    u_end, v_end = on_plus + c * on_minus, c * on_plus + on_minus
    if label == PLUS and ends.kink_plus is not None:
        v_end = ctx.zero
    if label == MINUS and ends.kink_minus is not None:
        u_end = ctx.zero
    cross = abs(u * v_end - v * u_end) / ctx.sqrt(s2)
    dot = (u * u_end + v * v_end - c * (u * v_end + v * u_end)) / s2
    return ctx.atan2(cross, dot)


def _point(values: PointValues, digits: int) -> Point:
    def text(value: Any) -> str:
        return decimal_string(value, digits)

    angles = [None if angle is None else text(angle) for angle in (*values.angles, *values.laws)]
    return Point(
        text(values.t),
        text(values.f[0]),
        text(values.f[1]),
        values.phase,
        text(values.loss),
        text(values.accuracy),
        *angles,
    )

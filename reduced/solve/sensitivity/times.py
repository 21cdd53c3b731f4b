"""How the times of the collapsed model depend on its parameters and its start: exact first derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reduced.errors import InputError
from reduced.numbers import decimal_string
from reduced.records import Loss, Problem, Start
from reduced.shown import shown
from reduced.solve.promise import keep_promise
from reduced.solve.sensitivity.jet import Jet, JetContext
from reduced.solve.sensitivity.piece import JetClosedForm
from reduced.solve.timeline import (
    EVENTS,
    Quantities,
    check_state,
    flow_of_groups,
    guard_digits,
    moments,
    quantities,
)

PARAMETERS = (
    "p",
    "delta",
    "alpha_plus",
    "alpha_minus",
    "kappa2",
    "f_plus",
    "f_minus",
    "f_minus_negative",
)
"""What the times are differentiated by: the fields of a Problem and of a Start, each with the others held."""


@dataclass(frozen=True)
class Sensitivity:
    """How one time T depends on each parameter x, keyed by :data:`PARAMETERS`, as decimal strings.

    ``derivative`` holds ∂T/∂x, ``condition`` x/T · ∂T/∂x: the relative change of T per relative change of x.
    """

    derivative: dict[str, str]
    condition: dict[str, str]

    __repr__ = shown


def sensitivities(problem: Problem, start: Start, digits: int = 30) -> dict[str, Sensitivity | None]:
    """Return the exact derivatives of T_plat, T_II and T_III, and their condition numbers, every digit right.

    Arguments: problem (exponential loss); start, the state at flow time 0; digits of every number. Returns
    one Sensitivity per time, None for a time that is infinite or 0 (an event that never comes, or lies before
    the start). A group that starts sliding on its kink is held there. The closed form is differentiated, not
    approximated: roots of the event equations implicitly, the incomplete beta function of the time within its
    series. Raises InputError as ``timeline`` does. Derived here.
    """
    if problem.loss is not Loss.EXP:
        raise InputError("loss", problem.loss.value, "exp: the closed form is what is differentiated")
    check_state(problem, start)
    found = keep_promise(
        lambda ctx: _derivatives(ctx, problem, start),
        lambda times: [x for time in times.values() for x in time or (None,)],
        digits,
        guard_digits(problem, start),
    )
    return {name: None if time is None else _record(time, digits) for name, time in found.items()}


def _derivatives(plain: Any, problem: Problem, start: Start) -> dict[str, tuple[Any, ...] | None]:
    """Return for each time ∂T/∂x, then x/T ∂T/∂x, over all parameters; None when it is infinite or 0."""
    ctx = JetContext(plain, len(PARAMETERS))
    given = _seeded(ctx, problem, start)
    times = moments(flow_of_groups(ctx, given, problem, start, JetClosedForm())).times
    at = [(vars(problem) | vars(start))[name].evaluate(plain) for name in PARAMETERS]
    return {name: _with_conditions(times[name], at) if 0 < times[name] < ctx.inf else None for name in EVENTS}


def _with_conditions(time: Jet, at: list[Any]) -> tuple[Any, ...]:
    return (*time.slopes, *(x * slope / time.value for x, slope in zip(at, time.slopes, strict=True)))


def _seeded(ctx: JetContext, problem: Problem, start: Start) -> Quantities:
    """Return the numbers of the problem and the start with their derivatives by the parameters."""
    plain = quantities(ctx.plain, problem, start)
    sine = ctx.plain.sqrt(plain.s2)
    slopes: dict[str, dict[str, Any]] = {
        "c": {"delta": -sine},
        "s2": {"delta": 2 * sine * plain.c},
        "share_plus": {"f_minus": ctx.plain.one, "f_minus_negative": -ctx.plain.one},
        "share_minus": {"f_minus_negative": ctx.plain.one},
    }
    return Quantities(
        **{
            name: ctx.jet(
                value,
                {PARAMETERS.index(x): slope for x, slope in slopes.get(name, {name: ctx.plain.one}).items()},
            )
            for name, value in vars(plain).items()
        }
    )


def _record(numbers: tuple[Any, ...], digits: int) -> Sensitivity:
    texts = [decimal_string(x, digits) for x in numbers]
    count = len(PARAMETERS)
    return Sensitivity(
        dict(zip(PARAMETERS, texts[:count], strict=True)), dict(zip(PARAMETERS, texts[count:], strict=True))
    )

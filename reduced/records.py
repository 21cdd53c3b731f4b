"""The records that travel between the parts: values without behaviour."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from reduced.shown import shown

if TYPE_CHECKING:
    from reduced.numbers import Exact


class Outcome(StrEnum):
    """How a computation ended; the value is the name scripts see, ``message`` the sentence people read."""

    FINISHED = "finished"
    ALREADY = "already"
    PLATEAU_INFINITE = "plateau-infinite"
    NO_PLATEAU = "no-plateau"
    PHASES_OVERLAP = "phases-overlap"
    NOT_UNIQUE = "not-unique"
    BUDGET = "budget"

    @property
    def message(self) -> str:
        """The outcome in one sentence."""
        return _MESSAGES[self]


_MESSAGES = {
    Outcome.FINISHED: "finished: every event of the timeline was found",
    Outcome.ALREADY: "an event asked for lies before the given state; its time is given as 0",
    Outcome.PLATEAU_INFINITE: "plateau is infinite: one sign has no living neuron, so one point is never right",
    Outcome.NO_PLATEAU: "no plateau: f₋ falls from the start (p cos Δ ≤ 1 + α sin²Δ)",
    Outcome.PHASES_OVERLAP: "the phases overlap: the formulas of separated phases do not apply",
    Outcome.NOT_UNIQUE: "the solution is not unique: the flow starts on a repelling ridge",
    Outcome.BUDGET: "the budget was used up before the end",
}


class Regime(StrEnum):
    """Which phases the training runs through (decided by α = α₋/α₊ against cos Δ and 1/cos Δ)."""

    FOUR_PHASE = "four-phase"
    THREE_PHASE = "three-phase"
    TWO_PHASE = "two-phase"


class Loss(StrEnum):
    """The loss ℓ(z) of the margin z = y f."""

    EXP = "exp"
    LOGISTIC = "logistic"


@dataclass(frozen=True)
class Problem:
    """The collapsed model: two data points at angle Δ, weight ratio p, and living fractions α₊, α₋.

    p > 0; delta = Δ in radians; alpha_plus = |K₊|/m; alpha_minus = |K₋|/m; kappa2 = κ₂, the size of the output
    weights; loss. All numbers are exact; build it with :func:`reduced.problem`, which checks Assumption 3.1.
    """

    p: Exact
    delta: Exact
    alpha_plus: Exact
    alpha_minus: Exact
    kappa2: Exact
    loss: Loss = Loss.EXP

    __repr__ = shown

    def _repr_html_(self) -> str:
        from reduced.report import tables

        return tables.problem_html(self)


@dataclass(frozen=True)
class Start:
    """A state of the collapsed model at flow time 0, in exact numbers; build it with :func:`reduced.start`.

    f_plus = f₊; f_minus = f₋; f_minus_negative = f₋⁽⁻⁾ ≤ 0, the share of the negative group in f₋.
    """

    f_plus: Exact
    f_minus: Exact
    f_minus_negative: Exact

    __repr__ = shown


@dataclass(frozen=True)
class Event:
    """A switch: time, kind (cross/slide/leave/die), the neuron or group, patterns before and after.

    ``time`` is a decimal string or mpf in flow time; ``residual`` is the event function's value at that time.
    """

    time: Any
    kind: str
    neuron: int | str
    before: str
    after: str
    residual: Any = None

    __repr__ = shown


@dataclass(frozen=True)
class Timeline:
    """The times of the collapsed model, its predictions there, and how it ended.

    ``problem`` and ``start`` are what was solved, ``regime`` is None when one group is empty, ``method`` is
    exact, taylor or enclosure, ``outcome`` how it ended, ``events`` the switches of the two groups in order.
    ``times`` and ``predictions`` are keyed ``T_plat``, ``T_II``, ``T_III``; times are decimal strings at
    ``digits`` significant digits (``"inf"`` when the event never comes), predictions are ``(f₊, f₋)`` or
    None.
    """

    problem: Problem
    start: Start
    regime: Regime | None
    times: dict[str, str]
    predictions: dict[str, tuple[str, str] | None]
    method: str
    outcome: Outcome
    digits: int
    events: tuple[Event, ...] = field(default=())

    __repr__ = shown

    def _repr_html_(self) -> str:
        from reduced.report import tables

        return tables.timeline_html(self)

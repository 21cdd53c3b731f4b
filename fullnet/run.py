"""A flow under way: smooth pieces strung together up to a time, within a budget, saved on the way.

A flow whose error is wanted is followed twice, by turns, so that both are equally far whenever they have to
stop.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from fullnet import checks
from fullnet.errors import InputError
from fullnet.history import Ints
from fullnet.pace import BETWEEN_REPORTS, BETWEEN_SAVINGS, Pace
from fullnet.plain import PlainEngine
from fullnet.standing import Log, Standing, first_standing
from fullnet.storage import save
from fullnet.task import Task
from fullnet.trajectory import Outcome, Trajectory, resumed, trajectory, with_shadow

Progress = Callable[[float, int], None]

_MOST = 1 << 40
_AT_ONCE = 256


@dataclass(frozen=True)
class Budget:
    """The most a flow may use: smooth pieces, seconds of wall time, events (None: no bound).

    Where an error estimate is asked for, the seconds are those of both computations together; pieces and events
    are those of the flow, and its second computation goes no further.
    """

    steps: int | None = None
    seconds: float | None = None
    events: int | None = None

    def __post_init__(self) -> None:
        """Check the bounds; raise InputError."""
        for name, bound in (("steps", self.steps), ("events", self.events)):
            if bound is not None:
                checks.count(bound, f"budget {name}", 0)
        if self.seconds is not None and checks.number(self.seconds, "budget seconds") < 0:
            raise InputError("budget seconds", self.seconds, "a number ≥ 0")


@dataclass(frozen=True)
class Checkpoint:
    """Where and how often a flow is saved on the way: path, seconds of wall time between two savings.

    The file is complete at any moment: it is written under another name and then moved. Savings are kept
    rarer than asked where they would take more than a twentieth of the time.
    """

    path: str | Path
    seconds: float = BETWEEN_SAVINGS

    def __post_init__(self) -> None:
        """Check the interval; raise InputError."""
        if checks.number(self.seconds, "checkpoint seconds") < 0:
            raise InputError("checkpoint seconds", self.seconds, "a number ≥ 0")


class Engine(Protocol):
    """What follows a flow: plain NumPy or compiled."""

    def advance(self, until: float, most: int) -> None:
        """Integrate at least one and up to ``most`` smooth pieces, not past a time."""

    def pause(self) -> None:
        """Leave the standing as all that is needed to go on."""


def _engine(task: Task, standing: Standing, log: Log) -> Engine:
    if not task.compiled:
        return PlainEngine(task, standing, log)
    from fullnet.compiled import CompiledEngine

    return CompiledEngine(task, standing, log)


@dataclass(eq=False)
class Run:
    """One computation of a flow: what it is asked, where it began and stands, what it wrote down."""

    task: Task
    start: Ints
    standing: Standing
    log: Log
    engine: Engine = field(init=False)

    def __post_init__(self) -> None:
        """Lay out what follows the flow."""
        self.engine = _engine(self.task, self.standing, self.log)

    @property
    def t(self) -> float:
        """The clock's reading up to which the flow is known."""
        return self.standing.t

    def advance(self, until: float, steps: int | None) -> None:
        """Integrate some smooth pieces, not past a time, and at most ``steps`` of them."""
        self.engine.advance(until, _MOST if steps is None else steps)

    def record(self, until: float, outcome: Outcome) -> Trajectory:
        """Return the flow so far."""
        self.engine.pause()
        return trajectory(self.task, self.standing, self.start, self.log, until, outcome)


def begun(task: Task) -> Run:
    """Return a run at time 0."""
    standing = first_standing(task.network, task.data, task.loss, task.surfaces, task.ridge)
    return Run(task, standing.member.copy(), standing, Log())


def continued(task: Task, earlier: Trajectory) -> Run:
    """Return a run where an earlier part of the same flow ends."""
    if not task.same_as(earlier.task):
        raise InputError("resume", "a flow of another problem", "the same network, data, loss and options")
    return Run(task, earlier.history.start, *resumed(earlier))


@dataclass(eq=False)
class Course:
    """A flow on its way to a time: its run and, for the error estimate, a second one with other roundings.

    The second run follows the first, so it is never behind it by more than what was integrated last.
    """

    until: float
    run: Run
    second: Run | None
    budget: Budget
    on_progress: Progress | None
    checkpoint: Checkpoint | None
    _reports: Pace = field(init=False)
    _savings: Pace = field(init=False)

    def __post_init__(self) -> None:
        """Set the pace of reports and savings."""
        self._reports = Pace(BETWEEN_REPORTS)
        self._savings = Pace(BETWEEN_SAVINGS if self.checkpoint is None else self.checkpoint.seconds)

    def follow(self) -> Trajectory:
        """Go to the end, or until the budget is used up; return the flow."""
        began = time.monotonic()
        while self.behind or self.run.t < self.until:
            if self._exhausted(time.monotonic() - began):
                break
            if self.second is not None and self.behind:
                self.second.advance(self.until, _AT_ONCE)
            else:
                steps = self.budget.steps
                self.run.advance(self.until, None if steps is None else steps - self.run.log.pieces)
                self._catch_up()
                self._report()
        return self.record()

    @property
    def behind(self) -> bool:
        """Whether the second run has not come as far as the first."""
        return self.second is not None and self.second.t < self.run.t

    def _catch_up(self) -> None:
        """Let the second run follow what the first has just integrated."""
        while self.second is not None and self.behind:
            self.second.advance(self.until, _AT_ONCE)

    def _report(self) -> None:
        """Tell how far the flow is, and save it, when it is time to."""
        tell, checkpoint = self.on_progress, self.checkpoint
        if tell is not None:
            self._reports.turn(lambda: tell(self.run.t, self.run.log.moves))
        if checkpoint is not None:
            self._savings.turn(lambda: save(self.record(), checkpoint.path))

    def _exhausted(self, seconds: float) -> bool:
        """Return whether the budget is used up."""
        log, budget = self.run.log, self.budget
        if self.run.t < self.until:
            used = ((log.pieces, budget.steps), (log.moves, budget.events))
            if any(bound is not None and count >= bound for count, bound in used):
                return not self.behind
        return budget.seconds is not None and seconds > budget.seconds

    def record(self) -> Trajectory:
        """Return the flow so far."""
        ended = self.run.t >= self.until and not self.behind
        outcome = Outcome.FINISHED if ended else Outcome.BUDGET
        found = self.run.record(self.until, outcome)
        return found if self.second is None else with_shadow(found, self.second.record(self.until, outcome))

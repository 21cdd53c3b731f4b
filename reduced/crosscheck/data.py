"""The cross-check on any small data set: the reduced model from the condensed state on, against the full flow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import fullnet
from reduced.crosscheck.living import condensed_time, living_system
from reduced.crosscheck.records import Check, CrossCheck
from reduced.numbers import decimal_string
from reduced.records import Event, Loss, Outcome
from reduced.solve.general import GeneralRun, network_start, solve_from

GRID_POINTS = 24
_MARGIN = 10
_ROUNDING = 2.0**-50
_DOUBLE_DIGITS = 17
# Digits to which the engine's exact system and the solver's must agree, of those the solver works with.
_SYSTEM_DIGITS = 20


def crosscheck_data(
    network: fullnet.Network,
    data: fullnet.DataSet,
    loss: Loss | str = Loss.EXP,
    *,
    until: float = 1e4,
    digits: int = 25,
    after: float | None = None,
    ridge: Any = None,
    budget: fullnet.Budget | None = None,
    on_stage: Callable[[str], None] | None = None,
) -> CrossCheck:
    """Compare the reduced model of any data set with the full network, from the condensed state on.

    Arguments: network, data; loss; until, the last flow time compared; digits of the reduced numbers; after,
    the time at which the reduced model takes over (default: found, see :func:`condensed_time`); ridge;
    budget of the numerical flow; on_stage, told in words what is being done. Returns a CrossCheck. A row's
    tolerance is ten times the flow's own error estimate. Raises InputError, fullnet.NotUnique.
    """
    say, named = on_stage or (lambda _: None), Loss(loss)
    say("numerical flow of the network")
    full = fullnet.gradient_flow(
        network, data, until, named.value, ridge=ridge, budget=budget, estimate_error=True
    )
    t1 = condensed_time(full) if after is None else float(after)
    say("derivation of the reduced system")
    system = living_system(full, t1)
    say("reduced model")
    run = reduced_run(full, t1, digits)
    sides = _Sides(full, run, t1, digits)
    checks = (
        sides.system_check(system.matrix),
        *sides.accuracy_checks(),
        *sides.event_checks(),
        *sides.prediction_checks(),
        sides.pattern_check(),
    )
    groups = ", ".join(f"{int(g.fraction * len(network.sign))} {g.name}" for g in system.groups)
    outcome = Outcome.BUDGET if full.outcome is fullnet.Outcome.BUDGET else Outcome.FINISHED
    return CrossCheck(
        checks,
        all(check.agree for check in checks),
        outcome,
        None,
        _living(full),
        (f"reduced model from t = {t1:.6g} on, with the groups {groups}",),
        (),
        None,
    )


def reduced_run(full: fullnet.Trajectory, t1: float, digits: int) -> GeneralRun:
    """Solve the reduced model from the flow's state at t₁ to its end; its times count from t₁.

    Every living neuron is its own particle; the state's doubles stand for their exact values.
    """
    data, network = full.data, full.network
    start = network_start(
        full.neurons(t1),
        [int(s) for s in network.sign],
        data.X,
        [int(y) for y in data.y],
        list(data.weights),
        full.patterns(t1),
        list(full.at(t1)),
    )
    return solve_from(start, kappa2=network.kappa2, loss=full.loss, digits=digits, until=full.end - t1)


@dataclass(frozen=True)
class _Sides:
    """Both sides of the comparison, and how to write rows about them."""

    full: fullnet.Trajectory
    run: GeneralRun
    t1: float
    digits: int

    def system_check(self, derived: Any) -> Check:
        """Compare the engine's derived matrix K with the one the flow starts with."""
        ctx, solved = self.run.flow.ctx, self.run.flow.segments[0].matrix
        size = max(abs(x) for row in solved for x in row)
        exact = [[ctx.mpf(int(x.p)) / int(x.q) for x in derived[i, :]] for i in range(derived.rows)]
        worst = max(
            abs(x - y) / size
            for mine, theirs in zip(solved, exact, strict=True)
            for x, y in zip(mine, theirs, strict=True)
        )
        tolerance = ctx.mpf(10) ** -_SYSTEM_DIGITS
        trace = ctx.fsum(row[i] for i, row in enumerate(exact))
        solved_trace = ctx.fsum(row[i] for i, row in enumerate(solved))
        return Check(
            "derived system, beside the solved (trace)",
            self._text(trace),
            self._text(solved_trace),
            None,
            _short(worst),
            _short(tolerance),
            bool(worst <= tolerance),
            repr(self.t1),
        )

    def accuracy_checks(self) -> Iterator[Check]:
        """Compare the times at which the accuracy changes, and the levels reached."""
        full = [(t, level) for t, level in self.full.accuracy_changes if t > self.t1]
        mine = self.run.accuracy_changes[1:]
        yield _count_check("accuracy changes", _levels(mine), _levels(full))
        for i, ((t, level), (s, _)) in enumerate(zip(full, mine, strict=False), 1):
            tolerance = _MARGIN * max(self._crossing_error(t), _ROUNDING * t)
            yield self._time_check(
                f"end of plateau {i} (accuracy {float(level):.4g} after it)", s, t, tolerance
            )

    def _crossing_error(self, t: float) -> float:
        """Return how well the flow knows the time at which a prediction passes 0: its error over its speed."""
        step = 1e-6 * t
        low, high = max(t - step, self.t1), min(t + step, self.full.end)
        before, after = self.full.at(low), self.full.at(high)
        passing = int(np.argmin(np.where(np.sign(before) != np.sign(after), np.abs(before), np.inf)))
        speed = abs(after[passing] - before[passing]) / (high - low)
        return max(float(self.full.time_error(t)), float(self.full.prediction_error(t)) / float(speed))

    def event_checks(self) -> Iterator[Check]:
        """Compare the switches after t₁: which, and when (the worst is shown)."""
        full = [event for event in self.full.events if event.t > self.t1]
        mine = self.run.events
        yield _count_check("switches", _kinds(mine), _kinds(full))
        times: dict[Any, float] = {(e.neuron, e.before, e.after): e.t for e in full}
        rows = [
            self._switch_check(e, times[e.neuron, e.before, e.after])
            for e in mine
            if (e.neuron, e.before, e.after) in times
        ]
        missing = len(mine) + len(full) - 2 * len(rows)
        yield _count_check("switches on one side only", str(missing), "0")
        if rows:
            yield max(rows, key=lambda row: float(row.difference) / float(row.tolerance))

    def _switch_check(self, event: Event, full: float) -> Check:
        name = f"switch of neuron {event.neuron}, {event.before} to {event.after}"
        return self._time_check(name, event.time, full, _MARGIN * float(self.full.time_error(full)))

    def prediction_checks(self) -> Iterator[Check]:
        """Compare every point's prediction on a log-time grid; the worst time of each point is shown."""
        at_times = [list(self._predictions_at(t)) for t in self._grid()]
        for rows in zip(*at_times, strict=True):
            yield max(rows, key=lambda row: float(row.difference) / float(row.tolerance))

    def _predictions_at(self, t: float) -> Iterator[Check]:
        reduced = self.run.flow.at(self.run.flow.ctx.mpf(t) - self.t1)
        error = float(self.full.prediction_error(t))
        for j, (mine, full) in enumerate(zip(reduced, map(float, self.full.at(t)), strict=True), 1):
            tolerance = _MARGIN * max(error, _ROUNDING * abs(full))
            yield self._row(f"f of point {j} on the grid", mine, full, tolerance, repr(t))

    def pattern_check(self) -> Check:
        """Compare every neuron's pattern on the grid."""
        ctx, grid = self.run.flow.ctx, self._grid()
        wrong = sum(
            a != b
            for t in grid
            for a, b in zip(self.run.flow.patterns(ctx.mpf(t) - self.t1), self.full.patterns(t), strict=True)
        )
        mine, full = (
            f"{sum(alive)} living at the end" for alive in (self.run.living, self.full.living.tolist())
        )
        return Check("patterns on the grid", mine, None, full, str(wrong), "0", wrong == 0 and mine == full)

    def _grid(self) -> list[float]:
        first = max(self.t1, min(1e-3, self.full.end / 10))
        return [float(t) for t in np.geomspace(first, self.full.end, GRID_POINTS + 1)[1:-1]]

    def _time_check(self, quantity: str, since: Any, full: float, tolerance: float) -> Check:
        return self._row(quantity, since + self.t1, full, tolerance, None)

    def _row(self, quantity: str, reduced: Any, full: float, tolerance: float, at: str | None) -> Check:
        difference = abs(float(reduced - full))
        return Check(
            quantity,
            self._text(reduced),
            None,
            decimal_string(self.run.flow.ctx.mpf(full), _DOUBLE_DIGITS),
            _short(difference),
            _short(tolerance),
            difference <= tolerance,
            at,
        )

    def _text(self, value: Any) -> str:
        return decimal_string(value, self.digits)


def _short(value: Any) -> str:
    return f"{float(value):.3g}"


def _count_check(quantity: str, reduced: str, full: str) -> Check:
    same = reduced == full
    return Check(quantity, reduced, None, full, "0" if same else "1", "0", same)


def _levels(changes: Any) -> str:
    return ", ".join(f"{float(level):.6g}" for _, level in changes) or "none"


def _kinds(events: Any) -> str:
    counts = Counter(event.kind for event in events)
    return ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())) or "none"


def _living(full: fullnet.Trajectory) -> dict[str, int]:
    living, sign = full.living, full.network.sign
    return {
        "positive": int(np.sum(living & (sign > 0))),
        "negative": int(np.sum(living & (sign < 0))),
        "dead": int(np.sum(~living)),
    }

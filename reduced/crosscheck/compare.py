"""The cross-check itself: reduced dynamics against the network's numerical flow, row by row."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

import fullnet
from reduced.crosscheck.descent import DEFAULT_RATES, descent_rows
from reduced.crosscheck.fates import DIES, JOINS_MINUS, JOINS_PLUS, Fates, predicted_fates
from reduced.crosscheck.prediction import Prediction, on_their_way, predict_from, state_of
from reduced.crosscheck.records import Check, CrossCheck
from reduced.errors import InputError
from reduced.maxmargin.network import as_float
from reduced.numbers import ExactLike, decimal_string, exact
from reduced.records import Loss, Outcome, Problem
from reduced.solve.limit import limit_values
from reduced.solve.network import ExactRun, network_flow
from reduced.solve.promise import private_context
from reduced.solve.timeline import regime

GRID_POINTS = 24
_MARGIN = 10
_FULL_DIGITS = 17
_ROUNDING = 2.0**-50
_SLOPE_TOLERANCE = 1e-10
_REVIVAL_TOLERANCE = 1e-6


def crosscheck(
    network: fullnet.Network,
    problem: Problem,
    *,
    until: float = 1e12,
    digits: int = 30,
    ridge: Any = None,
    budget: fullnet.Budget | None = None,
    learning_rates: Sequence[ExactLike] = DEFAULT_RATES,
    steps: int | None = None,
    subgradient: float = 0,
    on_stage: Callable[[str], None] | None = None,
) -> CrossCheck:
    """Compare the reduced dynamics with the full network, quantity by quantity.

    Arguments: network, the initial network; problem, of which p, Δ, κ₂ count (the living fractions are
    measured); until, the last flow time compared; digits of the reduced numbers; ridge, the choice on
    repelling ridges; budget of the numerical flow; learning_rates, steps (None: as many as the flow's T_II
    takes), subgradient of the gradient descent shown beside it (no rates: none); on_stage, told in words what
    is being done. Returns a CrossCheck. Tolerance of a row is ten times the numerical flow's own error
    estimate; rows named ``collapsed`` allow what the measured spread of K₊ accounts for. Raises InputError,
    fullnet.NotUnique.
    """
    if problem.loss is not Loss.EXP:
        raise InputError("loss", problem.loss.value, "exp: the cross-check needs the exact m-neuron flow")
    say = on_stage or (lambda _: None)
    say("numerical flow of the network")
    data = fullnet.two_point(as_float(problem.p, "p"), as_float(problem.delta, "delta"), network.W.shape[1])
    full = fullnet.gradient_flow(network, data, until, ridge=ridge, budget=budget, estimate_error=True)
    phases = fullnet.phase_times(full)
    say("exact flow of the network")
    exact_run = network_flow(network.W, network.sign, problem, digits, None, ridge)
    say("reduced dynamics")
    t1 = phases.times["last_phase_one_event"] or 0.0
    late = on_their_way(full, t1)
    fates = _fates(network, problem, full, t1)
    fates = replace(fates, borderline=fates.borderline | late)
    measured = _measured_fates(full)
    settled = np.where(fates.borderline, measured, fates.fate)
    state = state_of(full, t1, settled)
    living = problem_of_network(problem, network, settled)
    side = _Sides(living, full, phases, exact_run, predict_from(state, problem), digits)
    checks = [
        _fate_check(fates, measured),
        *side.time_checks(),
        *side.prediction_checks(),
        *side.pattern_checks(),
    ]
    notes = list(_notes(problem, phases, fates))
    outcome = _outcome(full, phases, living)
    if outcome is Outcome.FINISHED and late.any():
        notes.append(
            f"{late.sum()} neuron(s) not in place when Phase I ends: the collapsed model is left out"
        )
    elif outcome is Outcome.FINISHED:
        checks += side.collapsed_checks(
            [predict_from(state, problem, s) for s in ("mean", "least", "greatest")]
        )
    elif outcome is Outcome.PHASES_OVERLAP:
        notes.append("the phases overlap: the collapsed formulas do not apply and are left out")
    deaths = [event.time for event in exact_run.events if event.kind == "die"]
    if regime(living) is not None and deaths and max(deaths) > full.end:
        notes.append("not all neurons that die are dead when the run ends: the end of training is left out")
    elif regime(living) is not None:
        say("end of training")
        checks += side.end_checks()
    say("gradient descent")
    rows = descent_rows(network, data, full, phases, learning_rates, steps, subgradient)
    faithful = [row.lr for row in rows if row.same_living]
    return CrossCheck(
        tuple(checks),
        all(check.agree for check in checks),
        outcome,
        regime(living),
        {"positive": len(phases.positive), "negative": len(phases.negative), "dead": len(phases.dead)},
        tuple(notes),
        rows,
        max(faithful, key=float) if faithful else None,
    )


def problem_of_network(problem: Problem, network: fullnet.Network, fates: Any) -> Problem:
    """Return the problem with α₊, α₋ the network's own living fractions."""
    m = len(network.sign)
    counts = Counter(str(fate) for fate in fates)
    return replace(
        problem, alpha_plus=exact(counts[JOINS_PLUS]) / m, alpha_minus=exact(counts[JOINS_MINUS]) / m
    )


def _fates(network: fullnet.Network, problem: Problem, full: fullnet.Trajectory, t1: float) -> Fates:
    """Predict every fate from the initial weights, over the force ratios Phase I went through."""
    f = full.at(np.linspace(0.0, t1, 65))
    ratios = np.exp(f.sum(axis=1)) / as_float(problem.p, "p")
    u, v = (network.W @ x for x in full.data.X)
    return predicted_fates(
        u, v, network.sign, as_float(problem.delta, "delta"), (float(ratios.min()), float(ratios.max()))
    )


def _measured_fates(full: fullnet.Trajectory) -> Any:
    living, sign = full.living, full.network.sign
    return np.where(~living, DIES, np.where(sign > 0, JOINS_PLUS, JOINS_MINUS))


def _fate_check(fates: Fates, measured: Any) -> Check:
    wrong = int(np.sum((fates.fate != measured) & ~fates.borderline))
    return Check("fates", _counted(fates.fate), None, _counted(measured), str(wrong), "0", wrong == 0)


def _counted(names: Any) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(Counter(str(x) for x in names).items()))


def _notes(problem: Problem, phases: fullnet.Phases, fates: Fates) -> Iterator[str]:
    borderline = int(fates.borderline.sum())
    if borderline:
        yield f"{borderline} borderline neuron(s): fate depends on how f moved in Phase I (read off the flow)"
    last, ends = phases.times["last_phase_one_event"], [phases.times[name] for name in ("T_plat", "T_II")]
    first_end = min((t for t in ends if t is not None), default=math.inf)
    T_I = phases.times["T_I"]
    if last is not None and T_I is not None and T_I < last < first_end:
        yield (
            f"Phase I not finished at T_I = {T_I:.4g}: "
            f"its last event comes at {last:.4g} (κ₁/κ₂ is not small)"
        )


def _outcome(full: fullnet.Trajectory, phases: fullnet.Phases, living: Problem) -> Outcome:
    if full.outcome is fullnet.Outcome.BUDGET:
        return Outcome.BUDGET
    if regime(living) is None:
        return Outcome.PLATEAU_INFINITE
    t = phases.times
    last, crossed, regained = t["last_phase_one_event"] or 0.0, t["T_III_PT"], t["T_III"]
    early = any(end is not None and end <= last for end in (t["T_plat"], t["T_II"]) if last > 0)
    late = crossed is not None and regained is not None and regained < crossed
    return Outcome.PHASES_OVERLAP if early or late else Outcome.FINISHED


@dataclass(frozen=True)
class _Sides:
    """Both sides of the comparison, and how to write a row about them."""

    problem: Problem
    full: fullnet.Trajectory
    phases: fullnet.Phases
    exact_run: ExactRun
    prediction: Prediction
    digits: int

    def time_checks(self) -> Iterator[Check]:
        """Compare the phase times."""
        for name, reduced in self.prediction.times().items():
            yield self._time_check(name, reduced, self._exact_text(self.exact_run.times[name]), name)

    def _time_check(
        self, quantity: str, reduced: Any, exact_text: str | None, name: str, allowance: float = 0.0
    ) -> Check:
        full = self.phases.times[name]
        if full is None or reduced is None:
            beyond = reduced is None or reduced > self.full.end
            agree = full is None and beyond
            return Check(
                quantity,
                self._text(reduced),
                exact_text,
                None if full is None else _double_text(full),
                "0" if agree else "inf",
                "0",
                agree,
            )
        tolerance = _MARGIN * self.phases.errors[name] + allowance
        # what lies before the state the prediction starts from is only known to be past
        past = reduced <= self.prediction.state.t1 and full <= self.prediction.state.t1
        difference = 0.0 if past else abs(float(reduced - full))
        return Check(
            quantity,
            self._text(reduced),
            exact_text,
            _double_text(full),
            _short(difference),
            _short(tolerance),
            difference <= tolerance,
        )

    def prediction_checks(self) -> Iterator[Check]:
        """Compare f± at the events, on a log-time grid (the worst point is shown), and late in Phase IV."""
        for name, t in self.phases.times.items():
            ends_phase = name in ("T_plat", "T_II", "T_III_PT", "T_III")
            if ends_phase and t is not None and t > self.prediction.state.t1:
                yield from self._at(t, f" at {name}", moving=name)
        grid = self._grid()
        rows = [list(self._at(t, " on the grid")) for t in grid]
        rows = [
            [*row, self._loss_check(t), self._accuracy_check(t)] for row, t in zip(rows, grid, strict=True)
        ]
        for column in zip(*rows, strict=True):
            yield max(column, key=lambda check: _excess(check))
        regained = self.phases.times["T_III"]
        if regained is not None:
            for t in (1e6, 1e9, 1e12):
                if regained < t <= self.full.end:
                    yield from self._at(t, f" at t = {t:.0e}".replace("e+", "e"))

    def _grid(self) -> list[float]:
        first = max(self.phases.times["last_phase_one_event"] or 0.0, min(1e-3, self.full.end / 10))
        return [float(t) for t in np.geomspace(first, self.full.end, GRID_POINTS)[1:]]

    def _at(self, t: float, suffix: str, moving: str | None = None) -> Iterator[Check]:
        """Compare f₊ and f₋ at a time; at an event each side is taken at its own time of it."""
        f = self.full.at(t)
        own = self.prediction.times()[moving] if moving else None
        reduced = self.prediction.predictions(t if own is None else own)
        exact_f = self._exact_predictions(t, moving)
        error = float(self.full.prediction_error(t))
        if moving:
            speed = np.abs(self.full.at(t * (1 + 1e-6) if t * (1 + 1e-6) <= self.full.end else t) - f) / (
                t * 1e-6
            )
            error += float(speed.max()) * self.phases.errors[moving]
        tolerance = _MARGIN * max(error, _ROUNDING * float(np.abs(f).max()))
        for i, name in enumerate(("f_plus", "f_minus")):
            difference = abs(float(reduced[i] - float(f[i])))
            yield Check(
                name + suffix,
                self._text(reduced[i]),
                self._exact_text(exact_f[i]),
                _double_text(float(f[i])),
                _short(difference),
                _short(tolerance),
                difference <= tolerance,
                _double_text(t),
            )

    def _exact_predictions(self, t: float, moving: str | None) -> tuple[Any, Any]:
        if moving and moving in self.exact_run.predictions:
            return self.exact_run.predictions[moving]
        return self.exact_run.flow.predictions(self.exact_run.flow.ctx.mpf(t))

    def _loss_check(self, t: float) -> Check:
        """Compare the logarithm of the loss (a relative comparison of the loss)."""
        flow = self.prediction.flow
        reduced, exact_value = (
            self._log_loss(flow.ctx, f)
            for f in (self.prediction.predictions(t), self._exact_predictions(t, None))
        )
        full = float(self.full.log_loss(t))
        tolerance = _MARGIN * max(float(self.full.prediction_error(t)), _ROUNDING * max(1.0, abs(full)))
        difference = abs(float(reduced - full))
        return Check(
            "log loss on the grid",
            self._text(reduced),
            self._exact_text(exact_value),
            _double_text(full),
            _short(difference),
            _short(tolerance),
            difference <= tolerance,
            _double_text(t),
        )

    def _log_loss(self, ctx: Any, f: tuple[Any, Any]) -> Any:
        weights = self.prediction.flow.geometry
        return ctx.log(weights.w_plus * ctx.exp(-f[0]) + weights.w_minus * ctx.exp(f[1]))

    def _accuracy_check(self, t: float) -> Check:
        geometry = self.prediction.flow.geometry
        f = self.prediction.predictions(t)
        reduced = (geometry.w_plus if f[0] > 0 else 0) + (geometry.w_minus if f[1] < 0 else 0)
        full = float(self.full.accuracy(t))
        difference = abs(float(reduced - full))
        return Check(
            "accuracy on the grid",
            self._text(self.prediction.flow.ctx.mpf(reduced)),
            None,
            _double_text(full),
            _short(difference),
            _short(_ROUNDING),
            difference <= _ROUNDING,
            _double_text(t),
        )

    def pattern_checks(self) -> Iterator[Check]:
        """Compare every neuron's activation pattern inside each phase (Table 1 of the paper)."""
        times = self.phases.times
        marks = [
            times["last_phase_one_event"] or 0.0,
            times["T_II"],
            times["T_III_PT"],
            times["T_III"],
            self.full.end,
        ]
        reached = [
            (name, t)
            for name, t in zip(("II", "transition", "III", "IV", ""), marks, strict=True)
            if t is not None
        ]
        for (name, begin), (_, end) in pairwise(reached):
            if not begin < end:
                continue
            t = math.sqrt(max(begin, end * 1e-3) * end)
            if not begin <= t <= end:
                t = (begin + end) / 2
            reduced, full = self.prediction.patterns(t), self.full.patterns(t)
            wrong = sum(a != b for a, b in zip(reduced, full, strict=True))
            yield Check(
                f"patterns in Phase {name}" if name != "transition" else "patterns in the transition",
                _counted(reduced),
                None,
                _counted(full),
                str(wrong),
                "0",
                wrong == 0,
                _double_text(t),
            )

    def collapsed_checks(self, models: Sequence[Prediction]) -> Iterator[Check]:
        """Compare the collapsed model, allowing what the spread of K₊ accounts for.

        The allowance is twice the largest change of the time when all of K₊ sits at the least, or at the
        greatest, v of its members instead of the mean.
        """
        mean, *extremes = (model.times() for model in models)
        for name in ("T_plat", "T_II", "T_III"):
            if mean[name] is None:
                allowance = 0.0
            else:
                others = [other[name] for other in extremes if other[name] is not None]
                allowance = 2 * max((abs(float(other - mean[name])) for other in others), default=0.0)
            yield self._time_check(f"collapsed {name}", mean[name], None, name, allowance)

    def end_checks(self) -> Iterator[Check]:
        """Compare the end of training: angles to the limit directions, KKT residual, perturbation test."""
        from reduced.maxmargin import LimitVectors, angles_to_limit, kkt, perturb

        full, network = self.full, self.full.network
        t = full.end
        ends = limit_values(private_context(self.digits + 15), self.problem)
        vectors = LimitVectors(ends.rho, ends.v_plus, ends.v_minus, ends.regime, ends.gamma)
        plus, minus = full.living & (network.sign > 0), full.living & (network.sign < 0)
        weights = (self._weights(t), full.neurons(t))
        ours, theirs = (angles_to_limit(W, plus, minus, self.problem.delta, vectors) for W in weights)
        tolerance = _MARGIN * max(float(full.prediction_error(t)), 8 * _ROUNDING)
        yield _float_check("angle_plus at the end", ours.plus, theirs.plus, tolerance, t)
        yield _float_check("angle_minus at the end", ours.minus, theirs.minus, tolerance, t)
        ours_kkt, theirs_kkt = (
            kkt(W, network.sign, full.data.X, full.data.y, network.kappa2).residual for W in weights
        )
        yield _float_check("KKT residual at the end", ours_kkt, theirs_kkt, tolerance, t)
        test = perturb(weights[1], network.sign, self.problem.delta, self.problem.kappa2, digits=self.digits)
        gamma = decimal_string(ends.gamma, self.digits)
        gap = abs(float(ends.gamma - ends.gamma.context.mpf(test.gamma_limit)))
        allowed = float(ends.gamma) * 10.0 ** (1 - self.digits)
        yield Check(
            "limit margin", gamma, None, test.gamma_limit, _short(gap), _short(allowed), gap <= allowed
        )
        best = test.living_only.best_slope
        yield Check(
            "best slope, living only",
            "0",
            None,
            _double_text(best),
            _short(max(best, 0.0)),
            _short(_SLOPE_TOLERANCE),
            best <= _SLOPE_TOLERANCE,
        )
        predicted, measured = test.revive_dead.slope_predicted, test.revive_dead.slope_measured
        if predicted is not None and measured is not None:
            difference = abs(float(predicted) - float(measured))
            allowed = _REVIVAL_TOLERANCE * abs(float(predicted))
            yield Check(
                "slope, dead revived",
                predicted,
                None,
                measured,
                _short(difference),
                _short(allowed),
                difference <= allowed and float(measured) > 0,
            )

    def _weights(self, t: float) -> Any:
        """Return the weights (m, d) predicted: in the data plane from (u, v), elsewhere frozen."""
        network, X = self.full.network, self.full.data.X
        W = np.array(self.full.neurons(float(self.prediction.state.t1)))
        half_c, half_s = -X[0, 1], X[0, 0]
        for k, (_, u, v) in enumerate(self.prediction.neurons(t)):
            W[k, 0] = float(u - v) * network.scale / (2 * half_s)
            W[k, 1] = -float(u + v) * network.scale / (2 * half_c)
        return W

    def _text(self, value: Any) -> str:
        """Write a reduced number: it starts from doubles, so it is trusted no further than these."""
        return "inf" if value is None else decimal_string(value, min(self.digits, _FULL_DIGITS))

    def _exact_text(self, value: Any) -> str:
        return "inf" if value is None else decimal_string(value, self.digits)


def _float_check(
    quantity: str, reduced: float | None, full: float | None, tolerance: float, t: float
) -> Check:
    if reduced is None or full is None:
        return Check(quantity, None, None, None, "0", _short(tolerance), reduced is full, _double_text(t))
    difference = abs(reduced - full)
    return Check(
        quantity,
        _double_text(reduced),
        None,
        _double_text(full),
        _short(difference),
        _short(tolerance),
        difference <= tolerance,
        _double_text(t),
    )


def _excess(check: Check) -> float:
    tolerance = float(check.tolerance)
    return float(check.difference) / tolerance if tolerance else float(check.difference)


def _short(value: float) -> str:
    return f"{value:.2e}" if value else "0"


def _double_text(value: float) -> str:
    return f"{value:.{_FULL_DIGITS}g}"

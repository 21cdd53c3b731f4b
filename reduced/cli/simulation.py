"""The command simulate: the full m-neuron gradient flow, event by event."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from reduced.cli.budget import BudgetExceeded, time_limit
from reduced.cli.options import (
    DOUBLE_DIGITS,
    Data,
    Digits,
    Flow,
    Model,
    Saving,
    Weights,
    choose,
    outside_assumption,
)
from reduced.cli.render import (
    double_text,
    exact_text,
    note,
    print_json,
    print_tables,
    progress,
    table,
    trusted_text,
    values,
    warn_without,
)
from reduced.errors import InputError
from reduced.numbers import Exact, decimal_string, exact, sqrt
from reduced.records import Outcome, Problem
from reduced.solve.promise import MAX_DIGITS

if TYPE_CHECKING:
    import fullnet

TIMES = ("T_I", "last_phase_one_event", "T_r_equals_c", "T_plat", "T_II", "T_III_PT", "T_III")
LAST_TIME = 1e12
"""Where the double-precision flow stops unless told otherwise."""

_LEVEL_DIGITS = 15

# How much of ln t an error of a prediction may cost where it passes zero: plateaus are slow.
_PER_PREDICTION = 10.0


def simulate(
    model: Model,
    weights: Weights,
    data: Data,
    flow: Flow,
    saving: Saving,
    out: Digits,
    precision: Annotated[
        str,
        Option(
            "--precision",
            metavar="double|DIGITS",
            rich_help_panel="Run",
            help="Doubles (the digits its error estimate leaves), or so many right digits.",
        ),
    ] = "double",
    method: Annotated[
        str | None,
        Option(
            "--method",
            metavar="exact|ode",
            rich_help_panel="Run",
            help="Closed form per neuron, or numerical flow. Default: ode for double, else exact.",
        ),
    ] = None,
) -> int:
    """Gradient flow of the full network: every switch of every neuron, and all phase times.

    Without --until the numerical flow goes to t = 1e12 and the exact one on for ever.

    \b
    Examples
      reduced simulate
      reduced simulate --seed 3 --precision 30
      reduced simulate --init weights.npz --until 1e6 --json
      reduced simulate --data points.csv --dim 10
      reduced simulate --preset noisy --dim 2 --m 1000 --out run.npz --resume
    """
    problem = model.problem(assumption=False)
    way, digits = _engine(precision, method, out.checked())
    if way == "exact" and data.other:
        raise InputError("method", "exact", "ode: with --data or --preset there is no closed form")
    if way == "exact" and (saving.out is not None or saving.resume):
        raise InputError("method", "exact", "ode: only the numerical flow can be saved")
    network = weights.network(model)
    notes = [*weights.unused(model), *([] if data.other else outside_assumption(problem))]
    T_I = condensation_time(model, weights, network)
    try:
        if way == "exact":
            record = _exact_record(network, problem, flow, digits)
        else:
            points = data.points(problem, network.W.shape[1], weights.seed)
            record = _numeric_record(follow_saved(network, points, problem, flow, saving), digits)
        record["times"] = {"T_I": exact_text(T_I, digits), **record["times"]}
    except BudgetExceeded:
        record = {"outcome": Outcome.BUDGET.value}
    record |= {"method": way, "notes": notes}
    _print(record, out.json)
    return 3 if record["outcome"] == Outcome.BUDGET.value else 0


def _engine(precision: str, method: str | None, digits: int) -> tuple[str, int]:
    """Return the engine and the most digits to show."""
    if precision == "double":
        return choose(method or "ode", "method", ("exact", "ode")), min(digits, DOUBLE_DIGITS)
    try:
        asked = int(precision)
    except ValueError:
        asked = 0
    if not 1 <= asked <= MAX_DIGITS:
        raise InputError("precision", repr(precision), f"double or an integer from 1 to {MAX_DIGITS}")
    if choose(method or "exact", "method", ("exact", "ode")) == "ode":
        raise InputError("method", "ode", f"exact for {asked} digits: the numerical flow is in doubles")
    return "exact", asked


def condensation_time(model: Model, weights: Weights, network: fullnet.Network) -> Exact:
    """Return T_I = 10√(κ₁/κ₂), with κ₁ = √m max‖wₖ‖ when the weights come from a file."""
    kappa1 = model.read_kappa1()
    if weights.init is not None:
        squares = (sum(Fraction(float(w)) ** 2 for w in row) for row in network.W)
        kappa1 = sqrt(exact(len(network.W) * max(squares)))
    return 10 * sqrt(kappa1 / exact(model.kappa2, "kappa2"))


def _exact_record(network: fullnet.Network, problem: Problem, flow: Flow, digits: int) -> dict[str, Any]:
    """Solve the flow exactly; what never comes is "inf" in a run for ever and null in one that ends."""
    from reduced.solve.network import network_flow

    warn_without("gmpy2")
    until, ridge, seconds = flow.read_until(), flow.checked_ridge(), flow.seconds()
    with progress("solving the exact flow"), time_limit(seconds):
        run = network_flow(network.W, network.sign, problem, digits, until, ridge)
    last = None if until is None else until.evaluate(run.flow.ctx)

    def text(value: Any) -> str | None:
        if value is None or (last is not None and value > last):
            return "inf" if last is None else None
        return decimal_string(value, digits)

    times = {name: text(value) for name, value in run.times.items()}
    if run.times["last_phase_one_event"] is None:
        times["last_phase_one_event"] = None
    living = {"positive": len(run.positive), "negative": len(run.negative), "dead": len(run.dead)}
    return {
        "living": living,
        "times": times,
        "predictions": {
            name: [decimal_string(f, digits) for f in run.predictions[name]]
            if name in run.predictions and times.get(name, "0") is not None
            else None
            for name in ("start", *times)
        },
        "events": [
            _event(decimal_string(event.time, digits), event.kind, event.neuron, event.before, event.after)
            for event in run.events
        ],
        "outcome": _outcome(run.outcome.value, living),
        "plateaus": [
            {"start": text(start), "end": text(end), "level": decimal_string(level, digits)}
            for start, end, level in run.plateaus
            if last is None or start <= last
        ],
    }


def _numeric_record(path: fullnet.Trajectory, digits: int) -> dict[str, Any]:
    """Read off a numerical flow; every number has the digits its error estimate leaves."""
    import fullnet

    phases = fullnet.phase_times(path) if path.data.is_two_point else None
    detection = fullnet.detect(path)
    found = dict.fromkeys(TIMES[1:]) | (phases.times if phases else {})
    known = [name for name in TIMES[1:] if found[name] is not None]
    errors = {found[name]: phases.errors[name] for name in known} if phases else {}
    printed = _Trusted(path, errors, frozenset(event.t for event in path.events), digits)
    living = count_living(path.living, path.network)
    return {
        "living": living,
        "times": {name: printed.time(found[name]) for name in TIMES[1:]},
        "predictions": {
            "start": printed.predictions(0.0),
            **{name: printed.predictions(found[name]) for name in TIMES[1:]},
        },
        "events": [
            _event(str(printed.time(event.t)), event.kind, event.neuron, event.before, event.after)
            for event in path.events
        ],
        "outcome": _outcome(path.outcome.value, living) if phases else path.outcome.value,
        "plateaus": [
            {
                "start": printed.time(plateau.start),
                "end": printed.time(plateau.end),
                "level": double_text(plateau.level, min(digits, _LEVEL_DIGITS)),
            }
            for plateau in detection.plateaus
        ],
        "condensation": {
            "t": printed.time(detection.condensed_at),
            "clusters": [cluster.members.tolist() for cluster in detection.clusters],
        },
        "until": double_text(path.end, digits),
    }


@dataclass(frozen=True)
class _Trusted:
    """Writes what a numerical flow found, with the digits its error estimate leaves.

    ``errors`` holds the absolute errors of the phase times, by time; any other time has that of an event, or,
    where it is a zero of a prediction, what the predictions' error makes of it.
    """

    path: fullnet.Trajectory
    errors: dict[float | None, float]
    switches: frozenset[float]
    digits: int

    def time(self, t: float | None) -> str | None:
        """Write a flow time, None when there is none."""
        return None if t is None else trusted_text(t, self._error(t), self.digits)

    def predictions(self, t: float | None) -> list[str] | None:
        """Write the predictions at a flow time, None when there is none."""
        if t is None:
            return None
        # on these flows f moves by at most about one while t grows by a factor e
        error = float(self.path.prediction_error(t)) + (self._error(t) / t if t else 0.0)
        return [trusted_text(float(f), error, self.digits) for f in self.path.at(t)]

    def _error(self, t: float) -> float:
        if t in self.errors:
            return self.errors[t]
        error = float(self.path.time_error(t))
        if t in self.switches:
            return error
        return max(error, _PER_PREDICTION * t * float(self.path.prediction_error(t)))


def follow_saved(
    network: fullnet.Network, points: fullnet.DataSet, problem: Problem, flow: Flow, saving: Saving
) -> fullnet.Trajectory:
    """Run the numerical gradient flow with its error estimate, saved on the way and resumed as asked."""
    return follow(
        network,
        points,
        problem,
        flow,
        estimate_error=True,
        checkpoint=saving.checkpoint(),
        resume=saving.earlier(),
    )


def follow(
    network: fullnet.Network,
    points: fullnet.DataSet,
    problem: Problem,
    flow: Flow,
    *,
    estimate_error: bool = False,
    checkpoint: fullnet.Checkpoint | None = None,
    resume: fullnet.Trajectory | None = None,
) -> fullnet.Trajectory:
    """Run the numerical gradient flow as the options say."""
    import fullnet

    until, ridge = flow.until_or(LAST_TIME), flow.checked_ridge()
    budget = fullnet.Budget(seconds=flow.seconds())
    with progress("following the flow") as update:
        return fullnet.gradient_flow(
            network,
            points,
            until,
            problem.loss.value,
            ridge,
            budget=budget,
            on_progress=lambda t, events: update(f"t = {t:.3g}, {events} events"),
            estimate_error=estimate_error,
            checkpoint=checkpoint,
            resume=resume,
        )


def count_living(living: Any, network: fullnet.Network) -> dict[str, int]:
    """Count the living neurons by sign, and the dead."""
    return {
        "positive": int((living & (network.sign > 0)).sum()),
        "negative": int((living & (network.sign < 0)).sum()),
        "dead": int((~living).sum()),
    }


def _event(t: str, kind: str, neuron: int | str, before: str, after: str) -> dict[str, Any]:
    return {"t": t, "kind": kind, "neuron": neuron, "from": before, "to": after}


def _outcome(ended: str, living: dict[str, int]) -> str:
    """Name the outcome of a two-point flow; without both signs alive one point is never learned."""
    if ended == Outcome.FINISHED.value and not (living["positive"] and living["negative"]):
        return Outcome.PLATEAU_INFINITE.value
    return ended


def _print(record: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(record)
        return
    for line in record["notes"]:
        note(line)
    closing = f"{Outcome(record['outcome']).message}; method {record['method']}"
    if "times" not in record:
        print_tables(closing)
        return
    rows: list[tuple[str, str, str | None]] = []
    for name, t in record["times"].items():
        rows.append((name, "t", t))
        pair = record["predictions"].get(name)
        if pair is not None:
            rows += [("", "f₊", pair[0]), ("", "f₋", pair[1])]
    plateaus = [(p["start"], p["end"], p["level"]) for p in record["plateaus"]]
    kinds = Counter(event["kind"] for event in record["events"])
    print_tables(
        values("Neurons at the end", [(name, str(count)) for name, count in record["living"].items()]),
        table("Times of the network's flow", ("event", "quantity", "value"), rows),
        table("Plateaus", ("start", "end", "accuracy"), plateaus),
        values("Events (--json lists them)", [(kind, str(count)) for kind, count in sorted(kinds.items())]),
        closing,
    )

"""The command simulate: the full m-neuron gradient flow, event by event."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from typer import Option

from reduced.cli.budget import BudgetExceeded, time_limit
from reduced.cli.flow_records import FlowRecord, double_record, exact_record, numeric_record
from reduced.cli.flow_tables import print_flow
from reduced.cli.options import (
    DOUBLE_DIGITS,
    Data,
    Digits,
    Flow,
    Model,
    Weights,
    choose,
    outside_assumption,
)
from reduced.cli.render import exact_text, note, print_json, progress, warn_without
from reduced.cli.saving import Saving
from reduced.errors import InputError
from reduced.numbers import Exact, exact, sign, sqrt
from reduced.records import Loss, Outcome, Problem
from reduced.solve.network import NARROW
from reduced.solve.promise import MAX_DIGITS

if TYPE_CHECKING:
    import fullnet

LAST_TIME = 1e12
"""Where the double-precision flow stops unless told otherwise."""

LARGE = 20_000
"""The number of neurons from which numba makes a difference one waits for."""

# Far more than rounding of a squared norm, far less than what tells two rows apart that matter.
_ROUNDING = 1e-9

_NAMED = 5


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
            help="Closed form per neuron, or numerical flow. Default: exact where there is one.",
        ),
    ] = None,
) -> int:
    """Gradient flow of the full network: every switch of every neuron, and all phase times.

    The exact flow exists for two points and the exponential loss; without --until it goes on for ever. The
    numerical flow takes any data and the logistic loss, can be saved (--out), and goes to t = 1e12.

    \b
    Examples
      reduced simulate
      reduced simulate --seed 3 --precision 30
      reduced simulate --init weights.npz --until 1e6 --json
      reduced simulate --data points.csv
      reduced simulate --preset noisy --dim 2 --m 1000 --out run.npz
      reduced simulate --out run.npz --resume
      reduced simulate --loss logistic --csv run.csv
    """
    problem = model.problem(assumption=False)
    asked = _digits(precision)
    way = _engine(method, asked is not None, _why_not_exact(problem, data, saving))
    digits = asked or min(out.checked(), DOUBLE_DIGITS)
    saved = saving.earlier()
    if saved is not None and (model, weights, data) == (Model(), Weights(), Data()):
        start = _Start.of_saved(saved, problem, flow, f"network, data and loss are those of {saving.out}")
    else:
        start = _Start.of_options(model, weights, data, problem, flow)
    notes = list(start.notes)
    try:
        if way == "ode":
            path = follow_saved(start.network, start.points(), start.problem, start.flow, saving, saved)
            found = numeric_record(path, digits)
            notes += _resting(path)
        elif asked or sign(problem.delta - NARROW) < 0:
            found = _exact(start.network, problem, flow, digits)
        else:
            found = _exact_in_doubles(start.network, problem, flow, digits)
    except BudgetExceeded:
        found = FlowRecord({"outcome": Outcome.BUDGET.value}, {}, lambda: iter(()))
    record = found.record
    if "times" in record:
        record["times"] = {"T_I": exact_text(start.T_I(), digits), **record["times"]}
    record |= {"method": way, "notes": notes}
    if out.json:
        print_json(record if "times" not in record else record | {"events": list(found.events())})
    else:
        for line in notes:
            note(line)
        print_flow(found)
    return 3 if record["outcome"] == Outcome.BUDGET.value else 0


@dataclass(frozen=True)
class _Start:
    """What a flow starts from: a network, data built when they are needed, the problem, options and notes."""

    network: fullnet.Network
    points: Callable[[], fullnet.DataSet]
    problem: Problem
    flow: Flow
    T_I: Callable[[], Exact]
    notes: list[str]

    @staticmethod
    def of_options(model: Model, weights: Weights, data: Data, problem: Problem, flow: Flow) -> _Start:
        """Return what the options say."""
        network = weights.network(model, data.dimension)
        return _Start(
            network,
            lambda: data.points(problem, network.W.shape[1], weights.seed),
            problem,
            flow,
            lambda: condensation_time(model, weights, network),
            [
                *weights.unused(model),
                *data.unused(),
                *([] if data.other else outside_assumption(problem)),
            ],
        )

    @staticmethod
    def of_saved(saved: fullnet.Trajectory, problem: Problem, flow: Flow, remark: str) -> _Start:
        """Return the start of a saved flow, with a remark for the notes."""
        network = saved.network
        return _Start(
            network,
            lambda: saved.data,
            replace(problem, loss=Loss(saved.loss)),
            flow if flow.ridge is not None else replace(flow, ridge=saved.task.ridge),
            lambda: 10 * sqrt(_measured_kappa1(network) / exact(Fraction(network.kappa2))),
            [remark],
        )


def _resting(path: fullnet.Trajectory) -> list[str]:
    """Return a note on the neurons that came to rest in the origin of the data, if any."""
    resting = [death.neuron for death in path.deaths if death.cause == "origin"]
    if not resting:
        return []
    named = ", ".join(map(str, resting[:_NAMED])) + (", …" if len(resting) > _NAMED else "")
    many = f"{len(resting)} neuron" + ("s" if len(resting) > 1 else "")
    return [
        f"{many} came to rest in the origin of the data ({named}), where the flow need not be unique: "
        "with --ridge active they leave where they can"
    ]


def _digits(precision: str) -> int | None:
    """Return the digits asked for, None for doubles."""
    if precision == "double":
        return None
    try:
        asked = int(precision)
    except ValueError:
        asked = 0
    if not 1 <= asked <= MAX_DIGITS:
        raise InputError("precision", repr(precision), f"double or an integer from 1 to {MAX_DIGITS}")
    return asked


def _why_not_exact(problem: Problem, data: Data, saving: Saving) -> str | None:
    """Return why there is no exact flow, None when there is one."""
    if data.other:
        return "with --data or --preset there is no closed form"
    if problem.loss is not Loss.EXP:
        return f"loss {problem.loss.value} has no closed form"
    if saving.asked:
        return "only the numerical flow can be saved"
    return None


def _engine(method: str | None, many_digits: bool, why_not_exact: str | None) -> str:
    """Return "exact" or "ode"."""
    if many_digits and method == "ode":
        raise InputError("method", "ode", "exact for so many digits: the numerical flow is in doubles")
    if method is None:
        method = "ode" if why_not_exact and not many_digits else "exact"
    if choose(method, "method", ("exact", "ode")) == "exact" and why_not_exact:
        raise InputError("method", "exact", f"ode: {why_not_exact}")
    return method


def _exact(network: fullnet.Network, problem: Problem, flow: Flow, digits: int) -> FlowRecord:
    """Solve the flow to many digits."""
    from reduced.solve.network import network_flow

    warn_without("gmpy2")
    until, ridge, seconds = flow.read_until(), flow.checked_ridge(), flow.seconds()
    with progress("solving the exact flow"), time_limit(seconds):
        run = network_flow(network.W, network.sign, problem, digits, until, ridge)
    return exact_record(run, until, digits)


def _exact_in_doubles(network: fullnet.Network, problem: Problem, flow: Flow, digits: int) -> FlowRecord:
    """Solve the flow in doubles, with what rounding may have done to it."""
    from reduced.solve.swift import network_flow_double

    until, ridge, seconds = flow.read_until(), flow.checked_ridge(), flow.seconds()
    if len(network.W) >= LARGE:
        warn_without("numba")
    with progress("solving the exact flow"):
        run = network_flow_double(
            network.W,
            network.sign,
            problem,
            until,
            ridge,
            on_compile=_say_compiling,
            estimate_error=True,
            max_seconds=seconds,
        )
    return double_record(run, until is None, digits)


def condensation_time(model: Model, weights: Weights, network: fullnet.Network) -> Exact:
    """Return T_I = 10√(κ₁/κ₂), with κ₁ = √m max‖wₖ‖ when the weights come from a file."""
    kappa1 = model.read_kappa1() if weights.init is None else _measured_kappa1(network)
    return 10 * sqrt(kappa1 / exact(model.kappa2, "kappa2"))


def _measured_kappa1(network: fullnet.Network) -> Exact:
    """Return √m max‖wₖ‖ of the weights' exact values."""
    rough = (network.W**2).sum(axis=1)
    longest = network.W[rough >= (1 - _ROUNDING) * rough.max()]
    squares = (sum(Fraction(float(w)) ** 2 for w in row) for row in longest)
    return sqrt(exact(len(network.W) * max(squares)))


def follow_saved(
    network: fullnet.Network,
    points: fullnet.DataSet,
    problem: Problem,
    flow: Flow,
    saving: Saving,
    saved: fullnet.Trajectory | None,
) -> fullnet.Trajectory:
    """Run the numerical gradient flow with its error estimate, kept as asked, on from an earlier part of it."""
    replaced, checkpoint = saving.in_the_way(), saving.checkpoint()
    path = follow(network, points, problem, flow, estimate_error=True, checkpoint=checkpoint, resume=saved)
    saving.write_table(path)
    saving.tell(replaced)
    return path


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

    log_until, ridge = flow.log_until(), flow.checked_ridge()
    last = LAST_TIME if resume is None else max(LAST_TIME, resume.until)
    if log_until is None and flow.until is None and last > fullnet.LINEAR:
        log_until = fullnet.log_time(last)
    budget = fullnet.Budget(seconds=flow.seconds())
    with progress("following the flow") as update:
        return fullnet.gradient_flow(
            network,
            points,
            flow.until_or(last) if log_until is None else None,
            problem.loss.value,
            ridge,
            budget=budget,
            on_progress=lambda t, events: update(f"t = {fullnet.time_text(t, 3)}, {events} events"),
            estimate_error=estimate_error,
            checkpoint=checkpoint,
            resume=resume,
            on_compile=_say_compiling,
            log_until=log_until,
        )


def _say_compiling() -> None:
    note("compiling the flow for this machine, some ten seconds; kept for the next time")

"""The command gd: the paper's gradient descent, beside the flow from the same initial weights."""

from __future__ import annotations

import time
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from reduced.cli.budget import BudgetExceeded, time_limit
from reduced.cli.descent_runs import Beginning, Runs, as_double
from reduced.cli.flow_records import count_living
from reduced.cli.options import Data, Digits, Flow, Model, Weights, outside_assumption
from reduced.cli.render import (
    exact_text,
    exponential_text,
    note,
    print_json,
    print_tables,
    table,
    warn_without,
)
from reduced.cli.saving import Keeping
from reduced.cli.simulation import follow
from reduced.errors import InputError
from reduced.numbers import Exact, double_string, exact, read_number, sign
from reduced.parameters import require_positive
from reduced.records import Loss, Outcome

if TYPE_CHECKING:
    import fullnet

SUBGRADIENTS = {"0": 0.0, "1/2": 0.5, "1": 1.0}
MAX_STEPS = 10**12
_RATE, _STEPS = "0.01", 150_000

# Rounding errors pile up over the steps: this many digits of a descent's times are shown.
_DESCENT_DIGITS = 12

LearningRates = Annotated[
    list[str] | None,
    Option("--lr", metavar="LR", rich_help_panel="Run", help="Learning rate of a descent; repeatable."),
]
Subgradient = Annotated[
    str | None,
    Option(
        "--subgradient", metavar="0|1/2|1", rich_help_panel="Run", help="Derivative of ReLU at 0. Default: 0."
    ),
]


def gd(
    model: Model,
    weights: Weights,
    data: Data,
    flow: Flow,
    keeping: Keeping,
    out: Digits,
    lr: LearningRates = None,
    steps: Annotated[
        int | None,
        Option(
            "--steps",
            rich_help_panel="Run",
            help="Steps of each run; flow time is steps × lr. Default: 150000.",
        ),
    ] = None,
    subgradient: Subgradient = None,
) -> int:
    """Gradient descent as in the paper, from the same initial weights as simulate.

    Times are flow times, steps × lr: T_plat interpolated inside its step, T_II on the step grid; for other data
    than two points accuracy and loss at the end stand in their place. Neurons dead in a run and living in the
    gradient flow are lost to the step size. The learning rate is 0.01 unless given. A smaller one needs more
    --steps.
    With --until a run ends at that flow time, if its --steps have not ended it before.

    --resume alone takes learning rates, steps and subgradient from the file too (not --ridge, which the flow
    beside may need); more --steps or another --lr go further. The file can be given to --init: its W are the
    weights of the last run.

    \b
    Examples
      reduced gd
      reduced gd --lr 0.01 --lr 0.001 --steps 5000000 --seed 1 --out runs.npz
      reduced gd --out runs.npz --resume
      reduced gd --init weights.npz --subgradient 1/2 --json
    """
    began, digits, seconds = time.monotonic(), out.checked(), flow.seconds()
    earlier = _earlier(keeping)
    beginning = _beginning(model, weights, data, earlier, subgradient, keeping)
    rates = [read_rate(text) for text in lr or [repr(known) for known in earlier] or [_RATE]]
    most, until = None if steps is None else read_steps(steps), flow.until_or(inf)
    asked = [(rate, min(_most(most, earlier, rate), steps_until(until, rate))) for rate in rates]
    warn_without("numba")
    runs, replaced = Runs.begun(beginning, asked, earlier, keeping.out), keeping.in_the_way()
    path = _flow_beside(beginning, flow, seconds)
    runs.keep()
    for rate in rates:
        left = None if seconds is None else max(0.0, seconds - (time.monotonic() - began))
        runs.go_on(rate, left if path is not None else 0.0)
    keeping.tell(replaced)
    record = _record(beginning, runs, rates, path, digits)
    if out.json:
        print_json(record)
    else:
        _print(record, beginning.points.is_two_point)
    return 3 if record["outcome"] == Outcome.BUDGET.value else 0


def _earlier(keeping: Keeping) -> dict[float, fullnet.Descent]:
    """Return the runs to go on with by learning rate, none without --resume."""
    import fullnet

    path = keeping.saved()
    if keeping.out is not None:
        fullnet.require_writable(keeping.out)
    return {} if path is None else {run.lr: run for run in fullnet.load_descents(path, "out")}


def _beginning(
    model: Model,
    weights: Weights,
    data: Data,
    earlier: dict[float, fullnet.Descent],
    subgradient: str | None,
    keeping: Keeping,
) -> Beginning:
    """Return what the options say, or the file to go on with where they say nothing."""
    problem = model.problem(assumption=False)
    saved = next(iter(earlier.values())).task if earlier else None
    slope = saved.subgradient if saved and subgradient is None else read_slope(subgradient)
    if saved and (model, weights, data) == (Model(), Weights(), Data()):
        problem = replace(problem, loss=Loss(saved.loss.value))
        notes = [f"network, data and loss are those of {keeping.out}"]
        return Beginning(saved.network, saved.data, problem, slope, notes)
    network = weights.network(model, data.dimension)
    points = data.points(problem, network.W.shape[1], weights.seed)
    notes = [*weights.unused(model), *data.unused(), *([] if data.other else outside_assumption(problem))]
    return Beginning(network, points, problem, slope, notes)


def _most(steps: int | None, earlier: dict[float, fullnet.Descent], rate: Exact) -> int:
    """Return the most steps of a run: those given, else those it was asked for before."""
    if steps is not None:
        return steps
    before = earlier.get(as_double(rate))
    return _STEPS if before is None else before.asked


def _flow_beside(beginning: Beginning, flow: Flow, seconds: float | None) -> fullnet.Trajectory | None:
    """Follow the flow from the same weights; None where the budget does not allow it."""
    try:
        with time_limit(seconds):
            path = follow(beginning.network, beginning.points, beginning.problem, flow)
    except BudgetExceeded:
        return None
    return None if path.outcome.value == Outcome.BUDGET.value else path


def read_rate(text: str) -> Exact:
    """Read a learning rate > 0."""
    rate = read_number(text, "lr")
    require_positive(rate, "lr")
    return rate


def read_steps(steps: int) -> int:
    """Return a number of steps after checking its range."""
    if not 0 <= steps <= MAX_STEPS:
        raise InputError("steps", steps, f"an integer from 0 to {MAX_STEPS}")
    return steps


def steps_until(until: float, rate: Exact) -> int:
    """Return how many whole steps of a learning rate end by a flow time, MAX_STEPS at most."""
    # the quotient of two decimals may be one rounding short of the integer it stands for
    return int(min(until / as_double(rate) * (1 + 1e-12), MAX_STEPS))


def read_slope(text: str | None) -> float:
    """Read the derivative of ReLU at 0; it is 0 unless given."""
    if text is None:
        return 0.0
    value = read_number(text, "subgradient")
    for name, slope in SUBGRADIENTS.items():
        if sign(value - exact(name)) == 0:
            return slope
    raise InputError("subgradient", text, "0, 1/2 or 1")


def _record(
    beginning: Beginning, runs: Runs, rates: list[Exact], path: fullnet.Trajectory | None, digits: int
) -> dict[str, Any]:
    """Describe the runs that have begun, beside the flow."""
    found = [(rate, runs.of(rate)) for rate in rates]
    cut = path is None or any(run.outcome.value == Outcome.BUDGET.value for _, run in found)
    loss = beginning.problem.loss.value
    return {
        "runs": [
            _run_record(run, rate, path.living, digits)
            | {"final": _final(run, beginning.points, loss, digits)}
            for rate, run in found
            if path is not None and (run.steps or run.outcome.value != Outcome.BUDGET.value)
        ],
        "outcome": Outcome.BUDGET.value if cut else Outcome.FINISHED.value,
        "notes": beginning.notes,
    }


def _run_record(run: fullnet.Descent, rate: Exact, in_flow: Any, digits: int) -> dict[str, Any]:
    from reduced.crosscheck.descent import ended

    lost = in_flow & ~run.living
    positive = run.network.sign > 0

    def text(t: float | None) -> str | None:
        return None if t is None else double_string(t, min(digits, _DESCENT_DIGITS))

    return {
        "lr": exact_text(rate, digits),
        "steps": run.steps,
        "times": {"T_plat": text(run.T_plat), "T_II": text(run.T_II)},
        "living": count_living(run.living, run.network),
        "lost_to_step_size": {
            "positive": int((lost & positive).sum()),
            "negative": int((lost & ~positive).sum()),
        },
        "outcome": ended(run),
    }


def _final(run: fullnet.Descent, points: fullnet.DataSet, loss: str, digits: int) -> dict[str, str] | None:
    """Describe the network a descent ends with; there is none to speak of where it diverged."""
    import fullnet

    if run.outcome is fullnet.Outcome.DIVERGED:
        return None
    digits = min(digits, _DESCENT_DIGITS)
    log_loss = fullnet.log_loss(run.network, points, loss)
    return {
        "t": double_string(run.steps * run.lr, digits),
        "accuracy": double_string(fullnet.accuracy(run.network, points), digits),
        "loss": exponential_text(log_loss, 0.0, digits),
        "log_loss": double_string(log_loss, digits),
    }


def _print(record: dict[str, Any], two_point: bool) -> None:
    """Print the runs for people: the times of two-point data, what any other data end with."""
    for line in record["notes"]:
        note(line)
    key = "times" if two_point else "final"
    quantities = ("T_plat", "T_II") if two_point else ("t", "accuracy", "loss")
    rows = [
        (
            run["lr"],
            *((run[key] or {}).get(name) for name in quantities),
            "{positive}/{negative}/{dead}".format(**run["living"]),
            "{positive}/{negative}".format(**run["lost_to_step_size"]),
            run["outcome"],
        )
        for run in record["runs"]
    ]
    columns = ("lr", *quantities, "living +/−/dead", "lost +/−", "ended")
    parts: list[Any] = [table("Gradient descent (flow times, steps × lr)", columns, rows)]
    if record["outcome"] == Outcome.BUDGET.value:
        parts.append(Outcome.BUDGET.message)
    print_tables(*parts)

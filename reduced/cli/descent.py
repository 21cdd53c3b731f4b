"""The command gd: the paper's gradient descent, beside the flow from the same initial weights."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from reduced.cli.budget import BudgetExceeded, time_limit
from reduced.cli.flow_records import count_living
from reduced.cli.options import Data, Digits, Flow, Model, Weights, outside_assumption
from reduced.cli.render import (
    exact_text,
    exponential_text,
    note,
    print_json,
    print_tables,
    progress,
    table,
    warn_without,
)
from reduced.cli.simulation import follow
from reduced.errors import InputError
from reduced.numbers import Exact, double_string, exact, read_number, sign
from reduced.problem import require_positive
from reduced.records import Outcome

if TYPE_CHECKING:
    import fullnet

SUBGRADIENTS = {"0": 0.0, "1/2": 0.5, "1": 1.0}
MAX_STEPS = 10**12

# Rounding errors pile up over the steps: this many digits of a descent's times are shown.
_DESCENT_DIGITS = 12

LearningRates = Annotated[
    list[str] | None,
    Option("--lr", metavar="LR", rich_help_panel="Run", help="Learning rate of a descent; repeatable."),
]
Subgradient = Annotated[
    str,
    Option("--subgradient", metavar="0|1/2|1", rich_help_panel="Run", help="Derivative of ReLU at 0."),
]


def gd(
    model: Model,
    weights: Weights,
    data: Data,
    flow: Flow,
    out: Digits,
    lr: LearningRates = None,
    steps: Annotated[
        int, Option("--steps", rich_help_panel="Run", help="Steps of each run; flow time is steps × lr.")
    ] = 150_000,
    subgradient: Subgradient = "0",
) -> int:
    """Gradient descent as in the paper, from the same initial weights as simulate.

    Times are flow times, steps × lr: T_plat interpolated inside its step, T_II on the step grid; for other data
    than two points accuracy and loss at the end stand in their place. Neurons dead in a run and living in the
    gradient flow are lost to the step size. The learning rate is 0.01 unless given. A smaller one needs more
    --steps.
    With --until a run ends at that flow time, if its --steps have not ended it before.

    \b
    Examples
      reduced gd
      reduced gd --lr 0.01 --lr 0.001 --steps 5000000 --seed 1
      reduced gd --init weights.npz --subgradient 1/2 --json
    """
    problem, digits = model.problem(assumption=False), out.checked()
    rates = [read_rate(text) for text in (["0.01"] if lr is None else lr)]
    slope, steps, until = read_slope(subgradient), read_steps(steps), flow.until_or(inf)
    seconds = flow.seconds()
    network = weights.network(model, data.dimension)
    points = data.points(problem, network.W.shape[1], weights.seed)
    notes = [*weights.unused(model), *data.unused(), *([] if data.other else outside_assumption(problem))]
    warn_without("numba")
    runs: list[fullnet.Descent] = []
    try:
        with time_limit(seconds):
            path = follow(network, points, problem, flow)
            for rate in rates:
                count = min(steps, steps_until(until, rate))
                runs.append(_descend(network, points, rate, count, problem.loss.value, slope))
        outcome = path.outcome.value
    except BudgetExceeded:
        outcome = Outcome.BUDGET.value
    loss = problem.loss.value
    record = {
        "runs": [
            _run_record(run, rate, path.living, digits) | {"final": _final(run, points, loss, digits)}
            for run, rate in zip(runs, rates, strict=False)
        ],
        "outcome": outcome,
        "notes": notes,
    }
    if out.json:
        print_json(record)
    else:
        _print(record, points.is_two_point)
    return 3 if outcome == Outcome.BUDGET.value else 0


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
    from reduced.maxmargin.network import as_float

    # the quotient of two decimals may be one rounding short of the integer it stands for
    return int(min(until / as_float(rate, "lr") * (1 + 1e-12), MAX_STEPS))


def read_slope(text: str) -> float:
    """Read the derivative of ReLU at 0."""
    value = read_number(text, "subgradient")
    for name, slope in SUBGRADIENTS.items():
        if sign(value - exact(name)) == 0:
            return slope
    raise InputError("subgradient", text, "0, 1/2 or 1")


def _descend(
    network: fullnet.Network, points: fullnet.DataSet, rate: Exact, steps: int, loss: str, slope: float
) -> fullnet.Descent:
    import fullnet
    from reduced.maxmargin.network import as_float

    with progress(f"descending with lr = {rate}") as update:
        return fullnet.gradient_descent(
            network,
            points,
            as_float(rate, "lr"),
            steps,
            loss,
            slope,
            stop_early=False,
            on_progress=lambda made: update(f"{made} steps"),
        )


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

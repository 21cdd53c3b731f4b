"""The command perturb: is the limit of an explicit network a local optimum of the margin?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from reduced.cli.budget import BudgetExceeded, time_limit
from reduced.cli.descent import read_rate, read_steps
from reduced.cli.options import DOUBLE_DIGITS, Data, Digits, Flow, Model, Weights, require_separate
from reduced.cli.render import note, print_budget, print_json, print_tables, progress, table, values
from reduced.cli.simulation import follow
from reduced.errors import InputError
from reduced.numbers import double_string, exact, read_number
from reduced.records import Outcome, Problem

if TYPE_CHECKING:
    import fullnet
    from reduced.maxmargin import Path, Perturbation, Residual, Revival
    from reduced.maxmargin.network import Floats

DESCENT_TIME = 1500.0
"""Where a gradient descent stops unless told otherwise: the paper's 150 000 steps of 0.01."""

MAX_DIRECTIONS = 10_000_000

# A slope that is 0 up to rounding has no digits to speak of; neither has the best of a random draw.
_FEW_DIGITS = 3
_RESIDUAL_DIGITS = 10


def perturb(
    model: Model,
    weights: Weights,
    flow: Flow,
    out: Digits,
    directions: Annotated[
        int,
        Option("--directions", rich_help_panel="Run", help="Random directions tried beside the exact test."),
    ] = 2000,
    at: Annotated[
        list[str] | None,
        Option(
            "--at",
            metavar="T",
            rich_help_panel="Run",
            help="Flow time at which the KKT residual is shown, besides the end; repeatable.",
        ),
    ] = None,
    lr: Annotated[
        str | None,
        Option(
            "--lr",
            metavar="LR",
            rich_help_panel="Run",
            help="Take the weights of a gradient descent with this learning rate, up to --until (default 1500).",
        ),
    ] = None,
) -> int:
    """Max-margin perturbation test (Theorem 4.11) on an explicit network.

    The gradient flow (or with --lr the descent) tells who lives; the limit is
    then built with those neurons. Slopes are d/dε of the normalised margin at
    ε = 0, along directions of norm 1 at the limit of norm 1. The KKT residual
    of the weights themselves falls like 1/log t in the last phase.

    \b
    Examples
      reduced perturb
      reduced perturb --seed 3 --digits 20 --json
      reduced perturb --init weights.npz --at 1e4 --at 1e6 --at 1e9
      reduced perturb --lr 0.01 --until 10000 --at 1000
    """
    from reduced.maxmargin import perturb as test_network

    problem, digits = model.problem(), out.checked()
    require_separate(problem)
    if not 1 <= directions <= MAX_DIRECTIONS:
        raise InputError("directions", directions, f"an integer from 1 to {MAX_DIRECTIONS}")
    network = weights.network(model)
    try:
        run = _run(network, problem, flow, lr, at or [])
    except BudgetExceeded:
        run = None
    if run is None:
        print_budget(out.json)
        return 3
    living = run.living
    if living["positive"] and living["negative"]:
        with progress("testing the limit"):
            record = _record(
                test_network(
                    run.weights,
                    network.sign,
                    problem.delta,
                    problem.kappa2,
                    directions=directions,
                    seed=weights.seed or 0,
                    digits=digits,
                )
            )
    else:
        record = _without_limit(problem, network, living, digits)
    record["residuals"] = [_residual_record(row) for row in run.residuals]
    notes = weights.unused(model)
    if out.json:
        print_json({**record, "notes": notes})
        return 0
    for line in notes:
        note(line)
    print_tables(*_tables(record))
    return 0


@dataclass(frozen=True, eq=False)
class _Run:
    """What the test needs of a run: its last weights, who lives there, and the KKT residuals along it."""

    weights: Floats
    living: dict[str, int]
    residuals: tuple[Residual, ...]


def _run(
    network: fullnet.Network, problem: Problem, flow: Flow, lr: str | None, at: list[str]
) -> _Run | None:
    """Train as the options say; None when the budget ran out."""
    import fullnet
    from reduced.maxmargin import living_sets, residual_along
    from reduced.maxmargin.network import KINK_TOLERANCE, as_float

    points = Data().points(problem, network.W.shape[1])
    path: Path
    tolerance: float | Callable[[float], float]
    if lr is None:
        path = follow(network, points, problem, flow)
        if path.outcome is fullnet.Outcome.BUDGET:
            return None
        times, tolerance = _times(at, path.end), KINK_TOLERANCE
    else:
        until, rate = flow.until_or(DESCENT_TIME), as_float(read_rate(lr), "lr")
        read_steps(round(until / rate))
        with progress(f"descending with lr = {lr}"), time_limit(flow.seconds()):
            path = fullnet.descent_path(network, points, rate, _times(at, until), problem.loss.value)
        times, tolerance = list(path.times), path.chatter
    end = path.neurons(times[-1])
    positive, negative = (int(mask.sum()) for mask in living_sets(end, network.sign, points.X))
    living = {"positive": positive, "negative": negative, "dead": len(end) - positive - negative}
    return _Run(end, living, residual_along(path, times, tolerance) if end.any() else ())


def _times(at: list[str], end: float) -> list[float]:
    """Read the times at which the residual is wanted, in order, the end last."""
    from reduced.maxmargin.network import as_float

    times = [as_float(read_number(text, "at"), "at") for text in at]
    for text, t in zip(at, times, strict=True):
        if not 0 <= t <= end:
            raise InputError("at", text, f"a flow time from 0 to the end of the run, {end:g}")
    return sorted({*times, end})


def _without_limit(
    problem: Problem, network: fullnet.Network, living: dict[str, int], digits: int
) -> dict[str, Any]:
    """Say what there is to say when no margin is positive: one sign has no living neuron."""
    from reduced.solve.limit import limit

    counts = {name: int((network.sign == sign).sum()) for name, sign in (("positive", 1), ("negative", -1))}
    m = len(network.sign)
    everyone = replace(
        problem, alpha_plus=exact(counts["positive"]) / m, alpha_minus=exact(counts["negative"]) / m
    )
    best = limit(everyone, digits, everyone.alpha_plus, everyone.alpha_minus).gamma
    missing = [name for name in ("positive", "negative") if not living[name]]
    words = (
        f"no living {' or '.join(missing)} neuron: a point is never learned, and there is no limit direction"
    )
    if best == "0":
        words += "; all neurons have one sign, so no network with them has a positive margin"
    else:
        words += "; reviving dead neurons of that sign would make the margin positive"
    return {
        "gamma_limit": "0",
        "gamma_max": best,
        "gamma_ratio": None if best == "0" else "0",
        "regime": None,
        "living": living,
        "living_only": None,
        "revive_dead": None,
        "random_best": None,
        "local_optimum": None,
        "outcome": Outcome.PLATEAU_INFINITE.value,
        "words": words,
    }


def _residual_record(row: Residual) -> dict[str, Any]:
    ratio = row.multiplier_ratio
    return {
        "t": double_string(row.t, DOUBLE_DIGITS),
        "residual": double_string(row.residual, _RESIDUAL_DIGITS),
        "margin": double_string(row.normalised_margin, _RESIDUAL_DIGITS),
        "lambda_ratio": None if ratio is None else double_string(ratio, _RESIDUAL_DIGITS),
        "on_kinks": row.kinked,
    }


def _record(found: Perturbation) -> dict[str, Any]:
    alone, revived = found.living_only, found.revive_dead
    return {
        "gamma_limit": found.gamma_limit,
        "gamma_max": found.gamma_max,
        "gamma_ratio": found.gamma_ratio,
        "regime": found.regime.value,
        "living": found.living,
        "living_only": {
            "best_slope": double_string(alone.best_slope, _FEW_DIGITS),
            "upper_bound": double_string(alone.upper_bound, _FEW_DIGITS),
            "random_best": double_string(alone.random_best, _FEW_DIGITS),
            "random_count": alone.random_count,
            "concave": alone.hypotheses.hold,
            "local_optimum": alone.local_optimum,
        },
        "revive_dead": {
            "form": revived.form,
            "slope_predicted": revived.slope_predicted,
            "slope_measured": revived.slope_measured,
            "cases": [_case(case) for case in revived.cases],
        },
        "random_best": double_string(found.random_best, _FEW_DIGITS),
        "local_optimum": found.local_optimum,
        "outcome": Outcome.FINISHED.value,
        "words": found.words,
    }


def _case(case: Revival) -> dict[str, Any]:
    return {
        "case": case.case,
        "neurons": len(case.neurons),
        "gains": case.gains,
        "slope_predicted": case.plain.predicted,
        "slope_measured": case.plain.measured,
        "rebalanced_predicted": case.rebalanced.predicted,
        "rebalanced_measured": case.rebalanced.measured,
        "ascent": {
            "epsilon": case.ascent.epsilon,
            "gamma": case.ascent.gamma,
            "growth": case.ascent.growth,
        },
    }


def _tables(record: dict[str, Any]) -> list[Any]:
    rows = [
        ("margin γ at the limit", record["gamma_limit"]),
        ("largest margin γ_max, all neurons", record["gamma_max"]),
        ("γ/γ_max", record["gamma_ratio"]),
        ("regime", record["regime"]),
        ("living +/−/dead", "{positive}/{negative}/{dead}".format(**record["living"])),
    ]
    residuals = [
        (row["t"], row["residual"], row["margin"], row["lambda_ratio"], str(row["on_kinks"]))
        for row in record["residuals"]
    ]
    columns = ("t", "residual", "min yf/‖θ‖", "λ₋/λ₊", "on kinks")
    along = table("KKT certificate of the weights along the run", columns, residuals)
    if record["living_only"] is None:
        return [values("Perturbing the limit network", rows), along, record["words"]]
    parts = [values("Perturbing the limit network", [*rows, *_slope_rows(record)])]
    if record["revive_dead"]["cases"]:
        parts.append(_revivals(record))
    return [*parts, along, record["words"]]


def _slope_rows(record: dict[str, Any]) -> list[tuple[str, str | None]]:
    alone, revived = record["living_only"], record["revive_dead"]
    return [
        ("best slope, living neurons only", alone["best_slope"]),
        ("local optimum among the living", _yes(alone["local_optimum"])),
        ("slope reviving the dead, predicted", revived["slope_predicted"]),
        ("slope reviving the dead, measured", revived["slope_measured"]),
        (f"best of {alone['random_count']} random directions", record["random_best"]),
        ("local optimum of the whole network", _yes(record["local_optimum"])),
    ]


def _revivals(record: dict[str, Any]) -> Any:
    cases = [
        (
            f"{case['case']} ({case['neurons']})",
            case["slope_predicted"],
            case["rebalanced_predicted"],
            case["rebalanced_measured"],
            case["ascent"]["growth"],
        )
        for case in record["revive_dead"]["cases"]
    ]
    columns = ("revived", "plain slope", "living re-balanced", "measured", "γ grows by")
    return table("Reviving dead neurons", columns, cases)


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"

"""The command perturb: is the limit of an explicit network a local optimum of the margin?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from reduced.cli.options import Data, Digits, Flow, Model, Weights
from reduced.cli.render import double_text, note, print_json, print_tables, progress, table, values
from reduced.cli.simulation import follow
from reduced.errors import InputError
from reduced.records import Outcome

if TYPE_CHECKING:
    from reduced.maxmargin import Perturbation, Revival

MAX_DIRECTIONS = 10_000_000

# A slope that is 0 up to rounding has no digits to speak of; neither has the best of a random draw.
_FEW_DIGITS = 3


def perturb(
    model: Model,
    weights: Weights,
    flow: Flow,
    out: Digits,
    directions: Annotated[
        int,
        Option("--directions", rich_help_panel="Run", help="Random directions tried beside the exact test."),
    ] = 2000,
) -> int:
    """Max-margin perturbation test (Theorem 4.11) on an explicit network.

    The gradient flow tells who lives; the limit is then built with those
    neurons. Slopes are d/dε of the normalised margin at ε = 0, along
    directions of norm 1 at the limit of norm 1.

    \b
    Examples
      reduced perturb
      reduced perturb --seed 3 --digits 20 --json
      reduced perturb --init weights.npz --directions 20000
    """
    import fullnet
    from reduced.maxmargin import perturb as test_network

    problem, digits = model.problem(), out.checked()
    if not 1 <= directions <= MAX_DIRECTIONS:
        raise InputError("directions", directions, f"an integer from 1 to {MAX_DIRECTIONS}")
    network = weights.network(model)
    path = follow(network, Data().points(problem, network.W.shape[1]), problem, flow)
    if path.outcome is fullnet.Outcome.BUDGET:
        if out.json:
            print_json({"outcome": Outcome.BUDGET.value})
        else:
            print_tables(Outcome.BUDGET.message)
        return 3
    with progress("testing the limit"):
        found = test_network(
            path.neurons(path.end),
            network.sign,
            problem.delta,
            problem.kappa2,
            directions=directions,
            seed=weights.seed or 0,
            digits=digits,
        )
    notes = weights.unused(model)
    if out.json:
        print_json({**_record(found), "notes": notes})
        return 0
    for line in notes:
        note(line)
    print_tables(*_tables(found))
    return 0


def _record(found: Perturbation) -> dict[str, Any]:
    alone, revived = found.living_only, found.revive_dead
    return {
        "gamma_limit": found.gamma_limit,
        "regime": found.regime.value,
        "living": found.living,
        "living_only": {
            "best_slope": double_text(alone.best_slope, _FEW_DIGITS),
            "upper_bound": double_text(alone.upper_bound, _FEW_DIGITS),
            "random_best": double_text(alone.random_best, _FEW_DIGITS),
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
        "random_best": double_text(found.random_best, _FEW_DIGITS),
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


def _tables(found: Perturbation) -> list[Any]:
    record = _record(found)
    alone, revived = record["living_only"], record["revive_dead"]
    rows = [
        ("margin γ at the limit", found.gamma_limit),
        ("regime", found.regime.value),
        ("living +/−/dead", "{positive}/{negative}/{dead}".format(**found.living)),
        ("best slope, living neurons only", alone["best_slope"]),
        ("local optimum among the living", _yes(alone["local_optimum"])),
        ("slope reviving the dead, predicted", revived["slope_predicted"]),
        ("slope reviving the dead, measured", revived["slope_measured"]),
        (f"best of {found.random_count} random directions", record["random_best"]),
        ("local optimum of the whole network", _yes(found.local_optimum)),
    ]
    cases = [
        (
            f"{case['case']} ({case['neurons']})",
            case["rebalanced_predicted"],
            case["rebalanced_measured"],
            case["ascent"]["growth"],
        )
        for case in revived["cases"]
    ]
    columns = ("revived", "slope predicted", "measured", "γ grows by")
    return [
        values("Perturbing the limit network", rows),
        table("Reviving dead neurons, the living re-balancing", columns, cases),
        found.words,
    ]


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"

"""The command crosscheck: reduced dynamics against the full network."""

from __future__ import annotations

from dataclasses import asdict, replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from reduced.cli.budget import BudgetExceeded, time_limit
from reduced.cli.descent import LearningRates, Subgradient, read_rate, read_slope, read_steps
from reduced.cli.options import Data, Digits, Flow, Model, Weights, require_separate
from reduced.cli.render import (
    exact_text,
    note,
    print_budget,
    print_json,
    print_tables,
    progress,
    table,
    warn_without,
)
from reduced.cli.simulation import LAST_TIME
from reduced.numbers import double_string
from reduced.records import Outcome

if TYPE_CHECKING:
    from reduced.cli.tables import Table
    from reduced.crosscheck import Check, CrossCheck, DescentRow

# Numbers of the table for people, unless --digits asks for more.
_SHOWN_DIGITS, _NARROW_DIGITS = 9, 6


def crosscheck(
    model: Model,
    weights: Weights,
    data: Data,
    flow: Flow,
    out: Digits,
    lr: LearningRates = None,
    steps: Annotated[
        int | None,
        Option("--steps", rich_help_panel="Run", help="Steps of each descent. Default: to just past T_II."),
    ] = None,
    subgradient: Subgradient = None,
) -> int:
    """Reduced dynamics against the full network: one table, one verdict.

    The full side is the numerical flow; the exact flow of all neurons stands beside it where
    the terminal has room, and in --json. A row's tolerance is ten times the numerical flow's
    own error estimate; the rows named collapsed (each group one particle) allow what the
    measured spread of K₊ accounts for. Gradient descent is shown too and never part of the
    verdict. Exit code 0 when all rows agree, 1 otherwise.
    With --data the groups living after condensation are the reduced model, and there is no descent.

    \b
    Examples
      reduced crosscheck
      reduced crosscheck --seed 7 --lr 0.01 --json
      reduced crosscheck --init weights.npz --until 1e6
      reduced crosscheck --data points.csv --until 1e4
    """
    from reduced.crosscheck import DEFAULT_RATES, crosscheck_data
    from reduced.crosscheck import crosscheck as compare

    problem, digits = model.problem(), out.checked()
    if not data.other:
        require_separate(problem)
    rates = [read_rate(text) for text in (DEFAULT_RATES if lr is None else lr)]
    slope, count = read_slope(subgradient), None if steps is None else read_steps(steps)
    until, ridge, seconds = flow.until_or(LAST_TIME), flow.checked_ridge(), flow.seconds()
    network = weights.network(model, data.dimension)
    points = data.points(problem, network.W.shape[1], weights.seed) if data.other else None
    for extra in ("numba", "gmpy2"):
        warn_without(extra)
    try:
        with progress("cross-checking") as update, time_limit(seconds):
            if points is not None:
                found = crosscheck_data(
                    network, points, problem.loss, until=until, digits=digits, ridge=ridge, on_stage=update
                )
            else:
                found = compare(
                    network,
                    problem,
                    until=until,
                    digits=digits,
                    ridge=ridge,
                    learning_rates=rates,
                    steps=count,
                    subgradient=slope,
                    on_stage=update,
                )
    except BudgetExceeded:
        print_budget(out.json)
        return 3
    notes = [*weights.unused(model), *data.unused(), *found.notes]
    if out.json:
        lrs = [exact_text(rate, digits) for rate in rates]
        print_json({**_record(found, lrs[: len(found.gd)]), "notes": notes})
    else:
        for line in notes:
            note(line)
        end = None if points is None else double_string(until, out.shown(_SHOWN_DIGITS))
        print_tables(*_tables(found, out.digits, end))
    return 0 if found.agree else 1


def _record(found: CrossCheck, lrs: list[str]) -> dict[str, Any]:
    return {
        "checks": [asdict(check) for check in found.checks],
        "agree": found.agree,
        "outcome": found.outcome.value,
        "regime": found.regime and found.regime.value,
        "living": found.living,
        "gd": [_descent_record(row, lr) for row, lr in zip(found.gd, lrs, strict=True)],
        "largest_faithful_lr": found.largest_faithful_lr,
    }


def _descent_record(row: DescentRow, lr: str) -> dict[str, Any]:
    return {
        "lr": lr,
        "steps": row.steps,
        "times": {"T_plat": row.T_plat, "T_II": row.T_II},
        "living": row.living,
        "lost_to_step_size": row.lost,
        "same_living": row.same_living,
        "outcome": row.outcome,
    }


def _tables(found: CrossCheck, digits: int | None, end: str | None) -> list[Table | str]:
    """Build what people read, with the digits asked for; end is the last flow time of data not the two points."""
    numbers = [check for check in found.checks if not _in_words(check)]
    words = [check for check in found.checks if _in_words(check)]
    return [
        _number_table(numbers, digits, other=end is not None),
        *([_word_table(words)] if words else []),
        *(_descent_parts(found) if found.gd else []),
        _closing(found, end),
    ]


def _word_table(checks: list[Check]) -> Table:
    return table(
        "Neuron by neuron",
        ("quantity", "reduced", "network", "differ", "agree"),
        [
            (
                check.quantity,
                check.reduced,
                "the same" if check.full == check.reduced else check.full,
                check.difference,
                _verdict(check),
            )
            for check in checks
        ],
    )


def _descent_parts(found: CrossCheck) -> list[Table | str]:
    rows = [
        (
            row.lr,
            row.T_plat,
            row.T_II,
            "{positive}/{negative}/{dead}".format(**row.living),
            "{positive}/{negative}".format(**row.lost),
            row.outcome,
        )
        for row in found.gd
    ]
    return [
        table(
            "Gradient descent beside it (not part of the verdict)",
            ("lr", "T_plat", "T_II", "living +/−/dead", "lost +/−", "ended"),
            rows,
        ),
        f"largest step whose living sets equal the flow's: {found.largest_faithful_lr or 'none of these'}",
    ]


def _closing(found: CrossCheck, end: str | None) -> str:
    wrong = sum(not check.agree for check in found.checks)
    verdict = f"all {len(found.checks)} rows agree"
    if not found.agree:
        verdict = f"{wrong} of {len(found.checks)} rows disagree"
    regime = [] if found.regime is None else [f"regime {found.regime.value}"]
    outcome = found.outcome.message
    if end is not None and found.outcome is Outcome.FINISHED:
        outcome = f"finished: compared up to t = {end}"
    return "; ".join([verdict, *regime, outcome])


def _number_table(checks: list[Check], digits: int | None, *, other: bool) -> Table:
    """Build the table of numbers, with fewer digits for narrow terminals unless a number of them was asked for."""
    if digits is not None:
        return _rounded_table(checks, digits, other)
    narrower = _rounded_table(checks, _NARROW_DIGITS, other)
    return replace(_rounded_table(checks, _SHOWN_DIGITS, other), narrower=narrower)


def _rounded_table(checks: list[Check], digits: int, other: bool) -> Table:
    """Build it at one number of digits; the exact flow, of two points only, where the terminal has room for it."""
    exact = [] if other else ["exact flow"]
    columns = ("quantity", "reduced", *exact, "network", "differ", "tolerance", "agree")
    rows = [
        [
            check.quantity,
            _short(check.reduced, digits),
            *(_short(check.exact, digits) for _ in exact),
            _short(check.full, digits),
            check.difference,
            check.tolerance,
            _verdict(check),
        ]
        for check in checks
    ]
    return table("Reduced dynamics against the full network", columns, rows, spare=exact)


def _verdict(check: Check) -> str:
    return "yes" if check.agree else "NO"


def _in_words(check: Check) -> bool:
    """Tell a row of counts in words from a row of numbers."""
    try:
        return check.reduced is not None and Decimal(check.reduced).is_nan()
    except InvalidOperation:
        return True


def _short(number: str | None, digits: int) -> str | None:
    """Round a number for the table; infinities keep their text."""
    if number is None or "inf" in number:
        return number
    return f"{Decimal(number):.{digits}g}"

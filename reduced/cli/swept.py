"""The commands sweep summary and sweep export: what a sweep's file says."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from reduced.cli.options import choose
from reduced.cli.render import note, print_json, print_tables, print_text, table
from reduced.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from reduced.sweep import Fit, Row, Spread

DONE, BAD_INPUT = 0, 2

OneComputation = Annotated[
    str | None,
    Option(
        "--compute",
        metavar="plateau|limit|simulate|crosscheck|gd",
        help="Only the rows of this computation. Default: all.",
    ),
]


def _read(file: str, computation: str | None) -> list[Row]:
    """Read the rows of a file, those of one computation where asked; a mixture is mentioned."""
    from reduced.sweep import COMPUTATIONS, read_rows

    if computation is not None:
        choose(computation, "compute", tuple(COMPUTATIONS))
    rows = read_rows(file)
    counts = Counter(row.config["compute"] for row in rows)
    words = ", ".join(f"{count} of {name}" for name, count in sorted(counts.items()))
    if computation is not None:
        if rows and not counts[computation]:
            raise InputError("compute", computation, f"a computation of which {file} has rows ({words})")
        return [row for row in rows if row.config["compute"] == computation]
    if len(counts) > 1:
        note(f"{file} holds rows of different computations ({words}); --compute NAME takes one of them")
    return rows


def summarise(
    file: Annotated[str, Argument(metavar="FILE", help="File of a sweep.")],
    computation: OneComputation = None,
    plot: Annotated[
        str | None,
        Option("--plot", metavar="FILE", help="Draw the fits too: .png, .svg or .pdf."),
    ] = None,
    json: Annotated[bool, Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> int:
    """Scaling laws of a sweep, and how its results vary over seeds.

    quantity = constant · parameter^exponent, fitted with one exponent and a constant for each
    combination of the other parameters; ± is the standard error. "law" is the leading small-Δ law,
    fitted on the same points, "Δ → 0" the exponent it tends to, "over law" the range of quantity/law.

    Over seeds: quantiles in percent; "never" counts the seeds for which it is infinite, "unknown" those that
    did not get there within the run.

    \b
    Examples
      reduced sweep summary sweep.db
      reduced sweep summary sweep.db --plot laws.svg --json
      reduced sweep summary sweep.db --compute simulate
    """
    from reduced.sweep import over_seeds, plot_fits, summary

    rows = _read(file, computation)
    fits, spreads = summary(rows), over_seeds(rows)
    failed = sum(row.error is not None for row in rows)
    if plot is not None:
        plot_fits(fits, plot)
    if json:
        counts = Counter(row.config["compute"] for row in rows)
        print_json(
            {
                "rows": len(rows),
                "failed": failed,
                "computations": dict(sorted(counts.items())),
                "fits": [_fit_record(fit) for fit in fits],
                "over_seeds": [_spread_record(one) for one in spreads],
            }
        )
        return DONE
    columns = (
        "quantity", "in", "exponent", "±", "law", "Δ → 0", "constant", "law's constant", "over law", "points",
    )  # fmt: skip
    print_tables(
        *(
            table(
                f"Scaling of {computation}",
                columns,
                [_fit_cells(fit) for fit in fits if fit.computation == computation],
            )
            for computation in dict.fromkeys(fit.computation for fit in fits)
        ),
        *_spread_tables(spreads),
        f"{len(rows)} rows, {failed} of them errors"
        + ("" if fits or spreads else "; no parameter takes two values"),
    )
    return DONE


def _spread_record(one: Spread) -> dict[str, Any]:
    from reduced.sweep.seeds import LEVELS

    quantiles = {str(level): text for level, text in zip(LEVELS, one.quantiles, strict=True)}
    return {**asdict(one), "quantiles": quantiles}


def _spread_tables(spreads: list[Spread]) -> list[Any]:
    """Return a table for each group of rows that differ in the seed only."""
    from reduced.sweep.seeds import LEVELS

    groups: dict[str, list[Spread]] = {}
    for one in spreads:
        fixed = ", ".join(f"{name} = {value}" for name, value in one.fixed.items())
        title = f"{one.computation} over {one.seeds + one.unknown} seeds" + (f", {fixed}" if fixed else "")
        groups.setdefault(title, []).append(one)
    columns = ("quantity", *(f"{level} %" for level in LEVELS), "never", "unknown")
    return [
        table(
            title,
            columns,
            [(one.quantity, *one.quantiles, str(one.never), str(one.unknown)) for one in group],
        )
        for title, group in groups.items()
    ]


def _fit_record(fit: Fit) -> dict[str, Any]:
    record = asdict(fit)
    del record["series"]
    return {
        **record,
        "exponent": _short(fit.exponent),
        "error": _short(fit.error),
        "law_exponent": _short(fit.law_exponent),
        "ratios": fit.ratios and [_short(ratio) for ratio in fit.ratios],
        "groups": len(fit.series),
    }


def _fit_cells(fit: Fit) -> tuple[str | None, ...]:
    return (
        fit.quantity,
        fit.parameter,
        _short(fit.exponent),
        None if math.isnan(fit.error) else f"{fit.error:.1g}",
        _short(fit.law_exponent),
        None if fit.theory is None else str(fit.theory),
        _range(fit.constants),
        _range(fit.law_constants),
        _range(fit.ratios and tuple(f"{ratio:.5g}" for ratio in fit.ratios)),
        f"{fit.points}/{fit.points + fit.left_out}",
    )


def _range(ends: tuple[str, ...] | None) -> str | None:
    return None if ends is None else ends[0] if ends[0] == ends[1] else f"{ends[0]} … {ends[1]}"


def _short(value: float | None) -> str | None:
    return None if value is None or math.isnan(value) else f"{value:.6g}"


def export_rows(
    file: Annotated[str, Argument(metavar="FILE", help="File of a sweep.")],
    computation: OneComputation = None,
    form: Annotated[str, Option("--format", metavar="csv|json|parquet", help="Form of the table.")] = "csv",
    out: Annotated[
        str | None, Option("--out", "-o", metavar="FILE", help="Where to write it. Default: stdout.")
    ] = None,
) -> int:
    """A sweep's rows as one table: parameters, results, errors, versions; numbers with all digits.

    \b
    Examples
      reduced sweep export sweep.db
      reduced sweep export sweep.db --format json --out rows.json
      reduced sweep export sweep.db --format parquet --out rows.parquet
    """
    from reduced.sweep import export

    try:
        text = export(_read(file, computation), form, out)
    except MissingExtra as why:
        note(str(why))
        return BAD_INPUT
    if text is not None:
        print_text(text)
    return DONE

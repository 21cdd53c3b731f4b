"""The command sweep: many points into one file, and what the file says."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from reduced.cli.options import spread
from reduced.cli.render import note, print_json, print_tables, print_text, table, values
from reduced.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from reduced.sweep import Fit, Point, Progress, Report

DONE, SOME_FAILED, BAD_INPUT, BUDGET, INTERRUPTED = 0, 1, 2, 3, 130

_AXES, _RUN, _OUTPUT = "Parameters (lists of values)", "Run", "Output"

app = typer.Typer(no_args_is_help=False)


def _axis(flag: str, words: str) -> Any:
    return Option(flag, metavar="LIST", rich_help_panel=_AXES, help=words)


@dataclass(frozen=True)
class Axes:
    """The values of every parameter, as texts."""

    p: Annotated[str | None, _axis("--p", "Weight ratio. Default: 4.")] = None
    delta: Annotated[str | None, _axis("--delta", "Angle Δ. Default: pi/15.")] = None
    kappa1: Annotated[str | None, _axis("--kappa1", "Size κ₁ of initial weights. Default: 1/10.")] = None
    kappa2: Annotated[str | None, _axis("--kappa2", "Size κ₂ of output weights. Default: 1.")] = None
    alpha_plus: Annotated[
        str | None, _axis("--alpha-plus", "Living positive fraction α₊. Default: law (κ₁ → 0).")
    ] = None
    alpha_minus: Annotated[
        str | None, _axis("--alpha-minus", "Living negative fraction α₋. Default: law (κ₁ → 0).")
    ] = None
    m: Annotated[str | None, _axis("--m", "Number of neurons. Default: 100.")] = None
    dim: Annotated[str | None, _axis("--dim", "Dimension d. Default: 20.")] = None
    seed: Annotated[str | None, _axis("--seed", "Seed of the draw. Default: 0.")] = None
    init_law: Annotated[str | None, _axis("--init-law", "sphere, gaussian. Default: sphere.")] = None
    loss: Annotated[str | None, _axis("--loss", "exp, logistic. Default: exp.")] = None
    lr: Annotated[str | None, _axis("--lr", "Learning rate of gd. Default: 1/100.")] = None
    steps: Annotated[str | None, _axis("--steps", "Steps of gd. Default: to just past T_II.")] = None
    until: Annotated[str | None, _axis("--until", "Last flow time. Default: 1e12.")] = None
    digits: Annotated[str | None, _axis("--digits", "Significant digits. Default: 30.")] = None


def sweep(
    context: typer.Context,
    axes: Axes,
    computation: Annotated[
        str,
        Option(
            "--compute",
            metavar="plateau|limit|simulate|crosscheck|gd",
            rich_help_panel=_RUN,
            help="What to compute at every point.",
        ),
    ] = "plateau",
    out: Annotated[
        str,
        Option(
            "--out", "-o", metavar="FILE", rich_help_panel=_OUTPUT, help="SQLite file of the rows; resumed."
        ),
    ] = "sweep.db",
    workers: Annotated[
        int | None,
        Option("--workers", rich_help_panel=_RUN, help="Worker processes. Default: one per processor."),
    ] = None,
    scheduler: Annotated[
        str | None,
        Option(
            "--scheduler",
            metavar="ADDRESS",
            rich_help_panel=_RUN,
            help="Use the workers of a running Dask scheduler, tcp://host:8786, instead.",
        ),
    ] = None,
    budget: Annotated[
        float | None,
        Option("--budget", metavar="SECONDS", rich_help_panel=_RUN, help="Most wall time; then exit 3."),
    ] = None,
    retry_failed: Annotated[
        bool, Option("--retry-failed", rich_help_panel=_RUN, help="Compute rows that are errors again.")
    ] = False,
    json: Annotated[
        bool, Option("--json", rich_help_panel=_OUTPUT, help="Print one JSON object and nothing else.")
    ] = False,
) -> int:
    """Compute many points into one file; run the same command again and it goes on where it stopped.

    Parameters take lists of numbers (2,4,pi/15), integers 0:50 or 0:50:5 (end left
    out), lin(first, last, count), geom(first, last, count); every combination is a
    point. A point that fails becomes a row with its error. Exit codes: 0 every
    point has its result, 1 every point has a row and some are errors, 2 bad input,
    3 budget used up, workers or file lost, 130 interrupted.

    \b
    Examples
      reduced sweep --p 2,4,6,8 --delta pi/10,pi/15,pi/20,pi/30 -o times.db
      reduced sweep --delta "geom(1e-1, 1e-4, 7)" --alpha-plus 1/4 --alpha-minus 3/20
      reduced sweep --compute simulate --seed 0:50 --workers 2 -o networks.db
      reduced sweep --compute gd --seed 0:5 --lr 1e-2,1e-3 --scheduler tcp://host:8786
      reduced sweep summary times.db --plot laws.svg
      reduced sweep export times.db --format csv --out times.csv
    """
    if context.invoked_subcommand is not None:
        return DONE
    import sqlite3

    from reduced.sweep import grid, run
    from reduced.sweep.workers import WorkersLost

    if budget is not None and not 0 < budget < 1e9:
        raise InputError("budget", budget, "a positive number of seconds, below 1e9")
    points = grid(computation, asdict(axes))
    try:
        with _progress_bar(len(points)) as tell:
            report = run(
                points,
                out,
                workers=workers,
                scheduler=scheduler,
                budget=budget,
                retry_failed=retry_failed,
                on_progress=tell,
            )
    except MissingExtra as why:
        note(str(why))
        return BAD_INPUT
    except (WorkersLost, sqlite3.Error) as why:
        note(f"{why}; {_how_to_resume(out)}")
        return BUDGET
    except KeyboardInterrupt:
        note(_how_to_resume(out))
        return INTERRUPTED
    _print_report(report, points, out, json)
    return _exit_code(report)


def _how_to_resume(out: str) -> str:
    return f"all finished rows are in {out}; the same command goes on from there"


def _exit_code(report: Report) -> int:
    if report.progress.finished < report.progress.points:
        return BUDGET
    return SOME_FAILED if report.progress.failed else DONE


def _print_report(report: Report, points: list[Point], out: str, as_json: bool) -> None:
    found = report.progress
    if as_json:
        from reduced.sweep import read_rows
        from reduced.sweep.table import flat

        keys = {point.key for point in points}
        print_json(
            {
                **asdict(found),
                "outcome": report.outcome.value,
                "file": out,
                "seconds": f"{report.seconds:.4g}",
                "rows": [flat(row) for row in read_rows(out) if row.key in keys],
            }
        )
        return
    missing = found.points - found.finished
    closing = f"in {out}; reduced sweep summary {out} fits the scaling laws"
    if missing:
        closing = f"{missing} points are missing; {_how_to_resume(out)}"
    print_tables(
        values(
            "Sweep",
            [
                ("points", str(found.points)),
                ("already there", str(found.finished - found.computed)),
                ("computed now", str(found.computed)),
                ("rows that are errors", str(found.failed)),
            ],
        ),
        closing,
    )


@contextmanager
def _progress_bar(total: int) -> Iterator[Callable[[Progress], None] | None]:
    """Show a bar with the time left on stderr, only where stderr is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("sweep", total=total)

        def tell(found: Progress) -> None:
            words = f"sweep, {found.failed} failed" if found.failed else "sweep"
            bar.update(task, completed=found.finished, description=words)

        yield tell


def summarise(
    file: Annotated[str, Argument(metavar="FILE", help="File of a sweep.")],
    plot: Annotated[
        str | None,
        Option("--plot", metavar="FILE", help="Draw the fits too: .png, .svg or .pdf."),
    ] = None,
    json: Annotated[bool, Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> int:
    """Scaling laws of a sweep: exponent and constant of every time, beside the laws of small Δ.

    quantity = constant · parameter^exponent, fitted with one exponent and a constant for each
    combination of the other parameters; ± is the standard error. "law" is the leading small-Δ law,
    fitted on the same points, "Δ → 0" the exponent it tends to.

    \b
    Examples
      reduced sweep summary sweep.db
      reduced sweep summary sweep.db --plot laws.svg --json
    """
    from reduced.sweep import plot_fits, read_rows, summary

    rows = read_rows(file)
    fits = summary(rows)
    failed = sum(row.error is not None for row in rows)
    if plot is not None:
        plot_fits(fits, plot)
    if json:
        print_json({"rows": len(rows), "failed": failed, "fits": [_fit_record(fit) for fit in fits]})
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
        f"{len(rows)} rows, {failed} of them errors" + ("" if fits else "; no parameter takes two values"),
    )
    return DONE


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
    from reduced.sweep import export, read_rows

    try:
        text = export(read_rows(file), form, out)
    except MissingExtra as why:
        note(str(why))
        return BAD_INPUT
    if text is not None:
        print_text(text)
    return DONE


app.callback(invoke_without_command=True)(spread(sweep))
app.command("summary")(spread(summarise))
app.command("export")(spread(export_rows))

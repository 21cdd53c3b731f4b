"""The command sweep: many points into one file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from reduced.cli.render import note, print_json, print_tables, values
from reduced.cli.signature import spread
from reduced.cli.swept import export_rows, summarise
from reduced.errors import MissingExtra

if TYPE_CHECKING:
    from reduced.sweep import Point, Progress, Report

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


app.callback(invoke_without_command=True)(spread(sweep))
app.command("summary")(spread(summarise))
app.command("export")(spread(export_rows))

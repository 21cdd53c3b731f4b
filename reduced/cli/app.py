"""The command line's frame: commands, exit codes, and one clear line for whatever goes wrong."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from reduced.cli import budget, sweeps
from reduced.cli.collapsed import limit, plateau, predict
from reduced.cli.comparison import crosscheck
from reduced.cli.derivation import derive
from reduced.cli.descent import gd
from reduced.cli.ledger import theorems
from reduced.cli.perturbation import perturb
from reduced.cli.pictures import figures
from reduced.cli.render import (
    announce,
    forget,
    note,
    open_closed_streams,
    print_budget,
    silence_stdout,
)
from reduced.cli.reporting import report
from reduced.cli.signature import spread
from reduced.cli.simulation import simulate
from reduced.errors import BudgetExceeded

DONE, DISAGREES, BAD_INPUT, BUDGET, INTERRUPTED = 0, 1, 2, 3, 130

# Typer carries its own copy of click or uses an installed one; this is its base of usage errors.
_ClickException: Any = typer.BadParameter.__mro__[2]

app = typer.Typer(
    name="reduced",
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["--help", "-h"]},
)
for _command in (
    derive,
    plateau,
    predict,
    limit,
    simulate,
    gd,
    crosscheck,
    perturb,
    theorems,
    figures,
    report,
):
    app.command()(spread(_command))
app.add_typer(sweeps.app, name="sweep")


def _show_version(wanted: bool) -> None:
    if wanted:
        import reduced

        typer.echo(f"reduced {reduced.__version__}")
        raise typer.Exit


@app.callback()
def _reduced(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Print the version.")
    ] = False,
) -> None:
    """Reduced training dynamics of two-layer ReLU networks: derived, solved exactly, checked.

    Numbers are read exactly: 4, 0.1, 1e-20, pi/15, sqrt(2)/3, cos(pi/15)/4.
    Times are flow times t = step × learning rate. Exit codes: 0 done or
    agrees, 1 disagrees, 2 bad input, 3 budget exceeded.
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code; see :func:`reduced.cli.main`."""
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    forget()
    open_closed_streams()
    try:
        code = app(args=words, prog_name="reduced", standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:  # newer versions of Typer catch Ctrl-C themselves
            raise KeyboardInterrupt
    except (KeyboardInterrupt, typer.Abort):
        note("interrupted")
        return INTERRUPTED
    except budget.BudgetExceeded:
        print_budget("--json" in words)
        return BUDGET
    except (ArithmeticError, MemoryError, BudgetExceeded) as why:
        _give_up(why, "--json" in words)
        return BUDGET
    except (BrokenPipeError, SystemExit) as why:
        if isinstance(why, SystemExit) and not isinstance(why.__context__, BrokenPipeError):
            return BAD_INPUT if why.code else DONE  # Typer ends so after shell completion
        silence_stdout()  # the reader of a help page has gone
        return DONE
    except OSError as why:
        silence_stdout()
        note(f"cannot write the output ({why.strerror or type(why).__name__})")
        return BAD_INPUT
    except Exception as why:
        if not _is_bad_input(why):
            raise
        note(_one_line(why))
        return BAD_INPUT
    announce()
    return code if isinstance(code, int) else DONE


def _give_up(why: ArithmeticError | MemoryError | BudgetExceeded, as_json: bool) -> None:
    """Tell of a computation that no affordable precision or memory brings to its end."""
    note(f"beyond what can be computed: {_one_line(why)}")
    print_budget(as_json)


def _is_bad_input(why: Exception) -> bool:
    """Tell errors the caller caused; fullnet's own are told by name, to leave it unimported."""
    if isinstance(why, _ClickException):
        return True
    return any(kind.__name__ in ("InputError", "NotUnique", "MissingExtra") for kind in type(why).__mro__)


def _one_line(why: Any) -> str:
    text = why.format_message() if isinstance(why, _ClickException) else str(why)
    return " ".join(text.split()) or type(why).__name__

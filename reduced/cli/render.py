"""What commands print: rich tables for people, one JSON object for programs, decimal strings for numbers."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from io import StringIO
from typing import TYPE_CHECKING, Any

from reduced.numbers import Exact, decimal_string, double_string
from reduced.records import Outcome

if TYPE_CHECKING:
    from reduced.cli.tables import Table

Update = Callable[[str], None]

_warned: set[str] = set()
_pending: list[str] = []
_ANY_WIDTH = 10**9

# A relative error past this leaves one digit.
_NO_DIGITS = 0.3


def print_json(record: Mapping[str, Any]) -> None:
    """Write one JSON object to stdout."""
    _write(json.dumps(record, indent=2) + "\n")


def print_text(text: str) -> None:
    """Write text to stdout as it is."""
    _write(text.rstrip("\n") + "\n")


def print_tables(*parts: Table | str) -> None:
    """Write tables and lines to stdout: lines are wrapped, tables folded, at the terminal's width."""
    from rich.console import Console

    terminal, text = Console(), StringIO()
    for part in parts:
        console = Console(
            file=text,
            width=terminal.width if isinstance(part, str) else _ANY_WIDTH,
            force_terminal=terminal.is_terminal,
            no_color=terminal.no_color,
            highlight=False,
            markup=False,
        )
        console.print(part if isinstance(part, str) else part.within(terminal.width))
    _write("".join(line.rstrip() + "\n" for line in text.getvalue().splitlines()))


def table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str | None]],
    spare: Iterable[str] = (),
) -> Table:
    """Build a titled table; None shows as –, and the spare columns only where there is room for them."""
    from reduced.cli.tables import Table

    return Table.of(title, columns, rows, spare)


def values(title: str, rows: Iterable[tuple[str, str | None]]) -> Table:
    """Build a table of quantities and their values."""
    return table(title, ("quantity", "value"), rows)


def print_budget(as_json: bool) -> None:
    """Print what there is to say of a command whose budget was used up."""
    if as_json:
        print_json({"outcome": Outcome.BUDGET.value})
    else:
        print_tables(Outcome.BUDGET.message)


def note(line: str) -> None:
    """Write one line for people to stderr; where that cannot be written, there is nobody to tell."""
    with suppress(OSError):
        sys.stderr.write(f"reduced: {line}\n")
        sys.stderr.flush()


def warn_without(extra: str) -> None:
    """Say once, at the end of a command that had good input, that a package that makes it fast is missing."""
    if find_spec(extra) is None and extra not in _warned and extra not in _pending:
        _pending.append(extra)


def forget() -> None:
    """Drop the warnings of a command that ended on bad input."""
    _pending.clear()


def announce() -> None:
    """Write the warnings that waited for the input to prove good."""
    while _pending:
        extra = _pending.pop()
        _warned.add(extra)
        note(f"running without {extra}: slower; install the extra 'fast'")


def exact_text(value: Exact, digits: int) -> str:
    """Write an exact number as a decimal string at a number of significant digits."""
    from reduced.solve.promise import private_context

    return decimal_string(value.evaluate(private_context(digits + 15)), digits)


def trusted_text(value: float, error: float, digits: int) -> str:
    """Write a double with the digits its error estimate leaves, 17 at most; "0" when the error exceeds it.

    Of a value whose error nobody could estimate (inf) only the first digit is shown.
    """
    if value and error == math.inf:
        return double_string(value, 1)
    if abs(value) <= error:
        return "0"
    known = 17 if error == 0 else math.floor(math.log10(abs(value)) - math.log10(error))
    return double_string(value, max(1, min(digits, known)))


def exponential_text(log: float, error: float, digits: int) -> str:
    """Write exp of a logarithm of given error, also where it is past the range of doubles."""
    from reduced.solve.promise import private_context

    ctx = private_context(30)
    known = int(-ctx.log10(min(max(error, 1e-16), _NO_DIGITS)))
    return decimal_string(ctx.exp(ctx.mpf(log)), max(1, min(digits, known)))


@contextmanager
def progress(words: str) -> Iterator[Update]:
    """Show on stderr that something is under way, only where stderr is a terminal; yields a way to update."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status(words) as status:
        yield lambda more: status.update(f"{words}: {more}")


def open_closed_streams() -> None:
    """Give standard streams that were closed by the caller the null device: nobody wants what goes there."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # the lowest free descriptor is taken, so that no file opened later stands in for the stream
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def silence_stdout() -> None:
    """Let go what is still buffered for stdout, so that it does not raise when the interpreter ends."""
    with suppress(OSError):  # a stream that is no file has no descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write(text: str) -> None:
    """Write to stdout in one go; a reader who has gone away is no error."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()

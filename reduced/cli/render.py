"""What commands print: rich tables for people, one JSON object for programs, decimal strings for numbers."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from io import StringIO
from typing import Any

from reduced.numbers import Exact, decimal_string

Update = Callable[[str], None]

_warned: set[str] = set()
_pending: list[str] = []
_ANY_WIDTH = 10**9


def print_json(record: Mapping[str, Any]) -> None:
    """Write one JSON object to stdout."""
    _write(json.dumps(record, indent=2) + "\n")


def print_text(text: str) -> None:
    """Write text to stdout as it is."""
    _write(text.rstrip("\n") + "\n")


def print_tables(*parts: Any) -> None:
    """Write tables and lines to stdout: lines are wrapped, tables are as wide as their numbers need."""
    from rich.console import Console
    from rich.measure import Measurement

    terminal, text = Console(), StringIO()
    for part in parts:
        needed = Measurement.get(terminal, terminal.options.update(width=_ANY_WIDTH), part).maximum
        width = terminal.width if isinstance(part, str) else max(terminal.width, needed)
        console = Console(
            file=text,
            width=width,
            force_terminal=terminal.is_terminal,
            no_color=terminal.no_color,
            highlight=False,
            markup=False,
        )
        console.print(part)
    _write("".join(line.rstrip() + "\n" for line in text.getvalue().splitlines()))


def terminal_width() -> int:
    """Return the width of the terminal, 80 where there is none."""
    from rich.console import Console

    return Console().width


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str | None]]) -> Any:
    """Build a titled table whose cells are never cut or wrapped; None shows as –."""
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    built = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        built.add_column(name, no_wrap=True, overflow="ignore")
    for row in rows:
        built.add_row(*(Text("–" if cell is None else cell) for cell in row))
    return Group(Text(title, style="bold"), built)


def values(title: str, rows: Iterable[tuple[str, str | None]]) -> Any:
    """Build a table of quantities and their values."""
    return table(title, ("quantity", "value"), rows)


def note(line: str) -> None:
    """Write one line for people to stderr."""
    sys.stderr.write(f"reduced: {line}\n")


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


def double_text(value: float, digits: int) -> str:
    """Write a double as a decimal string at a number of significant digits, 17 at most."""
    return decimal_string(_doubles().mpf(value), min(digits, 17))


@cache
def _doubles() -> Any:
    """Return the one context in which doubles are written; a new one for each number would be slow."""
    from reduced.solve.promise import private_context

    return private_context(20)


def trusted_text(value: float, error: float, digits: int) -> str:
    """Write a double with the digits its error estimate leaves, 17 at most; "0" when the error exceeds it."""
    if abs(value) <= error:
        return "0"
    known = 17 if error == 0 else math.floor(math.log10(abs(value)) - math.log10(error))
    return double_text(value, max(1, min(digits, known)))


@contextmanager
def progress(words: str) -> Iterator[Update]:
    """Show on stderr that something is under way, only where stderr is a terminal; yields a way to update."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status(words) as status:
        yield lambda more: status.update(f"{words}: {more}")


def _write(text: str) -> None:
    """Write to stdout in one go; a reader who has gone away is no error."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # what is still buffered must not raise again when the interpreter ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

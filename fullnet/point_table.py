"""Data points in a text file: one a line, coordinates and a label, with or without a header of names."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fullnet.checks import Floats
from fullnet.errors import ContentError, InputError

LABELS = ("label", "y")
"""Names of the column of labels; where there are both, ``y`` is a coordinate."""
WEIGHTS = ("weight", "weights")
"""Names of the column of weights."""

_SEPARATORS = (";", "\t", ",")

Line = tuple[str, list[str]]


@dataclass(frozen=True)
class _Columns:
    """Which column holds what; label_place is what errors call the column of labels."""

    coordinates: list[int]
    label: int
    label_place: str
    weight: int | None = None


def read_points(path: str | Path) -> tuple[Floats, Floats, Floats | None]:
    """Read a text file of points, one a line, d ≥ 2 coordinates and a label ±1, in UTF-8.

    Cells are separated by commas, or by semicolons or tabs where the first line has some. Without a header the
    label is the last cell. A header, a first line without any number, names the columns: the label is called
    ``label`` or ``y``, and a ``weight`` (or ``weights``) may stand beside it; all others are coordinates, in
    their order. Blank lines, lines that start with ``#`` and a byte-order mark are skipped.

    Returns X (N, d), y (N,) and the weights (N,) or None. Raises InputError naming the line, or OSError.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ContentError("other bytes", "a CSV text in UTF-8") from None
    counting = [(number, line) for number, line in enumerate(text.splitlines(), 1) if _counts(line)]
    first = counting[0][1] if counting else ""
    separator = next((mark for mark in _SEPARATORS if mark in first), ",")
    lines = [(f"line {number}", _cells(line, separator)) for number, line in counting]
    if not lines:
        raise ContentError("none", "at least one line of numbers")
    width = _width(lines[0])
    header = None if any(map(_is_number, lines[0][1])) else lines.pop(0)
    if not lines:
        raise ContentError("names only", "at least one line of numbers")
    columns = _counted(lines[0][1]) if header is None else _named(header)
    table = np.array([_row(line, width, columns) for line in lines])
    weights = None if columns.weight is None else table[:, columns.weight]
    return table[:, columns.coordinates], table[:, columns.label], weights


def _counts(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _cells(line: str, separator: str) -> list[str]:
    return [cell.strip().strip('"') for cell in line.split(separator)]


def _width(first: Line) -> int:
    place, cells = first
    if len(cells) < 3:
        raise InputError(
            place,
            _amount(cells),
            "at least two coordinates and a label, separated by commas, semicolons or tabs",
        )
    return len(cells)


def _counted(first: list[str]) -> _Columns:
    """Return the columns of a table without names: coordinates, then the label."""
    last = len(first) - 1
    return _Columns(list(range(last)), last, "the last column")


def _named(header: Line) -> _Columns:
    """Return the columns that a header names."""
    place, cells = header
    names = [cell.lower() for cell in cells]
    if "" in names or len(set(names)) < len(names):
        raise InputError(place, ", ".join(map(repr, cells)), "a name of its own for each column")
    label = next((name for name in LABELS if name in names), None)
    weights = [names.index(name) for name in WEIGHTS if name in names]
    if label is None or len(weights) > 1:
        raise InputError(
            place, ", ".join(cells), "a column named label or y, and at most one named weight or weights"
        )
    place_of_label = names.index(label)
    coordinates = [i for i in range(len(names)) if i not in (place_of_label, *weights)]
    if len(coordinates) < 2:
        raise InputError(
            place, ", ".join(cells), f"at least two coordinates beside {cells[place_of_label]!r}"
        )
    return _Columns(
        coordinates, place_of_label, f"column {cells[place_of_label]!r}", weights[0] if weights else None
    )


def _row(line: Line, width: int, columns: _Columns) -> list[float]:
    place, cells = line
    if len(cells) != width:
        raise InputError(place, _amount(cells), f"{width} as in the first line")
    row = [_number(cell, place) for cell in cells]
    label = row[columns.label]
    if abs(label) != 1:
        advice = " (write -1 for 0)" if label == 0 else ""
        raise InputError(
            place, repr(cells[columns.label]), f"a label 1 or -1 in {columns.label_place}{advice}"
        )
    return row


def _amount(cells: list[str]) -> str:
    return f"{len(cells)} cell" + ("s" if len(cells) != 1 else "")


def _number(cell: str, place: str) -> float:
    if not _is_number(cell):
        raise InputError(place, repr(cell), "numbers only (names stand in the first line, or after #)")
    value = float(cell)
    if not math.isfinite(value):
        raise InputError(place, repr(cell), "finite numbers that fit into a double")
    return value


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace("_", " "))  # Python reads 1_0 as 10; nobody else does
    except ValueError:
        return False
    return True

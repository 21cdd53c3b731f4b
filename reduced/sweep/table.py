"""A sweep's rows for other programs: CSV, JSON, Parquet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from reduced.errors import InputError, MissingExtra
from reduced.numbers import decimal_string, read_number
from reduced.solve.promise import private_context
from reduced.sweep.points import Row
from reduced.writing import written_whole

FORMATS = ("csv", "json", "parquet")

_EXACT = ("p", "delta", "kappa1", "kappa2", "lr", "until")
_DIGITS = 17


def export(rows: Sequence[Row], form: str, path: str | Path | None = None) -> str | None:
    """Write rows as a table with one column per parameter and quantity.

    Arguments: rows; form, one of :data:`FORMATS`; path of the file to write (None: return the text, not for
    Parquet). The table is in the order of the parameters. Numbers are decimal strings with all their digits;
    parameters are as they were given, and as decimals in the columns ``resolved …``. Raises InputError,
    MissingExtra (Parquet without pyarrow).
    """
    if form not in FORMATS:
        raise InputError("format", repr(form), f"one of {', '.join(FORMATS)}")
    records = [record for _, record in sorted(map(_placed, rows), key=lambda placed: placed[0])]
    columns = list(dict.fromkeys(name for record in records for name in record))
    if form == "parquet":
        _write_parquet(records, columns, path)
        return None
    text = _csv(records, columns) if form == "csv" else json.dumps({"rows": records}, indent=2) + "\n"
    if path is None:
        return text
    with written_whole(Path(path), "out") as temporary:
        temporary.write_text(text, encoding="utf-8")
    return None


def flat(row: Row) -> dict[str, Any]:
    """Return a row as one flat record: configuration, results, error, versions, seconds."""
    return {
        **row.config,
        **_decimals(row.config),
        **row.result,
        "error": row.error,
        **{f"version {name}": found for name, found in row.versions.items()},
        "seconds": row.seconds,
    }


def _decimals(config: Mapping[str, Any]) -> dict[str, str]:
    """Return the parameters that are given as exact texts as decimals."""
    digits = int(config.get("digits") or _DIGITS)
    ctx = private_context(digits + 10)
    given = {name: config[name] for name in _EXACT if config.get(name) is not None}
    return {
        f"resolved {name}": decimal_string(read_number(text).evaluate(ctx), digits)
        for name, text in given.items()
    }


def _placed(row: Row) -> tuple[list[tuple[float, str]], dict[str, Any]]:
    """Return a row's record behind its place in the table: by its parameters in order, numbers by size."""
    record, places = flat(row), []
    for name, value in row.config.items():
        number = record.get(f"resolved {name}", value) if name in _EXACT else value
        known = isinstance(number, int) or (name in _EXACT and f"resolved {name}" in record)
        places.append((float(number) if known else 0.0, "" if known else str(value)))
    return places, record


def _csv(records: list[dict[str, Any]], columns: list[str]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def _write_parquet(records: list[dict[str, Any]], columns: list[str], path: str | Path | None) -> None:
    try:
        pyarrow: Any = import_module("pyarrow")
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtra("Parquet needs pyarrow: pip install pyarrow, or export CSV or JSON") from None
    if path is None:
        raise InputError("out", None, "a file, because Parquet is binary")
    table = pyarrow.table({name: [record.get(name) for record in records] for name in columns})
    with written_whole(Path(path), "out") as temporary:
        parquet.write_table(table, temporary)

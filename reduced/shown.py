"""How records show themselves at the prompt: one short line, long values cut or counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from reduced.numbers import Exact

_LENGTH = 28
_ITEMS = 4
_ENTRIES = 8


def shown(record: Any) -> str:
    """Write a record as ``Name(field=value, …)`` on one line of bounded length; meant as its ``__repr__``.

    Numbers and expressions are cut to a few characters, longer collections are counted, arrays are shown by
    shape.
    """
    parts = (f"{field.name}={_value(getattr(record, field.name))}" for field in fields(record) if field.repr)
    return f"{type(record).__name__}({', '.join(parts)})"


def cut(text: str, length: int = _LENGTH) -> str:
    """Return a text on one line, cut with … where it is longer than length."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def _value(value: Any) -> str:
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, Mapping):
        return _mapping(value)
    if isinstance(value, tuple | list):
        return _sequence(value)
    if is_dataclass(value) and not isinstance(value, Exact):
        return f"{type(value).__name__}(…)"
    shape = getattr(value, "shape", None)
    return f"array{shape}" if shape else cut(str(value))


def _mapping(value: Mapping[Any, Any]) -> str:
    if len(value) > _ENTRIES:
        return f"({len(value)} entries)"
    return "{" + ", ".join(f"{key}: {_value(item)}" for key, item in value.items()) + "}"


def _sequence(value: tuple[Any, ...] | list[Any]) -> str:
    records = [type(item).__name__ for item in value if is_dataclass(item) and not isinstance(item, Exact)]
    if records or len(value) > _ITEMS:
        return f"({len(value)} {records[0] if records else 'items'})"
    return "(" + ", ".join(_value(item) for item in value) + ")"

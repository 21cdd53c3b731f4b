"""How records show themselves at the prompt: one short line, arrays by their shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

_ITEMS = 6


def shown(record: Any) -> str:
    """Write a record as ``Name(field=value, …)`` on one line of bounded length; meant as its ``__repr__``.

    Arrays are shown by shape, collections beyond a few items are counted.
    """
    parts = (f"{field.name}={_value(getattr(record, field.name))}" for field in fields(record) if field.repr)
    return f"{type(record).__name__}({', '.join(parts)})"


def _array(value: Any) -> str:
    if value.ndim != 1 or value.size > _ITEMS:
        return f"array{value.shape}"
    return np.array2string(value, precision=6, separator=", ", max_line_width=10**6)


def _value(value: Any) -> str:
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_value(item)}" for key, item in value.items()) + "}"
    if is_dataclass(value):
        return f"{type(value).__name__}(…)"
    if isinstance(value, tuple | list):
        if len(value) > _ITEMS or any(is_dataclass(item) for item in value):
            kind = type(value[0]).__name__ if is_dataclass(value[0]) else "items"
            return f"({len(value)} {kind})"
        return "(" + ", ".join(_value(item) for item in value) + ")"
    return f"{value:.10g}" if isinstance(value, float) else str(value)

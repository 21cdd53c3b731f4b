"""Small named validators: each returns the value in the type wanted or raises InputError."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullnet.errors import InputError

Floats = NDArray[np.float64]

LARGEST = 1e100


def number(value: Any, name: str) -> float:
    """Return a finite float."""
    try:
        result = float(value) if not isinstance(value, str | bool) else math.nan
    except (TypeError, ValueError, OverflowError):
        result = math.nan
    if not math.isfinite(result):
        raise InputError(name, repr(value), "a finite number")
    return result


def positive(value: Any, name: str) -> float:
    """Return a finite float > 0."""
    result = number(value, name)
    if result <= 0:
        raise InputError(name, repr(value), "a positive number")
    return result


def moderate(value: Any, name: str) -> float:
    """Return a float between 1e-100 and 1e100, whose squares are representable."""
    result = positive(value, name)
    if not 1 / LARGEST <= result <= LARGEST:
        raise InputError(name, repr(value), "a number between 1e-100 and 1e100")
    return result


def count(value: Any, name: str, least: int = 1) -> int:
    """Return an int ≥ least."""
    try:
        result = operator.index(value)
    except TypeError:
        raise InputError(name, repr(value), f"an integer of at least {least}") from None
    if isinstance(value, bool) or result < least:
        raise InputError(name, repr(value), f"an integer of at least {least}")
    return result


def choice(value: Any, name: str, allowed: Iterable[Any]) -> Any:
    """Return the value if it is one of the allowed ones."""
    options = tuple(allowed)
    try:
        found = value in options and not isinstance(value, bool)
    except ValueError:
        found = False
    if not found:
        raise InputError(name, repr(value), "one of " + ", ".join(map(str, options)))
    return value


def real_array(value: Any, name: str, ndim: int) -> Floats:
    """Return a read-only float64 copy of a non-empty real array with ndim axes and entries up to 1e100."""
    try:
        raw = np.asarray(value)
    except ValueError:
        raise InputError(name, type(value).__name__, "a rectangular array of numbers") from None
    if raw.dtype.kind not in "fiu":
        raise InputError(name, f"an array of dtype {raw.dtype}", "an array of real numbers")
    if raw.ndim != ndim or raw.size == 0:
        raise InputError(name, f"shape {raw.shape}", f"a non-empty array with {ndim} axes")
    result = np.array(raw, dtype=np.float64)
    if not np.all(np.isfinite(result)):
        raise InputError(name, "NaN or infinite entries", "finite numbers")
    if np.max(np.abs(result)) > LARGEST:
        raise InputError(
            name, f"an entry of size {np.max(np.abs(result)):g}", "entries of size at most 1e100"
        )
    result.setflags(write=False)
    return result


def sign_array(value: Any, name: str, length: int) -> Floats:
    """Return a read-only float64 array of ±1 with the given length."""
    result = real_array(value, name, 1)
    if len(result) != length:
        raise InputError(name, f"{len(result)} entries", f"{length} entries, one for each row")
    if not np.all(np.abs(result) == 1):
        raise InputError(name, f"entry {result[np.abs(result) != 1][0]:g}", "entries 1 or -1")
    return result

"""The double-precision kernels compiled by numba, and their loop over parameter sets on all cores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import prange

from reduced.solve.compilation import functions, kernel, let_kernels_call
from reduced.solve.doubles import kernel as source
from reduced.solve.doubles import short
from reduced.solve.doubles.kernel import COLUMNS, collapsed_times


def compile_map() -> Callable[[Any, Any], None]:
    """Return the compiled loop over parameter sets; machine code is made, or read from disk, at its first call."""
    for module in (source, short):
        for function in functions(module):
            let_kernels_call(function)
    loop: Callable[[Any, Any], None] = kernel(_map_rows, (source, short), parallel=True)
    return loop


def _map_rows(rows: Any, result: Any) -> None:
    """Fill result (n, 7), row by row in parallel, from the parameters in rows (n, 8)."""
    for i in prange(len(rows)):
        row = rows[i]
        times = collapsed_times(row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7])
        for j in range(COLUMNS):
            result[i, j] = times[j]

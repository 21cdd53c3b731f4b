"""The double-precision kernels compiled by numba, and their loop over parameter sets on all cores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import prange

from reduced.solve.compilation import functions, kernel, let_kernels_call
from reduced.solve.doubles import kernel as source
from reduced.solve.doubles import short
from reduced.solve.doubles.kernel import COLUMNS, collapsed_times


def compile_map() -> Callable[..., None]:
    """Return the compiled loop over parameter sets; machine code is made, or read from disk, at its first call."""
    for module in (source, short):
        for function in functions(module):
            let_kernels_call(function)
    loop: Callable[..., None] = kernel(_map_rows, (source, short), parallel=True)
    return loop


def _map_rows(
    p: Any,
    delta: Any,
    plus: Any,
    minus: Any,
    kappa2: Any,
    f_plus: Any,
    f_minus: Any,
    negative: Any,
    result: Any,
) -> None:
    """Fill result (n, 7), row by row in parallel, from eight columns (n,)."""
    for i in prange(len(p)):
        row = collapsed_times(
            p[i], delta[i], plus[i], minus[i], kappa2[i], f_plus[i], f_minus[i], negative[i]
        )
        for j in range(COLUMNS):
            result[i, j] = row[j]

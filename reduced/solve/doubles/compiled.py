"""The double-precision kernels compiled by numba, and their loop over parameter sets on all cores."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from numba import njit, prange

from reduced.solve.doubles import kernel

_NAMES = (
    "span",
    "log_change",
    "last_fall",
    "middle_sum",
    "outer_sum",
    "log_middle",
    "outer_integral",
    "log_integral",
    "collapsed_times",
)


def _compiled() -> Any:
    """Return collapsed_times compiled, each kernel seeing the compiled others as its globals."""
    namespace = dict(vars(kernel))
    for name in _NAMES:
        namespace[name] = njit(cache=True)(FunctionType(getattr(kernel, name).__code__, namespace, name))
    return namespace["collapsed_times"]


_times = _compiled()
_COLUMNS = kernel.COLUMNS


@njit(parallel=True, cache=True)
def map_rows(
    p: Any, delta: Any, plus: Any, minus: Any, kappa2: Any, f_plus: Any, f_minus: Any, share: Any, result: Any
) -> None:
    """Fill result (n, 7), row by row in parallel, from eight columns (n,)."""
    for i in prange(len(p)):
        row = _times(p[i], delta[i], plus[i], minus[i], kappa2[i], f_plus[i], f_minus[i], share[i])
        for j in range(_COLUMNS):
            result[i, j] = row[j]

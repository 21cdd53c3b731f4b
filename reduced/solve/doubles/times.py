"""Plateau lengths in doubles: plain floats for one parameter set, arrays for maps, sweeps and Monte Carlo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from reduced.errors import InputError
from reduced.records import Outcome
from reduced.solve.doubles import kernel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

OUTCOMES = (Outcome.FINISHED, Outcome.NO_PLATEAU, Outcome.ALREADY, Outcome.PLATEAU_INFINITE)
_NAMES = ("T_plat", "T_II", "T_III", "log_T_plat", "log_T_II", "log_T_III")


@dataclass(frozen=True)
class PlateauTimes:
    """Times of the collapsed model as floats; ``log_…`` are natural logarithms, finite past 10^308 too."""

    outcome: Outcome
    T_plat: float
    T_II: float
    T_III: float
    log_T_plat: float
    log_T_II: float
    log_T_III: float


def plateau_times(
    p: float,
    delta: float,
    alpha_plus: float,
    alpha_minus: float,
    kappa2: float = 1.0,
    f_plus: float = 0.0,
    f_minus: float = 0.0,
    f_minus_negative: float = 0.0,
) -> PlateauTimes:
    """Return T_plat, T_II and T_III of the collapsed model in double precision (exponential loss).

    Arguments: floats as in :func:`reduced.problem.problem` and :func:`reduced.problem.start`; the start must
    be one of Phase II. Returns flow times, inf when an event never comes. Raises InputError.
    """
    code, *times = kernel.collapsed_times(
        p, delta, alpha_plus, alpha_minus, kappa2, f_plus, f_minus, f_minus_negative
    )
    if code == kernel.OUTSIDE:
        given = f"p={p}, delta={delta}, alphas {alpha_plus}, {alpha_minus}, f {f_plus}, {f_minus}"
        raise InputError("parameters", given, "p cos(delta) > 1, fractions >= 0 and a start in Phase II")
    return PlateauTimes(OUTCOMES[int(code)], *times)


def plateau_map(
    p: ArrayLike,
    delta: ArrayLike,
    alpha_plus: ArrayLike,
    alpha_minus: ArrayLike,
    kappa2: ArrayLike = 1.0,
    f_plus: ArrayLike = 0.0,
    f_minus: ArrayLike = 0.0,
    f_minus_negative: ArrayLike = 0.0,
) -> dict[str, NDArray[Any]]:
    """Return the times of many parameter sets at once.

    Arguments: as :func:`plateau_times`, arrays that broadcast against each other. Returns arrays of the
    common shape by name: T_plat, T_II, T_III, log_T_plat, log_T_II, log_T_III (float64) and outcome (int8, an
    index into :data:`OUTCOMES`; −1 and NaN times outside the domain). Runs compiled, on all cores, when numba
    is installed.
    """
    import numpy as np

    given = (p, delta, alpha_plus, alpha_minus, kappa2, f_plus, f_minus, f_minus_negative)
    arrays = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in given))
    shape = arrays[0].shape
    columns = [np.ascontiguousarray(array.reshape(-1)) for array in arrays]
    result = np.empty((columns[0].size, kernel.COLUMNS))
    _map_kernel()(*columns, result)
    found = {name: result[:, i + 1].reshape(shape) for i, name in enumerate(_NAMES)}
    codes = np.where(result[:, 0] == kernel.OUTSIDE, -1, result[:, 0])
    return {**found, "outcome": codes.astype(np.int8).reshape(shape)}


def map_rows(
    p: Any, delta: Any, plus: Any, minus: Any, kappa2: Any, f_plus: Any, f_minus: Any, share: Any, result: Any
) -> None:
    """Fill result (n, 7), row by row, from eight columns (n,)."""
    for i in range(len(p)):
        row = kernel.collapsed_times(
            p[i], delta[i], plus[i], minus[i], kappa2[i], f_plus[i], f_minus[i], share[i]
        )
        for j in range(kernel.COLUMNS):
            result[i, j] = row[j]


@cache
def _map_kernel() -> Callable[..., None]:
    """Return the loop over parameter sets, compiled if numba is installed."""
    try:
        from reduced.solve.doubles.compiled import map_rows as compiled
    except ImportError:
        return map_rows
    loop: Callable[..., None] = compiled
    return loop

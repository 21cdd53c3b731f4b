"""Plateau lengths in doubles: plain floats for one parameter set, arrays for maps, sweeps and Monte Carlo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from numbers import Real
from typing import TYPE_CHECKING, Any

from reduced.errors import InputError
from reduced.records import Outcome
from reduced.solve.doubles import kernel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

OUTCOMES = (Outcome.FINISHED, Outcome.NO_PLATEAU, Outcome.ALREADY, Outcome.PLATEAU_INFINITE)
_NAMES = ("T_plat", "T_II", "T_III", "log_T_plat", "log_T_II", "log_T_III")
_ARGUMENTS = (
    "p",
    "delta",
    "alpha_plus",
    "alpha_minus",
    "kappa2",
    "f_plus",
    "f_minus",
    "f_minus_negative",
)
_BOUND = f"{kernel.LARGEST_PREDICTION:.0f}"
_NUMBER = f"a number between -{_BOUND} and {_BOUND}"
# The conditions of kernel.fault in its order: what is named, and what is expected of it.
_CONDITIONS = (
    ("p", f"a positive number of at most {kernel.LARGEST_RATIO:g}"),
    ("delta", f"an angle strictly between 0 (at least {kernel.SMALLEST_ANGLE:g}) and pi/2"),
    ("p", "p cos(delta) > 1 (Assumption 3.1)"),
    ("alpha_plus", "a fraction between 0 and 1"),
    ("alpha_minus", "a fraction between 0 and 1"),
    ("alpha_plus + alpha_minus", "a sum of at most 1"),
    ("kappa2", "a positive finite number"),
    ("f_plus", _NUMBER),
    ("f_minus_negative", f"a number between -{_BOUND} and 0"),
    ("f_minus", f"a number from f_minus_negative (the share of K₊ is ≥ 0) to {_BOUND}"),
    ("f_minus_negative", "0, because alpha_minus is 0"),
    ("f_plus, f_minus", "no share of K₊, because alpha_plus is 0"),
    (
        "f_plus + f_minus",
        "a start in Phase II, e^(f_plus + f_minus)/p ≤ 1/cos(delta), and < cos(delta) where K₊ has no share",
    ),
    (
        "f_plus + f_minus, p, alpha_plus, alpha_minus",
        f"r = e^(f_plus + f_minus)/p > {1 / kernel.LARGEST_RATIO:g} and "
        f"r (1 + (1 - cos(delta)) alpha_minus/alpha_plus) < {kernel.LARGEST_RATIO:g}, for doubles",
    ),
)


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

    Arguments: real numbers as in :func:`reduced.problem` and :func:`reduced.start`, rounded to
    floats; the start must be one of Phase II. Returns flow times, inf when an event never comes, right to 20
    units in the last place times the sum of the condition numbers of the problem. Raises InputError naming
    the argument.
    """
    given = (p, delta, alpha_plus, alpha_minus, kappa2, f_plus, f_minus, f_minus_negative)
    code, *times = kernel.collapsed_times(
        *[x if type(x) is float else _double(x, i) for i, x in enumerate(given)]
    )
    if code < 0.0:
        raise _refusal(int(code), dict(zip(_ARGUMENTS, given, strict=True)))
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

    Arguments: as :func:`plateau_times`, arrays of real numbers that broadcast against each other. Returns
    arrays of the common shape by name: T_plat, T_II, T_III, log_T_plat, log_T_II, log_T_III (float64) and
    outcome (int8, an index into :data:`OUTCOMES`; −1 and NaN times where plateau_times refuses). Runs
    compiled, on all cores, when numba is installed. Raises InputError for what is no array of real numbers,
    or has a mask.
    """
    import numpy as np

    given = (p, delta, alpha_plus, alpha_minus, kappa2, f_plus, f_minus, f_minus_negative)
    numbers = [_column(x, name) for x, name in zip(given, _ARGUMENTS, strict=True)]
    try:
        arrays = np.broadcast_arrays(*numbers)
    except ValueError:
        shapes = ", ".join(str(x.shape) for x in numbers)
        raise InputError("shapes", shapes, "arrays that broadcast against each other") from None
    shape = arrays[0].shape
    rows = np.stack([array.reshape(-1) for array in arrays], axis=1)
    result = np.empty((len(rows), kernel.COLUMNS))
    _map_kernel()(rows, result)
    found = {name: result[:, i + 1].reshape(shape) for i, name in enumerate(_NAMES)}
    codes = np.maximum(result[:, 0], -1.0)
    return {**found, "outcome": codes.astype(np.int8).reshape(shape)}


def map_rows(rows: Any, result: Any) -> None:
    """Fill result (n, 7), row by row, from the parameters in rows (n, 8)."""
    for i, row in enumerate(rows.tolist()):
        result[i] = kernel.collapsed_times(*row)


def _double(value: Any, place: int) -> float:
    """Return a real number as a float; raise InputError naming the argument at a place."""
    if isinstance(value, Real) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            raise InputError(
                _ARGUMENTS[place], f"{type(value).__name__} past 1.8e308", "a number in the range of doubles"
            ) from None
    raise InputError(_ARGUMENTS[place], repr(value), "one real number")


def _refusal(code: int, given: dict[str, Any]) -> InputError:
    """Return the error of a code of kernel.fault."""
    name, expected = _CONDITIONS[-1 - code]
    parts = [part.strip() for part in name.replace("+", ",").split(",")]
    return InputError(name, ", ".join(str(given[part]) for part in parts), expected)


def _column(values: Any, name: str) -> NDArray[Any]:
    """Return real numbers as an array of float64; raise InputError naming the argument."""
    import numpy as np

    if isinstance(values, np.ma.MaskedArray):
        raise InputError(name, "a masked array", "an array without mask (NaN marks rows to leave out)")
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(name, "rows of unequal lengths", "an array of real numbers") from None
    if array.dtype.kind not in "iuf":
        raise InputError(name, f"an array of {array.dtype}", "an array of real numbers")
    return array.astype(np.float64, copy=False)


@cache
def _map_kernel() -> Callable[[Any, Any], None]:
    """Return the loop over parameter sets, compiled if numba is installed."""
    try:
        from reduced.solve.doubles.compiled import compile_map
    except ImportError:
        return map_rows
    return compile_map()

"""The initial weights a caller gives: what a network flow accepts, the same for every way to solve it."""

from __future__ import annotations

from typing import Any

from reduced.errors import InputError


def checked_network(W: Any, sign: Any) -> tuple[Any, Any]:
    """Return initial weights as float64 (m, d) and signs as int8 (m,).

    Arguments: W (m, d), real numbers, finite in the two data directions, m ≥ 1 and d ≥ 2; sign (m,) of ±1.
    Raises InputError naming the argument.
    """
    import numpy as np

    weights, signs = _array("W", W), _array("sign", sign)
    if weights.ndim != 2 or weights.shape[0] == 0 or weights.shape[1] < 2:
        raise InputError("W", f"an array of shape {weights.shape}", "a matrix (m, d) with m ≥ 1 and d ≥ 2")
    if not np.isfinite(weights[:, :2]).all():
        raise InputError("W", "values that are not finite", "finite weights")
    if signs.shape != weights.shape[:1]:
        raise InputError(
            "sign", f"an array of shape {signs.shape}", f"one of -1, 1 for each of {len(weights)} rows"
        )
    if not np.all(np.abs(signs) == 1):
        raise InputError("sign", signs[np.abs(signs) != 1][0], "one of -1, 1 for each row of W")
    return weights, signs.astype(np.int8)


def _array(name: str, values: Any) -> Any:
    """Return real numbers as an array of float64, else raise InputError."""
    import numpy as np

    try:
        given = np.asarray(values)
        if given.dtype.kind in "fiuO":
            return np.asarray(given, np.float64)
        why = f"{given.dtype} values"
    except (TypeError, ValueError, OverflowError):
        why = f"a {type(values).__name__} that is none"
    raise InputError(name, why, "an array of real numbers")

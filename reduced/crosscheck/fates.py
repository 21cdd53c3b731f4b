"""Each neuron's Phase I fate as predicted from the raw initial weights (Lem C.3–C.10)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reduced.shown import shown

JOINS_PLUS, JOINS_MINUS, DIES = "K+", "K-", "dead"


@dataclass(frozen=True)
class Fates:
    """Predicted fates (m,) of K+, K- or dead, and the mask (m,) of neurons too close to a border to be sure.

    A neuron is borderline when its fate is not the same at every force ratio r = Q/P that Phase I went
    through.
    """

    fate: NDArray[np.str_]
    borderline: NDArray[np.bool_]

    __repr__ = shown


def predicted_fates(
    u: NDArray[np.float64],
    v: NDArray[np.float64],
    sign: NDArray[np.float64],
    delta: float,
    ratios: tuple[float, float],
) -> Fates:
    """Predict what becomes of every neuron in Phase I.

    Arguments: u, v (m,), the inner products ⟨b,x₊⟩, ⟨b,x₋⟩ at the start; sign (m,) of ±1; delta, the angle Δ;
    ratios, the least and the greatest r = Q/P during Phase I. The fates are those of the frozen loss, derived
    by the symbolic engine; r = 1/p there, so p is read as 1/r. Returns the Fates. Source: Lem C.3–C.10.
    """
    candidates = [_fates_at(u, v, sign, delta, 1 / ratio) for ratio in ratios]
    return Fates(candidates[0], candidates[0] != candidates[1])


def _fates_at(
    u: NDArray[np.float64], v: NDArray[np.float64], sign: NDArray[np.float64], delta: float, p: float
) -> NDArray[np.str_]:
    fates = np.full(len(sign), DIES, dtype="<U4")
    for course_sign, pattern, condition, fate in _derived_courses():
        belongs = (sign == course_sign) & ((u > 0) == (pattern[0] == "+")) & ((v > 0) == (pattern[1] == "+"))
        fates[belongs & condition(np.abs(u), np.abs(v), p, delta)] = fate
    return fates


@cache
def _derived_courses() -> tuple[tuple[int, str, Callable[..., Any], str], ...]:
    """Derive the courses of the eight initial classes: sign, pattern, condition on (u, v, p, Δ), fate."""
    import sympy

    from reduced.derive import Fate, all_courses

    names = {Fate.JOINS_K_PLUS: JOINS_PLUS, Fate.JOINS_K_MINUS: JOINS_MINUS, Fate.DIES: DIES}
    found = []
    for course in all_courses():
        symbols = {symbol.name: symbol for symbol in course.condition.free_symbols}
        arguments = [symbols.get(name, sympy.Dummy()) for name in ("u", "v", "p", "Delta")]
        condition = sympy.lambdify(arguments, course.condition, modules="numpy")
        found.append((course.sign, course.pattern, condition, names[course.fate]))
    return tuple(found)

"""How long phases last over random initialisation: the exact law of T_plat, T_II and T_III for m neurons.

As κ₁ → 0 a network enters Phase II from f = 0 with α₊ = |K₊|/m and α₋ = |K₋|/m, so its times are functions of
two counts whose law is exact (:mod:`reduced.theorems.counts`). T_II grows like (pc)^{1/(1−cα)} as α = α₋/α₊ → 1/c
and is infinite beyond: ln T_II (1/c − α) → ln(pc)/c, so that P(t < T_II < ∞) falls only like 1/ln t – no power of
t, no moment – and P(T_II = ∞) is left. For finite m both are sums over the lattice of counts. Derived here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from reduced.errors import InputError
from reduced.maxmargin.network import as_float
from reduced.numbers import cos
from reduced.records import Loss, Problem
from reduced.shown import shown
from reduced.solve.doubles import plateau_map
from reduced.solve.promise import private_context
from reduced.theorems.counts import Signs, count_law

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975, 0.99, 0.999)
MOST_NEURONS = 2_000
# A sum of chances is right to so many digits, each being a product of two binomial ones ...
_CHANCE_DIGITS = 12
# ... whose error grows with the number of neurons: one digit less from here on.
_MANY = 500
# ln T is right to so many places where p cos Δ is not close to 1 and Δ not to π/2.
_TIME_DIGITS = 14
# Enough for p cos Δ − 1 at the smallest angle of a problem, 10⁻¹⁰⁰.
_DIGITS = 230


@dataclass(frozen=True)
class TimeLaw:
    """The law of one time: its natural logarithms in increasing order (inf last), and their probabilities."""

    name: str
    log_times: Any
    probabilities: Any

    __repr__ = shown

    @property
    def never(self) -> float:
        """P(T = ∞)."""
        return float(self.probabilities[np.isposinf(self.log_times)].sum())

    @property
    def at_once(self) -> float:
        """P(T = 0)."""
        return float(self.probabilities[np.isneginf(self.log_times)].sum())

    def beyond(self, log_time: float) -> float:
        """Return P(T > t) from ln t."""
        return float(self.probabilities[self.log_times > log_time].sum())

    def log_quantile(self, level: float) -> float:
        """Return ln t of the smallest time with P(T ≤ t) ≥ level (inf where the mass at infinity is reached)."""
        if not 0 < level < 1:
            raise InputError("level", level, "a probability strictly between 0 and 1")
        reached = np.cumsum(self.probabilities)
        place = min(int(np.searchsorted(reached, level)), len(reached) - 1)
        return float(self.log_times[place])

    def tail_exponents(self, levels: Sequence[float]) -> tuple[float | None, ...]:
        """Return −d ln P(T > t)/d ln t between neighbouring quantiles: a power law's index, 0 for none at all.

        None where a quantile is infinite or both are the same time.
        """
        places = [self.log_quantile(level) for level in levels]
        return tuple(
            self._slope(low, high) if high < math.inf and high > low else None
            for low, high in pairwise(places)
        )

    def _slope(self, low: float, high: float) -> float | None:
        far = self.beyond(high)
        return math.log(self.beyond(low) / far) / (high - low) if far > 0 else None


@dataclass(frozen=True)
class Distribution:
    """The laws of the three times over initialisation at m neurons, with half or coin signs.

    ``log_scale`` is ln(pc)/c, the limit of ln T_II · (1/c − α) as α → 1/c; ``time_digits`` is how many places of
    ln T, ``chance_digits`` how many digits of a probability of T = ∞ or T = 0 can be trusted.
    """

    m: int
    signs: Signs
    log_scale: float
    laws: dict[str, TimeLaw]
    time_digits: int
    chance_digits: int


def distribution(problem: Problem, m: int, signs: Signs | str = Signs.HALF) -> Distribution:
    """Return the law of T_plat, T_II and T_III over initialisation (κ₁ → 0, so f = 0 with condensed groups).

    Arguments: problem, of which p, Δ and κ₂ count (the fractions are random); m neurons; signs, how the output
    signs are drawn. Doubles throughout (a probability below 10⁻³⁰⁰ may be 0). Raises InputError.
    """
    if problem.loss is not Loss.EXP:
        raise InputError("loss", problem.loss.value, "exp: the law needs the closed form")
    if isinstance(m, bool) or not isinstance(m, int) or not 1 <= m <= MOST_NEURONS:
        raise InputError("m", m, f"an integer from 1 to {MOST_NEURONS}")
    law = count_law(problem, signs)
    table = law.joint(m)
    # every pair of counts enters, however rare: the rarest may be all there is of T = ∞
    plus, minus = np.nonzero(table)
    chances = table[plus, minus]
    p, delta = as_float(problem.p, "p"), as_float(problem.delta, "delta")
    log_excess, lost = _closeness(problem)
    times = plateau_map(p, delta, plus / m, minus / m)
    if lost >= _TIME_DIGITS or np.any(times["outcome"] < 0):
        raise InputError(
            "p, delta",
            f"{problem.p}, {problem.delta}",
            "p cos(delta) further from 1, p ≤ 1e200 and delta ≥ 1e-70: the law is in doubles",
        )
    return Distribution(
        m,
        law.signs,
        log_excess / law.cosine,
        {
            name: _law(name, times[f"log_{name}"] - _log_kappa2_squared(problem), chances)
            for name in ("T_plat", "T_II", "T_III")
        },
        _TIME_DIGITS - lost,
        _CHANCE_DIGITS - (m > _MANY),
    )


def _closeness(problem: Problem) -> tuple[float, int]:
    """Return ln(pc), and the digits that rounding p and Δ costs: times are sensitive as pc → 1 or Δ → π/2."""
    ctx = private_context(_DIGITS)
    product = (problem.p * cos(problem.delta)).evaluate(ctx)
    delta = problem.delta.evaluate(ctx)
    factor = product / (product - 1) * (1 + delta * ctx.tan(delta))
    return float(ctx.log(product)), int(ctx.log10(factor))


def _log_kappa2_squared(problem: Problem) -> float:
    """Return ln κ₂²: times go like 1/κ₂², and κ₂ need not be a double."""
    ctx = private_context(_DIGITS)
    return float(2 * ctx.log(problem.kappa2.evaluate(ctx)))


def _law(name: str, log_times: Any, chances: Any) -> TimeLaw:
    order = np.argsort(log_times, kind="stable")
    return TimeLaw(name, log_times[order], chances[order])

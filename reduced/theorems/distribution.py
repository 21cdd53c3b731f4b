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
from reduced.records import Loss, Problem
from reduced.shown import shown
from reduced.solve.doubles import plateau_map
from reduced.theorems.counts import Signs, count_law

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975, 0.99, 0.999)
MOST_NEURONS = 2_000
# Pairs of counts as rare as this do not enter: all of them together stay below 10⁻¹³.
_NEGLIGIBLE = 1e-20


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

    ``log_scale`` is ln(pc)/c, the limit of ln T_II · (1/c − α) as α → 1/c.
    """

    m: int
    signs: Signs
    log_scale: float
    laws: dict[str, TimeLaw]


def distribution(problem: Problem, m: int, signs: Signs | str = Signs.HALF) -> Distribution:
    """Return the law of T_plat, T_II and T_III over initialisation (κ₁ → 0, so f = 0 with condensed groups).

    Arguments: problem, of which p, Δ and κ₂ count (the fractions are random); m neurons; signs, how the output
    signs are drawn. Doubles throughout. Raises InputError.
    """
    if problem.loss is not Loss.EXP:
        raise InputError("loss", problem.loss.value, "exp: the law needs the closed form")
    if isinstance(m, bool) or not isinstance(m, int) or not 1 <= m <= MOST_NEURONS:
        raise InputError("m", m, f"an integer from 1 to {MOST_NEURONS}")
    law = count_law(problem, signs)
    table = law.joint(m)
    plus, minus = np.nonzero(table > _NEGLIGIBLE)
    chances = table[plus, minus]
    p, delta, kappa2 = (as_float(vars(problem)[name], name) for name in ("p", "delta", "kappa2"))
    times = plateau_map(p, delta, plus / m, minus / m, kappa2)
    return Distribution(
        m,
        law.signs,
        math.log(p * law.cosine) / law.cosine,
        {name: _law(name, times[f"log_{name}"], chances) for name in ("T_plat", "T_II", "T_III")},
    )


def _law(name: str, log_times: Any, chances: Any) -> TimeLaw:
    order = np.argsort(log_times, kind="stable")
    return TimeLaw(name, log_times[order], chances[order])

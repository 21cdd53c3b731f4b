"""How many neurons live: exact probabilities of Theorem 4.1's count bounds, and of the regimes.

A positive neuron joins K₊ with probability 2α₊, a negative one K₋ with 2α₋ (κ₁ → 0; sector angles). With half
of the signs positive the counts are independent binomials over m/2 neurons each; with fair-coin signs they
are two classes of one multinomial over m.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

import numpy as np

from reduced.errors import InputError
from reduced.maxmargin.network import as_float
from reduced.numbers import cos
from reduced.parameters import expected_fractions
from reduced.records import Problem, Regime

MOST_NEURONS = 20_000


class Signs(StrEnum):
    """How the output signs are drawn: half and half (⌈m/2⌉ positive), or by fair coins."""

    HALF = "half"
    COIN = "coin"


@dataclass(frozen=True)
class CountBound:
    """A statement ``lower·m ≤ |K| ≤ upper·m``."""

    lower: Fraction
    upper: Fraction

    def contains(self, count: int, m: int) -> bool:
        """Tell exactly whether a count meets the bound."""
        return self.lower * m <= count <= self.upper * m

    def counts(self, m: int) -> tuple[int, int]:
        """Return the least and greatest count that meet the bound (an empty range when none does)."""
        return math.ceil(self.lower * m), math.floor(self.upper * m)


BOUND_PLUS = CountBound(Fraction(21, 100), Fraction(29, 100))
"""Theorem 4.1 S1(i)."""

BOUND_MINUS = CountBound(Fraction(75, 1000), Fraction(205, 1000))
"""Theorem 4.1 S2(i)."""


@dataclass(frozen=True)
class CountLaw:
    """The law of |K₊| and |K₋| in a network of m neurons as κ₁ → 0.

    alpha_plus, alpha_minus: expected fractions of all m neurons; cosine: cos Δ; signs.
    """

    alpha_plus: float
    alpha_minus: float
    cosine: float
    signs: Signs

    def trials(self, of_sign: int, m: int) -> tuple[int, float]:
        """Return the number of trials and the probability of the binomial law of one living set."""
        share = self.alpha_plus if of_sign > 0 else self.alpha_minus
        if self.signs is Signs.COIN:
            return m, share
        return ((m + 1) // 2 if of_sign > 0 else m // 2), 2 * share

    def within(self, of_sign: int, m: int, bound: CountBound) -> float:
        """Return the exact probability that a living set meets a bound."""
        from scipy.stats import binom

        n, share = self.trials(of_sign, m)
        low, high = bound.counts(m)
        return float(np.sum(binom.pmf(np.arange(low, high + 1), n, share)))

    def hoeffding(self, of_sign: int, m: int, bound: CountBound) -> float:
        """Return Hoeffding's lower bound of the same probability (negative where it says nothing)."""
        return 1 - self._hoeffding_failure(of_sign, m, bound)

    def _hoeffding_failure(self, of_sign: int, m: int, bound: CountBound) -> float:
        n, share = self.trials(of_sign, m)
        below, above = n * share - float(bound.lower) * m, float(bound.upper) * m - n * share
        if min(below, above) <= 0:
            return math.inf
        return math.exp(-2 * below**2 / n) + math.exp(-2 * above**2 / n)

    def smallest_m(self, of_sign: int, bound: CountBound, failure: float, by_hoeffding: bool = False) -> int:
        """Return the smallest m from which on the bound fails with probability ≤ failure for every m.

        Arguments: of_sign ±1; bound; failure in (0, 1), the δ of Theorem 4.1; by_hoeffding, what Hoeffding's
        inequality guarantees instead of the exact binomial. Raises InputError when it is beyond
        ``MOST_NEURONS`` (the expected fraction may lie outside the bound).
        """
        if not 0 < failure < 1:
            raise InputError("failure", failure, "a probability strictly between 0 and 1")
        m = range(1, MOST_NEURONS + 1)
        if by_hoeffding:
            chances = np.array([self._hoeffding_failure(of_sign, k, bound) for k in m])
        else:
            chances = self._failures(of_sign, m, bound)
        failing = np.flatnonzero(chances > failure)
        last = int(failing[-1]) if len(failing) else -1
        if last == len(m) - 1:
            raise InputError("failure", failure, f"a probability reached with at most {MOST_NEURONS} neurons")
        return m[last + 1]

    def _failures(self, of_sign: int, m: Sequence[int], bound: CountBound) -> Any:
        from scipy.stats import binom

        n, share = np.array([self.trials(of_sign, k) for k in m]).T
        low, high = np.array([bound.counts(k) for k in m]).T
        return np.where(high < low, 1.0, binom.cdf(low - 1, n, share) + binom.sf(high, n, share))

    def joint(self, m: int) -> Any:
        """Return the table (m+1, m+1) of P(|K₊| = i, |K₋| = j)."""
        from scipy.stats import binom

        counts = np.arange(m + 1)
        n, share = self.trials(1, m)
        first = binom.pmf(counts, n, share)
        if self.signs is Signs.HALF:
            return first[:, None] * binom.pmf(counts, *self.trials(-1, m))[None, :]
        left = self.alpha_minus / (1 - self.alpha_plus)
        return first[:, None] * binom.pmf(counts[None, :], (m - counts)[:, None], left)

    def regimes(self, m: int) -> dict[Regime | None, float]:
        """Return the probability of each regime; None stands for a sign without living neurons."""
        plus, minus = np.meshgrid(np.arange(m + 1), np.arange(m + 1), indexing="ij")
        table, alive = self.joint(m), (plus > 0) & (minus > 0)
        four, two = minus < self.cosine * plus, self.cosine * minus >= plus
        return {
            Regime.FOUR_PHASE: float(table[alive & four].sum()),
            Regime.THREE_PHASE: float(table[alive & ~four & ~two].sum()),
            Regime.TWO_PHASE: float(table[alive & two].sum()),
            None: float(table[~alive].sum()),
        }


def count_law(problem: Problem, signs: Signs | str = Signs.HALF) -> CountLaw:
    """Return the law of the living counts of a problem's p and Δ (κ₁ → 0).

    Arguments: problem (p, Δ); signs, half and half or fair coins. Returns a CountLaw. Source: Lem C.11 bounds
    these counts by Hoeffding; the exact law is derived here.
    """
    plus, minus = expected_fractions(problem.p, problem.delta)
    return CountLaw(
        as_float(plus, "alpha_plus"),
        as_float(minus, "alpha_minus"),
        as_float(cos(problem.delta), "delta"),
        Signs(signs),
    )


def wilson(seen: int, trials: int, z: float = 1.959963984540054) -> tuple[float, float]:
    """Return Wilson's interval (low, high) of a fraction: seen of trials, z standard deviations (1.96: 95 %)."""
    share, spread = seen / trials, z * z / trials
    centre = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / trials + spread / (4 * trials)) / (1 + spread)
    return max(0.0, centre - half), min(1.0, centre + half)

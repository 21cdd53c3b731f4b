"""The judge of Θ- and O-claims: ratios of measured to claimed over a sweep, and the power they leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LARGEST_SPREAD = 10.0
LARGEST_EXPONENT_ERROR = 0.1


@dataclass(frozen=True)
class Scaling:
    """Measured over claimed at values of a variable: a range [low, high] at each value.

    ``name`` of the variable; ``at`` its values; ``low``, ``high``: the least and the greatest ratio there
    (equal for a single quantity).
    """

    name: str
    at: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    @property
    def spread(self) -> float:
        """The greatest ratio over the least, over the whole sweep."""
        return max(self.high) / min(self.low) if min(self.low) > 0 else float("inf")

    @property
    def exponent(self) -> float:
        """The power of the variable that the claim leaves over (of low or high, the larger in size)."""
        return max((_slope(self.at, values) for values in (self.low, self.high)), key=abs)

    @property
    def same_order(self) -> bool:
        """Whether a Θ-claim holds: all ratios within a factor of ten, and no power left (±0.1)."""
        return self.spread <= LARGEST_SPREAD and abs(self.exponent) <= LARGEST_EXPONENT_ERROR

    @property
    def bounded(self) -> bool:
        """Whether an O-claim for a vanishing variable holds: the ratio does not grow as the variable shrinks."""
        first = self.high[int(np.argmax(self.at))]
        if first == 0:
            return max(self.high) == 0
        growth = _slope(self.at, self.high) if min(self.high) > 0 else 0.0
        return max(self.high) <= LARGEST_SPREAD * first and growth >= -LARGEST_EXPONENT_ERROR

    @property
    def words(self) -> str:
        """The range of the constants and the power left, in words."""
        swept = f"{self.name} ∈ {{{', '.join(f'{x:.3g}' for x in self.at)}}}"
        power = f"{self.name}^{self.exponent:+.3f}" if np.isfinite(self.exponent) else "no power"
        return f"constant {min(self.low):.4g} … {max(self.high):.4g} over {swept}, left over {power}"

    @property
    def why(self) -> str:
        """Which of the two criteria of a Θ-claim is broken, in words (empty if none is)."""
        reasons = []
        if not self.spread <= LARGEST_SPREAD:
            reasons.append(f"the constants differ by a factor {self.spread:.3g} > {LARGEST_SPREAD:g}")
        if not abs(self.exponent) <= LARGEST_EXPONENT_ERROR:
            reasons.append(
                f"the exponent of {self.name} is off by {self.exponent:+.3f} (> {LARGEST_EXPONENT_ERROR:g})"
            )
        return "; ".join(reasons)


def scaling(name: str, at: Sequence[float], ratios: Sequence[float | Sequence[float]]) -> Scaling:
    """Build a Scaling from ratios: one number, or many (one a neuron, say), at each value."""
    ranges = [np.atleast_1d(np.asarray(ratio, dtype=float)) for ratio in ratios]
    return Scaling(
        name,
        tuple(float(x) for x in at),
        tuple(float(values.min()) for values in ranges),
        tuple(float(values.max()) for values in ranges),
    )


def power(at: Sequence[float], values: Sequence[float]) -> float:
    """Return the exponent q of the least-squares fit values ∝ atᵠ (NaN unless all numbers are positive)."""
    return _slope(tuple(at), tuple(values))


def _slope(at: Sequence[float], values: Sequence[float]) -> float:
    if len(at) < 2 or min(values) <= 0 or min(at) <= 0:
        return float("nan")
    x, y = np.log(at), np.log(values)
    x = x - x.mean()
    return float(x @ y / (x @ x))

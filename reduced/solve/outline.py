"""A step in doubles, with a bound on its error: which forms can change sign within it, and roughly where.

Forms in the impulses or the forces of a step are combined from a few Bernstein coefficients, in doubles. They
enclose the form's values (up to the error, which is bounded too), so most forms are seen to keep their sign, and
the changes of the others are found in an interval small enough to polish. What doubles cannot decide is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import comb, log2
from operator import mul
from typing import Any

_DEGREE = 16
# Halvings after which doubles give up: the end values of an interval that small are hardly apart.
_DEPTH = 24
# Doubles are trusted to this part of the sizes that are added: some hundred roundings of 2^−53.
_ROUGH = 1e-13
_BITS = 60
# Sizes in between are far from under- and overflow.
_LEAST, _GREATEST = 1e-250, 1e250
# Values with which the room around a change is narrowed.
_NARROWER = 10


@dataclass(frozen=True)
class Fall:
    """The part of [0, 1] in which a form may first get down to 0; sure, when it holds one sign change for certain.

    guess is where the change is, as well as doubles know.
    """

    low: float
    high: float
    guess: float
    sure: bool


@dataclass(frozen=True)
class Outline:
    """N functions on a part of a step, τ from 0 to its end, in doubles.

    shapes, their Bernstein coefficients on that part, one tuple (N,) for each; sizes and tails (N,), bounds on
    their values and on what is left out.
    """

    shapes: tuple[tuple[float, ...], ...]
    sizes: tuple[float, ...]
    tails: tuple[float, ...]

    @property
    def most(self) -> list[float]:
        """What functions that grow from 0 are at most (N,)."""
        return [
            end * (1 + _ROUGH) + _ROUGH * size + tail
            for end, size, tail in zip(self.shapes[-1], self.sizes, self.tails, strict=True)
        ]

    def fall(self, constant: float, row: Sequence[float], doubt: float = 0.0) -> Fall | None:
        """Return where constant + Σ rowⱼ·functionⱼ may first fall to 0; None where it certainly does not.

        The form is known to be positive at τ = 0, however little; doubt is the error of the constant.
        """
        weights = list(map(abs, row))
        size = abs(constant) + sum(map(mul, weights, self.sizes))
        if not _LEAST < size < _GREATEST:
            return Fall(0.0, 1.0, 0.0, False)
        noise = _ROUGH * size + sum(map(mul, weights, self.tails)) + doubt
        return _first_fall([constant + sum(map(mul, row, column)) for column in self.shapes], noise)


def outline(
    series: Sequence[Sequence[int]], bits: int, scales: Sequence[Any], end: Any, power: int
) -> Outline:
    """Return the outline of scaleⱼ τ^power Σ cₖτᵏ on [0, end], end ≤ 1; the series are integers times 2^−bits."""
    reach, shift = max(float(end), _LEAST), bits - _BITS
    halvings = log2(reach)
    parts = [reach**k for k in range(_DEGREE + 1 - power)]
    shapes, sizes, tails = [], [], []
    for coefficients, scale in zip(series, scales, strict=True):
        factor = float(scale * end**power) * 2.0**-_BITS
        kept = [float(c >> shift) * part for c, part in zip(coefficients, parts, strict=False)]
        terms = [0.0] * power + [factor * term for term in kept]
        terms += [0.0] * (_DEGREE + 1 - len(terms))
        shapes.append(_bernstein(terms))
        sizes.append(sum(map(abs, terms)))
        # every integer is cut off by less than 1, and the terms beyond the degree are left out
        rest = enumerate(coefficients[len(parts) :], len(parts))
        left = sum(2.0 ** (c.bit_length() - shift + k * halvings) for k, c in rest)
        tails.append((left + len(parts)) * abs(factor))
    return Outline(tuple(zip(*shapes, strict=True)), tuple(sizes), tuple(tails))


def _bernstein(terms: Sequence[float]) -> list[float]:
    """Return the Bernstein coefficients on [0, 1] of a polynomial, by repeated running sums."""
    row = [c / share for c, share in zip(terms, _SHARES, strict=True)]
    for start in range(_DEGREE):
        for k in range(_DEGREE, start, -1):
            row[k] += row[k - 1]
    return row


_SHARES = tuple(comb(_DEGREE, k) for k in range(_DEGREE + 1))


def _first_fall(shape: list[float], noise: float) -> Fall | None:
    """Return where a form with these Bernstein coefficients, known to start positive, first falls to 0."""
    pending = [(0.0, 1.0, shape, 0)]
    while pending:
        low, high, shape, depth = pending.pop()
        if min(shape if low else shape[1:]) > noise:
            continue
        if _falls_once(shape, noise):
            return _narrowed(low, high, shape, noise)
        if depth == _DEPTH:
            return Fall(low, 1.0, low, False)
        first, second = _halves(shape)
        middle = (low + high) / 2
        pending += [(middle, high, second, depth + 1), (low, middle, first, depth + 1)]
    return None


def _falls_once(shape: list[float], noise: float) -> bool:
    """Tell whether the coefficients, but for one in between, are first positive, then negative for certain."""
    above = next((i for i, b in enumerate(shape) if not b > noise), len(shape))
    below = next((i for i, b in enumerate(shape[above:], above) if b < -noise), len(shape))
    return above > 0 and below - above < 2 and below < len(shape) and max(shape[below:]) < -noise


def _narrowed(low: float, high: float, shape: list[float], noise: float) -> Fall:
    """Return the one fall in [low, high] with less room around it (false position, Illinois' way)."""
    left, above, right, below = 0.0, shape[0], 1.0, shape[-1]
    kept = 0
    for _ in range(_NARROWER):
        middle = left + (right - left) * above / (above - below)
        value = _value(shape, middle)
        if value > noise:
            left, above, below = middle, value, below / 2 if kept > 0 else below
            kept = 1
        elif value < -noise:
            right, below, above = middle, value, above / 2 if kept < 0 else above
            kept = -1
        else:
            break
    guess, width = left + (right - left) * above / (above - below), high - low
    return Fall(low + width * left, low + width * right, low + width * guess, True)


def _value(shape: Sequence[float], x: float) -> float:
    """Return the value at x in [0, 1]."""
    if x > 0.5:
        return _value(shape[::-1], 1 - x)
    odds, total = x / (1 - x), 0.0
    for b, share in zip(reversed(shape), _SHARES, strict=True):
        total = total * odds + b * share
    return float(total * (1 - x) ** _DEGREE)


def _halves(shape: list[float]) -> tuple[list[float], list[float]]:
    """Return the Bernstein coefficients on the two halves (de Casteljau)."""
    row, first, second = shape, [shape[0]], [shape[-1]]
    while len(row) > 1:
        row = [0.5 * (a + b) for a, b in pairwise(row)]
        first.append(row[0])
        second.append(row[-1])
    return first, second[::-1]

"""Data points known exactly, the kink surfaces they define, and both at any precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from reduced.errors import InputError
from reduced.numbers import Exact, ExactLike, exact, sign


@dataclass(frozen=True)
class Points:
    """N points xⱼ in ℝᵈ with labels ±1 and weights; build it with :func:`points`.

    Points on one line through the origin share a surface: xⱼ = factor[j] · (the first point of surface
    of_point[j]). ``first`` holds the index of the first point of each surface.
    """

    X: tuple[tuple[Exact, ...], ...]
    labels: tuple[int, ...]
    weights: tuple[Exact, ...]
    of_point: tuple[int, ...]
    factor: tuple[Exact, ...]
    first: tuple[int, ...]

    @cached_property
    def rational_gram(self) -> tuple[tuple[Fraction, ...], ...] | None:
        """The products ⟨xᵢ,xⱼ⟩ as Fractions when every coordinate is rational, else None."""
        rows = [[x.fraction for x in row] for row in self.X]
        if any(x is None for row in rows for x in row):
            return None
        return tuple(tuple(_dot(a, b) for b in rows) for a in rows)

    def gram(self, ctx: Any) -> list[list[Any]]:
        """Return the matrix ⟨xᵢ,xⱼ⟩ (N, N) in an mpmath context."""
        if self.rational_gram is not None:
            return [[ctx.mpf(x.numerator) / x.denominator for x in row] for row in self.rational_gram]
        rows = self.coordinates(ctx)
        return [[ctx.fdot(zip(a, b, strict=True)) for b in rows] for a in rows]

    def coordinates(self, ctx: Any) -> list[list[Any]]:
        """Return X (N, d) in an mpmath context."""
        return [[x.evaluate(ctx) for x in row] for row in self.X]


def points(
    X: Sequence[Sequence[ExactLike]], y: Sequence[int], weights: Sequence[ExactLike] | None = None
) -> Points:
    """Build checked Points.

    Arguments: X (N, d) of exact numbers (a float stands for its exact binary value), no row zero; y (N,) of
    ±1; weights (N,) positive, default 1/N each; they are taken as they are. Raises InputError.
    """
    rows = tuple(tuple(exact(x, "X") for x in row) for row in X)
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise InputError("X", f"rows of {[len(row) for row in rows]} entries", "rows of equal length")
    labels = [int(label) for label in y]
    if len(labels) != len(rows) or any(label not in (1, -1) for label in labels):
        raise InputError("y", labels, f"{len(rows)} values +1 or -1")
    shares = [exact(1) / len(rows)] * len(rows) if weights is None else [exact(w, "weights") for w in weights]
    if len(shares) != len(rows) or any(sign(w) <= 0 for w in shares):
        raise InputError("weights", [str(w) for w in shares], f"{len(rows)} positive numbers")
    of_point, factor, first = _surfaces(rows)
    return Points(rows, tuple(labels), tuple(shares), of_point, factor, first)


def _surfaces(
    rows: tuple[tuple[Exact, ...], ...],
) -> tuple[tuple[int, ...], tuple[Exact, ...], tuple[int, ...]]:
    of_point: list[int] = []
    factor: list[Exact] = []
    first: list[int] = []
    for j, row in enumerate(rows):
        multiples = ((s, _multiple(row, rows[i])) for s, i in enumerate(first))
        s, ratio = next(((s, ratio) for s, ratio in multiples if ratio is not None), (len(first), exact(1)))
        if s == len(first):
            if not any(map(sign, row)):
                raise InputError("X", "a row of zeros", "rows that are not zero")
            first.append(j)
        of_point.append(s)
        factor.append(ratio)
    return tuple(of_point), tuple(factor), tuple(first)


def _multiple(row: tuple[Exact, ...], other: tuple[Exact, ...]) -> Exact | None:
    """Return the number that times ``other`` is ``row``, decided exactly, or None."""
    lead = next(k for k, x in enumerate(other) if sign(x))
    if any(sign(x * other[lead] - row[lead] * o) for x, o in zip(row, other, strict=True)):
        return None
    ratio = row[lead] / other[lead]
    return ratio if sign(ratio) else None


def _dot(a: Sequence[Any], b: Sequence[Any]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))

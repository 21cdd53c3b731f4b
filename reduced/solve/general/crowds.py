"""Crowds: the particles of one sign and state, which move together, and the kinks they may reach."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import mul
from typing import Any

from reduced.solve.general.motion import Motion, State

# What floats are trusted to when they say that a kink is out of reach: this part of the sizes added, and no less
# than what underflows.
_ROUGH, _LEAST = 1e-12, 1e-250


@dataclass(eq=False)
class Crowd:
    """The particles of one motion with their bases: Z = base + velocity·S."""

    motion: Motion
    state: State
    bases: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    _nearest: tuple[Any, ...] = ()

    @property
    def nearest(self) -> tuple[Any, ...]:
        """The least side·base on each surface (n,), 0 where the crowd slides."""
        if not self._nearest:
            self._nearest = tuple(
                min(side * base for base in column) if side else 0
                for side, column in zip(self.state, zip(*self.bases.values(), strict=True), strict=True)
            )
            self._rough = tuple(map(float, self._nearest))
        return self._nearest

    def enter(self, label: int, base: tuple[Any, ...]) -> None:
        """Add a particle."""
        self.bases[label] = base
        self._nearest = ()

    def leave(self, label: int) -> tuple[Any, ...]:
        """Remove a particle and return its base."""
        self._nearest = ()
        return self.bases.pop(label)

    def kinks(self, S: Sequence[float]) -> Iterator[Kink]:
        """Yield the surfaces the crowd may reach, with its distances now that the impulses are S."""
        starts = self.nearest and self._rough
        for s, (side, row, sizes) in enumerate(
            zip(self.state, self.motion.rough, self.motion.sizes, strict=True)
        ):
            if side:
                distance = starts[s] + side * sum(map(mul, row, S))
                doubt = _ROUGH * (abs(starts[s]) + sum(map(mul, sizes, S))) + _LEAST
                yield Kink(self, s, distance, doubt)


@dataclass(frozen=True, eq=False)
class Kink:
    """A surface and how far a crowd's nearest member is from it, with a bound on the error: floats."""

    crowd: Crowd
    surface: int
    distance: float
    doubt: float

    @property
    def row(self) -> tuple[float, ...]:
        """How the distance changes with the impulses (N,)."""
        return self.crowd.motion.outward[self.surface]

    def within_reach(self, gained: Iterable[float]) -> bool:
        """Tell whether impulses gained might carry a member here; if not, it is out of reach for certain."""
        reach = sum(map(mul, self.crowd.motion.inward[self.surface], gained))
        return not reach * (1 + _ROUGH) + self.doubt < self.distance

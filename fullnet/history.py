"""Who was in which class when: the switches of a flow as arrays.

A class is a sign and a state; all neurons of one class share one motion. Classes are numbered in the order in
which the flow met them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fullnet.checks import Floats
from fullnet.shown import shown
from fullnet.surfaces import Motion, State, Surfaces

Ints = NDArray[np.int64]
Key = tuple[int, State]


@dataclass(frozen=True, eq=False)
class History:
    """All moves of neurons between classes, in order of time.

    keys, the classes (sign, state); start (m,), the class of each neuron at time 0; time, neuron, before,
    after, piece (E,): when (by the clock) which neuron went from which class to which, and the first smooth
    piece it moved on so. share = κ₂²/m.
    """

    surfaces: Surfaces
    share: float
    keys: tuple[Key, ...]
    start: Ints
    time: Floats
    neuron: Ints
    before: Ints
    after: Ints
    piece: Ints

    __repr__ = shown

    @cached_property
    def motions(self) -> tuple[Motion, ...]:
        """The motion of each class."""
        return tuple(self.surfaces.motion(*key) for key in self.keys)

    @cached_property
    def pushes(self) -> Floats:
        """The push (C, n, N) of each class."""
        return np.array([motion.push for motion in self.motions])

    @cached_property
    def patterns(self) -> tuple[str, ...]:
        """The pattern of each class."""
        return tuple(motion.pattern for motion in self.motions)

    @cached_property
    def largest_rates(self) -> Floats:
        """A bound (N, N) of the coefficients of df/dt = rates U at any time."""
        bound: Floats = np.max(np.abs([motion.rates for motion in self.motions]), axis=0)
        return bound * self.share * len(self.start)

    def made(self, t: float) -> int:
        """Return the number of moves up to and including time t."""
        return int(np.searchsorted(self.time, t, side="right"))

    def classes(self, t: float) -> Ints:
        """Return the class (m,) of every neuron at a time, after the moves at that time."""
        result = self.start.copy()
        done = self.made(t)
        result[self.neuron[:done]] = self.after[:done]
        return result

    def counts(self, pieces: Ints) -> Ints:
        """Return the number of neurons (T, C) in each class on each of the pieces (T,)."""
        result = np.tile(np.bincount(self.start, minlength=len(self.keys)), (len(pieces), 1))
        for c in range(len(self.keys)):
            for side, sign in ((self.after, 1), (self.before, -1)):
                result[:, c] += sign * np.searchsorted(self.piece[side == c], pieces, side="right")
        return result

    def heard(self, counts: Ints) -> NDArray[np.bool_]:
        """Return whether the force of each data point moves some neuron (T, N) where the counts are (T, C)."""
        active = np.array([motion.active for motion in self.motions], dtype=int)
        result: NDArray[np.bool_] = counts @ active > 0
        return result

    def rates(self, counts: Ints) -> Floats:
        """Return the coefficients (T, N, N) with df/dt = rates U where the counts are (T, C)."""
        points = len(self.surfaces.factor)
        table = np.array([motion.rates for motion in self.motions]).reshape(len(self.keys), -1)
        total: Floats = self.share * (counts @ table)
        return total.reshape(-1, points, points)

    @cached_property
    def previous(self) -> Ints:
        """The previous move (E,) of the neuron of each move, −1 where there is none."""
        return self._links[0]

    @cached_property
    def following(self) -> Ints:
        """The next move (E,) of the neuron of each move, E where there is none."""
        return self._links[1]

    @cached_property
    def _links(self) -> tuple[Ints, Ints]:
        count = len(self.time)
        order = np.lexsort((np.arange(count), self.neuron))
        same = self.neuron[order][1:] == self.neuron[order][:-1]
        previous, following = np.full(count, -1), np.full(count, count)
        previous[order[1:][same]] = order[:-1][same]
        following[order[:-1][same]] = order[1:][same]
        return previous, following

"""The states in which a neuron could go on from some kinks, and how consistent each is with the forces."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from fullnet.checks import Floats
from fullnet.surfaces import State, Surfaces

_KEPT = 3


class Ways:
    """States (K) of a neuron of one sign that lies on the kinks ``at`` (A), with what decides between them."""

    def __init__(self, surfaces: Surfaces, sign: int, states: Sequence[State], at: list[int]) -> None:
        """Gather the linear forms in U of all states on all the kinks."""
        self.states = tuple(states)
        motions = [surfaces.motion(sign, state) for state in self.states]
        sides = np.array(self.states)[:, at]
        self._slides = sides == 0
        self._away = sides[:, :, None] * np.array([motion.velocity[at] for motion in motions])
        self._size = np.abs(self._away)
        self._push = np.array([motion.push[at] for motion in motions])
        self._ends = surfaces.force[-1][at], surfaces.force[1][at]

    def margins(self, force: Floats) -> Floats:
        """Return the least relative margin (K,) of each state's consistency on the kinks, negative if it is not.

        On a side the neuron moves away from the kink; where it slides the push lies between the forces of the
        two sides.
        """
        one, other = (end @ force for end in self._ends)
        push, low, high = self._push @ force, np.minimum(one, other), np.maximum(one, other)
        value = np.where(self._slides, np.minimum(high - push, push - low), self._away @ force)
        size = np.where(self._slides, np.abs(low) + np.abs(high) + np.abs(push), self._size @ force)
        result: Floats = (value / np.where(size > 0, size, 1.0)).min(axis=1)
        return result


def ways_from(surfaces: Surfaces, sign: int, state: State, at: list[int]) -> Ways:
    """Return all ways on from the kinks ``at`` of a neuron in a state; few kinks' ways are kept."""
    key = sign, with_sides(state, at, (0,) * len(at)), tuple(at)
    if key in surfaces.ways:
        found: Ways = surfaces.ways[key]
        return found
    states = [with_sides(state, at, sides) for sides in product((-1, 0, 1), repeat=len(at))]
    made = Ways(surfaces, sign, states, at)
    if len(at) <= _KEPT:
        surfaces.ways[key] = made
    return made


def with_sides(state: State, at: Sequence[int], sides: Sequence[int]) -> State:
    """Return the state with other sides of the kinks ``at``."""
    result = list(state)
    for s, side in zip(at, sides, strict=True):
        result[s] = side
    return tuple(result)

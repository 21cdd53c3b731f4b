"""The neurons of a flow, kept as crowds: all neurons of one sign and state share one displacement.

Every neuron has a fixed base in each surface's distance and its crowd one moving offset, Z = base + offset.
Only the nearest neuron on either side of a surface can be the next to reach it, so a heap for each crowd and
surface suffices.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np

from fullnet.checks import Floats
from fullnet.surfaces import Motion, State, Surfaces

EPS = float(np.finfo(float).eps)

Entry = tuple[float, int, int, bool]


@dataclass(eq=False)
class Crowd:
    """The neurons of one motion: members, their common offset (n,), a heap of distances for each surface."""

    motion: Motion
    offset: Floats
    members: set[int] = field(default_factory=set)
    heaps: list[list[Entry]] = field(default_factory=list)


class Crowds:
    """All crowds of a network, and the gates: (crowd, surface) pairs where an event can come."""

    def __init__(self, surfaces: Surfaces, signs: list[int], places: Floats) -> None:
        """Begin with distances places (m, n); :meth:`enter` puts each neuron into its crowd."""
        self.surfaces = surfaces
        self.signs = signs
        self.base = places.copy()
        self.state: list[State] = [(0,) * surfaces.count] * len(signs)
        self.stamp = [0] * len(signs)
        self.all: dict[tuple[int, State], Crowd] = {}
        self._gather()

    def enter(self, neuron: int, state: State, on: list[int]) -> None:
        """Put a neuron, its base holding its distances, into the crowd of a state; it lies on ``on``."""
        key = (self.signs[neuron], state)
        crowd = self.all.get(key)
        if crowd is None:
            n = self.surfaces.count
            crowd = Crowd(self.surfaces.motion(*key), np.zeros(n), heaps=[[] for _ in range(n)])
            self.all[key] = crowd
        self.base[neuron, on] = 0.0
        self.base[neuron] -= crowd.offset
        self.state[neuron] = state
        self.stamp[neuron] += 1
        crowd.members.add(neuron)
        if not crowd.motion.dead:
            for s, side in enumerate(state):
                if side:
                    entry = (side * float(self.base[neuron, s]), neuron, self.stamp[neuron], s in on)
                    heapq.heappush(crowd.heaps[s], entry)

    def leave(self, neuron: int) -> None:
        """Take a neuron out of its crowd; its base then holds its distances."""
        key = (self.signs[neuron], self.state[neuron])
        crowd = self.all[key]
        crowd.members.discard(neuron)
        self.base[neuron] += crowd.offset
        if not crowd.members:
            del self.all[key]

    def close_to(self, neuron: int) -> list[int]:
        """Return the surfaces on which a neuron lies, to rounding."""
        offset = self.all[(self.signs[neuron], self.state[neuron])].offset
        base = self.base[neuron]
        near = np.abs(base + offset) <= 4 * EPS * (np.abs(base) + np.abs(offset))
        return [s for s, side in enumerate(self.state[neuron]) if side == 0 or near[s]]

    def refresh(self) -> None:
        """Bring counts, gates and exits up to date after neurons moved between crowds."""
        self._gather()

    def _gather(self) -> None:
        crowds = list(self.all.values())
        self.moving = [crowd for crowd in crowds if not crowd.motion.dead]
        n, points = self.surfaces.count, len(self.surfaces.factor)
        self.offsets = np.array([crowd.offset for crowd in self.moving]).reshape(-1)
        for i, crowd in enumerate(self.moving):
            crowd.offset = self.offsets[i * n : (i + 1) * n]
        self.velocity = np.array([c.motion.velocity for c in self.moving]).reshape(-1, points)
        self.side = np.array([c.motion.state for c in self.moving], dtype=float).reshape(-1)
        self.key = np.empty(len(self.side))
        self.fresh = np.empty(len(self.side), dtype=bool)
        for gate in range(len(self.side)):
            self._look(gate)
        self.exits = [
            (crowd, s, side, row, self.surfaces.jump(s))
            for crowd in self.moving
            for s, side, row in crowd.motion.exits
        ]
        self.exit_rows = np.array([row for _, _, _, row, _ in self.exits]).reshape(-1, points)
        self.jump_rows = np.array([jump for *_, jump in self.exits]).reshape(-1, points)
        self.total_rates = np.zeros((points, points))
        self.active = np.zeros(points, dtype=bool)
        for crowd in self.moving:
            self.total_rates += len(crowd.members) * crowd.motion.rates
            self.active |= crowd.motion.active

    def _look(self, gate: int) -> None:
        """Find the nearest neuron of a gate, dropping entries of neurons that have left."""
        crowd, s = self._at(gate)
        heap = crowd.heaps[s]
        while heap and self._stale(heap[0]):
            heapq.heappop(heap)
        self.key[gate] = heap[0][0] if heap else np.inf
        self.fresh[gate] = heap[0][3] if heap else False

    def _stale(self, entry: Entry) -> bool:
        return entry[2] != self.stamp[entry[1]]

    def _at(self, gate: int) -> tuple[Crowd, int]:
        n = self.surfaces.count
        return self.moving[gate // n], gate % n

    def distances(self, travel: Floats) -> Floats:
        """Return the distance ≥ 0 of each gate's nearest neuron, given how far gates can travel in a step.

        A neuron that was just decided to leave a kink lies on it to rounding only: within that noise it has
        not come back, so its distance is kept above the noise.
        """
        with np.errstate(invalid="ignore"):
            distance = np.where(self.side == 0, np.inf, self.key + self.side * self.offsets)
            noise = 4 * EPS * (np.abs(self.key) + np.abs(self.offsets) + travel)
        return np.maximum(distance, np.where(self.fresh, noise, 0.0))

    def arrivals(self, gate: int) -> list[int]:
        """Return the neurons that are at a gate's surface now, to rounding: the nearest and its ties."""
        crowd, s = self._at(gate)
        heap = crowd.heaps[s]
        nearest = heap[0][0]
        bound = nearest + 4 * EPS * (abs(nearest) + abs(float(crowd.offset[s])))
        found: list[int] = []
        while heap and heap[0][0] <= bound:
            entry = heapq.heappop(heap)
            if not self._stale(entry):
                found.append(entry[1])
        return found

    def shift(self, impulse: Floats) -> None:
        """Move every crowd by the impulse gained, (N,)."""
        self.offsets += self.velocity @ impulse

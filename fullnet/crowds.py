"""The neurons of a flow, kept as crowds: all neurons of one sign and state share one displacement.

Every neuron has a fixed base in each surface's distance and its crowd one offset that moves with the impulse,
Z = base + offset. Only the nearest neuron on either side of a surface can be the next to reach it, so a heap
for each crowd and surface suffices.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fullnet.checks import Floats
from fullnet.standing import Standing
from fullnet.surfaces import Motion, State, Surfaces

EPS = float(np.finfo(float).eps)

# How near a kink a neuron that arrives at another lies on both, relative to its size.
NEAR = 64 * EPS
# A neuron this near to all kinks at once, relative to where it was, is in the origin: it gets there along an edge,
# and its distances from the others are sums of many roundings.
ORIGIN = 1e-11

Entry = tuple[float, int, int, bool]


@dataclass(eq=False)
class Crowd:
    """The neurons of one motion: members, a heap of distances for each surface.

    nearest, fresh (n,): the least distance less the offset on each surface (inf: none), and whether that
    neuron was put on the surface.
    """

    motion: Motion
    members: set[int]
    heaps: list[list[Entry]]
    nearest: Floats
    fresh: Floats
    touched: bool = field(default=True)


class Crowds:
    """All crowds of a network, and the gates: (crowd, surface) pairs where an event can come."""

    def __init__(self, surfaces: Surfaces, standing: Standing) -> None:
        """Sort the neurons of a standing into crowds."""
        self.surfaces, self.standing = surfaces, standing
        self.signs = [sign for sign, _ in standing.keys]
        self.stamp = [0] * len(standing.member)
        self.all: list[Crowd] = []
        self.live: list[int] = []
        for number in range(len(standing.keys)):
            self._open(number)
        for k, number in enumerate(standing.member.tolist()):
            self._push(k, number)
        self.refresh()

    def _open(self, number: int) -> None:
        n = self.surfaces.count
        motion = self.surfaces.motion(*self.standing.keys[number])
        fresh = np.zeros(n, dtype=bool)
        self.all.append(Crowd(motion, set(), [[] for _ in range(n)], np.full(n, np.inf), fresh))

    def _push(self, k: int, number: int) -> None:
        crowd = self.all[number]
        crowd.members.add(k)
        crowd.touched = True
        if crowd.motion.dead:
            return
        for s, (side, base, fresh) in enumerate(
            zip(
                crowd.motion.state,
                self.standing.base[k].tolist(),
                self.standing.fresh[k].tolist(),
                strict=True,
            )
        ):
            if side:
                heapq.heappush(crowd.heaps[s], (side * base, k, self.stamp[k], fresh))

    def state(self, k: int) -> State:
        """Return the state of a neuron."""
        return self.all[int(self.standing.member[k])].motion.state

    def offset(self, number: int) -> tuple[Floats, Floats]:
        """Return the offset (n,) of a crowd, and the size its rounding errors refer to."""
        standing = self.standing
        gained = (standing.impulse - standing.since[number]) + (
            standing.impulse_low - standing.since_low[number]
        )
        velocity = self.all[number].motion.velocity
        return velocity @ gained, np.abs(velocity) @ np.abs(gained)

    def move(self, k: int, state: State, on: list[int]) -> tuple[int, int]:
        """Move a neuron that lies on the surfaces ``on``; return its crowds before and after."""
        standing = self.standing
        old = int(standing.member[k])
        new = standing.number((self.all[old].motion.sign, state))
        if new == len(self.all):
            self._open(new)
        self.all[old].members.discard(k)
        self.all[old].touched = True
        standing.base[k] += self.offset(old)[0]
        standing.base[k, on] = 0.0
        standing.base[k] -= self.offset(new)[0]
        standing.fresh[k] = False
        standing.fresh[k, on] = True
        standing.member[k] = new
        self.stamp[k] += 1
        self._push(k, new)
        return old, new

    def close_to(self, k: int) -> list[int]:
        """Return the surfaces on which a neuron lies, to rounding."""
        offset, size = self.offset(int(self.standing.member[k]))
        near = near_kinks(self.standing.base[k], offset, size)
        return [s for s, side in enumerate(self.state(k)) if side == 0 or near[s]]

    def refresh(self) -> None:
        """Bring counts, gates and exits up to date after neurons moved between crowds."""
        for crowd in self.all:
            if crowd.touched:
                self._look(crowd)
        live = [i for i, crowd in enumerate(self.all) if crowd.members and not crowd.motion.dead]
        if live != self.live or not live:
            self.live = live
            self._regroup()
        moving = [self.all[i] for i in live]
        self.key = np.array([crowd.nearest for crowd in moving]).reshape(-1, self.surfaces.count)
        self.fresh = np.array([crowd.fresh for crowd in moving], dtype=bool).reshape(self.key.shape)
        members = np.array([len(crowd.members) for crowd in moving])
        points = len(self.surfaces.factor)
        self.standing.rates = np.einsum("c,cij->ij", members, self.rates.reshape(-1, points, points))

    def _regroup(self) -> None:
        """Lay out the arrays over the crowds that move."""
        n, points = self.surfaces.count, len(self.surfaces.factor)
        motions = [self.all[i].motion for i in self.live]
        self.velocity = np.array([motion.velocity for motion in motions]).reshape(-1, n, points)
        self.speed = np.abs(self.velocity)
        self.side = np.array([motion.state for motion in motions], dtype=float).reshape(-1, n)
        self.rates = np.array([motion.rates for motion in motions])
        self.since = np.array([self.standing.since[i] for i in self.live]).reshape(-1, points)
        self.since_low = np.array([self.standing.since_low[i] for i in self.live]).reshape(-1, points)
        self.exits = [
            (number, s, side, row)
            for number, motion in zip(self.live, motions, strict=True)
            for s, side, row in motion.exits
        ]
        self.exit_rows = np.array([row for *_, row in self.exits]).reshape(-1, points)
        self.exit_sizes = np.abs(self.exit_rows)
        self.jump_rows = np.array([self.surfaces.jump(s) for _, s, *_ in self.exits]).reshape(-1, points)
        self.active = np.array([motion.active for motion in motions]).reshape(-1, points).any(axis=0)

    def _look(self, crowd: Crowd) -> None:
        """Find the nearest neurons of a crowd, dropping entries of neurons that have left."""
        for s, heap in enumerate(crowd.heaps):
            while heap and self._stale(heap[0]):
                heapq.heappop(heap)
            crowd.nearest[s] = heap[0][0] if heap else np.inf
            crowd.fresh[s] = heap[0][3] if heap else False
        crowd.touched = False

    def _stale(self, entry: Entry) -> bool:
        return entry[2] != self.stamp[entry[1]]

    def distances(self, travel: Floats) -> Floats:
        """Return the distance ≥ 0 of each gate's nearest neuron, given how far gates can travel in a step.

        A neuron that was just decided to leave a kink lies on it to rounding only: within that noise it has
        not come back, so its distance is kept above the noise.
        """
        standing = self.standing
        gained = (standing.impulse - self.since) + (standing.impulse_low - self.since_low)
        offset = np.einsum("cnj,cj->cn", self.velocity, gained)
        size = np.einsum("cnj,cj->cn", self.speed, gained)
        with np.errstate(invalid="ignore"):
            distance = np.where(self.side == 0, np.inf, self.key + self.side * offset)
            noise = 4 * EPS * (np.abs(self.key) + size + travel)
        return np.maximum(distance, np.where(self.fresh, noise, 0.0))

    def arrivals(self, gate: int) -> list[int]:
        """Return the neurons that are at a gate's surface now, to rounding: the nearest and its ties."""
        number, s = self.live[gate // self.surfaces.count], gate % self.surfaces.count
        crowd = self.all[number]
        heap = crowd.heaps[s]
        nearest = heap[0][0]
        bound = nearest + 4 * EPS * (abs(nearest) + float(self.offset(number)[1][s]))
        found: list[int] = []
        while heap and heap[0][0] <= bound:
            entry = heapq.heappop(heap)
            if not self._stale(entry):
                found.append(entry[1])
        return found


def near_kinks(base: Floats, offset: Floats, size: Floats) -> NDArray[np.bool_]:
    """Return which surfaces (n,) a neuron lies on, to rounding; size: what the offset's roundings refer to."""
    distance, scale = np.abs(base + offset), np.max(np.abs(base) + size)
    result: NDArray[np.bool_] = distance <= (ORIGIN if np.all(distance <= ORIGIN * scale) else NEAR) * scale
    return result

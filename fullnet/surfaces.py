"""The kink surfaces of a data set, and how a neuron moves in each state (Filippov; derived here).

A neuron b with output weight a = sign·|a| is described by Z = ⟨b, n_s⟩/|a| for the unit normals n_s of the
surfaces. Data points on one line through the origin (duplicates, multiples, opposite points) share a surface.
The state of a neuron is one number per surface: +1 where Z > 0, −1 where Z < 0, 0 where it slides on Z = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fullnet.checks import Floats
from fullnet.data import DataSet

State = tuple[int, ...]

_EPS = float(np.finfo(float).eps)
_SAME = 16 * _EPS


@dataclass(frozen=True, eq=False)
class Motion:
    """How all neurons of one sign and state move, linear in the forces U (N,) of the data points.

    push (n, N): the force along each normal, dw/dt = |a| sign Σ_s (push U)_s n_s; velocity (n, N): dZ/dt =
    velocity U; rates (N, N): one neuron adds (κ₂²/m) rates U to df/dt; exits: (surface, side, row): while the
    neuron slides on the surface row·U has the sign of the surface's jump, where it reaches 0 the neuron
    leaves to that side.
    """

    sign: int
    state: State
    push: Floats
    velocity: Floats
    rates: Floats
    exits: tuple[tuple[int, int, Floats], ...]
    active: tuple[bool, ...]
    pattern: str

    @property
    def dead(self) -> bool:
        """Whether the neuron is inactive on every data point."""
        return set(self.pattern) == {"-"}


class Surfaces:
    """The distinct kink surfaces of a data set and the motions on and between them."""

    def __init__(self, data: DataSet, mirrored: bool = False) -> None:
        """Merge parallel points of the data set into surfaces.

        ``mirrored`` computes all scalar products in mirrored coordinates: the same problem with other
        roundings.
        """
        norms = np.linalg.norm(data.X, axis=1)
        units = _compact(data.X / norms[:, None])
        self.mirrored = mirrored
        self.of_point = np.empty(len(units), dtype=int)
        self.factor = np.empty(len(units))
        first: list[int] = []
        for j, unit in enumerate(units):
            side, s = _parallel(unit, units[first])
            if side == 0:
                first.append(j)
                side, s = 1, len(first) - 1
            self.of_point[j], self.factor[j] = s, side * norms[j]
        self.units = data.X[first] / norms[first][:, None]
        self.normals = _mirror(units[first]) if mirrored else units[first]
        self.count = len(first)
        self.labels = data.y
        self._motions: dict[tuple[int, State], Motion] = {}
        self.ways: dict[tuple[int, State, tuple[int, ...]], Any] = {}

    @cached_property
    def force(self) -> dict[int, Floats]:
        """For the side +1 and −1, the (n, N) matrix from U to the force along the normals on that side."""
        result = {}
        for side in (1, -1):
            matrix = np.zeros((self.count, len(self.factor)))
            points = np.flatnonzero(self.factor * side > 0)
            matrix[self.of_point[points], points] = (self.factor * self.labels)[points]
            result[side] = matrix
        return result

    @cached_property
    def rest(self) -> State:
        """The state of a neuron that rests in the origin of the data: inactive everywhere, where that can be.

        On a surface with points on both of its sides it cannot, and the neuron stays on the surface.
        """
        sides = [
            set(np.sign(self.factor[self.of_point == s]).astype(int).tolist()) for s in range(self.count)
        ]
        return tuple(0 if len(side) > 1 else -side.pop() for side in sides)

    @cached_property
    def in_plane(self) -> bool:
        """Whether all data points lie in a plane through the origin."""
        return bool(np.linalg.matrix_rank(self.normals) <= 2)

    @cached_property
    def sectors(self) -> tuple[State, ...]:
        """The states of data in a plane: those on the rays of the surfaces, and between two neighbouring rays."""
        axes = np.linalg.svd(self.normals, full_matrices=False).Vh[:2]
        places = self.normals @ axes.T
        turned = np.arctan2(places[:, 0], -places[:, 1])
        rays = np.concatenate([turned, turned + np.pi])
        order = np.argsort(rays % (2 * np.pi))
        around = (rays % (2 * np.pi))[order]
        between = (around + np.diff(around, append=around[0] + 2 * np.pi) / 2)[:, None]
        inside = np.sign(places @ np.concatenate([np.cos(between), np.sin(between)], axis=1).T)
        on = np.sign(places @ np.array([np.cos(around), np.sin(around)]))
        on[order % self.count, np.arange(len(order))] = 0
        return tuple(tuple(state) for state in np.concatenate([on, inside], axis=1).T.astype(int).tolist())

    def places(self, W: Floats, scale: float) -> Floats:
        """Return Z (m, n), the distances ⟨wₖ, n_s⟩/|a| of the neurons from the surfaces.

        A scalar product whose terms cancel to rounding is 0: on which side such a neuron is nobody can tell. In
        mirrored coordinates all others are greater by a rounding of their terms.
        """
        product: Floats = W @ self.units.T
        rounding = _EPS * (np.abs(W) @ np.abs(self.units.T))
        product[np.abs(product) <= rounding * (4 + np.count_nonzero(self.units, axis=1))] = 0.0
        if self.mirrored:
            product += np.sign(product) * rounding
        return product / scale

    def pattern(self, state: State) -> str:
        """Return the pattern of a state: one of ``+ - 0`` for each data point."""
        sides = [
            state[s] * (1 if factor > 0 else -1) for s, factor in zip(self.of_point, self.factor, strict=True)
        ]
        return "".join("-0+"[side + 1] for side in sides)

    def motion(self, sign: int, state: State) -> Motion:
        """Return the motion of neurons of that sign in that state (computed once for each)."""
        key = (sign, state)
        if key not in self._motions:
            self._motions[key] = self._motion(sign, state)
        return self._motions[key]

    def _motion(self, sign: int, state: State) -> Motion:
        sliding = [s for s in range(self.count) if state[s] == 0]
        free = [s for s in range(self.count) if state[s] != 0]
        push = np.zeros((self.count, len(self.factor)))
        for s in free:
            push[s] = self.force[state[s]][s]
        # The part of each normal orthogonal to the sliding surfaces; its products are formed without
        # cancellation.
        across = self.normals.copy()
        if sliding:
            basis = np.linalg.svd(self.normals[sliding], full_matrices=False)
            directions = basis.Vh[np.greater(basis.S, _SAME * self.count)]
            across -= (across @ directions.T) @ directions
            across[sliding] = 0.0
            inverse = np.linalg.pinv(self.normals[sliding].T)
            push[sliding] = -(inverse @ self.normals[free].T) @ push[free]
        gram = across @ across.T
        gram[np.abs(gram) < _SAME] = 0.0
        velocity = sign * (gram[:, free] @ push[free])
        pattern = self.pattern(state)
        active = np.array([mark == "+" for mark in pattern])
        rates = sign * (active * self.factor)[:, None] * velocity[self.of_point]
        return Motion(
            sign, state, push, velocity, rates, self._exits(push, sliding), tuple(active.tolist()), pattern
        )

    def _exits(self, push: Floats, sliding: list[int]) -> tuple[tuple[int, int, Floats], ...]:
        """Return the linear forms that vanish where a sliding multiplier reaches its end.

        The push lies between the forces of the two sides, so side·(force of the side − push) has the sign of
        their difference, the jump.
        """
        exits = []
        for s in sliding:
            for side in (1, -1):
                row = side * (self.force[side][s] - push[s])
                if np.any(np.abs(row) > _SAME):
                    exits.append((s, side, row))
        return tuple(exits)

    def jump(self, s: int) -> Floats:
        """Return the row with row·U the force on side +1 of a surface less that on side −1."""
        result: Floats = self.force[1][s] - self.force[-1][s]
        return result


def _compact(units: Floats) -> Floats:
    """Return coordinates of the points with no more axes than needed (exact where axes are unused)."""
    used = units[:, np.any(units != 0, axis=0)]
    if used.shape[1] <= len(used):
        return used
    triangle: Floats = np.linalg.qr(used.T).R
    return triangle.T


def _mirror(units: Floats) -> Floats:
    """Return the vectors mirrored on a hyperplane in general position."""
    normal = 1 / np.arange(1, units.shape[1] + 1)
    mirrored: Floats = units - np.outer(units @ normal, 2 * normal / (normal @ normal))
    return mirrored


def _parallel(unit: Floats, others: Floats) -> tuple[int, int]:
    """Return (±1, index) of the first other unit vector that is ± this one, or (0, 0)."""
    for i, other in enumerate(others):
        for side in (1, -1):
            if np.max(np.abs(other - side * unit)) <= _SAME:
                return side, i
    return 0, 0

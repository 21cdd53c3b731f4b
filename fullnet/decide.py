"""Decide how a neuron goes on from a kink: cross, slide or leave (Filippov; Def H.1 of the paper).

A state is consistent with the forces when the neuron, moving as that state says, stays in it: on the active or
inactive side of each kink it moves away from the kink, and where it slides the multiplier is within its bounds.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from fullnet.checks import Floats
from fullnet.errors import NotUnique
from fullnet.surfaces import State, Surfaces

RIDGES = ("active", "inactive", "slide")
_MOST_AT_ONCE = 7
_ZERO = 64 * np.finfo(float).eps


def settle(
    surfaces: Surfaces, sign: int, state: State, at: list[int], force: Floats, ridge: str | None, neuron: int
) -> State:
    """Return the state in which a neuron goes on that lies on the kinks ``at``.

    Arguments: its sign and state elsewhere; force U (N,); ridge, the choice where the kink repels; neuron, to name it.
    Strictly consistent states come first; else those with a zero normal component (Case IV: follow the other side;
    Case III: tangential). Raises NotUnique where states with different velocities are consistent and no ridge is given.
    """
    if len(at) > _MOST_AT_ONCE:
        return _settle_many(surfaces, sign, state, at, force, ridge, neuron)
    strict: list[State] = []
    weak: list[State] = []
    for sides in product((-1, 0, 1), repeat=len(at)):
        candidate = _with(state, at, sides)
        margin = _consistency(surfaces, sign, candidate, at, force)
        if margin > _ZERO:
            strict.append(candidate)
        elif margin >= -_ZERO:
            weak.append(candidate)
    return _choose(surfaces, sign, strict or weak, at, force, ridge, neuron)


def _with(state: State, at: list[int], sides: tuple[int, ...]) -> State:
    result = list(state)
    for s, side in zip(at, sides, strict=True):
        result[s] = side
    return tuple(result)


def _consistency(surfaces: Surfaces, sign: int, state: State, at: list[int], force: Floats) -> float:
    """Return how clearly a state is consistent on the kinks: the least relative margin, negative if it is not."""
    motion = surfaces.motion(sign, state)
    margins = []
    for s in at:
        if state[s]:
            row = state[s] * motion.velocity[s]
            margins.append(_relative(row, force))
        else:
            low, high = (float(surfaces.force[side][s] @ force) for side in (-1, 1))
            push = float(motion.push[s] @ force)
            size = abs(low) + abs(high) + abs(push)
            margins.append(min(max(low, high) - push, push - min(low, high)) / size if size else 0.0)
    return min(margins)


def _relative(row: Floats, force: Floats) -> float:
    size = float(np.abs(row) @ force)
    return float(row @ force) / size if size else 0.0


def _choose(
    surfaces: Surfaces,
    sign: int,
    found: list[State],
    at: list[int],
    force: Floats,
    ridge: str | None,
    neuron: int,
) -> State:
    if found:
        moves = [surfaces.motion(sign, one).velocity @ force for one in found]
        size = _ZERO * float(np.abs(surfaces.force[1]).max() * np.sum(force))
        if all(np.max(np.abs(move - moves[0])) <= size for move in moves):
            return found[0]
        if ridge is not None:
            wanted = {"active": 1, "inactive": -1, "slide": 0}[ridge]
            return max(found, key=lambda one: sum(_facing(surfaces, s, one[s]) == wanted for s in at))
    marked = _with(_with(tuple([1] * surfaces.count), list(range(surfaces.count)), state), at, (0,) * len(at))
    raise NotUnique(neuron, surfaces.pattern(marked))


def _facing(surfaces: Surfaces, s: int, side: int) -> int:
    """Return the side as the first data point of the surface sees it: 1 active, −1 inactive, 0 sliding."""
    first = int(np.flatnonzero(surfaces.of_point == s)[0])
    return side if surfaces.factor[first] > 0 else -side


def _settle_many(
    surfaces: Surfaces, sign: int, state: State, at: list[int], force: Floats, ridge: str | None, neuron: int
) -> State:
    """Settle a neuron on many kinks: on valleys the velocity of least norm within the box of multipliers is unique.

    Repelling kinks among them need the caller's choice.
    """
    jump = np.array([sign * float((surfaces.force[1][s] - surfaces.force[-1][s]) @ force) for s in at])
    valleys = [s for s, step in zip(at, jump, strict=True) if step < 0]
    ridges = [s for s, step in zip(at, jump, strict=True) if step >= 0]
    if ridges and ridge is None:
        marked = _with(state, at, (0,) * len(at))
        raise NotUnique(neuron, surfaces.pattern(marked))
    side = {"active": 1, "inactive": -1, "slide": 0, None: 0}[ridge]
    state = _with(state, ridges, tuple(_facing(surfaces, s, side) for s in ridges))
    return _least_norm(surfaces, state, valleys, force)


def _least_norm(surfaces: Surfaces, state: State, valleys: list[int], force: Floats) -> State:
    from scipy.optimize import lsq_linear

    fixed = [s for s in range(surfaces.count) if s not in valleys and state[s] != 0]
    pull = sum((float(surfaces.force[state[s]][s] @ force) * surfaces.normals[s] for s in fixed), np.zeros(1))
    ends = np.array([[float(surfaces.force[side][s] @ force) for side in (-1, 1)] for s in valleys])
    matrix = surfaces.normals[valleys].T
    target = -np.broadcast_to(pull, matrix.shape[:1])
    found = lsq_linear(matrix, target, (ends.min(axis=1), ends.max(axis=1)), method="bvls", tol=1e-15)
    sides = []
    for value, (low, high) in zip(found.x, ends, strict=True):
        near = 1e-12 * (abs(low) + abs(high))
        sides.append(-1 if abs(value - low) <= near else 1 if abs(value - high) <= near else 0)
    return _with(state, valleys, tuple(sides))

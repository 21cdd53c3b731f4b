"""Decide how a neuron goes on from a kink: cross, slide or leave (Filippov; Def H.1 of the paper).

A state is consistent with the forces when the neuron, moving as that state says, stays in it: on the active
or inactive side of each kink it moves away from the kink, and where it slides the multiplier is within its
bounds.

In the origin of the data, on all kinks at once, a neuron can always rest where no two points are opposite.
Where it could also leave, it could do so at any moment: the flow is not unique (derived here).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from fullnet.checks import Floats
from fullnet.errors import NotUnique
from fullnet.surfaces import State, Surfaces
from fullnet.ways import Ways, ways_from, with_sides

_RIDGE_SIDE = {"active": 1, "inactive": -1, "slide": 0}
RIDGES = tuple(_RIDGE_SIDE)
_MOST_AT_ONCE = 7
_ZERO = 64 * np.finfo(float).eps
_NEARLY = 1e-9


@dataclass(frozen=True)
class Neuron:
    """The neuron to settle: its index, sign, state so far, and whether it came to the kinks by moving."""

    index: int
    sign: int
    state: State
    arriving: bool


def settle(surfaces: Surfaces, neuron: Neuron, at: list[int], force: Floats, ridge: str | None) -> State:
    """Return the state in which a neuron goes on that lies on the kinks ``at``.

    Arguments: force U (N,); ridge, the choice where the kink repels. Strictly consistent states come before
    those with a zero normal component (Case IV: follow the other side; Case III: tangential), except for a
    neuron that was put on several kinks at once. Where the states found differ in velocity, the ridge chooses;
    without it, a neuron that moved there goes on the way it came, and one that was put there has no unique
    flow: NotUnique. So has one put into the origin of the data that could leave it: there ridge ``active``
    lets it leave at once, ``inactive`` and ``slide`` let it rest for ever, and so does one that moved there.
    """
    everywhere = len(at) == surfaces.count > 1
    if everywhere and Ways(surfaces, neuron.sign, [surfaces.rest], at).margins(force)[0] >= -_ZERO:
        return _settle_in_origin(surfaces, neuron, at, force, ridge)
    if len(at) > _MOST_AT_ONCE:
        return _settle_many(surfaces, neuron, at, force, ridge)
    ways = ways_from(surfaces, neuron.sign, neuron.state, at)
    margins = ways.margins(force)
    best = float(margins.max())
    strictly = best > _ZERO and (neuron.arriving or len(at) == 1)
    least = _ZERO if strictly else min(-_ZERO, max(best, -_NEARLY))
    found = [ways.states[i] for i in np.flatnonzero(margins >= least).tolist()]
    return _choose(surfaces, neuron, found, at, force, ridge)


def _settle_in_origin(
    surfaces: Surfaces, neuron: Neuron, at: list[int], force: Floats, ridge: str | None
) -> State:
    """Settle a neuron on all kinks: it rests where it cannot leave, else the ridge has to choose."""
    if len(at) > _MOST_AT_ONCE and not surfaces.in_plane:
        stays = ridge in ("inactive", "slide") or (ridge is None and neuron.arriving)
        if stays or not _ridges(surfaces, neuron.sign, at, force):
            return surfaces.rest
        return _settle_many(surfaces, replace(neuron, arriving=False), at, force, ridge)
    states = surfaces.sectors if surfaces.in_plane else list(product((-1, 0, 1), repeat=len(at)))
    margins = Ways(surfaces, neuron.sign, states, at).margins(force)
    consistent = [states[i] for i in np.flatnonzero(margins >= -_ZERO).tolist()]
    leaving = [way for way in consistent if _moves(surfaces, neuron.sign, way, force)]
    if leaving and ridge is None and not neuron.arriving:
        raise _not_unique(surfaces, neuron, at)
    if not leaving or ridge != "active":
        return surfaces.rest
    return max(leaving, key=lambda way: sum(_facing(surfaces, s, way[s]) == 1 for s in at))


def _moves(surfaces: Surfaces, sign: int, state: State, force: Floats) -> bool:
    """Return whether a neuron in that state moves at all."""
    velocity = surfaces.motion(sign, state).push @ force @ surfaces.normals
    return bool(np.max(np.abs(velocity)) > _NEARLY * np.sum(force))


def _choose(
    surfaces: Surfaces, neuron: Neuron, found: list[State], at: list[int], force: Floats, ridge: str | None
) -> State:
    """Return the only state found, or the one the caller's ridge asks for."""
    moves = [surfaces.motion(neuron.sign, one).push @ force @ surfaces.normals for one in found]
    size = _NEARLY * max(float(np.max(np.abs(move))) for move in moves)
    if all(np.max(np.abs(move - moves[0])) <= size for move in moves):
        return found[0]
    if ridge is not None:
        wanted = _RIDGE_SIDE[ridge]
        return max(found, key=lambda one: sum(_facing(surfaces, s, one[s]) == wanted for s in at))
    if not neuron.arriving:
        raise _not_unique(surfaces, neuron, at)
    coming = np.sign(surfaces.motion(neuron.sign, neuron.state).velocity @ force)
    return max(found, key=lambda one: sum(one[s] == coming[s] for s in at))


def _not_unique(surfaces: Surfaces, neuron: Neuron, at: list[int]) -> NotUnique:
    return NotUnique(neuron.index, surfaces.pattern(with_sides(neuron.state, at, (0,) * len(at))))


def _facing(surfaces: Surfaces, s: int, side: int) -> int:
    """Return the side as the first data point of the surface sees it: 1 active, −1 inactive, 0 sliding."""
    first = int(np.flatnonzero(surfaces.of_point == s)[0])
    return side if surfaces.factor[first] > 0 else -side


def _settle_many(
    surfaces: Surfaces, neuron: Neuron, at: list[int], force: Floats, ridge: str | None
) -> State:
    """Settle a neuron on many kinks; on valleys the velocity of least norm in the box is unique.

    Repelling kinks among them keep the side of a neuron that came by moving; else they need the caller's
    choice.
    """
    state = neuron.state
    ridges = _ridges(surfaces, neuron.sign, at, force)
    if ridges and ridge is not None:
        state = with_sides(state, ridges, tuple(_facing(surfaces, s, _RIDGE_SIDE[ridge]) for s in ridges))
    elif ridges and not neuron.arriving:
        raise _not_unique(surfaces, neuron, at)
    return _least_norm(surfaces, state, [s for s in at if s not in ridges], force)


def _ridges(surfaces: Surfaces, sign: int, at: list[int], force: Floats) -> list[int]:
    """Return those of the surfaces that repel."""
    return [s for s in at if sign * float(surfaces.jump(s) @ force) >= 0]


def _least_norm(surfaces: Surfaces, state: State, valleys: list[int], force: Floats) -> State:
    """Return the state whose pushes on the valleys, within their bounds, give the velocity of least norm."""
    from scipy.optimize import lsq_linear

    free = [s for s in range(surfaces.count) if s not in valleys and state[s] != 0]
    pushes = np.array([float(surfaces.force[state[s]][s] @ force) for s in free])
    ends = np.array([[float(surfaces.force[side][s] @ force) for side in (-1, 1)] for s in valleys])
    target = -(pushes @ surfaces.normals[free])
    bounds = ends.min(axis=1), ends.max(axis=1)
    pushed = lsq_linear(surfaces.normals[valleys].T, target, bounds, method="bvls", tol=1e-15).x
    near = _NEARLY * np.abs(ends).sum(axis=1)
    inactive, active = np.abs(pushed - ends[:, 0]) <= near, np.abs(pushed - ends[:, 1]) <= near
    return with_sides(state, valleys, tuple(np.where(inactive, -1, np.where(active, 1, 0)).tolist()))

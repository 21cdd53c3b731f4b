"""Decide how a neuron goes on from one or several kinks: cross, slide or leave (Def H.1).

A state is consistent when a neuron that moves as the state says stays in it: beside each kink it moves away from
it, and where it slides the push lies between those of the two sides. Valleys have one consistent state; a
repelling ridge has several, with different velocities, and the solution is then not unique.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from reduced.solve.flow import NotUnique, Ridge
from reduced.solve.general.motion import Motions, Row, SingularKinks, State

_MOST_AT_ONCE = 6
_SIDE = {"active": 1, "inactive": -1, "slide": 0}


def settle(
    motions: Motions,
    sign: int,
    state: State,
    at: Sequence[int],
    forces: Sequence[Any],
    arriving: bool,
    ridge: Ridge | None = None,
) -> State:
    """Return the state in which a neuron goes on that lies on the kinks of the surfaces ``at``.

    Arguments: sign; state so far; forces U (N,); arriving, whether it came there by moving: where several
    states are consistent it then goes on the way it came; ridge chooses for a neuron that was put there. On
    all kinks at once, in the origin of the data, a neuron can also rest: where it could leave at any time, ridge
    ``active`` lets it leave at once, ``inactive`` and ``slide`` let it rest for ever, and so, without a choice,
    does one that came by moving. Raises NotUnique where nothing chooses, or where too many kinks meet.
    """
    zero = motions.ctx.ldexp(1, -2 * motions.ctx.prec // 3)
    rest = _rest(motions)
    can_rest = len(at) == motions.count > 1 and _margin(motions, sign, rest, at, forces) >= -zero
    if len(at) > _MOST_AT_ONCE:
        if can_rest and ridge in ("inactive", "slide"):
            return rest
        raise NotUnique(f"a neuron lies on {len(at)} kinks at once")
    candidates = [_with(state, at, sides) for sides in product((-1, 0, 1), repeat=len(at))]
    margins = [(_margin(motions, sign, one, at, forces), one) for one in candidates]
    best = max(margin for margin, _ in margins)
    if can_rest and best > zero:
        if ridge is None and not arriving:
            raise NotUnique(
                "a neuron rests in the origin of the data and could leave it at any time: "
                "choose --ridge active, inactive or slide"
            )
        return _in_origin(motions, [one for margin, one in margins if margin > zero], ridge)
    strictly = best > zero and (arriving or len(at) == 1)
    found = [one for margin, one in margins if margin >= (zero if strictly else -zero)]
    if not found:
        raise NotUnique(
            f"no motion is consistent on the kinks {list(at)}: they meet in linearly dependent points"
        )
    return _choose(motions, sign, state, found, at, forces, arriving, ridge)


def _in_origin(motions: Motions, leaving: list[State], ridge: Ridge | None) -> State:
    """Return how a neuron goes on from the origin that could rest there, or leave it in one of the states."""
    if ridge != "active":
        return _rest(motions)
    facing = [1 if motions.factor[first] > 0 else -1 for first in motions.points.first]
    return max(leaving, key=lambda one: sum(side == face for side, face in zip(one, facing, strict=True)))


def _rest(motions: Motions) -> State:
    """Return the state of rest in the origin: inactive on every surface whose points all lie on one side."""
    sides: list[set[int]] = [set() for _ in range(motions.count)]
    for s, factor in zip(motions.points.of_point, motions.factor, strict=True):
        sides[s].add(1 if factor > 0 else -1)
    return tuple(0 if len(side) > 1 else -side.pop() for side in sides)


def value(ctx: Any, row: Row, forces: Sequence[Any]) -> Any:
    """Return row·U."""
    return ctx.fdot(zip(row, forces, strict=True))


def relative(ctx: Any, row: Row, forces: Sequence[Any]) -> Any:
    """Return row·U over the sum of its terms' sizes: its sign, and how surely."""
    size = ctx.fsum(abs(r) * U for r, U in zip(row, forces, strict=True))
    return value(ctx, row, forces) / size if size else ctx.zero


def _with(state: State, at: Sequence[int], sides: Sequence[int]) -> State:
    chosen = dict(zip(at, sides, strict=True))
    return tuple(chosen.get(s, side) for s, side in enumerate(state))


def _margin(motions: Motions, sign: int, state: State, at: Sequence[int], forces: Sequence[Any]) -> Any:
    """Return the least relative margin of a state's consistency on the kinks, negative if it is not."""
    ctx = motions.ctx
    try:
        motion = motions.motion(sign, state)
    except SingularKinks:
        return -ctx.one
    margins = []
    for s in at:
        if state[s]:
            margins.append(state[s] * relative(ctx, motion.velocity[s], forces))
            continue
        low, high = (value(ctx, motions.force[side][s], forces) for side in (-1, 1))
        push = value(ctx, motion.push[s], forces)
        size = abs(low) + abs(high) + abs(push)
        margins.append(min(max(low, high) - push, push - min(low, high)) / size if size else ctx.zero)
    return min(margins)


def _choose(
    motions: Motions,
    sign: int,
    state: State,
    found: list[State],
    at: Sequence[int],
    forces: Sequence[Any],
    arriving: bool,
    ridge: Ridge | None,
) -> State:
    """Return the only motion found, or the one that the ridge or the way the neuron came asks for."""
    if _same_velocity(motions, sign, found, forces):
        return found[0]
    if ridge is not None:
        wanted = tuple(_SIDE[ridge] * (1 if motions.factor[motions.points.first[s]] > 0 else -1) for s in at)
        return max(found, key=lambda one: sum(one[s] == side for s, side in zip(at, wanted, strict=True)))
    if not arriving:
        raise NotUnique("a neuron starts on a repelling ridge: choose --ridge active, inactive or slide")
    velocity = motions.motion(sign, state).velocity
    coming = {s: int(motions.ctx.sign(value(motions.ctx, velocity[s], forces))) for s in at}
    return max(found, key=lambda one: sum(one[s] == coming[s] for s in at))


def _same_velocity(motions: Motions, sign: int, found: list[State], forces: Sequence[Any]) -> bool:
    ctx = motions.ctx
    moves = [[value(ctx, row, forces) for row in motions.motion(sign, one).velocity] for one in found]
    sizes = [
        ctx.fsum(abs(r) * U for r, U in zip(row, forces, strict=True))
        for row in motions.motion(sign, found[0]).velocity
    ]
    bound = ctx.ldexp(max(*sizes, *(abs(x) for move in moves for x in move)), -ctx.prec // 2)
    return all(abs(x - y) <= bound for move in moves for x, y in zip(move, moves[0], strict=True))

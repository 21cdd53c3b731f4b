"""Gates of the compiled event loop: certificates, distances, and neurons that move between crowds.

A certificate is the impulse Σⱼ Sⱼ before which the nearest neuron of a gate (crowd, surface) cannot arrive; the
gates are the leaves of a tree of minima, crowd · n + surface in order.
"""

from __future__ import annotations

from math import inf
from typing import Any

from fullnet import kernel_series, pairing
from fullnet.compilation import inner, kernel
from fullnet.kernel_series import EPS
from fullnet.pairing import melded, removed


@inner
def set_bound(tree: Any, gate: int, value: float) -> None:
    """Set one leaf of the tree of minima."""
    place = gate + len(tree) // 2
    tree[place] = value
    place //= 2
    while place >= 1:
        least = min(tree[2 * place], tree[2 * place + 1])
        if tree[place] == least:
            break
        tree[place] = least
        place //= 2


@inner
def least_gate(tree: Any) -> int:
    """Return the leaf with the least value."""
    place, leaves = 1, len(tree) // 2
    while place < leaves:
        place *= 2
        if tree[place + 1] < tree[place]:
            place += 1
    return place - leaves


@inner
def offset_of(tables: Any, state: Any, c: int, s: int) -> tuple[float, float]:
    """Return the offset of a crowd in a surface's distance and the size its roundings refer to."""
    offset = size = 0.0
    for j in range(len(state.f)):
        gained = (state.impulse[j] - tables.since[c, j]) + (state.impulse_low[j] - tables.since_low[c, j])
        moved = tables.velocity[c, s, j] * gained
        offset += moved
        size += abs(moved)
    return offset, size


@inner
def distance_of(tables: Any, state: Any, gate: int) -> float:
    """Return the distance ≥ 0 of a gate's nearest neuron (inf: none); one just put there is beyond noise."""
    points = tables.side.shape[1]
    c, s = gate // points, gate % points
    node = state.root[gate]
    if node < 0:
        return inf
    offset, size = offset_of(tables, state, c, s)
    key = state.key[node]
    least = 8 * EPS * (abs(key) + size) if state.fresh[node // points, s] else 0.0
    distance: float = max(key + tables.side[c, s] * offset, least)
    return distance


@inner
def look(tables: Any, state: Any, gate: int) -> None:
    """Renew the certificate of a gate."""
    points = tables.side.shape[1]
    fastest = tables.approach[gate // points, gate % points]
    distance = distance_of(tables, state, gate)
    bound = state.clock[1] + distance / fastest if fastest > 0 and distance < inf else inf
    set_bound(state.tree, gate, bound)


@inner
def move(tables: Any, state: Any, k: int, new: int, on: Any) -> None:
    """Move neuron k to another crowd; it lies on the surfaces marked in ``on`` (n,)."""
    surfaces = tables.side.shape[1]
    old = state.member[k]
    for s in range(surfaces):
        node = k * surfaces + s
        if tables.side[old, s] != 0 and not tables.dead[old]:
            gate = old * surfaces + s
            top = state.root[gate]
            state.root[gate] = removed(state.key, state.child, state.sibling, state.before, top, node)
            if top == node:
                look(tables, state, gate)
        place = 0.0 if on[s] else state.base[k, s] + offset_of(tables, state, old, s)[0]
        state.base[k, s] = place - offset_of(tables, state, new, s)[0]
        state.fresh[k, s] = on[s]
        if tables.side[new, s] != 0 and not tables.dead[new]:
            gate = new * surfaces + s
            state.key[node] = tables.side[new, s] * state.base[k, s]
            top = state.root[gate]
            state.root[gate] = melded(state.key, state.child, state.sibling, state.before, top, node)
            if state.root[gate] == node:
                look(tables, state, gate)
    state.member[k] = new
    state.count[old] -= 1
    state.count[new] += 1
    for i in range(len(state.f)):
        state.live[i] += int(tables.active[new, i]) - int(tables.active[old, i])
        for j in range(len(state.f)):
            state.total[i, j] += tables.rates[new, i, j] - tables.rates[old, i, j]


@kernel(kernel_series, pairing)
def move_all(tables: Any, state: Any, neurons: Any, new: int, on: Any) -> None:
    """Move many neurons."""
    for k in neurons:
        move(tables, state, k, new, on)


@inner
def refresh_total(tables: Any, state: Any) -> None:
    """Sum the coefficients anew from the counts, so that roundings do not pile up."""
    state.total[:] = 0.0
    for c in range(len(state.count)):
        if state.count[c] > 0:
            for i in range(len(state.f)):
                for j in range(len(state.f)):
                    state.total[i, j] += state.count[c] * tables.rates[c, i, j]

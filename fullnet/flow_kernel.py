"""The event loop of a flow compiled by numba, imported only for flows with many neurons.

The same flow as :mod:`fullnet.plain`, where every event costs the same whatever m and d are. Each gate (crowd,
surface) has a certificate, the impulse Σⱼ Sⱼ before which its nearest neuron cannot get there; a tree of
minima finds the few gates to look at. What is rare (a crowd that stops sliding, a neuron on several kinks, a
crowd met for the first time) is left to the caller.
"""

from __future__ import annotations

from math import exp, inf, lgamma, log, log1p, sqrt
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from fullnet.pairing import melded, removed

EPS = float(np.finfo(np.float64).eps)

FULL, DONE, EXIT, SEVERAL, UNMET = 0, 1, 2, 3, 4

_ZERO = 64 * EPS
_LONGEST, _SHORTEST = 1e300, 1e-300
_EAGER, _FARTHEST = 1.25, 16.0
_REFRESH = 64


class Problem(NamedTuple):
    """What does not change: labels y (N,), log weights (N,), logistic, share, forces (3, n, N) by side + 1."""

    y: Any
    log_weights: Any
    logistic: Any
    share: Any
    force: Any
    order: Any
    tolerance: Any


class Tables(NamedTuple):
    """What is known of C crowds: see Motion; following (C, n, 3) is the crowd across a surface or −1.

    approach (C, n) bounds how fast a distance shrinks in Σⱼ Sⱼ. exit_*: the exits of the crowds that slide.
    """

    velocity: Any
    push: Any
    rates: Any
    side: Any
    active: Any
    dead: Any
    approach: Any
    since: Any
    since_low: Any
    following: Any
    exit_crowd: Any
    exit_row: Any
    exit_jump: Any


class State(NamedTuple):
    """What changes. clock: (t, Σⱼ Sⱼ); live (N,): how many neurons are active on each point; tree: minima."""

    clock: Any
    f: Any
    impulse: Any
    impulse_low: Any
    total: Any
    live: Any
    count: Any
    member: Any
    base: Any
    fresh: Any
    key: Any
    child: Any
    sibling: Any
    before: Any
    root: Any
    tree: Any


class Record(NamedTuple):
    """Room for pieces and moves; made: (pieces, moves) written, first piece's number, what it stopped at."""

    start: Any
    used: Any
    step: Any
    prediction: Any
    impulse: Any
    impulse_low: Any
    time: Any
    neuron: Any
    old: Any
    new: Any
    piece: Any
    made: Any


class Room(NamedTuple):
    """Room to work in: series by order (p, rho, rate, q, g, w), a polynomial c, and the gates looked at."""

    p: Any
    rho: Any
    rate: Any
    q: Any
    g: Any
    w: Any
    c: Any
    growth: Any
    rates: Any
    gained: Any
    on: Any
    gates: Any
    far: Any


@njit(cache=True)
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


@njit(cache=True)
def least_gate(tree: Any) -> int:
    """Return the leaf with the least value."""
    place, leaves = 1, len(tree) // 2
    while place < leaves:
        place *= 2
        if tree[place + 1] < tree[place]:
            place += 1
    return place - leaves


@njit(cache=True)
def offset_of(tables: Any, state: Any, c: int, s: int) -> tuple[float, float]:
    """Return the offset of a crowd in a surface's distance and the size its roundings refer to."""
    offset = size = 0.0
    for j in range(len(state.f)):
        gained = (state.impulse[j] - tables.since[c, j]) + (state.impulse_low[j] - tables.since_low[c, j])
        moved = tables.velocity[c, s, j] * gained
        offset += moved
        size += abs(moved)
    return offset, size


@njit(cache=True)
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
    return max(key + tables.side[c, s] * offset, least)


@njit(cache=True)
def look(tables: Any, state: Any, gate: int) -> None:
    """Renew the certificate of a gate."""
    points = tables.side.shape[1]
    fastest = tables.approach[gate // points, gate % points]
    distance = distance_of(tables, state, gate)
    bound = state.clock[1] + distance / fastest if fastest > 0 and distance < inf else inf
    set_bound(state.tree, gate, bound)


@njit(cache=True)
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


@njit(cache=True)
def move_all(tables: Any, state: Any, neurons: Any, new: int, on: Any) -> None:
    """Move many neurons."""
    for k in neurons:
        move(tables, state, k, new, on)


@njit(cache=True)
def refresh_total(tables: Any, state: Any) -> None:
    """Sum the coefficients anew from the counts, so that roundings do not pile up."""
    state.total[:] = 0.0
    for c in range(len(state.count)):
        if state.count[c] > 0:
            state.total[:] += state.count[c] * tables.rates[c]


@njit(cache=True)
def scale_forces(problem: Any, f: Any, u: Any, q: Any) -> tuple[int, float]:
    """Set u, the forces over the leading one, and q; return the leading point and its log force."""
    lead = 0
    for j in range(len(f)):
        margin = problem.y[j] * f[j]
        if problem.logistic:
            soft = log1p(exp(-abs(margin)))
            u[j] = problem.log_weights[j] - (max(margin, 0.0) + soft)
            q[j] = exp(-(max(-margin, 0.0) + soft))
        else:
            u[j] = problem.log_weights[j] - margin
        if u[j] > u[lead]:
            lead = j
    top = u[lead]
    for j in range(len(f)):
        u[j] = exp(u[j] - top)
    return lead, top


@njit(cache=True)
def extend(room: Any, k: int, lead: int, logistic: bool) -> float:
    """Add coefficient k + 1 to the series of shares p, clock rate w, factors q and g = 1 − q.

    Return its size relative to the shares.
    """
    p, rate, q, g, w = room.p, room.rate, room.q, room.g, room.w
    points = p.shape[1]
    for i in range(points):
        value = 0.0
        for j in range(points):
            value += room.growth[i, j] * p[k, j]
        room.rho[k, i] = value
    for i in range(points):
        if logistic:
            value = 0.0
            for n in range(k + 1):
                value += q[n, i] * room.rho[k - n, i]
            rate[k, i] = value
        else:
            rate[k, i] = room.rho[k, i]
    w[k + 1] = 0.0
    for n in range(k + 1):
        w[k + 1] -= w[n] * rate[k - n, lead] / (k + 1)
    for i in range(points):
        value = change = 0.0
        for n in range(k + 1):
            value += p[n, i] * (rate[k - n, i] - rate[k - n, lead])
            if logistic:
                change += g[n, i] * rate[k - n, i]
        p[k + 1, i] = value / (k + 1)
        if logistic:
            g[k + 1, i] = change / (k + 1)
            q[k + 1, i] = -g[k + 1, i]
    return relative_size(room, k + 1)


@njit(cache=True)
def relative_size(room: Any, k: int) -> float:
    """Return the largest coefficient k of the shares and the clock, relative to each one's first."""
    size = abs(room.w[k])
    for i in range(room.p.shape[1]):
        size = max(size, abs(room.p[k, i]) / max(room.p[0, i], 1e-308))
    return size


@njit(cache=True)
def steady_length(room: Any, lead: int, order: int, logistic: bool) -> float:
    """Return the step over which roundings of the shares stay roundings; see fullnet.series."""
    p, q, growth = room.p, room.q, room.growth
    points = growth.shape[0]
    jacobian = np.empty((points, points))
    for i in range(points):
        for j in range(points):
            own = q[0, i] * growth[i, j] if logistic else growth[i, j]
            leading = q[0, lead] * growth[lead, j] if logistic else growth[lead, j]
            jacobian[i, j] = abs(p[0, i]) * (own - leading)
    scale = np.max(np.abs(jacobian))
    if scale == 0:
        return inf
    jacobian /= scale
    power, square, left = np.eye(points), jacobian, order
    while left > 0:
        if left % 2 == 1:
            power = product(power, square)
        left //= 2
        if left > 0:
            square = product(square, square)
    size = 0.0
    for i in range(points):
        row = 0.0
        for j in range(points):
            row += abs(power[i, j]) * p[0, j]
        size = max(size, row / max(p[0, i], 1e-308))
    if size == 0:
        return inf
    return exp(min((lgamma(order + 1.0) - log(size)) / order - log(scale), 700.0))


@njit(cache=True)
def product(a: Any, b: Any) -> Any:
    """Return the matrix product a b."""
    n = len(a)
    result = np.zeros((n, n))
    for i in range(n):
        for k in range(n):
            for j in range(n):
                result[i, j] += a[i, k] * b[k, j]
    return result


@njit(cache=True)
def first_root(c: Any, degree: int, last: float) -> float:
    """Return the first x in [0, last] at which a polynomial ≥ 0 at 0 goes below 0, or −1.

    From the left, by the root of value + slope δ − bend δ²/2 with bend ≥ |second derivative|: it never steps
    over a root and converges quadratically.
    """
    bend, power = 0.0, 1.0
    for k in range(2, degree + 1):
        bend += k * (k - 1) * abs(c[k]) * power
        power *= last
    x = 0.0
    for _ in range(10_000):
        value = slope = size = 0.0
        for k in range(degree, -1, -1):
            slope = slope * x + value
            value = value * x + c[k]
            size = size * x + abs(c[k])
        if slope < 0 and value <= 2 * EPS * size:
            return x
        value = max(value, 0.0)
        root = sqrt(slope * slope + 2 * bend * value)
        if slope < 0:
            ahead = 2 * value / (root - slope)
        elif bend > 0:
            ahead = (slope + root) / bend
        else:
            return -1.0
        if ahead <= 0 or x + ahead > last:
            return -1.0
        if ahead <= 2e-16 * x and slope < 0:
            return x
        x += ahead
    return x


@njit(cache=True)
def next_state(problem: Any, tables: Any, u: Any, c: int, s: int) -> int:
    """Return the side (−1, 0, 1) on which a neuron of crowd c goes on from surface s.

    See fullnet.decide.settle; returns 2 where the answer is not the only consistent one, 3 for an unmet
    crowd.
    """
    found, answer = 0, 2
    for side in (-1, 0, 1):
        target = tables.following[c, s, side + 1]
        if target < 0:
            return 3
        margin = size = 0.0
        if side != 0:
            for j in range(len(u)):
                row = side * tables.velocity[target, s, j] * u[j]
                margin += row
                size += abs(row)
        else:
            low = high = push = 0.0
            for j in range(len(u)):
                low += problem.force[0, s, j] * u[j]
                high += problem.force[2, s, j] * u[j]
                push += tables.push[target, s, j] * u[j]
            size = abs(low) + abs(high) + abs(push)
            margin = min(max(low, high) - push, push - min(low, high))
        if size > 0 and margin > _ZERO * size:
            found += 1
            answer = side
    return answer if found == 1 else 2


@njit(cache=True)
def on_others(tables: Any, state: Any, k: int, s: int) -> bool:
    """Return whether a neuron that arrives at surface s lies on another one too, to rounding."""
    c = state.member[k]
    for other in range(tables.side.shape[1]):
        if other == s:
            continue
        if tables.side[c, other] == 0:
            return True
        offset, size = offset_of(tables, state, c, other)
        base = state.base[k, other]
        if abs(base + offset) <= 4 * EPS * (abs(base) + size):
            return True
    return False


@njit(cache=True)
def prepare(problem: Any, state: Any, room: Any) -> tuple[int, float, float]:
    """Set the forces and coefficients a step begins with; return (lead, its log force, pace)."""
    lead, top = scale_forces(problem, state.f, room.p[0], room.q[0])
    points = len(state.f)
    pace = 0.0
    for i in range(points):
        for j in range(points):
            room.rates[i, j] = problem.share * state.total[i, j]
            pace = max(pace, abs(room.rates[i, j]))
    if pace == 0:
        pace = 1.0
    for i in range(points):
        room.g[0, i] = 1 - room.q[0, i]
        for j in range(points):
            room.growth[i, j] = -problem.y[i] * room.rates[i, j] / pace
    room.w[0] = 1.0
    return lead, top, pace


@njit(cache=True)
def take(tables: Any, state: Any, room: Any, looked: int) -> float:
    """Take the gate with the least certificate into the list; return how fast its neuron approaches."""
    gate = least_gate(state.tree)
    room.gates[looked] = gate
    room.far[looked] = distance_of(tables, state, gate)
    set_bound(state.tree, gate, inf)
    crowd, s = gate // tables.side.shape[1], gate % tables.side.shape[1]
    closing = 0.0
    for j in range(len(state.f)):
        closing -= tables.side[crowd, s] * tables.velocity[crowd, s, j] * room.p[0, j]
    return closing


@njit(cache=True)
def aim(tables: Any, state: Any, room: Any, pace: float) -> tuple[float, int]:
    """Return the step to try, a little beyond the earliest arrival at the present speeds, and gates taken."""
    speed, looked, step = 0.0, 0, _FARTHEST
    for j in range(len(state.f)):
        speed += room.p[0, j] / pace
    while state.tree[1] < state.clock[1] + speed * step:
        closing = take(tables, state, room, looked) / pace
        if closing > 0:
            step = min(step, max(_EAGER * room.far[looked] / closing, 1e-12))
        looked += 1
    return step, looked


@njit(cache=True)
def expand(problem: Any, room: Any, lead: int, most: float) -> tuple[float, int]:
    """Expand the forces for a step of at most ``most``; return the step and the order that it needs.

    The coefficients are then those in x = time/step.
    """
    step, order, small, power = most, 0, 0, 1.0
    while order < problem.order and small < 2:
        power *= step
        size = extend(room, order, lead, problem.logistic)
        small = small + 1 if size * power <= problem.tolerance else 0
        order += 1
    if small < 2:
        for n in (order - 1, order):
            size = relative_size(room, n)
            if size > 0:
                step = min(step, (problem.tolerance / size) ** (1.0 / n))
    if step > 1:
        step = min(step, steady_length(room, lead, problem.order, problem.logistic))
    power = 1.0
    for n in range(1, order + 1):
        power *= step
        room.w[n] *= power
        for j in range(room.p.shape[1]):
            room.p[n, j] *= power
    return step, order


@njit(cache=True)
def impulse_until(room: Any, order: int, unit: float, x: float) -> float:
    """Set ``gained``, the impulses from 0 to x; return their sum."""
    travel = 0.0
    for j in range(room.p.shape[1]):
        value = 0.0
        for n in range(order, -1, -1):
            value = value * x + room.p[n, j] / (n + 1)
        room.gained[j] = value * x * unit
        travel += room.gained[j]
    return travel


@njit(cache=True)
def arrival(tables: Any, room: Any, i: int, order: int, unit: float, last: float) -> float:
    """Return the x ≤ last at which the nearest neuron of the i-th gate taken gets to its surface, or −1."""
    crowd, s = room.gates[i] // tables.side.shape[1], room.gates[i] % tables.side.shape[1]
    side, velocity = tables.side[crowd, s], tables.velocity[crowd, s]
    reach = 0.0
    for j in range(room.p.shape[1]):
        reach += max(-side * velocity[j], 0.0) * room.gained[j]
    if reach < room.far[i] * (1 - 1e-12):
        return -1.0
    room.c[0] = room.far[i]
    for n in range(order + 1):
        value = 0.0
        for j in range(room.p.shape[1]):
            value += velocity[j] * room.p[n, j]
        room.c[n + 1] = side * value * unit / (n + 1)
    return first_root(room.c, order + 1, last)


@njit(cache=True)
def release(tables: Any, room: Any, e: int, order: int, last: float) -> float:
    """Return the x ≤ last at which the e-th exit opens, or −1."""
    jump = size = 0.0
    for j in range(room.p.shape[1]):
        jump += tables.exit_jump[e, j] * room.p[0, j]
        size += abs(tables.exit_row[e, j]) * room.p[0, j]
    for n in range(order + 1):
        value = 0.0
        for j in range(room.p.shape[1]):
            value += tables.exit_row[e, j] * room.p[n, j]
        room.c[n] = value if jump > 0 else -value
    room.c[0] = max(room.c[0], 8 * EPS * size)
    return first_root(room.c, order, last)


@njit(cache=True)
def next_event(
    tables: Any, state: Any, room: Any, looked: int, order: int, step: float, unit: float, left: float
) -> tuple[float, int, int]:
    """Return the part x of the step used, what ends it (−1: nothing) and which gate or exit."""
    room.c[0] = min(left, _LONGEST)
    for n in range(order + 1):
        room.c[n + 1] = -room.w[n] / (n + 1) * step
    x, what, which = first_root(room.c, order + 1, 1.0), DONE, -1
    if x < 0:
        x, what = 1.0, -1
    for i in range(looked):
        root = arrival(tables, room, i, order, unit, x)
        if 0 <= root < x or (root == x and what < 0):
            x, what, which = root, SEVERAL, room.gates[i]
    for e in range(len(tables.exit_crowd)):
        if state.count[tables.exit_crowd[e]] > 0:
            root = release(tables, room, e, order, x)
            if 0 <= root < x:
                x, what, which = root, EXIT, e
    return x, what, which


@njit(cache=True)
def write_piece(state: Any, record: Any, x: float, unit: float) -> None:
    """Write down a smooth piece with the state it starts from."""
    at = record.made[0]
    record.start[at], record.used[at], record.step[at] = state.clock[0], x, unit
    for j in range(len(state.f)):
        record.prediction[at, j] = state.f[j]
        record.impulse[at, j], record.impulse_low[at, j] = state.impulse[j], state.impulse_low[j]
    record.made[0] += 1


@njit(cache=True)
def gain(state: Any, room: Any) -> None:
    """Add the impulses gained to S, as an unevaluated sum, and to the predictions."""
    for j in range(len(state.f)):
        total = state.impulse[j] + room.gained[j]
        part = total - state.impulse[j]
        state.impulse_low[j] += (state.impulse[j] - (total - part)) + (room.gained[j] - part)
        state.impulse[j] = total
        for i in range(len(state.f)):
            state.f[i] += room.rates[i, j] * room.gained[j]


@njit(cache=True)
def settle_arrival(problem: Any, tables: Any, state: Any, record: Any, room: Any, gate: int) -> int:
    """Move the nearest neuron of a gate on; return −1, or SEVERAL or UNMET where the caller has to."""
    surfaces = tables.side.shape[1]
    k, s = state.root[gate] // surfaces, gate % surfaces
    if on_others(tables, state, k, s):
        return SEVERAL
    scale_forces(problem, state.f, room.p[0], room.q[0])
    old = state.member[k]
    answer = next_state(problem, tables, room.p[0], old, s)
    if answer > 1:
        return UNMET if answer == 3 else SEVERAL
    new = tables.following[old, s, answer + 1]
    room.on[s] = True
    move(tables, state, k, new, room.on)
    room.on[s] = False
    if new != old:
        at = record.made[1]
        record.time[at], record.neuron[at] = state.clock[0], k
        record.old[at], record.new[at] = old, new
        record.piece[at] = record.made[2] + record.made[0]
        record.made[1] += 1
    for j in range(len(state.f)):
        if state.live[j] == 0:
            state.f[j] = 0.0
    return -1


@njit(cache=True)
def run(problem: Any, tables: Any, state: Any, record: Any, room: Any, until: float) -> tuple[int, int]:
    """Follow the flow until something is left to the caller; return (what, exit or gate).

    FULL: the record is full; DONE: at time ``until``; EXIT: a crowd stops sliding; SEVERAL: the nearest
    neuron of a gate has arrived, on several kinks or undecided; UNMET: it could go to an unmet crowd.
    """
    while record.made[0] < len(record.start) and record.made[1] < len(record.time):
        if (record.made[2] + record.made[0]) % _REFRESH == 0:
            refresh_total(tables, state)
        t = state.clock[0]
        if t >= until:
            return DONE, 0
        lead, top, pace = prepare(problem, state, room)
        log_unit = -top - log(pace)
        left = (until - t) * exp(min(-log_unit, 709.0))
        step, looked = aim(tables, state, room, pace)
        step, order = expand(problem, room, lead, min(step, max(2 * left, _SHORTEST)))
        unit = step / pace
        travel = impulse_until(room, order, unit, 1.0)
        while state.tree[1] < state.clock[1] + travel * (1 + 1e-12):
            take(tables, state, room, looked)
            looked += 1
        x, what, which = next_event(tables, state, room, looked, order, step, unit, left)
        write_piece(state, record, x, unit)
        elapsed = 0.0
        for n in range(order, -1, -1):
            elapsed = elapsed * x + room.w[n] / (n + 1)
        state.clock[0] = until if what == DONE else t + elapsed * x * step * exp(min(log_unit, 709.0))
        travel = impulse_until(room, order, unit, x)
        gain(state, room)
        for i in range(looked):
            gate = room.gates[i]
            fastest = tables.approach[gate // tables.side.shape[1], gate % tables.side.shape[1]]
            bound = state.clock[1] + room.far[i] / fastest * (1 - 1e-12) if fastest > 0 else inf
            set_bound(state.tree, gate, bound)
        state.clock[1] += travel
        if what == EXIT:
            return EXIT, which
        if what == SEVERAL:
            what = settle_arrival(problem, tables, state, record, room, which)
            if what >= 0:
                return what, which
    return FULL, 0

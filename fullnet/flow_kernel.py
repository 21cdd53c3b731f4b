"""The event loop of a flow compiled by numba, imported only for flows with many neurons.

The same flow as :mod:`fullnet.plain`, where every event costs the same whatever m and d are: certificates find
the few gates to look at, and a series has only as many terms as its step needs. What is rare (a crowd that
stops sliding, a neuron on several kinks, a crowd met for the first time) is left to the caller.
"""

from __future__ import annotations

from math import inf, log, log1p, sqrt
from typing import Any

from fullnet import clock, crowds, kernel_gates, kernel_series, pairing
from fullnet.compilation import inner, kernel
from fullnet.crowds import NEAR, ORIGIN
from fullnet.kernel_gates import distance_of, least_gate, move, offset_of, refresh_total, set_bound
from fullnet.kernel_series import EPS, expand, first_root, impulse_until, prepare, scale_forces

FULL, DONE, EXIT, SEVERAL, UNMET = 0, 1, 2, 3, 4

_ZERO = 64 * EPS
_LONGEST, _SHORTEST = 1e300, 1e-300
_EAGER, _FARTHEST = 1.25, 16.0
_REFRESH = 64

clock_after, units_between = inner(clock.clock_after), inner(clock.units_between)


@inner
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


@inner
def on_others(tables: Any, state: Any, k: int, s: int) -> bool:
    """Return whether a neuron that arrives at surface s lies on another one too, to rounding."""
    c = state.member[k]
    nearest, farthest, largest = inf, 0.0, 0.0
    for other in range(tables.side.shape[1]):
        if other != s and tables.side[c, other] == 0:
            return True
        offset, size = offset_of(tables, state, c, other)
        base = state.base[k, other]
        largest = max(largest, abs(base) + size)
        if other != s:
            nearest = min(nearest, abs(base + offset))
            farthest = max(farthest, abs(base + offset))
    return nearest <= NEAR * largest or farthest <= ORIGIN * largest


@inner
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


@inner
def soonest(problem: Any, tables: Any, room: Any, i: int) -> float:
    """Return the Σⱼ Sⱼ to be gained before the nearest neuron of the i-th gate taken can be at its surface.

    By the greatest speed for any forces; and by the present one, which a share Uⱼ/ΣU changes by no more than its
    part times e^{2 fastest ΣS} − 1, and that is below 3.6 fastest ΣS where the exponent is at most 1.
    """
    crowd, s = room.gates[i] // tables.side.shape[1], room.gates[i] % tables.side.shape[1]
    side, velocity, far = tables.side[crowd, s], tables.velocity[crowd, s], room.far[i]
    if tables.approach[crowd, s] <= 0 or far == inf:
        return inf
    closing = size = total = 0.0
    for j in range(room.p.shape[1]):
        closing -= side * velocity[j] * room.p[0, j]
        size += abs(velocity[j]) * room.p[0, j]
        total += room.p[0, j]
    closing, change = max(closing + 8 * EPS * size, 0.0) / total, 3.6 * problem.fastest * size / total
    gained = 2 * far / (closing + sqrt(closing * closing + 2 * change * far)) if far > 0 else 0.0
    soon: float = max(far / tables.approach[crowd, s], min(gained, 0.5 / problem.fastest))
    return soon


@inner
def aim(tables: Any, state: Any, room: Any, pace: float) -> tuple[float, int]:
    """Return the step to try, a little beyond the earliest arrival at the present speeds, and gates taken."""
    # not the constant 0, for which numba would compile ``take`` a second time
    speed, looked, step = 0.0, 0 * len(state.f), _FARTHEST
    for j in range(len(state.f)):
        speed += room.p[0, j] / pace
    while state.tree[1] < state.clock[1] + speed * step:
        closing = take(tables, state, room, looked) / pace
        if closing > 0:
            step = min(step, max(_EAGER * room.far[looked] / closing, 1e-12))
        looked += 1
    return step, looked


@inner
def arrival(tables: Any, state: Any, room: Any, i: int, order: int, unit: float, last: float) -> float:
    """Return the x ≤ last at which the nearest neuron of the i-th gate taken gets to its surface, or −1.

    One that was just put on that surface is beyond what roundings of the step can do.
    """
    crowd, s = room.gates[i] // tables.side.shape[1], room.gates[i] % tables.side.shape[1]
    side, velocity = tables.side[crowd, s], tables.velocity[crowd, s]
    reach = travel = 0.0
    for j in range(room.p.shape[1]):
        reach += max(-side * velocity[j], 0.0) * room.gained[j]
        travel += abs(velocity[j]) * room.gained[j]
    far = room.far[i]
    if far < inf and state.fresh[state.root[room.gates[i]] // tables.side.shape[1], s]:
        far = max(far, 8 * EPS * travel)
    if reach < far * (1 - 1e-12):
        return -1.0
    room.c[0] = far
    for n in range(order + 1):
        value = 0.0
        for j in range(room.p.shape[1]):
            value += velocity[j] * room.p[n, j]
        room.c[n + 1] = side * value * unit / (n + 1)
    return first_root(room.c, order + 1, last)


@inner
def share(room: Any, n: int, j: int) -> float:
    """Return coefficient n of the force of a point over the leading one, also where it moves nobody."""
    coefficient: float = room.p[n, j] + room.idle[j] * room.w[n]
    return coefficient


@inner
def release(tables: Any, room: Any, e: int, order: int, last: float) -> float:
    """Return the x ≤ last at which the e-th exit opens, or −1."""
    jump = size = 0.0
    for j in range(room.p.shape[1]):
        jump += tables.exit_jump[e, j] * share(room, 0, j)
        size += abs(tables.exit_row[e, j]) * share(room, 0, j)
    for n in range(order + 1):
        value = 0.0
        for j in range(room.p.shape[1]):
            value += tables.exit_row[e, j] * share(room, n, j)
        room.c[n] = value if jump > 0 else -value
    room.c[0] = max(room.c[0], 8 * EPS * size)
    return first_root(room.c, order, last)


@inner
def set_exit_bound(problem: Any, tables: Any, state: Any, room: Any, e: int) -> None:
    """Set up to which Σⱼ Sⱼ neither form of the e-th exit can reach 0: no |d log Uⱼ| exceeds fastest · dΣⱼ Sⱼ."""
    jump = row = jump_size = row_size = 0.0
    for j in range(room.p.shape[1]):
        jump += tables.exit_jump[e, j] * share(room, 0, j)
        jump_size += abs(tables.exit_jump[e, j]) * share(room, 0, j)
        row += tables.exit_row[e, j] * share(room, 0, j)
        row_size += abs(tables.exit_row[e, j]) * share(room, 0, j)
    part = 0.0
    if jump_size > 0 and row_size > 0:
        part = min(abs(jump) / jump_size, abs(row) / row_size)
    tables.exit_bound[e] = state.clock[1] + log1p(part) / problem.fastest * (1 - 1e-9)


@inner
def next_event(
    problem: Any,
    tables: Any,
    state: Any,
    room: Any,
    looked: int,
    order: int,
    step: float,
    unit: float,
    left: float,
    travel: float,
) -> tuple[float, int, int]:
    """Return the part x of the step used, what ends it (−1: nothing) and which gate or exit."""
    room.c[0] = min(left, _LONGEST)
    for n in range(order + 1):
        room.c[n + 1] = -room.w[n] / (n + 1) * step
    x, what, which = first_root(room.c, order + 1, 1.0), DONE, -1
    if x < 0:
        x, what = 1.0, -1
    for i in range(looked):
        root = arrival(tables, state, room, i, order, unit, x)
        if 0 <= root < x or (root == x and what < 0):
            x, what, which = root, SEVERAL, room.gates[i]
    farthest = state.clock[1] + travel * (1 + 1e-12)
    for e in range(len(tables.exit_crowd)):
        if tables.exit_bound[e] <= farthest:
            set_exit_bound(problem, tables, state, room, e)
            if state.count[tables.exit_crowd[e]] > 0 and tables.exit_bound[e] <= farthest:
                root = release(tables, room, e, order, x)
                if 0 <= root < x:
                    x, what, which = root, EXIT, e
    return x, what, which


@inner
def write_piece(state: Any, record: Any, x: float, unit: float) -> None:
    """Write down a smooth piece with the state it starts from."""
    at = record.made[0]
    record.start[at], record.used[at], record.step[at] = state.clock[0], x, unit
    for j in range(len(state.f)):
        record.prediction[at, j] = state.f[j]
        record.impulse[at, j], record.impulse_low[at, j] = state.impulse[j], state.impulse_low[j]
    record.made[0] += 1


@inner
def gain(state: Any, room: Any) -> None:
    """Add the impulses gained to S, as an unevaluated sum, and to the predictions."""
    for j in range(len(state.f)):
        total = state.impulse[j] + room.gained[j]
        part = total - state.impulse[j]
        state.impulse_low[j] += (state.impulse[j] - (total - part)) + (room.gained[j] - part)
        state.impulse[j] = total
        for i in range(len(state.f)):
            state.f[i] += room.rates[i, j] * room.gained[j]


@inner
def settle_arrival(problem: Any, tables: Any, state: Any, record: Any, room: Any, gate: int) -> int:
    """Move the nearest neuron of a gate on; return −1, or SEVERAL or UNMET where the caller has to."""
    surfaces = tables.side.shape[1]
    k, s = state.root[gate] // surfaces, gate % surfaces
    if on_others(tables, state, k, s):
        return SEVERAL
    scale_forces(problem, state.f, room.everyone, room.p[0], room.idle, room.q[0])
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


@kernel(clock, crowds, kernel_gates, kernel_series, pairing)
def run(
    problem: Any, tables: Any, state: Any, record: Any, room: Any, until: float, arrived: int
) -> tuple[int, int]:
    """Follow the flow until something is left to the caller; return (what, exit or gate).

    arrived: a gate whose nearest neuron has come to its surface and goes on first, or −1.

    FULL: the record is full; DONE: at time ``until``; EXIT: a crowd stops sliding; SEVERAL: the nearest
    neuron of a gate has arrived, on several kinks or undecided; UNMET: it could go to an unmet crowd.
    """
    if arrived >= 0:
        what = settle_arrival(problem, tables, state, record, room, arrived)
        if what >= 0:
            return what, arrived
    while record.made[0] < len(record.start) and record.made[1] < len(record.time):
        if (record.made[2] + record.made[0]) % _REFRESH == 0:
            refresh_total(tables, state)
        t = state.clock[0]
        if t >= until:
            return DONE, 0
        if state.live.max() == 0:
            write_piece(state, record, 1.0, 0.0)
            state.clock[0] = until
            return DONE, 0
        lead, top, pace = prepare(problem, state, room)
        log_unit = -top - log(pace)
        left = units_between(t, until, log_unit)
        step, looked = aim(tables, state, room, pace)
        step, order = expand(problem, room, lead, min(step, max(2 * left, _SHORTEST)))
        unit = step / pace
        travel = impulse_until(room, order, unit, 1.0)
        while state.tree[1] < state.clock[1] + travel * (1 + 1e-12):
            take(tables, state, room, looked)
            looked += 1
        x, what, which = next_event(problem, tables, state, room, looked, order, step, unit, left, travel)
        write_piece(state, record, x, unit)
        elapsed = 0.0
        for n in range(order, -1, -1):
            elapsed = elapsed * x + room.w[n] / (n + 1)
        state.clock[0] = until if what == DONE else clock_after(t, elapsed * x * step, log_unit)
        travel = impulse_until(room, order, unit, x)
        gain(state, room)
        for i in range(looked):
            bound = state.clock[1] + soonest(problem, tables, room, i) * (1 - 1e-9)
            set_bound(state.tree, room.gates[i], bound)
        state.clock[1] += travel
        if what == EXIT:
            return EXIT, which
        if what == SEVERAL:
            what = settle_arrival(problem, tables, state, record, room, which)
            if what >= 0:
                return what, which
    return FULL, 0

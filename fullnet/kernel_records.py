"""What the compiled event loop works on: plain tuples of arrays."""

from __future__ import annotations

from typing import Any, NamedTuple


class Problem(NamedTuple):
    """What does not change: labels y (N,), log weights (N,), logistic, share, forces (3, n, N) by side + 1.

    fastest: a bound of |df/dS| for any point's f and any point's S, from all neurons together.
    """

    y: Any
    log_weights: Any
    logistic: Any
    share: Any
    fastest: Any
    force: Any
    order: Any
    tolerance: Any


class Tables(NamedTuple):
    """What is known of C crowds: see Motion; following (C, n, 3) is the crowd across a surface or −1.

    approach (C, n) bounds how fast a distance shrinks in Σⱼ Sⱼ. exit_*: the exits of the crowds that slide, with
    the Σⱼ Sⱼ before which they cannot open.
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
    exit_bound: Any


class State(NamedTuple):
    """What changes. clock: (t, Σⱼ Sⱼ); tree: minima.

    live (N,): how many neurons are active on each point, so that its force moves them.
    """

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
    """Room to work in: series by order (p, rho, rate, q, g, w), a polynomial c, matrices, the gates looked at.

    idle (N,): the forces that move no neuron, over the leading one.
    """

    p: Any
    rho: Any
    rate: Any
    q: Any
    g: Any
    w: Any
    c: Any
    growth: Any
    rates: Any
    powers: Any
    gained: Any
    idle: Any
    on: Any
    everyone: Any
    gates: Any
    far: Any

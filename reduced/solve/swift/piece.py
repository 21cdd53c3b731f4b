"""A smooth piece of the m-neuron flow in closed form, for any number type (derived here).

Neurons are counted by pattern: N₁ (++), N₂ (+−), N₃ (−+), N₄ (0+), N₅ (+0), both signs together. With u =
|a|⟨b,x₊⟩ and v = |a|⟨b,x₋⟩, what a neuron adds to f₊ and f₋, the rates are integers times constants,

    A = N₁ + N₂ + s²N₅,   B = C = c N₁,   D = N₁ + N₃ + s²N₄,   g = A + C,   h = B + D,

and all motion is read off four clocks S = ∫P dt, R = ∫Q dt, X = S − cR, Y = cS − R. With q = hR and L =
ln(r/r₀) = gS − hR both are elementary in q. What would cancel near the fixed ratio g/h is formed from the
counts (g − hc, h − cg, AD − BC) or carried on its own (r − c). Everything here is in the subset of Python that
numba compiles.
"""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

from reduced.solve.swift.arithmetic import exp, expm1, log, log1p

GENERIC, PLUS, MINUS, STILL = range(4)
"""Kinds of pieces: both points are learned, only x₊ (h = 0), only x₋ (g = 0), none."""

_ITERATIONS = 500


class Angle(NamedTuple):
    """The data as the flow sees it: c = cos Δ, w = 1 − cos Δ, s2 = sin² Δ, gap = 1/c − c; eps, the rounding."""

    c: Any
    w: Any
    s2: Any
    gap: Any
    eps: Any


class Piece(NamedTuple):
    """A piece with its start: rates, their differences, and r, δ = r − c, G = g − h r where it begins."""

    kind: int
    c: Any
    A: Any
    B: Any
    D: Any
    g: Any
    h: Any
    det: Any
    above_c: Any
    above_inverse: Any
    r: Any
    delta: Any
    G: Any
    eps: Any


class Motion(NamedTuple):
    """What happened up to some q: growth L of ln r, the four clocks' advance, r and δ = r − c there."""

    L: Any
    S: Any
    R: Any
    X: Any
    Y: Any
    r: Any
    delta: Any


def start_piece(angle: Angle, n1: int, n2: int, n3: int, n4: int, n5: int, r: Any, delta: Any) -> Piece:
    """Return the piece of the given counts that starts at ratio r = c + delta.

    ``above_c`` is g − hc and ``above_inverse`` is cg − h: what the fixed ratio g/h has over c and over 1/c;
    each is exactly 0 when only rounding is left of it.
    """
    c, w, s2 = angle.c, angle.w, angle.s2
    alone_plus, alone_minus = n2 + s2 * n5, n3 + s2 * n4
    A, B, D = n1 + alone_plus, c * n1, n1 + alone_minus
    g, h = A + B, B + D
    det = n1 * (s2 * n1 + alone_minus) + alone_plus * D
    more_alone, more_sliding = n2 - n3, n5 - n4
    above_c = s2 * (n1 + more_sliding + w * n4) + (more_alone + w * n3)
    above_inverse = (more_alone - w * n2) - s2 * (n1 - more_sliding + w * n5)
    rounding = 4 * angle.eps * (s2 * (n1 + n4 + n5) + (n2 + n3))
    if abs(above_c) <= rounding:
        above_c = 0 * c
    if abs(above_inverse) <= rounding:
        above_inverse = 0 * c
    learns_plus, learns_minus = n1 + n2 + n5 > 0, n1 + n3 + n4 > 0
    kind = (GENERIC if learns_plus else MINUS) if learns_minus else (PLUS if learns_plus else STILL)
    G = g - h * r if 2 * r < c else above_c - h * delta
    return Piece(kind, c, A, B, D, g, h, det, above_c, above_inverse, r, delta, G, angle.eps)


def at_rest(piece: Piece) -> Motion:
    """Return the motion at the piece's start."""
    zero = 0 * piece.r
    return Motion(zero, zero, zero, zero, zero, piece.r, piece.delta)


def move(piece: Piece, q: Any) -> Motion:
    """Return the motion from the piece's start to q."""
    c, g, h, r = piece.c, piece.g, piece.h, piece.r
    if piece.kind == GENERIC:
        L, S, ratio, delta, _ = _run(piece, q)
        X = (L - q * (piece.above_inverse / h)) / g
        Y = (c * L - q * (piece.above_c / h)) / g
        return Motion(L, S, q / h, X, Y, ratio, delta)
    if piece.kind == PLUS:
        S, L, change = q / g, q, r * expm1(q)
        R = change / g
    elif piece.kind == MINUS:
        R, S, change = q / h, expm1(q) / (r * h), r * expm1(-q)
        return Motion(-q, S, R, S - c * R, c * S - R, r * exp(-q), piece.delta + change)
    else:
        S, R, L, change = q, r * q, 0 * q, 0 * q
    return Motion(L, S, R, S - c * R, c * S - R, r + change, piece.delta + change)


def _run(piece: Piece, q: Any) -> tuple[Any, Any, Any, Any, Any]:
    """Return L, S, r, δ and G = g − h r of a generic piece at q."""
    g, h = piece.g, piece.h
    if q < 1:
        gone = -expm1(-q)
        change = piece.G * gone
        G, r, delta = piece.G - change, piece.r + change / h, piece.delta + change / h
    else:
        left = exp(-q)
        gone, G = 1 - left, piece.G * left
        r, delta = (g - G) / h, (piece.above_c - G) / h
    start = h * piece.r
    W = piece.G / start
    if W > -0.5:
        L = log1p(W * gone)
    elif q < 1:
        rise = log1p(g / start * (gone / (1 - gone)))
        return rise - q, rise / g, r, delta, G
    else:
        L = log((g - G) / start)
    return L, (q + L) / g, r, delta, G


def learn(piece: Piece, q: Any, L: Any) -> tuple[Any, Any]:
    """Return the changes of f₊ and f₋ up to q, where ln r has grown by L."""
    if piece.kind == GENERIC:
        shared = q * (piece.det / piece.h)
        return (shared + piece.A * L) / piece.g, (piece.B * L - shared) / piece.g
    if piece.kind == PLUS:
        return q, 0 * q
    if piece.kind == MINUS:
        return 0 * q, -q
    return 0 * q, 0 * q


def rising(piece: Piece) -> bool:
    """Return whether r grows along the piece."""
    return piece.kind == PLUS or (piece.kind == GENERIC and piece.G > 0)


def ratio_turn(piece: Piece, level: int, gap: Any) -> Any:
    """Return the q at which r passes the next of c and 1/c, inf when it never does.

    level is 0 below c, 1 between, 2 above 1/c; gap = 1/c − c.
    """
    up = rising(piece)
    still = piece.kind == STILL or (piece.kind == GENERIC and piece.G == 0)
    if still or (up and level == 2) or (not up and level == 0):
        return inf
    at_c = level == (0 if up else 1)
    short = -piece.delta if at_c else gap - piece.delta
    if piece.kind == PLUS:
        part = short / piece.r
    elif piece.kind == MINUS:
        part = -short / (piece.r + short)
    else:
        over = piece.above_c if at_c else piece.above_inverse
        if (over <= 0) if up else (over >= 0):
            return inf
        part = piece.h * short / over
        if not at_c:
            part = part * piece.c
    return log1p(part) if part > 0 else 0 * part


def turn_of_S(piece: Piece, ahead: Any) -> Any:
    """Return the q at which S has advanced by ``ahead``."""
    if piece.kind == GENERIC:
        rise = piece.g * ahead
        if rise < 600:
            return log1p(piece.h * piece.r / piece.g * expm1(rise))
        return rise + log((piece.h * piece.r + piece.G * exp(-rise)) / piece.g)
    if piece.kind == PLUS:
        return piece.g * ahead
    if piece.kind == MINUS:
        return log1p(piece.r * piece.h * ahead)
    return ahead


def turn_of_R(piece: Piece, ahead: Any) -> Any:
    """Return the q at which R has advanced by ``ahead``."""
    if piece.kind == PLUS:
        return log1p(piece.g * ahead / piece.r)
    if piece.kind == STILL:
        return ahead / piece.r
    return piece.h * ahead


def turn_of_difference(piece: Piece, on_X: bool, direction: int, ahead: Any, limit: Any) -> Any:
    """Return the q ≤ limit at which X (or Y) has advanced by direction · ``ahead``, inf when it has not by then.

    X and Y count only while neurons are active on both points, so the piece is generic. The clock must not
    turn before limit, so Householder's method of fourth order, inside a bracket, finds the only root.
    """
    g, h, c = piece.g, piece.h, piece.c
    on_L = 1 + 0 * c if on_X else c
    on_q = (piece.above_inverse if on_X else piece.above_c) / h
    low, high, tried, last = 0 * ahead, limit, False, 0 * ahead
    q, short, r, delta, G = low, ahead, piece.r, piece.delta, piece.G
    for _ in range(_ITERATIONS):
        rate = direction * (1 - c * r if on_X else -delta)
        if rate > 0:
            flow = G / (h * r)
            newton = short * h * r / rate
            # by what the slope dX/dq, and the slope of that slope, change per unit of q, relative to themselves
            bend, next_bend = -direction * on_L * flow / rate, -1 - 2 * flow
            top = 1 + bend * newton / 2
            bottom = 1 + bend * newton * (1 + next_bend * newton / 6)
            step = newton * top / bottom if bottom < 2 * top < 4 * bottom else newton
            size = abs(step)
            blur = size * (abs(bend) + 1 + 2 * abs(flow))
            is_rounding = size <= 1e-6 * q and 0 < last < 2 * size
            # what the method leaves after this step is below rounding; or steps no longer shrink
            if size * blur * blur * blur <= piece.eps * (q + size) or is_rounding:
                return max(q + step, low) if q + step <= limit else inf
            last = size
            q = q + step
        elif q == 0:
            q = limit / 2 if limit < inf else 1 + q
        elif high == inf:
            return inf
        elif high - low <= 4 * piece.eps * high:
            return q
        else:
            q = (low + high) / 2
        if q >= high and not tried:
            q, tried = high, True
        elif not low < q < high:
            q = (low + high) / 2
        L, _, r, delta, G = _run(piece, q)
        short = ahead - direction * (on_L * L - q * on_q) / g
        if short <= 0:
            high, tried = q, True
        elif q == limit:
            return inf
        else:
            low = q
    return inf if high == inf else q

"""A piece's closed forms are its integrals: clocks reach their readings where quadrature says, in the same time."""

import mpmath
import numpy as np
import pytest

from reduced.solve.swift.duration import duration
from reduced.solve.swift.piece import Angle, move, start_piece, turn_of_difference

CTX = mpmath.mp.clone()
CTX.dps = 30
C = 0.8
ANGLE = Angle(C, 1 - C, 1 - C * C, 1 / C - C, 2.0**-52)


def pieces(count, seed):
    """Yield pieces on which r runs up or down, from far below its limit or far above, with all kinds of neurons."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        numbers = [int(n) for n in rng.integers(1, 60, 5) * (rng.random(5) < 0.7)]
        r = float(10 ** rng.uniform(-2, 2))
        yield start_piece(ANGLE, numbers[0] + 1, *numbers[1:], r, r - C)


def ratio(piece, q):
    """Return r at q from its own law, dr/dq = (g − h r)/h."""
    g, h = CTX.mpf(piece.g), CTX.mpf(piece.h)
    return g / h - (g / h - CTX.mpf(piece.r)) * CTX.exp(-q)


def quadrature(integrand, q):
    """Integrate over [0, q], in ever longer steps."""
    steps = [0] + [q * CTX.mpf(10) ** n for n in range(-4, 1)] if q > 1 else [0, q]
    return CTX.quad(integrand, steps)


def speed(piece, on_X, q):
    """Return dX/dS = 1 − c r or dY/dS = c − r at q."""
    return 1 - CTX.mpf(C) * ratio(piece, q) if on_X else CTX.mpf(C) - ratio(piece, q)


def advance(piece, on_X, q):
    """Return by how much X or Y has moved at q, of which dS = dq/(h r)."""
    return quadrature(lambda x: speed(piece, on_X, x) / (CTX.mpf(piece.h) * ratio(piece, x)), q)


@pytest.mark.parametrize("on_X", [True, False])
@pytest.mark.parametrize("size", [1e-9, 1e-4, 0.05, 0.7, 3.0, 20.0])
def test_the_clocks_reach_their_readings(on_X, size):
    """Short ways and long ones; a clock that would turn on its way, or stand, is left out."""
    seen = 0
    for piece in pieces(25, 3):
        begin, end = (speed(piece, on_X, q) for q in (0, size))
        if begin * end <= 0:
            continue
        direction, ahead = int(CTX.sign(begin)), float(abs(advance(piece, on_X, size)))
        for limit in (2 * size, float("inf")):
            q = turn_of_difference(piece, on_X, direction, ahead, limit)
            change = abs(advance(piece, on_X, q)) - CTX.mpf(ahead)
            assert abs(change) < 1e-14 * max(abs(advance(piece, on_X, q)), size / (piece.h * piece.r))
        assert turn_of_difference(piece, on_X, direction, ahead, size * (1 - 1e-6)) == float("inf")
        seen += 1
    assert seen >= 5


def elapsed(piece, q):
    """Return ∫ P₀/P dS, ln P falling by A S − B R."""
    A, B, g, h = (CTX.mpf(x) for x in (piece.A, piece.B, piece.g, piece.h))

    def slowness(x):
        S = (x + CTX.log(ratio(piece, x) / piece.r)) / g
        return CTX.exp(A * S - B * x / h) / (h * ratio(piece, x))

    return quadrature(slowness, q)


@pytest.mark.parametrize("size", [1e-6, 1e-4, 1e-3, 2e-3, 0.05, 0.5, 3.0])
def test_the_time_is_the_integral_of_its_law(size):
    """Whichever of the rules for T the size of the step calls for."""
    for piece in pieces(15, 5):
        q = size * min(1.0, piece.h * piece.r / piece.g)
        value, exponent = duration(piece, q, move(piece, q))
        assert exponent == 0
        assert abs(value / elapsed(piece, q) - 1) < 1e-14

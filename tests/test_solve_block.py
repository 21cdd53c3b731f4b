"""A smooth piece in closed form solves its ODE, inverts, and gives every root of a form along it."""

import random
from itertools import pairwise

import mpmath
import pytest

from reduced.solve.block import Form, MinusBlock, PlusBlock, RatioBlock, StillBlock, block

DIGITS = 60
CTX = mpmath.mp.clone()
CTX.dps = DIGITS


def numbers(*texts):
    return [CTX.mpf(text) for text in texts]


def phase_two(delta, alpha_plus="0.25", alpha_minus="0.15"):
    c, s2 = CTX.cos(CTX.mpf(delta)), CTX.sin(CTX.mpf(delta)) ** 2
    plus, minus = numbers(alpha_plus, alpha_minus)
    return [plus, plus * c, plus * c, plus + minus * s2]


def phase_four(delta, alpha_plus="0.25", alpha_minus="0.15"):
    c, s2 = CTX.cos(CTX.mpf(delta)), CTX.sin(CTX.mpf(delta)) ** 2
    plus, minus = numbers(alpha_plus, alpha_minus)
    return [plus * s2 + minus, minus * c, minus * c, minus]


EQUAL = numbers("0.25", "0.125", "0.25", "0.375")
PIECES = {
    "below the fixed ratio": (phase_two("0.2"), numbers("0.8", "0.19")),
    "far below": (phase_two("0.2"), numbers("1", "1e-6")),
    "in the middle": (phase_two("0.2"), numbers("0.5", "0.4")),
    "just above": (phase_two("0.2"), numbers("0.5", "0.6")),
    "well above": (phase_two("0.2"), numbers("0.5", "1.5")),
    "far above": (phase_two("0.2"), [CTX.one, CTX.exp(100)]),
    "on the fixed ratio": (EQUAL, numbers("0.2", "0.2")),
    "Phase III": ([*numbers("0.01", "0", "0", "0.006")], numbers("0.02", "0.0204")),
    "Phase IV": (phase_four("0.2"), numbers("0.02", "0.0205")),
    "small angle, Phase II": (phase_two("1e-4"), numbers("0.8", "0.2")),
    "small angle, Phase IV": (phase_four("1e-4"), numbers("0.1", "0.1")),
    "AD = BC": (numbers("0.25", "0.5", "0.125", "0.25"), numbers("0.8", "0.1")),
    "A = 0": (numbers("0", "0.1", "0", "0.3"), numbers("0.8", "0.1")),
    "only x₊": (numbers("0.3", "0", "0.1", "0"), numbers("0.8", "0.2")),
    "only x₊, by others": (numbers("0", "0", "0.1", "0"), numbers("0.8", "0.2")),
    "only x₋": (numbers("0", "0.1", "0", "0.3"), numbers("0.8", "2")),
    "only x₋, by others": (numbers("0", "0.1", "0", "0"), numbers("0.8", "2")),
    "nothing": (numbers("0", "0", "0", "0"), numbers("0.8", "0.2")),
}
PATHS = ("1e-25", "1e-3", "0.4", "2", "7", "60")


@pytest.fixture(params=PIECES, ids=list(PIECES))
def piece(request):
    rates, forces = PIECES[request.param]
    return block(CTX, rates, *forces)


def derivative(function, q):
    step = q * CTX.mpf("1e-18")
    return (function(q + step) - function(q - step)) / (2 * step)


@pytest.mark.parametrize("path", PATHS)
def test_by_substitution(piece, path):
    """dS/dt = P and dR/dt = Q with P = P₀ e^{−(AS − BR)}, Q = Q₀ e^{CS − DR}: the definition of the piece."""
    q = CTX.mpf(path)
    S, R = piece.S(q), piece.R(q)
    P = piece.P0 * CTX.exp(piece.B * R - piece.A * S)
    Q = piece.Q0 * CTX.exp(piece.C * S - piece.D * R)
    speed = derivative(piece.elapsed, q)
    assert abs(derivative(piece.S, q) / speed / P - 1) < CTX.mpf("1e-32")
    assert abs(derivative(piece.R, q) / speed / Q - 1) < CTX.mpf("1e-32")
    assert abs(piece.ratio(q) / (Q / P) - 1) < CTX.mpf("1e-50")
    on_S, on_R = piece.speeds(q)
    assert abs(on_S / derivative(piece.S, q) - 1) < CTX.mpf("1e-32")
    assert abs(on_R / derivative(piece.R, q) - 1) < CTX.mpf("1e-32")


@pytest.mark.parametrize("path", ["1e-25", "0.4", "12"])
def test_time_against_quadrature(piece, path):
    quad = mpmath.mp.clone()
    quad.dps = 30

    def speed(q):
        q = CTX.mpf(q)
        P = piece.P0 * CTX.exp(piece.B * piece.R(q) - piece.A * piece.S(q))
        return quad.mpf(piece.speeds(q)[0] / P)

    q, first = quad.mpf(path), speed(0)
    time = q * first * quad.quad(lambda part: speed(q * part) / first, quad.linspace(0, 1, 9))
    assert abs(piece.elapsed(CTX.mpf(path)) / time - 1) < CTX.mpf("1e-25")


def test_it_starts_at_the_start(piece):
    assert piece.S(CTX.zero) == piece.R(CTX.zero) == piece.elapsed(CTX.zero) == 0
    assert piece.path_of_time(CTX.zero) == 0
    assert abs(piece.ratio(CTX.zero) - piece.Q0 / piece.P0) <= CTX.eps * piece.Q0 / piece.P0


@pytest.mark.parametrize("path", PATHS)
def test_time_and_ratio_invert(piece, path):
    q = CTX.mpf(path)
    assert abs(piece.path_of_time(piece.elapsed(q)) / q - 1) < CTX.mpf("1e-50")
    moves = isinstance(piece, PlusBlock | MinusBlock) or (isinstance(piece, RatioBlock) and piece.z0 != 0)
    if moves and CTX.mpf("1e-4") < q < 30:
        ratio = piece.ratio(q)
        assert abs(piece.path_of_ratio(ratio) / q - 1) < CTX.mpf("1e-40")
        behind = piece.ratio(CTX.zero) ** 2 / ratio
        assert piece.path_of_ratio(behind) is None


def test_a_ratio_out_of_reach_is_never_met(piece):
    start = piece.ratio(CTX.zero)
    if isinstance(piece, StillBlock):
        assert piece.path_of_ratio(start) is None
    elif isinstance(piece, RatioBlock):
        fixed = piece.g / piece.h
        assert piece.path_of_ratio(fixed) is None
        assert piece.path_of_ratio(2 * max(fixed, start)) is None
        assert piece.path_of_ratio(min(fixed, start) / 2) is None


def test_the_kind_follows_the_rates():
    kinds = [type(block(CTX, *[PIECES[name][0]], *PIECES[name][1])) for name in PIECES]
    assert {RatioBlock, PlusBlock, MinusBlock, StillBlock} == set(kinds)


GRID = [CTX.mpf(10) ** CTX.mpf(k) for k in [x / 8 for x in range(-64, 25)]]


def test_the_roots_of_random_forms(piece):
    """Every root found is a sign change in the direction told; every sign change on a grid holds a root."""
    chance = random.Random(7)
    found = 0
    for _ in range(40):
        on_S, on_R, size = (CTX.mpf(chance.uniform(-1, 1)) for _ in range(3))
        # place the form so that it often vanishes somewhere along the piece
        q = CTX.mpf(10) ** CTX.mpf(chance.uniform(-6, 1.5))
        e0 = -(on_S * piece.S(q) + on_R * piece.R(q)) if chance.random() < 0.8 else size
        form = Form(e0, on_S, on_R)
        roots = list(piece.roots(form))
        assert len(roots) <= 2
        for root, direction in roots:
            scale = abs(e0) + abs(on_S * piece.S(root)) + abs(on_R * piece.R(root))
            assert abs(piece.value(form, root)) <= scale * CTX.mpf("1e-55")
            width = root * CTX.mpf("1e-20")
            ahead, behind = piece.value(form, root + width), piece.value(form, root - width)
            assert CTX.sign(ahead) == direction == -CTX.sign(behind)
        assert [root for root, _ in roots] == sorted(root for root, _ in roots)
        signs = [CTX.sign(piece.value(form, q)) for q in GRID]
        for (low, before), (high, after) in pairwise(zip(GRID, signs, strict=True)):
            inside = [root for root, _ in roots if low <= root <= high]
            assert len(inside) % 2 == (before != after)
        last = piece.value(form, CTX.mpf(200) if not isinstance(piece, RatioBlock) else CTX.mpf(10) ** 8)
        if abs(last) > CTX.mpf("1e-20") * abs(e0):
            assert piece.limit_sign(form) == CTX.sign(last)
        found += len(roots)
    assert found > 20


def test_a_root_beyond_a_turn_from_zero():
    """A form that starts at exactly 0, rises, and comes back has one root."""
    piece = block(CTX, phase_two("0.2"), *numbers("0.8", "0.19"))
    form = Form(CTX.zero, CTX.cos(CTX.mpf("0.2")), -CTX.one)
    roots = list(piece.roots(form))
    assert [direction for _, direction in roots] == [-1]
    assert abs(piece.value(form, roots[0][0])) < CTX.mpf("1e-55")

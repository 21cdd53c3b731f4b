"""Claim: in all regimes the network built from the limit directions is a KKT point of the max-margin problem.

The directions of this file are the table of the three regimes written out here; the certificate and the two
solvers of the package never see it.
"""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reduced.errors import InputError
from reduced.maxmargin import (
    LimitVectors,
    angles_to_limit,
    convex_optimum,
    data_points,
    kkt,
    limit_network,
    living_sets,
    max_margin,
)
from reduced.records import Regime

CTX = mpmath.mp.clone()
CTX.dps = 60


def written(rho, v_plus, v_minus, regime, gamma):
    """The record with every number as a decimal string of the context's digits."""
    plus, minus = ([CTX.nstr(CTX.mpf(x), CTX.dps) for x in pair] for pair in (v_plus, v_minus))
    return LimitVectors(CTX.nstr(rho, CTX.dps), tuple(plus), tuple(minus), regime, CTX.nstr(gamma, CTX.dps))


def table(positive: int, negative: int, m: int, delta: object, kappa2: object = 1) -> LimitVectors:
    """The table of limit directions by regime, with α± = counts / m, in decimal strings."""
    angle = CTX.mpf(delta)
    c, s = CTX.cos(angle), CTX.sin(angle)
    alpha_plus, alpha_minus = CTX.mpf(positive) / m, CTX.mpf(negative) / m
    alpha, k = alpha_minus / alpha_plus, CTX.mpf(kappa2)
    if alpha < c:
        rho = 1 + (1 - c) / alpha
        gamma = k * CTX.sqrt((1 - c) * (alpha_plus + alpha_minus) / (1 + rho))
        return written(rho, (1, -c), (-1, rho), Regime.FOUR_PHASE, gamma)
    if alpha < 1 / c:
        rho = 1 / alpha
        gamma = k * s / CTX.sqrt(1 / alpha_plus + 1 / alpha_minus)
        return written(rho, (1, -c), (-c * rho, rho), Regime.THREE_PHASE, gamma)
    rho = 1 / (1 + alpha * (1 - c))
    gamma = k * CTX.sqrt(alpha_plus * (1 - c * rho) / (1 + rho))
    return written(rho, (1, -rho), (-c * rho, rho), Regime.TWO_PHASE, gamma)


@st.composite
def settings_of(draw: st.DrawFn) -> tuple[Regime, int, int, int, float]:
    """Draw (regime, living positives, living negatives, m, Δ)."""
    regime = draw(st.sampled_from(list(Regime)))
    small, large = sorted((draw(st.integers(1, 20)), draw(st.integers(21, 40))))
    positive, negative = (small, large) if regime is Regime.TWO_PHASE else (large, small)
    bound = float(np.arccos(small / large))
    share = draw(st.floats(0.1, 0.95))
    delta = bound + share * (np.pi / 2 - bound) if regime is Regime.THREE_PHASE else share * bound
    return regime, positive, negative, positive + negative + draw(st.integers(0, 30)), max(float(delta), 0.02)


def network(positive: int, negative: int, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Signs and living masks: living positives, living negatives, then dead neurons of alternating sign."""
    signs = np.where(np.arange(m) < positive, 1, -1)
    signs[positive + negative :: 2] = 1
    index = np.arange(m)
    return signs, index < positive, (index >= positive) & (index < positive + negative)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(settings_of())
def test_certificate_of_the_limit_network(case):
    regime, positive, negative, m, delta = case
    limit = table(positive, negative, m, delta, kappa2=0.7)
    assert limit.regime is regime
    signs, plus, minus = network(positive, negative, m)
    W = limit_network(limit, delta, signs, plus, minus, 7)
    assert np.linalg.norm(W) == pytest.approx(1, abs=1e-14)
    assert not W[~(plus | minus)].any()

    found = kkt(W, signs, data_points(delta, 7), [1, -1], 0.7)
    # a multiplier of size λ carries rounding errors of size λ κ₂/√m per neuron
    assert found.residual <= max(1e-14, 4e-16 * found.multipliers.max() * 0.7)
    assert found.multipliers[1] / found.multipliers[0] == pytest.approx(float(limit.rho), rel=1e-11)
    assert found.margins == pytest.approx([float(limit.gamma)] * 2, rel=1e-11)
    assert found.normalised_margin == pytest.approx(float(limit.gamma), rel=1e-11)
    assert found.complementarity <= 1e-11
    assert found.feasible

    c = float(np.cos(delta))
    rho = float(limit.rho)
    if regime is not Regime.TWO_PHASE:
        assert found.subgradients[plus, 1] == pytest.approx(c / rho, rel=1e-9)
    if regime is not Regime.FOUR_PHASE:
        assert found.subgradients[minus, 0] == pytest.approx(c * rho, rel=1e-9)
    expected = {Regime.FOUR_PHASE: (1, 0), Regime.THREE_PHASE: (1, 1), Regime.TWO_PHASE: (0, 1)}[regime]
    assert (found.kinked[plus, 1].all(), found.kinked[minus, 0].all()) == expected

    angles = angles_to_limit(W, plus, minus, delta, limit)
    assert max(angles.plus, angles.minus) <= 1e-15
    assert [mask.tolist() for mask in living_sets(W, signs, data_points(delta, 7))] == [
        plus.tolist(),
        minus.tolist(),
    ]


@settings(derandomize=True, deadline=None, max_examples=25)
@given(settings_of())
def test_both_solvers_reach_the_table(case):
    regime, positive, negative, m, delta = case
    limit = table(positive, negative, m, delta)
    solved = max_margin(f"{positive}/{m}", f"{negative}/{m}", delta, digits=40)
    assert solved.regime is regime
    pairs = [(solved.rho, limit.rho), (solved.gamma, limit.gamma)]
    pairs += list(zip(solved.v_plus + solved.v_minus, limit.v_plus + limit.v_minus, strict=True))
    assert all(abs(CTX.mpf(text) / CTX.mpf(value) - 1) <= CTX.mpf("1e-39") for text, value in pairs)

    program = convex_optimum(positive / m, negative / m, delta)
    signs, plus, minus = network(positive, negative, m)
    W = limit_network(limit, delta, signs, plus, minus, 2)
    classes = [np.sqrt(positive) * W[0], np.sqrt(negative) * W[positive]]
    assert program.gamma == pytest.approx(float(limit.gamma), rel=1e-10)
    assert np.linalg.norm(program.classes - classes) <= 1e-9


def test_thousand_digits():
    limit = max_margin("1/4", "3/20", "pi/15", digits=1000)
    ctx = mpmath.mp.clone()
    ctx.dps = 1010
    c = ctx.cos(ctx.pi / 15)
    assert abs(ctx.mpf(limit.rho) - (1 + (1 - c) * 5 / 3)) < ctx.mpf(10) ** -999


@pytest.mark.parametrize(
    ("positive", "negative", "rho", "regime"),
    [
        (2, 1, 2, Regime.THREE_PHASE),
        (1, 2, "1/2", Regime.TWO_PHASE),
    ],
)
def test_ties_of_two_regimes(positive, negative, rho, regime):
    # Δ = π/3: c = 1/2, so α = 1/2 and α = 2 are exactly the borders c and 1/c
    limit = max_margin(f"{positive}/4", f"{negative}/4", "pi/3")
    assert limit.regime is regime
    assert abs(CTX.mpf(limit.rho) - CTX.mpf(rho if isinstance(rho, int) else "0.5")) < CTX.mpf("1e-29")
    signs, plus, minus = network(positive, negative, 4)
    W = limit_network(limit, "pi/3", signs, plus, minus, 3)
    assert kkt(W, signs, data_points("pi/3", 3), [1, -1]).residual <= 1e-15


@pytest.mark.parametrize("delta", ["1e-3", "1e-6"])
def test_small_angle_keeps_its_digits(delta):
    # the coefficients on [x₊, x₋] cancel to size Δ: the weights must still be right to a relative 1e-15
    limit = table(26, 14, 100, delta)
    signs, plus, minus = network(26, 14, 100)
    W = limit_network(limit, delta, signs, plus, minus, 4)
    half = CTX.mpf(delta) / 2
    a, b = map(CTX.mpf, limit.v_plus)
    exact_slope = (a - b) * CTX.sin(half) / (-(a + b) * CTX.cos(half))
    assert W[0, 0] / W[0, 1] == pytest.approx(float(exact_slope), rel=1e-15)


def test_tiny_angles_are_measured():
    limit = table(3, 2, 8, 0.3)
    signs, plus, minus = network(3, 2, 8)
    W = limit_network(limit, 0.3, signs, plus, minus, 5)
    W[1, 4] = 3e-11 * np.linalg.norm(W[1])
    W[3] *= 1e5
    angles = angles_to_limit(W, plus, minus, 0.3, limit)
    assert angles.plus == pytest.approx(3e-11, rel=1e-5)
    assert angles.minus <= 1e-15
    assert angles_to_limit(W, plus, np.zeros(8, bool), 0.3, limit).minus is None
    assert angles_to_limit(-W, plus, minus, 0.3, limit).plus == pytest.approx(np.pi)


def test_bad_input_is_named():
    limit = table(3, 2, 8, 0.3)
    signs, plus, minus = network(3, 2, 8)
    with pytest.raises(InputError, match=r"living_plus: .*own sign"):
        limit_network(limit, 0.3, signs, minus, minus, 5)
    with pytest.raises(InputError, match=r"living_minus: .*boolean mask"):
        limit_network(limit, 0.3, signs, plus, [3, 4], 5)
    with pytest.raises(InputError, match="no living neuron"):
        limit_network(limit, 0.3, signs, plus & False, minus & False, 5)
    with pytest.raises(InputError, match="dim"):
        limit_network(limit, 0.3, signs, plus, minus, 1)
    with pytest.raises(InputError, match="delta"):
        data_points("pi/2", 3)
    with pytest.raises(InputError, match="sign: expected entries"):
        limit_network(limit, 0.3, 2 * signs, plus, minus, 5)
    with pytest.raises(InputError, match="alpha_minus"):
        max_margin("1/4", 0, 0.3)

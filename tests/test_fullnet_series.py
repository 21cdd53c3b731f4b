"""The Taylor series solve the force equations, and no root of a step's polynomials is missed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from fullnet import series


def exact_forces(u, M, logistic, t):
    """Solve U′ = U q (M U) with q = 1 − U (all weights 1) or q = 1 by DOP853."""

    def slope(_, U):
        return U * ((1 - U) if logistic else 1.0) * (M @ U)

    return solve_ivp(slope, (0, t), u, method="DOP853", rtol=1e-13, atol=1e-15).y[:, -1]


@pytest.mark.parametrize("logistic", [False, True])
@pytest.mark.parametrize("points", [2, 3, 8])
def test_force_series(points, logistic):
    rng = np.random.default_rng(points)
    u, M = rng.uniform(0.1, 0.9, points), rng.standard_normal((points, points)) / points
    lead = int(np.argmax(u))
    # The series runs in units in which the leading force is 1; q refers to the true forces.
    shares, scale = u / u[lead], u[lead]
    coefficients = series.force_series(shares, 1 - u if logistic else None, M, lead, 24)
    step = series.step_length(coefficients, 1e-15)
    x = series.stretched(coefficients, step)
    ratio = series.value_at(x[:-1], 1.0)
    clock = series.value_at(series.integrated(x[-1:]), 1.0)[0] * step / scale
    expected = exact_forces(u, M, logistic, clock)
    np.testing.assert_allclose(ratio, expected / expected[lead], rtol=1e-11)
    assert series.value_at(x[-1], 1.0) == pytest.approx(scale / expected[lead], rel=1e-11)


@pytest.mark.parametrize("logistic", [False, True])
def test_plain_and_array_recurrences_agree(logistic, monkeypatch):
    rng = np.random.default_rng(1)
    u, M = rng.uniform(0.1, 1, 4), rng.standard_normal((4, 4))
    q = rng.uniform(0.1, 0.9, 4) if logistic else None
    plain = series.force_series(u / u.max(), q, M, int(u.argmax()), 20)
    monkeypatch.setattr(series, "_FEW", 0)
    arrays = series.force_series(u / u.max(), q, M, int(u.argmax()), 20)
    np.testing.assert_allclose(plain, arrays, rtol=1e-12, atol=1e-12)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.lists(st.floats(0.02, 0.98), min_size=1, max_size=5), st.integers(0, 3))
def test_roots_are_found_in_order(places, extra):
    """Polynomials made from their roots, with factors that have none in the interval."""
    places = sorted(places)
    gaps = np.diff([0, *places, 1])
    if np.min(gaps[1:-1], initial=1.0) < 1e-3:
        return
    poly = np.polynomial.polynomial.polyfromroots([*places, *(1.5 + np.arange(extra))])
    found = list(series.roots(poly))
    np.testing.assert_allclose(found, places, atol=1e-9)


def test_roots_where_an_interval_would_be_split_are_found():
    places = [0.4375, 0.484375, 0.4921875, 0.5, 0.75]
    poly = np.polynomial.polynomial.polyfromroots(places)
    np.testing.assert_allclose(list(series.roots(poly)), places, atol=1e-12)


def test_two_roots_in_one_step_are_not_missed():
    for gap in (1e-2, 1e-4, 1e-6):
        poly = np.polynomial.polynomial.polyfromroots([0.4, 0.4 + gap])
        np.testing.assert_allclose(list(series.roots(poly)), [0.4, 0.4 + gap], rtol=1e-9)


def test_touching_and_starting_at_zero():
    touch = np.polynomial.polynomial.polyfromroots([0.3, 0.3]) + np.array([1e-9, 0, 0])
    assert list(series.roots(touch)) == []
    assert next(series.roots(np.array([0.0, -1.0, 0.5]))) == 0.0
    assert list(series.roots(np.array([0.0, 1.0, 0.5]))) == []
    assert list(series.roots(np.array([0.5, -1.0]))) == [0.5]


def test_earliest_collects_ties():
    rows = np.array([[0.5, -1.0, 0.0], [0.9, -1.0, 0.0], [1.0, -2.0, 0.0], [0.2, 0.0, 0.0], [0.3, 1.0, -9.0]])
    first, which = series.earliest(rows)
    assert first == pytest.approx((1 + 11.8**0.5) / 18, rel=1e-14)
    assert which == [4]
    first, which = series.earliest(rows[:4])
    assert first == pytest.approx(0.5, rel=1e-15)
    assert which == [0, 2]
    assert series.earliest(rows[3:4]) == (1.0, [])

"""Claim: the double-precision plateau times are right to a few ulps times the problem's condition number."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reduced.errors import InputError
from reduced.problem import problem, start
from reduced.records import Outcome
from reduced.solve.doubles import OUTCOMES, plateau_map, plateau_times
from reduced.solve.doubles.times import map_rows
from reduced.solve.timeline import timeline

NAMES = ("T_plat", "T_II", "T_III")
ULP = 2.0**-52


def condition(parameters, name, value):
    """Sum of |∂ log T/∂ log parameter| by finite differences."""
    total = 1.0
    for i, parameter in enumerate(parameters):
        if parameter == 0:
            continue
        moved = list(parameters)
        moved[i] *= 1 + 1e-8
        try:
            other = getattr(plateau_times(*moved), name)
        except InputError:
            return math.inf
        total += abs(math.log(other / value)) / 1e-8 if 0 < other < math.inf else math.inf
    return total


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    log_delta=st.floats(-4, 0.17),
    excess=st.floats(-2, 6),
    alpha_plus=st.floats(0.01, 0.4),
    place=st.floats(0.01, 1.4),
    begun=st.booleans(),
)
def test_agrees_with_the_exact_times(log_delta, excess, alpha_plus, place, begun):
    delta = 10**log_delta
    p = (1 + 10**excess) / math.cos(delta)
    alpha_minus = place * alpha_plus
    state = (0.3, 0.2, -0.4) if begun else (0.0, 0.0, 0.0)
    parameters = (p, delta, alpha_plus, alpha_minus, 1.0, *state)
    try:
        found = plateau_times(*parameters)
    except InputError:
        assert begun  # r > 1/c: not a start of Phase II
        return
    exact = timeline(problem(p, delta, alpha_plus, alpha_minus), start(*state), 20)
    assert found.outcome is exact.outcome
    for name in NAMES:
        value, reference = getattr(found, name), float(exact.times[name])
        if reference in (0.0, math.inf):
            assert value == reference
        elif (size := condition(parameters, name, value)) < 1e8:
            assert abs(value / reference - 1) <= 20 * ULP * size


def test_past_the_range_of_doubles_the_logarithm_is_right():
    found = plateau_times(4.0, math.pi / 15, 0.25, 0.2555)
    mantissa, exponent = (
        timeline(problem(4.0, math.pi / 15, 0.25, 0.2555), start(), 25).times["T_II"].split("e+")
    )
    assert math.inf == found.T_II
    expected = math.log(float(mantissa)) + int(exponent) * math.log(10)
    assert found.log_T_II == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(
    ("parameters", "outcome"),
    [
        ((4.0, math.pi / 15, 0.25, 0.0), Outcome.PLATEAU_INFINITE),
        ((4.0, math.pi / 15, 0.0, 0.2), Outcome.PLATEAU_INFINITE),
        ((1.03, 0.2, 0.1, 0.3), Outcome.NO_PLATEAU),
        ((4.0, math.pi / 15, 0.25, 0.15, 1.0, 1.0, -0.5, -0.6), Outcome.ALREADY),
    ],
)
def test_outcomes(parameters, outcome):
    assert plateau_times(*parameters).outcome is outcome


@pytest.mark.parametrize(
    "parameters",
    [
        (1.0, 0.2, 0.25, 0.15),
        (4.0, 1.6, 0.25, 0.15),
        (4.0, 0.2, -0.1, 0.15),
        (math.nan, 0.2, 0.25, 0.15),
        (4.0, 0.2, 0.25, 0.15, 1.0, 5.0, 5.0, 0.0),
    ],
)
def test_bad_parameters_raise(parameters):
    with pytest.raises(InputError):
        plateau_times(*parameters)


def test_maps_equal_the_scalar_path_bit_for_bit_in_value():
    alpha = np.linspace(0.0, 0.3, 7)[:, None]
    p = np.array([0.5, 2.0, 4.0])
    found = plateau_map(p, 0.3, 0.25, alpha)
    assert found["T_plat"].shape == (7, 3)
    for (i, j), value in np.ndenumerate(found["T_II"]):
        if p[j] < 1:
            assert found["outcome"][i, j] == -1
            assert math.isnan(value)
            continue
        single = plateau_times(float(p[j]), 0.3, 0.25, float(alpha[i, 0]))
        assert OUTCOMES[found["outcome"][i, j]] is single.outcome
        np.testing.assert_allclose(value, single.T_II, rtol=1e-13)


def test_the_plain_loop_gives_the_same_as_the_compiled_one():
    columns = [np.full(3, x) for x in (4.0, 0.2, 0.25)] + [np.array([0.1, 0.2, 0.3])]
    columns += [np.ones(3), *(np.zeros(3) for _ in range(3))]
    result = np.empty((3, 7))
    map_rows(*columns, result)
    np.testing.assert_allclose(plateau_map(*columns)["T_plat"], result[:, 1], rtol=1e-13)

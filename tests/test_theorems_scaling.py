"""The judge of Θ- and O-claims accepts the planted power and rejects every other one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reduced.theorems.scaling import power, scaling

SWEEP = (1e-1, 1e-2, 1e-3, 1e-4)


@given(extra=st.floats(-1.5, 1.5), constant=st.floats(1e-3, 1e3))
@settings(derandomize=True, deadline=None, max_examples=50)
def test_theta_claim_holds_exactly_when_no_power_is_left(extra: float, constant: float) -> None:
    found = scaling("x", SWEEP, [constant * x**extra for x in SWEEP])
    assert found.exponent == pytest.approx(extra, abs=1e-9)
    assert found.spread == pytest.approx(10 ** (3 * abs(extra)), rel=1e-6)
    assert found.same_order == (abs(extra) <= 0.1)
    assert bool(found.why) == (not found.same_order)


@pytest.mark.parametrize(("extra", "bounded"), [(0.0, True), (0.7, True), (-0.2, False), (-1.0, False)])
def test_o_claim_allows_smaller_but_not_larger(extra: float, bounded: bool) -> None:
    assert scaling("x", SWEEP, [3 * x**extra for x in SWEEP]).bounded is bounded


def test_a_single_outlier_breaks_both_claims() -> None:
    found = scaling("x", SWEEP, [[1.0, 1.1], [1.0, 1.2], [1.0, 30.0], [1.0, 1.1]])
    assert not found.same_order
    assert not found.bounded


def test_zero_ratios_are_bounded_but_of_no_order() -> None:
    found = scaling("x", SWEEP, [0.0, 0.0, 0.0, 0.0])
    assert found.bounded
    assert not found.same_order


def test_power_of_a_planted_law() -> None:
    assert power(SWEEP, [5 * x**0.375 for x in SWEEP]) == pytest.approx(0.375, abs=1e-12)

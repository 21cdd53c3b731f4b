"""Living counts: the probabilities of Theorem 4.1's bounds are exact, against rational sums, draws and theory."""

from fractions import Fraction
from math import acos, comb, pi, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fullnet
from reduced import problem
from reduced.errors import InputError
from reduced.records import Regime
from reduced.theorems import (
    BOUND_MINUS,
    BOUND_PLUS,
    CountBound,
    CountLaw,
    Signs,
    count_law,
    gaussian_norm_spread,
    living_by_rule,
    seeded_counts,
    wilson,
)


def rational(n: int, share: Fraction, low: int, high: int) -> Fraction:
    """P(low ≤ Bin(n, share) ≤ high) as an exact fraction."""
    return sum(
        (comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(max(low, 0), min(high, n) + 1)),
        Fraction(0),
    )


@pytest.mark.parametrize(("signs", "share"), [(Signs.HALF, Fraction(1, 2)), (Signs.COIN, Fraction(1, 4))])
@pytest.mark.parametrize("m", [4, 37, 100, 250])
def test_plus_bound_equals_a_rational_sum(signs: Signs, share: Fraction, m: int) -> None:
    n = (m + 1) // 2 if signs is Signs.HALF else m
    expected = rational(n, share, -(-21 * m // 100), 29 * m // 100)
    assert count_law(problem(), signs).within(1, m, BOUND_PLUS) == pytest.approx(float(expected), abs=1e-13)


def test_theory_facts_for_the_paper_setting() -> None:
    law = count_law(problem(), "half")
    assert law.within(1, 100, BOUND_PLUS) == pytest.approx(0.80, abs=0.005)
    assert law.within(-1, 100, BOUND_MINUS) == pytest.approx(0.95, abs=0.005)
    regimes = law.regimes(100)
    assert 1 - regimes[Regime.FOUR_PHASE] == pytest.approx(0.021, abs=0.0005)
    assert sum(regimes.values()) == pytest.approx(1, abs=1e-12)


def test_bounds_of_the_theorem_force_four_phases_only_for_small_angles() -> None:
    largest = BOUND_MINUS.upper / BOUND_PLUS.lower
    assert float(largest) == pytest.approx(0.976, abs=5e-4)
    assert acos(float(largest)) == pytest.approx(0.2187, abs=5e-5)


def test_expected_fractions_are_those_the_engine_derives() -> None:
    from reduced.derive import living_fractions

    plus, minus = living_fractions()
    for p, delta in ((4, "pi/15"), (2, "pi/5"), (30, "1/10")):
        law = count_law(problem(p, delta))
        angle = float(problem(p, delta).delta.sympy())
        values = {symbol.name: symbol for symbol in minus.free_symbols}
        derived = minus.subs({values["p"]: p, values["Delta"]: angle})
        assert law.alpha_minus == pytest.approx(float(derived), abs=1e-14)
        assert law.alpha_plus == float(plus)


@given(
    m=st.integers(1, 60),
    plus=st.floats(0.02, 0.48),
    minus=st.floats(0.02, 0.48),
    signs=st.sampled_from(list(Signs)),
)
@settings(derandomize=True, deadline=None, max_examples=25)
def test_joint_law_has_the_marginals_and_total_one(m: int, plus: float, minus: float, signs: Signs) -> None:
    law = CountLaw(plus, minus, 0.9, signs)
    table = law.joint(m)
    assert table.sum() == pytest.approx(1, abs=1e-10)
    everything = CountBound(Fraction(0), Fraction(1, 3))
    high = everything.counts(m)[1]
    assert table[: high + 1].sum() == pytest.approx(law.within(1, m, everything), abs=1e-10)
    assert table[:, : high + 1].sum() == pytest.approx(law.within(-1, m, everything), abs=1e-10)


@given(m=st.integers(2, 3000), signs=st.sampled_from(list(Signs)), sign=st.sampled_from([1, -1]))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_hoeffding_never_promises_more_than_is_true(m: int, signs: Signs, sign: int) -> None:
    law = count_law(problem(), signs)
    bound = BOUND_PLUS if sign > 0 else BOUND_MINUS
    assert law.hoeffding(sign, m, bound) <= law.within(sign, m, bound) + 1e-12


@pytest.mark.parametrize("failure", [0.2, 0.05])
def test_smallest_m_is_the_last_failure_plus_one(failure: float) -> None:
    law = count_law(problem(), "half")
    m = law.smallest_m(1, BOUND_PLUS, failure)
    assert law.within(1, m - 1, BOUND_PLUS) < 1 - failure
    assert all(law.within(1, k, BOUND_PLUS) >= 1 - failure for k in range(m, m + 400))
    assert m < law.smallest_m(1, BOUND_PLUS, failure, by_hoeffding=True)


@pytest.mark.parametrize("failure", [0.0, 1.0, float("nan"), 1e-300])
def test_smallest_m_refuses_what_it_cannot_reach(failure: float) -> None:
    with pytest.raises(InputError, match="failure"):
        count_law(problem()).smallest_m(1, BOUND_PLUS, failure)


def test_no_m_is_enough_when_the_expected_fraction_lies_outside() -> None:
    law = CountLaw(0.31, 0.15, 0.9, Signs.COIN)
    with pytest.raises(InputError, match="failure"):
        law.smallest_m(1, BOUND_PLUS, 0.5)


def test_smallest_m_reaches_failures_far_below_rounding() -> None:
    law = count_law(problem(), "half")
    m, even = law.smallest_m(1, BOUND_PLUS, 1e-30), 2
    outside = 1 - rational(m // even, Fraction(1, 2), -(-21 * m // 100), 29 * m // 100)
    assert m % even or outside <= Fraction(1, 10**30)


def test_regime_at_alpha_exactly_cosine_is_three_phase() -> None:
    # c = 1/2 at Δ = π/3: with m = 4, |K₊| = 2, |K₋| = 1 lies on the border and is three-phase
    law = count_law(problem(4, "pi/3"))
    table, regimes = law.joint(4), law.regimes(4)
    three = table[1, 1] + table[2, 1] + table[2, 2]
    assert regimes[Regime.THREE_PHASE] == pytest.approx(float(three), abs=1e-15)
    assert regimes[Regime.TWO_PHASE] == pytest.approx(float(table[1, 2]), abs=1e-15)


@pytest.mark.parametrize("signs", list(Signs))
def test_draws_follow_the_law(signs: Signs) -> None:
    law, drawn = count_law(problem(), signs), seeded_counts(problem(), 60, 5, 400, signs=signs)
    spread = 4 * sqrt(1 / (60 * 400))
    assert drawn.mean_plus == pytest.approx(law.alpha_plus, abs=spread / 2)
    assert drawn.mean_minus == pytest.approx(law.alpha_minus, abs=spread / 2)
    low, high = wilson(drawn.plus_in_bounds, 400, z=3.5)
    assert low <= law.within(1, 60, BOUND_PLUS) <= high
    low, high = wilson(drawn.minus_in_bounds, 400, z=3.5)
    assert low <= law.within(-1, 60, BOUND_MINUS) <= high


def test_gaussian_draws_have_the_same_living_sets_and_the_spread_of_the_chi_law() -> None:
    for dim in (2, 3, 20, 200):
        sphere, gaussian = (
            fullnet.initial_network(4000, dim, 1.0, 1.0, 5, law) for law in ("sphere", "gaussian")
        )
        for one, other in zip(
            living_by_rule(sphere, problem()), living_by_rule(gaussian, problem()), strict=True
        ):
            assert np.array_equal(one, other)
        norms = np.linalg.norm(gaussian.W, axis=1)
        assert norms.std() / norms.mean() == pytest.approx(gaussian_norm_spread(dim), rel=0.06)
    assert gaussian_norm_spread(10_000) == pytest.approx(1 / sqrt(20_000), rel=1e-3)
    assert gaussian_norm_spread(2) == pytest.approx(sqrt(4 / pi - 1), rel=1e-12)


@pytest.mark.parametrize(("seen", "trials"), [(0, 10), (10, 10), (7, 20)])
def test_wilson_interval_solves_its_quadratic(seen: int, trials: int) -> None:
    z = 1.959963984540054
    for bound in wilson(seen, trials):
        gap = (bound - seen / trials) ** 2 - z * z * bound * (1 - bound) / trials
        assert gap == pytest.approx(0, abs=1e-12)

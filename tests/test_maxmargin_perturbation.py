"""Claim: the living neurons alone cannot raise the margin of θ̄; the dead can, at the predicted rate."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from reduced.errors import InputError
from reduced.maxmargin import data_points, limit_network, max_margin, perturb
from reduced.maxmargin.living import living_only
from reduced.maxmargin.point import limit_point
from reduced.records import Regime


def build(living_plus, living_minus, dead_plus, dead_minus, delta, dim=5):
    """Return θ̄ and its signs, living positives and negatives first, then the dead of both signs."""
    m = living_plus + living_minus + dead_plus + dead_minus
    signs = np.repeat([1, -1, 1, -1], [living_plus, living_minus, dead_plus, dead_minus])
    index = np.arange(m)
    plus, minus = index < living_plus, (index >= living_plus) & (index < living_plus + living_minus)
    limit = max_margin(f"{living_plus}/{m}", f"{living_minus}/{m}", delta)
    return limit_network(limit, delta, signs, plus, minus, dim), signs


@st.composite
def networks(draw):
    """Draw (regime, counts, Δ): living of both signs and at least one dead neuron."""
    regime = draw(st.sampled_from(list(Regime)))
    small, large = draw(st.integers(1, 6)), draw(st.integers(7, 12))
    living = (small, large) if regime is Regime.TWO_PHASE else (large, small)
    dead = draw(st.integers(0, 6)), draw(st.integers(0, 6))
    assume(sum(dead) > 0)
    bound, share = np.arccos(small / large), draw(st.floats(0.05, 0.95))
    delta = bound + share * (np.pi / 2 - bound) if regime is Regime.THREE_PHASE else share * bound
    return regime, living + dead, float(delta)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(networks(), st.sampled_from(["1", "1/3", "2.5"]))
def test_slopes_of_every_revival(case, kappa2):
    regime, counts, delta = case
    W, signs = build(*counts, delta)
    found = perturb(W, signs, delta, kappa2, directions=50)
    m, (dead_plus, dead_minus) = len(signs), counts[2:]
    κ2, s = float(Fraction(kappa2)), np.sin(delta)
    limit = max_margin(f"{counts[0]}/{m}", f"{counts[1]}/{m}", delta, kappa2)
    rho = float(limit.rho)
    assert found.regime is regime
    assert found.gamma_limit == limit.gamma
    assert found.distance <= 1e-14
    assert found.living == {"positive": counts[0], "negative": counts[1], "dead": dead_plus + dead_minus}

    alone = found.living_only
    assert alone.local_optimum
    assert alone.hypotheses.hold
    assert alone.best_slope <= 1e-12
    assert alone.upper_bound <= 1e-12
    assert alone.random_best <= 1e-15
    assert alone.program_distance <= 1e-9

    cases = {case.case: case for case in found.revive_dead.cases}
    assert not found.local_optimum
    for case in cases.values():
        gains = [float(gain) for gain in case.gains]
        length = np.sqrt(1 + float(case.living_norm) ** 2)
        assert float(case.plain.predicted) == pytest.approx(min(gains), rel=1e-14)
        assert float(case.rebalanced.predicted) == pytest.approx(
            (gains[0] + rho * gains[1]) / (1 + rho) / length, rel=1e-13
        )
        assert float(case.rebalanced.measured) == pytest.approx(float(case.rebalanced.predicted), rel=1e-9)
        assert float(case.plain.measured) == pytest.approx(float(case.plain.predicted), rel=1e-9, abs=1e-20)
        assert float(case.rebalanced.predicted) > 0
        assert [epsilon for epsilon, _ in case.plain.by_epsilon] == [f"1e-{k}" for k in range(4, 13)]
    headline = found.revive_dead
    if dead_plus and dead_minus:
        expected = κ2 * s / np.sqrt(m * (1 / dead_plus + 1 / dead_minus))
        assert headline.form == "both"
        assert float(headline.slope_predicted) == pytest.approx(expected, rel=1e-13)
        assert float(cases["both"].living_norm) == 0
    else:
        assert headline.form == "rebalanced"
        assert "both" not in cases
    assert float(headline.slope_measured) == pytest.approx(float(headline.slope_predicted), rel=1e-9)
    for dead, case, side in ((dead_plus, "positive", 0), (dead_minus, "negative", 1)):
        assert (case in cases) == (dead > 0)
        if dead:
            assert float(cases[case].gains[side]) == pytest.approx(κ2 * s * np.sqrt(dead / m), rel=1e-13)
            assert cases[case].plain.predicted == "0"


def margin(W, signs, X):
    """The normalised margin from the definition of the network, in doubles."""
    f = np.maximum(W @ X.T, 0).T @ (signs / np.sqrt(len(signs)))
    return min(f[0], -f[1]) / np.linalg.norm(W)


def test_revival_in_the_full_weight_space():
    delta, counts = 0.4, (5, 3, 4, 2)
    W, signs = build(*counts, delta)
    x_plus, x_minus = X = data_points(delta, 5)
    c, s = np.cos(delta), np.sin(delta)
    D = np.zeros_like(W)
    D[8:12], D[12:] = (x_plus - c * x_minus) / s / 4, (x_minus - c * x_plus) / s / 2
    D /= np.linalg.norm(D)
    found = perturb(W, signs, delta, directions=10)
    ε = 1e-6
    slope = (margin(W + ε * D, signs, X) - margin(W, signs, X)) / ε
    assert slope == pytest.approx(float(found.revive_dead.slope_predicted), rel=1e-5)


def test_ascent_stops_where_the_norm_overtakes():
    # along D ⟂ θ̄ both margins are γ + εσ and ‖θ̄ + εD‖² = 1 + ε²: the peak is √(γ² + σ²) at ε = σ/γ,
    # unless the moving living neurons cross a kink before it
    W, signs = build(5, 3, 4, 2, 0.4)
    found = perturb(W, signs, 0.4, "1/3", directions=10)
    γ, cases = float(found.gamma_limit), found.revive_dead.cases
    for case in cases:
        σ = float(case.rebalanced.predicted)
        if case.case == "negative":
            assert float(case.ascent.epsilon) < 0.9 * σ / γ
            assert float(case.ascent.gamma) < np.hypot(γ, σ)
        else:
            assert float(case.ascent.epsilon) == pytest.approx(σ / γ, rel=1e-9)
            assert float(case.ascent.gamma) == pytest.approx(np.hypot(γ, σ), rel=1e-15)
        assert float(case.ascent.growth) == pytest.approx(float(case.ascent.gamma) / γ, rel=1e-14)
    assert float(cases[0].ascent.gamma) <= float(max_margin("9/14", "5/14", 0.4, "1/3").gamma)


def test_random_directions_of_the_living_in_the_full_weight_space():
    delta = 0.4
    W, signs = build(5, 3, 4, 2, delta)
    rng = np.random.default_rng(0)
    D = np.zeros((500, *W.shape))
    D[:, :8] = rng.standard_normal((500, 8, 5))
    D /= np.linalg.norm(D, axis=(1, 2), keepdims=True)
    X = data_points(delta, 5)
    slopes = [(margin(W + 1e-7 * d, signs, X) - margin(W, signs, X)) / 1e-7 for d in D]
    found = perturb(W, signs, delta, directions=500)
    assert max(slopes) < 0
    assert found.living_only.random_best < 0
    assert found.living_only.random_best == pytest.approx(max(slopes), abs=0.05)


def test_random_directions_do_not_find_the_ascent():
    W, signs = build(25, 15, 25, 35, "pi/15", dim=20)
    found = perturb(W, signs, "pi/15")
    assert found.random_count == 2000
    assert found.random_best < 0 < float(found.revive_dead.slope_predicted)
    assert "dead neurons make it not locally optimal" in found.words


def test_without_dead_neurons_it_is_optimal():
    for counts in ((4, 3, 0, 0), (1, 1, 0, 0)):
        W, signs = build(*counts, 0.4)
        found = perturb(W, signs, 0.4, directions=200)
        assert found.local_optimum
        assert found.revive_dead.form == "none"
        assert found.revive_dead.slope_predicted is None
        assert found.revive_dead.slope_measured is None
        assert found.random_best <= 1e-15
        assert "no neuron is dead" in found.words


def test_the_limit_of_other_living_sets_is_not_called_optimal():
    W, signs = build(5, 3, 4, 2, 0.4)
    point = limit_point(W, signs, 0.4)
    other = limit_point(*build(3, 5, 4, 2, 0.4), 0.4).optimum
    verdict = living_only(replace(point, optimum=other), 500, 0)
    assert not verdict.local_optimum
    assert verdict.upper_bound > 1e-3
    assert verdict.program_distance > 1e-3


@pytest.mark.parametrize(("positive", "negative"), [(2, 1), (1, 2)])
def test_border_of_two_regimes(positive, negative):
    W, signs = build(positive, negative, 1, 1, "pi/3")
    found = perturb(W, signs, "pi/3", directions=100)
    assert found.living_only.local_optimum
    for case in found.revive_dead.cases:
        assert float(case.rebalanced.measured) == pytest.approx(float(case.rebalanced.predicted), rel=1e-9)


def test_weights_of_a_run_name_the_living_and_the_distance():
    W, signs = build(5, 3, 4, 2, 0.4)
    run = 40 * W
    run[:8, 3] += 0.1
    run[8:, 1] = 0.2
    found = perturb(run, signs, 0.4, directions=10)
    at_limit = perturb(W, signs, 0.4, directions=10)
    assert found.living == at_limit.living
    assert found.gamma_limit == at_limit.gamma_limit
    assert 1e-3 < found.distance < 0.1


@pytest.mark.parametrize("counts", [(3, 0, 1, 2), (0, 3, 1, 2), (3, 0, 2, 0), (0, 2, 0, 1)])
def test_no_living_neuron_of_one_sign(counts):
    signs = np.repeat([1, -1, 1, -1], counts)
    X = data_points(0.4, 3)
    W = np.where(signs[:, None] > 0, X[0], X[1])
    W[sum(counts[:2]) :] = 0
    with pytest.raises(InputError, match="at least one living neuron of each sign"):
        perturb(W, signs, 0.4)


def test_bad_input_is_named():
    W, signs = build(5, 3, 4, 2, 0.4)
    for change, name in (
        ({"directions": 0}, "directions"),
        ({"digits": 0}, "digits"),
        ({"kappa2": -1}, "kappa2"),
    ):
        with pytest.raises(InputError) as caught:
            perturb(W, signs, 0.4, **change)
        assert caught.value.name == name
    with pytest.raises(InputError, match="delta"):
        perturb(W, signs, 2)


def test_same_seed_same_record():
    W, signs = build(5, 3, 4, 2, 0.4)
    assert perturb(W, signs, 0.4, seed=7) == perturb(W, signs, 0.4, seed=7)
    assert perturb(W, signs, 0.4, seed=7).random_best != perturb(W, signs, 0.4, seed=8).random_best

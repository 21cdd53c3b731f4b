"""Limit directions, margins, multipliers and regime borders derived by the engine equal the theory's."""

import itertools

import numpy as np
import pytest
import sympy as sp

import reduced
from reduced import derive
from reduced.derive.limit import alpha
from reduced.derive.symbols import Delta, alpha_minus, alpha_plus, c, kappa2, s
from reduced.errors import InputError

ratio = alpha_minus / alpha_plus
rho = {
    "four-phase": 1 + (1 - c) / ratio,
    "three-phase": 1 / ratio,
    "two-phase": 1 / (1 + ratio * (1 - c)),
}

# v₊ and v₋ on (x₊, x₋), γ², kink multipliers, typed by hand (four-phase: Theorem 4.10)
TABLE = {
    "four-phase": (
        (1, -c),
        (-1, rho["four-phase"]),
        kappa2**2 * (1 - c) * (alpha_plus + alpha_minus) / (1 + rho["four-phase"]),
        (c / rho["four-phase"], None),
    ),
    "three-phase": (
        (1, -c),
        (-c * rho["three-phase"], rho["three-phase"]),
        kappa2**2 * s**2 / (1 / alpha_plus + 1 / alpha_minus),
        (c / rho["three-phase"], c * rho["three-phase"]),
    ),
    "two-phase": (
        (1, -rho["two-phase"]),
        (-c * rho["two-phase"], rho["two-phase"]),
        kappa2**2 * alpha_plus * (1 - c * rho["two-phase"]) / (1 + rho["two-phase"]),
        (None, c * rho["two-phase"]),
    ),
}
BOUNDS = {
    "four-phase": {sp.Lt(alpha, c)},
    "three-phase": {sp.Ge(alpha, c), sp.Lt(alpha, 1 / c)},
    "two-phase": {sp.Ge(alpha, 1 / c)},
}


def is_zero(expression):
    return sp.simplify(expression) == 0


@pytest.mark.parametrize("regime", TABLE)
def test_limit_equals_the_table(regime):
    found = derive.limit(regime)
    v_plus, v_minus, gamma_squared, kinks = TABLE[regime]
    assert is_zero(found.ratio - rho[regime])
    for direction, by_hand in zip(found.directions, (v_plus, v_minus), strict=True):
        assert all(is_zero(a - b) for a, b in zip(direction.coefficients, by_hand, strict=True))
    assert is_zero(found.gamma_squared - gamma_squared)
    for derived, by_hand in zip(found.kinks, kinks, strict=True):
        assert (derived is None and by_hand is None) or is_zero(derived - by_hand)


@pytest.mark.parametrize("regime", TABLE)
def test_stationarity_residual_vanishes(regime):
    assert all(entry == 0 for entry in derive.stationarity_residual(derive.limit(regime)))


@pytest.mark.parametrize("regime", TABLE)
def test_regime_borders(regime):
    assert set(derive.regime_bounds(derive.limit(regime))) == BOUNDS[regime]


@pytest.mark.parametrize("value", ["1/2", "2", "49/100", "51/100", "199/100", "201/100"])
def test_every_ratio_has_one_regime_and_the_solver_agrees(value):
    """At cos Δ = 1/2 the borders are 1/2 and 2: where Q/P tends to the next phase's beginning it never begins."""
    at = {alpha: sp.Rational(value), Delta: sp.pi / 3}
    holding = [
        regime
        for regime in TABLE
        if all(bound.subs(at) == sp.true for bound in derive.regime_bounds(derive.limit(regime)))
    ]
    problem = reduced.problem(4, "pi/3", "1/10", f"({value})/10")
    found = reduced.timeline(problem, reduced.start(), 20)
    never = [name for name in ("T_II", "T_III") if found.times[name] == "inf"]
    assert len(holding) == 1
    assert holding == [found.regime.value]
    assert never == {"four-phase": [], "three-phase": ["T_III"], "two-phase": ["T_II", "T_III"]}[holding[0]]


@pytest.mark.parametrize(
    ("regime", "alphas"),
    [("four-phase", (0.25, 0.15)), ("three-phase", (0.2, 0.2)), ("two-phase", (0.1, 0.4))],
)
def test_no_nearby_network_has_a_larger_margin(regime, alphas):
    """The derived direction maximises the margin of an explicit network among its living neurons."""
    found, angle, size = derive.limit(regime), 0.9, 20
    values = {alpha_plus: alphas[0], alpha_minus: alphas[1], Delta: angle, kappa2: 1.0}
    X = np.array([[1.0, 0.0], [np.cos(angle), np.sin(angle)]])
    counts = [round(size * fraction) for fraction in alphas]
    a = np.repeat([1.0, -1.0], counts) / np.sqrt(size)
    b = np.repeat(
        [[float(x.subs(values)) for x in v.coefficients] @ X for v in found.directions], counts, axis=0
    )

    def margin(weights):
        outputs = a @ np.maximum(weights @ X.T, 0)
        return min(outputs[0], -outputs[1]) / np.linalg.norm(weights)

    best = margin(b)
    assert best == pytest.approx(float(found.gamma.subs(values)), rel=1e-12)
    rng = np.random.default_rng(1)
    for scale, _ in itertools.product((1e-1, 1e-3), range(200)):
        assert margin(b + scale * rng.normal(size=b.shape)) < best


def test_lasting_phase_is_recognised_from_the_sliding_conditions():
    """The four-phase conditions fail for α > cos Δ, where the fixed ratio would break its own pattern."""
    conditions = derive.limit("four-phase").conditions
    inside = {alpha_plus: 0.25, alpha_minus: 0.15, Delta: 0.2}
    outside = inside | {alpha_minus: 0.2499}
    assert all(bool(condition.relation.subs(inside)) for condition in conditions)
    assert not all(bool(condition.relation.subs(outside)) for condition in conditions)


def test_systems_without_a_limit_of_this_kind_are_refused():
    one = derive.NetworkModel(data=derive.data_set(sp.eye(1), (1,), (1,)))
    single = derive.prediction_ode(one, [derive.Group("all", 1, alpha_plus, active=(0,))])
    with pytest.raises(InputError, match="a system of two points, got 1 points"):
        derive.limit_direction(single)
    with pytest.raises(derive.DerivationError, match="not exponential"):
        derive.limit_direction(derive.phase("IV", derive.NetworkModel(loss=derive.LOGISTIC)))
    half = derive.prediction_ode(derive.NetworkModel(), [derive.Group("half", 1, alpha_plus, active=(0,))])
    with pytest.raises(derive.DerivationError, match="no ratio"):
        derive.fixed_ratio(half)

"""The slopes of the margin under every revival, derived by symbols, are those of an explicit network.

On 20 random (Δ, α₊, α₋) over the three regimes: derived, predicted and measured slopes agree, the residual is 0,
the convex program over the living neurons ends at θ̄, and γ/γ_max is that of an independent solver.
"""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import sympy as sp

from reduced import InputError, derive, limit, problem
from reduced.derive.limit import limit as limit_direction
from reduced.derive.revival import CASES, dead_minus, dead_plus, rebalancing
from reduced.derive.symbols import Delta, alpha_minus, alpha_plus, c, kappa2, m, s
from reduced.maxmargin import convex_optimum, limit_network, max_margin, perturb
from reduced.records import Regime

ctx = mpmath.mp.clone()
ctx.dps = 40
ratio = alpha_minus / alpha_plus


def drawn(count=20):
    """Draw (regime, (K₊, K₋, dead₊, dead₋) counts, Δ, κ₂), the regimes in turn."""
    rng = np.random.default_rng(4)
    for number in range(count):
        regime = list(Regime)[number % 3]
        small, large = sorted(rng.choice(np.arange(2, 15), 2, replace=False))
        counts = (small, large) if regime is Regime.TWO_PHASE else (large, small)
        border, share = np.arccos(small / large), rng.uniform(0.05, 0.95)
        delta = border + share * (np.pi / 2 - border) if regime is Regime.THREE_PHASE else share * border
        dead = rng.integers(1, 12, 2)
        yield regime, tuple(int(n) for n in (*counts, *dead)), float(delta), f"{rng.integers(1, 9)}/3"


def explicit(counts, delta):
    """Return θ̄ and its signs, living positives and negatives first, then the dead of both signs."""
    size, index = sum(counts), np.arange(sum(counts))
    signs = np.repeat([1, -1, 1, -1], counts)
    plus, minus = index < counts[0], (index >= counts[0]) & (index < counts[0] + counts[1])
    found = max_margin(f"{counts[0]}/{size}", f"{counts[1]}/{size}", delta)
    return limit_network(found, delta, signs, plus, minus, 4), signs


@pytest.mark.parametrize(("regime", "counts", "delta", "size"), list(drawn()))
def test_twenty_random_limits(regime, counts, delta, size):
    total = sum(counts)
    fractions = [sp.Rational(n, total) for n in counts]
    values = dict(zip((alpha_plus, alpha_minus, dead_plus, dead_minus), fractions, strict=True))
    values |= {Delta: sp.Float(delta, 40), kappa2: sp.Rational(size), m: total}
    W, signs = explicit(counts, delta)
    found = perturb(W, signs, delta, size, directions=100, digits=20)
    assert found.regime is regime

    cases = {case.case: case for case in found.revive_dead.cases}
    assert set(cases) == set(CASES)
    for name, case in cases.items():
        derived = derive.revival(regime.value, name)
        for expression, slope in ((derived.plain, case.plain), (derived.rebalanced, case.rebalanced)):
            value = ctx.mpf(str(expression.subs(values).evalf(35)))
            assert abs(ctx.mpf(slope.predicted) - value) <= abs(value) * ctx.mpf("1e-15")
            assert abs(ctx.mpf(slope.measured) - value) <= abs(value) * ctx.mpf("1e-9") + ctx.mpf("1e-20")
    assert float(cases["both"].plain.predicted) == float(found.revive_dead.slope_predicted) > 0

    assert all(entry == 0 for entry in derive.stationarity_residual(limit_direction(regime.value)))
    assert found.living_only.program_distance < 1e-9
    assert found.living_only.upper_bound < 1e-12
    assert found.living_only.local_optimum
    assert not found.local_optimum

    positive, negative = counts[0] + counts[2], counts[1] + counts[3]
    given = problem(4, delta, *(str(x) for x in fractions[:2]), size, assumption=False)
    ends = limit(given, 20, f"{positive}/{total}", f"{negative}/{total}")
    best = convex_optimum(positive / total, negative / total, delta, float(sp.Rational(size))).gamma
    own = convex_optimum(counts[0] / total, counts[1] / total, delta, float(sp.Rational(size))).gamma
    assert float(ends.gamma_ratio) == pytest.approx(own / best, rel=1e-8)
    assert float(ends.gamma) == pytest.approx(own, rel=1e-8)
    assert float(found.gamma_ratio) == pytest.approx(float(ends.gamma_ratio), rel=1e-15)


RHO = {
    "four-phase": 1 + (1 - c) / ratio,
    "three-phase": 1 / ratio,
    "two-phase": 1 / (1 + ratio * (1 - c)),
}


@pytest.mark.parametrize("regime", RHO)
def test_the_rebalanced_slope_is_the_weighted_mean_of_the_gains(regime):
    """(g₊ + ρ g₋)/(1 + ρ), and both signs together need no move of the living."""
    g_plus, g_minus = sp.symbols("g_plus g_minus", real=True)
    common, squared = rebalancing(regime)
    rho = RHO[regime]
    assert sp.simplify(common - (g_plus + rho * g_minus) / (1 + rho)) == 0
    assert squared.subs(g_minus, g_plus) == 0
    both = derive.revival(regime, "both")
    by_hand = kappa2 * s / sp.sqrt(1 / dead_plus + 1 / dead_minus)
    assert both.gains[0] == both.gains[1] == both.plain
    assert sp.simplify(both.plain**2 - by_hand**2) == 0
    assert sp.simplify(both.rebalanced - both.plain) == 0
    for case in ("positive", "negative", "one-neuron"):
        assert derive.revival(regime, case).plain == 0


def ascended(W, outer, X, steps):
    """Follow the subgradient of min yᵢfᵢ/‖θ‖ from many starts (S, m, 2) at once; return the best margin of each."""
    best = np.full(len(W), -np.inf)
    starts = np.arange(len(W))
    for step in range(steps):
        W /= np.linalg.norm(W, axis=(1, 2), keepdims=True)
        inner = W @ X.T
        margins = np.array([1, -1]) * np.einsum("k,ski->si", outer, np.maximum(inner, 0))
        best = np.maximum(best, margins.min(axis=1))
        worst = margins.argmin(axis=1)
        active = inner[starts, :, worst] > 0
        push = np.where(worst == 0, 1, -1)[:, None] * outer * active
        W = W + 0.3 / (1 + step / 20) * push[:, :, None] * X[worst][:, None, :]
    return best


@pytest.mark.parametrize(("positive", "negative"), [(1, 1), (2, 1), (2, 2), (1, 4), (3, 3)])
@pytest.mark.parametrize("delta", [0.3, 1.1])
def test_long_ascent_from_random_starts_stays_below_the_best_margin(positive, negative, delta):
    """Neurons die on the way: it ends at the best margin of those left, and at γ_max where all stay alive."""
    size = positive + negative
    X = np.array([[np.sin(delta / 2), -np.cos(delta / 2)], [-np.sin(delta / 2), -np.cos(delta / 2)]])
    signs = np.repeat([1.0, -1.0], [positive, negative])
    rng = np.random.default_rng(positive)

    def best(alive_plus, alive_minus):
        return float(max_margin(f"{alive_plus}/{size}", f"{alive_minus}/{size}", delta).gamma)

    top = best(positive, negative)
    noise = rng.standard_normal((40, size, 2))
    reached = ascended(noise.copy(), signs / np.sqrt(size), X, 3000)
    left = [best(a, b) for a in range(1, positive + 1) for b in range(1, negative + 1)]
    assert reached.max() <= top * (1 + 1e-12)
    assert min(abs(reached.max() / gamma - 1) for gamma in left) < 5e-3
    alive = ascended(np.where(signs[:, None] > 0, X[0], X[1]) + 0.2 * noise, signs / np.sqrt(size), X, 3000)
    assert top * 0.99 < alive.max() <= top * (1 + 1e-12)


def test_wrong_words_are_refused():
    with pytest.raises(InputError, match="case"):
        derive.revival("four-phase", "none")
    with pytest.raises(InputError, match="regime"):
        derive.revival("five-phase", "both")

"""At late times t·L → 1/γ², ‖θ‖ → ∞, −∇L turns to θ (Lemma F.6), and the KKT residual falls like 1/log t.

Seen on the closed form, on the derived ODE integrated numerically, on the numerical flow and on gradient descent.
"""

from __future__ import annotations

import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import fullnet
from reduced import derive, limit, predict, problem, start, timeline
from reduced.maxmargin import data_points, limit_network, max_margin, residual_along
from reduced.maxmargin.network import KINK_TOLERANCE

ANGLE = math.pi / 15
DATA = fullnet.two_point(4, ANGLE, 20)
TIMES = (1e5, 1e6, 1e8, 1e10, 1e12)
CASES = {
    "four-phase": problem(4, "pi/15", "1/4", "3/20"),
    "three-phase": problem(4, "pi/3", "1/4", "1/5"),
    "two-phase": problem(4, "pi/3", "1/10", "2/5"),
}
FINAL = {"four-phase": "IV", "three-phase": "III", "two-phase": "II"}

ctx = mpmath.mp.clone()
ctx.dps = 40


@pytest.fixture(scope="module", params=[0, 1, 2])
def flow(request):
    net = fullnet.initial_network(100, 20, 0.1, 1.0, request.param)
    return fullnet.gradient_flow(net, DATA, TIMES[-1])


def margin(flow):
    """γ of the flow's own living sets."""
    positive, negative = (int((flow.living & (flow.network.sign == sign)).sum()) for sign in (1, -1))
    return float(max_margin(f"{positive}/100", f"{negative}/100", "pi/15").gamma)


@pytest.mark.parametrize("regime", CASES)
def test_loss_on_the_closed_form(regime):
    given = CASES[regime]
    assert limit(given).regime == regime
    gamma, powers = ctx.mpf(limit(given, 40).gamma), (30, 100, 300, 1000)
    points = predict(given, start(), [f"1e{power}" for power in powers], 40)
    gaps = [
        abs(ctx.mpf(x.loss) * ctx.mpf(10) ** n * gamma**2 - 1) for x, n in zip(points, powers, strict=True)
    ]
    assert gaps[-1] < ctx.mpf("1e-10")
    assert all(later <= earlier for earlier, later in pairwise(gaps))


@pytest.mark.parametrize("regime", CASES)
def test_loss_on_the_reduced_model_integrated_numerically(regime):
    """The derived ODE of the last phase over τ = log t, by a solver that knows nothing of the closed form."""
    given, ode = CASES[regime], derive.phase(FINAL[regime])
    began = {"four-phase": "T_III", "three-phase": "T_II", "two-phase": "T_plat"}[regime]
    t0 = max(1.0, float(timeline(given, start(), 20).times[began]))
    (begin,) = predict(given, start(), [t0], 20)
    f0 = [float(begin.f_plus), float(begin.f_minus)]
    plus, minus = (float(x.evaluate(ctx)) for x in (given.alpha_plus, given.alpha_minus))
    values = {
        "alpha_plus": plus,
        "alpha_minus": minus,
        "Delta": float(given.delta.evaluate(ctx)),
        "kappa2": 1.0,
        "p": 4.0,
    }
    rates = ode.lambdify("numpy")
    rest = [values[str(symbol)] for symbol in ode.arguments[2:]]

    def over_log_time(tau, f):
        return np.exp(tau) * np.array(rates(*f, *rest))

    last = math.log(1e12)
    solved = solve_ivp(over_log_time, (math.log(t0), last), f0, method="LSODA", rtol=1e-10, atol=1e-10)
    f_plus, f_minus = solved.y[:, -1]
    scaled = (0.8 * math.exp(-f_plus) + 0.2 * math.exp(f_minus)) * 1e12 * float(limit(given).gamma) ** 2
    assert scaled == pytest.approx(1, abs=1e-5)
    (exact,) = predict(given, start(), ["1e12"], 20)
    assert (f_plus, f_minus) == pytest.approx((float(exact.f_plus), float(exact.f_minus)), rel=1e-8)


def test_loss_on_the_numerical_flow(flow):
    gamma = margin(flow)
    gaps = [abs(math.exp(math.log(t) + flow.log_loss([t])[0]) * gamma**2 - 1) for t in TIMES]
    assert gaps[0] < 0.1
    assert all(later < earlier for earlier, later in pairwise(gaps))
    assert gaps[-1] < 1e-7


def angle_between(first, second):
    first, second = first / np.linalg.norm(first), second / np.linalg.norm(second)
    return 2 * math.atan2(np.linalg.norm(first - second), np.linalg.norm(first + second))


def test_the_norm_grows_and_the_gradient_turns_to_the_weights(flow):
    """θ̇ = −∇L is read off the flow itself, by a difference over one percent of t."""
    gamma, norms, angles = margin(flow), [], []
    for t in TIMES[:-1]:
        before, after = flow.neurons(0.995 * t), flow.neurons(1.005 * t)
        norms.append(np.linalg.norm(flow.neurons(t)))
        angles.append(angle_between(after - before, flow.neurons(t)))
    logs = np.log(TIMES[:-1])
    assert np.all(np.diff(norms) > 0)
    assert np.all(np.diff(angles) < 0)
    # ‖θ‖ = log t/γ + const and angle ~ const/(log t + const)
    assert np.diff(norms) / np.diff(logs) * gamma == pytest.approx(np.ones(len(logs) - 1), rel=2e-3)
    assert np.diff(1 / np.array(angles)) / np.diff(logs) == pytest.approx(
        np.full(len(logs) - 1, (1 / angles[-1] - 1 / angles[0]) / (logs[-1] - logs[0])), rel=2e-2
    )


def test_the_residual_falls_along_the_flow(flow):
    """1/residual is affine in log t; before the last phase another pattern's residual may be smaller."""
    rows = residual_along(flow, TIMES)
    assert [row.t for row in rows] == list(TIMES)
    residuals, logs = np.array([row.residual for row in rows]), np.log(TIMES)
    assert np.all(np.diff(residuals) < 0)
    slopes = np.diff(1 / residuals) / np.diff(logs)
    assert slopes == pytest.approx(np.full(len(slopes), slopes[-1]), rel=0.05)
    positive, negative = (int((flow.living & (flow.network.sign == sign)).sum()) for sign in (1, -1))
    ends = max_margin(f"{positive}/100", f"{negative}/100", "pi/15")
    gaps = [abs(row.multiplier_ratio / float(ends.rho) - 1) for row in rows]
    assert gaps == sorted(gaps, reverse=True)
    assert all(row.kinked >= positive for row in rows)
    assert rows[-1].normalised_margin < margin(flow) < 1.1 * rows[-1].normalised_margin


def test_the_residual_falls_along_gradient_descent():
    """Chattering neurons lie on their kinks only up to the size of a step."""
    net = fullnet.initial_network(100, 20, 0.1, 1.0, 1)
    path = fullnet.descent_path(net, DATA, 0.01, (100, 300))
    assert path.times == (100.0, 300.0)
    strict, loose = (
        residual_along(path, path.times, tolerance) for tolerance in (KINK_TOLERANCE, path.chatter)
    )
    assert loose[1].residual < loose[0].residual < 0.03
    # to a tolerance of rounding every chattering neuron looks off its kink, and the certificate is worse
    assert all(
        a.kinked < b.kinked and a.residual > 2 * b.residual for a, b in zip(strict, loose, strict=True)
    )
    assert path.chatter(300) < path.chatter(100) < 1e-2
    one = fullnet.gradient_descent(net, DATA, 0.01, 30_000, stop_early=False)
    assert path.neurons(300) == pytest.approx(one.network.W, abs=1e-9)
    assert np.array_equal(path.runs[-1].living, one.living)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_residual_falls_like_one_over_log_t_along_gradient_descent(seed):
    """The descent's own living sets have their own limit, with its own 1/log t."""
    net = fullnet.initial_network(100, 20, 0.1, 1.0, seed)
    path = fullnet.descent_path(net, DATA, 0.01, (1e4, 2e4, 4e4, 8e4))
    rows = residual_along(path, path.times, path.chatter)
    slopes = np.diff([1 / row.residual for row in rows]) / math.log(2)
    assert np.all(slopes > 0)
    assert slopes == pytest.approx(np.full(3, slopes[-1]), rel=0.2)


def test_the_residual_of_the_limit_itself_is_zero():
    signs = np.repeat([1, -1], [5, 3])
    ends = max_margin("5/8", "3/8", "pi/15")

    class AtLimit:
        network = fullnet.given_network(
            limit_network(ends, "pi/15", signs, signs > 0, signs < 0, 3), signs, 1.0
        )
        data = fullnet.two_point(4, ANGLE, 3)

        def neurons(self, t):
            return t * self.network.W

    rows = residual_along(AtLimit(), [1.0, 1e9])
    assert all(row.residual < 1e-14 for row in rows)
    assert rows[0].multiplier_ratio == pytest.approx(float(ends.rho), rel=1e-12)
    assert np.allclose(AtLimit.data.X, data_points("pi/15", 3))


@pytest.mark.parametrize(
    ("times", "name"), [((), "times"), ((-1.0,), "times"), ((1.0, 1.0), "times"), ((2.0, 1.0), "times")]
)
def test_times_that_do_not_increase_are_refused(times, name):
    net = fullnet.initial_network(4, 3, 0.1, 1.0, 0)
    with pytest.raises(fullnet.InputError, match=name):
        fullnet.descent_path(net, fullnet.two_point(4, ANGLE, 3), 0.1, times)
    path = fullnet.descent_path(net, fullnet.two_point(4, ANGLE, 3), 0.1, (1.0,))
    with pytest.raises(fullnet.InputError, match="t: "):
        path.neurons(3.0)

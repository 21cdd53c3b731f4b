"""With either loss the flow agrees with a standard ODE solver on smooth pieces, at any size of forces."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import fullnet

DATA = fullnet.two_point(4, np.pi / 15, 3)


def standard_solution(flow, start, end):
    """Integrate dW/dt = −∂L/∂W by DOP853 between two events."""
    net, loss = flow.network, flow.loss

    def slope(_, flat):
        now = fullnet.given_network(flat.reshape(net.W.shape), net.sign, net.kappa2)
        return -fullnet.gradient(now, flow.data, loss).ravel()

    solution = solve_ivp(
        slope, (start, end), flow.neurons(start).ravel(), method="DOP853", rtol=1e-12, atol=1e-14
    )
    return solution.y[:, -1].reshape(net.W.shape)


@pytest.mark.parametrize("loss", ["exp", "logistic"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_smooth_pieces_against_dop853(loss, seed):
    net = fullnet.initial_network(8, 3, 0.2, 1.0, seed=seed)
    flow = fullnet.gradient_flow(net, DATA, until=50.0, loss=loss)
    edges = [0.0, *(event.t for event in flow.events), 50.0]
    checked = 0
    for left, right in pairwise(edges):
        middle = left + 0.01 * (right - left), right - 0.01 * (right - left)
        sliding = any("0" in pattern for pattern in flow.patterns(middle[0]))
        if right - left > 1e-3 and not sliding:
            expected = standard_solution(flow, *middle)
            np.testing.assert_allclose(flow.neurons(middle[1]), expected, rtol=0, atol=1e-10)
            checked += 1
    assert checked >= 1


def test_logistic_is_exponential_once_the_margins_are_large():
    """With margins above 40, log(1 + e^{−z}) is e^{−z} to rounding."""
    W = 60 * np.array([[1.0, 0.05, 0.3], [-1.0, 0.05, 0.1]])
    data = fullnet.data_set([[1, 0.1, 0], [-1, 0.1, 0]], [1, -1])
    net = fullnet.given_network(W, [1, -1], 1.5)
    assert np.min(data.y * fullnet.predictions(net, data)) > 40
    flows = [fullnet.gradient_flow(net, data, until=1e25, loss=loss) for loss in ("exp", "logistic")]
    times = np.geomspace(1e15, 1e25, 7)
    np.testing.assert_allclose(flows[0].at(times), flows[1].at(times), rtol=1e-12)
    np.testing.assert_allclose(flows[0].log_loss(times), flows[1].log_loss(times), rtol=1e-12)


def test_all_phases_in_the_right_order_with_logistic_loss():
    net = fullnet.initial_network(100, 3, 0.01, 1.0, seed=0)
    phases = fullnet.phase_times(
        fullnet.gradient_flow(net, DATA, until=1e8, loss="logistic", estimate_error=True)
    )
    names = ["last_phase_one_event", "T_r_equals_c", "T_plat", "T_II", "T_III_PT", "T_III"]
    times = [phases.times[name] for name in names]
    assert times == sorted(times)
    for name in names:
        assert phases.errors[name] <= 1e-10 * phases.times[name]


@pytest.mark.parametrize("loss", ["exp", "logistic"])
def test_nothing_over_or_underflows(loss):
    net = fullnet.initial_network(10, 3, 40.0, 1.0, seed=3)
    flow = fullnet.gradient_flow(net, DATA, until=1e200, loss=loss)
    assert flow.outcome is fullnet.Outcome.FINISHED
    values = flow.log_loss(np.geomspace(1e-300, 1e200, 50))
    assert np.all(np.isfinite(values))
    assert np.all(np.diff(values) <= 1e-9)

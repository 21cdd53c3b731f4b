"""A sample holds what the dense output and the weights say, at times even in log t."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fullnet


@settings(derandomize=True, deadline=None, max_examples=12)
@given(seed=st.integers(0, 10**6), loss=st.sampled_from(["exp", "logistic"]))
def test_quantities(seed, loss):
    rng = np.random.default_rng([seed, 1])
    data = fullnet.data_set(rng.standard_normal((4, 3)), rng.choice([-1.0, 1.0], 4), rng.uniform(0.2, 1, 4))
    net = fullnet.initial_network(10, 3, 0.3, 1.0, seed)
    flow = fullnet.gradient_flow(net, data, until=30.0, loss=loss, ridge="active")
    found = fullnet.sample(flow, 12)
    for i, t in enumerate(found.t):
        now = fullnet.given_network(flow.neurons(t), net.sign, net.kappa2)
        np.testing.assert_allclose(found.prediction[i], fullnet.predictions(now, data), atol=1e-12)
        assert found.log_loss[i] == pytest.approx(fullnet.log_loss(now, data, loss), rel=1e-10, abs=1e-12)
        assert found.norm[i] == pytest.approx(np.linalg.norm(now.W), rel=1e-14)
        patterns = flow.patterns(t)
        for (sign, name), count in zip(found.classes, found.counts[i], strict=True):
            members = [k for k, one in enumerate(patterns) if one == name and net.sign[k] == sign]
            assert count == len(members)
        assert found.living_patterns[i] == len({one for one in patterns if set(one) != {"-"}})
        if any("0" in one for one in patterns):
            continue
        # A neuron that died lies on its last kink to rounding, so patterns decide and not the weights.
        slope = np.array([[mark == "+" for mark in one] for one in patterns], dtype=float)
        pull = np.exp(flow.log_forces(t)) * data.y
        gradient = -now.second_layer[:, None] * ((slope * pull) @ data.X)
        size = np.linalg.norm(gradient)
        if size > 0:
            assert found.log_gradient[i] == pytest.approx(np.log(size), rel=1e-9, abs=1e-9)
            cosine = -np.sum(gradient * now.W) / (size * found.norm[i])
            assert np.cos(found.angle[i]) == pytest.approx(cosine, abs=1e-9)


def test_times_are_even_in_log_time():
    data, net = fullnet.two_point(4, np.pi / 15, 20), fullnet.initial_network(50, 20, 0.1, 1.0, 0)
    flow = fullnet.gradient_flow(net, data, until=1e12)
    found = fullnet.sample(flow, 50)
    assert (len(found.t), found.t[0], found.t[-1]) == (50, 0.0, 1e12)
    steps = np.diff(np.log(found.t[1:]))
    np.testing.assert_allclose(steps, steps[0], rtol=1e-9)
    assert found.angle[-1] < found.angle[1]
    assert found.clusters[-1] == 2
    assert np.all(np.diff(found.log_loss) < 0)


def test_deaths_and_their_causes():
    data, net = fullnet.two_point(4, np.pi / 15, 20), fullnet.initial_network(100, 20, 0.1, 1.0, 0)
    flow = fullnet.gradient_flow(net, data, until=1e4)
    assert sorted(death.neuron for death in flow.deaths) == np.flatnonzero(~flow.living).tolist()
    for death in flow.deaths:
        if death.cause == "start":
            assert np.all(data.X @ net.W[death.neuron] < 0)
        else:
            (point,) = death.points
            place = flow.neurons(death.t)[death.neuron] @ data.X.T
            assert abs(place[point]) < 1e-13


def test_nothing_overflows():
    data, net = fullnet.two_point(4, np.pi / 15, 20), fullnet.initial_network(50, 20, 0.1, 1.0, 0)
    flow = fullnet.gradient_flow(net, data, until=1e300)
    found = fullnet.sample(flow, 20)
    assert found.log_loss[-1] == pytest.approx(-np.log(1e300), abs=10)
    assert np.all(np.isfinite(found.log_gradient))
    assert np.all(np.isfinite(found.prediction))

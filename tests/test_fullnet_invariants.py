"""Any flow obeys its laws: energy, norm, dead neurons, orthogonal components, events on kinks."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fullnet

many = settings(derandomize=True, deadline=None, max_examples=25)


@st.composite
def problems(draw):
    """A random data set of 1 to 4 points in 2 to 4 dimensions, up to 8 neurons, a loss, and a choice on ridges.

    The choice is needed where a neuron slides into the origin of the data.
    """
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    points, dim, m = draw(st.integers(1, 4)), draw(st.integers(2, 4)), draw(st.integers(1, 8))
    X = rng.standard_normal((points, dim))
    data = fullnet.data_set(X, rng.choice([-1.0, 1.0], points), rng.uniform(0.2, 1, points))
    net = fullnet.initial_network(
        m, dim, draw(st.sampled_from([0.01, 0.3, 2.0])), 1.0, draw(st.integers(0, 99))
    )
    loss, ridge = st.sampled_from(["exp", "logistic"]), st.sampled_from(["active", "inactive", "slide"])
    return net, data, {"loss": draw(loss), "ridge": draw(ridge)}


def smooth_times(flow, count=5):
    """Times well inside pieces, where a short central difference stays clear of events."""
    edges = np.unique([0.0, *(event.t for event in flow.events), flow.end])
    wide = [(left, right) for left, right in pairwise(edges) if right - left > 0.02]
    return [(left + right) / 2 for left, right in wide][:count]


def speed(flow, t, step=1e-3):
    """dW/dt by a fourth-order central difference of the dense output."""
    W = [flow.neurons(t + k * step) for k in (-2, -1, 1, 2)]
    return (W[0] - 8 * W[1] + 8 * W[2] - W[3]) / (12 * step)


@many
@given(problems())
def test_energy_and_norm(problem):
    """dL/dt = −‖dW/dt‖² and d‖W‖²/dt = 2 Σ Uⱼ yⱼ fⱼ."""
    net, data, options = problem
    flow = fullnet.gradient_flow(net, data, until=10.0, **options)
    h = 1e-3
    for t in smooth_times(flow):
        L = np.exp(flow.log_loss([t - 2 * h, t - h, t + h, t + 2 * h]))
        slope = (L[0] - 8 * L[1] + 8 * L[2] - L[3]) / (12 * h)
        velocity = speed(flow, t)
        assert slope == pytest.approx(-np.sum(velocity**2), rel=1e-5, abs=1e-9)
        growth = 2 * np.sum(flow.neurons(t) * velocity)
        assert growth == pytest.approx(
            2 * np.exp(flow.log_forces(t)) @ (data.y * flow.at(t)), rel=1e-5, abs=1e-9
        )


@many
@given(problems())
def test_weights_give_the_predictions(problem):
    net, data, options = problem
    flow = fullnet.gradient_flow(net, data, until=100.0, **options)
    for t in (0.0, 1e-3, 0.7, 30.0, flow.end):
        now = fullnet.given_network(flow.neurons(t), net.sign, net.kappa2)
        np.testing.assert_allclose(flow.at(t), fullnet.predictions(now, data), rtol=0, atol=1e-12)


@many
@given(problems())
def test_events_lie_on_their_kinks(problem):
    net, data, options = problem
    flow = fullnet.gradient_flow(net, data, until=100.0, **options)
    times = [event.t for event in flow.events]
    assert times == sorted(times)
    for event in flow.events:
        place = flow.neurons(event.t)[event.neuron] @ data.X.T / net.scale
        for j, (old, new) in enumerate(zip(event.before, event.after, strict=True)):
            if old != new:
                assert abs(place[j]) <= 1e-12 * max(1.0, np.max(np.abs(place)))


@many
@given(problems())
def test_patterns_match_the_weights(problem):
    net, data, options = problem
    flow = fullnet.gradient_flow(net, data, until=100.0, **options)
    for t in (0.0, *smooth_times(flow), flow.end):
        places = flow.neurons(t) @ data.X.T / net.scale
        for place, pattern in zip(places, flow.patterns(t), strict=True):
            for z, mark in zip(place, pattern, strict=True):
                if abs(z) > 1e-9:
                    assert mark == ("+" if z > 0 else "-")


@many
@given(problems())
def test_dead_neurons_are_bit_identical_for_ever(problem):
    net, data, options = problem
    flow = fullnet.gradient_flow(net, data, until=100.0, **options)
    deaths = {event.neuron: event.t for event in flow.events if event.kind == "die"}
    for neuron, t in deaths.items():
        np.testing.assert_array_equal(flow.neurons(t)[neuron], flow.neurons(flow.end)[neuron])
    for neuron in np.flatnonzero(~flow.living):
        if neuron not in deaths:
            np.testing.assert_array_equal(net.W[neuron], flow.neurons(flow.end)[neuron])


def test_components_orthogonal_to_the_data_are_bit_identical():
    data = fullnet.two_point(4, np.pi / 15, 20)
    net = fullnet.initial_network(30, 20, 0.1, 1.0, seed=2)
    flow = fullnet.gradient_flow(net, data, until=1e6)
    for t in (0.3, 1e3, 1e6):
        np.testing.assert_array_equal(flow.neurons(t)[:, 2:], net.W[:, 2:])


def test_identical_neurons_stay_identical():
    data = fullnet.two_point(4, np.pi / 15, 3)
    single = fullnet.initial_network(10, 3, 0.1, 1.0, seed=3)
    net = fullnet.given_network(np.repeat(single.W, 3, axis=0) / 3**0.5, np.repeat(single.sign, 3), 1.0)
    flow, alone = (fullnet.gradient_flow(one, data, until=1e4) for one in (net, single))
    W = flow.neurons(1e4).reshape(10, 3, 3)
    np.testing.assert_allclose(W - W[:, :1], 0, atol=1e-14)
    np.testing.assert_allclose(flow.at([1.0, 1e2, 1e4]), alone.at([1.0, 1e2, 1e4]), rtol=1e-12)
    assert len(flow.events) == 3 * len(alone.events)
    for k in range(0, len(flow.events), 3):
        assert len({event.t for event in flow.events[k : k + 3]}) == 1


def test_multiplying_the_network_by_copies_of_the_data_changes_nothing():
    """Duplicate points with shared weight, in any order, are the same data set."""
    single = fullnet.data_set([[1, 0], [0.6, 0.8], [-0.8, 0.6]], [1, -1, 1], [2, 1, 1])
    double = fullnet.data_set(
        [[0.6, 0.8], [1, 0], [-0.8, 0.6], [1, 0], [0.6, 0.8]], [-1, 1, 1, 1, -1], [0.25, 1.5, 1, 0.5, 0.75]
    )
    net = fullnet.initial_network(12, 2, 0.3, 1.0, seed=5)
    one, other = (fullnet.gradient_flow(net, data, until=1e3) for data in (single, double))
    np.testing.assert_allclose(one.at(1e3), other.at(1e3)[[1, 0, 2]], rtol=1e-11)
    assert len(one.events) == len(other.events)

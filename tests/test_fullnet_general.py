"""On general data the flow is what descent with a tiny step does: plateaus, sliding, shared kinks."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fullnet

DATA = Path(__file__).parent / "data"


@settings(derandomize=True, deadline=None, max_examples=5)
@given(seed=st.integers(0, 10**6), loss=st.sampled_from(["exp", "logistic"]))
def test_three_random_points_against_small_steps(seed, loss):
    rng = np.random.default_rng([seed, 1])
    data = fullnet.data_set(rng.standard_normal((3, 3)), rng.choice([-1.0, 1.0], 3))
    net = fullnet.initial_network(6, 3, 0.5, 1.0, seed=seed)
    flow = fullnet.gradient_flow(net, data, until=2.0, loss=loss, ridge="active")
    run = fullnet.gradient_descent(net, data, 2e-4, 10_000, loss=loss, stop_early=False)
    np.testing.assert_allclose(run.predictions, flow.at(2.0), rtol=0, atol=1e-3)


def test_noisy_reference():
    """Every plateau of the 15-point data ends where small-step descent says, and the same neurons live."""
    stored = np.load(DATA / "noisy_public.npz")
    reference = json.loads((DATA / "noisy_public.json").read_text())[-1]
    X = np.zeros((15, stored["W"].shape[1]))
    X[:, 0], X[:, 1] = np.sin(stored["angles"]), -np.cos(stored["angles"])
    data = fullnet.data_set(X, stored["labels"])
    flow = fullnet.gradient_flow(fullnet.given_network(stored["W"], stored["sign"], 1.0), data, until=2000.0)
    assert [round(15 * level) for _, level in flow.accuracy_changes] == [12, 13, 14, 15]
    for (t, _), (expected, _) in zip(
        flow.accuracy_changes[1:], reference["points_right_after"][1:], strict=True
    ):
        assert t == pytest.approx(expected, rel=2e-5)
    living = [int(np.sum(flow.living & (stored["sign"] == sign))) for sign in (1, -1)]
    assert living == reference["alive_positive_negative"]


def test_one_point_in_closed_form():
    """N = 1 with active positive neurons: f′ = A e^{−f}, so e^{f} = e^{f₀} + A t."""
    data = fullnet.data_set([[2.0, 0.0]], [1.0])
    net = fullnet.given_network([[0.1, 5.0], [-0.2, 1.0], [0.3, 0.0]], [1, 1, 1], 0.5)
    flow = fullnet.gradient_flow(net, data, until=1e8)
    A = 2 * 0.5**2 / 3 * 4
    t = np.array([0.0, 1.0, 1e3, 1e8])
    f = np.log(np.exp(fullnet.predictions(net, data)[0]) + A * t)
    np.testing.assert_allclose(flow.at(t)[:, 0], f, rtol=1e-13)
    assert flow.events == ()


def test_sliding_on_two_kinks_at_once():
    """One positive neuron and two negative points: it ends on both kinks and moves along their line."""
    X = np.array([[0.0, 0.0, 1.0], [0.8, 0.0, 0.6], [0.0, 0.8, 0.6]])
    data = fullnet.data_set(X, [1, -1, -1], [0.2, 0.4, 0.4])
    net = fullnet.given_network([[0.2, 0.1, 0.3]], [1], 1.0)
    flow = fullnet.gradient_flow(net, data, until=1e4)
    assert flow.patterns(flow.end) == ["+00"]
    np.testing.assert_allclose(X[1:] @ flow.neurons(flow.end)[0], 0, atol=1e-12)
    run = fullnet.gradient_descent(net, data, 1e-3, 20_000, stop_early=False)
    np.testing.assert_allclose(run.predictions, flow.at(20.0), atol=2e-3)
    direction = np.cross(X[1], X[2])
    moved = flow.neurons(1e4)[0] - flow.neurons(1e3)[0]
    np.testing.assert_allclose(np.cross(moved, direction), 0, atol=1e-12)


def test_opposite_points_share_a_kink():
    data = fullnet.data_set([[1.0, 0.0], [-2.0, 0.0], [0.6, 0.8]], [1, -1, 1])
    net = fullnet.initial_network(8, 2, 0.5, 1.0, seed=1)
    flow = fullnet.gradient_flow(net, data, until=3.0)
    run = fullnet.gradient_descent(net, data, 1e-4, 30_000, stop_early=False)
    np.testing.assert_allclose(run.predictions, flow.at(3.0), atol=1e-3)
    for pattern in flow.patterns(3.0):
        assert {pattern[0], pattern[1]} in ({"+", "-"}, {"0"})


def test_many_points_take_the_array_path():
    """More than six points: the same flow as when the extra points are too light to matter."""
    rng = np.random.default_rng(0)
    few = fullnet.data_set(rng.standard_normal((3, 3)), [1, -1, 1])
    light = rng.standard_normal((6, 3))
    X, y = np.vstack([few.X, light]), [1, -1, 1, 1, 1, -1, -1, 1, -1]
    many = fullnet.data_set(X, y, [*few.weights, *([1e-17] * 6)])
    net = fullnet.initial_network(6, 3, 0.5, 1.0, seed=4)
    for loss in ("exp", "logistic"):
        one, other = (fullnet.gradient_flow(net, data, until=5.0, loss=loss) for data in (few, many))
        np.testing.assert_allclose(one.at(5.0), other.at(5.0)[:3], rtol=1e-11)

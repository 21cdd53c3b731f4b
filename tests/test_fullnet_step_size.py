"""Descent approaches the flow like its step; a large step kills neurons that the flow keeps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fullnet


@settings(derandomize=True, deadline=None, max_examples=8)
@given(seed=st.integers(0, 10**6), loss=st.sampled_from(["exp", "logistic"]))
def test_error_is_at_most_proportional_to_the_step(seed, loss):
    rng = np.random.default_rng([seed, 1])
    data = fullnet.data_set(rng.standard_normal((3, 2)), rng.choice([-1.0, 1.0], 3))
    net = fullnet.initial_network(6, 2, 0.5, 1.0, seed)
    flow = fullnet.gradient_flow(net, data, until=2.0, loss=loss, ridge="active")
    rates = (4e-3, 2e-3, 1e-3)
    for row in fullnet.step_sizes(flow, rates, 2000, engine="numpy"):
        if not len(row.lost) and not len(row.gained):
            assert row.gap <= 8 * row.run.lr


def test_table_over_learning_rates():
    data = fullnet.two_point(4, np.pi / 15, 20)
    flow = fullnet.gradient_flow(fullnet.initial_network(40, 20, 0.1, 1.0, 0), data, until=1000.0)
    large, small = fullnet.step_sizes(flow, [0.2, 0.01], 100_000)
    assert (large.run.lr, small.run.lr) == (0.2, 0.01)
    assert large.run.steps * large.run.lr <= flow.end * (1 + 1e-12)
    assert len(large.lost) > 0
    assert len(large.lost) >= len(small.lost)
    dead = np.flatnonzero(~large.run.living)
    assert set(large.lost) <= set(dead.tolist())
    assert abs(small.time_errors[1]) < 2 * small.run.lr
    assert small.run.flips > 0


@pytest.mark.parametrize("subgradient", [0, 0.5, 1])
def test_subgradient_conventions_run(subgradient):
    data = fullnet.two_point(4, np.pi / 15, 3)
    net = fullnet.given_network([[0.0, -0.1, 0.0], [0.0, 0.1, 0.3]], [1, -1], 1.0)
    flow = fullnet.gradient_flow(net, data, until=1.0, ridge="active")
    (row,) = fullnet.step_sizes(flow, [1e-3], 500, subgradient, "numpy")
    assert row.run.steps == 500

"""Presets are what they are called: noisy points as in §A.3, orthogonally separable points."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fullnet


@settings(derandomize=True, deadline=None, max_examples=30)
@given(p=st.integers(1, 6), dim=st.integers(2, 5), seed=st.integers(0, 10**6))
def test_noisy_points(p, dim, seed):
    data = fullnet.noisy(p, dim, seed)
    assert data.y.tolist() == [1.0] * (3 * p) + [-1.0] * 3
    angle = np.arctan2(data.X[:, 0], -data.X[:, 1])
    np.testing.assert_array_equal(np.sign(angle), data.y)
    assert np.all((np.abs(angle) > np.pi / 60) & (np.abs(angle) <= np.pi / 30 * (1 + 1e-15)))
    np.testing.assert_allclose(angle[[0, 3 * p]], [np.pi / 30, -np.pi / 30], rtol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(data.X, axis=1), 1, rtol=1e-15)
    np.testing.assert_array_equal(data.X[:, 2:], 0)
    np.testing.assert_array_equal(data.X, fullnet.noisy(p, dim, seed).X)


@settings(derandomize=True, deadline=None, max_examples=30)
@given(points=st.integers(2, 12), dim=st.integers(2, 6), seed=st.integers(0, 10**6))
def test_orthogonally_separable_points(points, dim, seed):
    data = fullnet.orthogonal(points, dim, seed)
    gram = data.X @ data.X.T
    same = np.equal.outer(data.y, data.y)
    assert np.all(gram[same] > 0)
    assert np.all(gram[~same] <= 0)
    assert set(data.y) == {1.0, -1.0}


def test_different_seeds_differ():
    assert np.any(fullnet.noisy(seed=1).X != fullnet.noisy(seed=2).X)
    assert np.any(fullnet.orthogonal(seed=1).X != fullnet.orthogonal(seed=2).X)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: fullnet.noisy(p=2.5), "p: expected an integer of at least 1"),
        (lambda: fullnet.noisy(p=0), "p: expected a positive number"),
        (lambda: fullnet.noisy(dim=1), "dim: expected an integer of at least 2"),
        (lambda: fullnet.orthogonal(points=1), "points: expected an integer of at least 2"),
    ],
)
def test_bad_input(call, text):
    with pytest.raises(fullnet.InputError, match=text):
        call()


@pytest.mark.parametrize("seed", range(20))
def test_orthogonal_data_is_learned_in_phase_one(seed):
    """All right before T_I = 10 √(κ₁/κ₂), and no pattern changes after it."""
    data = fullnet.orthogonal(seed=seed)
    net = fullnet.initial_network(60, 4, 0.1, 1.0, seed)
    flow = fullnet.gradient_flow(net, data, until=1e8)
    T_I = 10 * np.sqrt(0.1)
    assert flow.accuracy_changes[-1][1] == 1
    assert flow.accuracy_changes[-1][0] < T_I
    assert flow.events[-1].t < T_I

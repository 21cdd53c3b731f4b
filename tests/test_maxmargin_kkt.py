"""Claim: for any network and data, ``kkt`` finds the smallest residual over multipliers and subgradients.

The independent method lists every extreme choice of subgradients (0 or 1 on each kink); the reachable
gradients of a margin are the cone over their convex hull, so a plain non-negative least squares over all of
them is the answer.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from reduced.errors import InputError
from reduced.maxmargin import data_points, kkt


def by_listing(W, signs, X, y, kappa2):
    """The smallest residual by listing all extreme subgradients."""
    theta = W / np.linalg.norm(W)
    outer = signs * kappa2 / np.sqrt(len(signs))
    inner = theta @ X.T
    columns = []
    for i in range(len(X)):
        kinked = np.flatnonzero(np.abs(inner[:, i]) < 1e-13)
        for choice in product((0.0, 1.0), repeat=len(kinked)):
            ξ = (inner[:, i] > 1e-13).astype(float)
            ξ[kinked] = choice
            columns.append(y[i] * np.outer(outer * ξ, X[i]).ravel())
    return np.sqrt(
        2 * lsq_linear(np.array(columns).T, theta.ravel(), (0, np.inf), method="bvls", tol=1e-15).cost
    )


def random_case(seed, points):
    """A network with random weights, several of them laid on kinks, one at zero."""
    rng = np.random.default_rng(seed)
    m, d = 5, 4
    X = rng.standard_normal((points, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(np.arange(points) % 2, -1, 1)
    W, signs = rng.standard_normal((m, d)), rng.choice([-1, 1], m)
    for k in range(3):
        chosen = rng.choice(points, size=min(points, 1 + k % 2), replace=False)
        basis = np.linalg.qr(X[chosen].T)[0]
        W[k] -= basis @ (basis.T @ W[k])
    W[4] = 0
    return W, signs, X, y


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from([1, 2, 3, 5]), st.floats(0.01, 100))
def test_residual_is_the_smallest(seed, points, kappa2):
    W, signs, X, y = random_case(seed, points)
    found = kkt(W, signs, X, y, kappa2)
    assert found.residual == pytest.approx(by_listing(W, signs, X, y, kappa2), abs=1e-10)
    assert found.slope <= 1e-9 * kappa2
    rebuilt = np.einsum(
        "i,i,k,ki,id->kd", found.multipliers, y, signs * kappa2 / np.sqrt(5), found.subgradients, X
    )
    assert np.linalg.norm(W / np.linalg.norm(W) - rebuilt) == pytest.approx(found.residual, abs=1e-12)
    assert np.all(found.multipliers >= 0)
    assert np.all((found.subgradients >= 0) & (found.subgradients <= 1 + 1e-12))
    f = np.maximum(W @ X.T, 0).T @ (signs * kappa2 / np.sqrt(5)) / np.linalg.norm(W)
    assert found.margins == pytest.approx(y * f, abs=1e-12)
    assert found.feasible == (min(y * f) > 0)


def test_forty_sliding_neurons():
    # 40 positive neurons slide on x₋, none equal; ten of them are off on x₊, where the box [0, λ] binds
    rng = np.random.default_rng(3)
    X, y, m = data_points(0.5, 6), np.array([1, -1]), 60
    W = rng.standard_normal((m, 6)) * 0.3 + 2 * X[0]
    W[30:40] -= 4 * X[0]
    W[:40] -= np.outer(W[:40] @ X[1], X[1])
    W[40:] = 3 * X[1] + rng.standard_normal((20, 6))
    signs = np.where(np.arange(m) < 40, 1, -1)
    found = kkt(W, signs, X, y)
    assert found.kinked[:40, 1].all()
    assert found.subgradients[:30, 1] == pytest.approx(np.cos(0.5) * np.divide(*found.multipliers))
    assert found.subgradients[30:40, 1] == pytest.approx(0)
    assert found.slope <= 1e-12

    def residual(lam):
        theta, a = W / np.linalg.norm(W), signs / np.sqrt(m)
        rest = theta - lam[0] * np.outer(a * (theta @ X[0] > 1e-13), X[0])
        q = -a[:, None] * X[1]
        mu = np.clip(np.sum(rest * q, axis=1) / np.sum(q * q, axis=1), 0, lam[1])
        mu = np.where(np.arange(m) < 40, mu, lam[1] * (theta @ X[1] > 0))
        return np.linalg.norm(rest - mu[:, None] * q)

    assert residual(found.multipliers) == pytest.approx(found.residual, abs=1e-13)
    for step in ([1e-4, 0], [-1e-4, 0], [0, 1e-4], [0, -1e-4], [1e-4, 1e-4], [-1e-4, -1e-4]):
        assert residual(found.multipliers + step) > found.residual


def test_duplicated_points_change_nothing():
    W, signs, X, y = random_case(11, 3)
    once = kkt(W, signs, X, y)
    twice = kkt(W, signs, np.vstack([X, X]), np.r_[y, y])
    assert twice.residual == pytest.approx(once.residual, abs=1e-12)
    assert twice.normalised_margin == once.normalised_margin


def test_scale_of_the_weights_does_not_matter():
    W, signs, X, y = random_case(5, 3)
    small, large = kkt(1e-150 * W, signs, X, y), kkt(1e150 * W, signs, X, y)
    assert small.residual == pytest.approx(large.residual, rel=1e-12)


def test_tolerance_decides_what_is_a_kink():
    X = data_points(0.5, 3)
    c = np.cos(0.5)
    W = np.vstack([X[0] - c * X[1] - 1e-7 * X[1], X[1] - c * X[0]])
    off, on = (kkt(W, [1, -1], X, [1, -1], kink_tolerance=tolerance) for tolerance in (1e-12, 1e-5))
    assert not off.kinked[0, 1]
    assert on.kinked[0, 1]
    assert on.residual < 1e-6 < off.residual


def test_infeasible_direction_has_no_complementarity():
    found = kkt(np.eye(2), [1, 1], data_points(0.5, 2), [1, -1])
    assert not found.feasible
    assert found.complementarity is None


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"W": np.zeros((2, 3))}, "W"),
        ({"W": np.full((2, 3), np.nan)}, "W"),
        ({"W": np.ones(3)}, "W"),
        ({"W": [["a"]]}, "W"),
        ({"signs": [1, 0]}, "sign"),
        ({"signs": [1]}, "sign"),
        ({"X": np.ones((2, 4))}, "X"),
        ({"X": np.zeros((2, 3))}, "X"),
        ({"y": [1, 2]}, "y"),
        ({"kappa2": 0}, "kappa2"),
        ({"kink_tolerance": float("nan")}, "kink_tolerance"),
    ],
)
def test_bad_input_is_named(change, name):
    given_ = {"W": np.ones((2, 3)), "signs": [1, -1], "X": data_points(0.5, 3), "y": [1, -1], "kappa2": 1}
    with pytest.raises(InputError) as caught:
        kkt(**(given_ | change))
    assert caught.value.name == name

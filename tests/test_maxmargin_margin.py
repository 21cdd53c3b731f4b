"""Claim: over all m neurons the largest margin is that of the limit formulas with β± in place of α±.

The independent method is a smooth convex program with every neuron and every kink its own variable, solved
by SLSQP, and projected ascent of the margin itself from random starts, which never gets above it.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from reduced.errors import InputError
from reduced.maxmargin import convex_optimum, data_points, max_margin
from reduced.maxmargin.cone import farkas_residual, least_distance


def full_program(positive, negative, delta, kappa2):
    """γ of min ½‖θ‖² s.t. margins ≥ 1, each neuron with its h_k ≥ max(0, ⟨b_k, other point⟩)."""
    m = positive + negative
    X = data_points(delta, 2)
    a = kappa2 / np.sqrt(m)
    own, other = (np.r_[np.zeros(positive, int), np.ones(negative, int)] ^ flip for flip in (0, 1))

    def split(z):
        return z[: 2 * m].reshape(m, 2), z[2 * m :]

    def margins(z):
        b, h = split(z)
        up = a * np.sum(b * X[own], axis=1)
        return [up[own == 0].sum() - a * h[own == 1].sum(), up[own == 1].sum() - a * h[own == 0].sum()]

    def slack(z):
        b, h = split(z)
        return np.r_[np.subtract(margins(z), 1), h, h - np.sum(b * X[other], axis=1)]

    jacobian = np.array([slack(e) - slack(np.zeros(3 * m)) for e in np.eye(3 * m)]).T
    start = np.r_[np.concatenate([X[i] - np.cos(delta) * X[1 - i] for i in own]), np.zeros(m)]
    start *= 2 / np.min(margins(start))
    # the unknowns are scaled so that SLSQP sees numbers of order one
    solved = minimize(
        lambda z: 0.5 * np.sum(z[: 2 * m] ** 2) / np.sum(start**2),
        start,
        jac=lambda z: np.r_[z[: 2 * m], np.zeros(m)] / np.sum(start**2),
        constraints={"type": "ineq", "fun": slack, "jac": lambda z: jacobian},
        method="SLSQP",
        options={"ftol": 1e-16, "maxiter": 500},
    )
    assert np.min(slack(solved.x)) > -1e-11
    return 1 / np.linalg.norm(solved.x[: 2 * m])


CASES = [(2, 2), (3, 3), (4, 1), (3, 2), (1, 3), (2, 4), (5, 1)]


@pytest.mark.parametrize(("positive", "negative"), CASES)
@pytest.mark.parametrize("delta", [0.3, 1.2])
def test_maximum_equals_the_program_over_all_neurons(positive, negative, delta):
    m = positive + negative
    solved = float(max_margin(f"{positive}/{m}", f"{negative}/{m}", delta, "0.8").gamma)
    assert full_program(positive, negative, delta, 0.8) == pytest.approx(solved, rel=1e-8)
    assert convex_optimum(positive / m, negative / m, delta, 0.8).gamma == pytest.approx(solved, rel=1e-12)


def test_half_and_half():
    assert float(max_margin("1/2", "1/2", 0.3, 3).gamma) == pytest.approx(1.5 * np.sin(0.3), rel=1e-15)
    assert full_program(2, 2, 0.3, 3) == pytest.approx(1.5 * np.sin(0.3), rel=1e-8)


@pytest.mark.parametrize(("positive", "negative"), [(2, 2), (4, 1), (1, 3)])
def test_ascent_from_random_starts_never_gets_above(positive, negative):
    rng = np.random.default_rng(1)
    m, delta = positive + negative, 0.7
    X, y = data_points(delta, 3), np.array([1, -1])
    outer = np.where(np.arange(m) < positive, 1, -1) / np.sqrt(m)
    best = float(max_margin(f"{positive}/{m}", f"{negative}/{m}", delta).gamma)
    reached = []
    for _ in range(8):
        W = rng.standard_normal((m, 3))
        for step in range(2000):
            W /= np.linalg.norm(W)
            inner = W @ X.T
            worst = np.argmin(y * (outer @ np.maximum(inner, 0)))
            gradient = y[worst] * np.outer(outer * (inner[:, worst] > 0), X[worst])
            W += 0.3 / (1 + step / 10) * gradient
            W[:, 2] *= 0.99
        W /= np.linalg.norm(W)
        reached.append(np.min(y * (outer @ np.maximum(W @ X.T, 0))))
    assert max(reached) <= best + 1e-12
    assert max(reached) >= 0.8 * best


@pytest.mark.parametrize(
    ("plus", "minus", "name"), [(0, 1, "alpha_plus"), (1, 0, "alpha_minus"), (1, -1, "alpha_minus")]
)
def test_one_sign_has_no_positive_margin(plus, minus, name):
    with pytest.raises(InputError, match="both signs") as caught:
        max_margin(plus, minus, 0.3)
    assert caught.value.name == name
    with pytest.raises(InputError, match="both signs"):
        convex_optimum(plus, minus, 0.3)


def test_shortest_point_and_best_slope_of_known_half_spaces():
    rows = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 3.0]])
    assert least_distance(rows) == pytest.approx([1, 0.5])
    size = np.linalg.norm(farkas_residual(rows))
    assert size / np.sqrt(1 - size**2) == pytest.approx(1 / np.hypot(1, 0.5))
    opposite = np.array([[1.0, 0.0], [-1.0, 0.0]])
    assert np.linalg.norm(farkas_residual(opposite)) < 1e-15
    with pytest.raises(InputError, match="rows"):
        least_distance(opposite)

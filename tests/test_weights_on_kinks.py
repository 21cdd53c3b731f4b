"""Weights exactly on a kink: numerical and exact flow see them there, and no digit is claimed that is wrong.

Points and weights are binary fractions, so that scalar products are exactly 0 whatever the rounding of norms.
"""

from collections import Counter

import numpy as np
import pytest

import fullnet
from reduced.solve.general import network_flow_general


def on_kinks(seed):
    """Up to 3 points in the plane, 8 neurons, the first four perpendicular to one of the points."""
    rng = np.random.default_rng(seed)
    X = rng.integers(1, 9, (int(rng.integers(2, 4)), 2)) * rng.choice([-1, 1], (1, 2)) / 8
    W = rng.standard_normal((8, 2)) * 0.1
    for k in range(4):
        x, y = X[rng.integers(len(X))]
        W[k] = np.array([-y, x]) * rng.choice([-1, 1]) * rng.integers(1, 16) / 64
    return (
        X,
        rng.choice([-1, 1], len(X)),
        W,
        rng.choice([-1, 1], 8),
        str(rng.choice(["active", "inactive", "slide"])),
    )


def by_order(events):
    """Times by neuron, its number of events so far, and the patterns."""
    seen, found = Counter(), {}
    for neuron, before, after, t in events:
        seen[neuron] += 1
        found[neuron, seen[neuron], before, after] = t
    return found


@pytest.mark.parametrize("seed", range(16))
def test_events_are_those_of_the_exact_flow(seed):
    X, y, W, sign, ridge = on_kinks(seed)
    net = fullnet.given_network(W, sign, 1.0)
    full = fullnet.gradient_flow(net, fullnet.data_set(X, y), 50.0, ridge=ridge, estimate_error=True)
    exact = network_flow_general(W, sign, X, y, digits=20, until=50, ridge=ridge)
    mine = by_order((e.neuron, e.before, e.after, e.t) for e in full.events)
    its = by_order((e.neuron, e.before, e.after, float(e.time)) for e in exact.events)
    assert mine.keys() == its.keys()
    for key, t in mine.items():
        assert abs(t - its[key]) <= 10 * full.time_error(t) + 1e-16 * t


def test_a_neuron_within_rounding_of_a_ridge_needs_a_choice():
    """The two points of the paper at angle π/15, a weight along the kink of x₊: rounding must not choose a side."""
    data = fullnet.two_point(4, np.pi / 15, 2)
    along = -np.array([data.X[0, 1], -data.X[0, 0]])
    for scale in (1.0, 0.1, 1 / 3, 1e-30):
        W = [scale * along * np.sign(along @ data.X[1])]
        with pytest.raises(fullnet.NotUnique, match="ridge"):
            fullnet.gradient_flow(fullnet.given_network(W, [1], 1.0), data, 1.0)
        slide = fullnet.gradient_flow(fullnet.given_network(W, [-1], 1.0), data, 1.0)
        assert slide.patterns(0.0) == ["0+"]


def test_the_estimate_knows_of_cancellation_in_the_weights():
    """A first event whose distance is what two rounded products leave is known to few digits only."""
    data = fullnet.two_point(4, np.pi / 15, 2)
    along = np.array([-data.X[0, 1], data.X[0, 0]])
    along *= np.sign(along @ data.X[1])
    beside = 0.1 * along + 1e-10 * data.X[0]
    flow = fullnet.gradient_flow(fullnet.given_network([beside], [-1], 1.0), data, 1.0, estimate_error=True)
    first = flow.events[0]
    assert 1e-8 < flow.time_error(first.t) / first.t < 1e-5

"""Neurons in the origin of the data plane: numerical and exact flow name the choice alike and then agree.

At (u, v) = (0, 0) the velocities near by are 0 and, for a positive neuron, P x₊, −Q x₋ and their sum, so rest
solves the inclusion; leaving does too, along the one direction that the field keeps: into ``++`` for r < c, else
along v = 0 (negative neurons: into ``++`` for r > 1/c, else along u = 0). It can leave at any moment.
"""

from fractions import Fraction
from importlib.util import find_spec

import mpmath
import numpy as np
import pytest

import fullnet
from reduced import network_flow, problem
from reduced.solve.flow import NotUnique, exact_flow
from reduced.solve.general import network_flow_general
from reduced.solve.network import setting as two_points
from reduced.solve.swift import KINDS, PATTERNS, network_flow_double

CTX = mpmath.mp.clone()
CTX.dps = 40
DIM = 4
RESTING = [[0.0, 0.0, 0.25, -0.125], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, -0.5, 0.0]]
# p = 4: r < c, p = 1: c < r < 1/c, p = 1/2: r > 1/c at the start
WAY_OUT = {
    ("4", 1): "++",
    ("1", 1): "+0",
    ("1/2", 1): "+0",
    ("4", -1): "0+",
    ("1", -1): "0+",
    ("1/2", -1): "++",
}


def network(sign):
    """Three resting neurons of a sign among others."""
    others = fullnet.initial_network(12, DIM, 0.05, 1.0, seed=5)
    return np.vstack([RESTING, others.W]), np.append([sign] * 3, others.sign)


def numerical(W, sign, p, ridge):
    data = fullnet.two_point(float(Fraction(p)), np.pi / 15, DIM)
    return fullnet.gradient_flow(fullnet.given_network(W, sign, 1.0), data, 1e4, ridge=ridge)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("p", ["4", "1", "1/2"])
def test_without_a_choice_it_is_named(p, sign):
    W, signs = network(sign)
    with pytest.raises(fullnet.NotUnique, match=r"neuron 0 .*origin"):
        numerical(W, signs, p, None)
    for solve in (network_flow, network_flow_double):
        with pytest.raises(NotUnique, match="origin"):
            solve(W, signs, problem(p=p, assumption=False))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("p", ["4", "1", "1/2"])
@pytest.mark.parametrize("ridge", ["active", "inactive", "slide"])
def test_with_a_choice_all_flows_agree(p, sign, ridge):
    W, signs = network(sign)
    full = numerical(W, signs, p, ridge)
    exact = network_flow(W, signs, problem(p=p, assumption=False), 20, until="1e4", ridge=ridge)
    double = network_flow_double(W, signs, problem(p=p, assumption=False), until="1e4", ridge=ridge)
    start = WAY_OUT[p, sign] if ridge == "active" else "--"
    assert full.patterns(0.0)[:3] == [start] * 3
    assert [exact.flow.stays[k][0].pattern for k in range(3)] == [start] * 3
    events = sorted((event.neuron, event.t, event.kind, event.before, event.after) for event in full.events)
    wanted = sorted((e.neuron, float(e.time), e.kind, e.before, e.after) for e in exact.events)
    assert [(k, *rest) for k, _, *rest in events] == [(k, *rest) for k, _, *rest in wanted]
    np.testing.assert_allclose([t for _, t, *_ in events], [t for _, t, *_ in wanted], rtol=1e-9)
    np.testing.assert_allclose(np.sort(double.events.time), np.sort([t for _, t, *_ in wanted]), rtol=1e-9)
    np.testing.assert_array_equal(np.flatnonzero(~full.living), exact.dead)
    np.testing.assert_array_equal(double.dead, exact.dead)
    if ridge != "active":
        np.testing.assert_array_equal(full.neurons(1e4)[:3], W[:3])


@pytest.mark.parametrize("sign", [1, -1])
def test_leaving_is_the_limit_of_starts_beside_the_origin(sign):
    """From a start close to the origin, on the way out, the flow is that of ridge active."""
    W, signs = network(sign)
    far = numerical(W, signs, "4", "active")
    beside = W.copy()
    beside[:3, :2] = (
        1e-9 * far.neurons(1e-6)[:3, :2] / np.linalg.norm(far.neurons(1e-6)[:3, :2], axis=1)[:, None]
    )
    near = numerical(beside, signs, "4", None)
    np.testing.assert_allclose(near.at([1.0, 100.0, 1e4]), far.at([1.0, 100.0, 1e4]), atol=1e-6)


# In units of 1/5: neuron 0 at (u, v) = (769, 31), three of the other sign at (−60, 300), one at (−140, 100). With
# cos Δ = 7/25 and p = 33/8 the predictions sum to 0 and r = 8/33 is the fixed ratio (1 + c)/(5 + c), so it stays
# and neuron 0 falls along (1 − c r, c − r) = (769, 31)/825: straight into the origin.
FALLING = np.array([[615, -500], [-300, -150], [-300, -150], [-300, -150], [-200, 25]]) * 2.0**-13
SIGNS = np.array([-1, 1, 1, 1, -1])


@pytest.mark.parametrize("ridge", [None, "active", "inactive", "slide"])
@pytest.mark.parametrize("p", ["33/8", "8/33"])
def test_a_neuron_that_falls_into_the_origin_does_the_same_in_all_flows(p, ridge):
    """It rests, or leaves along its only way out; with the data points and signs exchanged too."""
    W, sign = (FALLING, SIGNS) if p == "33/8" else (FALLING * [-1, 1], -SIGNS)
    setting = problem(p=p, delta="acos(7/25)", assumption=False)
    data = fullnet.two_point(float(Fraction(p)), np.arccos(7 / 25), 2)
    full = fullnet.gradient_flow(fullnet.given_network(W, sign, 1.0), data, 1e4, ridge=ridge)
    wanted = [(event.neuron, event.kind, event.before, event.after) for event in full.events]
    slides = "0+" if sign[0] < 0 else "+0"
    assert wanted[0] == ((0, "slide", "++", slides) if ridge == "active" else (0, "die", "++", "--"))
    times = [event.t for event in full.events]
    exact = network_flow(W, sign, setting, 20, until="1e4", ridge=ridge)
    searched = exact_flow(CTX, *two_points(CTX, W, sign, setting), CTX.mpf(10**4), ridge)
    weights = [Fraction(p) / (1 + Fraction(p)), 1 / (1 + Fraction(p))]
    X = [["3/5", "-4/5"], ["-3/5", "-4/5"]]
    general = network_flow_general(W, sign, X, [1, -1], weights, digits=10, until=1e4, ridge=ridge)
    for events in (exact.events, searched.events, general.events):
        assert [(e.neuron, e.kind, e.before, e.after) for e in events] == wanted
        np.testing.assert_allclose([float(e.time) for e in events], times, rtol=1e-12)
    double = network_flow_double(W, sign, setting, until="1e4", ridge=ridge)
    found = double.events
    columns = zip(found.neuron, found.kind, found.before, found.after, strict=True)
    assert [(k, KINDS[kind], PATTERNS[b], PATTERNS[a]) for k, kind, b, a in columns] == wanted
    np.testing.assert_allclose(found.time, times, rtol=1e-12)
    np.testing.assert_array_equal(double.dead, np.flatnonzero(~full.living))
    np.testing.assert_array_equal(exact.dead, double.dead)


def test_sliding_along_a_ridge_into_the_origin_is_death():
    """A positive neuron kept on u = 0 by ridge slide runs into the origin and rests there."""
    X, y, weights = [[1.0, 0.0], [0.75, 0.5]], [1, -1], [0.8, 0.2]
    net = fullnet.given_network([[0.0, 0.1]], [1], 1.0)
    flow = fullnet.gradient_flow(net, fullnet.data_set(X, y, weights), 100.0, ridge="slide")
    assert [(event.before, event.after, event.kind) for event in flow.events] == [("0+", "--", "die")]
    np.testing.assert_allclose(flow.neurons(100.0), 0, atol=1e-15)
    exact = network_flow_general(net.W, [1], X, y, weights, digits=15, until=100, ridge="slide")
    (event,) = exact.events
    assert (event.before, event.after, event.kind) == ("0+", "--", "die")
    assert float(event.time) == pytest.approx(flow.events[0].t, rel=1e-13)


def sliding_in(seed):
    """Points in a plane and a network of which neurons slide along an edge into the origin."""
    draw = np.random.default_rng(9000 + seed)
    count = int(draw.integers(4, 13))
    X = draw.standard_normal((count, 2))
    y = np.where(draw.random(count) < 0.5, 1.0, -1.0)
    return fullnet.initial_network(8, 2, 0.1, 1.0, seed), fullnet.data_set(X, y)


@pytest.mark.parametrize("engine", ["numpy", *(["numba"] if find_spec("numba") else [])])
def test_neurons_that_slide_along_an_edge_into_the_origin_rest(engine):
    net, data = sliding_in(206)
    flow = fullnet.gradient_flow(net, data, until=50.0, engine=engine, estimate_error=True)
    resting = [death.neuron for death in flow.deaths if death.cause == "origin"]
    assert {4, 7} <= set(resting)
    last = flow.neurons(flow.end)
    assert np.all(np.linalg.norm(last[resting], axis=1) <= 1e-12 * np.linalg.norm(net.W[resting], axis=1))
    # the resting solution, integrated step by step in a different way (DOP853 between events)
    np.testing.assert_allclose(flow.at(50.0)[:4], [0.353, 0.872, 2.823, 0.0], atol=6e-4)
    assert flow.prediction_error(flow.end) < 1e-11

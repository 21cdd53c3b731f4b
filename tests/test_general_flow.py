"""The general flow is the two-point flow on two points, and the network's numerical flow on any others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fullnet
import reduced
from reduced.errors import InputError
from reduced.numbers import cos, exact, sin
from reduced.records import Outcome
from reduced.solve.flow import NotUnique
from reduced.solve.general import network_flow_general
from reduced.solve.network import network_flow
from reduced.solve.outline import Fall, Outline

DATA = Path(__file__).parent / "data"


def two_exact_points(dim):
    half = exact("pi/15") / 2
    return [[side * sin(half), -cos(half), *[0] * (dim - 2)] for side in (1, -1)]


def moments(events):
    """Events by neuron and order: ties may come in any order."""
    seen, found = {}, {}
    for event in events:
        seen[event.neuron] = seen.get(event.neuron, -1) + 1
        found[event.neuron, seen[event.neuron], event.kind, event.before, event.after] = event
    return found


def test_two_points_give_the_exact_flow_to_every_digit():
    stored = np.load(DATA / "network_public1.npz")
    W, sign = stored["W"][30:70], stored["sign"][30:70]
    problem = reduced.problem()
    special = network_flow(W, sign, problem, 40, until=20_000)
    general = network_flow_general(
        W, sign, two_exact_points(W.shape[1]), [1, -1], ["4/5", "1/5"], digits=40, until=20_000
    )
    mine, theirs = moments(general.events), moments(special.events)
    assert mine.keys() == theirs.keys()
    assert len(mine) > 20
    for key, event in mine.items():
        assert abs(event.time - theirs[key].time) <= 1e-40 * event.time
    ends = [t for t, _ in general.accuracy_changes]
    assert min(abs(t - special.times["T_plat"]) for t in ends) <= 1e-40 * ends[-1]


def small_network(seed, loss):
    rng = np.random.default_rng(seed)
    data = fullnet.data_set(rng.standard_normal((4, 3)), [1, -1, 1, -1])
    net = fullnet.initial_network(10, 3, 0.5, 1.5, seed)
    return net, data, fullnet.gradient_flow(net, data, until=300.0, loss=loss, estimate_error=True)


@pytest.mark.parametrize("loss", ["exp", "logistic"])
@pytest.mark.parametrize("seed", range(3))
def test_any_data_agree_with_the_numerical_flow(seed, loss):
    net, data, full = small_network(seed, loss)
    run = network_flow_general(
        net.W, net.sign, data.X, data.y, list(data.weights), kappa2=1.5, loss=loss, digits=18, until=300
    )
    mine, theirs = moments(run.events), moments(full.events)
    assert mine.keys() == theirs.keys()
    for key, event in mine.items():
        assert abs(float(event.time) - theirs[key].t) <= 10 * full.time_error(theirs[key].t)
    for t in (0.1, 3.0, 300.0):
        gap = np.max(np.abs(np.array([float(f) for f in run.flow.at(run.flow.ctx.mpf(t))]) - full.at(t)))
        assert gap <= 10 * full.prediction_error(t)
        assert run.flow.patterns(run.flow.ctx.mpf(t)) == full.patterns(t)
    assert list(run.living) == full.living.tolist()


def test_more_digits_continue_the_fewer():
    net, data, _ = small_network(1, "exp")
    runs = [
        network_flow_general(net.W, net.sign, data.X, data.y, kappa2=1.5, digits=digits, until=50)
        for digits in (15, 45)
    ]
    assert runs[0].events
    for coarse, fine in zip(*(run.events for run in runs), strict=True):
        assert coarse.neuron == fine.neuron
        assert abs(coarse.time - fine.time) <= 1e-15 * fine.time


@pytest.mark.parametrize("loss", ["exp", "logistic"])
@pytest.mark.parametrize("seed", range(3))
def test_what_doubles_rule_out_does_not_happen(seed, loss, monkeypatch):
    """Where doubles decide nothing every form is searched with all digits, and the flow is the same."""
    net, data, _ = small_network(seed, loss)
    given = (net.W, net.sign, data.X, data.y, list(data.weights))
    quick = network_flow_general(*given, kappa2=1.5, loss=loss, digits=20, until=300)
    monkeypatch.setattr(Outline, "fall", lambda *_: Fall(0.0, 1.0, 0.0, False))
    thorough = network_flow_general(*given, kappa2=1.5, loss=loss, digits=20, until=300)
    assert len(quick.events) == len(thorough.events) > 0
    for mine, its in zip(quick.events, thorough.events, strict=True):
        assert (mine.neuron, mine.before, mine.after) == (its.neuron, its.before, its.after)
        assert abs(mine.time - its.time) <= 1e-20 * its.time
    for mine, its in zip(quick.accuracy_changes, thorough.accuracy_changes, strict=True):
        assert abs(mine[0] - its[0]) <= 1e-20 * its[0]
        assert mine[1] == its[1]
    for f, g in zip(quick.final, thorough.final, strict=True):
        assert abs(f - g) <= 1e-20 * abs(g)


def test_sliding_neurons_stay_on_their_kinks_and_predictions_are_sums_over_neurons():
    net, data, _ = small_network(2, "exp")
    run = network_flow_general(net.W, net.sign, data.X, data.y, kappa2=1.5, digits=25, until=100)
    flow, scale = run.flow, flow_scale(run, 1.5)
    assert any(event.kind == "slide" for event in run.events)
    for t in (1, 10, 100):
        Z, patterns = flow.distances(flow.ctx.mpf(t)), flow.patterns(flow.ctx.mpf(t))
        for z, pattern in zip(Z, patterns, strict=True):
            assert all(abs(x) <= 1e-30 for x, mark in zip(z, pattern, strict=True) if mark == "0")
            assert all(x >= -1e-30 for x, mark in zip(z, pattern, strict=True) if mark == "+")
        total = [
            scale * sum(int(s) * max(z[j], 0) for s, z in zip(net.sign, Z, strict=True)) for j in range(4)
        ]
        for f, g in zip(flow.at(flow.ctx.mpf(t)), total, strict=True):
            assert abs(f - g) <= 1e-28


def flow_scale(run, kappa2):
    return run.flow.ctx.mpf(kappa2) ** 2 / len(run.flow.particles)


def test_identical_neurons_move_together_and_the_budget_has_a_name():
    net, data, _ = small_network(0, "exp")
    W, sign = np.vstack([net.W, net.W[:3]]), np.append(net.sign, net.sign[:3])
    run = network_flow_general(W, sign, data.X, data.y, digits=15, until=20)
    times = {(e.neuron, e.before, e.after): e.time for e in run.events}
    assert any(neuron >= 10 for neuron, _, _ in times)
    for (neuron, before, after), t in times.items():
        if neuron >= 10:
            assert times[neuron - 10, before, after] == t
    short = network_flow_general(W, sign, data.X, data.y, digits=15, until=20, max_events=2)
    assert short.outcome is Outcome.BUDGET


def test_a_repelling_ridge_is_named():
    """A positive neuron on the kink of a positive point may go either way."""
    on_the_kink = ([[0.0, 1.0]], [1], [[1.0, 0.0], [-0.5, 1.0]], [1, 1])
    with pytest.raises(NotUnique, match="ridge"):
        network_flow_general(*on_the_kink, digits=15, until=1)
    for ridge, pattern in (("active", "++"), ("inactive", "-+"), ("slide", "0+")):
        run = network_flow_general(*on_the_kink, digits=15, until=1, ridge=ridge)
        assert run.flow.patterns(run.flow.ctx.zero) == [pattern]


def test_a_zero_normal_component_follows_the_other_side():
    """Case IV: inactive it would stay on the kink, active it is pushed off, so it becomes active."""
    run = network_flow_general([[0.0, 1.0]], [1], [[1.0, 0.0], [0.0, 1.0]], [1, 1], digits=15, until=1)
    assert run.flow.patterns(run.flow.ctx.zero) == ["++"]


def test_a_neuron_dies_in_the_origin_where_nothing_else_is_consistent():
    """A positive neuron between two negative points is pulled straight into the origin of the data."""
    run = network_flow_general([[0.0, 0.1]], [1], [[1.0, 0.5], [-1.0, 0.5]], [-1, -1], digits=15, until=10)
    assert [event.kind for event in run.events] == ["die"]
    assert run.final == (0, 0)


@pytest.mark.parametrize("ridge", [None, "active", "slide"])
def test_a_neuron_that_comes_to_the_origin_and_could_leave_it_rests_unless_told_otherwise(ridge):
    """As in the numerical flow, which meets the origin by its own decisions."""
    rng = np.random.default_rng(36)
    N = int(rng.integers(2, 6))
    X, y = rng.standard_normal((N, 2)), rng.choice([-1, 1], N)
    net = fullnet.initial_network(8, 2, 0.3, 1.0, 36)
    run = network_flow_general(net.W, net.sign, X, y, digits=15, until=100, ridge=ridge)
    full = fullnet.gradient_flow(net, fullnet.data_set(X, y), 100.0, ridge=ridge)
    assert [(e.neuron, e.kind, e.after) for e in run.events] == [
        (e.neuron, e.kind, e.after) for e in full.events
    ]
    for mine, its in zip(run.events, full.events, strict=True):
        assert float(mine.time) == pytest.approx(its.t, rel=1e-10)


def test_bad_input_is_named():
    with pytest.raises(InputError, match="W"):
        network_flow_general([[1, 2, 3]], [1], [[1, 0]], [1], until=1)
    with pytest.raises(InputError, match="sign"):
        network_flow_general([[1, 2]], [0], [[1, 0]], [1], until=1)
    with pytest.raises(InputError, match="until"):
        network_flow_general([[1, 2]], [1], [[1, 0]], [1], until=0)

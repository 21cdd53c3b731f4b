"""What a run in doubles says at any time: predictions, weights and counts belong to one and the same flow."""

import numpy as np
import pytest

import fullnet
from reduced import problem
from reduced.solve.swift import PATTERNS, network_flow_double

PAPER = problem()
TIMES = [0.0, 1e-3, 0.05, 5.0, 300.0, 2e3, 9e3, 9.5e3, 1.1e4, 1e8, 1e20, 1e250]


@pytest.fixture(scope="module")
def net():
    return fullnet.initial_network(60, 6, 0.1, 1.0, seed=5)


@pytest.fixture(scope="module")
def run(net):
    return network_flow_double(net.W, net.sign, PAPER)


@pytest.fixture(scope="module")
def data():
    return fullnet.two_point(4, np.pi / 15, 6)


def test_at_the_start_the_neurons_are_the_given_weights(run, net, data):
    _, u, v = run.path.neurons(0.0)
    assert np.allclose(np.column_stack([u, v]), net.W @ data.X.T, rtol=1e-14, atol=0)


@pytest.mark.parametrize("t", TIMES)
def test_predictions_are_sums_over_neurons(run, net, t):
    """f± = Σ aₖ σ(⟨bₖ, x±⟩), and patterns are the signs of ⟨bₖ, x±⟩."""
    patterns, u, v = run.path.neurons(t)
    f_plus, f_minus = run.path.predictions(t)
    a = net.sign / np.sqrt(60)
    scale = 1 + np.abs(a * np.maximum(u, 0)).sum() + np.abs(a * np.maximum(v, 0)).sum()
    assert f_plus == pytest.approx(a @ np.maximum(u, 0), abs=1e-12 * scale)
    assert f_minus == pytest.approx(a @ np.maximum(v, 0), abs=1e-12 * scale)
    for values, point in ((u, 0), (v, 1)):
        marks = np.array([PATTERNS[code][point] for code in patterns])
        assert (values[marks == "+"] > -1e-13).all()
        assert (values[marks == "-"] < 1e-13).all()
        assert np.abs(values[marks == "0"]).max(initial=0) < 1e-13


def test_predictions_take_arrays_in_any_order(run):
    t = np.array([[9e3, 0.05], [1e20, 5.0]])
    f_plus, f_minus = run.path.predictions(t)
    assert f_plus.shape == f_minus.shape == (2, 2)
    for place, moment in np.ndenumerate(t):
        assert (f_plus[place], f_minus[place]) == run.path.predictions(moment)


@pytest.mark.parametrize("t", [0.02, 5.0, 300.0, 2e3, 9.1e3, 1e6])
def test_weights_obey_the_gradient_flow(run, net, data, t):
    """The change of ⟨b, x±⟩ over a short while is that of fullnet's gradient, for neurons that slide nowhere."""
    step = 1e-5 * t
    _, u0, v0 = run.path.neurons(t - step)
    patterns, u, v = run.path.neurons(t)
    _, u1, v1 = run.path.neurons(t + step)
    f_plus, f_minus = run.path.predictions(t)
    P, Q = 0.8 * np.exp(-f_plus), 0.2 * np.exp(f_minus)
    a, c = net.sign / np.sqrt(60), np.cos(np.pi / 15)
    free = ~np.isin(patterns, (4, 5))
    on_plus, on_minus = (u > 0)[free], (v > 0)[free]
    du = (a[free] * (P * on_plus - c * Q * on_minus), a[free] * (c * P * on_plus - Q * on_minus))
    for wanted, before, after in ((du[0], u0, u1), (du[1], v0, v1)):
        measured = ((after - before) / (2 * step))[free]
        assert np.allclose(measured, wanted, rtol=1e-5, atol=2e-7 * np.abs(wanted).max())


def test_counts_follow_the_events(run):
    for row in range(0, len(run.path.rows), 7):
        t = run.path.rows[row, 0]
        later = np.searchsorted(run.path.rows[:, 0], t, side="right") - 1
        patterns, _, _ = run.path.neurons(t)
        assert np.array_equal(np.bincount(patterns, minlength=6), run.path.counts[:, later])


def test_the_plateau_ends_where_f_minus_turns_negative(run):
    t = run.times["T_plat"]
    assert run.path.predictions(t * (1 - 1e-9))[1] > 0 > run.path.predictions(t * (1 + 1e-9))[1]
    (start, end, level), *_ = reversed(run.plateaus)
    assert (end, level) == (t, 0.8)
    assert start < run.times["last_phase_one_event"] < t


def test_without_learners_a_prediction_is_exactly_zero():
    """Once the only positive neuron that sees x₋ has lost it, f₋ is 0 for ever and the plateau never ends."""
    run = network_flow_double(np.array([[0.125, -0.5]]), [1], PAPER)
    assert run.times["T_plat"] is None
    assert run.path.predictions(1e30)[1] == 0 or run.path.predictions(1e30)[1] > 0
    lost = network_flow_double(np.array([[-0.9, -0.3], [0.2, -0.1]]), [-1, -1], PAPER)
    assert set(np.sign(lost.path.predictions(np.array([1e3, 1e9]))[0])) <= {0.0, -1.0}

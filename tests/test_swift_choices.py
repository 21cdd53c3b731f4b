"""Starts on kinks, ties, budgets, horizons and bad input: the flow in doubles decides as the exact one does."""

import numpy as np
import pytest

import fullnet
from reduced import InputError, Outcome, problem
from reduced.solve.flow import NotUnique
from reduced.solve.swift import PATTERNS, network_flow_double
from reduced.solve.swift.start import pattern_on_kink

PAPER = problem()


def initial(m, seed=1):
    return fullnet.initial_network(m, 5, 0.1, 1.0, seed=seed)


def test_equal_neurons_switch_at_one_time():
    net = initial(30)
    run = network_flow_double(np.vstack([net.W, net.W]), np.hstack([net.sign, net.sign]), PAPER)
    moments = {}
    for time, neuron, after in zip(run.events.time, run.events.neuron, run.events.after, strict=True):
        moments.setdefault((int(neuron) % 30, int(after)), []).append(time)
    assert all(len(times) % 2 == 0 and len(set(times)) == len(times) // 2 for times in moments.values())


def test_opposite_neurons_start_at_zero_and_the_plateau_is_seen():
    net = initial(20)
    run = network_flow_double(np.vstack([net.W, net.W]), np.hstack([np.ones(20), -np.ones(20)]), PAPER)
    assert run.predictions["start"] == (0, 0)
    assert (run.plateaus[0][0], run.plateaus[0][2]) == (0, 0.8)


def test_until_keeps_what_came_before():
    net = initial(40)
    whole, cut = network_flow_double(net.W, net.sign, PAPER), network_flow_double(net.W, net.sign, PAPER, 100)
    kept = whole.events.time <= 100
    assert np.array_equal(cut.events.time, whole.events.time[kept])
    assert cut.times["T_r_equals_c"] == whole.times["T_r_equals_c"]
    assert cut.times["T_plat"] is None
    assert cut.times["T_II"] is None
    assert cut.outcome is Outcome.FINISHED


def test_a_budget_of_events_is_a_named_outcome():
    net = initial(40)
    whole = network_flow_double(net.W, net.sign, PAPER)
    run = network_flow_double(net.W, net.sign, PAPER, max_events=6)
    assert run.outcome is Outcome.BUDGET
    assert np.array_equal(run.events.neuron, whole.events.neuron[:6])
    assert run.times["T_plat"] is None


def test_the_origin_needs_a_choice():
    W = np.array([[0.0, 0.0, 1.0], [0.1, -0.2, 0.0]])
    with pytest.raises(NotUnique, match="origin"):
        network_flow_double(W, [1, 1], PAPER)
    assert network_flow_double(W, [1, 1], PAPER, ridge="inactive").dead.tolist() == [0]
    assert network_flow_double(W, [1, 1], PAPER, ridge="active").dead.tolist() == []


@pytest.mark.parametrize(
    ("sign", "u", "v", "level", "expected"),
    [
        (1, 0, -1, 0, "+-"),
        (1, 1, 0, 0, "++"),
        (1, 1, 0, 1, "+0"),
        (1, -1, 0, 1, "--"),
        (1, 0, 1, 2, "-+"),
        (-1, 0, 1, 1, "0+"),
        (-1, 0, 1, 2, "++"),
        (-1, 0, -1, 0, "--"),
        (-1, 1, 0, 0, "+-"),
        (-1, -1, 0, 0, "-+"),
    ],
)
def test_a_start_on_a_kink_is_decided_by_the_fields(sign, u, v, level, expected):
    """By the one-sided velocities of theory §2 at r below c (level 0), between, above 1/c (level 2)."""
    assert PATTERNS[pattern_on_kink(sign, u, v, level, None)] == expected


@pytest.mark.parametrize(
    ("sign", "u", "v", "level"), [(1, 0, 1, 0), (1, 0, 1, 1), (-1, 1, 0, 1), (-1, 1, 0, 2)]
)
def test_repelling_ridges_need_a_choice(sign, u, v, level):
    with pytest.raises(NotUnique, match="ridge"):
        pattern_on_kink(sign, u, v, level, None)
    chosen = {
        ridge: PATTERNS[pattern_on_kink(sign, u, v, level, ridge)]
        for ridge in ("active", "inactive", "slide")
    }
    kink = 0 if u == 0 else 1
    assert {ridge: pattern[kink] for ridge, pattern in chosen.items()} == {
        "active": "+",
        "inactive": "-",
        "slide": "0",
    }


def test_nobody_alive():
    run = network_flow_double(np.array([[0.0, 1.0], [0.125, 2.0]]), [1, -1], PAPER)
    assert run.dead.tolist() == [0, 1]
    assert all(time is None for time in run.times.values())
    assert run.path.predictions(1e30) == (0, 0)


@pytest.mark.parametrize(
    ("W", "sign", "name"),
    [
        ([[1.0]], [1], "W"),
        ([[1.0, np.nan]], [1], "W"),
        ([[1.0, 2.0]], [2], "sign"),
        ([[1.0, 2.0]], [1, 1], "sign"),
        ([[0.0, -1e4]], [1], "W"),
    ],
)
def test_bad_input_is_named(W, sign, name):
    with pytest.raises(InputError, match=f"^{name}: expected"):
        network_flow_double(W, sign, PAPER)


def test_other_losses_are_refused():
    with pytest.raises(InputError, match=r"^method: expected ode"):
        network_flow_double([[1.0, 2.0]], [1], problem(loss="logistic"))

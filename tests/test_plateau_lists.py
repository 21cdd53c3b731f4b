"""Every flow tells the same plateaus: numerical, exact in mpf, exact in doubles, inside the paper's setting or not.

The settings are drawn from odd values: p cos Δ ≤ 1, wide and narrow angles, one neuron or one sign only, large
weights, runs cut in the middle of Phase I.
"""

import numpy as np
import pytest

import fullnet
from reduced import network_flow, problem
from reduced.solve.accuracy import plateaus
from reduced.solve.swift.run import network_flow_double


def close(mine, its):
    if mine is None or its is None:
        return mine is its
    return float(mine) == pytest.approx(float(its), rel=1e-7, abs=1e-14)


def same_plateaus(mine, its):
    return len(mine) == len(its) and all(
        close(a, b) for one, other in zip(mine, its, strict=True) for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("seed", range(30))
def test_odd_settings(seed):
    rng = np.random.default_rng(seed)
    p = float(rng.choice([0.1, 0.5, 0.9, 1.0, 1.02, 1.5, 4.0, 30.0]))
    delta = float(rng.choice([0.05, 0.2, 0.5, 1.0, 1.3, 1.5]))
    m, dim = int(rng.choice([1, 2, 3, 5, 12])), int(rng.choice([2, 3, 8]))
    kappa1, until = float(rng.choice([0.01, 0.1, 1.0, 3.0])), float(rng.choice([1e-2, 1.0, 100.0, 1e6, 1e12]))
    net = fullnet.initial_network(m, dim, kappa1, 1.0, seed, positive=int(rng.integers(0, m + 1)))
    setting = problem(p=p, delta=delta, assumption=False)
    full = fullnet.gradient_flow(net, fullnet.two_point(p, delta, dim), until)
    exact = network_flow(net.W, net.sign, setting, 20, until=until)
    double = network_flow_double(net.W, net.sign, setting, until=until)
    found = [(one.start, one.end, one.level) for one in fullnet.detect(full).plateaus]
    assert same_plateaus(found, exact.plateaus)
    assert same_plateaus(double.plateaus, exact.plateaus)
    T_plat = fullnet.phase_times(full).times["T_plat"]
    assert close(T_plat, exact.times["T_plat"])
    assert close(double.times["T_plat"], exact.times["T_plat"])


@pytest.mark.parametrize("until", [1e-3, 1e-2, 1.0, 100.0])
def test_a_plateau_that_has_not_ended_has_no_end(until):
    """f₋ starts negative at random; cut before or after it turns positive, T_plat is still to come."""
    net = fullnet.initial_network(100, 20, 0.1, 1.0, seed=1)
    full = fullnet.gradient_flow(net, fullnet.two_point(4, np.pi / 15, 20), until)
    assert full.at(0.0)[1] < 0
    assert fullnet.phase_times(full).times["T_plat"] is None
    assert network_flow(net.W, net.sign, problem(), 20, until=until).times["T_plat"] is None
    assert network_flow_double(net.W, net.sign, problem(), until=until).times["T_plat"] is None


def test_the_random_accuracy_at_the_start_does_not_count():
    """f₊ < 0 < f₋ at t = 0; x₊ is learned at 1, x₋ (twice its random value) at 2, and right from 3 on."""
    passages = [(1.0, 0, 1), (3.0, 1, -1)]
    assert plateaus([False, False], passages, (0.75, 0.25), (1.0, 2.0)) == ((1.0, 3.0, 0.75),)
    assert plateaus([False, False], passages, (0.75, 0.25), (1.0, 3.0)) == ()
    assert plateaus([False, False], passages[:1], (0.75, 0.25), (1.0, None)) == ((1.0, None, 0.75),)


def test_two_points_that_turn_right_together_leave_no_empty_plateau():
    passages = [(2.0, 0, 1), (2.0, 1, -1)]
    assert plateaus([False, False], passages, (0.5, 0.5), (0.0, 0.0)) == ((0.0, 2.0, 0.0),)

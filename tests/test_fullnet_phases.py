"""Phases are read off the log: each measured time is where the dense output or the events say it is."""

import numpy as np
import pytest

import fullnet

DATA = fullnet.two_point(4, np.pi / 15, 20)


@pytest.fixture(scope="module")
def measured():
    flow = fullnet.gradient_flow(fullnet.initial_network(100, 20, 0.1, 1.0, seed=7), DATA, until=1e6)
    return flow, fullnet.phase_times(flow)


def ratio(flow, t):
    """r = Q/P at time t."""
    log_forces = flow.log_forces(t)
    return np.exp(log_forces[..., 1] - log_forces[..., 0])


def test_times_are_where_they_say(measured):
    flow, phases = measured
    times = phases.times
    assert times["T_I"] == pytest.approx(10 * np.sqrt(0.1), rel=1e-14)
    assert ratio(flow, times["T_r_equals_c"]) == pytest.approx(DATA.cosine, rel=1e-13)
    assert ratio(flow, times["T_III"]) == pytest.approx(1 / DATA.cosine, rel=1e-13)
    assert flow.at(times["T_plat"])[1] == pytest.approx(0, abs=1e-14)
    assert flow.accuracy(times["T_plat"] * (1 + 1e-9)) == 1
    assert flow.accuracy(times["T_plat"] * (1 - 1e-9)) == pytest.approx(0.8)
    assert np.all(flow.accuracy(np.geomspace(times["T_plat"] * 1.000001, 1e6, 100)) == 1)


def test_patterns_follow_the_table_of_the_paper(measured):
    flow, phases = measured
    times = phases.times
    between = [np.sqrt(times[a] * times[b]) for a, b in (("T_plat", "T_II"), ("T_III_PT", "T_III"))]
    for t, plus, minus in ((between[0], "++", "0+"), (between[1], "+0", "0+"), (1e6, "+0", "++")):
        patterns = np.array(flow.patterns(t))
        assert set(patterns[phases.positive]) == {plus}
        assert set(patterns[phases.negative]) == {minus}
        assert set(patterns[phases.dead]) == {"--"}


def test_living_sets_are_all_neurons(measured):
    flow, phases = measured
    everyone = np.concatenate([phases.positive, phases.negative, phases.dead])
    np.testing.assert_array_equal(np.sort(everyone), np.arange(100))
    assert np.all(flow.network.sign[phases.positive] == 1)
    assert np.all(flow.network.sign[phases.negative] == -1)


def test_plateaus(measured):
    _, phases = measured
    (plateau,) = phases.plateaus
    assert plateau.end == phases.times["T_plat"]
    assert plateau.level == pytest.approx(0.8)


def test_without_negative_neurons_the_plateau_is_infinite():
    """f₋ reaches exactly 0 when the last positive neuron lets go of x₋, and 0 is not right."""
    net = fullnet.initial_network(20, 20, 0.1, 1.0, seed=0, positive=20)
    flow = fullnet.gradient_flow(net, DATA, until=1e6)
    phases = fullnet.phase_times(flow)
    assert phases.times["T_plat"] is None
    assert phases.times["T_III"] is None
    assert phases.times["T_II"] is not None
    assert flow.at(1e6)[1] == 0.0
    assert phases.plateaus[-1].end is None


def test_without_positive_neurons_x_plus_is_never_right():
    net = fullnet.initial_network(20, 20, 0.1, 1.0, seed=0, positive=0)
    phases = fullnet.phase_times(fullnet.gradient_flow(net, DATA, until=1e6))
    assert phases.times["T_II"] is None
    assert phases.plateaus[-1].level == pytest.approx(0.2)


def test_a_ratio_that_falls_back_through_c():
    """r starts above c and crosses it three times; each crossing is found, and small steps agree."""
    data = fullnet.two_point(1.1, 0.3, 3)
    net = fullnet.initial_network(12, 3, 1.3127, 1.0, seed=118)
    flow = fullnet.gradient_flow(net, data, until=40.0)
    turns = flow.turns([data.cosine, -1.0])
    assert [sign for _, sign in turns] == [-1, 1, -1, 1]
    for t, _ in turns[1:]:
        assert ratio(flow, t) == pytest.approx(data.cosine, rel=1e-13)
    assert fullnet.phase_times(flow).times["T_r_equals_c"] == 0.0
    run = fullnet.gradient_descent(net, data, 1e-3, 40_000, stop_early=False)
    np.testing.assert_allclose(run.predictions, flow.at(40.0), atol=2e-3)


@pytest.mark.parametrize("kappa1", [1e-3, 1e-8, 1e-90])
def test_small_initialisation(kappa1):
    """As κ₁ → 0 the spread of the deactivations vanishes; nothing is lost to rounding."""
    net = fullnet.initial_network(100, 20, kappa1, 1.0, seed=7)
    phases = fullnet.phase_times(fullnet.gradient_flow(net, DATA, until=1e12, estimate_error=True))
    times = phases.times
    assert times["last_phase_one_event"] < 10 * kappa1
    assert (times["T_III_PT"] - times["T_II"]) / times["T_II"] < 10 * kappa1 + 1e-13
    assert max(phases.errors[name] / t for name, t in times.items() if name in phases.errors and t) < 1e-11


def test_other_data_have_no_two_point_phases():
    data = fullnet.data_set([[1.0, 0.0]], [1.0])
    flow = fullnet.gradient_flow(fullnet.given_network([[1.0, 0.0]], [1.0], 1.0), data, until=1.0)
    with pytest.raises(fullnet.InputError, match="two-point"):
        fullnet.phase_times(flow)

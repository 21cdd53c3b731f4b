"""Phases are found on any run: plateaus, condensation, pattern changes agree with log and dense output."""

import json
from pathlib import Path

import numpy as np
import pytest

import fullnet

DATA = Path(__file__).parent / "data"
TWO_POINTS = fullnet.two_point(4, np.pi / 15, 20)


def observed_switches(flow, around):
    """Patterns on either side of each time, from the weights alone: which (neuron, point) pairs differ."""
    before, after = (np.sign(np.round(flow.neurons(t) @ flow.data.X.T, 12)) for t in around)
    return set(zip(*(axis.tolist() for axis in np.nonzero(before != after)), strict=True))


@pytest.mark.parametrize("seed", range(20))
def test_two_point_runs(seed):
    flow = fullnet.gradient_flow(fullnet.initial_network(100, 20, 0.1, 1.0, seed), TWO_POINTS, 1e12)
    phases, found = fullnet.phase_times(flow), fullnet.detect(flow)
    assert found.condensed_at == phases.times["last_phase_one_event"]
    clusters = {frozenset(cluster.members.tolist()) for cluster in found.clusters}
    assert clusters == {frozenset(phases.positive.tolist()), frozenset(phases.negative.tolist())}
    logged = [(event.t, event.neuron) for event in flow.events]
    switches = [(change, neuron) for change in found.changes for neuron in change.neurons]
    assert len(switches) == len(logged)
    for change in found.changes:
        times = [t for t, neuron in logged if neuron in change.neurons]
        assert change.start in times
        assert change.end in times
    late = [change for change in found.changes if change.start > found.condensed_at]
    for change in late:
        if change.before == "++":
            assert (change.start, change.end) == (phases.times["T_II"], phases.times["T_III_PT"])
        else:
            assert (change.before, change.after) == ("0+", "++")
            assert change.start == change.end == phases.times["T_III"]
        around = (change.start * 0.999, change.end * 1.001)
        assert {neuron for neuron, _ in observed_switches(flow, around)} == set(change.neurons)
    (plateau,) = found.plateaus
    assert plateau.end == phases.times["T_plat"]
    assert plateau.level == pytest.approx(0.8)


def test_plateaus_of_the_noisy_reference():
    stored = np.load(DATA / "noisy_public.npz")
    reference = json.loads((DATA / "noisy_public.json").read_text())[-1]
    X = np.zeros((15, stored["W"].shape[1]))
    X[:, 0], X[:, 1] = np.sin(stored["angles"]), -np.cos(stored["angles"])
    net = fullnet.given_network(stored["W"], stored["sign"], 1.0)
    flow = fullnet.gradient_flow(net, fullnet.data_set(X, stored["labels"]), until=2000.0)
    found = fullnet.detect(flow)
    assert [round(15 * plateau.level) for plateau in found.plateaus] == [12, 13, 14]
    for plateau, (t, _) in zip(found.plateaus, reference["points_right_after"][1:], strict=True):
        assert plateau.end == pytest.approx(t, rel=2e-5)
    for plateau, following in zip(found.plateaus, found.plateaus[1:], strict=False):
        assert plateau.end == following.start


@pytest.mark.parametrize("seed", range(5))
def test_noisy_runs_climb_in_three_plateaus(seed):
    flow = fullnet.gradient_flow(
        fullnet.initial_network(100, 2, 0.1, 1.0, seed), fullnet.noisy(seed=seed), 1e4
    )
    found = fullnet.detect(flow)
    assert [round(15 * plateau.level) for plateau in found.plateaus] == [12, 13, 14]
    for plateau in found.plateaus:
        inside = np.sqrt(max(plateau.start, 1.0) * plateau.end)
        assert flow.accuracy(inside) == pytest.approx(plateau.level)
    assert len(found.clusters) == 2
    for cluster in found.clusters:
        assert cluster.spread < 0.1
        assert len(set(flow.network.sign[cluster.members])) == 1


def test_random_accuracy_at_the_start_is_no_plateau():
    """f = 0 at one point by symmetry: its first value is not owed to learning."""
    flow = fullnet.gradient_flow(fullnet.initial_network(100, 20, 0.1, 1.0, 2), TWO_POINTS, 1e4)
    learned = fullnet.detect(flow).learned_from
    assert learned > 0
    early = [level for t, level in flow.accuracy_changes if t < learned]
    assert len(early) >= 1
    assert all(plateau.end > learned for plateau in fullnet.detect(flow).plateaus)
    assert np.all(np.abs(flow.at(1.0) - flow.at(0.0)) > np.abs(flow.at(0.0)))


def test_without_switches_nothing_is_found():
    net = fullnet.given_network([[0.1, 0.2]], [1], 1.0)
    flow = fullnet.gradient_flow(net, fullnet.data_set([[1.0, 1.0]], [1.0]), 10.0)
    found = fullnet.detect(flow)
    assert found.condensed_at is None
    assert (found.clusters, found.plateaus, found.changes) == ((), (), ())


def test_clusters_of_made_directions():
    """Two bundles on a circle, and in space, for one sign and pattern."""
    rng = np.random.default_rng(0)
    for dim in (2, 3):
        center = np.eye(dim)[:2] + 0.02
        W = np.repeat(center, 12, axis=0) + 1e-3 * rng.standard_normal((24, dim))
        data = fullnet.data_set(np.eye(dim) + 0.01, np.ones(dim))
        W = np.abs(W)
        flow = fullnet.gradient_flow(fullnet.given_network(W, np.ones(24), 1.0), data, 1e-6)
        found = fullnet.direction_clusters(flow, 0.0)
        assert [cluster.members.tolist() for cluster in found] == [list(range(12)), list(range(12, 24))]
        assert all(cluster.spread < 0.01 for cluster in found)


@pytest.mark.slow
def test_most_noisy_runs_deactivate_and_reactivate():
    """After condensation, in at least 15 of 20 seeds, neurons lose points and others regain points."""
    both = 0
    for seed in range(20):
        data = fullnet.noisy(seed=seed)
        flow = fullnet.gradient_flow(fullnet.initial_network(100, 2, 0.1, 1.0, seed), data, 1e8)
        found = fullnet.detect(flow)
        late = [change for change in found.changes if change.start > found.condensed_at]
        marks = [pair for change in late for pair in zip(change.before, change.after, strict=True)]
        both += any(a == "+" != b for a, b in marks) and any(a != "+" == b for a, b in marks)
    assert both >= 15

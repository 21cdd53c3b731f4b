"""The flow reproduces 25-digit references of two networks, and its error estimates dominate."""

import json
from pathlib import Path

import numpy as np
import pytest

import fullnet

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="module", params=["network_public0", "network_public1"])
def run(request):
    reference = json.loads((DATA / f"{request.param}.json").read_text())
    net = fullnet.load_network(DATA / f"{request.param}.npz", kappa2=reference["kappa2"])
    data = fullnet.two_point(float(reference["p"]), np.pi / 15, reference["dim"])
    flow = fullnet.gradient_flow(net, data, until=1e6, estimate_error=True)
    return reference, flow, fullnet.phase_times(flow)


def expected_times(reference):
    times = {name: float(value) for name, value in reference["times"].items()}
    return {**times, "last_phase_one_event": float(reference["last_phase_one_event"])}


def test_times(run):
    reference, _, phases = run
    for name, value in expected_times(reference).items():
        assert phases.times[name] == pytest.approx(value, rel=1e-12), name


def test_time_error_estimates_dominate_and_stay_small(run):
    reference, _, phases = run
    for name, value in expected_times(reference).items():
        assert abs(phases.times[name] - value) <= 10 * phases.errors[name], name
        assert phases.errors[name] <= 1e-10 * value, name


def test_predictions_and_their_error_estimates(run):
    reference, flow, phases = run
    for name, values in reference["predictions"].items():
        gap = np.max(np.abs(flow.at(phases.times[name]) - [float(value) for value in values]))
        estimate = flow.prediction_error(phases.times[name])
        assert gap <= 1e-12
        assert gap <= 10 * estimate
        assert estimate <= 1e-10
    early = flow.at(phases.times["last_phase_one_event"])
    assert early == pytest.approx(
        [float(value) for value in reference["f_at_last_phase_one_event"]], rel=1e-12
    )
    assert flow.at(0.0) == pytest.approx([float(value) for value in reference["f_at_start"]], rel=1e-12)


def test_living_sets_and_first_neuron_to_deactivate(run):
    reference, flow, phases = run
    assert len(phases.positive) == reference["living"]["positive"]
    assert len(phases.negative) == reference["living"]["negative"]
    first = next(event for event in flow.events if event.t == phases.times["T_II"])
    assert first.neuron == reference["first_neuron_to_deactivate"]


def test_number_of_events(run):
    """The reference counts the passage r = c, and the reactivation of the negative group once."""
    reference, flow, phases = run
    together = [event for event in flow.events if event.t == phases.times["T_III"]]
    assert {event.neuron for event in together} == set(phases.negative.tolist())
    assert len(flow.events) - len(together) + 2 == reference["events_in_all"]


def test_reaching_far_costs_about_the_same(run):
    _, flow, _ = run
    far = fullnet.gradient_flow(flow.network, flow.data, until=1e12)
    assert far.steps < 2 * flow.steps
    assert far.events == flow.events

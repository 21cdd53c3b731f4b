"""A budget bounds a flow and its error estimate together, and what was reached by then is known honestly."""

import time

import numpy as np
import pytest

import fullnet

DATA = fullnet.noisy(seed=1)
NET = fullnet.initial_network(150, 2, 0.1, 1.0, 3)


def test_seconds_are_those_of_the_flow_and_its_estimate_together():
    """The flow takes longer than allowed; as far as it went, its error is known."""
    began = time.monotonic()
    budget = fullnet.Budget(seconds=1.0)
    flow = fullnet.gradient_flow(NET, DATA, 1e12, budget=budget, estimate_error=True, engine="numpy")
    assert time.monotonic() - began < 1.6
    assert flow.outcome is fullnet.Outcome.BUDGET
    assert 0 < flow.end < 1e12
    assert flow.shadow.end >= flow.end
    assert len(flow.events) > 10
    assert 0 < flow.time_error(flow.end) < 1e-6 * flow.end
    assert 0 < flow.prediction_error(flow.end) < 1e-6


@pytest.mark.parametrize("bound", [{"steps": 60}, {"events": 40}])
def test_the_second_computation_goes_no_further_than_the_flow(bound):
    budget = fullnet.Budget(**bound)
    flow = fullnet.gradient_flow(NET, DATA, 1e3, budget=budget, estimate_error=True, engine="numpy")
    assert flow.outcome is fullnet.Outcome.BUDGET
    assert 0 < len(flow.events) <= 60
    assert len(flow.shadow.events) <= len(flow.events) + 5
    assert flow.end <= flow.shadow.end < 2 * flow.end
    assert bound in ({"steps": flow.steps}, {"events": len(flow.events)})


def test_an_interrupted_estimate_is_the_uninterrupted_one(tmp_path):
    """Both computations go on from a file, bit for bit, however often they were stopped."""
    whole = fullnet.gradient_flow(NET, DATA, 200.0, estimate_error=True)
    path = tmp_path / "flow.npz"
    part = None
    for steps in (50, 100, 150, None):
        part = fullnet.gradient_flow(
            NET,
            DATA,
            200.0,
            estimate_error=True,
            budget=fullnet.Budget(steps=steps),
            checkpoint=fullnet.Checkpoint(path),
            resume=None if part is None else fullnet.load_trajectory(path),
        )
    t = np.geomspace(1e-3, 200.0, 50)
    np.testing.assert_array_equal(part.prediction_error(t), whole.prediction_error(t))
    np.testing.assert_array_equal(part.time_error(t), whole.time_error(t))
    np.testing.assert_array_equal(part.shadow.pieces.start, whole.shadow.pieces.start)


def test_nothing_is_claimed_where_the_second_computation_did_not_reach():
    """A flow resumed from a file without an estimate, with no time left to make up for it."""
    flow = fullnet.gradient_flow(NET, DATA, 200.0)
    late = fullnet.gradient_flow(
        NET, DATA, 200.0, resume=flow, estimate_error=True, budget=fullnet.Budget(seconds=0.02)
    )
    assert late.outcome is fullnet.Outcome.BUDGET
    assert late.shadow.end < late.end == 200.0
    assert late.time_error(200.0) == late.prediction_error(200.0) == np.inf
    assert late.time_error(late.shadow.end) < np.inf

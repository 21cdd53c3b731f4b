"""What the flow in doubles says of its own errors is at least what they are."""

from math import inf

import numpy as np
import pytest

import fullnet
from reduced import problem
from reduced.records import Outcome
from reduced.solve.network import network_flow
from reduced.solve.swift import network_flow_double

PAPER = problem()
DIGITS = 26


def cases(seed, count):
    """Yield networks and problems of all kinds: narrow and wide angles, tiny and large weights, p cos Δ < 1."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        m, dim = int(rng.choice([2, 3, 5, 20, 80])), int(rng.choice([2, 3, 20]))
        W = rng.normal(size=(m, dim))
        kappa1 = float(rng.choice([1e-8, 1e-3, 0.1, 1.0, 10.0]))
        W *= kappa1 / np.sqrt(m) / np.linalg.norm(W, axis=1, keepdims=True)
        p, delta = float(rng.choice([1, 1.5, 4, 50])), float(rng.choice([0.01, 0.05, 0.209, 0.6, 1.5]))
        yield W, rng.choice([-1, 1], m), problem(p, delta, assumption=False)


def event_times(run, times):
    """Return the times of each neuron's events in order."""
    found = {}
    for neuron, time in times:
        found.setdefault(int(neuron), []).append(time)
    return found


def assert_dominated(W, sign, given_problem):
    run = network_flow_double(W, sign, given_problem, estimate_error=True)
    exact = network_flow(W, sign, given_problem, DIGITS)
    ctx = exact.flow.ctx
    for name, t in exact.times.items():
        assert (t is None) == (run.times[name] is None)
        if t:
            assert abs(ctx.mpf(run.log_times[name]) - ctx.log(t)) <= run.errors.times[name], name
    for name, pair in exact.predictions.items():
        for f, ours in zip(pair, run.predictions[name], strict=True):
            assert abs(f - ours) <= run.errors.predictions[name], name
    ours = event_times(run, zip(run.events.neuron, run.events.log_time, strict=True))
    errors = event_times(run, zip(run.events.neuron, run.errors.events, strict=True))
    theirs = event_times(exact, ((event.neuron, event.time) for event in exact.events))
    for neuron, times in theirs.items():
        for t, log_time, error in zip(times, ours[neuron], errors[neuron], strict=True):
            assert t == 0 or abs(ctx.mpf(float(log_time)) - ctx.log(t)) <= error


def test_errors_are_dominated_on_networks_of_all_kinds():
    for case in cases(0, 40):
        assert_dominated(*case)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_errors_are_dominated_on_many_networks(seed):
    for case in cases(seed, 60):
        assert_dominated(*case)


def test_most_digits_are_left():
    errors = []
    for seed in range(5):
        net = fullnet.initial_network(100, 20, 0.1, 1.0, seed=seed)
        run = network_flow_double(net.W, net.sign, PAPER, estimate_error=True)
        errors += list(run.errors.times.values())
    assert max(errors) < 1e-11
    assert np.median(errors) < 1e-12


def test_a_ratio_that_falls_far_keeps_its_digits():
    # only x₋ is learned in the end: r falls by e⁻¹³ in one piece, and two neurons switch after that
    W = np.array([[-6.6, -6.1], [-16.1, 7.3], [8.1, -4.8], [1.6, -12.9]])
    wide, sign = problem(1.5, 1.5, assumption=False), np.array([1, -1, -1, -1])
    run, exact = network_flow_double(W, sign, wide), network_flow(W, sign, wide, DIGITS)
    assert exact.events[-1].time > 1e100
    for event, log_time in zip(exact.events, run.events.log_time, strict=True):
        assert abs(float(exact.flow.ctx.log(event.time)) - log_time) < 1e-12 * (1 + abs(log_time))


def test_no_estimate_is_made_unless_asked_for():
    assert network_flow_double([[0.1, -0.5]], [1], PAPER).errors is None


def test_a_flow_that_runs_out_of_time_says_so_and_keeps_its_beginning():
    net = fullnet.initial_network(4000, 2, 0.1, 1.0, seed=0)
    whole = network_flow_double(net.W, net.sign, PAPER, compiled=False)
    short = network_flow_double(net.W, net.sign, PAPER, compiled=False, estimate_error=True, max_seconds=0.02)
    count = len(short.events.time)
    assert short.outcome is Outcome.BUDGET
    assert count < len(whole.events.time)
    assert np.array_equal(short.events.time, whole.events.time[:count])
    assert np.count_nonzero(short.errors.events == inf) <= 0.01 * count

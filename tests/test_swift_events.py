"""The chain of events is the flow: same switches and times as the search through all neurons at 30 digits."""

import json
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reduced import problem
from reduced.solve.flow import exact_flow
from reduced.solve.network import TIMES, measure, network_flow, setting
from reduced.solve.swift import KINDS, PATTERNS, network_flow_double
from reduced.solve.swift.digits import neuron_flow

DATA = Path(__file__).parent / "data"
PAPER = problem()


def sphere(m, dim, kappa1, seed):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(m, dim))
    W *= kappa1 / np.sqrt(m) / np.linalg.norm(W, axis=1, keepdims=True)
    return W, rng.choice([-1, 1], m)


def searched(W, sign, given_problem, digits=40):
    """Solve with the flow that looks at every neuron before every event."""
    ctx = mpmath.mp.clone()
    ctx.dps = digits
    return measure(exact_flow(ctx, *setting(ctx, W, sign, given_problem)))


def switches(run):
    """Return {(neuron, kind, before, after): log times} of a run in doubles."""
    found = {}
    e = run.events
    for n, k, b, a, t in zip(e.neuron, e.kind, e.before, e.after, e.log_time, strict=True):
        found.setdefault((int(n), KINDS[k], PATTERNS[b], PATTERNS[a]), []).append(float(t))
    return found


def exact_switches(run):
    found = {}
    for e in run.events:
        found.setdefault((e.neuron, e.kind, e.before, e.after), []).append(e.time)
    return found


def assert_same(run, exact, relative):
    ctx = exact.flow.ctx
    ours, theirs = switches(run), exact_switches(exact)
    assert {key: len(times) for key, times in ours.items()} == {k: len(times) for k, times in theirs.items()}
    for key, times in theirs.items():
        for log_time, time in zip(ours[key], times, strict=True):
            assert time == 0 or abs(ctx.mpf(log_time) - ctx.log(time)) < relative * (1 + abs(log_time)), key
    for name in TIMES:
        assert (run.times[name] is None) == (exact.times[name] is None), name
        if exact.times[name]:
            size = 1 + abs(run.log_times[name])
            assert abs(ctx.mpf(run.log_times[name]) - ctx.log(exact.times[name])) < relative * size
    for name, pair in exact.predictions.items():
        assert run.predictions[name] == pytest.approx([float(f) for f in pair], rel=10 * relative, abs=1e-12)
    assert run.positive.tolist() == list(exact.positive)
    assert run.negative.tolist() == list(exact.negative)
    assert run.dead.tolist() == list(exact.dead)


@pytest.mark.parametrize("name", ["network_public0", "network_public1"])
def test_reference_networks(name):
    known = json.loads((DATA / f"{name}.json").read_text())
    net = np.load(DATA / f"{name}.npz")
    run = network_flow_double(net["W"], net["sign"], PAPER)
    expected = known["times"] | {"last_phase_one_event": known["last_phase_one_event"]}
    for key, value in expected.items():
        assert run.times[key] == pytest.approx(float(value), rel=2e-14), key
    for key, pair in known["predictions"].items():
        assert run.predictions[key] == pytest.approx([float(f) for f in pair], rel=2e-14)
    assert len(run.positive) == known["living"]["positive"]
    assert len(run.negative) == known["living"]["negative"]
    assert run.predictions["start"] == pytest.approx([float(f) for f in known["f_at_start"]], rel=1e-13)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    m=st.integers(2, 20),
    dim=st.integers(2, 5),
    log_kappa1=st.floats(-8, 1),
    log_p=st.floats(-1, 1),
    delta=st.floats(0.05, 1.5),
)
def test_random_networks(seed, m, dim, log_kappa1, log_p, delta):
    """κ₁ from 1e-8 to 10, any p (also p cos Δ ≤ 1), any angle."""
    W, sign = sphere(m, dim, 10**log_kappa1, seed)
    given_problem = problem(10**log_p, delta, assumption=False)
    assert_same(network_flow_double(W, sign, given_problem), searched(W, sign, given_problem), relative=1e-11)


def wandering(seed):
    """Return a network drawn so that r passes c and 1/c in both directions, with its problem."""
    rng = np.random.default_rng(seed)
    m, dim = int(rng.integers(2, 26)), int(rng.integers(2, 6))
    kappa1, p, delta = (
        10 ** rng.uniform(-8, 1),
        float(10 ** rng.uniform(-1, 1)),
        float(rng.uniform(0.05, 1.5)),
    )
    W = rng.normal(size=(m, dim))
    W *= kappa1 / np.sqrt(m) / np.linalg.norm(W, axis=1, keepdims=True)
    return W, rng.choice([-1, 1], m), problem(p, delta, assumption=False)


@pytest.mark.parametrize(
    ("seed", "switch"),
    [
        (2, (-1, "++", "+-")),
        (6, (-1, "-+", "++")),
        (0, (1, "++", "-+")),
        (4, (-1, "0+", "++")),
        (3, (1, "+-", "++")),
        (8, (1, "+0", "++")),
        (12, (1, "+0", "++")),
        (15, (1, "++", "-+")),
    ],
)
def test_rare_switches(seed, switch):
    """r falls back through c or 1/c, sliding groups are released, neurons return to a pattern they had left."""
    W, sign, given_problem = wandering(seed)
    run = network_flow_double(W, sign, given_problem)
    seen = {(int(sign[n]), before, after) for n, _, before, after in switches(run)}
    assert switch in seen
    assert_same(run, searched(W, sign, given_problem), relative=1e-11)


def test_the_chain_in_mpf_numbers_is_the_same_flow():
    """At 40 digits the chain agrees with the search to 36 digits in times, and in weights and predictions."""
    for seed in (0, 4, 6, 8):
        W, sign, given_problem = wandering(seed)
        exact = searched(W, sign, given_problem)
        ctx = mpmath.mp.clone()
        ctx.dps = 40
        run = measure(neuron_flow(ctx, *setting(ctx, W, sign, given_problem)))
        assert exact_switches(run).keys() == exact_switches(exact).keys()
        for key, times in exact_switches(exact).items():
            for time, other in zip(times, exact_switches(run)[key], strict=True):
                assert abs(time - other) <= time * ctx.mpf(10) ** -36
        for t in (exact.events[2].time * 1.5, exact.events[-1].time * 3, ctx.mpf(10) ** 8):
            here, there = run.flow.locate(t), exact.flow.locate(t)
            assert abs(run.flow.predictions(t)[1] - exact.flow.predictions(t)[1]) < ctx.mpf(10) ** -33
            for k in range(len(sign)):
                pattern, *place = run.flow.particle(k, *here)
                wanted, *other = exact.flow.particle(k, *there)
                assert pattern == wanted
                assert max(abs(x - y) for x, y in zip(place, other, strict=True)) < ctx.mpf(10) ** -30


def test_times_past_the_range_of_doubles_are_known_by_their_logarithm():
    """Living fractions 46 : 47, just below the two-phase regime: first deactivation long after e^710."""
    W, _ = sphere(2000, 4, 1e-3, 0)
    across, along, c = np.sin(np.pi / 30), np.cos(np.pi / 30), np.cos(np.pi / 15)
    u, v = W[:, 0] * across - W[:, 1] * along, -W[:, 0] * across - W[:, 1] * along
    plus = np.flatnonzero(u > 0)[:46]
    minus = np.flatnonzero((v > 0) & (v * (4 - c) > u * (4 * c - 1)))[-47:]
    W, sign = W[np.concatenate([plus, minus])] * np.sqrt(2000 / 93), np.repeat([1, -1], [46, 47])
    run = network_flow_double(W, sign, PAPER)
    assert (len(run.positive), len(run.negative)) == (46, 47)
    assert run.times["T_II"] == run.times["T_III_PT"] == np.inf
    assert run.log_times["T_II"] > 1000
    assert_same(run, searched(W, sign, PAPER, 60), relative=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("kappa1", [0.1, 1e-8])
def test_two_thousand_neurons(kappa1):
    """Every event time of m = 2000 is within 1e-12 of the run with 25 right digits, which takes seconds."""
    W, sign = sphere(2000, 10, kappa1, 7)
    run, exact = network_flow_double(W, sign, PAPER), network_flow(W, sign, PAPER, 25)
    ours = switches(run)
    times = {key: [] for key in ours}
    e = run.events
    for n, k, b, a, t in zip(e.neuron, e.kind, e.before, e.after, e.time, strict=True):
        times[int(n), KINDS[k], PATTERNS[b], PATTERNS[a]].append(t)
    wanted = exact_switches(exact)
    assert times.keys() == wanted.keys()
    for key in wanted:
        for t, right in zip(times[key], wanted[key], strict=True):
            assert abs(exact.flow.ctx.mpf(float(t)) / right - 1) < 1e-12

"""The numerical flow goes on past the range of doubles: events, predictions and files at times up to 10^1000."""

import math
from importlib.util import find_spec

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fullnet
from fullnet.clock import LINEAR, clock_after, flow_time, units_between
from reduced import problem
from reduced.solve.network import network_flow

ctx = mpmath.mp.clone()
ctx.prec = 200

# Five living positive neurons for six negative ones at an angle just above arccos(5/6): T_II is about 10^390.
DELTA, SEED = 0.5877, 41
END = 1000 * math.log(10)
ENGINES = ["numpy", *(["numba"] if find_spec("numba") else [])]

log_times = st.floats(-50, 5000)


def exact_time(clock):
    """Read the clock with 200 bits."""
    clock, linear = ctx.mpf(clock), ctx.mpf(LINEAR)
    return clock if clock <= linear else linear * ctx.exp(clock / linear - 1)


def network():
    return fullnet.initial_network(24, 5, 0.1, 1.0, SEED)


def followed(engine="numpy", **options):
    return fullnet.gradient_flow(
        network(), fullnet.two_point(4, DELTA, 5), log_until=END, engine=engine, **options
    )


@settings(derandomize=True, deadline=None, max_examples=200)
@given(log_times)
def test_the_clock_tells_the_time(log_t):
    clock = fullnet.clock_at(log_t)
    assert abs(ctx.log(exact_time(clock)) - log_t) <= 4e-16 * (1 + abs(log_t))
    assert abs(fullnet.log_time(clock) - log_t) <= 4e-16 * (1 + abs(log_t))
    assert (flow_time(clock) == math.inf) == (log_t >= 709)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(log_times, log_times)
def test_the_clock_keeps_order(one, other):
    first, second = sorted((one, other))
    assert fullnet.clock_at(first) <= fullnet.clock_at(second)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(log_times, st.floats(-40, 40), st.floats(-30, 30))
def test_time_gained_is_time_between(log_t, ahead, log_units):
    start, log_unit = fullnet.clock_at(log_t), log_t + ahead - log_units
    end = clock_after(start, math.exp(log_units), log_unit)
    gained = ctx.exp(ctx.log(ctx.mpf(math.exp(log_units))) + log_unit)
    after = exact_time(start) + gained
    rounding = 4e-16 * (1 + abs(log_t) + abs(log_unit) + abs(log_units))
    assert abs(ctx.log(exact_time(end) / after)) <= 2 * rounding
    between = units_between(start, end, log_unit)
    known = (exact_time(end) - exact_time(start)) / ctx.exp(log_unit)
    assert abs(between - known) <= 4 * rounding * exact_time(end) / ctx.exp(log_unit)


def test_a_flow_starts_at_reading_zero():
    assert fullnet.clock_at(-math.inf) == 0
    assert fullnet.log_time(0.0) == -math.inf
    late = clock_after(0.0, 2.0, 1000.0)
    assert fullnet.log_time(late) == pytest.approx(1000 + math.log(2), rel=1e-15)
    assert units_between(0.0, late, 1000.0) == pytest.approx(2, rel=1e-12)


@pytest.mark.parametrize(
    ("log_t", "digits", "text"),
    [(math.log(12345), 3, "1.23e+04"), (1000 * math.log(10), 3, "1e+1000"), (2000.0, 6, "3.88118e+868")],
)
def test_late_times_are_written_out(log_t, digits, text):
    assert fullnet.time_text(fullnet.clock_at(log_t), digits) == text


@pytest.mark.parametrize("engine", ENGINES)
def test_late_events_are_those_of_the_exact_flow(engine):
    flow = followed(engine, estimate_error=True)
    assert flow.outcome.value == "finished"
    net = network()
    exact = network_flow(net.W, net.sign, problem(p=4, delta=DELTA), 30)
    phases = fullnet.phase_times(flow)
    late = exact.times["T_II"]
    assert late > exact.flow.ctx.mpf(10) ** 309, "the event must lie past the range of doubles"
    for name, t in exact.times.items():
        if name not in phases.errors:
            continue
        found = fullnet.log_time(phases.times[name])
        error = phases.errors[name] / min(phases.times[name], LINEAR)
        assert abs(exact.flow.ctx.log(t) - found) <= error < 1e-4, name
    assert sorted(e.neuron for e in flow.events) == sorted(e.neuron for e in exact.events)
    for power in (310, 500, 1000):
        f = flow.at(min(fullnet.clock_at(power * math.log(10)), flow.end))
        known = exact.flow.predictions(exact.flow.ctx.mpf(10) ** power)
        error = flow.prediction_error(fullnet.clock_at(power * math.log(10) - 1e-9))
        assert max(abs(mine - its) for mine, its in zip(f, known, strict=True)) <= error < 1e-5


def test_a_late_flow_is_kept_and_goes_on_bit_for_bit(tmp_path):
    whole = followed()
    late = int(np.searchsorted(whole.pieces.start, fullnet.clock_at(800.0)))
    part = followed(budget=fullnet.Budget(steps=late))
    assert part.outcome.value == "budget"
    assert LINEAR < part.end < whole.end
    fullnet.save(part, tmp_path / "part.npz")
    again = followed(resume=fullnet.load_trajectory(tmp_path / "part.npz"))
    for name in ("start", "used", "prediction", "impulse", "impulse_low"):
        assert np.array_equal(getattr(again.pieces, name), getattr(whole.pieces, name)), name
    assert np.array_equal(again.history.time, whole.history.time)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("loss", ["exp", "logistic"])
def test_a_point_that_no_neuron_learns_does_not_hold_up_the_others(engine, loss):
    # two orthogonal points, all neurons on the first: f₁′ = −ℓ′(f₁)/2, and f₂ stays 0
    data = fullnet.data_set([[1.0, 0.0], [0.0, 1.0]], [1, -1])
    net = fullnet.given_network([[0.1, -0.05], [0.08, -0.02]], [1, 1], 1.0)
    begin = fullnet.predictions(net, data)[0]
    for log_t in (30.0, 700.0, END):
        flow = fullnet.gradient_flow(
            net, data, loss=loss, log_until=log_t, engine=engine, estimate_error=True
        )
        assert flow.outcome.value == "finished"
        assert flow.steps < 2000
        first, second = flow.at(flow.end)
        assert second == 0
        t = ctx.exp(log_t)
        if loss == "exp":
            known = ctx.log(ctx.exp(begin) + t / 2)
        else:  # f + e^f grows by t/2
            level = ctx.mpf(begin) + ctx.exp(begin) + t / 2
            known = ctx.log(level)
            for _ in range(50):
                known = ctx.log(level - known)
        assert abs(first - known) <= flow.prediction_error(flow.end) < 1e-8
        found = fullnet.sample(flow, 8)
        assert np.all(np.isfinite(found.log_gradient))
        # ‖∇L‖ is the first point's force, which falls like 1/t
        assert found.log_gradient[-1] == pytest.approx(-log_t, abs=0.1 if log_t > 100 else 1)
        assert fullnet.detect(flow).plateaus[-1].end is None


@pytest.mark.parametrize("engine", ENGINES)
def test_a_network_without_living_neurons_stays_as_it_is(engine):
    data = fullnet.data_set([[1.0, 0.0], [0.0, 1.0]], [1, -1])
    net = fullnet.given_network([[-0.1, -0.05]], [1], 1.0)
    flow = fullnet.gradient_flow(net, data, log_until=END, engine=engine)
    assert (flow.outcome.value, flow.steps, flow.living.tolist()) == ("finished", 1, [False])
    assert np.array_equal(flow.neurons(flow.end), net.W)
    assert np.array_equal(flow.neurons(1e3), net.W)
    assert np.array_equal(flow.at([0.0, 1.0, flow.end]), np.zeros((3, 2)))


def test_late_samples_grow_like_the_logarithm():
    flow = followed()
    found = fullnet.table(flow, 60)
    assert found["log_t"][-1] == pytest.approx(END, rel=1e-14)
    assert np.all(np.diff(found["log_t"][1:]) > 0)
    late = found["log_t"] > 720
    assert np.all(np.isinf(found["t"][late]))
    # once both points are right, loss × t has a limit: ln(loss) falls like ln t
    slope = np.diff(found["log_loss"][late]) / np.diff(found["log_t"][late])
    assert np.allclose(slope, -1, atol=1e-2)
    assert "1e+1000" in repr(flow)
    assert "e+" in flow._repr_html_()


def test_the_command_follows_a_flow_that_far(run_cli):
    options = ["--delta", str(DELTA), "--m", "24", "--dim", "5", "--seed", str(SEED), "--until", "1e1000"]
    ode = run_cli("simulate", "--method", "ode", "--json", *options).record
    exact = run_cli("simulate", "--precision", "30", "--json", *options).record
    for name in ("T_II", "T_plat", "T_r_equals_c"):
        mine, its = ctx.mpf(ode["times"][name]), ctx.mpf(exact["times"][name])
        digits = len(ode["times"][name].split("e")[0].replace(".", ""))
        assert abs(ctx.log(mine / its)) <= 2 * ctx.mpf(10) ** (1 - digits), name
    assert ode["until"] == "1e+1000"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"until": 1e305}, "until: expected at most 1e.300, or log_until for a later end, got 1e.305"),
        ({"until": 1e3, "log_until": 5.0}, "log_until: expected until or log_until, not both, got 5.0"),
        ({"log_until": 1e9}, "log_until: expected at most 1e.08, got 1000000000.0"),
        ({"log_until": -1e9}, "log_until"),
        ({"log_until": math.nan}, "log_until: expected a finite number, got nan"),
        ({}, "until: expected a finite number, got None"),
    ],
)
def test_the_end_is_asked_for_once_and_within_reach(options, words):
    with pytest.raises(fullnet.InputError, match=words):
        fullnet.gradient_flow(network(), fullnet.two_point(4, DELTA, 5), **options)

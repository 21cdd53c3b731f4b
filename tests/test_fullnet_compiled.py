"""The compiled engine follows the same flow as plain NumPy, at a cost per event that does not grow with m."""

import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fullnet

pytest.importorskip("numba")


def ordered(flow):
    """Every event by neuron and order, with its time."""
    seen, found = {}, {}
    for event in flow.events:
        seen[event.neuron] = seen.get(event.neuron, 0) + 1
        found[event.neuron, seen[event.neuron], event.before, event.after] = event.t
    return found


def same_flow(net, data, until, loss="exp", rel=1e-10):
    one, other = (
        fullnet.gradient_flow(net, data, until, loss=loss, engine=engine) for engine in ("numpy", "numba")
    )
    mine, theirs = ordered(one), ordered(other)
    assert mine.keys() == theirs.keys()
    for key, t in mine.items():
        assert theirs[key] == pytest.approx(t, rel=rel), key
    t = np.geomspace(1e-4, until, 30)
    np.testing.assert_allclose(other.at(t), one.at(t), rtol=rel, atol=rel)
    np.testing.assert_allclose(other.neurons(until), one.neurons(until), rtol=rel, atol=rel)
    assert other.patterns(until) == one.patterns(until)
    return one, other


@pytest.mark.parametrize("loss", ["exp", "logistic"])
def test_two_points(loss):
    data = fullnet.two_point(4, np.pi / 15, 20)
    same_flow(fullnet.initial_network(200, 20, 0.1, 1.0, 1), data, 1e6, loss)


@pytest.mark.parametrize("loss", ["exp", "logistic"])
def test_noisy_data(loss):
    same_flow(fullnet.initial_network(150, 2, 0.1, 1.0, 2), fullnet.noisy(seed=2), 2e3, loss)


def lone_events(flow):
    """The events that are their neuron's only one at that moment; several are in no certain order."""
    moments = Counter((event.neuron, round(event.t, 9)) for event in flow.events)
    return [event for event in flow.events if moments[event.neuron, round(event.t, 9)] == 1]


@settings(derandomize=True, deadline=None, max_examples=12)
@given(seed=st.integers(0, 10**6), points=st.integers(1, 6), dim=st.integers(2, 4))
def test_random_data(seed, points, dim):
    """Data in general position: many crowds, slides on several surfaces, exits."""
    rng = np.random.default_rng([seed, 1])
    data = fullnet.data_set(rng.standard_normal((points, dim)), rng.choice([-1.0, 1.0], points))
    net = fullnet.initial_network(20, dim, 0.3, 1.0, seed)
    one, other = (
        fullnet.gradient_flow(net, data, 50.0, ridge="active", engine=engine) for engine in ("numpy", "numba")
    )
    np.testing.assert_allclose(other.at(50.0), one.at(50.0), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(other.neurons(50.0), one.neurons(50.0), atol=1e-10)
    mine, theirs = lone_events(one), lone_events(other)
    assert sorted((e.neuron, e.before, e.after) for e in mine) == sorted(
        (e.neuron, e.before, e.after) for e in theirs
    )
    assert [e.t for e in theirs] == pytest.approx([e.t for e in mine], rel=1e-10)


def test_identical_neurons_stay_identical():
    data = fullnet.two_point(4, np.pi / 15, 3)
    single = fullnet.initial_network(10, 3, 0.1, 1.0, seed=3)
    net = fullnet.given_network(np.repeat(single.W, 3, axis=0) / 3**0.5, np.repeat(single.sign, 3), 1.0)
    flow = fullnet.gradient_flow(net, data, until=1e4, engine="numba")
    alone = fullnet.gradient_flow(single, data, until=1e4)
    W = flow.neurons(1e4).reshape(10, 3, 3)
    np.testing.assert_allclose(W - W[:, :1], 0, atol=1e-12)
    assert len(flow.events) == 3 * len(alone.events)


def test_more_classes_than_first_room():
    """Data in general position meet hundreds of classes, so that the tables grow on the way."""
    rng = np.random.default_rng(0)
    data = fullnet.data_set(rng.standard_normal((8, 4)), rng.choice([-1.0, 1.0], 8))
    one, _ = same_flow(fullnet.initial_network(60, 4, 0.1, 1.0, 0), data, 20.0)
    assert len(one.history.keys) > 100


def test_dead_neurons_and_orthogonal_components_are_bit_identical():
    data = fullnet.two_point(4, np.pi / 15, 20)
    net = fullnet.initial_network(500, 20, 0.1, 1.0, seed=2)
    flow = fullnet.gradient_flow(net, data, until=1e6, engine="numba")
    last = flow.neurons(1e6)
    np.testing.assert_array_equal(last[:, 2:], net.W[:, 2:])
    for death in flow.deaths:
        np.testing.assert_array_equal(flow.neurons(death.t)[death.neuron], last[death.neuron])
    assert len(flow.deaths) == np.count_nonzero(~flow.living)


def test_error_estimate():
    data = fullnet.two_point(4, np.pi / 15, 3)
    net = fullnet.initial_network(300, 3, 0.1, 1.0, 5)
    flow = fullnet.gradient_flow(net, data, until=1e6, engine="numba", estimate_error=True)
    plain = fullnet.gradient_flow(net, data, until=1e6, engine="numpy")
    assert 0 < flow.time_error(1e4) < 1e-8
    for one, other in zip(flow.events, plain.events, strict=True):
        assert abs(one.t - other.t) <= 20 * flow.time_error(one.t)


@pytest.mark.slow
def test_cost_per_event_does_not_grow_with_the_width():
    """Ten times the neurons, ten times the events; the work per event (pieces, gates) stays the same."""
    import time

    data = fullnet.noisy(seed=0)
    cost = []
    for m in (1_000, 3_000, 30_000):
        net = fullnet.initial_network(m, 2, 0.1, 1.0, 0)
        began = time.process_time()
        flow = fullnet.gradient_flow(net, data, until=2e3, engine="numba")
        cost.append((time.process_time() - began) / len(flow.history.time))
        assert flow.steps < 1.2 * len(flow.history.time) + 200
    assert cost[2] < 3 * cost[1]


def doubled(x):
    return 2 * x


def test_a_kernel_is_known_to_be_compiled_once_it_was(tmp_path, monkeypatch):
    """In this process after its first call, in others from then on."""
    from numba.core import config

    from fullnet.compilation import is_compiled, kernel

    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    first = kernel()(doubled)
    assert not is_compiled(first)
    assert first(2.0) == 4.0
    assert is_compiled(first)
    assert is_compiled(kernel()(doubled))
    assert not is_compiled(kernel(fullnet)(doubled))  # other sources, another name on disk


def test_callers_are_told_before_kernels_are_compiled_and_only_then(monkeypatch):
    from fullnet import compiled

    data, net = fullnet.two_point(4, np.pi / 15, 3), fullnet.initial_network(10, 3, 0.1, 1.0, 0)
    told = []
    for ready, engine in ((False, "numba"), (True, "numba"), (False, "numpy")):
        monkeypatch.setattr(compiled, "is_compiled", lambda ready=ready: ready)
        fullnet.gradient_flow(net, data, 1.0, engine=engine, on_compile=lambda: told.append("now"))
    assert told == ["now"]


@pytest.mark.slow
def test_the_first_compilation_is_announced_and_takes_at_most_15_seconds(tmp_path):
    program = (
        "import time, sys, fullnet; from math import pi; began = time.process_time();"
        "net = fullnet.initial_network(100, 3, 0.1, 1.0, 0);"
        "fullnet.gradient_flow(net, fullnet.two_point(4, pi / 15, 3), 10.0, engine='numba',"
        " estimate_error=True, on_compile=lambda: print('compiling'));"
        "print(time.process_time() - began)"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = (
        subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, check=True, text=True
        )
        for _ in range(2)
    )
    told, seconds = first.stdout.split()
    assert told == "compiling"
    assert float(seconds) <= 15
    assert float(second.stdout) < 2

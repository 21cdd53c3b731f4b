"""A flow in a file is the flow: equal bit for bit after a round trip, and after being killed and resumed."""

import signal
import subprocess
import sys
import time
from importlib.util import find_spec

import numpy as np
import pytest

import fullnet
from fullnet.standing import MOVE_COLUMNS, PIECE_COLUMNS, STANDING_ARRAYS

ENGINES = ["numpy", *(["numba"] if find_spec("numba") else [])]
PROGRAM = """
import sys, fullnet
out, engine, m, resume = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "resume"
data, net = fullnet.noisy(seed=1), fullnet.initial_network(m, 2, 0.1, 1.0, 3)
earlier = fullnet.load_trajectory(out) if resume else None
fullnet.gradient_flow(
    net, data, 1e3, engine=engine, checkpoint=fullnet.Checkpoint(out, 0.0), resume=earlier
)
"""


def arrays(flow):
    """Everything a flow consists of."""
    yield from ((name, getattr(flow.pieces, name)) for name in PIECE_COLUMNS)
    yield from ((name, getattr(flow.history, name)) for name in (*MOVE_COLUMNS, "start"))
    yield from (
        (name, getattr(flow.standing, name)) for name in (*STANDING_ARRAYS, "t", "since", "since_low")
    )
    yield "W", flow.neurons(flow.end)
    yield "f", flow.at(np.linspace(0, flow.end, 7))


def assert_equal(one, other):
    for (name, mine), (_, theirs) in zip(arrays(one), arrays(other), strict=True):
        np.testing.assert_array_equal(mine, theirs, err_msg=name)
    assert one.history.keys == other.history.keys
    assert one.outcome == other.outcome
    assert one.events == other.events
    assert one.deaths == other.deaths


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("loss", ["exp", "logistic"])
def test_round_trip(tmp_path, engine, loss):
    data, net = fullnet.noisy(seed=1), fullnet.initial_network(60, 2, 0.1, 1.0, 3)
    flow = fullnet.gradient_flow(net, data, 500.0, loss=loss, engine=engine, estimate_error=True)
    fullnet.save(flow, tmp_path / "flow.npz")
    again = fullnet.load_trajectory(tmp_path / "flow.npz")
    assert_equal(flow, again)
    assert_equal(flow.shadow, again.shadow)
    assert again.time_error(100.0) == flow.time_error(100.0)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("bound", [{"steps": 0}, {"steps": 1}, {"steps": 150}, {"events": 100}])
def test_resuming_after_a_budget(tmp_path, engine, bound):
    data, net = fullnet.noisy(seed=1), fullnet.initial_network(60, 2, 0.1, 1.0, 3)
    whole = fullnet.gradient_flow(net, data, 1e3, engine=engine)
    part = fullnet.gradient_flow(net, data, 1e3, engine=engine, budget=fullnet.Budget(**bound))
    assert part.outcome is fullnet.Outcome.BUDGET
    assert part.end < whole.end
    np.testing.assert_array_equal(part.at(part.end), whole.at(part.end))
    fullnet.save(part, tmp_path / "part.npz")
    loaded = fullnet.load_trajectory(tmp_path / "part.npz")
    for earlier in (part, loaded, part):
        assert_equal(whole, fullnet.gradient_flow(net, data, 1e3, resume=earlier))


def test_a_finished_flow_goes_on():
    data, net = fullnet.two_point(4, np.pi / 15, 2), fullnet.initial_network(50, 2, 0.1, 1.0, 3)
    early = fullnet.gradient_flow(net, data, 1e3)
    late = fullnet.gradient_flow(net, data, 1e6, resume=early)
    whole = fullnet.gradient_flow(net, data, 1e6)
    assert [event.neuron for event in late.events] == [event.neuron for event in whole.events]
    np.testing.assert_allclose(late.at(1e6), whole.at(1e6), rtol=1e-12)


def test_another_problem_is_not_resumed():
    data, net = fullnet.two_point(4, np.pi / 15, 2), fullnet.initial_network(50, 2, 0.1, 1.0, 3)
    flow = fullnet.gradient_flow(net, data, 1.0)
    with pytest.raises(fullnet.InputError, match="resume: expected the same network"):
        fullnet.gradient_flow(net, data, 2.0, loss="logistic", resume=flow)
    with pytest.raises(fullnet.InputError, match="until: expected at least 1"):
        fullnet.gradient_flow(net, data, 0.5, resume=flow)


def test_damaged_files_are_refused(tmp_path):
    data, net = fullnet.two_point(4, np.pi / 15, 2), fullnet.initial_network(20, 2, 0.1, 1.0, 3)
    path = tmp_path / "flow.npz"
    fullnet.save(fullnet.gradient_flow(net, data, 1.0), path)
    content = path.read_bytes()
    for damaged in (b"", content[: len(content) // 2], b"no archive"):
        path.write_bytes(damaged)
        with pytest.raises(fullnet.InputError, match=r"path: .*flow.npz: expected"):
            fullnet.load_trajectory(path)
    np.savez(path, W=net.W)
    with pytest.raises(fullnet.InputError, match="an array 'sign'"):
        fullnet.load_trajectory(path)
    with pytest.raises(fullnet.InputError, match=r"out: .*flow.npz: expected a file that can be written"):
        fullnet.save(fullnet.gradient_flow(net, data, 1.0), tmp_path / "no" / "flow.npz")


def run(out, engine, m, resume):
    words = [sys.executable, "-c", PROGRAM, str(out), engine, str(m), "resume" if resume else "new"]
    return subprocess.Popen(words)


def killed_and_resumed(tmp_path, engine, m, times):
    """Kill a run so many times at random moments after its first saving, resuming each time; then finish."""
    out = tmp_path / "flow.npz"
    rng = np.random.default_rng(0)
    ends = []
    for _ in range(times):
        process = run(out, engine, m, resume=out.exists())
        deadline = time.monotonic() + 120
        before = out.stat().st_mtime_ns if out.exists() else None
        while process.poll() is None and time.monotonic() < deadline:
            if out.exists() and out.stat().st_mtime_ns != before:
                break
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.3))
        process.send_signal(signal.SIGKILL)
        process.wait()
        ends.append(fullnet.load_trajectory(out).end)
    assert ends == sorted(ends)
    assert run(out, engine, m, resume=True).wait() == 0
    data, net = fullnet.noisy(seed=1), fullnet.initial_network(m, 2, 0.1, 1.0, 3)
    assert_equal(fullnet.load_trajectory(out), fullnet.gradient_flow(net, data, 1e3, engine=engine))
    return ends


def test_killed_twice(tmp_path):
    ends = killed_and_resumed(tmp_path, "numpy", 300, 2)
    assert ends[0] > 0


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "m"), [("numpy", 1500), ("numba", 20_000)])
def test_killed_ten_times(tmp_path, engine, m):
    if engine == "numba":
        pytest.importorskip("numba")
    killed_and_resumed(tmp_path, engine, m, 10)

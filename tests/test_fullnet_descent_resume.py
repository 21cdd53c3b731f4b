"""A descent in a file is the descent: equal bit for bit after a round trip, and cut anywhere and gone on with."""

import signal
import subprocess
import sys
import time
from dataclasses import fields, replace
from importlib.util import find_spec

import numpy as np
import pytest

import fullnet

ENGINES = ("numpy", *(("numba",) if find_spec("numba") else ()))
PAIR = fullnet.two_point(4, np.pi / 15, 2)
NOISY = fullnet.noisy(seed=1)
STEPS = 6000
PROGRAM = """
import sys, numpy as np, fullnet
out, engine, resume = sys.argv[1], sys.argv[2], sys.argv[3] == "resume"
data, net = fullnet.noisy(seed=1), fullnet.initial_network(60, 2, 0.1, 1.0, 3)
earlier = fullnet.load_descents(out)[0] if resume else None
fullnet.pace.BETWEEN_SAVINGS = fullnet.descent.BETWEEN_SAVINGS = 0.0
fullnet.descent._PLAIN_AT_ONCE = fullnet.descent._COMPILED_AT_ONCE = 200_000
def keep(run): fullnet.save_descents([run], out)
keep(fullnet.gradient_descent(
    net, data, 0.01, 20_000, stop_early=False, engine=engine, on_checkpoint=keep, resume=earlier))
"""


def network(m=40):
    return fullnet.initial_network(m, 2, 0.3, 1.0, 3)


def descend(steps, data=PAIR, lr=0.01, **options):
    return fullnet.gradient_descent(network(), data, lr, steps, stop_early=False, **options)


def assert_equal(one, other):
    """Compare every field of two runs and of the states they stand in, bit for bit."""
    for mine, its in ((one, other), (one.state, other.state), (one.network, other.network)):
        for field in fields(mine):
            a, b = getattr(mine, field.name), getattr(its, field.name)
            if field.name in ("task", "state", "network"):
                continue
            if isinstance(a, np.ndarray):
                assert a.tobytes() == b.tobytes(), field.name
            else:
                assert a == b, field.name


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("data", [PAIR, NOISY], ids=["pair", "noisy"])
@pytest.mark.parametrize(("loss", "subgradient"), [("exp", 0), ("logistic", 0.5)])
def test_a_run_cut_anywhere_and_gone_on_with_is_the_run(tmp_path, engine, data, loss, subgradient):
    options = {"data": data, "loss": loss, "subgradient": subgradient, "engine": engine, "lr": 0.05}
    whole = descend(STEPS, **options)
    assert len(whole.accuracy_changes) > 1
    assert whole.flips > 0
    changed = [step for step, _ in whole.accuracy_changes]
    cuts = {0, 1, 2, 777, *(step + near for step in changed for near in (-1, 0, 1)), STEPS}
    if whole.T_II is not None:
        cuts |= {round(whole.T_II / whole.lr) + near for near in (-1, 0, 1)}
    part = None
    for cut in sorted(cut for cut in cuts if 0 <= cut <= STEPS):
        part = descend(cut, **options, resume=part)
        fullnet.save_descents([part], tmp_path / "part.npz")
        (loaded,) = fullnet.load_descents(tmp_path / "part.npz")
        assert_equal(part, loaded)
        part = loaded
    assert_equal(part, whole)


@pytest.mark.parametrize("engine", ENGINES)
def test_how_often_the_clock_is_looked_at_changes_nothing(monkeypatch, engine):
    whole = descend(STEPS, engine=engine)
    for name in ("_PLAIN_AT_ONCE", "_COMPILED_AT_ONCE"):
        monkeypatch.setattr(f"fullnet.descent.{name}", 7 * 80)
    assert_equal(descend(STEPS, engine=engine), whole)


def test_a_used_up_budget_keeps_what_was_made_and_longer_runs_go_on():
    begun = descend(STEPS, seconds=0)
    assert (begun.outcome, begun.steps, begun.asked) == (fullnet.Outcome.BUDGET, 0, STEPS)
    part = descend(10**9, engine="numpy", seconds=0.2)
    assert part.outcome is fullnet.Outcome.BUDGET
    assert 0 < part.steps < 10**9
    longer = descend(part.steps + 500, resume=part)
    assert_equal(longer, descend(part.steps + 500, engine="numpy"))
    assert longer.outcome is fullnet.Outcome.STEPS


def test_an_earlier_part_is_left_as_it_was():
    part, again = descend(700), descend(700)
    descend(STEPS, resume=part)
    assert_equal(part, again)


def test_checkpoints_are_parts_of_the_run(monkeypatch):
    monkeypatch.setattr("fullnet.descent.BETWEEN_SAVINGS", 0.0)
    monkeypatch.setattr("fullnet.descent._PLAIN_AT_ONCE", 1000 * 80)
    seen = []
    whole = descend(STEPS, on_checkpoint=seen.append)
    assert len(seen) > 1
    for part in seen:
        assert_equal(descend(STEPS, resume=part), whole)


def test_the_file_holds_what_other_programs_want(tmp_path):
    runs = [descend(STEPS, lr=lr) for lr in (0.01, 0.05)]
    fullnet.save_descents(runs, tmp_path / "runs.npz")
    with np.load(tmp_path / "runs.npz", allow_pickle=False) as found:
        for n, run in enumerate(runs):
            np.testing.assert_array_equal(found["final"][n], run.network.W)
            np.testing.assert_array_equal(found["predictions"][n], run.predictions)
            times = [np.nan if t is None else t for t in (run.T_plat, run.T_II)]
            np.testing.assert_array_equal(found["times"][n], times)
            assert (found["lr"][n], found["steps"][n]) == (run.lr, run.steps)
    last = fullnet.load_network(tmp_path / "runs.npz", 1.0)
    np.testing.assert_array_equal(last.W, runs[-1].network.W)
    np.testing.assert_allclose(fullnet.predictions(last, PAIR), runs[-1].predictions, rtol=1e-10)
    np.testing.assert_array_equal(fullnet.load_data(tmp_path / "runs.npz").X, PAIR.X)


def test_runs_of_another_problem_are_refused(tmp_path):
    part = descend(100)
    for changed in ({"lr": 0.02}, {"loss": "logistic"}, {"subgradient": 1}, {"data": NOISY}):
        with pytest.raises(
            fullnet.InputError, match="resume: expected the same network, data, loss, learning"
        ):
            descend(200, **changed, resume=part)
    with pytest.raises(fullnet.InputError, match="steps: expected at least 100, made by the run to resume"):
        descend(99, resume=part)
    with pytest.raises(fullnet.InputError, match="runs: expected descents of one network"):
        fullnet.save_descents([part, descend(100, loss="logistic")], tmp_path / "runs.npz")
    with pytest.raises(fullnet.InputError, match="runs: expected at least one descent"):
        fullnet.save_descents([], tmp_path / "runs.npz")
    assert not list(tmp_path.iterdir())


def test_other_files_are_refused(tmp_path):
    flow, runs = tmp_path / "flow.npz", tmp_path / "runs.npz"
    fullnet.save(fullnet.gradient_flow(network(), PAIR, 1.0), flow)
    fullnet.save_descents([descend(100)], runs)
    with pytest.raises(
        fullnet.InputError, match=r"flow.npz: expected gradient descents of format descents 1"
    ):
        fullnet.load_descents(flow)
    with pytest.raises(
        fullnet.InputError, match=r"runs.npz: expected a trajectory of format 1, got format desc"
    ):
        fullnet.load_trajectory(runs)
    with np.load(runs) as archive:
        arrays = dict(archive)
    np.savez(runs, **(arrays | {"z": arrays["z"][:, :3]}))
    with pytest.raises(fullnet.InputError, match="gradient descents as they were saved"):
        fullnet.load_descents(runs)
    content = flow.read_bytes()
    runs.write_bytes(content[: len(content) // 2])
    with pytest.raises(fullnet.InputError, match=r"path: .*runs.npz: expected a whole"):
        fullnet.load_descents(runs)


def test_a_run_made_with_numba_needs_it_to_go_on(monkeypatch):
    part = descend(100, engine="numpy")
    compiled = replace(part, task=replace(part.task, compiled=True))
    monkeypatch.setitem(sys.modules, "fullnet.descent_kernel", None)
    with pytest.raises(
        fullnet.InputError, match="resume: expected numba to be installed, got a descent made"
    ):
        descend(200, resume=compiled)


@pytest.mark.parametrize("engine", ENGINES)
def test_killed_and_resumed(tmp_path, engine):
    out, rng = tmp_path / "run.npz", np.random.default_rng(0)
    made = []
    for _ in range(2):
        words = [sys.executable, "-c", PROGRAM, str(out), engine, "resume" if made else "new"]
        process = subprocess.Popen(words)
        before = out.stat().st_mtime_ns if made else None
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            if out.exists() and out.stat().st_mtime_ns != before:
                break
            time.sleep(0.002)
        time.sleep(rng.uniform(0, 0.1))
        process.send_signal(signal.SIGKILL)
        process.wait()
        made.append(fullnet.load_descents(out)[0].steps)
    assert 0 < made[0] <= made[1]
    assert subprocess.run([*words[:-1], "resume"], check=True).returncode == 0
    net = fullnet.initial_network(60, 2, 0.1, 1.0, 3)
    whole = fullnet.gradient_descent(net, NOISY, 0.01, 20_000, stop_early=False, engine=engine)
    assert_equal(fullnet.load_descents(out)[0], whole)

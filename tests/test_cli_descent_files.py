"""Claim: an interrupted gd loses nothing that was saved: it goes on from its file, bit for bit."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import fullnet

ROOT = Path(__file__).parent.parent
SMALL = ("--m", "20", "--dim", "3", "--seed", "1", "--until", "400")
RATES = ("--lr", "0.1", "--lr", "0.04")


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _arrays(path: str) -> dict[str, bytes]:
    with np.load(path) as archive:
        return {name: archive[name].tobytes() for name in archive.files}


def test_a_run_gone_on_with_is_the_run(run_cli: Callable) -> None:
    whole = run_cli("gd", *SMALL, *RATES, "--out", "whole.npz", "--json")
    assert whole.code == 0
    assert "reduced: wrote whole.npz\n" in whole.err
    assert run_cli("gd", *SMALL, *RATES, "--out", "part.npz", "--steps", "700").code == 0
    assert _arrays("part.npz") != _arrays("whole.npz")
    ended = run_cli("gd", *SMALL, *RATES, "--out", "part.npz", "--steps", "150000", "--resume", "--json")
    assert ended.record == whole.record
    assert _arrays("part.npz") == _arrays("whole.npz")


def test_alone_it_takes_everything_from_the_file(run_cli: Callable) -> None:
    given = ("--preset", "noisy", "--m", "10", "--dim", "2", "--loss", "logistic", "--subgradient", "1/2")
    whole = run_cli("gd", *given, *RATES, "--steps", "900", "--out", "whole.npz", "--json").record
    runs = fullnet.load_descents("whole.npz")
    part = fullnet.gradient_descent(
        runs[0].task.network, runs[0].task.data, 0.1, 900, "logistic", 0.5, stop_early=False, seconds=0
    )
    fullnet.save_descents([part, runs[1]], "part.npz")
    found = run_cli("gd", "--out", "part.npz", "--resume", "--json").record
    assert found.pop("notes") == ["network, data and loss are those of part.npz"]
    assert found["runs"] == whole["runs"]
    assert _arrays("part.npz") == _arrays("whole.npz")


def test_another_learning_rate_joins_the_file(run_cli: Callable) -> None:
    assert run_cli("gd", *SMALL, "--lr", "0.1", "--out", "runs.npz").code == 0
    assert run_cli("gd", *SMALL, "--lr", "0.04", "--out", "runs.npz", "--resume").code == 0
    assert run_cli("gd", *SMALL, *RATES, "--out", "whole.npz").code == 0
    assert _arrays("runs.npz") == _arrays("whole.npz")


def test_a_used_up_budget_leaves_all_runs_in_the_file(run_cli: Callable) -> None:
    words = ("gd", *SMALL[:-2], "--steps", "1000000000", *RATES, "--out", "runs.npz", "--json")
    cut = run_cli(*words, "--budget", "1.5")
    assert (cut.code, cut.record["outcome"]) == (3, "budget")
    assert [run["outcome"] for run in cut.record["runs"]] == ["budget"]
    first, second = fullnet.load_descents("runs.npz")
    assert (first.steps, second.steps) == (cut.record["runs"][0]["steps"], 0)
    assert 0 < first.steps < first.asked == second.asked == 10**9
    assert run_cli(*words, "--budget", "1.5", "--resume").code == 3
    assert fullnet.load_descents("runs.npz")[0].steps > first.steps


def test_ctrl_c_leaves_what_was_saved(run_cli: Callable) -> None:
    words = ("gd", *SMALL[:-2], "--lr", "0.1", "--out", "runs.npz")
    source = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import fullnet.descent, reduced.cli\n"
        "fullnet.descent.BETWEEN_SAVINGS = 0.0\n"
        f"sys.exit(reduced.cli.main([*{words!r}, '--steps', '1000000000']))\n"
    )
    child = subprocess.Popen([sys.executable, "-c", source], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if Path("runs.npz").exists() and fullnet.load_descents("runs.npz")[0].steps > 0:
            break
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    _, complaint = child.communicate(timeout=60)
    assert child.returncode in (130, -signal.SIGINT)
    assert complaint == "reduced: interrupted\n"
    assert [path.name for path in Path().iterdir()] == ["runs.npz"]
    (cut,) = fullnet.load_descents("runs.npz")
    goal = str(cut.steps + 1000)
    assert run_cli(*words, "--steps", goal, "--resume").code == 0
    (run,) = fullnet.load_descents("runs.npz")
    engine = "numba" if run.task.compiled else "numpy"
    whole = fullnet.gradient_descent(
        run.task.network, run.task.data, 0.1, run.steps, stop_early=False, engine=engine
    )
    assert run.network.W.tobytes() == whole.network.W.tobytes()
    assert run.accuracy_changes == whole.accuracy_changes
    assert run.flips == whole.flips


def test_the_file_is_a_start_for_others(run_cli: Callable) -> None:
    assert run_cli("gd", *SMALL, *RATES, "--out", "runs.npz").code == 0
    last = fullnet.load_descents("runs.npz")[-1]
    found = run_cli("gd", "--init", "runs.npz", "--data", "runs.npz", "--steps", "0", "--json").record
    expected = fullnet.log_loss(last.network, last.task.data)
    assert float(found["runs"][0]["final"]["log_loss"]) == pytest.approx(expected, rel=1e-10)


def test_what_cannot_be_gone_on_with_is_told_in_one_sentence(run_cli: Callable) -> None:
    words = ("gd", *SMALL, "--lr", "0.1")
    assert run_cli(*words, "--out", "runs.npz").code == 0
    assert run_cli("simulate", *SMALL, "--out", "flow.npz").code == 0
    before = _arrays("runs.npz")
    for more, complaint in (
        (("--resume",), "resume: expected --out FILE, what to go on with, got no file"),
        (("--resume", "--out", "none.npz"), "out: none.npz: expected an existing file, got none"),
        (("--resume", "--out", "flow.npz"), "out: flow.npz: expected gradient descents of format descents 1"),
        (
            ("--resume", "--out", "runs.npz", "--seed", "2"),
            "resume: expected the same network, data, loss, l",
        ),
        (
            ("--resume", "--out", "runs.npz", "--subgradient", "1"),
            "resume: expected the same network, data, ",
        ),
        (("--resume", "--out", "runs.npz", "--steps", "3"), "steps: expected at least 4000, made by the run"),
        (("--out", "no/runs.npz"), "out: no/runs.npz: expected a file that can be written, got No such file"),
    ):
        ended = run_cli(*words, *more)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err.startswith(f"reduced: {complaint}")
        assert len(ended.err.splitlines()) == 1
    assert _arrays("runs.npz") == before
    assert "reduced: replaced runs.npz\n" in run_cli(*words, "--out", "runs.npz").err

"""Claim: however often a sweep is killed or interrupted, and whoever shares its file, the rows come out the same.

Sweeps run as processes of their own and are killed once they have written so many rows.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reduced import sweep
from reduced.sweep.compute import compute

ROOT = Path(__file__).parent.parent
Kept = dict[str, tuple[str, str | None, str]]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kills processes by POSIX signals")


def _words(count: int) -> list[str]:
    """Return a sweep of that many points, one of which fails, each a few hundredths of a second."""
    axes = ["--p", f"1,lin(2, 9, {count - 1})", "--alpha-plus", "1/4", "--alpha-minus", "3/20"]
    return ["--digits", "20", *axes]


def _points(count: int) -> list[sweep.Point]:
    words = _words(count)
    axes = {name[2:].replace("-", "_"): text for name, text in zip(words[::2], words[1::2], strict=True)}
    return sweep.grid("plateau", axes)


def _start(count: int, path: Path, workers: int = 2) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "reduced", "sweep", *_words(count), "--workers", str(workers), "--json"]
    return subprocess.Popen(
        [*command, "-o", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        start_new_session=True,
    )


def _kept(path: Path) -> Kept:
    """Return result, error and time of writing of every row."""
    if not path.exists():
        return {}
    db = sqlite3.connect(path, timeout=60)
    try:
        rows = db.execute("SELECT config, result, error, finished FROM rows").fetchall()
    except sqlite3.OperationalError:
        return {}  # the tables are not there yet
    finally:
        db.close()
    return {config: (result, error, finished) for config, result, error, finished in rows}


def _wait_for_rows(path: Path, count: int, child: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while len(_kept(path)) < count and child.poll() is None:
        assert time.monotonic() < deadline, "the sweep writes no rows"
        time.sleep(0.01)


def _group_is_gone(group: int) -> bool:
    """Wait until no process of a sweep is left."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def _kill(child: subprocess.Popen[str]) -> None:
    child.kill()
    child.communicate()


def _end(child: subprocess.Popen[str]) -> tuple[int, dict[str, int]]:
    out, err = child.communicate(timeout=120)
    assert err == ""
    return child.returncode, json.loads(out)


def _assert_uninterrupted(path: Path, count: int) -> None:
    """Compare the file, row for row, with every point computed here and now."""
    expected = [compute(point.key) for point in sorted(_points(count), key=lambda point: point.key)]
    found = sweep.read_rows(path)
    assert [(row.key, row.result, row.error, row.versions) for row in found] == [
        (row.key, row.result, row.error, row.versions) for row in expected
    ]
    db = sqlite3.connect(path)
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert db.execute("SELECT count(*) FROM claims").fetchone() == (0,)
    assert db.execute("SELECT count(*) FROM runs").fetchone() == (0,)
    db.close()


def _killed_and_resumed(path: Path, count: int, kills: int) -> None:
    draw = random.Random(6)
    seen: Kept = {}
    for _ in range(kills):
        child = _start(count, path)
        _wait_for_rows(path, len(seen) + draw.randint(0, 5), child)
        time.sleep(draw.random() / 10)
        assert child.poll() is None, "the sweep ended before it was killed"
        _kill(child)
        assert _group_is_gone(child.pid), "workers outlive their parent"
        kept = _kept(path)
        assert {config: kept[config] for config in seen} == seen
        seen = kept
    code, report = _end(_start(count, path))
    assert (code, report["points"], report["finished"], report["failed"]) == (1, count, count, 1)
    assert report["computed"] == count - len(seen)
    kept = _kept(path)
    assert {config: kept[config] for config in seen} == seen
    _assert_uninterrupted(path, count)


def test_a_killed_sweep_goes_on_where_it_was(tmp_path: Path) -> None:
    _killed_and_resumed(tmp_path / "s.db", count=30, kills=1)


@pytest.mark.slow
def test_a_sweep_killed_ten_times_equals_an_uninterrupted_one(tmp_path: Path) -> None:
    _killed_and_resumed(tmp_path / "s.db", count=250, kills=10)


def test_two_sweeps_on_one_file_share_the_work(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    children = [_start(30, path, workers=1) for _ in range(2)]
    ended = [_end(child) for child in children]
    assert [(code, report["finished"]) for code, report in ended] == [(1, 30), (1, 30)]
    assert sum(report["computed"] for _, report in ended) == 30
    _assert_uninterrupted(path, 30)


def test_a_sweep_takes_over_what_a_killed_one_had_claimed(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    first = _start(30, path, workers=1)
    _wait_for_rows(path, 2, first)
    second = _start(30, path, workers=1)
    _wait_for_rows(path, 10, first)
    _kill(first)
    code, report = _end(second)
    assert (code, report["finished"]) == (1, 30)
    _assert_uninterrupted(path, 30)


def test_ctrl_c_ends_cleanly_and_says_how_to_resume(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    child = _start(200, path)
    _wait_for_rows(path, 3, child)
    os.killpg(child.pid, signal.SIGINT)
    out, err = child.communicate(timeout=20)
    assert (child.returncode, out) == (130, "")
    assert err.splitlines() == [
        f"reduced: all finished rows are in {path}; the same command goes on from there",
        "reduced: interrupted",
    ]
    assert _group_is_gone(child.pid)
    rows = len(_kept(path))
    assert 3 <= rows < 200
    db = sqlite3.connect(path)
    assert db.execute("SELECT count(*) FROM claims").fetchone() == (0,)
    db.close()

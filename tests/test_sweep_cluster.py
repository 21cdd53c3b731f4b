"""Claim: the workers of a Dask scheduler compute the same rows as local ones, also when one of them is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reduced import sweep
from reduced.errors import InputError, MissingExtra
from reduced.sweep import workers
from reduced.sweep.compute import compute

ROOT = Path(__file__).parent.parent
POINTS = sweep.grid("limit", {"p": "1:31", "digits": "100"})


def test_without_dask_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(workers, "import_module", absent)
    with pytest.raises(MissingExtra, match=r"reduced-dynamics\[cluster\]"):
        sweep.run(POINTS, tmp_path / "s.db", scheduler="tcp://127.0.0.1:1")


def _spawn(*words: str) -> subprocess.Popen[bytes]:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-m", *words],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@contextmanager
def _cluster(
    folder: Path, count: int
) -> Iterator[tuple[str, list[subprocess.Popen[bytes]], subprocess.Popen[bytes]]]:
    """Run a scheduler and workers as processes; yield the address, the workers and the scheduler."""
    import json

    known = folder / "scheduler.json"
    shared = ("--no-dashboard", "--scheduler-file", str(known))
    scheduler = _spawn("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", *shared)
    crew: list[subprocess.Popen[bytes]] = []
    try:
        deadline = time.monotonic() + 60
        while not known.exists() or not known.read_text():
            assert scheduler.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        for _ in range(count):
            options = ("--nthreads", "1", "--no-nanny", "--local-directory", str(folder))
            crew.append(_spawn("distributed.cli.dask_worker", *options, *shared))
        yield json.loads(known.read_text())["address"], crew, scheduler
    finally:
        for process in [*crew, scheduler]:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def expected() -> list[tuple]:
    rows = (compute(point.key) for point in sorted(POINTS, key=lambda point: point.key))
    return [(row.key, row.result, row.error, row.versions) for row in rows]


def _rows(path: Path) -> list[tuple]:
    return [(row.key, row.result, row.error, row.versions) for row in sweep.read_rows(path)]


@pytest.mark.slow
def test_a_cluster_gives_the_same_rows_also_when_a_worker_is_killed(
    tmp_path: Path, expected: list[tuple]
) -> None:
    pytest.importorskip("distributed")
    with _cluster(tmp_path, 2) as (address, crew, _):
        whole = sweep.run(POINTS, tmp_path / "whole.db", scheduler=address)
        assert (whole.progress.computed, whole.progress.failed) == (30, 1)
        assert _rows(tmp_path / "whole.db") == expected
        report = sweep.run(
            POINTS, tmp_path / "halved.db", scheduler=address, on_progress=_kill_at(4, crew[0])
        )
        assert crew[0].wait(30) == -9
        assert (report.progress.finished, report.progress.failed) == (30, 1)
        assert _rows(tmp_path / "halved.db") == expected


@pytest.mark.slow
def test_a_cluster_that_goes_away_ends_the_sweep_which_goes_on_locally(
    tmp_path: Path, expected: list[tuple]
) -> None:
    pytest.importorskip("distributed")
    with _cluster(tmp_path, 1) as (address, _, scheduler), pytest.raises(workers.WorkersLost):
        sweep.run(POINTS, tmp_path / "s.db", scheduler=address, on_progress=_kill_at(4, scheduler))
    assert 4 <= len(_rows(tmp_path / "s.db")) < 30
    sweep.run(POINTS, tmp_path / "s.db", workers=1)
    assert _rows(tmp_path / "s.db") == expected


def test_an_address_nobody_answers_at_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(workers, "_CONNECT_SECONDS", 0.5)
    for address in ("tcp://127.0.0.1:9", "nonsense://x", "tcp://127.0.0.1:port"):
        with pytest.raises(InputError, match="scheduler: "):
            sweep.run(POINTS, tmp_path / "s.db", scheduler=address)


def _kill_at(rows: int, process: subprocess.Popen[bytes]) -> Callable[[sweep.Progress], None]:
    def kill(found: sweep.Progress) -> None:
        if found.computed == rows:
            process.kill()

    return kill

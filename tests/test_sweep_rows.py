"""Claim: a sweep's rows hold what the package's own functions return, and a point that fails holds why."""

from __future__ import annotations

import math
import os
import signal
from decimal import Decimal
from multiprocessing import active_children
from pathlib import Path

import pytest

import fullnet
import reduced
from reduced import sweep
from reduced.crosscheck import crosscheck
from reduced.errors import InputError
from reduced.sweep import runner
from reduced.sweep.compute import compute, trusted

NETWORK = {"m": "20", "dim": "3", "kappa1": "1/50", "seed": "1", "until": "1e7"}


def _row(computation: str, axes: dict[str, str]) -> sweep.Row:
    (point,) = sweep.grid(computation, axes)
    row = compute(point.key)
    assert (row.key, row.error) == (point.key, None)
    return row


def _network() -> fullnet.Network:
    return fullnet.initial_network(20, 3, 1 / 50, 1.0, 1)


def test_plateau_rows_are_the_timeline() -> None:
    result = _row("plateau", {"p": "3", "alpha_plus": "1/4", "alpha_minus": "3/20", "digits": "25"}).result
    problem = reduced.problem(3, "pi/15", "1/4", "3/20")
    found = reduced.timeline(problem, reduced.start(), 25)
    assert {name: result[name] for name in found.times} == found.times
    assert (result["f_plus at T_II"], result["f_minus at T_II"]) == found.predictions["T_II"]
    law = reduced.asymptotic(problem, reduced.start(), 17)
    assert (result["law T_plat"], result["law T_II"]) == (law.T_plat, law.T_II)


def test_logistic_plateau_rows_come_from_taylor() -> None:
    result = _row(
        "plateau", {"alpha_plus": "1/4", "alpha_minus": "3/20", "digits": "10", "loss": "logistic"}
    ).result
    assert result["T_plat"] == "863.270363"  # the README's, rounded


def test_the_law_of_the_living_fractions_is_resolved_in_the_row() -> None:
    result = _row("limit", {"digits": "20"}).result
    found = reduced.limit(reduced.problem(), 20)
    assert (result["gamma"], result["gamma_ratio"], result["rho"]) == (
        found.gamma,
        found.gamma_ratio,
        found.rho,
    )
    assert result["resolved alpha_plus"] == "0.25"


def test_simulate_rows_are_the_flow_with_its_trusted_digits() -> None:
    result = _row("simulate", NETWORK).result
    network = _network()
    flow = fullnet.gradient_flow(network, fullnet.two_point(4, math.pi / 15, 3), 1e7, estimate_error=True)
    phases = fullnet.phase_times(flow)
    assert result["positive"] == len(phases.positive)
    for name in ("T_plat", "T_II", "T_III"):
        error = phases.errors[name]
        assert abs(Decimal(result[name]) - Decimal(phases.times[name])) <= Decimal(10 * error)
        assert float(result[f"{name} error"]) == pytest.approx(error, rel=0.01)


def test_crosscheck_rows_carry_the_verdict() -> None:
    result = _row("crosscheck", NETWORK).result
    found = crosscheck(_network(), reduced.problem(), until=1e7, learning_rates=())
    assert (result["agree"], result["checks"]) == (found.agree, len(found.checks))
    times = {check.quantity: check for check in found.checks}
    assert (result["T_II"], result["T_II reduced"]) == (times["T_II"].full, times["T_II"].reduced)


def test_descent_rows_stand_beside_the_flow() -> None:
    result = _row("gd", NETWORK | {"delta": "pi/5", "lr": "1/100", "steps": "4000"}).result
    run = fullnet.gradient_descent(_network(), fullnet.two_point(4, math.pi / 5, 3), 1 / 100, 4000)
    assert run.T_plat is not None
    assert float(result["T_plat"]) == pytest.approx(run.T_plat, rel=1e-11)
    assert float(result["flow T_plat"]) == pytest.approx(run.T_plat, rel=1e-3)
    assert (result["steps"], result["lost negative"], result["T_II"]) == (4000, 0, None)


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [(284.8412253, 1e-3, "284.84"), (2.0, 0.0, "2"), (1e-9, 1e-8, "0"), (5.4321, 3.0, "5")],
)
def test_doubles_are_written_with_the_digits_their_error_leaves(
    value: float, error: float, text: str
) -> None:
    assert trusted(value, error, 17) == text


def test_a_failing_point_becomes_a_row_and_the_sweep_goes_on(tmp_path: Path) -> None:
    points = sweep.grid("limit", {"p": "1,2,3", "digits": "10"})
    report = sweep.run(points, tmp_path / "s.db", workers=1)
    assert report.progress == sweep.Progress(3, 3, 1, 3)
    assert report.outcome is reduced.Outcome.FINISHED
    rows = {row.config["p"]: row for row in sweep.read_rows(tmp_path / "s.db")}
    assert rows["1"].error == "p: expected p cos(delta) > 1 (Assumption 3.1), got 1"
    assert rows["1"].result == {}
    assert rows["2"].error is rows["3"].error is None
    for row in rows.values():
        assert row.versions["reduced"] == reduced.__version__
        assert row.config["digits"] == 10
    again = sweep.run(points, tmp_path / "s.db", workers=1)
    assert again.progress == sweep.Progress(3, 3, 1, 0)
    retried = sweep.run(points, tmp_path / "s.db", workers=1, retry_failed=True)
    assert retried.progress == sweep.Progress(3, 3, 1, 1)


def test_the_sweep_survives_the_death_of_a_worker(tmp_path: Path) -> None:
    points = sweep.grid("limit", {"p": "2:26", "digits": "60"})
    killed: list[int] = []

    def kill_once(found: sweep.Progress) -> None:
        if found.computed == 3 and not killed:
            killed.append(active_children()[0].pid or 0)
            os.kill(killed[0], signal.SIGKILL)

    report = sweep.run(points, tmp_path / "s.db", workers=2, on_progress=kill_once)
    assert killed
    assert (report.progress.finished, report.progress.failed) == (24, 0)
    assert [row.result for row in sweep.read_rows(tmp_path / "s.db")] == [
        compute(point.key).result for point in sorted(points, key=lambda point: point.key)
    ]


def test_a_point_that_kills_its_worker_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fatal_point.py").write_text(
        "import os\nfrom reduced.sweep.compute import compute as ordinary\n\n"
        'def compute(key):\n    return os._exit(9) if \'"p":"5"\' in key else ordinary(key)\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    import fatal_point  # type: ignore[import-not-found]

    monkeypatch.setattr(runner, "compute", fatal_point.compute)
    report = sweep.run(sweep.grid("limit", {"p": "2:10", "digits": "5"}), tmp_path / "s.db", workers=2)
    assert (report.progress.finished, report.progress.failed) == (8, 1)
    (failed,) = (row for row in sweep.read_rows(tmp_path / "s.db") if row.error)
    assert (failed.config["p"], failed.error) == ("5", "the worker process died on this point")


def test_a_budget_ends_the_sweep_and_the_next_call_goes_on(tmp_path: Path) -> None:
    points = sweep.grid("limit", {"p": "2:6", "digits": "5"})
    first = sweep.run(points, tmp_path / "s.db", workers=1, budget=1e-6)
    assert (first.outcome, first.progress.computed) == (reduced.Outcome.BUDGET, 0)
    second = sweep.run(points, tmp_path / "s.db", workers=1)
    assert (second.outcome, second.progress.computed) == (reduced.Outcome.FINISHED, 4)


def test_any_other_file_is_left_alone(tmp_path: Path) -> None:
    import sqlite3

    points = sweep.grid("limit", {})
    text = tmp_path / "text.db"
    text.write_text("not a database, but a letter to a friend " * 20)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE rows (x)")
    db.close()
    before = text.read_bytes(), other.read_bytes()
    for path in (text, other, tmp_path, tmp_path / "no" / "folder.db"):
        with pytest.raises(InputError, match=r"out: .*expected"):
            sweep.run(points, path, workers=1)
        with pytest.raises(InputError, match=r"file: .*expected"):
            sweep.read_rows(path)
    assert (text.read_bytes(), other.read_bytes()) == before


def test_unusable_workers_are_refused(tmp_path: Path) -> None:
    points = sweep.grid("limit", {})
    with pytest.raises(InputError, match="workers: "):
        sweep.run(points, tmp_path / "s.db", workers=0)
    with pytest.raises(InputError, match="workers: "):
        sweep.run(points, tmp_path / "s.db", workers=2, scheduler="tcp://127.0.0.1:1")

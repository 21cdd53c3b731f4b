"""Claim: the summary finds the powers that are in the rows, and says so in text, JSON and pictures."""

from __future__ import annotations

import csv
import io
import json
import math
import sqlite3
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reduced
from reduced import sweep
from reduced.errors import InputError, MissingExtra
from reduced.sweep import store, table
from reduced.sweep.plot import draw_fit
from reduced.sweep.scaling import Fit, Series
from tests import labels


def _made(computation: str, axes: dict[str, str], value: Callable[[dict], str | None]) -> list[sweep.Row]:
    """Return rows whose T_plat is made up."""
    points = sweep.grid(computation, axes)
    return [sweep.Row(point.key, {"T_plat": value(point.config)}, None, {}, 0.0) for point in points]


def _number(text: str) -> float:
    """Return a fraction such as 1/2, or one of π such as pi/10, as a double."""
    top, _, bottom = text.partition("/")
    return (math.pi if top == "pi" else float(top)) / float(bottom or 1)


@settings(derandomize=True, deadline=None, max_examples=30)
@given(st.floats(-4, 4), st.floats(-3, 3), st.floats(0.1, 1000))
def test_a_power_law_is_found_with_its_constant(a: float, b: float, constant: float) -> None:
    rows = _made(
        "plateau",
        {"p": "2,4,8", "delta": "pi/10,pi/20,pi/40"},
        lambda config: repr(constant * _number(config["delta"]) ** a * _number(config["p"]) ** b),
    )
    fits = {fit.parameter: fit for fit in sweep.summary(rows)}
    assert set(fits) == {"p", "delta"}
    assert fits["delta"].exponent == pytest.approx(a, abs=1e-9)
    assert fits["p"].exponent == pytest.approx(b, abs=1e-9)
    assert fits["p"].error < 1e-9
    ends = sorted(constant * 2.0**b * x for x in (1.0, 4.0**b))
    assert [float(x) for x in fits["delta"].constants] == pytest.approx(ends, rel=1e-5)
    assert (fits["p"].points, fits["p"].left_out, len(fits["p"].series)) == (9, 0, 3)


def test_the_standard_error_is_that_of_the_textbook() -> None:
    scipy_stats = pytest.importorskip("scipy.stats")
    noise = {"2": 1.0, "3": 1.3, "5": 0.8, "7": 1.1}
    rows = _made("plateau", {"p": "2,3,5,7"}, lambda config: repr(noise[config["p"]]))
    (fit,) = sweep.summary(rows)
    line = scipy_stats.linregress([math.log(int(p)) for p in noise], [math.log(y) for y in noise.values()])
    assert (fit.exponent, fit.error) == (pytest.approx(line.slope), pytest.approx(line.stderr))


def test_what_has_no_logarithm_is_left_out_and_counted() -> None:
    values = {2: "8", 3: "inf", 4: "64", 5: None, 6: "216", 7: "1e1780"}
    rows = _made("plateau", {"p": "2:8"}, lambda config: values[int(config["p"])])
    (fit,) = sweep.summary([row for row in rows if row.config["p"] != "7"])
    assert (fit.points, fit.left_out) == (3, 2)
    assert fit.exponent == pytest.approx(3)
    (huge,) = sweep.summary(rows)
    assert math.isfinite(huge.exponent)


def test_seeds_are_pooled_and_other_parameters_are_not() -> None:
    rows = _made(
        "simulate",
        {"kappa2": "1,2", "seed": "0:3", "m": "10,20"},
        lambda config: repr((1 + config["seed"]) * config["m"] ** 2 / _number(config["kappa2"]) ** 2),
    )
    fits = {fit.parameter: fit for fit in sweep.summary(rows)}
    assert {name: len(fit.series) for name, fit in fits.items()} == {"kappa2": 2, "m": 2}
    assert fits["kappa2"].exponent == pytest.approx(-2)
    assert fits["m"].exponent == pytest.approx(2)
    assert fits["kappa2"].theory == -2


@pytest.fixture(scope="module")
def small_angles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sweep") / "small.db"
    axes = {"delta": "geom(1e-2, 1e-3, 3)", "kappa2": "1,2", "p": "1/2,4"}
    points = sweep.grid("plateau", axes | {"alpha_plus": "1/4", "alpha_minus": "3/20", "digits": "10"})
    report = sweep.run(points, path, workers=1)
    assert (report.progress.finished, report.progress.failed) == (12, 6)
    return path


def test_the_exponents_of_small_angles_come_out(small_angles: Path) -> None:
    fits = {(fit.quantity, fit.parameter): fit for fit in sweep.summary(small_angles)}
    for (quantity, parameter), fit in fits.items():
        if fit.theory is not None:
            assert fit.exponent == pytest.approx(fit.theory, abs=2e-3), (quantity, parameter)
    for quantity in ("T_plat", "T_II"):
        fit = fits[quantity, "delta"]
        assert fit.law_exponent == pytest.approx(-2, abs=1e-12)
        assert fit.ratios is not None
        assert fit.ratios == (pytest.approx(1, abs=2e-3), pytest.approx(1, abs=2e-3))
    # 2(1+p)(1 − p^(−1/2))/(κ₂²(α₊+α₋)) for p = 4 and κ₂ = 1
    assert float(fits["T_plat", "delta"].law_constants[1]) == pytest.approx(12.5, rel=1e-5)


def test_the_summary_prints_draws_and_gives_json(
    small_angles: Path, run_cli: Callable, tmp_path: Path
) -> None:
    picture = tmp_path / "laws.svg"
    shown = run_cli("sweep", "summary", str(small_angles), "--plot", str(picture))
    assert (shown.code, shown.err) == (0, "")
    assert "T_III - T_II" in shown.out
    assert "12 rows, 6 of them errors" in shown.out
    assert picture.read_text(encoding="utf-8").lstrip().startswith("<?xml")
    record = run_cli("sweep", "summary", str(small_angles), "--json").record
    assert (record["rows"], record["failed"]) == (12, 6)
    assert float(record["fits"][0]["exponent"]) == pytest.approx(-2, abs=2e-3)
    for name in ("laws.txt", "no/folder/laws.png"):
        refused = run_cli("sweep", "summary", str(small_angles), "--plot", str(tmp_path / name))
        assert (refused.code, refused.out) == (2, "")


def test_the_picture_shows_the_rows(small_angles: Path) -> None:
    from matplotlib.figure import Figure

    fit = sweep.summary(small_angles)[0]
    panel = draw_fit(Figure().subplots(), fit)
    points = [line for line in panel.lines if line.get_linestyle() == "None"]
    assert len(points) == len(fit.series)
    for line, one in zip(points, fit.series, strict=True):
        assert sorted(line.get_xdata()) == pytest.approx(sorted(x / math.log(10) for x in one.x))
        assert sorted(line.get_ydata()) == pytest.approx(sorted(y / math.log(10) for y in one.y))
    assert labels.wrong(panel.figure) == []


def series(**fixed: str) -> Series:
    return Series(fixed, (0.0, 1.0), (1.0, 3.0), ())


def law_of(found: list[Series]) -> Fit:
    return Fit(
        computation="plateau",
        quantity="T_II",
        parameter="p",
        exponent=2.0,
        error=0.1,
        constants=("1", "1"),
        law_exponent=None,
        law_constants=None,
        ratios=None,
        theory=None,
        points=2 * len(found),
        left_out=0,
        series=tuple(found),
    )


def test_series_are_named_by_decimals_in_the_order_of_their_numbers() -> None:
    from matplotlib.figure import Figure

    found = [series(delta="pi/4"), series(delta="(1/10)*((1/100)^(1/4))"), series(delta="1/10")]
    panel = draw_fit(Figure(layout="constrained").subplots(), law_of(found))
    assert [text.get_text() for text in panel.get_legend().get_texts()] == [
        "Δ = 0.03162", "Δ = 0.1", "Δ = 0.7854",
    ]  # fmt: skip
    assert "plateau" not in panel.get_title()


@pytest.mark.parametrize("count", [8, 9, 30])
def test_many_series_keep_colours_of_their_own_and_a_legend_of_eight(count: int) -> None:
    from matplotlib.figure import Figure

    panel = draw_fit(
        Figure(layout="constrained").subplots(), law_of([series(m=str(k)) for k in range(1, count + 1)])
    )
    points = [line for line in panel.lines if line.get_linestyle() == "None"]
    assert len({str(line.get_color()) for line in points}) == count
    named = [text.get_text() for text in panel.get_legend().get_texts()]
    assert len(named) == 8
    assert (named[0], named[-1]) == ("m = 1", f"m = {count}")
    assert labels.wrong(panel.figure) == []


def test_exports_carry_every_row_with_all_its_digits(
    small_angles: Path, run_cli: Callable, tmp_path: Path
) -> None:
    rows = sweep.read_rows(small_angles)
    shown = run_cli("sweep", "export", str(small_angles))
    found = list(csv.DictReader(io.StringIO(shown.out)))
    shown_pairs = [(one["T_plat"], one["error"]) for one in found]
    assert sorted(shown_pairs) == sorted((row.result.get("T_plat", ""), row.error or "") for row in rows)
    groups = [(one["alpha_minus"], one["alpha_plus"], float(one["resolved delta"])) for one in found]
    assert groups == sorted(groups)
    known = sorted([1e-2, 1e-2 * 0.1**0.5, 1e-3] * 4)  # geom(1e-2, 1e-3, 3) for two κ₂ and two p
    assert sorted(float(one["resolved delta"]) for one in found) == pytest.approx(known, rel=1e-9)
    assert {one["digits"] for one in found} == {"10"}
    out = tmp_path / "rows.json"
    assert run_cli("sweep", "export", str(small_angles), "--format", "json", "--out", str(out)).code == 0
    written = json.loads(out.read_text(encoding="utf-8"))["rows"]
    assert sorted(written, key=str) == sorted((table.flat(row) for row in rows), key=str)


def test_parquet_needs_pyarrow_and_says_so(
    small_angles: Path, run_cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(table, "import_module", absent)
    with pytest.raises(MissingExtra, match="pyarrow"):
        sweep.export(sweep.read_rows(small_angles), "parquet", tmp_path / "rows.parquet")
    ended = run_cli("sweep", "export", str(small_angles), "--format", "parquet")
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)


@pytest.mark.skipif(find_spec("pyarrow") is None, reason="needs pyarrow")
def test_parquet_holds_the_same_table(small_angles: Path, tmp_path: Path) -> None:
    from pyarrow import parquet

    rows = sweep.read_rows(small_angles)
    with pytest.raises(InputError, match="out: "):
        sweep.export(rows, "parquet")
    sweep.export(rows, "parquet", tmp_path / "rows.parquet")
    found = parquet.read_table(tmp_path / "rows.parquet").to_pylist()
    assert [one["T_II"] for one in found] == [row.result.get("T_II") for row in rows]


def test_a_file_that_cannot_be_written_any_more_ends_the_sweep_in_one_line(
    run_cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(store.Store, "finish", full)
    ended = run_cli("sweep", "--digits", "5", "--workers", "1", "-o", str(tmp_path / "s.db"))
    assert (ended.code, ended.out) == (3, "")
    assert "disk is full" in ended.err
    assert len(ended.err.splitlines()) == 1


def test_the_command_sweeps_and_its_exit_code_tells(run_cli: Callable, tmp_path: Path) -> None:
    path = str(tmp_path / "s.db")
    words = ("sweep", "--compute", "limit", "--digits", "5", "--workers", "1", "-o", path, "--json")
    fine = run_cli(*words, "--p", "2,3")
    assert (fine.code, fine.record["computed"], fine.record["outcome"]) == (0, 2, "finished")
    assert [row["gamma"] for row in fine.record["rows"]] == [
        reduced.limit(reduced.problem(p), 5).gamma for p in (2, 3)
    ]
    mixed = run_cli(*words, "--p", "1,2,3")
    assert (mixed.code, mixed.record["computed"], mixed.record["failed"]) == (1, 1, 1)
    short = run_cli(*words, "--p", "4:9", "--budget", "1e-6")
    assert (short.code, short.record["outcome"]) == (3, "budget")
    for wrong in (("--p", "x"), ("--seed", "1"), ("--workers", "0"), ("--budget", "-1"), ("--compute", "x")):
        refused = run_cli(*words, *wrong)
        assert (refused.code, refused.out, len(refused.err.splitlines())) == (2, "", 1)
    missing = run_cli("sweep", "summary", str(tmp_path / "none.db"))
    assert (missing.code, missing.out) == (2, "")

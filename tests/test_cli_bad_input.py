"""Claim: whatever text any option of any command is given, it ends with a known exit code and no traceback.

Exit 2 means one clear line on stderr and nothing on stdout; every other code prints a result. The options are
listed by the application itself, so none is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
import typer

from reduced.cli.app import app

SMALL = ["--m", "20", "--dim", "3", "--seed", "1", "--until", "50", "--budget", "2"]
BASE = {
    "derive": ["--phase", "II"],
    "plateau": [],
    "predict": ["--at", "5"],
    "limit": [],
    "simulate": SMALL,
    "gd": [*SMALL, "--steps", "20"],
    "crosscheck": [*SMALL, "--lr", "0.1", "--steps", "20"],
    "perturb": [*SMALL, "--directions", "20"],
    "theorems": SMALL,
    "sweep": ["--compute", "limit", "--digits", "5", "--workers", "1"],
    "figures": ["--list"],
    "report": [*SMALL, "--lr", "0.1", "--no-theorems", "--no-figures"],
}
QUICK = ("", "abc", "nan", "-inf", "-1", "1e999999")
THOROUGH = ("inf", "0", "1e-30", "1e30", "9" * 60, "1/0", "--", "0x10", "1_0", "((((", "sqrt(-1)")


def _options() -> Iterator[tuple[str, str]]:
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        for option in command.params:
            if option.opts[0].startswith("--") and not option.is_flag:
                yield name, option.opts[0]


OPTIONS = list(_options())


def _check(ended) -> None:
    assert ended.code in (0, 1, 2, 3)
    assert "Traceback" not in ended.err
    if ended.code == 2:
        assert ended.out == ""
        assert ended.err.startswith("reduced: ")
        assert len(ended.err.splitlines()) == 1
    else:
        assert ended.out


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep files that commands write out of the tree."""
    monkeypatch.chdir(tmp_path)


def test_every_command_is_covered() -> None:
    assert {command for command, _ in OPTIONS} == set(BASE)
    assert len(OPTIONS) > 80


@pytest.mark.parametrize(("command", "option"), OPTIONS)
def test_any_option_with_unusable_text_ends_cleanly(run_cli: Callable, command: str, option: str) -> None:
    for text in QUICK:
        _check(run_cli(command, *BASE[command], option, text))
    without_value = run_cli(command, *BASE[command], option)
    assert without_value.code == 2
    _check(without_value)


@pytest.mark.slow
@pytest.mark.parametrize(("command", "option"), OPTIONS)
def test_any_option_at_the_borders_of_its_range_ends_cleanly(
    run_cli: Callable, command: str, option: str
) -> None:
    for text in THOROUGH:
        _check(run_cli(command, *BASE[command], option, text))


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["nonsense"], "nonsense"),
        (["plateau", "--nonsense", "3"], "--nonsense"),
        (["plateau", "extra"], "extra"),
        (["predict"], "--at"),
        (["plateau", "--p", "1"], "p cos(delta) > 1"),
        (["predict", "--at", "1", "--p", "1"], "p cos(delta) > 1"),
        (["limit", "--p", "1/2"], "p cos(delta) > 1"),
        (["perturb", "--p", "1"], "p cos(delta) > 1"),
        (["crosscheck", "--p", "1"], "p cos(delta) > 1"),
        (["plateau", "--f-minus", "-1e-5"], "f_minus"),
        (["plateau", "--f-minus-negative", "1e-5"], "f_minus_negative"),
        (["plateau", "--alpha-plus", "0.7", "--alpha-minus", "0.6"], "at most 1"),
        (["plateau", "--digits", "0"], "digits"),
        (["plateau", "--digits", "100001"], "digits"),
        (["plateau", "--loss", "logistic", "--method", "exact"], "closed form"),
        (["derive", "--phase", "V"], "phase"),
        (["simulate", "--m", "100000000"], "m:"),
        (["simulate", "--m", "10000000", "--dim", "1000"], "dim"),
        (["simulate", "--precision", "20", "--method", "ode"], "method"),
        (["simulate", "--precision", "20", "--loss", "logistic"], "closed form"),
        (["gd", "--subgradient", "1/3"], "subgradient"),
        (["gd", "--lr", "0"], "lr"),
        (["perturb", "--directions", "0"], "directions"),
        (["perturb", "--delta", "1e-12"], "at least 2e-8"),
        (["crosscheck", "--delta", "1e-12"], "at least 2e-8"),
        (["simulate", "--init-law", "uniform"], "init_law"),
        (["crosscheck", "--until", "1e400"], "until: expected a flow time up to 1e300"),
        (["gd", "--lr", "1e999"], "lr: expected a number in the range"),
        (["sweep", "-o", "no/rows.db"], "out: no/rows.db: expected"),
        (["sweep", "summary", "none.db"], "file: none.db: expected"),
        (["plateau", "--sensitivities", "--loss", "logistic"], "loss: expected exp"),
    ],
)
def test_bad_input_is_named_in_one_line(run_cli: Callable, words: list[str], part: str) -> None:
    for form in ([], ["--json"]):
        ended = run_cli(*words, *form)
        assert ended.code == 2
        assert ended.out == ""
        assert len(ended.err.splitlines()) == 1
        assert part in ended.err


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    W, sign = np.ones((4, 3)), np.array([1.0, 1.0, -1.0, -1.0])
    yield "missing", folder / "missing.npz"
    yield "folder", folder
    (folder / "text.npz").write_text("not an archive")
    yield "no archive", folder / "text.npz"
    np.savez(folder / "whole.npz", W=W, sign=sign)
    (folder / "cut.npz").write_bytes((folder / "whole.npz").read_bytes()[:200])
    yield "truncated", folder / "cut.npz"
    bad = {
        "no sign": {"W": W},
        "flat W": {"W": W.ravel(), "sign": sign},
        "lengths": {"W": W, "sign": sign[:3]},
        "signs": {"W": W, "sign": 2 * sign},
        "text": {"W": W.astype(str), "sign": sign},
        "complex": {"W": W * 1j, "sign": sign},
        "nan": {"W": W * np.nan, "sign": sign},
        "empty": {"W": W[:0], "sign": sign[:0]},
        "one column": {"W": W[:, :1], "sign": sign},
    }
    for name, arrays in bad.items():
        np.savez(folder / f"{name}.npz", **arrays)
        yield name, folder / f"{name}.npz"


def test_unusable_weight_files_are_named_in_one_line(run_cli: Callable, tmp_path: Path) -> None:
    for name, path in _files(tmp_path):
        for command in ("simulate", "gd", "crosscheck", "perturb"):
            ended = run_cli(command, "--init", str(path))
            assert (name, ended.code, ended.out) == (name, 2, "")
            assert len(ended.err.splitlines()) == 1


def test_unusable_data_files_are_named_in_one_line(run_cli: Callable, tmp_path: Path) -> None:
    contents = {
        "empty.csv": "",
        "ragged.csv": "1,2,1\n1,2\n",
        "words.csv": "1,two,1\n",
        "labels.csv": "1,2,3\n",
        "zero.csv": "0,0,1\n",
        "nan.csv": "nan,1,1\n",
        "text.npz": "no archive",
    }
    for name, text in contents.items():
        (tmp_path / name).write_text(text)
        for command in ("simulate", "gd"):
            ended = run_cli(command, "--data", str(tmp_path / name), "--dim", "2")
            assert (name, ended.code, ended.out) == (name, 2, "")
            assert len(ended.err.splitlines()) == 1


def test_a_neuron_on_a_ridge_needs_a_choice(run_cli: Callable, tmp_path: Path) -> None:
    # u = 0 exactly for Δ = 2 atan(3/4)… is irrational; the origin lies on both kinks whatever Δ is
    np.savez(tmp_path / "origin.npz", W=np.array([[0.0, 0.0], [0.1, -0.3]]), sign=np.array([1.0, -1.0]))
    words = ("--init", str(tmp_path / "origin.npz"), "--until", "10")
    for command in (["simulate"], ["simulate", "--method", "exact"], ["gd", "--steps", "10"], ["crosscheck"]):
        ended = run_cli(*command, *words)
        assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
        assert "ridge" in ended.err
    for choice in ("active", "inactive", "slide"):
        assert run_cli("simulate", *words, "--ridge", choice).code == 0


def test_outside_the_assumption_networks_run_and_say_so(run_cli: Callable) -> None:
    for command in (["simulate"], ["gd", "--steps", "50"]):
        people, programs = (run_cli(*command, "--p", "1", *form) for form in ([], ["--json"]))
        assert people.code == programs.code == 0
        assert "outside Assumption 3.1" in people.err
        assert any("outside Assumption 3.1" in line for line in programs.record["notes"])
        assert programs.err == ""


def test_a_used_up_budget_is_exit_3_with_the_outcome(run_cli: Callable) -> None:
    for words in (
        ["simulate", "--budget", "1e-6"],
        ["simulate", "--precision", "300", "--budget", "0.1"],
        ["gd", "--budget", "1e-6"],
        ["crosscheck", "--budget", "0.05"],
        ["perturb", "--budget", "1e-6"],
    ):
        ended = run_cli(*words, "--json")
        assert ended.code == 3
        assert ended.record["outcome"] == "budget"
        assert "budget" in run_cli(*words).out


def test_negative_values_are_read_as_values(run_cli: Callable) -> None:
    ended = run_cli("plateau", "--f-minus", "-1e-5", "--f-minus-negative", "-1e-5", "--json")
    assert ended.code == 0
    assert Decimal(ended.record["start"]["f_minus"]) == Decimal("-0.00001")

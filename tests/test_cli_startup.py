"""Claim: the command line imports nothing heavy before it must, and behaves well as a process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

import reduced

ROOT = Path(__file__).parent.parent
HEAVY = ("sympy", "numpy", "scipy", "matplotlib", "numba")


def _python(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=ROOT, timeout=60)


@pytest.mark.parametrize(
    "words", [["--help"], ["plateau"], ["limit"], ["predict", "--at", "9"], ["gd", "--help"]]
)
def test_nothing_heavy_is_imported(words: list[str]) -> None:
    source = (
        f"import sys; from reduced.cli import main; code = main({words!r}); "
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr); sys.exit(code)"
    )
    ended = _python("-c", source)
    assert (ended.returncode, ended.stderr.strip()) == (0, "[]")


def test_the_module_runs_and_lists_its_commands() -> None:
    ended = _python("-m", "reduced", "--help")
    assert ended.returncode == 0
    for name in ("derive", "plateau", "predict", "limit", "simulate", "gd", "crosscheck", "perturb"):
        assert name in ended.stdout


def test_a_process_reports_bad_input_in_one_line() -> None:
    ended = _python("-m", "reduced", "plateau", "--p", "nan")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert len(ended.stderr.splitlines()) == 1


def test_a_reader_that_goes_away_is_no_error() -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "reduced", "plateau", "--digits", "1500"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    )
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.close()
    complaint = child.stderr.read()
    child.stderr.close()
    assert (child.wait(60), complaint) == (0, b"")


@pytest.mark.parametrize(
    "command", ["derive", "plateau", "predict", "limit", "simulate", "gd", "crosscheck", "perturb"]
)
def test_every_command_explains_itself_with_examples(run_cli: Callable, command: str) -> None:
    ended = run_cli(command, "--help")
    assert (ended.code, ended.err) == (0, "")
    assert "Examples" in ended.out
    assert f"reduced {command}" in ended.out


def test_interruption_is_one_line_and_exit_130(run_cli: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(import_module("reduced.solve.timeline"), "timeline", interrupt)
    ended = run_cli("plateau")
    assert (ended.code, ended.out, ended.err) == (130, "", "reduced: interrupted\n")


def test_a_missing_accelerator_is_mentioned_once_where_it_matters(
    run_cli: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reduced.cli import render

    monkeypatch.setattr(render, "find_spec", lambda _: None)
    monkeypatch.setattr(render, "_warned", set())
    words = ("gd", "--m", "4", "--dim", "2", "--steps", "3", "--until", "5", "--json")
    first, second = run_cli(*words), run_cli(*words)
    assert first.err.count("without numba") == 1
    assert "extra 'fast'" in first.err
    assert second.err == ""
    assert run_cli("plateau").err == ""


def test_the_package_shows_its_public_names() -> None:
    for name in reduced.__all__:
        assert getattr(reduced, name) is not None
    assert set(reduced.__all__) <= set(dir(reduced))
    with pytest.raises(AttributeError, match="nonsense"):
        _ = reduced.nonsense

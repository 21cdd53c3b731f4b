"""Claim: a sweep's file with rows of several computations says so, and gives those of one when asked."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def mixed(run_cli: Callable, tmp_path: Path) -> str:
    """A file with two rows of plateau and three of limit."""
    path = str(tmp_path / "rows.db")
    common = ("--digits", "6", "--workers", "1", "-o", path)
    assert run_cli("sweep", "--p", "2,4", *common).code == 0
    assert run_cli("sweep", "--compute", "limit", "--p", "2,4,6", *common).code == 0
    return path


def test_a_mixture_is_mentioned_once(run_cli: Callable, mixed: str) -> None:
    for words in (["summary"], ["summary", "--json"], ["export"], ["export", "--format", "json"]):
        ended = run_cli("sweep", words[0], mixed, *words[1:])
        assert ended.code == 0
        assert ended.err.splitlines() == [
            f"reduced: {mixed} holds rows of different computations (3 of limit, 2 of plateau); "
            "--compute NAME takes one of them"
        ]
    assert run_cli("sweep", "summary", mixed, "--json").record["computations"] == {"limit": 3, "plateau": 2}


def test_one_computation_is_taken_alone(run_cli: Callable, mixed: str) -> None:
    ended = run_cli("sweep", "export", mixed, "--compute", "limit")
    rows = list(csv.DictReader(io.StringIO(ended.out)))
    assert ended.err == ""
    assert [row["compute"] for row in rows] == ["limit"] * 3
    assert "T_plat" not in rows[0]
    found = json.loads(run_cli("sweep", "export", mixed, "--compute", "plateau", "--format", "json").out)
    assert [row["compute"] for row in found["rows"]] == ["plateau"] * 2
    summary = run_cli("sweep", "summary", mixed, "--compute", "plateau", "--json").record
    assert (summary["rows"], summary["computations"]) == (2, {"plateau": 2})
    assert {fit["computation"] for fit in summary["fits"]} == {"plateau"}


@pytest.mark.parametrize(
    ("name", "words"),
    [("gd", "a computation of which"), ("nonsense", "one of plateau, limit, simulate, crosscheck, gd")],
)
def test_a_computation_that_is_not_there_is_bad_input(
    run_cli: Callable, mixed: str, name: str, words: str
) -> None:
    for command in ("summary", "export"):
        ended = run_cli("sweep", command, mixed, "--compute", name)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err.startswith("reduced: compute: expected ")
        assert words in ended.err

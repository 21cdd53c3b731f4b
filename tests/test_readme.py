"""Claim: every command and every Python block of the README does what the README shows."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from reduced.cli import main

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
CONSOLE = re.findall(r"```console\n\$ (reduced [^\n]*)\n(.*?)\n```", README, flags=re.S)
PYTHON = re.findall(r"```python\n(.*?)\n```", README, flags=re.S)
# Error estimates and differences at rounding level vary between machines; their size is tested elsewhere.
ROUNDING = re.compile(r"\s+-?(0|\d\.\d+e-\d+)(?=\s)")


@pytest.mark.parametrize(("command", "shown"), CONSOLE, ids=[command for command, _ in CONSOLE])
def test_commands_print_what_is_shown(command, shown, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert main(shlex.split(command)[1:]) == 0
    printed = capsys.readouterr().out.strip("\n")
    assert _stable(printed) == _stable(shown)


def test_there_is_something_to_test():
    assert len(CONSOLE) >= 8
    assert len(PYTHON) >= 3


@pytest.mark.parametrize("block", PYTHON)
def test_python_blocks_run_and_print_their_comments(block):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(block, "README", "exec"), {})  # the README is ours, not a user's
    printed = out.getvalue().splitlines()
    promised = re.findall(r"print\(.*\)  # (.*)$", block, flags=re.M)
    for line in promised:
        assert line in printed


def _stable(text: str) -> str:
    return ROUNDING.sub(" ~", text)

"""Claim: whatever is given to any option of any command, it ends with a known exit code and no traceback.

Exit 2 means one clear line on stderr and nothing on stdout; anything else prints its result.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import typer

from reduced.cli.app import app

BASE = {
    "derive": ["--phase", "II"],
    "plateau": [],
    "predict": ["--at", "5"],
    "limit": [],
    "simulate": ["--m", "12", "--dim", "3", "--until", "50"],
    "gd": ["--m", "12", "--dim", "3", "--until", "50", "--steps", "20"],
    "crosscheck": ["--m", "20", "--dim", "3", "--seed", "1", "--until", "50", "--lr", "0.1", "--steps", "20"],
    "perturb": ["--m", "20", "--dim", "3", "--seed", "1", "--until", "50", "--directions", "20"],
}
NONSENSE = ["", "abc", "nan", "inf", "-inf", "0", "-1", "1e-300", "1e300", "1e999999", "9" * 60, "1/0", "--", "\x00"]


def _options() -> Iterator[tuple[str, str]]:
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        for option in command.params:
            if not option.is_flag and option.opts[0] != "--help":
                yield name, option.opts[0]


def _check(ended) -> None:
    assert ended.code in (0, 1, 2, 3)
    assert "Traceback" not in ended.err
    if ended.code == 2:
        assert ended.out == ""
        assert ended.err.startswith("reduced: ")
        assert len(ended.err.splitlines()) == 1
    else:
        assert ended.out


@pytest.mark.parametrize(("command", "option"), list(_options()))
def test_any_option_with_any_text_ends_cleanly(run_cli, command: str, option: str) -> None:
    for text in NONSENSE:
        _check(run_cli(command, *BASE[command], option, text))
    _check(run_cli(command, *BASE[command], option))

"""Fixtures shared by the tests of the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from reduced.cli import main


@dataclass(frozen=True)
class Ended:
    """How a command ended: exit code and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def record(self) -> dict[str, Any]:
        """The one JSON object on stdout."""
        found: dict[str, Any] = json.loads(self.out)
        return found


@pytest.fixture
def run_cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """Run the command line in this process: ``run_cli("plateau", "--json")``."""

    def run(*words: str) -> Ended:
        capsys.readouterr()
        code = main(list(words))
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    return run

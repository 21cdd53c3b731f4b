"""How long does a user wait at the command line? Whole processes, from start to exit."""

from __future__ import annotations

import subprocess
import sys

from tests.benchmarks.harness import Benchmark, Contender


def start_up(quick: bool) -> Benchmark:
    """Time commands in fresh processes beside the bare imports of what they stand on."""
    return Benchmark(
        "start-up in a fresh process",
        (
            _command("reduced --help", "-m", "reduced", "--help"),
            _command("reduced plateau", "-m", "reduced", "plateau"),
            _command("python -c pass", "-c", "pass"),
            _command("import mpmath", "-c", "import mpmath"),
            _command("import typer, rich", "-c", "import typer, rich.console"),
            _command("import sympy", "-c", "import sympy"),
            _command("import numpy, scipy.integrate", "-c", "import numpy, scipy.integrate"),
        ),
        claim="--help < 0.5 s, plateau < 1.5 s",
    )


def cross_check(quick: bool) -> Benchmark:
    """Time the cross-check of the paper's own setting end to end, beside the flow alone."""
    return Benchmark(
        "cross-check end to end",
        (
            _command("reduced crosscheck", "-m", "reduced", "crosscheck"),
            _command("reduced simulate", "-m", "reduced", "simulate"),
            _command("reduced simulate, 30 digits", "-m", "reduced", "simulate", "--precision", "30"),
        ),
    )


def _command(name: str, *arguments: str) -> Contender:
    def run() -> str:
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        return "exit 0"

    return Contender(name, run, "whole process")

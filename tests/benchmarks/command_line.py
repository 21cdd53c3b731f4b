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
            _reduced("--help"),
            _reduced("plateau"),
            _python("pass"),
            _python("import mpmath"),
            _python("import typer, rich.console"),
            _python("import sympy"),
            _python("import numpy, scipy.integrate"),
        ),
        claim="--help < 0.5 s, plateau < 1.5 s",
    )


def cross_check(quick: bool) -> Benchmark:
    """Time the cross-check of the paper's own setting end to end (quick: one step size), beside the flow alone."""
    return Benchmark(
        "cross-check end to end",
        (
            _reduced("crosscheck", *(("--lr", "0.01") if quick else ())),
            _reduced("simulate"),
            _reduced("simulate", "--precision", "30"),
        ),
    )


def cross_check_data(quick: bool) -> Benchmark:
    """Time the cross-check of many points end to end (quick: to t = 10⁴), beside more digits and the flow alone."""
    until = ("--until", "1e4") if quick else ()
    noisy = ("crosscheck", "--preset", "noisy", *until)
    return Benchmark(
        "cross-check of the noisy points end to end",
        (
            _reduced(*noisy),
            _reduced(*noisy, "--digits", "50"),
            _reduced("crosscheck", "--preset", "orthogonal", *until),
            _reduced("simulate", "--preset", "noisy", *until),
        ),
    )


def _reduced(*words: str) -> Contender:
    return _process(" ".join(["reduced", *words]), "-m", "reduced", *words)


def _python(statement: str) -> Contender:
    return _process(f"python -c '{statement}'", "-c", statement)


def _process(name: str, *arguments: str) -> Contender:
    def run() -> str:
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        return "exit 0"

    return Contender(name, run, "whole process")

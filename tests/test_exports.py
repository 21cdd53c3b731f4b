"""Claim: a derivation exported as Python stands alone, and gives the paper's rates in floats, arrays and digits."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

P_RATIO, ANGLE, ALPHAS, KAPPA = 4.0, 0.7, (0.3, 0.2), 1.3
STATE = (0.9, -0.4)


def rates_by_hand(phase: str, ctx: Any = np, number: Any = float, state: tuple = STATE) -> tuple:
    """ḟ₊ = A P − B Q, ḟ₋ = C P − D Q with the table of the phases, as the paper has it."""
    cos, sin2 = ctx.cos(number(ANGLE)), ctx.sin(number(ANGLE)) ** 2
    plus, minus, k = number(ALPHAS[0]), number(ALPHAS[1]), number(KAPPA) ** 2
    A, B, C, D = {
        "II": (k * plus, k * plus * cos, k * plus * cos, k * (plus + minus * sin2)),
        "III": (k * plus * sin2, 0, 0, k * minus * sin2),
        "IV": (k * (plus * sin2 + minus), k * minus * cos, k * minus * cos, k * minus),
    }[phase]
    weight = number(P_RATIO) / (1 + P_RATIO)
    P, Q = weight * ctx.exp(-state[0]), (1 - weight) * ctx.exp(state[1])
    return A * P - B * Q, C * P - D * Q


def exported(run_cli: Callable, module: str, phase: str = "all") -> str:
    ended = run_cli("derive", "--phase", phase, "--format", "python", "--module", module)
    assert (ended.code, ended.err) == (0, "")
    return str(ended.out)


def call(source: str, name: str, numbers: dict) -> tuple:
    space: dict = {}
    exec(compile(source, "exported", "exec"), space)
    function = space[name]
    wanted = function.__code__.co_varnames[: function.__code__.co_argcount]
    return tuple(function(*(numbers[argument] for argument in wanted)))


def numbers(state: tuple = STATE) -> dict:
    return {
        "f_plus": state[0],
        "f_minus": state[1],
        "Delta": ANGLE,
        "alpha_plus": ALPHAS[0],
        "alpha_minus": ALPHAS[1],
        "kappa2": KAPPA,
        "p": P_RATIO,
    }


@pytest.mark.parametrize("module", ["math", "numpy", "mpmath"])
@pytest.mark.parametrize("phase", ["II", "III", "IV"])
def test_every_module_gives_the_rates(run_cli: Callable, module: str, phase: str) -> None:
    found = call(exported(run_cli, module, phase), f"phase_{phase.lower()}", numbers())
    np.testing.assert_allclose([float(rate) for rate in found], rates_by_hand(phase), rtol=1e-14)


def test_arrays_go_through(run_cli: Callable) -> None:
    grid = (np.linspace(0, 3, 7), np.linspace(0, -3, 7))
    found = call(exported(run_cli, "numpy", "IV"), "phase_iv", numbers(grid))
    np.testing.assert_allclose(found, rates_by_hand("IV", state=grid), rtol=1e-14)


def test_mpmath_gives_the_digits_of_its_context(run_cli: Callable) -> None:
    source = exported(run_cli, "mpmath", "II")
    with mpmath.workdps(60):
        found = call(source, "phase_ii", {name: mpmath.mpf(value) for name, value in numbers().items()})
        by_hand = rates_by_hand("II", mpmath, mpmath.mpf, tuple(map(mpmath.mpf, STATE)))
        for rate, expected in zip(found, by_hand, strict=True):
            assert abs(rate / expected - 1) < mpmath.mpf(10) ** -57


@pytest.mark.parametrize("regime", ["four", "three", "two"])
@pytest.mark.parametrize("angle", [1e-3, 1e-9])
def test_small_angles_lose_no_digits(run_cli: Callable, regime: str, angle: float) -> None:
    """γ² of the paper's limits is κ₂²(1−c)(α₊+α₋)/(1+ρ), κ₂²s²/(1/α₊+1/α₋) or κ₂²α₊(1−cρ)/(1+ρ)."""
    plus, minus = ALPHAS
    with mpmath.workdps(50):
        c, s2 = mpmath.cos(angle), mpmath.sin(angle) ** 2
        rho = {"four": 1 + (1 - c) * plus / minus, "two": 1 / (1 + (1 - c) * minus / mpmath.mpf(plus))}
        expected = {
            "four": lambda: (1 - c) * (plus + minus) / (1 + rho["four"]),
            "three": lambda: s2 / (1 / mpmath.mpf(plus) + 1 / mpmath.mpf(minus)),
            "two": lambda: plus * (1 - c * rho["two"]) / (1 + rho["two"]),
        }[regime]()
        gamma_squared = float(KAPPA**2 * expected)
    source = exported(run_cli, "math", "limit")
    found = call(source, f"limit_{regime}_phase", numbers() | {"Delta": angle})
    assert found[5] == pytest.approx(gamma_squared, rel=4e-15)


@pytest.mark.parametrize("module", ["math", "numpy", "mpmath"])
def test_the_file_runs_without_this_package(run_cli: Callable, tmp_path: Path, module: str) -> None:
    """In an interpreter of its own, every function of the file is called, and nothing else is imported."""
    source = exported(run_cli, module)
    functions = [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    assert {"phase_ii", "phase_iii", "phase_iv", "limit_four_phase"} < set(functions)
    assert len(functions) == len(set(functions))
    calls = "".join(
        f"print({name}(*range(1, 1 + {name}.__code__.co_argcount)) is not None)\n" for name in functions
    )
    script = tmp_path / "rates.py"
    check = f"import sys\nassert not {{'reduced', 'sympy'}} & set(sys.modules)\n{calls}"
    script.write_text(f"{source}\n{check}", encoding="utf-8")
    done = subprocess.run([sys.executable, "-I", script], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.split() == ["True"] * len(functions)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--module", "numpy"], "module: expected --format python beside it, got 'numpy'"),
        (
            ["--module", "numpy", "--format", "python", "--phase", "small-angle"],
            "module: expected mpmath: the small-angle terms have dilogarithms, got 'numpy'",
        ),
        (
            ["--module", "torch", "--format", "python"],
            "module: expected one of math, numpy, mpmath, got 'torch'",
        ),
    ],
)
def test_a_module_that_cannot_be_is_said(run_cli: Callable, words: list[str], message: str) -> None:
    ended = run_cli("derive", *words)
    assert (ended.code, ended.out, ended.err) == (2, "", f"reduced: {message}\n")

"""On problems with known solutions the integrator's error estimate dominates the true error."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import pytest

from reduced.errors import InputError
from reduced.numbers import cos, exact, sin
from reduced.solve.block import block
from reduced.solve.generated import COEFFICIENTS
from reduced.solve.integrator import Form, System, prediction_form, prediction_system, taylor

CTX = mpmath.mp.clone()
CTX.dps = 90
DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Problem:
    """A system, its start, the times looked at, and its exact predictions."""

    name: str
    system: System
    start: tuple[Any, ...]
    times: tuple[Any, ...]
    exact: Callable[[Any], tuple[Any, ...]]


def two_points(name, phase, delta, start, times, alpha=("23/100", "13/100")):
    """A phase of the paper's model; its solution in closed form (theory §5) at 90 digits."""
    angle = exact(delta)
    four = COEFFICIENTS[phase](*map(exact, alpha), exact(1), cos(angle), sin(angle) ** 2)
    A, B, C, D = (exact(x).evaluate(CTX) for x in four)
    f = [exact(x).evaluate(CTX) for x in start]
    P0, Q0 = CTX.mpf(4) / 5 * CTX.exp(-f[0]), CTX.exp(f[1]) / 5
    piece = block(CTX, (A, B, C, D), P0, Q0)

    def solution(t):
        q = piece.path_of_time(t)
        S, R = piece.S(q), piece.R(q)
        return f[0] + A * S - B * R, f[1] + C * S - D * R

    a, b, c, d = four
    system = prediction_system([[a, -exact(b)], [c, -exact(d)]], [1, -1], ["4/5", "1/5"])
    return Problem(name, system, tuple(start), times, solution)


def fixed_ratio_of_five():
    """N = 5 with Σⱼ yᵢKᵢⱼcⱼ = λ in every row: Uᵢ = cᵢ/(1 + λt), yᵢfᵢ = log(1 + λt)."""
    labels, shares, pace = (1, -1, 1, 1, -1), [Fraction(k, 15) for k in range(1, 6)], Fraction(3, 7)
    rows = []
    for i, y in enumerate(labels):
        row = [Fraction((7 * i + 3 * j * j) % 11 - 4, 5 + j) for j in range(4)]
        rest = y * pace - sum(x * c for x, c in zip(row, shares, strict=False))
        rows.append([*row, rest / shares[4]])
    system = prediction_system(rows, labels, shares)

    def solution(t):
        grown = CTX.log(1 + CTX.mpf(3) / 7 * t)
        return tuple(y * grown for y in labels)

    # other ratios run away from the planted one like a power of 1 + λt, and errors with them
    return Problem("fixed ratio, N = 5", system, (0,) * 5, (1, 20), solution)


def cascade_of_five():
    """N = 5, triangular: each force feeds the next prediction, all integrals are powers or logarithms."""
    matrix = [[2, 0, 0, 0, 0], [3, 0, 0, 0, 0], [0, 5, 0, 0, 0], [0, 0, 0, -1, 0], [1, 0, 0, "1/2", 0]]
    system = prediction_system(matrix, [1, 1, 1, -1, -1], ["1/5"] * 5)

    def solution(t):
        growth = 1 + CTX.mpf(2) / 5 * t
        S1 = CTX.log(growth) / 2
        S2 = (1 - growth ** CTX.mpf("-0.5")) / (CTX.mpf("0.5") * 2)
        S4 = CTX.log(1 + t / CTX.mpf(5))
        return 2 * S1, 3 * S1, 5 * S2, -S4, S1 + S4 / 2

    return Problem("cascade, N = 5", system, (0,) * 5, (1, 1000, 10**8), solution)


def fast_and_slow():
    """A force that decays 10⁹ times faster than another, and one that starts at e^−300 of it."""
    system = prediction_system([[10**9, 0, 0], [0, 1, 0], [0, -400, 0]], [1, 1, 1], [1, 1, 1])

    def solution(t):
        S2 = CTX.log(1 + t)
        return CTX.log(1 + 10**9 * t), S2, 300 - 400 * S2

    return Problem("fast-decaying", system, (0, 0, 300), ("1e-9", "1/100", 5), solution)


def logistic_point():
    """One point, logistic loss: f + e^f = 1 + k w t, solved by Newton's method."""
    system = prediction_system([[2]], [1], ["1/3"], "logistic")

    def solution(t):
        total = 1 + CTX.mpf(2) / 3 * t
        return (CTX.findroot(lambda f: f + CTX.exp(f) - total, CTX.log(1 + total)),)

    return Problem("logistic", system, (0,), (1, 10**6), solution)


ZOO = [
    two_points("Phase II", "II", "pi/15", ("3/4", "3/5"), (1, 250, 2500)),
    two_points("Phase II, Δ = 0.05", "II", "0.05", (0, 0), (10, 2000, 40000)),
    two_points("Phase III", "III", "pi/15", ("3/2", "-1"), (1, 500)),
    two_points("Phase IV", "IV", "pi/15", (2, -2), (1, 10**6)),
    two_points("y₀ > 1", "II", "pi/15", (2, 1), (1, 300)),
    # r₀ = Q/P is r∞ = 1/(1 + α(1−c)) at f₊ = log(p r∞)
    two_points("on the fixed ratio", "II", "pi/15", ("log(4/(1+(13/23)*(1-cos(pi/15))))", 0), (1, 300)),
    fixed_ratio_of_five(),
    cascade_of_five(),
    fast_and_slow(),
    logistic_point(),
]


@pytest.mark.parametrize("problem", ZOO, ids=lambda problem: problem.name)
@pytest.mark.parametrize("digits", [15, 40])
def test_error_estimate_dominates_the_true_error(problem, digits):
    solution = taylor(problem.system, problem.start, problem.times[-1], digits)
    assert solution.success
    assert 0 < solution.error <= CTX.mpf(10) ** -digits
    for t in problem.times:
        found, true = solution.sol(exact(t).evaluate(CTX)), problem.exact(exact(t).evaluate(CTX))
        gap = max(abs(f - g) / max(1, abs(g)) for f, g in zip(found, true, strict=True))
        assert gap <= solution.error, t


def test_impulses_integrate_the_forces():
    """In the cascade S₄ = log(1 + t/5), U₄ = (1/5)/(1 + t/5)."""
    problem = cascade_of_five()
    solution = taylor(problem.system, problem.start, 1000, 30)
    for t in (1, 77, 1000):
        assert abs(solution.impulses(t)[3] - CTX.log(1 + CTX.mpf(t) / 5)) < 1e-30
        assert abs(solution.forces(t)[3] - 1 / (5 + CTX.mpf(t))) < 1e-30


def test_plateau_length_as_an_event():
    reference = json.loads((DATA / "plateau_200_digits.json").read_text())
    text, problem = reference["T_plat"], ZOO[0]
    solution = taylor(
        problem.system, problem.start, 400, 60, [prediction_form(problem.system, problem.start, 1)]
    )
    ((t,), (direction,)) = solution.t_events[0], solution.t_directions[0]
    assert direction == -1
    assert abs(t - CTX.mpf(text)) <= solution.error * t
    assert abs(t - CTX.mpf(text)) <= CTX.mpf(10) ** -57


def test_two_sign_changes_close_together_are_both_found():
    """With Uᵢ = (1+t)^−i the form U₃ − (r₁+r₂) U₂ + r₁r₂ U₁ changes sign at t = 1/r − 1: here 10⁻⁶ apart."""
    system = prediction_system([[1, 0, 0], [2, 0, 0], [3, 0, 0]], [1, 1, 1], [1, 1, 1])
    first, second = Fraction(1, 2), Fraction(1, 2) - Fraction(1, 4 * 10**6)
    level = Form(forces=(first * second, -first - second, 1))
    solution = taylor(system, [0, 0, 0], 100, 30, [level])
    times = solution.t_events[0]
    assert solution.t_directions == ((-1, 1),)
    for t, ratio in zip(times, (first, second), strict=True):
        assert abs(t + 1 - CTX.mpf(ratio.denominator) / ratio.numerator) <= 1e-28


def test_bad_input_is_named():
    system = prediction_system([[1]], [1], [1])
    with pytest.raises(InputError, match="until"):
        taylor(system, [0], 0)
    with pytest.raises(InputError, match="start"):
        taylor(system, [0, 1], 1)
    with pytest.raises(InputError, match="labels"):
        prediction_system([[1]], [2], [1])
    with pytest.raises(InputError, match="weights"):
        prediction_system([[1]], [1], [-1])
    with pytest.raises(InputError, match="matrix"):
        prediction_system([[1, 2]], [1], [1])

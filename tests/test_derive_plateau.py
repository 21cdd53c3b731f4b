"""The derived closed form and small-angle laws give the plateau and phase times known from elsewhere."""

import dataclasses

import mpmath
import pytest
import sympy as sp

import reduced
from reduced import derive
from reduced.derive.plateau import f_minus_0, f_plus_0, share_0, x, x_0
from reduced.derive.symbols import Delta, alpha_minus, alpha_plus, kappa2, p

ctx = mpmath.mp.clone()
ctx.dps = 30

FROM_ZERO = {f_plus_0: 0, f_minus_0: 0, share_0: 0}


def time_of(event, values):
    """Return the time of an event in Phase II: root of its equation, then quadrature of dt/dx."""
    found = derive.closed_form(derive.phase("II"))
    numbers = FROM_ZERO | values
    start = number(found.initial_x().subs(numbers))
    exported = found.lambdify("mpmath", context=ctx)
    known = {symbol: number(value) for symbol, value in numbers.items()} | {x_0: start}
    begin, on_P, on_Q = (number(sp.sympify(part).subs(numbers)) for part in derive.plateau_end(event))

    def formulas(point):
        values = exported(*({**known, x: point}[symbol] for symbol in found.arguments))
        return dict(zip((formula.name for formula in found.formulas()), values, strict=True))

    def equation(point):
        here = formulas(point)
        return begin + on_P * here["S"] + on_Q * here["R"]

    high = start + 1
    while equation(high) > 0:
        high *= 2
    root = ctx.findroot(equation, (start + 0.01, high), solver="anderson", tol=1e-40)
    return ctx.quad(lambda point: formulas(point)["dt_dx"], ctx.linspace(start, root, 3))


def number(expression):
    return ctx.mpf(sp.sympify(expression).evalf(60))


def problem(angle, plus, minus, ratio=4):
    return {p: ratio, Delta: angle, kappa2: 1, alpha_plus: sp.Rational(plus), alpha_minus: sp.Rational(minus)}


def test_time_of_phase_two_close_to_the_regimes_border():
    """p = 4, Δ = π/15, α± = 0.2, 0.19 as binary doubles; the value is from 40-digit quadrature."""
    time = time_of("T_II", problem(sp.pi / 15, 0.2, 0.19))
    assert abs(time - ctx.mpf("36113130093.299981304")) < 1e-9


@pytest.mark.parametrize("name", ["II", "IV"])
def test_closed_form_solves_its_equations(name):
    residuals = derive.substitution_residuals(derive.closed_form(derive.phase(name)))
    values = {x: 1.7, x_0: 0.4, f_plus_0: 0.3, f_minus_0: 0.2} | {Delta: 0.5, p: 3, kappa2: 1.2}
    values |= {alpha_plus: 0.3, alpha_minus: 0.2}
    for residual in residuals.values():
        assert float(residual.subs(values)) == pytest.approx(0, abs=1e-12)


def test_a_wrong_closed_form_leaves_a_residual():
    found = derive.closed_form(derive.phase("II"))
    wrong = dataclasses.replace(found, f_minus=found.f_minus + found.R / 10**6)
    assert any(sp.simplify(residual) != 0 for residual in derive.substitution_residuals(wrong).values())


def test_small_angle_laws_equal_the_known_ones():
    ratio = alpha_minus / alpha_plus
    scale = 2 * (1 + p) / (kappa2**2 * (alpha_plus + alpha_minus) * Delta**2)
    plateau = scale * (1 - p ** sp.Rational(-1, 2))
    phase_two = scale * (p ** (ratio / (1 - ratio)) - p ** sp.Rational(-1, 2))
    assert sp.simplify(derive.small_angle_law("T_plat").subs(FROM_ZERO) - plateau) == 0
    assert sp.simplify(derive.small_angle_law("T_II").subs(FROM_ZERO) - phase_two) == 0


@pytest.mark.parametrize(("event", "next_term"), [("T_plat", -0.1226), ("T_II", -595.400)])
def test_small_angle_laws_leave_the_known_constant(event, next_term):
    """p = 4, α± = 1/4, 0.15: T − c/Δ² tends to constants known from 40-digit solutions."""
    values = problem(sp.Rational(1, 50), "0.25", "0.15")
    law = ctx.mpf(derive.small_angle_law(event).subs(FROM_ZERO).subs(values).evalf(50))
    gap = time_of(event, values) - law
    assert abs(gap - next_term) < 2e-3 * abs(next_term) + 2e-3


@pytest.mark.parametrize("event", ["T_plat", "T_II"])
@pytest.mark.parametrize("start", [("1/5", "3/10", "1/2"), ("-1/2", "1/10", "2/5")])
def test_small_angle_laws_hold_from_other_starts(event, start):
    """The gap between time and law stays bounded while both grow like 1/Δ²: halving Δ changes it little."""
    state = dict(zip((f_plus_0, f_minus_0, share_0), map(sp.Rational, start), strict=True))
    gaps, laws = [], []
    for angle in (sp.Rational(1, 50), sp.Rational(1, 100)):
        values = problem(angle, "0.25", "0.15") | state
        laws.append(number(derive.small_angle_law(event).subs(values)))
        gaps.append(time_of(event, values) - laws[-1])
    assert abs(gaps[1] - gaps[0]) < 0.01 * abs(gaps[0]) + 0.01
    assert abs(gaps[1]) < 0.02 * laws[1]


@pytest.mark.parametrize("start", [(0, 0, 0), ("1/5", "3/10", "-1/5"), ("-1/2", "1/10", "-3/10")])
def test_the_solvers_laws_are_the_derived_ones(start):
    """The solver's hand-coded small-angle laws equal the engine's, from any start."""
    given = reduced.problem(p=3, delta="1/20", alpha_plus="1/4", alpha_minus="1/8", kappa2="3/2")
    coded = reduced.asymptotic(given, reduced.start(*start), digits=25)
    f_plus, f_minus, negative = map(sp.Rational, start)
    values = problem(sp.Rational(1, 20), "1/4", "1/8", ratio=3) | {kappa2: sp.Rational(3, 2)}
    values |= {f_plus_0: f_plus, f_minus_0: f_minus, share_0: f_minus - negative}
    for name in ("T_plat", "T_II"):
        derived = number(derive.small_angle_law(name).subs(values))
        assert abs(ctx.mpf(getattr(coded, name)) / derived - 1) < ctx.mpf(10) ** -24

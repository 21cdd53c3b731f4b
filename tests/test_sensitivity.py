"""Claim: the sensitivities are the exact derivatives of the times, wherever the times are smooth."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from typing import Any

import mpmath
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import reduced
from reduced.derive.phases import phase
from reduced.derive.plateau import closed_form, plateau_end, x, x_0
from reduced.numbers import Exact, cos, exact
from reduced.solve.promise import private_context
from reduced.solve.sensitivity import PARAMETERS, sensitivities
from reduced.solve.sensitivity.series import rising_series

DIGITS = 40
STEP = exact("1e-25")
PAPER = (4, "pi/15", "0.23", "0.13", 1)
C = cos(exact("pi/15"))


def quotients(problem: Any, start: Any, name: str, times: list[str]) -> list[Decimal]:
    """Return the central difference quotients of times by one parameter, with errors of order STEP²."""
    values = {key: value for key, value in (vars(problem) | vars(start)).items() if key != "loss"}

    def at(shift: Exact) -> dict[str, str]:
        numbers = list((values | {name: values[name] + shift}).values())
        return reduced.timeline(reduced.problem(*numbers[:5]), reduced.start(*numbers[5:]), 80).times

    above, below = at(STEP), at(-STEP)
    with localcontext() as context:
        context.prec = 90
        return [(Decimal(above[time]) - Decimal(below[time])) / (2 * Decimal("1e-25")) for time in times]


STATES: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    "plateau": (PAPER, ("3/4", "3/5", "-1/10")),
    "above the fixed ratio": (PAPER, (1, "1/2", "-1/10")),
    "far below it": ((30, "pi/15", "0.23", "0.13", "3/2"), (0, "1/20", "-1/100")),
    "after the plateau": (PAPER, ("13/10", "-1/2", "-3/5")),
    "on the fixed ratio": (PAPER, ("log(4/(1+13/23*(1-cos(pi/15))))-1/10", "1/10", "-1/20")),
    "three phases": ((4, "pi/15", "1/5", "1/5", 1), ("1/5", "1/10", "-1/20")),
    "close to c": ((4, "pi/15", "1/5", C / 5 * (1 - exact("1e-5")), 1), ("1/5", "1/10", "-1/20")),
    "close to 1/c": ((4, "pi/15", "1/5", (1 - exact("1e-3")) / C / 5, 1), ("1/5", "1/10", "-1/20")),
    "small angle": ((4, "1/100", "1/5", "1/10", 1), ("1/5", "1/10", "-1/20")),
}


@pytest.mark.parametrize("name", STATES)
def test_derivatives_are_the_limits_of_difference_quotients(name: str) -> None:
    problem, start = reduced.problem(*STATES[name][0]), reduced.start(*STATES[name][1])
    found = sensitivities(problem, start, DIGITS)
    times = [time for time, sensitivity in found.items() if sensitivity is not None]
    assert times
    for parameter in PARAMETERS:
        for time, expected in zip(times, quotients(problem, start, parameter, times), strict=True):
            exactly = Decimal(found[time].derivative[parameter])
            assert abs(exactly - expected) <= abs(expected) * Decimal("1e-15"), (time, parameter)


@pytest.mark.parametrize("time", ["T_plat", "T_II"])
def test_implicit_differentiation_of_the_derived_closed_form_gives_the_same(time: str) -> None:
    """dT/dθ from SymPy: the event's equation differentiated implicitly, the time under its integral."""
    problem, start = (
        reduced.problem("9/2", "1/4", "1/4", "1/10", "3/2"),
        reduced.start("1/5", "3/10", "-1/10"),
    )
    found = closed_form(phase("II"))
    held, on_P, on_Q = plateau_end(time)
    symbols = {
        symbol.name: symbol for symbol in found.time_rate.free_symbols | found.initial_x().free_symbols
    }
    values = {**vars(problem), "Delta": problem.delta, "f_plus_0": start.f_plus, "f_minus_0": start.f_minus}
    values["f_minus_positive_0"] = start.f_minus - start.f_minus_negative
    numbered = [s for s in {*symbols.values(), *held.free_symbols} if s.name in values]
    equation = held + found.displacement(on_P, on_Q)
    ctx = private_context(32)
    fixed = [values[s.name].evaluate(ctx) for s in numbered]
    functions = {name: getattr(ctx, name) for name in ("exp", "log", "sin", "cos", "sqrt")}

    def number(expression: Any, *variables: Any) -> Callable[..., Any]:
        function = sp.lambdify((*numbered, *variables), expression, modules=[functions])
        return lambda *at: function(*fixed, *at)

    begin = number(found.initial_x())()
    event = number(equation, x, x_0)
    end = ctx.findroot(lambda s: event(s, begin), (5, 40), solver="anderson")
    exactly = sensitivities(problem, start, 25)[time]
    assert exactly is not None
    for name in ("p", "Delta", "alpha_plus", "alpha_minus", "kappa2", "f_plus_0", "f_minus_0"):
        θ = symbols[name]
        begin_slope = number(sp.diff(found.initial_x(), θ))()
        on_start = number(sp.diff(equation, x_0), x, x_0)(end, begin)
        by_θ = number(sp.diff(equation, θ), x, x_0)(end, begin) + on_start * begin_slope
        if name == "f_minus_0" and time == "T_II":
            by_θ += 1  # with the share of K₋ held, that of K₊ is f₋ less a constant
        end_slope = -by_θ / number(sp.diff(equation, x), x, x_0)(end, begin)
        rate, by_x0 = number(found.time_rate, x, x_0), number(sp.diff(found.time_rate, x_0), x, x_0)
        under = number(sp.diff(found.time_rate, θ), x, x_0)
        inside = ctx.quad(
            lambda s, under=under, by_x0=by_x0, slope=begin_slope: under(s, begin) + slope * by_x0(s, begin),
            ctx.linspace(begin, end, 6),
        )
        total = inside + rate(end, begin) * end_slope - rate(begin, begin) * begin_slope
        key = {"Delta": "delta", "f_plus_0": "f_plus", "f_minus_0": "f_minus"}.get(name, name)
        assert abs(total / ctx.mpf(exactly.derivative[key]) - 1) < ctx.mpf("1e-18"), key


@settings(max_examples=8, derandomize=True, deadline=None)
@given(
    p=st.fractions("3/2", 20, max_denominator=9),
    delta=st.fractions("1/20", "3/5", max_denominator=20),
    plus=st.fractions("1/10", "1/2", max_denominator=20),
    alpha=st.fractions("1/10", "9/10", max_denominator=20),
)
def test_scaling_laws_hold_to_the_last_digit(p: Any, delta: Any, plus: Any, alpha: Any) -> None:
    """κ₂² and α₊, α₋ together only set the unit of time: conditions −2, and −1 in sum."""
    found = sensitivities(reduced.problem(p, delta, plus, plus * alpha), reduced.start(), 20)
    for sensitivity in filter(None, found.values()):
        assert sensitivity.condition["kappa2"] == "-2"
        both = [Decimal(sensitivity.condition[name]) for name in ("alpha_plus", "alpha_minus")]
        assert abs(sum(both) + 1) <= Decimal("1e-19") * max(map(abs, both))


def test_weights_and_predictions_shift_together() -> None:
    """P, Q depend on ln p and f only: p ∂T/∂p = −∂T/∂f₊ + p/(1+p) T per time unit 1+p, with the shares held."""
    problem, start = reduced.problem(*PAPER), reduced.start("3/4", "3/5", "-1/10")
    solved, found = reduced.timeline(problem, start, 40), sensitivities(problem, start, 30)
    # P = p/(1+p) e^{−f₊}: raising ln p by ε is lowering f₊ by ε, but for the common factor 1/(1+p)
    for time in ("T_plat", "T_II"):
        sensitivity = found[time]
        assert sensitivity is not None
        left = 4 * Decimal(sensitivity.derivative["p"])
        right = -Decimal(sensitivity.derivative["f_plus"]) + Decimal(4) / 5 * Decimal(solved.times[time])
        assert abs(left / right - 1) < Decimal("1e-26")


def test_the_paper_s_steep_law_shows_in_the_condition_number() -> None:
    """T_II ∝ p^{α/(1−α)} (1+p) for small Δ: as α → 1 the condition grows without bound."""
    conditions = []
    for alpha_minus in ("1/10", "9/50", "19/100"):
        found = sensitivities(reduced.problem(4, "1/1000", "1/5", alpha_minus), reduced.start(), 10)["T_II"]
        assert found is not None
        conditions.append(float(found.condition["p"]))
    p, laws = 4.0, []
    for alpha in (0.5, 0.9, 0.95):
        power, other = p ** (alpha / (1 - alpha)), p**-0.5
        laws.append(p / (1 + p) + (alpha / (1 - alpha) * power + 0.5 * other) / (power - other))
    assert conditions == pytest.approx(laws, rel=1e-4)


def test_from_the_third_phase_on_the_elementary_time_is_differentiated() -> None:
    """Phase III by hand: e^{−f₋} grows at κ₂² α₋ s²/(1+p), e^{f₊} at p times that over α, until Q/P = 1/c."""
    p, delta, plus, minus, kappa2, first, second = symbols = sp.symbols(
        "p delta alpha_plus alpha_minus kappa2 f_plus f_minus"
    )
    ratio = sp.exp(first + second) / p
    unit = kappa2**2 * plus * sp.sin(delta) ** 2 / (1 + p)
    time = sp.exp(-second) * (1 - sp.cos(delta) * ratio) / (unit * (sp.cos(delta) - minus / plus))
    problem, start = reduced.problem(*PAPER), reduced.start("19/10", "-1/2", "-1/2")
    at = {y: (vars(problem) | vars(start))[y.name].sympy() for y in symbols}
    found = sensitivities(problem, start, 30)["T_III"]
    assert found is not None
    for y in symbols:
        expected = exact(found.derivative[y.name]).sympy()
        assert abs(time.diff(y).subs(at).evalf(40) / expected - 1) < 1e-29, y


def test_times_that_do_not_come_or_lie_before_the_start_have_none() -> None:
    found = sensitivities(reduced.problem(4, "pi/15", "1/5", "1/5"), reduced.start())
    assert [name for name, value in found.items() if value is None] == ["T_III"]
    found = sensitivities(reduced.problem(*PAPER), reduced.start("19/10", "-1/2", "-1/2"))
    assert [name for name, value in found.items() if value is None] == ["T_plat", "T_II"]
    assert set(sensitivities(reduced.problem(4, "pi/15", "1/5", 0), reduced.start())) == {
        "T_plat",
        "T_II",
        "T_III",
    }


@pytest.mark.parametrize(
    "at",
    [("0.49", "-0.02", "0.7"), ("0", "-0.3", "-0.7"), ("1.02", "0.5", "0.25"), ("0.5", "-0.999", "0.75")],
)
def test_the_series_and_its_gradient_are_those_of_the_hypergeometric_function(at: tuple[str, ...]) -> None:
    ctx = private_context(40)
    rise, shift, z = map(ctx.mpf, at)
    fine = private_context(90)

    def value(a: Any, b: Any, x: Any) -> Any:
        return fine.nsum(
            lambda n: fine.rf(a, n) / fine.factorial(n) * x**n / (n + b), [1, fine.inf], method="d"
        )

    found = rising_series(ctx, rise, shift, z)
    point, h = (fine.mpf(rise), fine.mpf(shift), fine.mpf(z)), fine.mpf("1e-25")
    assert abs(found.value - value(*point)) < mpmath.mpf("1e-36")
    for i, slope in enumerate(found[1:]):
        up, down = (tuple(v + s * h * (j == i) for j, v in enumerate(point)) for s in (1, -1))
        assert abs(slope - (value(*up) - value(*down)) / (2 * h)) < mpmath.mpf("1e-30") * (1 + abs(slope))

"""Claim: numbers that are nearly equal, closer than any usual precision shows, are told apart at every digits=."""

from __future__ import annotations

from decimal import Decimal
from importlib.util import find_spec

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reduced

NARROW_P = "(1 + 0.01*sin(1/10)^2)/cos(1/10)*(1 + 1e-13)"
CASES = {
    "α₋ nearly 0": ((4, "pi/15", "1/4", "1e-60"), ("0.1", "0.05", "-0.01")),
    "α₋ far below the digits": ((4, "pi/15", "1/4", "1e-100"), ("0.1", "0.05", "-0.01")),
    "α₊ nearly 0": ((4, "pi/15", "1e-60", "1/4"), ("0", "0", "-0.01")),
    "start below r = c": ((20, "pi/3", "3/100", "3/12500"), ("log(10) - 6e-55", "0", "0")),
    "p c just above 1": (("(1 + 7e-55)/cos(pi/15)", "pi/15", "3/100", "3/12500"), ("0", "0", "0")),
    "start below r = 1/c": (
        (NARROW_P, "1/10", "1/4", "1/400"),
        (f"log({NARROW_P}) - log(cos(1/10)) - 6e-33 - 0.1", "0.1", "-0.1"),
    ),
    "α₊ far below α₋, f₋ nearly 0": (
        ("(1 + 3e-78)/cos(1.3)", "1.3", "1e-40", "1/400"),
        ("1/2", "1e-29", "-6e-59"),
    ),
    "start above r = c": ((20, "pi/3", "3/100", "3/12500"), ("log(10) + 6e-55", "0", "0")),
}


def same(text: str, reference: str, digits: int) -> bool:
    """Tell whether a number agrees with a longer one to half a unit of its last digit."""
    if "inf" in (text, reference):
        return text == reference
    value, exact = Decimal(text), Decimal(reference)
    return (
        abs(value - exact) <= Decimal("0.51").scaleb(exact.adjusted() + 1 - digits) if exact else value == 0
    )


@pytest.mark.parametrize("digits", [2, 5, 15, 40])
@pytest.mark.parametrize(("parameters", "state"), CASES.values(), ids=list(CASES))
def test_few_digits_are_those_of_many(parameters, state, digits) -> None:  # type: ignore[no-untyped-def]
    problem, start = reduced.problem(*parameters), reduced.start(*state)
    few, many = (reduced.timeline(problem, start, n) for n in (digits, 160))
    assert (few.outcome, few.regime) == (many.outcome, many.regime)
    assert all(same(few.times[name], many.times[name], digits) for name in many.times), (
        few.times,
        many.times,
    )


@pytest.mark.skipif(find_spec("flint") is None, reason="needs python-flint")
@pytest.mark.parametrize(("parameters", "state"), CASES.values(), ids=list(CASES))
def test_they_are_those_proved_in_balls(parameters, state) -> None:  # type: ignore[no-untyped-def]
    from reduced.solve.enclosure import enclosure_timeline

    problem, start = reduced.problem(*parameters), reduced.start(*state)
    plain, proved = reduced.timeline(problem, start, 12), enclosure_timeline(problem, start, 15)
    assert plain.outcome is proved.outcome
    assert all(same(plain.times[name], proved.times[name], 12) for name in proved.times)


def test_the_third_phase_of_a_nearly_absent_group_ends() -> None:
    """T_III has a limit as α₋ → 0, and comes within O(α₋) of it."""
    ends = [
        reduced.timeline(reduced.problem(4, "pi/15", "1/4", share), reduced.start("0.1", "0.05", "-0.01"), 12)
        for share in ("1e-9", "1e-30", "1e-60", "1e-300")
    ]
    times = [float(found.times["T_III"]) for found in ends]
    assert times[1:] == pytest.approx([times[1]] * 3, rel=1e-11)
    assert times[0] == pytest.approx(times[1], rel=1e-6)


@settings(max_examples=12, derandomize=True, deadline=None)
@given(exponent=st.integers(3, 120), digits=st.integers(2, 20))
def test_a_start_ever_closer_to_r_equals_c_loses_its_kink_ever_sooner(exponent: int, digits: int) -> None:
    """From f = 0 with r = c (1 − ε) K₊ is back on its kink after 2 ε/|d ln r/dt| to first order in ε."""
    problem = reduced.problem(20, "pi/3", "3/100", "3/12500")
    found = reduced.timeline(problem, reduced.start(f"log(10) - 1e-{exponent}"), digits)
    # ḟ₊ + ḟ₋ = P [(1+c) α₊ − r ((1+c) α₊ + α₋ s²)], P = (20/21)/10, r = c = 1/2, s² = 3/4
    speed = 2 / 21 * (1.5 * 0.03 - 0.5 * (1.5 * 0.03 + 0.75 * 0.00024))
    time = Decimal(found.times["T_II"]).scaleb(exponent)
    assert float(time) == pytest.approx(2 / speed, rel=2 * 10.0 ** (1 - min(digits, exponent)))

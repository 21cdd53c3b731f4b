"""Claim: a prepared problem gives T_plat with the same digits as the whole timeline, on every kind of start."""

from __future__ import annotations

from math import cos as cosine

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import reduced
from reduced.numbers import cos, exact
from reduced.solve import plateau
from reduced.solve.plateau import PreparedPlateau

PAPER = reduced.problem(4, "pi/15", "0.23", "0.13")
C = cos(exact("pi/15"))

STARTS = {
    "zero": (0, 0, 0),
    "on the plateau": ("3/4", "3/5", 0),
    "above the fixed ratio": (1, "1/2", "-1/10"),
    "past the plateau": ("13/10", "-1/2", "-1/2"),
    "fourth phase": ("19/10", "-1/2", "-1/2"),
    "falling from zero": ("13/10", 0, "-1/10"),
    "below zero, rising": (0, "-1/10", "-1/10"),
}


@pytest.mark.parametrize("state", STARTS.values(), ids=STARTS)
@pytest.mark.parametrize("digits", [3, 60])
def test_every_start_gets_the_answer_of_the_timeline(state: tuple[object, ...], digits: int) -> None:
    start = reduced.start(*state)
    assert (
        PreparedPlateau(PAPER, digits).length(start) == reduced.timeline(PAPER, start, digits).times["T_plat"]
    )


@settings(max_examples=40, derandomize=True, deadline=None)
@given(
    p=st.fractions("11/10", 30, max_denominator=20),
    delta=st.fractions("1/50", "7/5", max_denominator=50),
    plus=st.fractions("1/50", "1/2", max_denominator=50),
    minus=st.fractions("1/50", "1/2", max_denominator=50),
    f_plus=st.fractions(0, 2, max_denominator=9),
    f_minus=st.fractions("-1/2", 1, max_denominator=9),
    share=st.fractions("-1", 0, max_denominator=9),
)
def test_random_problems_and_starts(p, delta, plus, minus, f_plus, f_minus, share) -> None:  # type: ignore[no-untyped-def]
    assume(p * cosine(delta) > 1 and f_minus >= share)
    problem, start = reduced.problem(p, delta, plus, minus), reduced.start(f_plus, f_minus, share)
    assert PreparedPlateau(problem, 25).length(start) == reduced.timeline(problem, start, 25).times["T_plat"]


@pytest.mark.parametrize(
    "problem",
    [
        reduced.problem(4, "1/10000", "1/5", "1/10"),
        reduced.problem(4, "pi/15", "1/5", C / 5),
        reduced.problem(4, "pi/15", "1/5", 1 / C / 5),
        reduced.problem((1 + exact("1/2") * (1 - C * C)) / C * (1 + exact("1e-9")), "pi/15", "1/5", "1/10"),
        reduced.problem(4, "pi/15", "1/5", 0),
        reduced.problem(4, "pi/15", 0, "1/5"),
    ],
    ids=["tiny angle", "α = c", "α = 1/c", "vanishing plateau", "no K₋", "no K₊"],
)
def test_hard_corners(problem: reduced.Problem) -> None:
    start = reduced.start()
    assert PreparedPlateau(problem, 30).length(start) == reduced.timeline(problem, start, 30).times["T_plat"]


def test_a_fall_that_doubles_see_as_a_tangency() -> None:
    problem = reduced.problem("(1+0.01*0.64)/0.6*(1-1e-33)", "acos(3/5)", "1/1000", "1/100000")
    start = reduced.start("6e-33", "3e-55", "-4e-5")
    length = PreparedPlateau(problem, 5).length(start)
    assert length == reduced.timeline(problem, start, 5).times["T_plat"] == "1.9917e-24"


def test_the_short_way_is_the_one_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = reduced.timeline(PAPER, reduced.start("3/4", "3/5"), 50).times["T_plat"]

    def refuse(*_: object) -> None:
        raise AssertionError("the whole timeline was computed")

    monkeypatch.setattr(plateau, "timeline", refuse)
    assert PreparedPlateau(PAPER, 50).length(reduced.start("3/4", "3/5")) == expected


def test_bad_input_names_the_argument() -> None:
    with pytest.raises(reduced.InputError, match=r"^digits: "):
        PreparedPlateau(PAPER, 0)
    with pytest.raises(reduced.InputError, match=r"^method: "):
        PreparedPlateau(reduced.problem(loss="logistic"), 10)
    with pytest.raises(reduced.InputError, match=r"^f_minus_negative: "):
        PreparedPlateau(reduced.problem(4, "pi/15", "1/5", 0), 10).length(reduced.start(0, 0, "-1/10"))

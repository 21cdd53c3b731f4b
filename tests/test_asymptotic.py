"""Claim: the small-angle laws are what the exact times tend to as Δ → 0, and what the derivation finds."""

from __future__ import annotations

import pytest

import reduced
from reduced.numbers import exact


@pytest.mark.parametrize(
    "state", [(0, 0, 0), ("1/5", "3/10", "-1/10"), ("-1/3", "1/7", 0)], ids=["zero", "general", "negative"]
)
def test_exact_times_approach_the_laws_like_delta_squared(state: tuple[object, ...]) -> None:
    start = reduced.start(*state)
    gaps = []
    for delta in ("1/100", "1/1000"):
        problem = reduced.problem(4, delta, "1/4", "3/20")
        times, laws = reduced.timeline(problem, start, 20).times, reduced.asymptotic(problem, start, 20)
        gaps.append([float(times[name]) / float(getattr(laws, name)) - 1 for name in ("T_plat", "T_II")])
    for coarse, fine in zip(*gaps, strict=True):
        assert abs(fine) < 1e-5
        assert coarse / fine == pytest.approx(100, rel=0.02)


@pytest.mark.parametrize("name", ["T_plat", "T_II"])
@pytest.mark.parametrize("state", [(0, 0, 0), ("1/5", "3/10", "-1/10")], ids=["zero", "general"])
def test_the_law_is_the_derived_one(name: str, state: tuple[object, ...]) -> None:
    problem, start = reduced.problem("9/2", "1/7", "1/4", "1/10", "3/2"), reduced.start(*state)
    derived = reduced.derive.small_angle_law(name)
    values = {key: value for key, value in vars(problem).items() if key != "loss"}
    values |= {"Delta": values["delta"], "f_plus_0": start.f_plus, "f_minus_0": start.f_minus}
    values["f_minus_positive_0"] = start.f_minus - start.f_minus_negative
    at = {symbol: values[symbol.name].sympy() for symbol in derived.free_symbols}
    law = getattr(reduced.asymptotic(problem, start, 30), name)
    assert abs(derived.subs(at).evalf(40) / exact(law).sympy() - 1) < 1e-29


def test_laws_are_none_where_they_do_not_hold() -> None:
    start = reduced.start()
    assert reduced.asymptotic(reduced.problem(4, "1/10", "1/5", "1/4"), start).T_II is None
    empty = reduced.asymptotic(reduced.problem(4, "1/10", "1/5", 0), start)
    assert empty.T_plat is None
    assert empty.T_II is not None
    beyond = reduced.asymptotic(
        reduced.problem(4, "1/10", "1/5", "1/10", loss="logistic"), reduced.start(2, 1)
    )
    assert beyond.T_plat is None
    late = reduced.asymptotic(reduced.problem(4, "1/10", "1/5", "1/10"), reduced.start(1, 1))
    assert late.T_plat is None
    assert late.T_II is None

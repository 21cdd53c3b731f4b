"""Claim: an enclosure contains the number computed by other means, and its radius is below the target and real."""

from __future__ import annotations

import json
import math
import random
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import pytest

import reduced
from reduced.records import Problem, Start

pytest.importorskip("flint")

from reduced.solve.enclosure import (
    EnclosedTimeline,
    Enclosure,
    enclosure_limit,
    enclosure_predict,
    enclosure_timeline,
)

DATA = Path(__file__).parent / "data"


def within(enclosed: Enclosure, reference: str, digits: int) -> bool:
    """Tell whether a reference right to so many digits lies in an enclosure."""
    if enclosed.rad is None:
        return enclosed.mid == reference == "inf"
    with localcontext(prec=3 * digits + 50):
        exact = Decimal(reference)
        slack = abs(exact).scaleb(1 - digits)
        return abs(Decimal(enclosed.mid) - exact) <= Decimal(enclosed.rad) + slack


def meaningful(enclosed: Enclosure, digits: int) -> bool:
    """Tell whether a radius is above 0 and below half a unit of the last digit asked (exact: 0 only for 0)."""
    if enclosed.rad is None:
        return True
    mid, rad = Decimal(enclosed.mid), Decimal(enclosed.rad)
    if mid == 0:
        return rad == 0
    return 0 < rad < Decimal(1).scaleb(mid.adjusted() - digits + 1) / 2


def numbers(found: EnclosedTimeline) -> dict[str, Enclosure]:
    """Return every enclosed number of a timeline by name."""
    named = {name: Enclosure(found.times[name], found.radius[name]) for name in found.times}
    for name, pair in found.predictions.items():
        radii = found.prediction_radius[name]
        assert (pair is None) == (radii is None)
        for point, mid, rad in zip("+-", pair or (), radii or (), strict=False):
            named[f"f{point} at {name}"] = Enclosure(mid, rad)
    return named


def check(problem: Problem, start: Start, digits: int) -> EnclosedTimeline:
    """Compare an enclosed timeline with the closed form at twice the digits."""
    found = enclosure_timeline(problem, start, digits)
    closed = reduced.timeline(problem, start, 2 * digits)
    assert (found.regime, found.outcome) == (closed.regime, closed.outcome)
    references = dict(closed.times)
    for name, pair in closed.predictions.items():
        references |= {f"f{point} at {name}": f for point, f in zip("+-", pair or (), strict=False)}
    enclosed = numbers(found)
    assert enclosed.keys() == references.keys()
    for name, number in enclosed.items():
        assert within(number, references[name], 2 * digits), (name, number, references[name])
        # only what was given may come back exactly
        given = number.rad == "0" and Fraction(number.mid) in (start.f_plus.fraction, start.f_minus.fraction)
        assert meaningful(number, digits) or given, (name, number)
    return found


def random_case(rng: random.Random) -> tuple[Problem, Start]:
    """Return a random problem with pc > 1 and a random start: from f = 0, in Phase II, or anywhere."""
    delta = round(10 ** rng.uniform(-3, 0.19), 8)
    p = round(math.exp(rng.uniform(0.001, 2.5)) / math.cos(delta), 6)
    problem = reduced.problem(
        str(p),
        str(delta),
        str(round(rng.uniform(0.02, 0.5), 5)),
        str(round(rng.uniform(0.01, 0.5), 5)),
        str(round(math.exp(rng.uniform(-1, 1)), 5)),
    )
    f_plus, share_plus, share_minus = (Decimal(rng.randrange(200_000)).scaleb(-5) for _ in range(3))
    kind = rng.randrange(3)
    if kind == 0:
        return problem, reduced.start()
    if kind == 1:
        return problem, reduced.start(f_plus, share_plus)
    return problem, reduced.start(f_plus, share_plus - share_minus, -share_minus)


def test_random_cases_contain_the_closed_form_at_twice_the_digits() -> None:
    rng = random.Random(7)
    for _ in range(200):
        check(*random_case(rng), rng.randint(30, 50))


@pytest.mark.slow
def test_a_thousand_random_cases() -> None:
    rng = random.Random(8)
    for _ in range(1000):
        check(*random_case(rng), rng.randint(30, 50))


@pytest.mark.slow
def test_random_cases_of_many_digits() -> None:
    rng = random.Random(9)
    for _ in range(20):
        check(*random_case(rng), rng.randint(200, 1000))


@pytest.mark.parametrize("digits", [196, 230])
def test_the_reference_plateau_is_contained(digits: int) -> None:
    reference = json.loads((DATA / "plateau_200_digits.json").read_text())
    problem = reduced.problem(
        **{name: reference[name] for name in ("p", "delta", "alpha_plus", "alpha_minus", "kappa2")}
    )
    start = reduced.start(reference["f_plus"], reference["f_minus"])
    found = enclosure_timeline(problem, start, digits)
    plateau = Enclosure(found.times["T_plat"], found.radius["T_plat"])
    assert meaningful(plateau, digits)
    # the reference is truncated after its last figure
    assert within(plateau, reference["T_plat"], len(reference["T_plat"]) - 1)


def test_the_reference_timeline_predictions_and_margin_are_contained() -> None:
    reference = json.loads((DATA / "reduced_public.json").read_text())["pub"]
    values = reference["values"]
    problem, start = reduced.problem(**reference["parameters"]), reduced.start()
    found = numbers(enclosure_timeline(problem, start, 50))
    for name in ("T_plat", "T_II", "T_III"):
        assert within(found[name], values[name], 39)
    assert within(found["f+ at T_II"], values["f_at_T_II"][0], 39)
    limit = enclosure_limit(problem, 50)
    assert within(limit.gamma, values["gamma_limit"], 39)
    assert within(limit.rho, values["rho"], 39)
    assert meaningful(limit.gamma, 50)
    times = [row[0] for row in values["phaseIV"]]
    for point, (_, f_plus, f_minus) in zip(
        enclosure_predict(problem, start, times, 45), values["phaseIV"], strict=True
    ):
        assert within(point.f_plus, f_plus, 39)
        assert within(point.f_minus, f_minus, 39)
        assert meaningful(point.loss, 45)


def test_predictions_contain_the_closed_form_at_twice_the_digits() -> None:
    rng = random.Random(10)
    for _ in range(15):
        problem, start = random_case(rng)
        times = [0, "1e-6", "10", "1e3", "1e1000"]
        enclosed = enclosure_predict(problem, start, times, 30)
        for point, closed in zip(enclosed, reduced.predict(problem, start, times, 60), strict=True):
            assert within(point.f_plus, closed.f_plus, 60)
            assert within(point.f_minus, closed.f_minus, 60)
            assert within(point.loss, closed.loss, 60)

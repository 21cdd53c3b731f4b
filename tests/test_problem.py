"""A problem holds Assumption 3.1 exactly, decided at the boundary, or is refused by name."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from reduced import InputError, Loss, problem, start
from reduced.parameters import expected_fractions
from reduced.solve.promise import private_context


def test_the_defaults_are_the_paper_s():
    given = problem()
    assert given.p.fraction == 4
    assert str(given.delta) == "pi/15"
    assert given.kappa2.fraction == 1
    assert given.loss is Loss.EXP
    assert given.alpha_plus.fraction == Fraction(1, 4)


def test_the_expected_fraction_is_the_angle_of_the_living_cone():
    """α₋ is half the fraction of directions with v > 0 and v(p − c) > u(pc − 1), counted on a circle."""
    for p, delta in [(4, "pi/15"), (2, "0.9"), (100, "0.05"), ("1.05", "0.3")]:
        given = problem(p, delta)
        angle = float(given.delta.evaluate(mpmath.mp.clone()))
        theta = (np.arange(2_000_000) + 0.5) * (2 * np.pi / 2_000_000)
        u, v, c = np.cos(theta), np.cos(theta - angle), np.cos(angle)
        ratio = float(given.p.fraction)
        share = np.mean((v > 0) & (v * (ratio - c) > u * (ratio * c - 1)))
        assert float(given.alpha_minus.evaluate(mpmath.mp.clone())) == pytest.approx(share / 2, abs=1e-6)


def test_the_expected_fraction_is_the_paper_s_formula():
    """α₋ = (π − arccos(p s²/‖q‖))/(4π), q = (p − c) x₋ − (pc − 1) x₊."""
    ctx = private_context(40)
    for p, delta in [(4, "pi/15"), (2, "0.9"), ("1.1", "0.4")]:
        given = problem(p, delta)
        angle, ratio = given.delta.evaluate(ctx), given.p.evaluate(ctx)
        c = ctx.cos(angle)
        norm = ctx.sqrt((ratio - c) ** 2 + (ratio * c - 1) ** 2 - 2 * c * (ratio - c) * (ratio * c - 1))
        law = (ctx.pi - ctx.acos(ratio * ctx.sin(angle) ** 2 / norm)) / (4 * ctx.pi)
        assert abs(given.alpha_minus.evaluate(ctx) - law) < ctx.mpf("1e-35")


def test_the_expected_fraction_approaches_its_small_angle_law():
    ctx = private_context(40)
    given = problem(4, "1e-6")
    law = ctx.mpf(1) / 8 + 4 * ctx.mpf("1e-6") / (4 * ctx.pi * 3)
    assert abs(expected_fractions(given.p, given.delta)[1].evaluate(ctx) - law) < ctx.mpf("1e-12")


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"p": 0}, "p"),
        ({"p": -4}, "p"),
        ({"p": "1/cos(pi/15)"}, "p"),
        ({"p": "1/cos(pi/15) - 1e-60"}, "p"),
        ({"p": 1}, "p"),
        ({"p": float("nan")}, "p"),
        ({"delta": 0}, "delta"),
        ({"delta": "pi/2"}, "delta"),
        ({"delta": "pi/2 + 1e-60"}, "delta"),
        ({"delta": -1}, "delta"),
        ({"delta": "inf"}, "delta"),
        ({"kappa2": 0}, "kappa2"),
        ({"kappa2": "-1e-30"}, "kappa2"),
        ({"alpha_plus": "-1e-60"}, "alpha_plus"),
        ({"alpha_plus": "1 + 1e-60"}, "alpha_plus"),
        ({"alpha_minus": 2}, "alpha_minus"),
        ({"alpha_plus": "0.6", "alpha_minus": "0.4 + 1e-60"}, "alpha_plus + alpha_minus"),
        ({"loss": "hinge"}, "loss"),
        ({"loss": ""}, "loss"),
    ],
)
def test_what_no_problem_can_be_is_refused_by_name(arguments, name):
    with pytest.raises(InputError) as refusal:
        problem(**arguments)
    assert str(refusal.value).startswith(f"{name}: expected ")
    assert refusal.value.name == name


@pytest.mark.parametrize(
    "arguments",
    [
        {"p": "1/cos(pi/15) + 1e-60"},
        {"delta": "pi/2 - 1e-60", "p": "1e61"},
        {"delta": "1e-60"},
        {"alpha_plus": 1, "alpha_minus": 0},
        {"alpha_plus": "0.6", "alpha_minus": "0.4"},
        {"p": "1/2", "assumption": False},
    ],
)
def test_what_lies_just_inside_is_accepted(arguments):
    problem(**arguments)


def test_losses_by_name():
    assert problem(loss="logistic").loss is Loss.LOGISTIC
    assert problem(loss="cross-entropy").loss is Loss.LOGISTIC
    assert problem(loss=Loss.EXP).loss is Loss.EXP


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((0, 0, "1e-60"), "f_minus_negative"),
        ((0, "-1e-60", 0), "f_minus"),
        ((0, -2, -1), "f_minus"),
        (("nan", 0, 0), "f_plus"),
        ((0, float("inf"), 0), "f_minus"),
    ],
)
def test_an_impossible_start_is_refused_by_name(arguments, name):
    with pytest.raises(InputError, match=f"^{name}: expected "):
        start(*arguments)


def test_a_start_keeps_the_whole_and_the_share():
    given = start(1, "1/2", "-1/4")
    assert (given.f_plus.fraction, given.f_minus.fraction) == (1, Fraction(1, 2))
    assert given.f_minus_negative.fraction == Fraction(-1, 4)

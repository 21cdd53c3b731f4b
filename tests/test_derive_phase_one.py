"""Fates and exit times derived for Phase I are those of small-step descent with the loss frozen."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from reduced import derive
from reduced.derive.phase_one import radius, u, v
from reduced.derive.symbols import Delta, alpha_minus, alpha_plus, c, kappa2, m, p, s
from reduced.errors import InputError

STEP = 1e-3
TIME_TO_SPARE = 16.0


def frozen_descent(sign, start, ratio, angle):
    """Descend with the loss frozen (a = ±1); return fates and times of directions, from the ReLU alone."""
    P, Q, cosine = ratio / (1 + ratio), 1 / (1 + ratio), np.cos(angle)
    here = start.copy()
    positive, dead, on_kink = np.zeros((3, len(start))) + np.inf
    above = start[:, 0] > 0
    for k in range(int(TIME_TO_SPARE / STEP)):
        active = here > 0
        dead = np.where(~active.any(axis=1) & np.isinf(dead), k * STEP, dead)
        positive = np.where(active.all(axis=1) & np.isinf(positive), k * STEP, positive)
        on_kink = np.where((active[:, 0] != above) & np.isinf(on_kink), k * STEP, on_kink)
        push_plus, push_minus = sign * P * active[:, 0], -sign * Q * active[:, 1]
        here += STEP * np.stack([push_plus + cosine * push_minus, cosine * push_plus + push_minus], axis=1)
    alive = derive.Fate.JOINS_K_PLUS if sign > 0 else derive.Fate.JOINS_K_MINUS
    fates = [derive.Fate.DIES if np.isfinite(time) else alive for time in dead]
    times = np.where(np.isfinite(dead), dead, positive if sign > 0 else on_kink)
    return fates, times


def predicted(sign, start, ratio, angle):
    """Evaluate the derived courses at directions; leave out those within a few steps of a branch's border."""
    values = {p: ratio, Delta: angle, kappa2: 1, m: 1}
    for direction in start:
        pattern = "".join("+" if x > 0 else "-" for x in direction)
        sizes = {u: abs(direction[0]), v: abs(direction[1])}
        matching = []
        for course in derive.courses(sign, pattern):
            gap = sp.S(1) if course.condition == sp.true else course.condition.rhs - course.condition.lhs
            gap = float(gap.subs(values).subs(sizes))
            if abs(gap) < 20 * STEP * ratio:
                matching = [None]
                break
            if gap > 0:
                matching.append((course.fate, float(course.exit_time.subs(values).subs(sizes))))
        assert len(matching) == 1
        yield matching[0]


@settings(derandomize=True, deadline=None, max_examples=5)
@given(
    ratio=st.floats(1.6, 5.0),
    angle=st.floats(0.1, 0.8),
    seed=st.integers(0, 10**6),
    sign=st.sampled_from([1, -1]),
)
def test_fates_and_exit_times_agree_with_descent(ratio, angle, seed, sign):
    start = np.random.default_rng(seed).uniform(-1, 1, (60, 2))
    fates, times = frozen_descent(sign, start, ratio, angle)
    compared = 0
    for fate, time, expected in zip(fates, times, predicted(sign, start, ratio, angle), strict=True):
        if expected is None or expected[1] > TIME_TO_SPARE / 2:
            continue
        assert fate == expected[0]
        assert time == pytest.approx(expected[1], abs=20 * STEP)
        compared += 1
    assert compared > 30


def test_each_class_has_the_fates_of_the_paper():
    plus, minus, dies = derive.Fate.JOINS_K_PLUS, derive.Fate.JOINS_K_MINUS, derive.Fate.DIES
    found = {}
    for course in derive.all_courses():
        found.setdefault((course.sign, course.pattern), []).append(course.fate)
    assert found == {
        (1, "++"): [plus],
        (1, "+-"): [plus],
        (1, "-+"): [dies],
        (1, "--"): [dies],
        (-1, "++"): [minus, dies],
        (-1, "+-"): [dies],
        (-1, "-+"): [minus],
        (-1, "--"): [dies],
    }


def test_the_split_class_is_decided_by_the_papers_inequality():
    slide, cross = derive.courses(-1, "++")
    for course, direction in ((slide, 1), (cross, -1)):
        gap = course.condition.rhs - course.condition.lhs
        assert sp.simplify(gap - direction * (v * (p - c) - u * (p * c - 1))) == 0
    assert [step.kind for step in cross.steps] == ["cross", "die"]


def test_living_fractions_equal_the_sector_formula():
    plus, minus = derive.living_fractions()
    assert plus == sp.Rational(1, 4)
    along, across = p - c, p * c - 1
    norm = sp.sqrt(along**2 + across**2 - 2 * c * along * across)
    by_hand = (sp.pi - sp.acos(p * s**2 / norm)) / (4 * sp.pi)
    for values in ({p: 4.0, Delta: 0.2}, {p: 1.7, Delta: 0.9}, {p: 50.0, Delta: 1.3}):
        assert float((minus - by_hand).subs(values)) == pytest.approx(0, abs=1e-12)


def test_radial_and_tangential_motion_equal_finite_differences():
    rng = np.random.default_rng(5)
    angle, h = 0.6, 1e-6
    X = np.array([[1, 0, 0], [np.cos(angle), np.sin(angle), 0]])
    velocity = derive.motion(derive.NetworkModel(), -1, (0, 1)).velocity
    polar = derive.polar_motion(velocity)
    values = {Delta: angle, kappa2: 0.7, m: 1} | dict(zip(derive.TWO_POINTS.forces, (0.6, 0.9), strict=True))
    flow = np.array([float(x.subs(values)) for x in velocity.coefficients]) @ X
    b = rng.normal(size=3)

    def at(time):
        moved = b + time * flow
        norm = np.linalg.norm(moved)
        return np.array([norm, *(X @ moved / norm)])

    measured = (at(h) - at(-h)) / (2 * h)
    values |= {radius: at(0)[0]} | dict(zip(polar.directions, at(0)[1:], strict=True))
    derived = [float(rate.subs(values)) for rate in (polar.radial, *polar.tangential)]
    np.testing.assert_allclose(derived, measured, rtol=1e-6)


def test_symbols_of_other_modules_stay_out_of_phase_one():
    for course in derive.all_courses():
        assert not course.exit_time.free_symbols & {alpha_plus, alpha_minus}


@pytest.mark.parametrize(
    ("pattern", "model"),
    [
        ("+0", None),
        ("++", derive.NetworkModel(activation=derive.leaky_relu(sp.Rational(1, 10)))),
        ("++", derive.NetworkModel(data=derive.data_set(sp.eye(1), (1,), (1,)))),
    ],
)
def test_other_patterns_and_networks_are_refused(pattern, model):
    with pytest.raises(InputError, match=r"pattern|model"):
        derive.courses(1, pattern, model)

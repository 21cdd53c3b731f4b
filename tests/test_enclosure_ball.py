"""Claim: balls round outward, decide only what is certain, and their series and roots contain the truth."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reduced.numbers import exact, read_number

pytest.importorskip("flint")

import flint

from reduced.solve.enclosure.answer import enclosure
from reduced.solve.enclosure.ball import (
    ONE,
    ZERO,
    Ball,
    BallContext,
    Undecided,
    enclosure_of,
    proved_sign,
    working_precision,
)
from reduced.solve.enclosure.root import enclose_root
from reduced.solve.enclosure.series import rising_series


def ball(middle: str, radius: str) -> Ball:
    return Ball(flint.arb(middle, radius))


def test_a_comparison_answers_only_when_it_is_certain() -> None:
    low, high, wide = ball("1", "0.1"), ball("2", "0.1"), ball("1.5", "1")
    assert low < high
    assert high > low
    assert low != high
    assert bool(low)
    for decide in (lambda: low < wide, lambda: wide <= high, lambda: low == wide, lambda: bool(wide - 1)):
        with pytest.raises(Undecided):
            decide()


def test_one_object_is_one_number() -> None:
    wide = ball("1.5", "1")
    assert wide == wide
    assert not wide < wide
    assert (wide - wide).is_zero
    assert (wide / wide) == ONE
    with pytest.raises(Undecided):
        assert wide == ball("1.5", "1")


def test_equal_formulas_are_equal_and_close_ones_are_not() -> None:
    with working_precision(64):
        ctx = BallContext()
        c, s2 = ctx.enclose(read_number("cos(pi/7)")), ctx.enclose(read_number("sin(pi/7)^2"))
        assert 1 - c * c == s2
        assert ctx.sign(1 - c * c - s2) == 0
        assert 1 - c * c < s2 + ctx.enclose(read_number("1e-40"))


@pytest.mark.parametrize(
    "text",
    ["pi/15", "sqrt(2)/3", "cos(pi/15)/4", "e^(1/3)", "log(7)*atan(2)", "1e-300", "acos(3/5)^2", "tan(1)"],
)
def test_exact_numbers_are_enclosed_at_every_precision(text: str) -> None:
    number = read_number(text)
    ctx = mpmath.mp.clone()
    ctx.prec = 1000
    man, exponent = number.evaluate(ctx).man_exp
    for bits in (10, 53, 400):
        with working_precision(bits):
            found = enclosure_of(number)
            assert found.rel_accuracy_bits() >= bits - 8
        with working_precision(2000):
            assert found.contains(flint.arb(int(man)) * flint.arb(2) ** exponent)


def test_the_sign_of_a_formula_is_proved_or_refused() -> None:
    with working_precision(53):
        assert proved_sign(read_number("sqrt(2)+sqrt(3)-sqrt(5+2*sqrt(6))")) == 0
        assert proved_sign(read_number("cos(1e-20)-1")) == -1
        with pytest.raises(Undecided):
            # nothing shows that this difference of two different functions is not 0
            proved_sign(read_number("exp(1e-300)") - 1 - exact("1e-300"))


@settings(derandomize=True, deadline=None, max_examples=25)
@given(
    st.fractions(0, 2),
    st.fractions(Fraction(1, 1000), 2),
    st.fractions(Fraction(-3, 4), Fraction(3, 4)),
    st.sampled_from([12, 60, 200]),
)
def test_the_series_with_its_tail_contains_the_sum(
    rise: Fraction, shift: Fraction, z: Fraction, bits: int
) -> None:
    ctx = mpmath.mp.clone()
    ctx.prec = 300
    a, s, x = (ctx.mpf(v.numerator) / v.denominator for v in (rise, shift, z))
    reference = a * x / s * ctx.hyp3f2(a + 1, s, 1, 2, s + 1, x)
    with working_precision(bits):
        found = rising_series(*(flint.arb(flint.fmpq(v.numerator, v.denominator)) for v in (rise, shift, z)))
    with working_precision(600):
        man, exponent = abs(reference).man_exp
        assert abs(found).overlaps(flint.arb(int(man), 1) * flint.arb(2) ** exponent)
        assert (found < 0) == (reference < 0)
    assert found.rad() < flint.arb(2) ** (12 - bits) * (1 + abs(found))


def test_a_series_outside_its_circle_is_refused() -> None:
    with pytest.raises(Undecided):
        rising_series(flint.arb(1), flint.arb(1), flint.arb(1))


@pytest.mark.parametrize("bits", [53, 500])
def test_a_proved_root_contains_the_root_for_all_coefficients(bits: int) -> None:
    with working_precision(bits):
        radius = flint.arb(2) ** (10 - bits)
        constant = flint.arb(2, radius)
        found = enclose_root(lambda q: (q * q - constant, 2 * q), flint.arb("1.41"))
        for inside in (2 - 0.99 * radius, 2 + 0.99 * radius):
            assert found.contains(inside.sqrt())
        assert found.rad() < radius


def test_what_is_no_simple_root_is_not_proved() -> None:
    with working_precision(100):
        for constant in (0, 1):
            with pytest.raises(Undecided):
                enclose_root(lambda q, c=constant: (q * q + c, 2 * q), flint.arb("0.3"))


def test_a_printed_radius_covers_the_rounding_of_the_middle() -> None:
    with working_precision(200):
        third = enclosure(ONE / 3, 5)
        assert third.mid == "0.33333333"
        assert Fraction(third.rad) >= abs(Fraction(1, 3) - Fraction(third.mid))
        assert str(enclosure(ZERO, 5)) == "0 +/- 0"
        assert str(enclosure(ball("1", "0.00099999"), 3)) == "1 +/- 1.00e-3"

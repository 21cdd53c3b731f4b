"""Numbers are read exactly or refused in one sentence, evaluated to full precision, written to nearest."""

from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reduced.errors import InputError
from reduced.numbers import PI, cos, decimal_string, exact, is_zero, read_number, sign, sqrt


@pytest.fixture
def ctx():
    context = mpmath.mp.clone()
    context.prec = 200
    return context


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", Fraction(1, 10)),
        ("1e-20", Fraction(1, 10**20)),
        ("-1e-5", Fraction(-1, 10**5)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("1E+3", Fraction(1000)),
        ("3/20", Fraction(3, 20)),
        ("2^-2", Fraction(1, 4)),
        ("2**3**2", Fraction(512)),
        ("-2^2", Fraction(-4)),
        ("--3", Fraction(3)),
        (" ( 1 + 2 ) * 3 - 4 / 8 ", Fraction(17, 2)),
        ("1-2-3", Fraction(-4)),
        ("8/4/2", Fraction(1)),
    ],
)
def test_rational_text_is_read_exactly(text, value):
    assert read_number(text).fraction == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("pi/15", lambda m: m.pi / 15),
        ("π", lambda m: m.pi),
        ("e^2", lambda m: m.exp(2)),
        ("sqrt(2)/3", lambda m: m.sqrt(2) / 3),
        ("cos(pi/15)/4", lambda m: m.cos(m.pi / 15) / 4),
        ("ln(4)-log(3)", lambda m: m.log(4) - m.log(3)),
        ("arccos(1/3)+acos(1/3)", lambda m: 2 * m.acos(m.mpf(1) / 3)),
        ("atan(2)*asin(1/2)*tan(1)", lambda m: m.atan(2) * m.asin(0.5) * m.tan(1)),
        ("2^(1/3)", lambda m: m.cbrt(2)),
    ],
)
def test_functions_are_evaluated(ctx, text, value):
    assert abs(read_number(text).evaluate(ctx) - value(ctx)) < ctx.ldexp(1, -190)


NONSENSE = [
    *["", "   ", "nan", "NaN", "inf", "-inf", "Infinity", "None", "True", "x", "1j", "0x10"],
    *["1/0", "0/0", "1/(1-1)", "0^-1", "log(0)", "log(-1)", "sqrt(-1)", "(-1)^(1/2)", "acos(2)", "tan(pi/2)"],
    *["1/sin(pi)", "log(sin(pi))", "1/(cos(pi/15)-cos(pi/15))", "sqrt(sqrt(2)*sqrt(2)-2)/0"],
    *["9^9^9", "10^100001", "2^(10^6)", "1e999999", "1e-100001", "exp(1e13)", "exp(exp(40))", "sin(1e30)"],
    *["exp(1e-5000)-1", "__import__('os')", "().__class__", "lambda:0", "cos", "cos 1", "f(2)", "log(1,2)"],
    *["1_000", "1,5", "1 2", "2(3)", "pi pi", "1e", "1..2", ".", "1+", "*2", "(1", "1)", "1\n2", "1\x00"],
    *["١٢", "²", "½", "１", "−1", "(" * 200 + "1" + ")" * 200, "2^" * 60 + "2", "1" * 10**6],
]


@pytest.mark.parametrize("text", NONSENSE, ids=lambda text: ascii(text[:20]))
def test_nonsense_is_refused_in_one_sentence(text):
    with pytest.raises(InputError) as refusal:
        read_number(text, "delta")
    sentence = str(refusal.value)
    assert sentence.startswith("delta: expected a number such as 4, 0.1, 1e-20, pi/15 or sqrt(2)/3, got ")
    assert "\n" not in sentence
    assert len(sentence) < 140
    assert repr(text)[:20] in sentence


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), True, None, 1j, [1], b"1", np.nan, np.True_, mpmath.inf, mpmath.nan]
)
def test_values_that_are_no_real_numbers_are_refused(value):
    with pytest.raises(InputError, match=r"^kappa2: expected"):
        exact(value, "kappa2")


@pytest.mark.parametrize("value", [0.1, -0.1, 5e-324, -1.7e308, 0.0, 3.0])
def test_a_float_stands_for_its_binary_value(value):
    assert exact(value).fraction == Fraction(value)
    assert exact(np.float64(value)).fraction == Fraction(value)
    assert exact(np.array(value)).fraction == Fraction(value)
    assert exact(mpmath.mpf(value)).fraction == Fraction(value)


def test_other_numbers_keep_their_value():
    assert exact(np.float32(0.1)).fraction == Fraction(float(np.float32(0.1)))
    assert exact(np.int64(-7)).fraction == -7
    assert exact(Decimal("-0.1")).fraction == Fraction(-1, 10)
    assert exact(Fraction(2, 3)).fraction == Fraction(2, 3)
    assert exact(10**400).fraction == 10**400
    assert exact(-mpmath.mpf(3) / 8).fraction == Fraction(-3, 8)
    assert exact(PI) is PI


def test_cancellation_costs_no_digits(ctx):
    x = Fraction(1, 10**12)
    series, term = Fraction(0), Fraction(-1)
    for k in range(1, 8):
        term *= -(x**2) / ((2 * k - 1) * 2 * k)
        series += term
    want = ctx.mpf(series.numerator) / series.denominator
    assert abs(read_number("1-cos(1e-12)").evaluate(ctx) / want - 1) < ctx.ldexp(1, -195)
    tiny = read_number("exp(1e-300)-1").evaluate(ctx)
    assert abs(tiny / ctx.mpf("1e-300") - 1) < ctx.ldexp(1, -195)


ZEROS = ["cos(1)-cos(1)", "sin(pi)", "log(1)", "sqrt(2)*sqrt(2)-2", "sqrt(2)+sqrt(3)-sqrt(5+2*sqrt(6))"]


@pytest.mark.parametrize("text", ZEROS)
def test_an_exact_zero_is_decided(ctx, text):
    number = read_number(text)
    assert is_zero(number)
    assert sign(number) == 0
    assert number.evaluate(ctx) == 0


@pytest.mark.parametrize("text", ZEROS)
def test_next_to_zero_is_not_zero(text):
    number = read_number(text)
    assert (sign(number + "1e-500"), sign(number - "1e-500")) == (1, -1)


def test_arithmetic_agrees_with_the_reader_and_with_sympy(ctx):
    built = (cos(PI / 15) * 4 - 1) / sqrt("2") ** 3
    read = read_number("(cos(pi/15)*4-1)/sqrt(2)^3")
    assert built.evaluate(ctx) == read.evaluate(ctx)
    assert abs(ctx.mpf(str(built.sympy().evalf(50))) - built.evaluate(ctx)) < ctx.mpf(10) ** -48
    assert read_number(str(read)).evaluate(ctx) == read.evaluate(ctx)


def test_evaluation_leaves_the_context_alone(ctx):
    read_number("1-cos(1e-30)").evaluate(ctx)
    assert ctx.prec == 200


def nearest(value, digits):
    """Return the mpf as a Decimal rounded half to even, by Python's own exact division."""
    fraction = exact(value).fraction
    with localcontext() as local:
        local.prec, local.rounding, local.Emax, local.Emin = digits, ROUND_HALF_EVEN, 10**9, -(10**9)
        return Decimal(fraction.numerator) / Decimal(fraction.denominator)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(
    mantissa=st.integers(-(2**200), 2**200),
    exponent=st.integers(-3000, 3000),
    digits=st.integers(1, 70),
)
def test_writing_rounds_to_nearest(mantissa, exponent, digits):
    context = mpmath.mp.clone()
    context.prec = 201
    value = context.ldexp(context.mpf(mantissa), exponent)
    assert Decimal(decimal_string(value, digits)) == nearest(value, digits)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(odd=st.integers(0, 10**6), halvings=st.integers(1, 12), digits=st.integers(1, 12))
def test_ties_and_short_binary_fractions(odd, halvings, digits):
    value = mpmath.mp.clone().ldexp(2 * odd + 1, -halvings)
    assert Decimal(decimal_string(value, digits)) == nearest(value, digits)


@pytest.mark.parametrize(
    ("text", "digits", "shown"),
    [
        ("999.99", 3, "1e+3"),
        ("9.9999999", 2, "10"),
        ("0.0099999", 2, "0.01"),
        ("-0.99999", 3, "-1"),
        ("5/2", 1, "2"),
        ("7/2", 1, "4"),
        ("1/8", 2, "0.12"),
        ("3/8", 2, "0.38"),
        ("0.1", 30, "0.1"),
        ("123456789", 3, "1.23e+8"),
        ("1e45", 30, "1e+45"),
        ("1.5e45", 30, "1.5e+45"),
        ("1e39", 30, "1e+39"),
        ("1e29", 30, "1" + "0" * 29),
        ("1e-6", 3, "0.000001"),
        ("1e-7", 3, "1e-7"),
        ("-123e-9", 3, "-1.23e-7"),
        ("0", 5, "0"),
    ],
)
def test_how_numbers_are_written(text, digits, shown):
    context = mpmath.mp.clone()
    context.prec = 400
    assert decimal_string(read_number(text).evaluate(context), digits) == shown


def test_enormous_tiny_and_infinite(ctx):
    ctx.prec = 500
    huge = ctx.mpf(10) ** (10**6)
    assert decimal_string(huge, 30) == "1e+1000000"
    assert decimal_string(1 / huge, 30) == "1e-1000000"
    assert decimal_string(-huge * ctx.mpf("1.23456789"), 5) == "-1.2346e+1000000"
    assert Decimal(decimal_string(huge / 3, 40)) == Decimal("3." + "3" * 39 + "e999999")
    assert (decimal_string(ctx.inf, 5), decimal_string(-ctx.inf, 5)) == ("inf", "-inf")

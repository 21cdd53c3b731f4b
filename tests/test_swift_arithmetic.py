"""eˣ − 1 and ln(1 + x) keep all digits of every mpf, however small."""

import mpmath
import pytest

from reduced.solve.swift.arithmetic import expm1, log1p

CTX = mpmath.mp.clone()
CTX.dps = 30


@pytest.mark.parametrize("power", [0, -1, -5, -29, -31, -200, -10_000])
def test_against_their_series(power):
    """The reference is the series Σ xⁿ/n! and Σ (−1)ⁿ⁺¹ xⁿ/n at 60 digits."""
    wide = mpmath.mp.clone()
    wide.dps = 60
    for sign in (1, -1):
        x = sign * CTX.mpf(3) / 10 * CTX.mpf(10) ** power
        y = wide.mpf(x)
        exponential = wide.fsum(y**n / wide.factorial(n) for n in range(1, 60))
        logarithm = wide.fsum(-((-y) ** n) / n for n in range(1, 140))
        assert abs(wide.mpf(expm1(x)) / exponential - 1) < 1e-29
        assert abs(wide.mpf(log1p(x)) / logarithm - 1) < 1e-29


def test_numbers_whose_exponent_is_astronomical():
    x = CTX.exp(-(CTX.mpf(10) ** 100))
    assert expm1(x) == x
    assert log1p(x) == x
    assert expm1(0 * x) == log1p(0 * x) == 0

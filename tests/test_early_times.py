"""Claim: the start of a piece is solved as quickly and as rightly as the rest, however early the time asked."""

from __future__ import annotations

import time
from importlib.util import find_spec

import mpmath
import pytest

from reduced import predict, problem, start
from reduced.solve.series import early_integral

PROBLEM = problem(4, "pi/15", "1/4", "3/20")


@pytest.mark.parametrize(
    ("a", "beta", "y0", "q"),
    [
        ("0.6", "0.2", "0.25", "1e-6"),
        ("0.6", "-0.3", "3", "1e-5"),
        ("1", "0.5", "0.01", "1e-8"),
        ("0.2", "0", "1", "1e-5"),
        ("0.5", "-0.25", "2", "1e-4"),  # (a − 1) + (β − a + 1) y₀ = 0: the first coefficient vanishes
    ],
)
def test_the_early_series_is_the_integral(a: str, beta: str, y0: str, q: str) -> None:
    ctx = mpmath.mp.clone()
    ctx.dps = 60
    a, beta, y0, q = (ctx.mpf(text) for text in (a, beta, y0, q))

    def integrand(tau: mpmath.mpf) -> mpmath.mpf:
        return ((1 - (1 - y0) * ctx.exp(-tau)) / y0) ** (a - 1) * ctx.exp(beta * tau)

    assert abs(early_integral(ctx, a, beta, y0, q) / ctx.quad(integrand, [0, q]) - 1) < 1e-58


@pytest.mark.parametrize("given", [start(), start("1/2", "1/4", "-1/10"), start("1", "1/2")])
def test_early_times_agree_with_taylor_series(given) -> None:
    at = ["1e-14", "1e-9", "1e-6", "1e-4", "1e-2", "1"]
    exact, taylor = (predict(PROBLEM, given, at, 40, way) for way in ("exact", "taylor"))
    for one, other in zip(exact, taylor, strict=True):
        assert (one.f_plus, one.f_minus) == (other.f_plus, other.f_minus)


def test_an_absurdly_early_time_is_quick_and_linear() -> None:
    """At t = 10^−100000 the predictions are ḟ(0) t: ḟ₊ = κ₂²α₊(P − cQ), ḟ₋ = κ₂²(α₊cP − (α₊ + α₋s²)Q)."""
    begun = time.perf_counter()
    (point,) = predict(PROBLEM, start(), ["1e-100000"], 30)
    assert time.perf_counter() - begun < 2
    ctx = mpmath.mp.clone()
    ctx.dps = 40
    c, s2, P, Q = ctx.cos(ctx.pi / 15), ctx.sin(ctx.pi / 15) ** 2, ctx.mpf(4) / 5, ctx.mpf(1) / 5
    rates = (P - c * Q) / 4, c * P / 4 - (ctx.mpf(1) / 4 + 3 * s2 / 20) * Q
    for text, rate in zip((point.f_plus, point.f_minus), rates, strict=True):
        mantissa, exponent = text.split("e")
        assert abs(ctx.mpf(mantissa) * ctx.mpf(10) ** (int(exponent) + 100_000) / rate - 1) < 1e-29


def _early_rate() -> mpmath.mpf:
    """Return ḟ₊(0) = κ₂²α₊(P − cQ) from f = 0."""
    ctx = mpmath.mp.clone()
    ctx.dps = 40
    return (ctx.mpf(4) / 5 - ctx.cos(ctx.pi / 15) / 5) / 4


@pytest.mark.skipif(find_spec("flint") is None, reason="needs python-flint")
@pytest.mark.parametrize("exponent", [20, 2400, 50_000])
def test_early_times_are_as_quick_in_balls(exponent: int) -> None:
    from reduced.solve.enclosure import enclosure_predict

    begun = time.perf_counter()
    (point,) = enclosure_predict(PROBLEM, start(), f"1e-{exponent}", 15)
    assert time.perf_counter() - begun < 2
    mantissa, power = point.f_plus.mid.split("e")
    assert abs(mpmath.mpf(mantissa) * mpmath.mpf(10) ** (int(power) + exponent) / _early_rate() - 1) < 1e-15


@pytest.mark.skipif(find_spec("flint") is None, reason="needs python-flint")
@pytest.mark.parametrize(
    ("a", "beta", "y0", "q"),
    [
        ("0.6", "0.2", "0.25", "1e-6"),
        ("0.6", "-0.3", "3", "1e-5"),
        ("1", "0.5", "0.01", "1e-4"),
        ("0.2", "0", "1", "1e-2"),
        ("0.5", "-0.25", "2", "0.1"),
    ],
)
def test_the_early_series_in_balls_contains_the_integral(a: str, beta: str, y0: str, q: str) -> None:
    import flint

    from reduced.solve.enclosure.ball import working_precision
    from reduced.solve.enclosure.series import early_integral as enclosed_integral

    ctx = mpmath.mp.clone()
    ctx.dps = 80
    A, B, Y, Q = (ctx.mpf(text) for text in (a, beta, y0, q))
    exact = ctx.quad(lambda t: ((1 - (1 - Y) * ctx.exp(-t)) / Y) ** (A - 1) * ctx.exp(B * t), [0, Q])
    with working_precision(160):
        found = enclosed_integral(1 - flint.arb(a), flint.arb(beta), flint.arb(y0), flint.arb(q))
        assert found.contains(flint.arb(ctx.nstr(exact, 75)))
        assert found.rel_accuracy_bits() > 130


def test_a_ratio_that_begins_far_below_where_it_tends_costs_no_digits() -> None:
    """With p = 10^100000 r starts at 10^−100000; ḟ₊ = κ₂²α₊ e^{−f₊} to first order, so e^{f₊} = 1 + κ₂²α₊ t."""
    begun = time.perf_counter()
    (point,) = predict(problem("1e100000", "pi/15", "1/4", "3/20"), start(), "20", 30)
    assert time.perf_counter() - begun < 2
    with mpmath.workdps(40):
        assert abs(mpmath.mpf(point.f_plus) / mpmath.log(6) - 1) < 1e-29

"""Claim: the start of a piece is solved as quickly and as rightly as the rest, however early the time asked."""

from __future__ import annotations

import time

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

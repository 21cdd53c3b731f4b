"""Claim: the derived small-angle series are the expansions of the exact times, predictions and margins."""

from __future__ import annotations

from decimal import Decimal, getcontext

import pytest
import sympy as sp

from reduced.derive import small_angle_law
from reduced.derive.plateau import f_minus_0, f_plus_0, share_0
from reduced.derive.small_angle import QUANTITIES, fast_integral, small_angle_series, u
from reduced.derive.symbols import Delta, alpha_minus, alpha_plus, kappa2, p
from reduced.errors import InputError
from reduced.parameters import problem, start
from reduced.solve.limit import limit
from reduced.solve.timeline import timeline

CASES = {
    "from zero": (("4", "1/4", "3/20", "1"), ("0", "0", "0")),
    "on the way": (("3", "3/10", "1/10", "3/2"), ("3/10", "1/10", "-1/5")),
}


def exact_value(quantity, parameters, state, delta):
    ratio, plus, minus, scale = parameters
    model = problem(ratio, delta, plus, minus, scale)
    if quantity.startswith("gamma"):
        found = limit(model, 50)
        return Decimal(found.gamma if quantity == "gamma" else found.gamma_ratio)
    found = timeline(model, start(*state), 50)
    if quantity == "T_III - T_II":
        return Decimal(found.times["T_III"]) - Decimal(found.times["T_II"])
    if quantity in found.times:
        return Decimal(found.times[quantity])
    which, _, event = quantity.partition(" at ")
    return Decimal(found.predictions[event][0 if which == "f_plus" else 1])


def series_value(quantity, parameters, state, delta, terms):
    names = (p, alpha_plus, alpha_minus, kappa2, f_plus_0, f_minus_0)
    values = dict(zip(names, map(sp.Rational, (*parameters, *state[:2])), strict=True))
    values[share_0] = sp.Rational(state[1]) - sp.Rational(state[2])
    values[Delta] = sp.Rational(delta)
    return Decimal(str(sp.N(small_angle_series(quantity).partial_sum(terms).subs(values), 50)))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("terms", [1, 2, 3])
def test_the_error_falls_with_the_first_power_left_out(quantity, case, terms):
    """Ten times smaller Δ: the error of the partial sum shrinks by 10^(lowest + 2·terms)."""
    getcontext().prec = 60
    parameters, state = CASES[case]
    errors = [
        abs(
            exact_value(quantity, parameters, state, delta)
            - series_value(quantity, parameters, state, delta, terms)
        )
        for delta in ("1/100", "1/1000")
    ]
    order = float((errors[0] / errors[1]).log10())
    assert order == pytest.approx(small_angle_series(quantity).lowest + 2 * terms, abs=0.05)


def test_the_leading_terms_are_the_leading_laws():
    for name in ("T_plat", "T_II"):
        law = small_angle_law(name).subs(f_plus_0, 0).subs(f_minus_0, 0).subs(share_0, 0)
        first = small_angle_series(name).partial_sum(1).subs(f_plus_0, 0).subs(f_minus_0, 0).subs(share_0, 0)
        assert sp.simplify(law - first) == 0


def test_the_constants_the_paper_s_orders_hide():
    """From f = 0, T_plat κ₂²Δ²/p and T_II κ₂²Δ²/p^{1/(1−α)} as Δ → 0, of theory's laws."""
    alpha = alpha_minus / alpha_plus
    laws = {"T_plat": 2 * (1 + p) * (1 - p ** sp.Rational(-1, 2)) / (alpha_plus + alpha_minus) / p}
    laws["T_II"] = 2 * (1 + p) * (p ** (alpha / (1 - alpha)) - p ** sp.Rational(-1, 2))
    laws["T_II"] /= (alpha_plus + alpha_minus) * p ** (1 / (1 - alpha))
    values = {p: 7, alpha_plus: sp.Rational(2, 9), alpha_minus: sp.Rational(1, 8)}
    for name, law in laws.items():
        constant = small_angle_series(name).hidden_constant
        assert constant.free_symbols == {p, alpha_plus, alpha_minus}
        assert abs(sp.N((constant - law).subs(values), 30)) < 1e-28


def test_the_paper_s_orders_become_exact_with_their_constants():
    """T_plat and T_II of the closed form, over Θ times its constant, tend to 1 like Δ²."""
    problems = {delta: problem(4, delta, "1/4", "3/20") for delta in ("1/100", "1/1000")}
    for name in ("T_plat", "T_II"):
        series, off = small_angle_series(name), []
        for delta, given in problems.items():
            values = {p: 4, alpha_plus: sp.Rational(1, 4), alpha_minus: sp.Rational(3, 20), kappa2: 1}
            whole = (series.paper_order * series.hidden_constant).subs(values).subs(Delta, sp.Rational(delta))
            exact = Decimal(timeline(given, start(), digits=30).times[name])
            off.append(abs(float(exact / Decimal(str(sp.N(whole, 30))) - 1)))
        assert off[1] < 1e-3
        assert off[0] / off[1] == pytest.approx(100, rel=0.05)


def test_only_the_times_of_phase_two_have_an_order_in_the_paper():
    assert small_angle_series("gamma").paper_order is None
    assert small_angle_series("gamma").hidden_constant is None


def test_the_known_second_terms():
    """p = 4, α± = 1/4, 3/20: T_plat − c₀/Δ² → −0.1226 and T_II − c₁/Δ² → −595.400."""
    values = {p: 4, alpha_plus: sp.Rational(1, 4), alpha_minus: sp.Rational(3, 20), kappa2: 1}
    zero = {f_plus_0: 0, f_minus_0: 0, share_0: 0}
    second = [small_angle_series(name).terms[1].subs(values).subs(zero) for name in ("T_plat", "T_II")]
    assert float(second[0]) == pytest.approx(-0.1226, abs=5e-5)
    assert float(second[1]) == pytest.approx(-595.400, abs=5e-4)


def test_the_expansion_of_the_fast_integral_against_quadrature():
    """K and its derivatives by s and β at (1/2, 0), integrated numerically."""
    import mpmath

    ctx = mpmath.mp.clone()
    ctx.dps = 30
    z = ctx.mpf("0.75")

    def K(exponent, beta):
        return ctx.quad(lambda t: ((1 - z * t) ** -exponent - 1) * t ** (-beta - 1), [0, 0.5, 1])

    half, step = ctx.mpf("0.5"), ctx.mpf("1e-6")
    numeric = (
        K(half, 0),
        (K(half + step, 0) - K(half - step, 0)) / (2 * step),
        (K(half, step) - K(half, -step)) / (2 * step),
    )
    for expression, value in zip(fast_integral(), numeric, strict=True):
        assert float(sp.N(expression.subs(u, sp.Rational(1, 2)), 20)) == pytest.approx(float(value), rel=1e-9)


def test_unknown_quantities_are_refused():
    with pytest.raises(InputError, match="quantity"):
        small_angle_series("T_I")

"""The limit direction is a KKT point with the margin of theory §7's table, in every regime, at any digits."""

import json
from decimal import Decimal
from pathlib import Path

import mpmath
import pytest

from reduced import InputError, Regime, limit, problem

DATA = Path(__file__).parent / "data"
CTX = mpmath.mp.clone()
CTX.dps = 70

CASES = {
    Regime.FOUR_PHASE: [
        (4, "pi/15", "1/4", "3/20", 1),
        (50, "1.4", "0.3", "0.01", "2/3"),
        (4, "1e-4", "0.2", "0.1", 1),
    ],
    Regime.THREE_PHASE: [
        (4, "pi/15", "0.2", "0.2", 1),
        (3, "0.8", "0.2", "0.25", 3),
        (4, "1e-4", "0.2", "0.2", 1),
    ],
    Regime.TWO_PHASE: [
        (4, "pi/15", "0.2", "0.25", 1),
        (3, "0.8", "0.2", "0.6", 3),
        (4, "1e-4", "0.2", "0.3", 1),
    ],
}
EVERY = pytest.mark.parametrize(
    ("regime", "arguments"), [(regime, case) for regime, cases in CASES.items() for case in cases], ids=str
)


def values(arguments):
    given = problem(*arguments)
    names = ("p", "delta", "alpha_plus", "alpha_minus", "kappa2")
    _, delta, plus, minus, kappa2 = (getattr(given, name).evaluate(CTX) for name in names)
    return given, CTX.cos(delta), CTX.sin(delta), plus, minus, kappa2


def table(regime, c, s, plus, minus, kappa2):
    """Return ρ, v₊, v₋, γ and the kink multipliers as theory §7 prints them."""
    alpha = minus / plus
    if regime is Regime.FOUR_PHASE:
        rho = 1 + (1 - c) / alpha
        gamma = kappa2 * CTX.sqrt((1 - c) * (plus + minus) / (1 + rho))
        return rho, (1, -c), (-1, rho), gamma, c / rho, None
    if regime is Regime.THREE_PHASE:
        rho = 1 / alpha
        return rho, (1, -c), (-rho * c, rho), kappa2 * s / CTX.sqrt(1 / plus + 1 / minus), c / rho, c * rho
    rho = 1 / (1 + alpha * (1 - c))
    return rho, (1, -rho), (-rho * c, rho), kappa2 * CTX.sqrt(plus * (1 - c * rho) / (1 + rho)), None, c * rho


def close(text, value):
    return abs(CTX.mpf(text) - value) <= abs(value) * CTX.mpf("1e-49")


@EVERY
def test_theory_s_table_to_fifty_digits(regime, arguments):
    given, *numbers = values(arguments)
    found = limit(given, 50)
    rho, v_plus, v_minus, gamma, kink_plus, kink_minus = table(regime, *numbers)
    assert found.regime is regime
    assert close(found.rho, rho)
    assert all(close(text, value) for text, value in zip(found.v_plus, v_plus, strict=True))
    assert all(close(text, value) for text, value in zip(found.v_minus, v_minus, strict=True))
    assert close(found.gamma, gamma)
    for text, value in ((found.kink_plus, kink_plus), (found.kink_minus, kink_minus)):
        assert (text is None) == (value is None)
        assert text is None or close(text, value)
        assert text is None or 0 < Decimal(text) < 1


@EVERY
def test_it_is_a_kkt_point(regime, arguments):
    """From the printed numbers alone: margins equal, stationarity with multipliers in the Clarke interval."""
    given, c, _, plus, minus, kappa2 = values(arguments)
    found = limit(given, 50)
    rho = CTX.mpf(found.rho)
    (a, b), (d, e) = ([CTX.mpf(x) for x in pair] for pair in (found.v_plus, found.v_minus))
    # each neuron is κ₂/√m · v; predictions of a network with fractions α₊, α₋, kinks contributing nothing
    on_plus = [a + c * b, d + c * e]
    on_minus = [c * a + b, c * d + e]
    f_plus = kappa2 * (plus * on_plus[0] - minus * max(on_plus[1], 0))
    f_minus = kappa2 * (plus * max(on_minus[0], 0) - minus * on_minus[1])
    size = CTX.sqrt(plus * (a * a + b * b + 2 * a * b * c) + minus * (d * d + e * e + 2 * d * e * c))
    tiny = abs(f_plus) * CTX.mpf("1e-45") / (1 - c)
    assert abs(f_plus + f_minus) < tiny
    assert abs(f_plus / size / CTX.mpf(found.gamma) - 1) < CTX.mpf("1e-40")
    # θ ∝ Σ λᵢ yᵢ ∇f: K₊ feels x₊ − h₊ρ x₋ and K₋ feels ρ x₋ − h₋ x₊, with h the slope of ReLU there
    slope_plus = CTX.one if found.kink_plus is None else CTX.mpf(found.kink_plus)
    slope_minus = CTX.one if found.kink_minus is None else CTX.mpf(found.kink_minus)
    assert abs(a - 1) + abs(b + rho * slope_plus) < CTX.mpf("1e-48")
    assert abs(d + slope_minus) + abs(e - rho) < CTX.mpf("1e-48") * rho
    # inactive neurons would have negative products, sliding ones zero
    assert on_plus[0] > 0
    assert on_minus[1] > 0
    assert abs(on_minus[0]) < tiny if found.kink_plus is not None else on_minus[0] > 0
    assert abs(on_plus[1]) < tiny if found.kink_minus is not None else on_plus[1] > 0


def test_the_reference_margin():
    values = json.loads((DATA / "reduced_public.json").read_text())["pub"]["values"]
    found = limit(problem(4, "pi/15", "1/4", "3/20"), 40)
    for text, wanted in ((found.gamma, values["gamma_limit"]), (found.rho, values["rho"])):
        assert abs(Decimal(text) / Decimal(wanted) - 1) < Decimal("2e-39")
    assert found.v_minus[0] == values["v_minus"][0]


@pytest.mark.parametrize("arguments", [(4, "pi/15", "1/4", "3/20", 1), (4, "1.1", "0.1", "0.2", "5/3")])
def test_the_best_margin_of_half_and_half(arguments):
    given, _, s, _, _, kappa2 = values(arguments)
    found = limit(given, 50)
    assert close(found.gamma_max, kappa2 * s / 2)
    assert close(found.gamma_ratio, CTX.mpf(found.gamma) / CTX.mpf(found.gamma_max))
    assert Decimal(found.gamma_ratio) < 1


def test_the_best_margin_of_other_fractions_is_the_formula_with_these():
    given = problem(4, "pi/15", "1/4", "3/20")
    found = limit(given, 40, "0.6", "0.3")
    assert found.gamma_max == limit(problem(4, "pi/15", "0.6", "0.3"), 40).gamma
    everyone = limit(given, 40, "1/4", "3/20")
    assert everyone.gamma_ratio == "1"


def test_with_all_neurons_of_one_sign_dead():
    found = limit(problem(4, "pi/15", "1/4", 0))
    assert (found.regime, found.rho, found.v_plus, found.gamma, found.gamma_ratio) == (
        None,
        None,
        None,
        "0",
        "0",
    )
    none = limit(problem(4, "pi/15", 0, 0), beta_minus=0)
    assert (none.gamma_max, none.gamma_ratio) == ("0", None)


@pytest.mark.parametrize(
    ("betas", "name"),
    [
        (("0.2", "1/2"), "beta_plus"),
        (("1/2", "0.1"), "beta_minus"),
        (("1.1", "1/2"), "beta_plus"),
        (("1/2", "nan"), "beta_minus"),
        (("0.6", "0.5"), r"beta_plus \+ beta_minus"),
    ],
)
def test_bad_fractions_are_refused_by_name(betas, name):
    with pytest.raises(InputError, match=rf"^{name}: expected "):
        limit(problem(4, "pi/15", "1/4", "3/20"), 30, *betas)

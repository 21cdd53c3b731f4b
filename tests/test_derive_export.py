"""Every exported form of a derived formula gives the same numbers, the generated module included."""

import math
import re
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy as sp

from reduced import derive
from reduced.derive.generate import PIECES, TARGET, generated_text
from reduced.derive.symbols import Delta, alpha_minus, alpha_plus, kappa2, latex_name, p
from reduced.errors import InputError
from reduced.solve import generated

ANGLE, ALPHAS, KAPPA = 0.7, (0.3, 0.2), 1.3
COSINE = math.cos(ANGLE)
SYMBOLS = (p, Delta, alpha_plus, alpha_minus, kappa2)

RECORDS = {
    "phase II": derive.phase("II"),
    "phase IV, logistic": derive.phase("IV", derive.NetworkModel(loss=derive.LOGISTIC)),
    "limit": derive.limit("four-phase"),
    "closed form": derive.closed_form(derive.phase("II")),
    "course": derive.courses(-1, "++")[1],
    "polar": derive.polar_motion(derive.motion(derive.NetworkModel(), 1, (0, 1)).velocity),
}


@pytest.fixture(params=RECORDS)
def record(request):
    return RECORDS[request.param]


def arguments_of(record):
    return [0.37 + 0.11 * k for k in range(len(record.arguments))]


def run(source, name, *arguments):
    scope = {}
    exec(compile(source, "exported", "exec"), scope)
    return scope[name](*arguments)


def test_numpy_mpmath_and_source_agree(record):
    point = arguments_of(record)
    exact = record.lambdify("mpmath")(*map(mpmath.mpf, point))
    np.testing.assert_allclose(record.lambdify("numpy")(*point), [float(x) for x in exact], rtol=1e-13)
    for module in ("math", "numpy", "mpmath"):
        values = run(record.python_source("rates", module), "rates", *point)
        np.testing.assert_allclose([float(x) for x in values], [float(x) for x in exact], rtol=1e-13)


def test_formulas_equal_their_own_substitution(record):
    point = arguments_of(record)
    values = record.lambdify("numpy")(*point)
    for value, formula in zip(values, record.formulas(), strict=True):
        known = dict(zip(record.arguments, point, strict=True))
        assert value == pytest.approx(float(formula.expression.subs(known)), rel=1e-12)


def test_a_private_context_decides_the_precision():
    ode = derive.phase("II")
    high, low = mpmath.mp.clone(), mpmath.mp.clone()
    high.dps, low.dps = 60, 50
    point = [Fraction(3, 10), Fraction(1, 5), Fraction(2, 9), Fraction(1, 7), Fraction(1, 4), 1, 4]
    at_60, at_50 = (
        ode.lambdify("mpmath", context=ctx)(*(ctx.mpf(x.numerator) / x.denominator for x in point))
        for ctx in (high, low)
    )
    for a, b in zip(at_60, at_50, strict=True):
        assert abs(a - high.mpf(b)) < high.mpf(10) ** -48
        assert a != high.mpf(b)


def test_numpy_export_broadcasts():
    ode = derive.phase("III")
    grid = np.linspace(0, 1, 5)
    rates = ode.lambdify("numpy")(grid, grid, 0.2, 0.2, 0.3, 1.0, 4.0)
    assert [np.shape(rate) for rate in rates] == [(5,), (5,)]


def test_strings_name_every_formula(record):
    strings = record.strings()
    assert list(strings) == [formula.name for formula in record.formulas()]
    source = record.python_source("again", "math")
    for name in strings:
        assert name in source


def test_latex_names_every_formula(record):
    block = record.latex()
    assert block.startswith("\\begin{aligned}")
    assert block.count("&=") == len(record.formulas())
    assert record._repr_latex_() == f"$$\n{block}\n$$"
    assert "plus" not in block
    assert "minus" not in block


@pytest.mark.parametrize(
    ("name", "shown"),
    [("alpha_plus", r"\alpha_{+}"), ("gamma_squared", r"\gamma^{2}"), ("f_minus_0", "f_{-0}"), ("p", "p")],
)
def test_latex_names(name, shown):
    assert latex_name(name) == shown


def test_unknown_backends_are_named():
    with pytest.raises(InputError, match="backend: expected mpmath or numpy, got torch"):
        derive.phase("II").lambdify("torch")
    with pytest.raises(InputError, match="module"):
        derive.phase("II").python_source(module="torch")


def test_coefficient_strings_use_the_agreed_names_only():
    names = {"p": 4.0, "Delta": ANGLE, "alpha_plus": ALPHAS[0], "alpha_minus": ALPHAS[1], "kappa2": KAPPA}
    for name in derive.PHASES:
        ode = derive.phase(name)
        for letter, text in ode.coefficient_strings().items():
            assert set(re.findall(r"[A-Za-z]\w*", text)) <= {*names, "sin", "cos"}
            source = f"from math import cos, sin\ndef value({', '.join(names)}):\n    return {text}"
            derived = getattr(ode, letter).subs({symbol: names[symbol.name] for symbol in SYMBOLS})
            assert run(source, "value", *names.values()) == pytest.approx(float(derived), rel=1e-14)


def test_generated_module_is_what_the_engine_derives():
    assert TARGET.read_text(encoding="utf-8") == generated_text()


@pytest.mark.parametrize("name", derive.PHASES)
def test_generated_coefficients_equal_the_derived(name):
    ode = derive.phase(name)
    values = {Delta: ANGLE, kappa2: KAPPA, alpha_plus: ALPHAS[0], alpha_minus: ALPHAS[1]}
    got = generated.COEFFICIENTS[name](*ALPHAS, KAPPA**2, COSINE, math.sin(ANGLE) ** 2)
    assert got == pytest.approx([float(getattr(ode, letter).subs(values)) for letter in "ABCD"], rel=1e-14)


@pytest.mark.parametrize("regime", derive.FINAL_PHASES)
def test_generated_limits_equal_the_derived(regime):
    found = derive.limit(regime)
    values = {Delta: ANGLE, kappa2: KAPPA, alpha_plus: ALPHAS[0], alpha_minus: ALPHAS[1]}
    got = generated.LIMIT[regime](*ALPHAS, KAPPA, COSINE, math.sin(ANGLE) ** 2, 1 - COSINE)
    assert got.rho == pytest.approx(float(found.ratio.subs(values)), rel=1e-14)
    assert got.gamma_squared == pytest.approx(float(found.gamma_squared.subs(values)), rel=1e-14)
    for mine, direction in zip((got.v_plus, got.v_minus), found.directions, strict=True):
        assert mine == pytest.approx([float(x.subs(values)) for x in direction.coefficients], rel=1e-14)
    for mine, kink in zip((got.kink_plus, got.kink_minus), found.kinks, strict=True):
        assert (mine is None) == (kink is None)
        assert kink is None or mine == pytest.approx(float(kink.subs(values)), rel=1e-14)


def test_generated_arithmetic_is_exact_on_rationals():
    """At cos Δ = 3/5 every generated formula returns the exact fraction, so no float slips in."""
    half, third = Fraction(1, 2), Fraction(1, 3)
    c, s2, w = Fraction(3, 5), Fraction(16, 25), Fraction(2, 5)
    for regime in generated.LIMIT:
        found = generated.LIMIT[regime](half, third, Fraction(2), c, s2, w)
        assert isinstance(found.rho, Fraction)
        assert isinstance(found.gamma_squared, Fraction)
    assert generated.COEFFICIENTS["IV"](half, third, 4, c, s2) == (
        4 * (half * s2 + third),
        4 * third * c,
        4 * third * c,
        4 * third,
    )
    assert generated.regime_bounds(c) == (c, 1 / c)
    assert sum(c * third**k for k, c in enumerate(generated.FORCE_LAW["logistic"])) == third * (third - 1)


def test_small_angles_lose_no_digits():
    """γ² and the rest at Δ = 1e-9 in double precision agree with 50 digits to rounding."""
    ctx = mpmath.mp.clone()
    ctx.dps = 50
    angle = ctx.mpf("1e-9")
    exact = (ctx.cos(angle), ctx.sin(angle) ** 2, 2 * ctx.sin(angle / 2) ** 2)
    for regime in generated.LIMIT:
        precise = generated.LIMIT[regime](ctx.mpf("0.25"), ctx.mpf("0.125"), 1, *exact)
        rough = generated.LIMIT[regime](0.25, 0.125, 1.0, *map(float, exact))
        assert rough.gamma_squared == pytest.approx(float(precise.gamma_squared), rel=1e-15)


@pytest.mark.parametrize("pattern", PIECES)
def test_generated_velocities_equal_geometry(pattern):
    """By geometry: a(P x₊ 1₊ − Q x₋ 1₋), projected on the kink's line for a sliding neuron."""
    X = np.array([[1.0, 0.0], [COSINE, math.sin(ANGLE)]])
    got = np.array(generated.VELOCITY[pattern](COSINE, math.sin(ANGLE) ** 2), float)
    for column, (P, Q) in enumerate(((1, 0), (0, 1))):
        flow = P * X[0] * (pattern[0] == "+") - Q * X[1] * (pattern[1] == "+")
        for point, state in enumerate(pattern):
            if state == "0":
                flow = flow - (flow @ X[point]) * X[point]
        np.testing.assert_allclose(got[:, column], X @ flow, atol=1e-15)


def test_no_formula_holds_a_float(record):
    assert not any(formula.expression.atoms(sp.Float) for formula in record.formulas())

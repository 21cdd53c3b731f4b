"""Claim: the double-precision plateau times are right to a few ulps times the problem's condition number."""

from __future__ import annotations

import math
from fractions import Fraction
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reduced.errors import InputError
from reduced.parameters import problem, start
from reduced.records import Outcome
from reduced.solve.doubles import OUTCOMES, plateau_map, plateau_times, times
from reduced.solve.doubles.short import short_integral
from reduced.solve.doubles.times import map_rows
from reduced.solve.promise import private_context
from reduced.solve.sensitivity import sensitivities
from reduced.solve.timeline import timeline

NAMES = ("T_plat", "T_II", "T_III")
ULP = 2.0**-52


PAPER = (4.0, math.pi / 15, 0.25, 0.15)


def check(*parameters):
    """Compare with the exact times: 20 ulps, where that is too little times the exact condition number."""
    found = plateau_times(*parameters)
    here, state = problem(*parameters[:5]), start(*parameters[5:])
    exact = timeline(here, state, 40)
    assert found.outcome is exact.outcome
    for name in NAMES:
        value, reference = getattr(found, name), float(exact.times[name])
        if reference in (0.0, math.inf):
            assert value == reference
        elif abs(value / reference - 1) > 20 * ULP:
            condition = sensitivities(here, state, 15)[name].condition
            size = 1 + sum(abs(float(x)) for x in condition.values())
            assert abs(value / reference - 1) <= 20 * ULP * size, (name, value, reference, size)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    log_delta=st.floats(-4, 0.17),
    excess=st.floats(-2, 6),
    alpha_plus=st.floats(0.01, 0.4),
    place=st.floats(0.01, 1.4),
    begun=st.booleans(),
)
def test_agrees_with_the_exact_times(log_delta, excess, alpha_plus, place, begun):
    delta = 10**log_delta
    p = (1 + 10**excess) / math.cos(delta)
    alpha_minus = place * alpha_plus
    state = (0.3, 0.2, -0.4) if begun else (0.0, 0.0, 0.0)
    parameters = (p, delta, alpha_plus, alpha_minus, 1.0, *state)
    try:
        plateau_times(*parameters)
    except InputError:
        assert begun  # r > 1/c: not a start of Phase II
        return
    check(*parameters)


@pytest.mark.parametrize(
    "parameters",
    [
        (12.48129286013098, 1.4904652623370722, 0.0016149986910437, 0.0201259242539622, 1.375, 0, 0.908, 0),
        (4, 1.2216999806850295, 0.0137916900628312, 0.0169830063409528, 1.445, 0.9218474, 0.46425182, 0),
        (30, 1.4, 0.002, 0.3, 1, 4.2, 0.7, 0),
        (1e6, 1.57, 0.0004, 0.3, 1, 19, 0.7, -0.1),
    ],
)
def test_starts_far_above_the_fixed_ratio(parameters):
    """y₀ = 1.9, 2.1, 50, 600: the powers of 1/y."""
    p, delta, plus, minus, _, f_plus, f_minus, _ = parameters
    assert math.exp(f_plus + f_minus) / p * (1 + minus / plus * (1 - math.cos(delta))) > 1.75
    check(*parameters)


@pytest.mark.parametrize(
    "parameters",
    [
        (1.3, 0.6, 0.25, 0.15, 1, 0, 1e-10, 0),
        (4, 1.0, 0.25, 0.15, 1, 0.7, 1e-9, 0),
        (*PAPER, 1, 1.36, 1e-9, 0),
        (*PAPER, 1, 1.38, 1e-12, 0),
        (*PAPER, 1, 1.38, -0.5, -0.5 - 1e-11),
        (4, 1.3, 0.1, 0.2, 1, 0, 1e-3, 0),
        (30, 1.4, 0.002, 0.3, 1, 5, 1e-7, 0),
        (30, 1.4, 0.002, 0.3, 1, 3, 2.0, -1e-3),
        (7.920050162582591, 1.39764984105023, 0.2064787770736698, 0.07756096353647528, 1, 0, 1e-300, 0),
    ],
)
def test_events_very_near(parameters):
    check(*parameters)


@pytest.mark.parametrize("width", [1e-13, 1e-3, 0.0999, 0.1, 1.0, 2.0])
@pytest.mark.parametrize("y0", [1e-6, 0.2, 0.999999, 1.0, 1.5, 40.0])
def test_short_paths_are_integrated_to_rounding(y0, width):
    """Against 30-digit quadrature of the integral in its own variable."""
    ctx = private_context(30)
    lean, beta = 0.43, 0.31
    q = width if y0 >= 1 else math.log1p(y0 * math.expm1(width))
    z0 = 1 - ctx.mpf(y0)

    def integrand(tau):
        return ((1 - z0 * ctx.exp(-tau)) / y0) ** -ctx.mpf(lean) * ctx.exp(ctx.mpf(beta) * tau)

    # from a start near r = 0 the integrand varies on the scale of y₀
    expected = ctx.quad(integrand, [0, *sorted(q * 2.0**-n for n in range(12)), q][:-1])
    assert short_integral(q, lean, beta, y0, 1.0 - y0) == pytest.approx(float(expected), rel=4e-15)


@pytest.mark.parametrize("delta", [3e-5, 1e-8, 1e-12, 1e-60])
def test_angles_whose_cosine_is_one_in_doubles(delta):
    check(4, delta, 0.25, 0.15, 1, 0, 0, 0)
    check(1.01, delta, 0.2, 0.05, 0.7, 0, 0.001, -0.1)


def test_the_second_time_comes_at_any_angle_where_the_groups_are_equal():
    """α = 1 < 1/c: ln T_II (1/c − α) → ln(pc)/c, past every double."""
    for delta in (1e-8, 1e-40, 1e-70):
        found = plateau_times(4, delta, 0.25, 0.25).log_T_II
        assert found * delta**2 / 2 == pytest.approx(math.log(4), rel=1e-12)


def test_past_the_range_of_doubles_the_logarithm_is_right():
    found = plateau_times(4.0, math.pi / 15, 0.25, 0.2555)
    mantissa, exponent = (
        timeline(problem(4.0, math.pi / 15, 0.25, 0.2555), start(), 25).times["T_II"].split("e+")
    )
    assert math.inf == found.T_II
    expected = math.log(float(mantissa)) + int(exponent) * math.log(10)
    assert found.log_T_II == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(
    ("parameters", "outcome"),
    [
        ((4.0, math.pi / 15, 0.25, 0.0), Outcome.PLATEAU_INFINITE),
        ((4.0, math.pi / 15, 0.0, 0.2), Outcome.PLATEAU_INFINITE),
        ((1.03, 0.2, 0.1, 0.3), Outcome.NO_PLATEAU),
        ((4.0, math.pi / 15, 0.25, 0.15, 1.0, 1.0, -0.5, -0.6), Outcome.ALREADY),
    ],
)
def test_outcomes(parameters, outcome):
    assert plateau_times(*parameters).outcome is outcome


@pytest.mark.parametrize(
    "parameters",
    [
        (1.0, 0.2, 0.25, 0.15),
        (4.0, 1.6, 0.25, 0.15),
        (4.0, 0.2, -0.1, 0.15),
        (math.nan, 0.2, 0.25, 0.15),
        (4.0, 0.2, 0.25, 0.15, 1.0, 5.0, 5.0, 0.0),
        (4.0, 0.2, 0.25, 0.15, 1.0, 0.0, 0.0, 0.1),
        (4.0, 0.2, 0.25, 0.15, 1.0, 0.0, -0.2, -0.1),
        (4.0, 0.2, 0.25, 0.15, -1.0),
        (4.0, 0.2, 0.25, 0.0, 1.0, 0.0, 0.0, -0.1),
        (4.0, 0.2, 0.0, 0.2, 1.0, 0.1),
    ],
)
def test_bad_parameters_raise(parameters):
    with pytest.raises(InputError):
        plateau_times(*parameters)
    assert plateau_map(*parameters)["outcome"] == -1


@pytest.mark.parametrize(
    ("place", "value", "named"),
    [
        (0, "4", "p: "),
        (0, None, "p: "),
        (0, 10**400, "p: "),
        (0, True, "p: "),
        (1, math.inf, "delta: "),
        (1, 1e-71, "delta: "),
        (1, 1j, "delta: "),
        (2, [0.25], "alpha_plus: "),
        (2, 3, "alpha_plus: "),
        (2, 5e-324, ".*alpha_plus"),
        (2, 0.9, r"alpha_plus \+ alpha_minus: "),
        (3, 1e308, "alpha_minus: "),
        (4, 0, "kappa2: "),
        (5, 710, "f_plus"),
        (5, -745, "f_plus"),
        (5, -1e7, "f_plus: "),
        (6, 710, "f_plus"),
        (7, -1e308, "f_minus_negative: "),
    ],
)
def test_refusals_name_the_argument(place, value, named):
    parameters = [*PAPER, 1.0, 0.0, 0.0, 0.0]
    parameters[place] = value
    with pytest.raises(InputError, match=f"^{named}"):
        plateau_times(*parameters)


def test_numbers_of_any_real_kind_are_rounded_first():
    single = [np.float32(x) for x in (*PAPER, 1, 0.5, 0.25, -0.125)]
    found = plateau_times(*single)
    assert found == plateau_times(*(float(x) for x in single))
    assert type(found.T_plat) is float
    assert plateau_times(4, Fraction(1, 5), 0.25, 0.15) == plateau_times(4.0, 0.2, 0.25, 0.15)


@pytest.mark.parametrize("run", [plateau_map, None], ids=["installed", "plain"])
def test_bad_rows_do_not_touch_the_others(run, monkeypatch):
    if run is None:
        monkeypatch.setattr(times, "_map_kernel", lambda: map_rows)
    plus = [0.25, 5e-324, 0.25, 3, math.nan, 0.25, 0.25, 0.25]
    f_minus = [0, 0, -1e5, 0, 0, 710, 0, math.inf]
    negative = [0, 0, 0, 0, 0, 0, -1e308, 0]
    found = plateau_map(4, math.pi / 15, plus, 0.15, 1, 0, f_minus, negative)
    assert found["outcome"].tolist() == [0] + 7 * [-1]
    assert found["T_plat"][0] == pytest.approx(plateau_times(*PAPER).T_plat, rel=1e-14)
    assert np.isnan(found["log_T_II"][1:]).all()


@pytest.mark.parametrize(
    ("values", "got"),
    [
        (np.ma.array([4.0, 5.0], mask=[False, True]), "a masked array"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "datetime64"),
        (["4"], "an array of"),
        ([None], "an array of"),
        ([4j], "complex"),
        ([[4], [4, 5]], "unequal"),
        ([4.0, 5.0, 6.0], "shapes"),
    ],
)
def test_maps_refuse_what_is_no_array_of_numbers(values, got):
    with pytest.raises(InputError, match=got):
        plateau_map(values, [0.2, 0.3], 0.25, 0.15)


def test_machine_code_on_disk_belongs_to_its_sources(tmp_path):
    """A function that changes in another module than the kernel's gives the kernel another name."""
    pytest.importorskip("numba")
    from reduced.solve.compilation import kernel

    def compiled(text):
        module = ModuleType("part")
        module.__file__ = str(tmp_path / "part.py")
        (tmp_path / "part.py").write_text(text)
        return kernel(map_rows, (module,)).py_func.__qualname__

    assert compiled("a = 1") == compiled("a = 1") != compiled("a = 2")


def test_maps_equal_the_scalar_path_bit_for_bit_in_value():
    alpha = np.linspace(0.0, 0.3, 7)[:, None]
    p = np.array([0.5, 2.0, 4.0])
    found = plateau_map(p, 0.3, 0.25, alpha)
    assert found["T_plat"].shape == (7, 3)
    for (i, j), value in np.ndenumerate(found["T_II"]):
        if p[j] < 1:
            assert found["outcome"][i, j] == -1
            assert math.isnan(value)
            continue
        single = plateau_times(float(p[j]), 0.3, 0.25, float(alpha[i, 0]))
        assert OUTCOMES[found["outcome"][i, j]] is single.outcome
        np.testing.assert_allclose(value, single.T_II, rtol=1e-13)


def test_the_plain_loop_gives_the_same_as_the_compiled_one():
    # every parameter has another value, so that none can stand in the place of another
    rows = np.array([(4.0, 0.2, 0.25, alpha, 1.5, 0.3, 0.2, -0.1) for alpha in (0.1, 0.2, 0.3)])
    result = np.empty((3, 7))
    map_rows(rows, result)
    found = plateau_map(*rows.T)
    for place, name in enumerate(("T_plat", "T_II", "T_III"), 1):
        np.testing.assert_allclose(found[name], result[:, place], rtol=1e-13)
    one = plateau_times(*rows[0].tolist())
    assert (result[0, 1], result[0, 2], result[0, 3]) == (one.T_plat, one.T_II, one.T_III)

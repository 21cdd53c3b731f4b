"""Claim: a sweep's lists are read exactly, and equal points have equal keys however they were typed."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reduced.errors import InputError
from reduced.numbers import read_number
from reduced.sweep import COMPUTATIONS, grid
from reduced.sweep.axes import read_axis, read_integers


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("2,4, 6", ["2", "4", "6"]),
        ("0.1,1/10,1e-1", ["1/10"]),
        ("0:5", ["0", "1", "2", "3", "4"]),
        ("3:20:7,1", ["3", "10", "17", "1"]),
        ("-2:1", ["-2", "-1", "0"]),
        ("lin(0, 1, 5)", ["0", "1/4", "1/2", "3/4", "1"]),
        ("geom(1e-1, 1e-4, 4)", ["1/10", "1/100", "1/1000", "1/10000"]),
        ("geom(100,1600,5)", ["100", "200", "400", "800", "1600"]),
        ("pi/10, pi/15", ["pi/10", "pi/15"]),
        ("lin(pi/10, pi/20, 2)", ["pi/10", "pi/20"]),
    ],
)
def test_lists_are_read(text: str, values: list[str]) -> None:
    assert read_axis(text, "x") == values


@settings(derandomize=True, deadline=None, max_examples=40)
@given(
    st.fractions(Fraction(1, 10**4), 10**6, max_denominator=10**4),
    st.fractions(Fraction(1, 10**4), 10**6, max_denominator=10**4),
    st.integers(2, 9),
)
def test_spaced_values_have_equal_ratios_and_differences(a: Fraction, b: Fraction, count: int) -> None:
    import mpmath

    ctx = mpmath.mp.clone()
    ctx.dps = 40
    for law in ("geom", "lin"):
        values = [read_number(text).evaluate(ctx) for text in read_axis(f"{law}({a}, {b}, {count})", "x")]
        if a == b:
            assert len(values) == 1
            continue
        assert len(values) == count
        assert abs(values[0] - ctx.mpf(a.numerator) / a.denominator) <= 1e-35 * values[0]
        assert abs(values[-1] - ctx.mpf(b.numerator) / b.denominator) <= 1e-35 * values[-1]
        levels = [ctx.log(value) for value in values] if law == "geom" else values
        steps = [later - earlier for earlier, later in pairwise(levels)]
        scale = max(abs(level) for level in levels)
        assert max(steps) - min(steps) <= 1e-35 * scale


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-1000, max_value=1000))
def test_a_value_reads_back_as_itself(value) -> None:
    assert read_number(read_axis(str(value), "x")[0]) == read_number(str(value))


def test_numbers_too_long_to_show_stay_exact() -> None:
    long = "1." + "0" * 150 + "1"
    (text,) = read_axis(long, "x")
    assert read_number(text) == read_number(long)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ",",
        "1,,2",
        "a",
        "0:5:0",
        "0:1.5",
        "1:2:3:4",
        "lin(1,2)",
        "geom(0,1,3)",
        "geom(1,-1,3)",
        "lin(1,2,x)",
        "5:5",
    ],
)
def test_unreadable_lists_are_refused_by_name(text: str) -> None:
    with pytest.raises(InputError, match="kappa1"):
        read_axis(text, "kappa1")


def test_integers_stay_within_their_bounds() -> None:
    assert read_integers("1:4,2", "m", 1, 9) == [1, 2, 3]
    for text in ("0", "10", "1/2", "pi"):
        with pytest.raises(InputError, match="m: "):
            read_integers(text, "m", 1, 9)


def test_a_grid_is_the_product_of_its_lists_with_everything_resolved() -> None:
    points = grid("simulate", {"p": "2,4", "seed": "0:3", "delta": None})
    assert len(points) == 6
    assert [(point.config["p"], point.config["seed"]) for point in points[:4]] == [
        ("2", 0),
        ("2", 1),
        ("2", 2),
        ("4", 0),
    ]
    for point in points:
        assert set(point.config) == {"compute", *COMPUTATIONS["simulate"]}
        assert point.config["delta"] == "pi/15"


def test_equal_points_have_equal_keys() -> None:
    one = grid("plateau", {"p": "4", "kappa2": "0.5", "digits": "30"})
    other = grid("plateau", {"kappa2": "1/2, 5e-1"})
    assert one == other


@pytest.mark.parametrize(
    ("computation", "axes", "name"),
    [
        ("nothing", {}, "compute"),
        ("plateau", {"seed": "0:5"}, "seed"),
        ("limit", {"lr": "0.1"}, "lr"),
        ("plateau", {"p": "-1"}, "p"),
        ("plateau", {"delta": "2"}, "delta"),
        ("plateau", {"alpha_plus": "3/2"}, "alpha_plus"),
        ("plateau", {"loss": "hinge"}, "loss"),
        ("simulate", {"m": "0"}, "m"),
        ("simulate", {"dim": "1"}, "dim"),
        ("gd", {"lr": "0"}, "lr"),
        ("plateau", {"digits": "0"}, "digits"),
        ("plateau", {"p": "2:1000", "digits": "1:5000"}, "sweep"),
    ],
)
def test_impossible_values_are_refused_before_anything_runs(computation: str, axes: dict, name: str) -> None:
    with pytest.raises(InputError, match=f"^{name}: "):
        grid(computation, axes)

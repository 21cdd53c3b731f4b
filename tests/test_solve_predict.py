"""Predictions, loss, accuracy and angles hold at every time, from 0 to beyond 10^1000."""

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest

from reduced import InputError, limit, predict, problem, start, timeline

DATA = Path(__file__).parent / "data"
PAPER = problem(4, "pi/15", "1/4", "3/20")
THREE = problem(4, "pi/15", "0.2", "0.2")
TWO = problem(4, "pi/15", "0.2", "0.25")
REGIMES = pytest.mark.parametrize(
    "given", [PAPER, THREE, TWO], ids=["four-phase", "three-phase", "two-phase"]
)


def at(given, *times, digits=30, f=(0, 0, 0)):
    return predict(given, start(*f), times, digits)


def test_the_reference_far_into_phase_four():
    rows = json.loads((DATA / "reduced_public.json").read_text())["pub"]["values"]["phaseIV"]
    points = at(PAPER, *(t for t, _, _ in rows), digits=40)
    for point, (t, f_plus, f_minus) in zip(points, rows, strict=True):
        assert Decimal(point.t) == Decimal(t)
        assert abs(Decimal(point.f_plus) / Decimal(f_plus) - 1) < Decimal("2e-39")
        assert abs(Decimal(point.f_minus) / Decimal(f_minus) - 1) < Decimal("2e-39")
        assert point.phase == "IV"


def test_phases_and_accuracy_along_the_way():
    points = at(PAPER, 0, 1, 284, 285, 3737, 3738, 4034, 4035)
    assert [point.phase for point in points] == ["II", "II", "II", "II", "II", "III", "III", "IV"]
    assert [point.accuracy for point in points] == ["0", "0.8", "0.8", "1", "1", "1", "1", "1"]


def test_the_start_itself():
    (point,) = at(PAPER, 0)
    assert (point.t, point.f_plus, point.f_minus, point.loss) == ("0", "0", "0", "1")
    assert (point.angle_plus, point.angle_minus) == (None, None)
    (point,) = at(PAPER, 0, f=(1, "1/2", "-1/4"))
    assert (point.f_plus, point.f_minus) == ("1", "0.5")
    assert point.angle_plus is not None
    assert point.angle_minus is not None


@REGIMES
def test_predictions_at_the_events_are_the_timeline_s(given):
    line = timeline(given, start(), 30)
    for name, time in line.times.items():
        if time != "inf" and float(time) < 1e20:
            (point,) = at(given, time, digits=20)
            assert float(point.f_plus) == pytest.approx(float(line.predictions[name][0]), rel=1e-15)
            assert float(point.f_minus) == pytest.approx(
                float(line.predictions[name][1]), rel=1e-15, abs=1e-20
            )


@REGIMES
def test_loss_is_that_of_the_predictions(given):
    ctx = mpmath.mp.clone()
    ctx.dps = 50
    for point in at(given, "1e-30", 10, "1e5", "1e30"):
        loss = 4 * ctx.exp(-ctx.mpf(point.f_plus)) / 5 + ctx.exp(ctx.mpf(point.f_minus)) / 5
        assert abs(ctx.mpf(point.loss) / loss - 1) < ctx.mpf("1e-27")


@REGIMES
def test_time_times_loss_tends_to_the_inverse_square_margin(given):
    """The correction falls like a power of t, so 10^1000 shows twenty digits of 1/γ² (three-phase: later)."""
    ctx = mpmath.mp.clone()
    ctx.dps = 40
    near, far = at(given, "1e1000", "1e3000")
    gamma = ctx.mpf(limit(given).gamma)
    assert abs(ctx.mpf(near.loss) * ctx.mpf(10) ** 1000 * gamma**2 - 1) < ctx.mpf("1e-2")
    assert abs(ctx.mpf(far.loss) * ctx.mpf(10) ** 3000 * gamma**2 - 1) < ctx.mpf("1e-20")


def test_beyond_any_double_and_any_decimal_habit():
    (point,) = at(PAPER, "10^100000", digits=20)
    assert point.phase == "IV"
    assert point.loss.endswith("e-99998")
    assert float(point.f_plus) == pytest.approx(100000 * 2.302585092994046, rel=1e-3)


def test_angles_that_are_exactly_zero():
    """K₊ from T_II on in four- and three-phase; K₋ throughout in three- and two-phase (theory §7)."""
    four = at(PAPER, 1, 3700, 3738, 4035, "1e1000")
    assert [point.angle_plus == "0" for point in four] == [False, False, True, True, True]
    assert all(point.angle_minus != "0" for point in four)
    three = at(THREE, 1, "1e28", "2e29", "1e1000")
    assert [point.angle_plus == "0" for point in three] == [False, False, True, True]
    assert all(point.angle_minus == "0" for point in three)
    two = at(TWO, 1, "1e28", "1e1000")
    assert all(point.angle_plus != "0" for point in two)
    assert all(point.angle_minus == "0" for point in two)


def angle_between(ctx, given, first, second):
    """Return the angle of two vectors given by coefficients on [x₊, x₋], by explicit coordinates."""
    delta = given.delta.evaluate(ctx)
    x, y = ((a + b * ctx.cos(delta), b * ctx.sin(delta)) for a, b in (first, second))
    return ctx.atan2(abs(x[0] * y[1] - x[1] * y[0]), x[0] * y[0] + x[1] * y[1])


def test_angles_from_the_predictions():
    """In Phase II u of K₊ is f₊/α₊ and v its share of f₋; in Phase IV u, v of K₋ follow from f₊, f₋."""
    ctx = mpmath.mp.clone()
    ctx.dps = 40
    delta = PAPER.delta.evaluate(ctx)
    c, s2 = ctx.cos(delta), ctx.sin(delta) ** 2
    ends = limit(PAPER, 40)
    v_plus, v_minus = ([ctx.mpf(x) for x in pair] for pair in (ends.v_plus, ends.v_minus))

    def vector(u, v):
        return (u - c * v) / s2, (v - c * u) / s2

    T_II = timeline(PAPER, start(), 40).times["T_II"]
    early, mid, late = at(PAPER, 5, T_II, "1e12", digits=40)
    # K₋ slides on u = 0 with v = −f₋⁽⁻⁾/α₋ > 0 until T_III: its direction is that of x₋ − c x₊
    slid = angle_between(ctx, PAPER, (-c, ctx.one), v_minus)
    assert abs(ctx.mpf(early.angle_minus) - slid) < ctx.mpf("1e-35")
    assert abs(ctx.mpf(mid.angle_minus) - slid) < ctx.mpf("1e-35")
    # in Phase IV K₊ has v = 0; u grew by (s²/4)·S and f₊ = u₊/4 − (3/20) u₋, f₋ = −(3/20) v₋
    third = timeline(PAPER, start(), 40).predictions["T_III"]
    before = [ctx.mpf(x) for x in third]
    after = [ctx.mpf(late.f_plus), ctx.mpf(late.f_minus)]
    a, b, k = ctx.mpf(1) / 4, ctx.mpf(3) / 20, after
    A, B, C, D = a * s2 + b, b * c, b * c, b
    rise = [after[0] - before[0], after[1] - before[1]]
    S = (-D * rise[0] + B * rise[1]) / (B * C - A * D)
    R = (-C * rise[0] + A * rise[1]) / (B * C - A * D)
    # signs: f₊ rises by A S − B R and f₋ by C S − D R
    assert abs(A * S - B * R - rise[0]) < ctx.mpf("1e-35")
    assert abs(C * S - D * R - rise[1]) < ctx.mpf("1e-35")
    u, v = c * R - S, -k[1] / b
    assert abs(ctx.mpf(late.angle_minus) - angle_between(ctx, PAPER, vector(u, v), v_minus)) < ctx.mpf(
        "1e-33"
    )
    (young,) = at(PAPER, "1e-20", digits=40)
    toward = angle_between(ctx, PAPER, (ctx.mpf(4), -ctx.one), v_plus)
    assert abs(ctx.mpf(young.angle_plus) - toward) < ctx.mpf("1e-18")


@pytest.mark.parametrize(
    ("given", "name"), [(PAPER, "angle_minus"), (TWO, "angle_plus")], ids=["four", "two"]
)
def test_the_other_angles_close_like_one_over_log_t(given, name):
    angles = [float(getattr(point, name)) for point in at(given, "1e1000", "1e2000", "1e4000")]
    assert angles[0] / angles[1] == pytest.approx(2, rel=0.02)
    assert angles[1] / angles[2] == pytest.approx(2, rel=0.01)


def test_one_sign_only():
    (point,) = at(problem(4, "pi/15", "1/4", 0), "1e6")
    assert (point.f_minus, point.accuracy, point.phase) == ("0", "0.8", "III")
    assert (point.angle_plus, point.angle_minus) == (None, None)
    (point,) = at(problem(4, "pi/15", 0, 0), "1e6")
    assert (point.f_plus, point.f_minus, point.loss) == ("0", "0", "1")


def test_digits_are_the_rounding_of_more_digits():
    times = ("1e-10", "17.25", "3900", "1e300")
    for coarse, fine in zip(at(PAPER, *times, digits=15), at(PAPER, *times, digits=40), strict=True):
        for name in ("f_plus", "f_minus", "loss", "angle_minus"):
            assert abs(Decimal(getattr(coarse, name)) / Decimal(getattr(fine, name)) - 1) < Decimal("5.1e-15")


@pytest.mark.parametrize("time", [-1, "-1e-400", "nan", float("inf"), None])
def test_times_that_are_none_are_refused(time):
    with pytest.raises(InputError, match=r"^at: expected "):
        at(PAPER, 1, time)


@pytest.mark.parametrize("time", [300, "300", 300.0, Fraction(300), np.float64(300), np.array(300.0)])
def test_one_time_may_be_given_by_itself(time):
    assert predict(PAPER, start(), time, 10) == at(PAPER, 300, digits=10)


def test_arrays_of_times_are_lists_of_times():
    assert predict(PAPER, start(), np.array([1.0, 300.0]), 10) == at(PAPER, 1, 300, digits=10)

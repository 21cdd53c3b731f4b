"""The derived law constant/(log t + shift) is how the angles to the limit directions close, out to t = 10^10000.

It is compared with the closed form of the collapsed model and, frozen parts included, with every neuron of an
explicit network solved exactly.
"""

from pathlib import Path

import mpmath
import numpy as np
import pytest
import sympy as sp

import fullnet
from reduced import InputError, angle_laws, derive, limit, network_flow, predict, problem, start
from reduced.derive.decay import f_minus_at_reactivation, frozen, rise, u_1, v_1
from reduced.derive.plateau import f_minus_0, f_plus_0, share_0
from reduced.derive.symbols import Delta, alpha_minus, alpha_plus, c, kappa2, p, s
from reduced.maxmargin.network import plane_vector
from reduced.records import Regime
from reduced.solve.decay import angle_law
from reduced.solve.timeline import timeline

DATA = Path(__file__).parent / "data"
FOUR = problem(4, "pi/15", "1/4", "3/20")
THREE = problem(4, "pi/15", "0.2", "0.2")
TWO = problem(4, "pi/15", "0.2", "0.25", "3/2")
FULL = start("1", "1/2", "-1/4")
OPEN = {"four-phase": "minus", "two-phase": "plus"}

ctx = mpmath.mp.clone()
ctx.dps = 40


def open_angles(given, begin, side, *powers):
    points = predict(given, begin, [f"1e{power}" for power in powers], 35)
    return [(ctx.mpf(getattr(x, f"angle_{side}")), ctx.mpf(getattr(x, f"angle_{side}_law"))) for x in points]


@pytest.mark.parametrize("begin", [start(), FULL], ids=["f=0", "f≠0"])
@pytest.mark.parametrize(("given", "side"), [(FOUR, "minus"), (TWO, "plus")], ids=["four", "two"])
def test_the_open_angle_follows_the_law(given, side, begin):
    """The error of the leading law falls like 1/log t, that of the shifted one like 1/log² t."""
    law = getattr(angle_laws(given, begin, 35), side)
    constant, shift = ctx.mpf(law.constant), ctx.mpf(law.shift)
    powers = (100, 1000, 10000)
    for power, (angle, leading) in zip(powers, open_angles(given, begin, side, *powers), strict=True):
        log = power * ctx.log(10)
        assert abs(leading / (constant / log) - 1) < ctx.mpf("1e-33")
        assert abs(angle / leading - 1) == pytest.approx(float(-shift / log), rel=8 / power)
        # what is left is the arctangent's cubic term
        gap = angle / (constant / (log + shift)) - 1
        assert gap == pytest.approx(float(-((constant / (log + shift)) ** 2) / 3), rel=1e-4)


def test_the_angles_that_end_at_zero_have_constant_zero():
    for given, zero in ((FOUR, ["plus"]), (THREE, ["plus", "minus"]), (TWO, ["minus"])):
        laws = angle_laws(given, start(), 20)
        for side in ("plus", "minus"):
            law = getattr(laws, side)
            assert (law.constant == "0") == (law.shift is None) == (side in zero)
    for regime in ("four-phase", "three-phase", "two-phase"):
        for group in ("K_plus", "K_minus"):
            turned = derive.angle_law(regime, group).turn
            assert (turned == 0) == (group.removeprefix("K_") != OPEN.get(regime))


def by_hand(regime):
    """The constant typed from the geometry: |w × v| growth/|v|² with w the part that stays."""
    ratio = alpha_minus / alpha_plus
    if regime == "four-phase":
        rho = 1 + (1 - c) / ratio
        across = v_1 * (c * rho - 1) / s + s * rise / (kappa2**2 * alpha_minus * (1 + c))
    else:
        rho = 1 / (1 + ratio * (1 - c))
        h = kappa2**2 * (1 + c) * (alpha_plus + alpha_minus * (1 - c))
        across = (u_1 * (rho - c) + v_1 * (1 - rho * c)) / s + s * rise / h
    gamma_squared = derive.limit(regime).gamma_squared
    return gamma_squared * (1 + rho) * across / (1 + rho**2 - 2 * c * rho)


@pytest.mark.parametrize("regime", OPEN)
def test_the_constant_is_the_cross_product(regime):
    law = derive.angle_law(regime, f"K_{OPEN[regime]}")
    rng = np.random.default_rng(0)
    for _ in range(5):
        values = {
            alpha_plus: rng.uniform(0.1, 0.5),
            alpha_minus: rng.uniform(0.1, 0.5),
            Delta: rng.uniform(0.1, 1.5),
        }
        values |= {kappa2: 1.3, u_1: rng.uniform(), v_1: rng.uniform(), rise: rng.uniform(), frozen: 0}
        if regime == "four-phase":
            values[u_1] = 0
        assert float(law.constant.subs(values)) == pytest.approx(
            abs(float(by_hand(regime).subs(values))), rel=1e-12
        )
        # outside the plane: growth · frozen / |v|
        values |= {u_1: 0, v_1: 0, rise: 0, frozen: 0.7}
        v = law.limit.directions[0 if regime == "two-phase" else 1]
        expected = law.growth * frozen / sp.sqrt(v.dot(v))
        assert float(law.constant.subs(values)) == pytest.approx(float(expected.subs(values)), rel=1e-12)


@pytest.mark.parametrize("regime", OPEN)
@pytest.mark.parametrize("begin", [(0, 0, 0), (0.3, 0.2, 0.25)])
def test_the_constant_from_the_start_of_training(regime, begin):
    """Explicit in p, Δ, α₊, α₋ and the start; κ₂ drops out; exact up to e^(−x) at T_II."""
    plus, minus = ("1/4", "3/20") if regime == "four-phase" else ("0.2", "0.25")
    for size in ("1", "7/3"):
        given = problem(4, "pi/15", plus, minus, size)
        exact = angle_laws(given, start(begin[0], begin[1], begin[1] - begin[2]), 30)
        found = derive.constant_from_start(regime).subs(
            dict(zip((f_plus_0, f_minus_0, share_0), begin, strict=True))
        )
        assert kappa2 not in found.free_symbols
        values = {p: 4, Delta: sp.pi / 15, alpha_plus: sp.Rational(plus), alpha_minus: sp.Rational(minus)}
        value = float(found.subs(values).evalf(30))
        assert value == pytest.approx(float(getattr(exact, OPEN[regime]).constant), rel=1e-14)


def test_f_minus_at_reactivation():
    values = {p: 4, Delta: sp.pi / 15, alpha_plus: sp.Rational(1, 4), alpha_minus: sp.Rational(3, 20)}
    found = f_minus_at_reactivation().subs({f_plus_0: 0, f_minus_0: 0, share_0: 0} | values | {kappa2: 1})
    expected = timeline(FOUR, start(), 25).predictions["T_III"][1]
    assert float(found.evalf(30)) == pytest.approx(float(expected), rel=1e-14)


def test_every_neuron_of_a_network_follows_its_law():
    """In-plane and frozen parts together, neuron by neuron, at t = 10^1000."""
    net = fullnet.load_network(DATA / "network_public1.npz", 1.0)
    given = problem(4, "pi/15", "0.23", "0.13")
    run = network_flow(net.W, net.sign, given, 20)
    flow, ends = run.flow, limit(given, 30)
    logs = 1000 * float(ctx.log(10))
    index, q = flow.locate(flow.ctx.mpf(10) ** 1000)
    scale, angle = net.scale, 0.20943951023931953
    worst = 0.0
    for k in (*run.positive, *run.negative):
        _, u, v = flow.particle(k, index, q)
        across, along = (u - v) / (2 * flow.ctx.sin(angle / 2)), -(u + v) / (2 * flow.ctx.cos(angle / 2))
        outside = np.linalg.norm(net.W[k, 2:]) / scale
        law = angle_law(flow, Regime.FOUR_PHASE, k, flow.ctx.mpf(float(outside)))
        toward = plane_vector(ends.v_plus if net.sign[k] > 0 else ends.v_minus, "pi/15")
        b = np.array([float(across), float(along), outside])
        unit, target = b / np.linalg.norm(b), np.append(toward, 0) / np.linalg.norm(toward)
        measured = 2 * np.arcsin(np.linalg.norm(unit - target) / 2)
        if net.sign[k] > 0:
            # the angle is all outside the plane: rounding of the plane part does not count
            measured = np.arctan2(outside, np.hypot(float(across), float(along)))
        worst = max(worst, abs(measured / float(law.constant / (logs + law.shift)) - 1))
    assert len(run.positive) + len(run.negative) == 36
    assert worst < 1e-6


def test_a_cut_flow_has_no_law():
    net = fullnet.load_network(DATA / "network_public1.npz", 1.0)
    run = network_flow(net.W, net.sign, problem(4, "pi/15", "0.23", "0.13"), 15, until=10)
    with pytest.raises(ValueError, match="final phase"):
        angle_law(run.flow, Regime.FOUR_PHASE, run.positive[0])


def test_without_a_group_or_with_wrong_words_there_is_no_law():
    laws = angle_laws(problem(4, "pi/15", "1/4", 0), start())
    assert (laws.plus, laws.minus) == (None, None)
    with pytest.raises(InputError, match="loss"):
        angle_laws(problem(4, "pi/15", "1/4", "1/8", loss="logistic"), start())
    with pytest.raises(InputError, match="group: expected K_plus or K_minus"):
        derive.angle_law("two-phase", "K")
    with pytest.raises(InputError, match="angle stays open"):
        derive.constant_from_start("three-phase")

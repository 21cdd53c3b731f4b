"""Claim: enclosures hold in the hard corners, and equalities no ball can separate are decided by symbols."""

from __future__ import annotations

from decimal import Decimal, localcontext

import pytest

import reduced
from reduced import Outcome, Regime

pytest.importorskip("flint")

from reduced.solve.enclosure import EnclosedTimeline, PreparedPlateau, enclosure_timeline

DIGITS = 30


def enclosed(start: reduced.Start | None = None, **parameters: str) -> EnclosedTimeline:
    """Return the enclosed timeline of a problem near the paper's, checked against the closed form."""
    problem = reduced.problem(**({"alpha_plus": "1/4", "alpha_minus": "3/20"} | parameters))
    start = start or reduced.start()
    found = enclosure_timeline(problem, start, DIGITS)
    closed = reduced.timeline(problem, start, 2 * DIGITS)
    assert (found.outcome, found.regime) == (closed.outcome, closed.regime)
    for name, reference in closed.times.items():
        mid, rad = found.times[name], found.radius[name]
        if rad is None:
            assert mid == reference == "inf"
            continue
        with localcontext(prec=100, Emax=10**12, Emin=-(10**12)):
            exact, unit = Decimal(reference), abs(Decimal(reference)).scaleb(1 - DIGITS)
            assert abs(Decimal(mid) - exact) <= Decimal(rad) + exact.scaleb(1 - 2 * DIGITS)
            assert Decimal(rad) < unit / 2 if exact else rad == "0"
    return found


@pytest.mark.parametrize("delta", ["1e-2", "1e-3", "1e-4", "1.5"])
def test_small_and_large_angles(delta: str) -> None:
    assert enclosed(delta=delta, p="40").outcome is Outcome.FINISHED


@pytest.mark.parametrize("distance", ["1e-3", "1e-9", "1e-30"])
@pytest.mark.parametrize(
    ("boundary", "below", "above"),
    [
        ("cos(pi/15)", Regime.FOUR_PHASE, Regime.THREE_PHASE),
        ("1/cos(pi/15)", Regime.THREE_PHASE, Regime.TWO_PHASE),
    ],
)
def test_both_sides_of_a_regime_boundary(boundary: str, below: Regime, above: Regime, distance: str) -> None:
    if (boundary, distance) != ("1/cos(pi/15)", "1e-30"):
        # there T_II is 10^(6·10²⁹), beyond what Decimal holds
        assert enclosed(alpha_minus=f"({boundary} - {distance})/4").regime is below
    assert enclosed(alpha_minus=f"({boundary} + {distance})/4").regime is above


def test_a_time_beyond_any_machine_number_is_enclosed() -> None:
    problem = reduced.problem(alpha_plus="1/4", alpha_minus="(1/cos(pi/15) - 1e-30)/4")
    found = enclosure_timeline(problem, reduced.start(), DIGITS)
    mantissa, exponent = found.times["T_II"].split("e")
    assert len(exponent) > 30
    assert found.radius["T_II"] is not None
    error, low = found.radius["T_II"].split("e")
    assert int(exponent) - int(low) >= DIGITS
    assert 1 <= float(mantissa) < 10
    assert 0 < float(error) < 10


@pytest.mark.parametrize(
    ("alpha_plus", "alpha_minus", "regime"),
    [("1/2", "3/10", Regime.THREE_PHASE), ("3/10", "1/2", Regime.TWO_PHASE)],
)
def test_the_regime_boundary_itself_is_decided(alpha_plus: str, alpha_minus: str, regime: Regime) -> None:
    assert enclosed(delta="acos(3/5)", alpha_plus=alpha_plus, alpha_minus=alpha_minus).regime is regime


@pytest.mark.slow
@pytest.mark.parametrize(
    ("alpha_minus", "regime"),
    [("cos(pi/15)/4", Regime.THREE_PHASE), ("1/cos(pi/15)/4", Regime.TWO_PHASE)],
)
def test_an_irrational_regime_boundary_is_decided(alpha_minus: str, regime: Regime) -> None:
    assert enclosed(alpha_minus=alpha_minus).regime is regime


@pytest.mark.parametrize("excess", ["1e-3", "1e-12", "1e-40"])
def test_the_plateau_vanishes_where_pc_is_1_plus_alpha_s2(excess: str) -> None:
    vanishing = "(1 + 3/5*sin(pi/15)^2)/cos(pi/15)"
    assert Decimal(enclosed(p=f"{vanishing} + {excess}").times["T_plat"]) < Decimal(excess) * 300
    assert enclosed(p=f"{vanishing} - {excess}").outcome is Outcome.NO_PLATEAU


def test_the_vanishing_plateau_itself_is_decided() -> None:
    found = enclosed(p="(1 + 1/2*16/25)*5/3", delta="acos(3/5)", alpha_plus="1/2", alpha_minus="1/4")
    assert found.outcome is Outcome.NO_PLATEAU


@pytest.mark.slow
def test_an_irrational_vanishing_plateau_is_decided() -> None:
    assert enclosed(p="(1 + 3/5*sin(pi/15)^2)/cos(pi/15)").outcome is Outcome.NO_PLATEAU


@pytest.mark.parametrize(
    "state",
    [("1", "1/2", "0"), ("3", "3", "0"), ("20", "30", "0"), ("0", "50", "0"), ("0", "cos(pi/2)", "0")],
)
def test_starts_above_the_fixed_ratio(state: tuple[str, str, str]) -> None:
    enclosed(reduced.start(*state))


@pytest.mark.parametrize(
    ("state", "past"),
    [
        (("2", "-1/2", "-1"), {"T_plat"}),
        (("3", "-17/10", "-17/10"), {"T_plat"}),
        (("17/5", "-2", "-2"), {"T_plat", "T_II"}),
        (("4", "-2", "-2"), {"T_plat", "T_II", "T_III"}),
        (("2", "0", "-1"), {"T_plat"}),
    ],
)
def test_starts_past_an_event(state: tuple[str, str, str], past: set[str]) -> None:
    found = enclosed(reduced.start(*state))
    assert found.outcome is Outcome.ALREADY or state[1] == "0"
    assert {name for name, time in found.times.items() if time == "0"} == past


@pytest.mark.parametrize("share", ["0", pytest.param("1/2", marks=pytest.mark.slow)])
def test_a_start_on_the_fixed_ratio(share: str) -> None:
    enclosed(reduced.start(f"log(4/(1 + 3/5*(1 - cos(pi/15)))) - {share}", share))


def test_a_start_on_r_equals_c_that_moves_away_from_it() -> None:
    enclosed(reduced.start("log(4*cos(pi/15))"))


def test_a_start_on_r_equals_1_over_c_that_passes_it_at_once() -> None:
    assert enclosed(reduced.start("log(4/cos(pi/15))")).times["T_III"] == "0"


@pytest.mark.parametrize("empty", ["alpha_plus", "alpha_minus"])
def test_an_empty_group_has_an_infinite_plateau(empty: str) -> None:
    found = enclosed(**{empty: "0"})
    assert found.outcome is Outcome.PLATEAU_INFINITE
    assert found.radius["T_plat"] is None


NEAR_VANISHING = "(1 + 3/5*sin(pi/15)^2)/cos(pi/15)*(1 + 1e-50)"


@pytest.mark.parametrize(
    "parameters", [{"delta": "1e-20"}, {"delta": "1e-60"}, {"p": NEAR_VANISHING}], ids=["1e-20", "1e-60", "p"]
)
def test_roots_that_a_sketch_cannot_see_are_found_at_a_higher_precision(parameters: dict[str, str]) -> None:
    found = enclosed(**parameters)
    problem = reduced.problem(**({"alpha_plus": "1/4", "alpha_minus": "3/20"} | parameters))
    alone = PreparedPlateau(problem, DIGITS).enclose(reduced.start())
    with localcontext(prec=100):
        apart = abs(Decimal(alone.mid) - Decimal(found.times["T_plat"]))
        assert apart <= Decimal(str(alone.rad)) + Decimal(str(found.radius["T_plat"]))


def test_a_regime_boundary_within_1e_50_has_a_proved_plateau_and_a_vast_second_phase() -> None:
    problem = reduced.problem(4, "pi/15", "cos(pi/15)/4", "1/4*(1 - 1e-50)")
    found, closed = (
        enclosure_timeline(problem, reduced.start(), 20),
        reduced.timeline(problem, reduced.start(), 40),
    )
    assert found.regime is Regime.THREE_PHASE
    with localcontext(prec=60):
        assert abs(Decimal(found.times["T_plat"]) - Decimal(closed.times["T_plat"])) <= Decimal(
            str(found.radius["T_plat"])
        )
    (mantissa, exponent), (other, same) = (t.times["T_II"].split("e") for t in (found, closed))
    assert exponent == same
    assert float(mantissa) == pytest.approx(float(other), rel=1e-14)


def test_a_number_near_0_whose_first_ball_contains_0() -> None:
    """f₋ = −10⁻⁴⁰ at the start: T_plat is past, and f₋ there is known to every digit all the same."""
    state = reduced.start("1", "-1e-40", "-1/5")
    found = enclosed(state, delta="1.3", alpha_minus="1/20")
    assert found.outcome is Outcome.ALREADY
    assert Decimal(found.predictions["T_plat"][1]) == Decimal("-1e-40")
    assert float(found.times["T_II"]) == pytest.approx(7.27382480198272, rel=1e-14)

"""The cross-check agrees where the theory holds, and says so when one thing on the reduced side is off."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import fullnet
from reduced import InputError, Outcome, Regime, problem
from reduced.crosscheck import Fates, compare, crosscheck, prediction
from reduced.crosscheck.fates import DIES, JOINS_PLUS
from reduced.solve.flow import exact_flow
from reduced.solve.pieces import ClosedForm

DATA = Path(__file__).parent / "data"
PAPER = problem()


def check(net, **options):
    return crosscheck(net, PAPER, learning_rates=options.pop("learning_rates", ()), **options)


def disagreeing(result):
    return {row.quantity for row in result.checks if not row.agree}


def initial(m, dim=5, kappa1=0.05, seed=0, **options):
    return fullnet.initial_network(m, dim, kappa1, 1.0, seed, **options)


def paper_network(number):
    return fullnet.load_network(DATA / f"network_public{number}.npz", 1.0)


@pytest.fixture(scope="module")
def paper_run():
    return check(paper_network(1))


@pytest.mark.parametrize("number", [pytest.param(0, marks=pytest.mark.slow), 1])
def test_the_paper_s_networks_agree_in_every_row(number, paper_run):
    result = paper_run if number == 1 else check(paper_network(number))
    assert disagreeing(result) == set()
    assert result.agree
    assert (result.outcome, result.regime) == (Outcome.FINISHED, Regime.FOUR_PHASE)
    quantities = {row.quantity for row in result.checks}
    assert {
        "fates",
        "T_plat",
        "T_II",
        "T_III_PT",
        "T_III",
        "collapsed T_plat",
        "collapsed T_II",
    } <= quantities
    assert {
        "f_plus on the grid",
        "f_minus on the grid",
        "log loss on the grid",
        "f_plus at t = 1e12",
    } <= quantities
    assert {"patterns in Phase II", "patterns in Phase III", "patterns in Phase IV"} <= quantities
    assert {"KKT residual at the end", "limit margin", "angle_plus at the end"} <= quantities


def test_the_tolerances_are_tight(paper_run):
    """An agreement that allowed much would say little."""
    rows = {row.quantity: row for row in paper_run.checks}
    for name in ("T_plat", "T_II", "T_III_PT", "T_III"):
        assert float(rows[name].tolerance) < 1e-9 * float(rows[name].full)
    assert float(rows["f_plus on the grid"].tolerance) < 1e-10


def test_the_exact_flow_stands_beside_it_and_is_not_the_judge(paper_run):
    rows = {row.quantity: row for row in paper_run.checks}
    assert rows["T_plat"].exact.startswith("316.47984464321094061397982")
    assert rows["T_plat"].exact != rows["T_plat"].reduced


@pytest.mark.parametrize(
    ("net", "regime"),
    [
        (initial(20, seed=2), Regime.THREE_PHASE),
        (initial(12, dim=3, positive=4), Regime.TWO_PHASE),
        (initial(2, dim=4, seed=3), Regime.THREE_PHASE),
        (initial(12, dim=3, kappa1=1e-6, seed=5), None),
    ],
    ids=["three-phase", "two-phase", "two neurons", "tiny weights"],
)
def test_small_networks_in_every_regime(net, regime):
    result = check(net)
    assert disagreeing(result) == set()
    assert regime is None or result.regime is regime
    assert sum(result.living.values()) == len(net.sign)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_many_seeds(seed):
    result = check(initial(30, dim=4 + seed % 5, kappa1=0.1, seed=seed))
    assert disagreeing(result) == set()


@pytest.mark.parametrize(("until", "seed"), [(1e-3, 1), (0.02, 3)])
def test_what_a_short_run_does_not_reach_is_not_compared(until, seed):
    """Cut in Phase I: f₋ still has its random sign, neurons that will die are alive; nothing disagrees."""
    result = check(fullnet.initial_network(100, 20, 0.1, 1.0, seed), until=until)
    assert disagreeing(result) == set()
    assert all(row.full is None for row in result.checks if row.quantity in ("T_plat", "T_II", "T_III"))
    assert any("end of training is left out" in note for note in result.notes)
    assert "limit margin" not in {row.quantity for row in result.checks}


def test_a_network_without_living_negatives_has_an_infinite_plateau():
    result = check(initial(4, dim=4, kappa1=0.1, seed=3, positive=4))
    assert (result.outcome, result.regime, result.agree) == (Outcome.PLATEAU_INFINITE, None, True)
    plateau = next(row for row in result.checks if row.quantity == "T_plat")
    assert (plateau.reduced, plateau.full) == ("inf", None)


def test_a_network_of_negatives_only():
    """f₋ < 0 from the very start: an event before the state the reduced side starts from."""
    result = check(initial(4, dim=4, kappa1=0.1, seed=3, positive=0))
    assert (result.outcome, result.agree) == (Outcome.PLATEAU_INFINITE, True)


def test_a_single_neuron_does_not_crash():
    assert check(initial(1, dim=4, kappa1=0.1, seed=3)).agree


@pytest.mark.parametrize(
    ("kappa1", "seed"),
    [(3.0, 3), (3.0, 4), *(pytest.param(k, n, marks=pytest.mark.slow) for k in (0.5, 1.0) for n in (3, 4))],
)
def test_large_initial_weights_are_named_not_broken(kappa1, seed):
    result = check(initial(40, dim=6, kappa1=kappa1, seed=seed))
    assert disagreeing(result) == set()
    collapsed = any(row.quantity.startswith("collapsed") for row in result.checks)
    left_out = any("collapsed" in note for note in result.notes)
    assert collapsed != left_out
    if kappa1 == 3.0:
        assert left_out
        assert result.outcome is {3: Outcome.FINISHED, 4: Outcome.PHASES_OVERLAP}[seed]


# --- negative controls --------------------------------------------------------------------------------------------


class Off(ClosedForm):
    """The closed form with one of the rates A, B, C, D off by a relative amount."""

    def __init__(self, rate, relative):
        self.rate, self.relative = rate, relative

    def piece(self, ctx, weights, rates, forces):
        wrong = [x * (1 + self.relative * (i == self.rate)) for i, x in enumerate(rates)]
        return super().piece(ctx, weights, tuple(wrong), forces)


def with_rates_off(monkeypatch, off):
    """Solve the reduced side, and nothing else, with wrong rates."""
    monkeypatch.setattr(prediction, "exact_flow", lambda *arguments: exact_flow(*arguments, pieces=off))
    return check(initial(10, seed=4))


@pytest.mark.parametrize("rate", range(4), ids=list("ABCD"))
def test_a_rate_off_by_a_millionth_is_noticed(monkeypatch, rate):
    result = with_rates_off(monkeypatch, Off(rate, 1e-6))
    assert not result.agree
    assert disagreeing(result) & {"T_plat", "T_II", "T_III"}


def test_rates_off_by_nothing_are_not(monkeypatch):
    result = with_rates_off(monkeypatch, Off(0, 0))
    assert result.agree
    assert (result.outcome, result.regime) == (Outcome.FINISHED, Regime.FOUR_PHASE)


@pytest.mark.parametrize(("sign", "pattern"), [(1, "0+"), (-1, "++")])
def test_one_flipped_sign_is_noticed(monkeypatch, sign, pattern):
    true_state = compare.state_of

    def wrong_state(trajectory, t1, fates):
        state = true_state(trajectory, t1, fates)
        k = next(k for k, fate in enumerate(state.fates) if fate != DIES and state.signs[k] == sign)
        signs, patterns = list(state.signs), list(state.patterns)
        signs[k], patterns[k] = -sign, pattern
        return replace(state, signs=signs, patterns=patterns)

    monkeypatch.setattr(compare, "state_of", wrong_state)
    result = check(initial(10, seed=4))
    assert not result.agree
    assert "T_plat" in disagreeing(result)


def test_one_changed_fate_is_noticed(monkeypatch):
    true_fates = compare.predicted_fates

    def wrong_fates(*arguments):
        found = true_fates(*arguments)
        fate = found.fate.copy()
        fate[np.flatnonzero((fate == JOINS_PLUS) & ~found.borderline)[0]] = DIES
        return Fates(fate, found.borderline)

    monkeypatch.setattr(compare, "predicted_fates", wrong_fates)
    result = check(initial(10, seed=4))
    assert not result.agree
    assert {"fates", "T_plat"} <= disagreeing(result)


def test_the_cross_check_needs_the_exponential_loss():
    with pytest.raises(InputError, match=r"^loss: expected exp"):
        crosscheck(initial(4), problem(loss="logistic"))


# --- gradient descent beside it -----------------------------------------------------------------------------------


def test_no_rates_no_descent(paper_run):
    assert paper_run.gd == ()
    assert paper_run.largest_faithful_lr is None


def test_descent_is_shown_and_never_part_of_the_verdict():
    result = check(initial(20, seed=0), learning_rates=["1/2", "1e-2"], steps=500)
    assert result.agree
    assert [row.lr for row in result.gd] == ["0.5", "0.01"]
    assert [row.steps for row in result.gd] == [500, 500]
    assert all(sum(row.living.values()) == 20 for row in result.gd)


@pytest.mark.slow
def test_descent_with_the_flow_s_living_neurons_ends_the_plateau_within_two_steps():
    result = check(paper_network(1), learning_rates=["1e-2", "3e-4"])
    rough, fine = result.gd
    assert (rough.same_living, fine.same_living) == (False, True)
    assert rough.lost["negative"] == 11
    flow = float(next(row.full for row in result.checks if row.quantity == "T_plat"))
    assert abs(float(fine.T_plat) - flow) <= 2 * 3e-4
    assert float(fine.T_plat) == pytest.approx(316.4802, abs=3e-4)
    assert result.largest_faithful_lr == "0.0003"

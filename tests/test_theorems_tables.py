"""Tables 1 and 2, the small-κ₁ sweep and the living sets agree with the theory, the flow and the references."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import fullnet
from reduced import problem
from reduced.cli import main
from reduced.theorems import (
    changes_in_words,
    evidence,
    living_by_rule,
    living_check,
    pattern_table,
    small_kappa1,
    times_table,
)

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="module")
def public() -> fullnet.Network:
    return fullnet.load_network(DATA / "network_public1.npz", 1.0)


@pytest.fixture(scope="module")
def reference() -> dict[str, object]:
    found: dict[str, object] = json.loads((DATA / "network_public1.json").read_text())
    return found


def test_table_one_is_the_paper_s(public: fullnet.Network) -> None:
    """From Phase II on: K₊ goes 1→0 on x₋, then K₋ goes 0→1 on x₊; all else keeps its pattern."""
    rows = {(one.period, one.group): one for one in pattern_table(evidence(public, problem()))}
    plus, minus = rows["II", "K+"].size, rows["II", "K-"].size
    assert (plus, minus) == (23, 13)
    expected = {
        ("II", "K+"): ("1", "1"),
        ("II", "K-"): ("0", "1"),
        ("II → III", "K+"): ("1", f"1→0 ({plus})"),
        ("II → III", "K-"): ("0", "1"),
        ("III", "K+"): ("1", "0"),
        ("III", "K-"): ("0", "1"),
        ("III → IV", "K+"): ("1", "0"),
        ("III → IV", "K-"): (f"0→1 ({minus})", "1"),
        ("IV", "K+"): ("1", "0"),
        ("IV", "K-"): ("1", "1"),
    }
    for key, words in expected.items():
        assert (changes_in_words(rows[key].on_plus), changes_in_words(rows[key].on_minus)) == words, key
    for period in ("II", "II → III", "III", "III → IV", "IV"):
        dead = rows[period, "dead"]
        assert (changes_in_words(dead.on_plus), changes_in_words(dead.on_minus)) == ("0", "0")


def test_table_one_of_a_two_phase_network_ends_with_phase_two() -> None:
    net = fullnet.initial_network(40, 20, 0.1, 1.0, 17)
    assert {one.period for one in pattern_table(evidence(net, problem()))} == {"I", "II"}


def test_table_two_has_the_reference_times_and_laws(public: fullnet.Network) -> None:
    """Flow and descent at step 1e-2: T_II 3109.3755788 against 578 (theory §8)."""
    (row,) = times_table([public], grid=[("pi/15", 4)])
    assert row.T_II.flow == pytest.approx(3109.3755788, rel=1e-9)
    assert row.T_II.descent == pytest.approx(578, abs=1)
    delta, alpha, total = math.pi / 15, 13 / 23, 0.36
    assert row.T_plat.estimate == pytest.approx(4 / delta**2)
    assert row.T_II.estimate == pytest.approx(4 ** (1 / (1 - alpha * math.cos(delta))) / delta**2)
    scale = 2 * 5 / (total * delta**2)
    assert row.T_plat.law == pytest.approx(scale * (1 - 0.5))
    assert row.T_II.law == pytest.approx(scale * (4 ** (alpha / (1 - alpha)) - 0.5))
    assert row.four_phase == row.networks == 1


def test_table_two_takes_medians_over_networks() -> None:
    nets = [fullnet.initial_network(100, 5, 0.1, 1.0, seed) for seed in range(3)]
    (row,) = times_table(nets, grid=[("pi/10", 2)], learning_rate=0.1)
    flows = []
    for net in nets:
        e = evidence(net, problem(2, "pi/10"))
        flows.append(e.time("T_plat") if e.time("T_plat") is not None else math.inf)
    assert row.T_plat.flow == sorted(flows)[1]


def test_plateau_tends_to_a_limit_at_first_order_and_the_transition_vanishes(public: fullnet.Network) -> None:
    found = small_kappa1(evidence(public, problem()), [1e-2, 1e-4, 1e-6, 1e-8])
    assert found is not None
    assert found.plateau_settles
    assert found.plateau_order == pytest.approx(1, abs=0.01)
    assert found.transition_order == pytest.approx(1, abs=0.01)
    assert found.plateau_limit == pytest.approx(float(found.rows[-1].T_plat), rel=1e-9)
    assert found.plateau_limit > 100


def test_sweep_starts_at_the_reference(public: fullnet.Network, reference: dict[str, object]) -> None:
    found = small_kappa1(evidence(public, problem()), [public.kappa1, 1e-2, 1e-3])
    assert found is not None
    assert float(found.rows[0].T_II) == pytest.approx(3109.3755788, rel=1e-9)


def test_no_sweep_without_living_negative_neurons() -> None:
    net = fullnet.initial_network(10, 4, 0.1, 1.0, 1, positive=10)
    assert small_kappa1(evidence(net, problem()), [1e-1, 1e-2, 1e-3]) is None


def test_rule_and_flow_agree_outside_the_borderline() -> None:
    nets = [fullnet.initial_network(60, 3, 0.1, 1.0, seed) for seed in range(6)]
    for kappa1 in (2.0, 0.1, 1e-3):
        found = living_check(nets, problem(), kappa1)
        assert found.wrong_outside == 0
        assert found.neurons == 360
    assert found.wrong == found.borderline == 0
    assert found.exact == 6


def test_rule_is_the_sector_rule_of_the_theory() -> None:
    net = fullnet.initial_network(500, 6, 1.0, 1.0, 3)
    p, delta = 4.0, math.pi / 15
    u, v = (net.W @ x for x in fullnet.two_point(p, delta, 6).X)
    plus, minus = living_by_rule(net, problem())
    c = math.cos(delta)
    assert np.array_equal(plus, (net.sign > 0) & (u > 0))
    assert np.array_equal(minus, (net.sign < 0) & (v > 0) & (v * (p - c) > u * (p * c - 1)))


def test_fates_depend_on_the_product_of_the_scales_only() -> None:
    net = fullnet.initial_network(60, 3, 1.0, 1.0, 2)
    living = []
    for kappa1, kappa2 in ((4.0, 0.5), (1.0, 2.0)):
        scaled = fullnet.given_network(net.W * kappa1, net.sign, kappa2)
        living.append(evidence(scaled, problem(kappa2=str(kappa2))).flow.living)
    assert np.array_equal(*living)


def draw(seed: int) -> fullnet.Network:
    return fullnet.initial_network(20, 4, 0.1, 1.0, seed)


@pytest.mark.parametrize("which", ["1", "kappa1", "counts"])
def test_command_prints_the_tables(which: str, capsys: pytest.CaptureFixture[str]) -> None:
    seed = next(k for k in range(100) if all(mask.sum() > 1 for mask in living_by_rule(draw(k), problem())))
    words = ["theorems", "--m", "20", "--dim", "4", "--seed", str(seed), "--table", which, "--seeds", "2"]
    assert main([*words, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["outcome"] == "finished"
    assert record["signs"]["half"]["exact"]["S1"] if which == "counts" else record["table"]
    assert main(words) == 0
    assert capsys.readouterr().out


@pytest.mark.slow
def test_command_prints_table_two(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["theorems", "--table", "2", "--seeds", "3", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["table"]
    assert [(row["delta"], row["p"]) for row in rows][:4] == [
        ("pi/10", "4"),
        ("pi/15", "4"),
        ("pi/20", "4"),
        ("pi/30", "4"),
    ]
    plateaus = [float(row["T_plat"]["flow"]) for row in rows[:4]]
    assert plateaus == sorted(plateaus)

"""The ledger measures every statement, sees the paper's conclusions where they are, and misses them where not."""

import json
from collections import Counter
from dataclasses import replace

import pytest

import fullnet
from reduced import problem
from reduced.cli import main
from reduced.errors import InputError
from reduced.theorems import (
    STATEMENTS,
    Evidence,
    Ledger,
    Verdict,
    aggregate,
    evidence,
    ledger,
    living_by_rule,
)
from reduced.theorems.ledger import row

TOLD = (
    *("4.1-S1(i)", "4.1-S1(ii)", "4.1-S1(iii)", "4.1-S1(iv)", "4.1-S2(i)", "4.1-S2(ii)", "4.1-S2(iii)"),
    *("4.1-S2(iv)", "4.1-S3", "4.1-S4", "4.4", "4.5", "4.6", "4.7", "4.8", "4.9", "4.10(i)", "4.10(ii)"),
    *("4.10(iii)", "4.10(iv)", "4.11", "B.2", "C.1", "C.3-C.10", "C.11", "D.2-D.3", "D.4", "D.5"),
    *("E.2-E.3", "E.5-E.6", "E.7", "F.2-F.3", "F.4", "F.5", "F.6"),
)
"""The statements of theory §10."""


def network(seed: int, m: int = 24, dim: int = 5, kappa1: float = 0.1, **more: int) -> fullnet.Network:
    return fullnet.initial_network(m, dim, kappa1, 1.0, seed, **more)


def seed_with(counts: tuple[int, int], m: int) -> fullnet.Network:
    """Return the first draw whose living counts are as wanted."""
    draws = (network(seed, m) for seed in range(10_000))
    return next(
        net for net in draws if tuple(int(mask.sum()) for mask in living_by_rule(net, problem())) == counts
    )


@pytest.fixture(scope="module")
def four_phase() -> fullnet.Network:
    return seed_with((6, 3), 24)


@pytest.fixture(scope="module")
def found(four_phase: fullnet.Network) -> Ledger:
    return ledger(four_phase, problem())


def measure(statement: str, e: Evidence) -> bool | None:
    return row(next(one for one in STATEMENTS if one.id == statement), e).conclusion


def test_every_statement_of_the_note_has_a_row(found: Ledger) -> None:
    ids = [one.id for one in STATEMENTS]
    assert len(set(ids)) == len(ids)
    assert [one.id for one in found.rows] == ids
    for told in TOLD:
        assert any(one.startswith(told) for one in ids), told


def test_what_needs_no_small_initialisation_holds(found: Ledger) -> None:
    for statement in (
        *("4.1-S1(i)", "4.1-S2(i)", "4.5-small-κ₁", "4.11-KKT", "4.11-not-optimal", "4.11-living"),
        *("B.2", "C.1", "C.11", "D.2-D.3", "D.4(i)", "D.5", "E.5-E.6", "E.7", "F.2-F.3"),
        *("F.4(r)", "F.4(P,Q)", "F.5(f+)", "F.5(f-)", "F.6(norm)", "F.6(angle)"),
    ):
        assert found.row(statement).verdict is Verdict.HOLDS, found.row(statement)


def test_hypothesis_on_kappa1_is_not_met_yet_conclusions_are_seen(found: Ledger) -> None:
    small = [one for one in found.rows if one.rescaled is not None]
    assert all(one.verdict is Verdict.NOT_MET and "asked ≲ Δ⁸" in one.why for one in small)
    seen = Counter(one.conclusion for one in small)
    assert seen[True] > 20
    # the plateau's p-law: (1+p)(1−p^{−1/2})/p has not settled for p ≤ 8, whatever κ₁
    assert found.row("4.5-T_plat(p)").conclusion is False
    assert {one.id for one in small if one.rescaled and one.rescaled.seen is False} >= {"4.5-T_plat(p)"}
    assert found.rescaled_kappa1 == pytest.approx((3.141592653589793 / 30) ** 8)


def test_alignment_of_the_negative_neurons_needs_the_small_initialisation(found: Ledger) -> None:
    one = found.row("4.1-S2(iii)")
    assert one.conclusion is False
    assert one.rescaled is not None
    assert one.rescaled.seen is True
    assert one.constant is not None
    assert one.constant < 0.95


def test_conclusions_are_plain_and_constants_finite_or_none(found: Ledger) -> None:
    for one in found.rows:
        assert one.conclusion is None or type(one.conclusion) is bool, one.id
        assert one.constant is None or one.constant == one.constant, one.id


def test_a_large_initialisation_breaks_the_statements_about_the_small_one() -> None:
    e = evidence(network(0, m=40, dim=20, kappa1=3.0), problem())
    for statement in ("4.1-S1(iii)", "4.1-S4(f+)", "4.6-patterns", "4.7-quiet", "4.9-patterns"):
        assert measure(statement, e) is False, statement


def test_a_two_phase_network_does_not_show_what_four_phase_ones_do() -> None:
    e = evidence(seed_with((4, 5), 24), problem())
    assert e.alpha > 1 / e.cosine
    assert measure("4.10(iv)", e) is False
    for statement in ("4.4-pattern", "4.6-time", "4.7-quiet", "4.8", "4.9-patterns"):
        one = row(next(s for s in STATEMENTS if s.id == statement), e)
        assert (one.verdict, one.conclusion) == (Verdict.NOT_MET, None)
    assert measure("4.11-living", e) is True


def test_measurements_notice_a_wrong_problem(four_phase: fullnet.Network) -> None:
    """Living fractions that are not the network's own must not fit its prediction ODE or its limit."""
    e = evidence(four_phase, problem())
    wrong = evidence(four_phase, problem())
    vars(wrong)["flow"] = e.flow
    vars(wrong)["phases"] = replace(e.phases, positive=e.positive[1:])
    for statement in ("D.2-D.3", "E.5-E.6", "F.2-F.3", "F.4(r)", "4.6-once", "4.10(ii)"):
        assert measure(statement, e) is True, statement
        assert measure(statement, wrong) is False, statement


def test_no_dead_neuron_means_theorem_4_11_has_no_hypothesis() -> None:
    e = evidence(seed_with((1, 1), 2), problem())
    one = row(next(s for s in STATEMENTS if s.id == "4.11-not-optimal"), e)
    assert (one.verdict, one.conclusion) == (Verdict.NOT_MET, False)


@pytest.mark.parametrize("positive", [0, pytest.param(20, marks=pytest.mark.slow)])
def test_networks_of_one_sign_have_a_ledger(positive: int) -> None:
    found = ledger(network(1, 20, positive=positive), problem())
    assert found.row("4.9-loss").conclusion is None
    assert found.row("B.2").verdict is Verdict.HOLDS


def test_aggregate_counts_and_bounds_fractions(found: Ledger) -> None:
    failing = replace(
        found, rows=tuple(replace(one, conclusion=False, verdict=Verdict.FAILS) for one in found.rows)
    )
    total = aggregate([found, failing, found])
    one = next(summary for summary in total.summaries if summary.id == "B.2")
    assert (one.seen, one.measurable, one.verdict) == (2, 3, Verdict.FAILS)
    assert one.counts == {Verdict.HOLDS: 2, Verdict.FAILS: 1, Verdict.NOT_MET: 0}
    assert one.interval is not None
    assert one.interval[0] < 2 / 3 < one.interval[1]
    with pytest.raises(InputError, match="ledgers"):
        aggregate([])


def test_logistic_loss_and_foreign_scales_are_refused() -> None:
    with pytest.raises(InputError, match="loss"):
        evidence(network(0), problem(loss="logistic"))
    with pytest.raises(InputError, match="network"):
        evidence(network(0), problem(kappa2=2))


@pytest.mark.parametrize("seeds", ["1", "2"])
def test_command_writes_the_ledger_whatever_the_verdicts(
    seeds: str, found: Ledger, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failing = replace(found, rows=tuple(replace(one, verdict=Verdict.FAILS) for one in found.rows))
    monkeypatch.setattr("reduced.theorems.ledger", lambda *_: failing)
    words = ["theorems", "--m", "12", "--dim", "3", "--seeds", seeds]
    assert main([*words, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert [one["id"] for one in record["statements"]] == [one.id for one in STATEMENTS]
    for one in record["statements"]:
        assert one["verdict"] == "fails"
        assert one["claim"]
        assert one["measured"]
    assert main(words) == 0
    assert "4.1-S2(iii)" in capsys.readouterr().out


@pytest.mark.slow
def test_command_measures_a_small_network(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["theorems", "--m", "12", "--dim", "3", "--seed", "4", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert {one["verdict"] for one in record["statements"]} <= {"holds", "fails", "hypothesis not met"}


@pytest.mark.parametrize(
    "words", [["--seeds", "0"], ["--table", "3"], ["--p", "1/2"], ["--loss", "logistic"], ["--until", "1"]]
)
def test_command_refuses_bad_input(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["theorems", "--m", "4", "--dim", "2", *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.strip().splitlines()) == 1


@pytest.mark.slow
def test_paper_setting_over_seeds() -> None:
    nets = [network(seed, 100, 20) for seed in range(3)]
    total = aggregate(ledger(net, problem()) for net in nets)
    seen = {one.id: (one.seen, one.measurable) for one in total.summaries}
    assert seen["4.1-S2(iii)"] == (0, 3)
    assert seen["4.5-T_plat(p)"] == (0, 3)
    for statement in (
        "4.4-pattern",
        "4.5-accuracy",
        "4.6-once",
        "4.8",
        "4.9-loss",
        "4.10(i)",
        "4.10(ii)",
        "E.7",
    ):
        assert seen[statement] == (3, 3), statement

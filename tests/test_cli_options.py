"""Claim: what an option says is done, or one sentence in one style says why not."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from decimal import Decimal

import pytest

CASE = ("--alpha-plus", "1/4", "--alpha-minus", "3/20")
TINY = ("--m", "6", "--dim", "3", "--seed", "1")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["plateau", "--digits", "50.5"], "digits: expected an integer, got '50.5'"),
        (["plateau", "--m", "1e3", "--distribution"], "m: expected an integer, got '1e3'"),
        (["simulate", "--seed", "x"], "seed: expected an integer, got 'x'"),
        (["simulate", "--seed", "1_0"], "seed: expected an integer, got '1_0'"),
        (["gd", "--steps", ""], "steps: expected an integer, got ''"),
        (["theorems", "--seeds", "inf"], "seeds: expected an integer, got 'inf'"),
        (["perturb", "--directions", "٣"], "directions: expected an integer, got '٣'"),
        (["sweep", "--workers", "two"], "workers: expected an integer, got 'two'"),
        (
            ["plateau", "--budget", "1e999"],
            "budget: expected a positive number of seconds, below 1e9, got '1e999'",
        ),
        (["sweep", "--budget", "-1"], "budget: expected a positive number of seconds, below 1e9, got '-1'"),
        (
            ["plateau", "--method", "enclosure", "--loss", "logistic"],
            "method: expected taylor: loss logistic has no closed form, got enclosure",
        ),
        (
            ["predict", "--at", "1", "--method", "enclosure", "--loss", "logistic"],
            "method: expected taylor: loss logistic has no closed form, got enclosure",
        ),
    ],
)
def test_one_sentence_names_the_option(run_cli: Callable, words: list[str], sentence: str) -> None:
    if "enclosure" in words:
        pytest.importorskip("flint")
    for form in ([], ["--json"]):
        ended = run_cli(*words, *form)
        assert (ended.code, ended.out, ended.err) == (2, "", f"reduced: {sentence}\n")


def test_the_last_flow_time_ends_a_descent(run_cli: Callable) -> None:
    """steps × lr never passes --until, and --steps may end a run before."""
    words = ("gd", *TINY, "--lr", "0.1", "--lr", "0.3", "--lr", "0.07", "--steps", "9", "--json")
    until = run_cli(*words, "--until", "0.7").record["runs"]
    assert [run["steps"] for run in until] == [7, 2, 9]
    assert [run["steps"] for run in run_cli(*words).record["runs"]] == [9, 9, 9]
    assert run_cli(*words, "--until", "1e-3").record["runs"][0]["steps"] == 0


def test_the_budget_ends_the_collapsed_commands(run_cli: Callable) -> None:
    slow = ("--loss", "logistic", "--delta", "1e-5", "--digits", "200", *CASE, "--budget", "0.3")
    for words in (["plateau"], ["predict", "--at", "1e9"]):
        begun = time.perf_counter()
        ended = run_cli(*words, *slow, "--json")
        assert (ended.code, ended.err) == (3, "")
        assert ended.record == {"outcome": "budget"}
        assert time.perf_counter() - begun < 5
        assert run_cli(*words, *slow).out == "the budget was used up before the end\n"
    ended = run_cli("limit", "--digits", "10000", "--budget", "1e-3", "--json")
    assert (ended.code, ended.record) == (3, {"outcome": "budget"})
    assert run_cli("limit", "--budget", "60").code == 0


def test_predict_encloses_what_the_closed_form_says(run_cli: Callable) -> None:
    pytest.importorskip("flint")
    words = ("predict", *CASE, "--at", "0", "--at", "100", "--at", "3800", "--at", "1e1000", "--digits", "20")
    exact, enclosed = (run_cli(*words, "--method", way, "--json").record for way in ("exact", "enclosure"))
    assert enclosed["method"] == "enclosure"
    for one, ball in zip(exact["points"], enclosed["points"], strict=True):
        assert ball["phase"] == one["phase"]
        for name in ("f_plus", "f_minus", "loss", "accuracy", "angle_plus", "angle_minus"):
            middle, radius = ball[name], ball["radius"][name]
            if one[name] is None:
                assert middle is None
                continue
            unit = Decimal(1).scaleb(Decimal(one[name]).adjusted() - 19)
            assert Decimal(radius) <= unit / 2
            assert abs(Decimal(middle) - Decimal(one[name])) <= Decimal(radius) + unit / 2
    people = run_cli(*words, "--method", "enclosure").out
    assert "± at most" in people


def test_logistic_predictions_have_no_law_and_say_their_method(run_cli: Callable) -> None:
    found = run_cli("predict", *CASE, "--loss", "logistic", "--at", "10", "--digits", "10", "--json").record
    assert found["method"] == "taylor"
    assert found["angle_law"] == {"plus": None, "minus": None}


def test_leading_laws_say_how_far_off_they_are(run_cli: Callable) -> None:
    """Off by = law/time − 1, here from the times and laws of the JSON; nothing where a time is infinite."""
    for words in (CASE, ("--delta", "pi/4", "--p", "3", *CASE)):
        record, people = run_cli("plateau", *words, "--json").record, run_cli("plateau", *words).out
        for name in ("T_plat", "T_II"):
            off = 100 * (Decimal(record["asymptotic"][name]) / Decimal(record["times"][name]) - 1)
            shown = f"{off:+.0f}" if abs(off) > 100 else f"{off:+.2g}"
            assert re.search(rf"{name} +{record['asymptotic'][name]} +{re.escape(shown)} %\n", people)
    empty = run_cli("plateau", "--alpha-minus", "0").out
    assert "T_plat     –" in empty


@pytest.mark.slow
def test_crosscheck_shows_the_digits_asked_and_how_descents_ended(
    run_cli: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    words = ("crosscheck", *TINY, "--m", "20", "--lr", "0.5", "--lr", "0.1")
    record, people = run_cli(*words, "--digits", "25", "--json").record, run_cli(*words, "--digits", "25").out
    row = next(check for check in record["checks"] if check["quantity"] == "T_II")
    assert len(row["exact"].replace(".", "")) >= 24
    for side in ("reduced", "exact", "full"):
        assert row[side] in people
    few = run_cli(*words).out
    assert f"{Decimal(row['reduced']):.9g} " in few
    assert row["reduced"] not in few
    descents = run_cli("gd", *TINY, "--m", "20", "--lr", "0.5", "--lr", "0.1", "--json").record["runs"]
    assert [row["outcome"] for row in record["gd"]] == [row["outcome"] for row in descents]
    assert "lost +/−   ended" in people


def test_never_is_inf_everywhere(run_cli: Callable) -> None:
    for words in (
        ["plateau", "--alpha-plus", "0.2", "--alpha-minus", "0.25"],
        ["plateau", "--alpha-minus", "0", "--sensitivities", "--distribution"],
        ["simulate", "--m", "2", "--dim", "2"],
    ):
        for form in ([], ["--json"]):
            assert "Infinity" not in run_cli(*words, *form).out

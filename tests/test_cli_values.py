"""Claim: what the commands print is what the theory and the independent reference values say.

Every real number in JSON is a decimal string.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parent / "data"
PUBLIC = json.loads((DATA / "reduced_public.json").read_text())["pub"]["values"]
NETWORK = json.loads((DATA / "network_public1.json").read_text())
WEIGHTS = str(DATA / "network_public1.npz")
CASE = ("--alpha-plus", "1/4", "--alpha-minus", "3/20")
WORDS = {
    "regime",
    "method",
    "outcome",
    "loss",
    "phase",
    "kind",
    "from",
    "to",
    "words",
    "form",
    "case",
    "notes",
}


def _same(text: str, reference: str, digits: int) -> bool:
    """Tell whether two decimal texts agree to one unit of the given significant digit."""
    expected = Decimal(reference)
    return abs(Decimal(text) - expected) <= Decimal(1).scaleb(expected.adjusted() - digits + 1)


def _reals(record: Any, key: str = "") -> Iterator[Any]:
    if isinstance(record, dict):
        for name, value in record.items():
            yield from _reals(value, name)
    elif isinstance(record, list):
        for value in record:
            yield from _reals(value, key)
    elif key not in WORDS and record is not None:
        yield record


def test_plateau_gives_the_reference_times_and_predictions(run_cli: Callable) -> None:
    found = run_cli("plateau", *CASE, "--digits", "38", "--json").record
    assert (found["regime"], found["outcome"], found["method"]) == ("four-phase", "finished", "exact")
    for name in ("T_plat", "T_II", "T_III"):
        assert _same(found["times"][name], PUBLIC[name], 38)
    assert _same(found["predictions"]["T_plat"][0], PUBLIC["f_plus_at_T_plat"], 38)
    assert found["predictions"]["T_plat"][1] == "0"
    for name in ("T_II", "T_III"):
        for text, reference in zip(found["predictions"][name], PUBLIC[f"f_at_{name}"], strict=True):
            assert _same(text, reference, 38)


def test_plateau_by_taylor_gives_the_same_digits(run_cli: Callable) -> None:
    exact, taylor = (
        run_cli("plateau", *CASE, "--method", way, "--json").record for way in ("exact", "taylor")
    )
    assert taylor["method"] == "taylor"
    assert (exact["times"], exact["predictions"]) == (taylor["times"], taylor["predictions"])


@pytest.mark.parametrize(
    ("alpha_minus", "regime", "T_II"),
    [
        ("0.19", "four-phase", "36113130093.299981304"),
        ("0.2", "three-phase", "1.9334345398216657663e29"),
        ("0.25", "two-phase", "inf"),
    ],
)
def test_regimes_of_the_theory_note(run_cli: Callable, alpha_minus: str, regime: str, T_II: str) -> None:
    # the note's numbers belong to the doubles 0.2 and 0.19: T_II is 500 times as sensitive to them
    plus, minus = (str(Decimal(float(value))) for value in ("0.2", alpha_minus))
    found = run_cli("plateau", "--alpha-plus", plus, "--alpha-minus", minus, "--json").record
    assert found["regime"] == regime
    assert found["times"]["T_II"] == T_II or _same(found["times"]["T_II"], T_II, 20)
    assert (found["times"]["T_III"] == "inf") == (regime != "four-phase")
    assert (found["predictions"]["T_II"] is None) == (T_II == "inf")


def test_an_empty_group_is_an_infinite_plateau_and_no_error(run_cli: Callable) -> None:
    for option in ("--alpha-plus", "--alpha-minus"):
        ended = run_cli("plateau", option, "0", "--json")
        assert (ended.code, ended.record["outcome"]) == (0, "plateau-infinite")
        assert ended.record["times"]["T_plat"] == "inf"
        assert "plateau is infinite" in run_cli("plateau", option, "0").out


def test_cross_entropy_is_logistic_by_taylor(run_cli: Callable) -> None:
    found = [
        run_cli("plateau", *CASE, "--digits", "12", "--loss", name, "--json").record
        for name in ("logistic", "cross-entropy")
    ]
    assert found[0] == found[1]
    assert found[0]["method"] == "taylor"
    assert found[0]["asymptotic"] == {"T_plat": "862.363109569", "T_II": "6181.53727764"}


def test_predict_gives_the_reference_in_phase_iv(run_cli: Callable) -> None:
    rows = PUBLIC["phaseIV"]
    times = [word for t, _, _ in rows for word in ("--at", t)]
    points = run_cli("predict", *CASE, *times, "--at", "1e1000", "--digits", "38", "--json").record["points"]
    for point, (_, f_plus, f_minus) in zip(points, rows, strict=False):
        assert point["phase"] == "IV"
        assert _same(point["f_plus"], f_plus, 38)
        assert _same(point["f_minus"], f_minus, 38)
        assert (point["accuracy"], point["angle_plus"]) == ("1", "0")
    assert 0 < Decimal(points[-1]["angle_minus"]) < Decimal(points[0]["angle_minus"]) < 1


def test_limit_gives_the_reference(run_cli: Callable) -> None:
    found = run_cli("limit", *CASE, "--digits", "38", "--json").record
    assert _same(found["rho"], PUBLIC["rho"], 38)
    assert found["lambda_ratio"] == found["rho"]
    assert _same(found["gamma"], PUBLIC["gamma_limit"], 38)
    for text, reference in zip(found["v_minus"], PUBLIC["v_minus"], strict=True):
        assert _same(text, reference, 38)
    assert found["kink_multiplier"]["minus"] is None
    assert 0 < Decimal(found["kink_multiplier"]["plus"]) < 1
    assert Decimal(found["gamma_ratio"]) < 1


@pytest.mark.parametrize(
    ("words", "method", "digits"),
    [(["--precision", "26"], "exact", 25), ([], "exact", 12), (["--method", "ode"], "ode", 10)],
)
def test_simulate_gives_the_reference_flow(
    run_cli: Callable, words: list[str], method: str, digits: int
) -> None:
    found = run_cli("simulate", "--init", WEIGHTS, *words, "--json").record
    assert found["method"] == method
    assert found["living"] == {"positive": 23, "negative": 13, "dead": 64}
    for name, reference in {
        **NETWORK["times"],
        "last_phase_one_event": NETWORK["last_phase_one_event"],
    }.items():
        assert _same(found["times"][name], reference, digits)
    for name, pair in NETWORK["predictions"].items():
        for text, reference in zip(found["predictions"][name], pair, strict=True):
            assert _same(text, reference, digits)
    times = [Decimal(event["t"]) for event in found["events"]]
    assert times == sorted(times)
    assert {event["kind"] for event in found["events"]} <= {"cross", "slide", "leave", "die"}
    assert found["plateaus"][-1]["end"] == found["times"]["T_plat"]
    assert _same(found["plateaus"][-1]["level"], "0.8", 15)


def test_simulate_tells_never_from_not_yet(run_cli: Callable) -> None:
    for words in ([], ["--method", "ode"], ["--precision", "18"]):
        words = ["--until", "1000", *words]
        times = run_cli("simulate", "--init", WEIGHTS, *words, "--json").record["times"]
        assert _same(times["T_plat"], NETWORK["times"]["T_plat"], 10)
        assert times["T_II"] is None
        assert times["T_III"] is None


@pytest.mark.parametrize("method", ["exact", "ode"])
def test_doubles_print_no_digit_their_error_estimate_does_not_leave(run_cli: Callable, method: str) -> None:
    found = run_cli("simulate", "--init", WEIGHTS, "--method", method, "--json").record
    for name, reference in NETWORK["times"].items():
        printed = Decimal(found["times"][name])
        known = len(printed.as_tuple().digits)
        assert known <= 17
        assert abs(printed - Decimal(reference)) <= Decimal(1).scaleb(printed.adjusted() - known + 1)


def test_gd_loses_the_neurons_the_reference_lost(run_cli: Callable) -> None:
    reference = json.loads((DATA / "descent_public.json").read_text())["runs"][0]
    run = run_cli("gd", "--init", WEIGHTS, "--lr", "1/100", "--json").record["runs"][0]
    assert (run["lr"], run["steps"]) == ("0.01", 150_000)
    assert run["living"]["negative"] == reference["living_negative"]
    assert run["lost_to_step_size"]["negative"] == 13 - reference["living_negative"]
    assert abs(float(run["times"]["T_plat"]) - reference["T_plat"]) <= 0.01
    assert float(run["times"]["T_II"]) == reference["T_II"]


def test_gd_repeats_the_learning_rate(run_cli: Callable) -> None:
    words = ("--m", "10", "--dim", "3", "--steps", "5", "--until", "10", "--lr", "1e-2", "--lr", "3/1000")
    runs = run_cli("gd", *words, "--subgradient", "1/2", "--json").record["runs"]
    assert [run["lr"] for run in runs] == ["0.01", "0.003"]


def test_perturb_finds_the_ascent_only_in_the_dead(run_cli: Callable) -> None:
    found = run_cli("perturb", "--init", WEIGHTS, "--json").record
    assert found["living_only"]["local_optimum"] is True
    assert float(found["living_only"]["best_slope"]) < 1e-12
    revived = found["revive_dead"]
    assert Decimal(revived["slope_predicted"]) > 0
    assert _same(revived["slope_measured"], revived["slope_predicted"], 8)
    assert found["local_optimum"] is False


def test_crosscheck_agrees_and_says_so_with_its_exit_code(run_cli: Callable) -> None:
    ended = run_cli("crosscheck", "--init", WEIGHTS, "--lr", "0.01", "--json")
    found = ended.record
    assert (ended.code, found["agree"], found["outcome"]) == (0, True, "finished")
    assert all(check["agree"] for check in found["checks"])
    by_name = {check["quantity"]: check for check in found["checks"]}
    for name in ("T_plat", "T_II", "T_III_PT", "T_III"):
        assert _same(by_name[name]["full"], NETWORK["times"][name], 10)
        assert _same(by_name[name]["exact"], NETWORK["times"][name], 25)
    assert found["gd"][0]["lost_to_step_size"]["negative"] == 11


def test_crosscheck_exits_1_when_a_row_disagrees(run_cli: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    import reduced.crosscheck
    from reduced.crosscheck import Check, CrossCheck
    from reduced.records import Outcome

    row = Check("T_plat", "1", "1", "2", "1", "1e-9", False)
    found = CrossCheck((row,), False, Outcome.FINISHED, None, {}, (), (), None)
    monkeypatch.setattr(reduced.crosscheck, "crosscheck", lambda *_, **__: found)
    monkeypatch.setattr(reduced.crosscheck, "DEFAULT_RATES", ())
    ended = run_cli("crosscheck", "--m", "4", "--dim", "2")
    assert ended.code == 1
    assert "1 of 1 rows disagree" in ended.out


def test_derive_gives_the_table_of_the_phases(run_cli: Callable) -> None:
    import sympy

    names = {name: sympy.Symbol(name, positive=True) for name in ("p", "Delta", "kappa2")}
    plus, minus = sympy.symbols("alpha_plus alpha_minus", positive=True)
    k, s2, c = names["kappa2"] ** 2, sympy.sin(names["Delta"]) ** 2, sympy.cos(names["Delta"])
    expected = {
        "II": (k * plus, k * plus * c, k * plus * c, k * (plus + minus * s2)),
        "III": (k * plus * s2, 0, 0, k * minus * s2),
        "IV": (k * (plus * s2 + minus), k * minus * c, k * minus * c, k * minus),
    }
    found = run_cli("derive", "--format", "json").record
    point = {"p": 3, "Delta": 0.3, "alpha_plus": 0.25, "alpha_minus": 0.125, "kappa2": 1.5}
    for name, row in expected.items():
        for letter, value in zip("ABCD", row, strict=True):
            derived = sympy.Float(_evaluated(found["phases"][name][letter], point))
            by_hand = sympy.sympify(value).subs({s: point[s.name] for s in sympy.sympify(value).free_symbols})
            assert abs(derived - by_hand) < 1e-14
    assert set(found["limit"]) == {"four-phase", "three-phase", "two-phase"}
    assert [course["fate"] for course in found["phases"]["I"]].count("joins K_minus") == 2


def _evaluated(formula: str, point: dict[str, float]) -> float:
    """Evaluate one printed formula by compiling it as the body of a function of its parameters."""
    import math

    source = f"def value({', '.join(point)}):\n    return {formula}\n"
    space: dict[str, Any] = {"sin": math.sin, "cos": math.cos, "sqrt": math.sqrt}
    exec(compile(source, "formula", "exec"), space)  # the text is this package's own output
    result: float = space["value"](**point)
    return result


def test_derive_python_is_a_module_that_runs(run_cli: Callable) -> None:
    source = run_cli("derive", "--format", "python").out
    space: dict[str, Any] = {}
    exec(compile(source, "derived", "exec"), space)
    limit = space["limit_four_phase"](Delta=0.2, alpha_minus=0.15, alpha_plus=0.25, kappa2=1.0)
    ratio = run_cli("limit", *CASE, "--delta", "0.2", "--json").record["rho"]
    assert abs(limit[0] - float(ratio)) < 1e-14


@pytest.mark.parametrize("columns", ["80", "100"])
def test_derive_says_what_each_condition_means(
    run_cli: Callable, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    for name, count in (("II", 4), ("III", 8), ("IV", 4)):
        lines = run_cli("derive", "--phase", name).out.splitlines()
        conditions = run_cli("derive", "--phase", name, "--json").record["phases"][name]["conditions"]
        assert len(conditions) == count
        for condition in conditions:
            group, _, words = condition["reason"].partition(": ")
            said = f"{group[0]}{'₊' if group == 'K_plus' else '₋'}: {words.split(' x_')[0]} x"
            (line,) = [
                line
                for line in lines
                if line.strip().startswith(condition["relation"] + " ") and said in line
            ]
            assert len(line) <= int(columns)


def test_derive_latex_and_text_show_every_phase(run_cli: Callable) -> None:
    assert run_cli("derive", "--phase", "II", "--format", "latex").out.count("&=") == 2
    text = run_cli("derive", "--phase", "III").out
    assert "alpha_plus*kappa2**2*sin(Delta)**2" in text


@pytest.mark.parametrize(
    "words",
    [
        ["plateau"],
        ["predict", "--at", "0", "--at", "1e30"],
        ["limit"],
        ["simulate"],
        ["simulate", "--method", "exact", "--m", "12"],
        ["gd", "--steps", "10", "--until", "100"],
        ["perturb"],
    ],
)
def test_every_real_in_json_is_a_decimal_string(run_cli: Callable, words: list[str]) -> None:
    ended = run_cli(*words, "--json")
    assert ended.code == 0
    found = list(_reals(ended.record))
    assert found
    for value in found:
        assert isinstance(value, str | int)
        if isinstance(value, str):
            assert not Decimal(value).is_nan() or set(value) <= set("+-0")


@pytest.mark.parametrize("digits", [30, 120])
def test_tables_never_cut_a_number(run_cli: Callable, digits: int) -> None:
    people = run_cli("plateau", "--digits", str(digits))
    programs = run_cli("plateau", "--digits", str(digits), "--json").record
    assert "…" not in people.out
    for time in programs["times"].values():
        assert time in people.out.split()


def test_options_that_do_not_count_are_named(run_cli: Callable) -> None:
    notes = run_cli("simulate", "--init", WEIGHTS, "--seed", "3", "--alpha-plus", "0.2", "--json").record[
        "notes"
    ]
    assert any("--seed" in line for line in notes)
    assert any("--alpha-plus" in line for line in notes)


def test_derive_small_angle_gives_the_three_terms(run_cli: Callable) -> None:
    """The exported module evaluates to the known constants −0.1226 and −595.400 (p = 4, α± = 1/4, 3/20)."""
    import inspect

    import mpmath

    source = run_cli("derive", "--phase", "small-angle", "--format", "python").out
    module: dict = {}
    exec(compile(source, "small_angle", "exec"), module)
    values = {"p": 4, "alpha_plus": 0.25, "alpha_minus": 0.15, "kappa2": 1}
    for name, second in (("small_angle_t_plat", -0.1226), ("small_angle_t_ii", -595.400)):
        function = module[name]
        given = [mpmath.mpf(values.get(each, 0)) for each in inspect.signature(function).parameters]
        assert float(function(*given)[1]) == pytest.approx(second, rel=1e-4)

"""Edge cases of the end of training have clear outcomes on the command line, and runs show their KKT residual."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

WEIGHTS = str(Path(__file__).parent / "data" / "network_public1.npz")
PLUS, MINUS = np.array([0.1045, -0.9945, 0.0]), np.array([-0.1045, -0.9945, 0.0])
PLUS_TOO, MINUS_TOO = np.array([0.1045, -0.9945, 0.3]), np.array([-0.1045, -0.9945, 0.2])


def saved(tmp_path: Path, rows: list[np.ndarray], signs: list[int]) -> str:
    path = tmp_path / "weights.npz"
    np.savez(path, W=0.01 * np.array(rows), sign=np.array(signs))
    return str(path)


def test_alpha_equal_to_the_cosine_is_decided_by_symbols(run_cli: Callable) -> None:
    """At α = c the regime is three-phase, K₋ lies on its kink with multiplier 1 and both angles end at 0."""
    border = ("--alpha-plus", "1/4", "--alpha-minus", "cos(pi/15)/4")
    found = run_cli("limit", *border, "--json").record
    assert found["regime"] == "three-phase"
    assert found["kink_multiplier"]["minus"] == "1"
    assert found["angle_law"] == {"plus": "0", "minus": "0"}
    below = run_cli("limit", "--alpha-plus", "1/4", "--alpha-minus", "cos(pi/15)/4 - 1e-40", "--json").record
    assert below["regime"] == "four-phase"
    assert abs(Decimal(below["gamma"]) / Decimal(found["gamma"]) - 1) < Decimal("1e-29")
    times = run_cli("plateau", *border, "--json").record["times"]
    assert Decimal("1e10") < Decimal(times["T_II"]) < Decimal("1e100")
    assert times["T_III"] == "inf"
    other = run_cli("limit", "--alpha-plus", "1/4", "--alpha-minus", "1/(4*cos(pi/15))", "--json").record
    assert other["regime"] == "two-phase"
    assert other["kink_multiplier"]["plus"] is None


@pytest.mark.parametrize("option", ["--alpha-plus", "--alpha-minus"])
def test_no_living_neuron_of_one_sign(run_cli: Callable, option: str) -> None:
    found = run_cli("limit", option, "0", "--json").record
    assert (found["regime"], found["gamma"], found["gamma_ratio"]) == (None, "0", "0")
    assert found["angle_law"] == {"plus": None, "minus": None}
    assert Decimal(found["gamma_max"]) > 0
    sided = run_cli("limit", option, "0", option.replace("alpha", "beta"), "0", "--json").record
    assert (sided["gamma_max"], sided["gamma_ratio"]) == ("0", None)


def test_the_law_stands_beside_the_angles(run_cli: Callable) -> None:
    words = ("--at", "1", "--at", "1e1000", "--alpha-plus", "1/4", "--alpha-minus", "3/20")
    found = run_cli("predict", *words, "--json").record
    early, late = found["points"]
    assert (early["angle_plus_law"], early["angle_minus_law"]) == (None, None)
    assert (late["angle_plus"], late["angle_plus_law"], found["angle_law"]["plus"]) == ("0", "0", "0")
    assert float(late["angle_minus"]) == pytest.approx(float(late["angle_minus_law"]), rel=3e-3)
    log, shift = 1000 * np.log(10), float(found["angle_shift"]["minus"])
    shifted = float(found["angle_law"]["minus"]) / (log + shift)
    assert float(late["angle_minus"]) == pytest.approx(shifted, rel=1e-8)
    assert found["angle_law"] == run_cli("limit", *words[4:], "--json").record["angle_law"]
    assert "its law C₋/log t" in run_cli("predict", *words).out
    logistic = run_cli("limit", "--loss", "logistic", "--json").record
    assert logistic["angle_law"] == {"plus": None, "minus": None}


def test_perturb_without_dead_neurons_is_optimal(run_cli: Callable, tmp_path: Path) -> None:
    path = saved(tmp_path, [PLUS, PLUS_TOO, MINUS, MINUS_TOO], [1, 1, -1, -1])
    found = run_cli("perturb", "--init", path, "--json").record
    assert found["living"] == {"positive": 2, "negative": 2, "dead": 0}
    assert found["local_optimum"] is True
    assert (found["gamma_ratio"], found["revive_dead"]["form"]) == ("1", "none")
    assert "no neuron is dead" in run_cli("perturb", "--init", path).out.replace("\n", " ")


def test_perturb_without_a_living_negative_neuron(run_cli: Callable, tmp_path: Path) -> None:
    path = saved(tmp_path, [PLUS, -MINUS], [1, -1])
    ended = run_cli("perturb", "--init", path, "--json")
    found = ended.record
    assert (ended.code, found["outcome"], found["gamma_limit"]) == (0, "plateau-infinite", "0")
    assert found["living"] == {"positive": 1, "negative": 0, "dead": 1}
    assert (found["regime"], found["local_optimum"], found["living_only"]) == (None, None, None)
    assert Decimal(found["gamma_max"]) == pytest.approx(Decimal("0.10395584540887966"))
    assert "no living negative neuron" in run_cli("perturb", "--init", path).out


def test_perturb_with_all_of_one_sign(run_cli: Callable, tmp_path: Path) -> None:
    path = saved(tmp_path, [PLUS, PLUS_TOO, -PLUS], [1, 1, 1])
    found = run_cli("perturb", "--init", path, "--json").record
    assert (found["outcome"], found["gamma_max"], found["gamma_ratio"]) == ("plateau-infinite", "0", None)
    assert "all neurons have one sign" in found["words"]


def test_perturb_where_nobody_lives(run_cli: Callable, tmp_path: Path) -> None:
    found = run_cli("perturb", "--init", saved(tmp_path, [-PLUS, -MINUS], [1, -1]), "--json").record
    assert found["living"] == {"positive": 0, "negative": 0, "dead": 2}
    assert "no living positive or negative neuron" in found["words"]


def test_perturb_with_one_dead_class_empty_rebalances(run_cli: Callable, tmp_path: Path) -> None:
    path = saved(tmp_path, [PLUS, PLUS_TOO, MINUS, -PLUS], [1, 1, -1, -1])
    found = run_cli("perturb", "--init", path, "--json").record
    assert found["revive_dead"]["form"] == "rebalanced"
    assert Decimal(found["revive_dead"]["slope_predicted"]) > 0
    assert [case["case"] for case in found["revive_dead"]["cases"]] == ["negative", "one-neuron"]
    assert found["local_optimum"] is False


def test_two_neurons(run_cli: Callable) -> None:
    small = ("--m", "2", "--dim", "3")
    for seed in range(6):
        found = run_cli("perturb", *small, "--seed", str(seed), "--json").record
        alive = found["living"]["positive"] and found["living"]["negative"]
        assert found["outcome"] == ("finished" if alive else "plateau-infinite")
        assert found["local_optimum"] == (True if alive else None)


def test_residuals_along_the_flow(run_cli: Callable) -> None:
    words = ("perturb", "--init", WEIGHTS, "--at", "1e5", "--at", "1e8")
    found = run_cli(*words, "--json").record
    rows = found["residuals"]
    assert [float(row["t"]) for row in rows] == [1e5, 1e8, 1e12]
    residuals = [float(row["residual"]) for row in rows]
    assert residuals == sorted(residuals, reverse=True)
    # 1/residual is affine in log t
    slopes = np.diff(1 / np.array(residuals)) / np.diff(np.log([1e5, 1e8, 1e12]))
    assert slopes[0] == pytest.approx(slopes[1], rel=0.05)
    assert "KKT certificate of the weights along the run" in run_cli(*words).out


def test_residuals_along_gradient_descent(run_cli: Callable) -> None:
    """The descent's own living neurons name the limit: it loses negative ones to its step."""
    words = ("perturb", "--init", WEIGHTS, "--lr", "0.01", "--until", "300", "--at", "100")
    found = run_cli(*words, "--json").record
    first, last = found["residuals"]
    assert (float(first["t"]), float(last["t"])) == (100, 300)
    assert 0.001 < float(last["residual"]) < float(first["residual"]) < 0.1
    assert 0 < found["living"]["negative"] < 13
    assert found["local_optimum"] is False


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["--at", "-1"], "at"),
        (["--at", "1e13"], "at"),
        (["--lr", "0.01", "--at", "2000"], "at"),
        (["--lr", "0"], "lr"),
        (["--lr", "1e-30"], "steps"),
    ],
)
def test_bad_times_and_rates_are_named(run_cli: Callable, words: list[str], name: str) -> None:
    ended = run_cli("perturb", *words)
    assert ended.code == 2
    assert ended.err.startswith(f"reduced: {name}: expected")

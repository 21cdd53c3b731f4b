"""Claim: a table of points is all that simulate, gd and crosscheck need, and what they say fits such data."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

import fullnet
from reduced.cli.render import exponential_text

X = np.array([[1, 0.2], [0.8, 1], [1.2, 0.6], [-1, 0.1], [-0.7, -0.9], [-1.1, 0.5]])
Y = np.array([1.0, 1, 1, -1, -1, -1])
HEAVY = np.array([4.0, 1, 1, 1, 1, 2])
SHORT = ("--m", "10", "--until", "100")
TWO_POINT_WORDS = ("T_plat", "T_II", "T_III", "f₊")


@pytest.fixture(autouse=True)
def points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _write("points.csv", ",", None, np.column_stack([X, Y]))


def _write(name: str, separator: str, header: str | None, columns: np.ndarray) -> None:
    lines = [separator.join(f"{cell:g}" for cell in row) for row in columns]
    Path(name).write_text("\n".join([*([] if header is None else [header]), *lines]) + "\n")


def _flow(weights: np.ndarray | None = None) -> fullnet.Trajectory:
    data = fullnet.data_set(X, Y, weights)
    return fullnet.gradient_flow(fullnet.initial_network(10, 2, 0.1, 1.0, 0), data, 100.0)


def test_every_layout_gives_the_same_points() -> None:
    for separator in (",", ";", "\t"):
        _write("plain.txt", separator, None, np.column_stack([X, Y]))
        _write("named.csv", separator, separator.join(("y", "x1", "x2")), np.column_stack([Y, X]))
        header = separator.join(('"Weight"', '"x"', '"y"', '"Label"'))
        _write("weighted.csv", separator, header, np.column_stack([HEAVY, X, Y]))
        for name, weights in (("plain.txt", Y**2), ("named.csv", Y**2), ("weighted.csv", HEAVY)):
            found = fullnet.load_data(name)
            assert np.array_equal(found.X, X)
            assert np.array_equal(found.y, Y)
            np.testing.assert_allclose(found.weights, weights / weights.sum(), rtol=1e-15)


@pytest.mark.parametrize("words", [("simulate",), ("gd", "--steps", "20"), ("crosscheck",)])
def test_the_dimension_is_that_of_the_data(run_cli: Callable, words: tuple[str, ...]) -> None:
    asked = (*words, "--data", "points.csv", *SHORT)
    assert run_cli(*asked, "--json").record == run_cli(*asked, "--dim", "2", "--json").record
    ended = run_cli(*asked, "--dim", "3")
    assert (ended.code, ended.out) == (2, "")
    assert "expected dimension 2 of the data, got weights in dimension 3" in ended.err


@pytest.mark.parametrize("command", ["simulate", "gd", "crosscheck"])
@pytest.mark.parametrize("option", ["init", "data"])
def test_a_missing_file_is_told_before_anything_else(run_cli: Callable, command: str, option: str) -> None:
    ended = run_cli(command, f"--{option}", "missing.npz")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"reduced: {option}: missing.npz: expected an existing file, got none\n"


def test_simulate_tells_what_the_network_ends_with(run_cli: Callable) -> None:
    _write("weighted.csv", ",", "x1,x2,y,weight", np.column_stack([X, Y, HEAVY]))
    record = run_cli("simulate", "--data", "weighted.csv", *SHORT, "--json").record
    flow = _flow(HEAVY)
    W = flow.neurons(100.0)
    margin = Y * (np.maximum(X @ W.T, 0) @ flow.network.second_layer)
    loss = (HEAVY / HEAVY.sum()) @ np.exp(-margin)
    final = {name: float(value) for name, value in record["final"].items()}
    expected = {
        "t": 100.0,
        "accuracy": (HEAVY / HEAVY.sum()) @ (margin > 0),
        "loss": loss,
        "log_loss": np.log(loss),
        "norm": np.linalg.norm(W),
    }
    assert final == pytest.approx(expected, rel=1e-10)
    dead = int((X @ W.T <= 0).all(axis=0).sum())
    assert sum(record["died"].values()) == record["living"]["dead"] == dead


@pytest.mark.parametrize("log", [800.0, -800.0, 0.5])
def test_a_loss_past_the_doubles_is_still_a_number(log: float) -> None:
    written = Decimal(exponential_text(log, 1e-12, 30))
    assert abs(written / Decimal(log).exp() - 1) < Decimal("1e-11")
    assert len(written.as_tuple().digits) <= 12


def test_the_tables_for_people_speak_of_these_data(run_cli: Callable) -> None:
    shown = run_cli("simulate", "--data", "points.csv", *SHORT).out
    for words in ("accuracy", "log loss", "‖θ‖", "clusters", "neurons in each", "cross", "t = 100"):
        assert words in shown
    descent = run_cli("gd", "--data", "points.csv", *SHORT, "--steps", "50").out
    assert "accuracy" in descent
    compared = run_cli("crosscheck", "--data", "points.csv", *SHORT).out
    assert "compared up to t = 100" in compared
    for empty in ("Gradient descent", "largest step", "regime", "exact flow"):
        assert empty not in compared
    for word in TWO_POINT_WORDS:
        assert not any(word in text for text in (shown, descent, compared))


def test_two_points_keep_their_times(run_cli: Callable) -> None:
    shown = run_cli("simulate", "--method", "ode", *SHORT).out
    assert all(word in shown for word in TWO_POINT_WORDS)
    assert "T_plat" in run_cli("gd", *SHORT, "--steps", "5").out
    assert "regime" in run_cli("crosscheck", "--m", "10", "--until", "100", "--lr", "0.1", "--steps", "5").out


def test_gd_ends_with_the_loss_of_its_last_step(run_cli: Callable) -> None:
    record = run_cli("gd", "--data", "points.csv", "--m", "10", "--steps", "30", "--json").record
    W, a = _flow().network.W.copy(), _flow().network.second_layer
    for _ in range(30):
        z = X @ W.T
        force = Y * np.exp(-Y * (np.maximum(z, 0) @ a)) / 6
        W += 0.01 * a[:, None] * (((z > 0) * force[:, None]).T @ X)
    final = record["runs"][0]["final"]
    assert float(final["t"]) == pytest.approx(0.3)
    assert float(final["loss"]) == pytest.approx(np.exp(-Y * (np.maximum(X @ W.T, 0) @ a)).mean(), rel=1e-10)


def test_files_written_are_told(run_cli: Callable) -> None:
    words = ("simulate", "--data", "points.csv", *SHORT, "--out", "run.npz", "--csv", "run.csv")
    assert run_cli(*words).err == "reduced: wrote run.npz\nreduced: wrote run.csv\n"
    assert run_cli(*words).err == "reduced: replaced run.npz\nreduced: replaced run.csv\n"


@pytest.mark.parametrize("loss", ["exp", "logistic"])
def test_a_saved_flow_needs_no_other_option_to_go_on(run_cli: Callable, loss: str) -> None:
    given = ("--data", "points.csv", "--m", "10", "--seed", "5", "--kappa2", "2", "--loss", loss)
    assert run_cli("simulate", *given, "--until", "10", "--out", "run.npz").code == 0
    alone = run_cli("simulate", "--out", "run.npz", "--resume", "--until", "100", "--json")
    assert "wrote run.npz" in alone.err
    whole = run_cli("simulate", *given, "--until", "100", "--json").record
    found = alone.record
    assert found.pop("notes") == ["network, data and loss are those of run.npz"]
    assert whole.pop("notes") == []
    first, second = (float(record["times"].pop("T_I")) for record in (found, whole))
    assert first == pytest.approx(second, rel=1e-14)
    assert found == whole


def test_options_that_contradict_a_saved_flow_are_refused(run_cli: Callable) -> None:
    words = ("simulate", "--data", "points.csv", *SHORT, "--out", "run.npz")
    assert run_cli(*words).code == 0
    ended = run_cli(*words, "--resume", "--seed", "1")
    assert (ended.code, ended.out) == (2, "")
    assert "expected the same network, data, loss and options" in ended.err

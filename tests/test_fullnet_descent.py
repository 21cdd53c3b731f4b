"""Gradient descent gives the reference runs, the same from both engines, and tends to the flow."""

import builtins
import json
import sys
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import fullnet

DATA = Path(__file__).parent / "data"
RUNS = json.loads((DATA / "descent_public.json").read_text())["runs"]
SETTING = fullnet.two_point(4, np.pi / 15, 20)
NET = fullnet.load_network(DATA / "network_public1.npz", 1.0)
ENGINES = ("numpy", "numba") if find_spec("numba") else ("numpy",)
numba = pytest.mark.skipif("numba" not in ENGINES, reason="numba is not installed")


def living_negative(run):
    return int(np.sum(run.living & (NET.sign < 0)))


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(
            row,
            id=str(row["lr"]),
            marks=[numba] if row["lr"] < 5e-3 else [],
        )
        for row in RUNS
    ],
)
def test_reference_runs(row):
    """The reference times lie on the step grid; T_plat is interpolated, so it lies inside the last step."""
    run = fullnet.gradient_descent(NET, SETTING, row["lr"], 20_000_000)
    assert run.outcome is fullnet.Outcome.FINISHED
    assert pytest.approx(row["T_II"], rel=1e-12) == run.T_II
    assert row["T_plat"] - row["lr"] * 1.0001 < run.T_plat <= row["T_plat"]
    assert run.accuracy_changes[-1][0] * row["lr"] == pytest.approx(row["T_plat"], rel=1e-12)
    assert living_negative(run) == row["living_negative"]


@numba
@pytest.mark.parametrize("loss", ["exp", "logistic"])
@pytest.mark.parametrize("subgradient", [0, 0.5, 1])
def test_engines_agree_to_rounding(loss, subgradient):
    three = fullnet.data_set([[1, 0], [0.6, 0.8], [-0.8, 0.6]], [1, -1, 1], [2, 1, 1])
    small = fullnet.initial_network(12, 2, 0.3, 1.0, seed=5)
    for net, data, lr in ((NET, SETTING, 1e-2), (small, three, 1e-3)):
        options = {"steps": 5000, "loss": loss, "subgradient": subgradient, "stop_early": False}
        one = fullnet.gradient_descent(net, data, lr, engine="numba", **options)
        other = fullnet.gradient_descent(net, data, lr, engine="numpy", **options)
        np.testing.assert_allclose(one.network.W, other.network.W, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(one.living, other.living)
        assert one.accuracy_changes == other.accuracy_changes
        assert one.flips == other.flips


def test_without_numba_arrays_take_over(monkeypatch):
    wanted = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.split(".")[0] == "numba":
            raise ImportError(name)
        return wanted(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "fullnet.descent_kernel", raising=False)
    monkeypatch.setattr(builtins, "__import__", refuse)
    monkeypatch.setattr("fullnet.descent._WORTH_COMPILING", 0)
    run = fullnet.gradient_descent(NET, SETTING, 1e-2, 500)
    assert run.steps == 500
    with pytest.raises(fullnet.InputError, match="numba"):
        fullnet.gradient_descent(NET, SETTING, 1e-2, 500, engine="numba")


def test_one_step_is_the_gradient():
    run = fullnet.gradient_descent(NET, SETTING, 0.25, 1)
    np.testing.assert_allclose(
        run.network.W, NET.W - 0.25 * fullnet.gradient(NET, SETTING), rtol=0, atol=1e-15
    )


def test_gradient_is_the_derivative_of_the_loss():
    step, direction = 1e-6, np.random.default_rng(0).standard_normal(NET.W.shape)
    for loss in ("exp", "logistic"):
        ends = [
            np.exp(
                fullnet.log_loss(
                    fullnet.given_network(NET.W + side * step * direction, NET.sign, 1.0), SETTING, loss
                )
            )
            for side in (1, -1)
        ]
        slope = np.sum(fullnet.gradient(NET, SETTING, loss) * direction)
        assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(slope, rel=1e-6)


def test_final_weights_give_the_final_predictions():
    run = fullnet.gradient_descent(NET, SETTING, 1e-2, 3000)
    np.testing.assert_allclose(run.predictions, fullnet.predictions(run.network, SETTING), rtol=1e-10)
    np.testing.assert_array_equal(run.network.W[:, 2:], NET.W[:, 2:])


def test_the_error_falls_with_the_step():
    data = fullnet.two_point(4, 0.5, 3)
    net = fullnet.initial_network(10, 3, 0.5, 1.0, seed=1)
    flow = fullnet.gradient_flow(net, data, until=8.0)
    errors = []
    for lr in (4e-3, 1e-3, 2.5e-4):
        run = fullnet.gradient_descent(net, data, lr, round(8 / lr), stop_early=False)
        np.testing.assert_array_equal(run.living, flow.living)
        errors.append(np.max(np.abs(run.predictions - flow.at(8.0))))
        assert errors[-1] <= 2 * lr
    assert errors[2] < errors[0] / 8


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("loss", "lr"), [("exp", 1e6), ("exp", 1e100), ("logistic", 1e100)])
def test_a_huge_step_never_crashes(engine, loss, lr):
    run = fullnet.gradient_descent(NET, SETTING, lr, 100, loss=loss, engine=engine, stop_early=False)
    assert (run.outcome is fullnet.Outcome.DIVERGED) == (loss == "exp")
    assert run.steps < 100 or np.all(np.isfinite(run.predictions))


def test_nothing_to_do():
    run = fullnet.gradient_descent(NET, SETTING, 1e-2, 0)
    assert run.steps == 0
    assert run.outcome is fullnet.Outcome.STEPS
    np.testing.assert_array_equal(run.network.W, NET.W)


def test_progress_is_reported(monkeypatch):
    monkeypatch.setattr("fullnet.descent.BETWEEN_REPORTS", 0.0)
    monkeypatch.setattr("fullnet.descent._PLAIN_AT_ONCE", 100 * NET.W.shape[0] * 2)
    monkeypatch.setattr("fullnet.pace._SHARE", 0)
    seen = []
    fullnet.gradient_descent(NET, SETTING, 1e-2, 250, on_progress=seen.append, stop_early=False)
    assert seen[-1] == 250
    assert {after - before for before, after in pairwise([0, *seen])} == {1, 100, 49}  # a change at step 1

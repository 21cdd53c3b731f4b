"""From the condensed state on, the reduced model of any data agrees with the full network."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import fullnet
from reduced.crosscheck import data as crosschecking
from reduced.crosscheck.data import crosscheck_data, reduced_run
from reduced.crosscheck.living import condensed_time, living_groups, living_system

DATA = Path(__file__).parent / "data"


def small_data():
    rng = np.random.default_rng(5)
    data = fullnet.data_set(rng.normal([0, -2], 1, (3, 2)), [1, 1, -1])
    return fullnet.initial_network(16, 2, 0.05, 1.0, seed=3), data


def noisy():
    stored = np.load(DATA / "noisy_public.npz")
    X = np.zeros((15, stored["W"].shape[1]))
    X[:, 0], X[:, 1] = np.sin(stored["angles"]), -np.cos(stored["angles"])
    return fullnet.given_network(stored["W"], stored["sign"], 1.0), fullnet.data_set(X, stored["labels"])


@pytest.mark.parametrize("loss", ["exp", "logistic"])
def test_small_data_agree(loss):
    net, data = small_data()
    found = crosscheck_data(net, data, loss, until=1e4)
    assert found.agree, [check for check in found.checks if not check.agree]
    names = " ".join(check.quantity for check in found.checks)
    for quantity in ("derived system", "accuracy changes", "switches", "f of point 3", "patterns"):
        assert quantity in names


def test_a_wrong_reduced_model_disagrees(monkeypatch):
    """The check can fail: a start that is off by 10⁻⁹ in one prediction is noticed."""
    net, data = small_data()
    true_start = crosschecking.network_start

    def moved_start(*arguments):
        *others, f = arguments
        return true_start(*others, [f[0] + 1e-9, *f[1:]])

    monkeypatch.setattr(crosschecking, "network_start", moved_start)
    assert not crosscheck_data(net, data, until=1e4).agree


def test_the_condensed_time_lies_between_condensation_and_what_follows():
    net, data = small_data()
    full = fullnet.gradient_flow(net, data, until=1e4)
    t = condensed_time(full)
    before = [event.t for event in full.events if event.t <= t]
    after = [event.t for event in full.events if event.t > t]
    assert before
    assert min([*after, full.end]) / t > t / max(before)
    groups = living_groups(full, t)
    assert sum(int(group.fraction * 16) for group in groups) == sum(
        set(pattern) != {"-"} for pattern in full.patterns(t)
    )


def test_the_derived_system_is_a_lotka_volterra_system():
    net, data = small_data()
    full = fullnet.gradient_flow(net, data, until=1e4)
    system = living_system(full, condensed_time(full))
    M, K = system.lotka_volterra(), system.matrix
    assert all(M[i, j] == -int(data.y[i]) * K[i, j] for i in range(3) for j in range(3))


def test_the_command_takes_a_data_file(tmp_path, run_cli):
    net, data = small_data()
    np.savez(tmp_path / "data.npz", X=data.X, y=data.y)
    np.savez(tmp_path / "init.npz", W=net.W, sign=net.sign)
    files = ["--data", str(tmp_path / "data.npz"), "--init", str(tmp_path / "init.npz")]
    ended = run_cli("crosscheck", *files, "--until", "100", "--json")
    assert ended.code == 0
    assert ended.record["agree"]
    assert ended.record["gd"] == []


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["exp", "logistic"])
def test_noisy_reference_agrees(loss):
    net, data = noisy()
    found = crosscheck_data(net, data, loss, until=4000, digits=25)
    assert found.agree, [check for check in found.checks if not check.agree]
    assert sum(check.quantity.startswith("end of plateau") for check in found.checks) == 3


@pytest.mark.slow
def test_noisy_plateaus_end_where_small_step_descent_says():
    net, data = noisy()
    reference = json.loads((DATA / "noisy_public.json").read_text())[-1]["points_right_after"]
    full = fullnet.gradient_flow(net, data, until=2000.0, estimate_error=True)
    t1 = condensed_time(full)
    run = reduced_run(full, t1, 25)
    ends = [float(t) + t1 for t, _ in run.accuracy_changes[1:]]
    assert ends == pytest.approx([t for t, _ in reference[1:]], rel=2e-5)

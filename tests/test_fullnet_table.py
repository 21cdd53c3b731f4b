"""Claim: a flow's CSV file holds the flow: other readers get its doubles back, each under the name it has."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import fullnet


@pytest.fixture(scope="module")
def flow() -> fullnet.Trajectory:
    data, net = fullnet.two_point(4, np.pi / 15, 5), fullnet.initial_network(20, 5, 0.1, 1.0, 3)
    return fullnet.gradient_flow(net, data, until=1e5)


def test_numpy_reads_back_what_the_flow_is(flow, tmp_path):
    path = tmp_path / "run.csv"
    fullnet.save_csv(flow, path, points=30)
    read = np.genfromtxt(path, delimiter=",", names=True)
    assert (len(read), read["t"][0], read["t"][-1]) == (30, 0.0, 1e5)
    np.testing.assert_array_equal(np.column_stack([read["f_plus"], read["f_minus"]]), flow.at(read["t"]))
    np.testing.assert_array_equal(read["log_loss"], flow.log_loss(read["t"]))
    np.testing.assert_array_equal(read["accuracy"], flow.accuracy(read["t"]))
    np.testing.assert_allclose(np.log(read["loss"]), read["log_loss"], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(np.log(read["gradient_norm"]), read["log_gradient_norm"], rtol=1e-12)
    np.testing.assert_allclose(read["norm"], [np.linalg.norm(flow.neurons(t)) for t in read["t"]], rtol=1e-15)
    assert [path.name for path in tmp_path.iterdir()] == ["run.csv"]


def test_counts_are_the_neurons_of_each_sign_and_pattern(flow, tmp_path):
    path = tmp_path / "run.csv"
    times = [0.0, 1.0, 100.0, 1e4]
    fullnet.save_csv(flow, path, times=times)
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [float(row["t"]) for row in rows] == times
    spelled = {"+": "p", "-": "m", "0": "0"}
    for row in rows:
        patterns = flow.patterns(float(row["t"]))
        classes = [
            ("positive_" if sign > 0 else "negative_") + "".join(spelled[mark] for mark in pattern)
            for sign, pattern in zip(flow.network.sign, patterns, strict=True)
        ]
        counted = {name: int(row[name]) for name in row if name.startswith(("positive_", "negative_"))}
        assert {name: count for name, count in counted.items() if count} == {
            name: classes.count(name) for name in set(classes)
        }


def test_other_data_number_their_points(tmp_path):
    data, net = fullnet.noisy(4, 2, 0), fullnet.initial_network(10, 2, 0.1, 1.0, 0)
    flow = fullnet.gradient_flow(net, data, until=10.0)
    columns = fullnet.table(flow, 5)
    assert [name for name in columns if name.startswith("f_")] == [f"f_{j}" for j in range(1, 16)]
    np.testing.assert_array_equal(columns["f_15"], flow.at(columns["t"])[:, 14])
    path = tmp_path / "noisy.csv"
    fullnet.save_csv(flow, path, 5)
    assert np.genfromtxt(path, delimiter=",", names=True).dtype.names == tuple(columns)


def test_past_the_range_of_doubles_the_logarithms_go_on(tmp_path):
    data, net = fullnet.two_point(4, np.pi / 15, 5), fullnet.initial_network(20, 5, 0.1, 1.0, 3)
    columns = fullnet.table(fullnet.gradient_flow(net, data, until=1e300), 10)
    assert columns["log_loss"][-1] == pytest.approx(-np.log(1e300), abs=10)
    assert 0 <= columns["loss"][-1] < 1e-290
    assert columns["log_t"][0] == -np.inf
    assert all(np.all(np.isfinite(column[1:])) for column in columns.values())


@pytest.mark.parametrize("place", ["missing/run.csv", "."])
def test_what_cannot_be_written_is_said_and_leaves_nothing(flow, tmp_path, place):
    target = tmp_path / place
    with pytest.raises(fullnet.InputError, match=f"csv: {target}: expected a file that can be written"):
        fullnet.save_csv(flow, target, 3, argument="csv")
    with pytest.raises(fullnet.InputError, match=f"csv: {target}: expected a file that can be written"):
        fullnet.require_writable(target, "csv")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_kept_until_the_new_one_is_whole(flow, tmp_path):
    path = Path(tmp_path / "run.csv")
    path.write_text("old\n", encoding="utf-8")
    with pytest.raises(fullnet.InputError, match="points"):
        fullnet.save_csv(flow, path, points=1)
    assert path.read_text(encoding="utf-8") == "old\n"

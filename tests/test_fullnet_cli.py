"""simulate and gd take data by name, and simulate keeps its flow in a file and goes on from it."""

import json
from collections.abc import Callable

import numpy as np

import fullnet

NOISY = ["--preset", "noisy", "--dim", "2", "--m", "40", "--seed", "3"]


def test_simulate_by_name_saves_and_goes_on(run_cli: Callable, tmp_path) -> None:
    out = str(tmp_path / "run.npz")
    words = ["simulate", *NOISY, "--until", "1000", "--json"]
    plain, saved = run_cli(*words), run_cli(*words, "--out", out)
    assert (plain.code, saved.code) == (0, 0)
    assert json.loads(saved.out) == json.loads(plain.out)
    resumed = run_cli(*words, "--out", out, "--resume")
    assert resumed.code == 0
    assert json.loads(resumed.out) == json.loads(plain.out)
    flow = fullnet.load_trajectory(out)
    expected = fullnet.gradient_flow(fullnet.initial_network(40, 2, 0.1, 1.0, 3), fullnet.noisy(4, 2, 3), 1e3)
    assert flow.events == expected.events
    record = json.loads(plain.out)
    found = fullnet.detect(expected)
    assert [float(plateau["level"]) for plateau in record["plateaus"]] == [
        round(plateau.level, 15) for plateau in found.plateaus
    ]
    assert record["condensation"]["clusters"] == [cluster.members.tolist() for cluster in found.clusters]


def test_resuming_goes_further(run_cli: Callable, tmp_path) -> None:
    out = str(tmp_path / "run.npz")
    assert run_cli("simulate", *NOISY, "--until", "10", "--out", out).code == 0
    further = run_cli("simulate", *NOISY, "--until", "100", "--out", out, "--resume", "--json")
    assert further.code == 0
    assert fullnet.load_trajectory(out).end == 100


def test_gd_takes_presets(run_cli: Callable) -> None:
    words = ["gd", "--preset", "orthogonal", "--dim", "4", "--m", "20", "--steps", "500", "--json"]
    ended = run_cli(*words)
    assert ended.code == 0
    (run,) = json.loads(ended.out)["runs"]
    assert sum(run["living"].values()) == 20


def test_bad_input_is_one_line(run_cli: Callable, tmp_path) -> None:
    missing = str(tmp_path / "missing.npz")
    for words, part in (
        (["--preset", "other"], "preset: expected one of two-point, noisy, orthogonal"),
        (["--preset", "noisy", "--data", "x.csv"], "either --preset or --data"),
        (["--preset", "noisy", "--method", "exact"], "no closed form"),
        (["--method", "exact", "--out", missing], "only the numerical flow can be saved"),
        (["--resume"], "--out FILE"),
        (["--resume", "--out", missing], "an existing file"),
        (["--preset", "noisy", "--p", "5/2"], "an integer of at least 1"),
    ):
        ended = run_cli("simulate", *words)
        assert ended.code == 2
        assert ended.err.count("\n") == 1
        assert part in ended.err


def test_simulate_writes_its_flow_as_a_table(run_cli: Callable, tmp_path) -> None:
    out = tmp_path / "run.csv"
    words = ["simulate", "--m", "20", "--dim", "3", "--until", "1000"]
    found = run_cli(*words, "--csv", str(out), "--json").record
    rows = np.genfromtxt(out, delimiter=",", names=True)
    assert found["method"] == "ode"
    assert (rows["t"][0], rows["t"][-1]) == (0, 1000)
    crossed = float(found["times"]["T_plat"])
    assert ((rows["f_minus"] < 0) == (rows["t"] > crossed)).all()


def test_a_table_is_not_written_where_it_cannot_be(run_cli: Callable, tmp_path) -> None:
    ended = run_cli("simulate", "--m", "5", "--csv", str(tmp_path / "absent" / "run.csv"))
    assert ended.code == 2
    assert "csv" in ended.err
    refused = run_cli("simulate", "--m", "5", "--method", "exact", "--csv", str(tmp_path / "run.csv"))
    assert refused.code == 2
    assert not list(tmp_path.iterdir())

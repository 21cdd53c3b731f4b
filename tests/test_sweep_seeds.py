"""Claim: quantiles over seeds are order statistics, with what never happens above everything that does."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path

import pytest

from reduced import sweep
from reduced.sweep.points import Row, canonical

CONFIG = {"compute": "simulate", "p": "4", "m": 50}


def rows(values: list[str | None], **changed: object) -> list[Row]:
    return [
        Row(
            canonical({**CONFIG, **changed, "seed": seed}),
            {} if value is None else {"T_II": value},
            None,
            {},
            0.0,
        )
        for seed, value in enumerate(values)
    ]


def test_quantiles_are_order_statistics() -> None:
    values = [str(v) for v in (30, 10, 50, 20, 40)]
    (found,) = sweep.over_seeds(rows(values))
    assert float(found.quantiles[2]) == statistics.median(map(float, values))
    assert [float(q) for q in found.quantiles] == [10, 20, 30, 40, 50]
    assert (found.seeds, found.never, found.unknown) == (5, 0, 0)


def test_what_never_happens_is_beyond_all_that_does_and_what_is_unknown_is_told_apart() -> None:
    (found,) = sweep.over_seeds(rows(["inf", "1e400", "7", None, "inf"]))
    assert found.quantiles == ("7", "7", "1e+400", "inf", "inf")
    assert (found.seeds, found.never, found.unknown) == (4, 2, 1)


def test_groups_differ_in_something_else_than_the_seed() -> None:
    found = sweep.over_seeds([*rows(["1", "2"]), *rows(["3", "4"], p="6")])
    assert [one.fixed for one in found] == [{"p": "4"}, {"p": "6"}]
    assert sweep.over_seeds(rows(["1"])) == []


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sweep") / "seeds.db"
    sweep.run(sweep.grid("simulate", {"seed": "0:4", "m": "20", "dim": "3"}), path, workers=1)
    return path


def test_the_summary_of_a_sweep_over_seeds_shows_them(swept: Path, run_cli: Callable) -> None:
    found = run_cli("sweep", "summary", str(swept), "--json").record["over_seeds"]
    T_plat = sorted(float(row.result["T_plat"]) for row in sweep.read_rows(swept))
    (one,) = [each for each in found if each["quantity"] == "T_plat"]
    assert float(one["quantiles"]["5"]) == pytest.approx(T_plat[0], rel=1e-5)
    assert float(one["quantiles"]["95"]) == pytest.approx(T_plat[-1], rel=1e-5)
    assert "over 4 seeds" in run_cli("sweep", "summary", str(swept)).out

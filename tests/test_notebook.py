"""Claim: records show themselves: one short line at the prompt, their numbers and formulas in notebooks."""

from __future__ import annotations

import math
import re
from functools import cache
from typing import Any
from xml.etree import ElementTree

import pytest

import fullnet
import reduced
from reduced import derive, theorems
from reduced.crosscheck import crosscheck
from reduced.theorems.records import Verdict

SHORT = 1000


@cache
def network() -> fullnet.Network:
    return fullnet.initial_network(m=30, dim=3, kappa1=0.1, kappa2=1.0, seed=3)


@cache
def flow() -> fullnet.Trajectory:
    return fullnet.gradient_flow(
        network(), fullnet.two_point(4, math.pi / 15, 3), until=1e6, estimate_error=True
    )


@cache
def collapsed(digits: int = 20) -> reduced.Timeline:
    return reduced.timeline(reduced.problem(), reduced.start(), digits)


def enclosed(digits: int) -> Any:
    pytest.importorskip("flint", reason="python-flint is not installed (extra 'certified')")
    from reduced.solve.enclosure import enclosure_timeline

    return enclosure_timeline(reduced.problem(), reduced.start(), digits)


@cache
def perturbed() -> Any:
    return reduced.perturb(flow().neurons(1e6), network().sign, "pi/15", directions=10)


@cache
def checked() -> Any:
    return crosscheck(network(), reduced.problem(), until=1e6, learning_rates=())


def ledger() -> theorems.Ledger:
    """Two measured statements, one of them not seen."""
    small = theorems.Measurement("seen", True)
    rows = (
        theorems.Row("A.1", "claim < 1", "f ≥ 0", "0.5", Verdict.HOLDS, True, "", 0.5, None),
        theorems.Row("A.2", "other", "g", "2", Verdict.NOT_MET, False, "too large", None, small),
    )
    return theorems.Ledger(rows, 1e-8)


def three_points() -> fullnet.DataSet:
    return fullnet.data_set([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1, -1, 1])


RECORDS: dict[str, Any] = {
    "Problem": reduced.problem,
    "Start": reduced.start,
    "Exact": lambda: reduced.problem().alpha_minus,
    "Timeline": lambda: collapsed(800),
    "EnclosedTimeline": lambda: enclosed(50),
    "Point": lambda: reduced.predict(reduced.problem(), reduced.start(), ["1e1000"], 500)[0],
    "LimitDirection": lambda: reduced.limit(reduced.problem(), 800),
    "Sensitivity": lambda: reduced.sensitivities(reduced.problem(), reduced.start(), 30)["T_plat"],
    "ExactRun": lambda: reduced.network_flow(network().W, network().sign, reduced.problem(), 50),
    "NeuronFlow": lambda: reduced.network_flow(network().W, network().sign, reduced.problem(), 50).flow,
    "Perturbation": perturbed,
    "Revival": lambda: perturbed().revive_dead.cases[0],
    "KKT": lambda: reduced.kkt(flow().neurons(1e6), network().sign, flow().data.X, flow().data.y, 1.0),
    "CrossCheck": checked,
    "Ledger": ledger,
    "Aggregate": lambda: theorems.aggregate([ledger()]),
    "Evidence": lambda: theorems.evidence(network(), reduced.problem()),
    "PredictionODE": lambda: derive.phase("II"),
    "derive.LimitDirection": lambda: derive.limit("four-phase"),
    "SmallAngleSeries": lambda: derive.small_angle_series("gamma"),
    "ClosedForm": lambda: derive.closed_form(derive.phase("II")),
    "NetworkModel": derive.NetworkModel,
    "Velocity": lambda: derive.phase("II").motions[0].velocity,
    "Motion": lambda: derive.phase("II").motions[1],
    "Formula": lambda: derive.small_angle_series("gamma").formulas()[2],
    "Statement": lambda: theorems.STATEMENTS[0],
    "PatternRow": lambda: theorems.pattern_table(theorems.evidence(network(), reduced.problem()))[0],
    "Course": lambda: derive.all_courses()[5],
    "Network": network,
    "DataSet": lambda: flow().data,
    "noisy DataSet": lambda: fullnet.noisy(4, 20, 0),
    "Trajectory": flow,
    "Phases": lambda: fullnet.phase_times(flow()),
    "Detection": lambda: fullnet.detect(flow()),
    "Cluster": lambda: fullnet.detect(flow()).clusters[0],
    "PatternChange": lambda: fullnet.detect(flow()).changes[0],
    "Sample": lambda: fullnet.sample(flow()),
    "PatternShare": lambda: fullnet.pattern_share(flow()),
    "Descent": lambda: fullnet.gradient_descent(network(), flow().data, lr=0.01, steps=100),
    "DescentPath": lambda: fullnet.descent_path(network(), flow().data, 0.01, [1.0, 2.0]),
    "StepSize": lambda: fullnet.step_sizes(flow(), [0.01], 100)[0],
    "history": lambda: flow().history,
    "pieces": lambda: flow().pieces,
    "standing": lambda: flow().standing,
}


@pytest.mark.parametrize("name", RECORDS)
def test_the_prompt_shows_one_short_line(name: str) -> None:
    shown = repr(RECORDS[name]())
    assert "\n" not in shown
    assert 10 < len(shown) < SHORT
    assert "Exact(op" not in shown
    assert "array([" not in shown


def test_short_lines_tell_what_matters() -> None:
    assert repr(reduced.problem().delta) == "exact('pi/15')"
    assert repr(reduced.start("1/2")) == "Start(f_plus=1/2, f_minus=0, f_minus_negative=0)"
    assert "four-phase" in repr(collapsed())
    assert f"T_plat: {collapsed().times['T_plat'][:15]}" in repr(collapsed())
    assert re.fullmatch(
        r"Trajectory\(30 neurons, 2 points, exp loss; \d+ switches up to t = 1e\+06; finished\)", repr(flow())
    )
    assert repr(network()) == "Network(W=array(30, 3), sign=array(30,), kappa2=1)"
    assert repr(derive.small_angle_series("gamma")).startswith(
        "<SmallAngleSeries of gamma: Delta^1 = kappa2*"
    )


def rows(html: str) -> dict[str, list[str]]:
    """Return the cells of all tables by the first of their row; the text must be well-formed."""
    root = ElementTree.fromstring(f"<div>{html}</div>")
    found = (["".join(cell.itertext()) for cell in row] for row in root.iter("tr"))
    return {row[0]: row[1:] for row in found}


def test_a_timeline_shows_its_times() -> None:
    found = collapsed()
    shown = rows(found._repr_html_())
    for name, time in found.times.items():
        assert shown[name] == [time, *(found.predictions[name] or ("–", "–"))]


def test_an_enclosed_timeline_shows_its_radii() -> None:
    found = enclosed(20)
    assert rows(found._repr_html_())["T_II"][3] == found.radius["T_II"]


def test_predictions_show_one_column_a_time() -> None:
    points = reduced.predict(reduced.problem(), reduced.start(), ["10", "1e1000"], 10)
    shown = rows(points._repr_html_())
    assert shown["quantity"] == ["t = 10", "t = 1e+1000"]
    assert shown["f₊"] == [point.f_plus for point in points]
    assert rows(points[1]._repr_html_())["phase"] == ["IV"]
    assert points == tuple(points)


def test_a_limit_and_a_problem_show_their_numbers() -> None:
    found = reduced.limit(reduced.problem(), 20)
    shown = rows(found._repr_html_())
    assert shown["margin γ"] == [found.gamma]
    assert shown["ρ = λ₋/λ₊"] == [found.rho]
    empty = reduced.limit(reduced.problem(alpha_minus=0), 20)
    assert rows(empty._repr_html_())["regime"] == ["–"]
    problem = rows(reduced.problem()._repr_html_())
    assert problem["p"] == ["4"]
    assert problem["Δ"] == ["π/15 = 0.2094395102…"]
    assert problem["α₊"] == ["1/4 = 0.25"]


def test_an_exact_run_shows_its_times() -> None:
    run = reduced.network_flow(network().W, network().sign, reduced.problem(), 30)
    shown = rows(run._repr_html_())
    for name, time in run.times.items():
        assert float(shown[name][0]) == pytest.approx(float(time), rel=1e-14)


def test_a_cross_check_shows_its_rows_and_verdict() -> None:
    found = checked()
    shown = rows(found._repr_html_())
    for check in found.checks:
        assert shown[check.quantity][0] == (check.reduced or "–")
        assert shown[check.quantity][-1] == ("yes" if check.agree else "NO")
    assert f"all {len(found.checks)} rows agree" in found._repr_html_()


def test_a_perturbation_shows_its_slopes() -> None:
    found = perturbed()
    shown = rows(found._repr_html_())
    assert shown["slope reviving the dead, predicted"] == [found.revive_dead.slope_predicted]
    assert shown["local optimum of the whole network"] == ["no"]
    for case in found.revive_dead.cases:
        assert shown[f"{case.case} ({len(case.neurons)})"][0] == case.plain.predicted


def test_ledgers_show_their_statements() -> None:
    shown = rows(ledger()._repr_html_())
    assert shown["A.1"] == ["holds", "yes", "–", "claim < 1", "f ≥ 0", "0.5"]
    assert shown["A.2"] == ["hypothesis not met", "no", "yes", "other", "g", "2 [too large]"]
    assert "κ₁ = 1e-08" in ledger()._repr_html_()
    many = rows(theorems.aggregate([ledger(), ledger()])._repr_html_())
    assert many["A.1"][:2] == ["holds", "2/2"]


def test_flows_and_detections_show_what_was_found() -> None:
    phases = fullnet.phase_times(flow())
    shown = rows(flow()._repr_html_())
    assert shown["network"] == ["m = 30, d = 3, κ₂ = 1"]
    assert float(shown["T_plat"][0]) == pytest.approx(phases.times["T_plat"], rel=1e-9)
    assert rows(phases._repr_html_())["T_II"] == shown["T_II"]
    detection = fullnet.detect(flow())
    found = rows(detection._repr_html_())
    assert len(re.findall("<table>", detection._repr_html_())) == 3
    assert float(found[f"{detection.plateaus[0].start:.10g}"][1]) == pytest.approx(0.8)


def test_flows_on_other_data_and_without_events_show_themselves() -> None:
    short = fullnet.gradient_flow(
        fullnet.initial_network(m=4, dim=2, kappa1=0.1, kappa2=1.0, seed=0), three_points(), until=1e-9
    )
    shown = rows(short._repr_html_())
    assert shown["data"] == ["3 points"]
    assert shown["switches"] == ["none"]
    assert "no switch" in fullnet.detect(short)._repr_html_()


@pytest.mark.parametrize(
    ("record", "formula"),
    [
        (lambda: derive.phase("III"), r"\dot f_{+} &= \frac{\alpha_{+} \kappa_{2}^{2} p e^{- f_{+}}"),
        (lambda: derive.limit("three-phase"), r"\rho &= \frac{\alpha_{+}}{\alpha_{-}}"),
        (lambda: derive.small_angle_series("gamma"), r"\frac{\kappa_{2} \sqrt{\alpha_{-} + \alpha_{+}}}{2}"),
        (lambda: derive.phase("II").conditions[1], r"\frac{Q \cos{\left(\Delta \right)}}{P} \leq 1"),
        (lambda: derive.limit("three-phase").formulas()[0], r"\rho = \frac{\alpha_{+}}{\alpha_{-}}"),
    ],
)  # fmt: skip
def test_derived_records_show_their_formulas(record: Any, formula: str) -> None:
    shown = record()._repr_latex_()
    assert shown.startswith("$$")
    assert shown.endswith("$$")
    assert formula in shown


def test_nothing_of_the_report_is_imported_for_a_short_line() -> None:
    import subprocess
    import sys

    source = (
        "import sys, reduced; text = repr(reduced.timeline(reduced.problem(), reduced.start(), 10)); "
        "sys.exit(any(name.startswith(('reduced.report', 'sympy', 'numpy')) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", source], timeout=60, check=False).returncode == 0

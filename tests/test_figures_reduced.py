"""Claim: the figures of the reduced model plot the data of their records, at the places theory says."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from importlib import import_module

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import fullnet
import reduced
from reduced import InputError
from reduced.figures import style
from reduced.figures.convergence import angles, draw_convergence
from reduced.figures.flow_field import flow_field
from reduced.figures.lengths import draw_lengths, drawn_lengths
from reduced.figures.margin_map import draw_margin_map, margin_map
from reduced.figures.phase_portrait import draw_phase_portrait, orbit
from reduced.figures.setting import paper_setting
from reduced.figures.step_sizes import descents, draw_step_sizes
from reduced.theorems.distribution import distribution
from tests import labels

PROBLEM = reduced.problem(alpha_plus="1/4", alpha_minus="3/20")
ALPHA, DELTA = 0.6, math.pi / 15
C = math.cos(DELTA)
REGIMES = {"four-phase": "3/20", "three-phase": "1/4", "two-phase": "7/25"}


def test_the_map_of_margins_is_that_of_the_limit_with_the_regimes_at_the_cosine() -> None:
    found = margin_map(PROBLEM)
    ax = draw_margin_map(found, PROBLEM, given_axes())
    (image,) = ax.images
    assert np.array_equal(image.get_array(), found.shares)
    assert tuple(image.get_extent()) == (found.deltas[0], found.deltas[-1], found.alphas[0], found.alphas[-1])
    below, above, star = ax.lines
    for line, bound in ((below, np.cos(found.deltas)), (above, 1 / np.cos(found.deltas))):
        assert np.array_equal(line.get_xdata(), found.deltas)
        assert line.get_ydata() == pytest.approx(bound, rel=1e-14)
    assert star.get_xydata() == pytest.approx(np.array([[DELTA, ALPHA]]))
    regimes = set()
    for k in range(0, len(found.alphas), 23):
        for n in range(0, len(found.deltas), 29):
            at = reduced.problem(4, found.deltas[n], "1/4", found.alphas[k] / 4, assumption=False)
            expected = reduced.limit(at, 15)
            regimes.add(expected.regime)
            assert found.shares[k, n] == pytest.approx(float(expected.gamma_ratio), rel=1e-12)
    assert len(regimes) == 3
    # γ/γ_max → √(α₊ + α₋) as Δ → 0
    assert found.shares[:, 0] == pytest.approx(np.sqrt((1 + found.alphas) / 4), rel=1e-3)


def test_the_map_reaches_to_the_problem_and_says_where_it_cannot() -> None:
    found = margin_map(reduced.problem("1.2", "1/2", "1/10", "4/10"))
    assert found.alphas[-1] >= 4
    assert math.cos(found.deltas[-1]) == pytest.approx(1 / 1.2)
    with pytest.raises(InputError, match=r"^alpha_plus: expected .*at most 1/2"):
        margin_map(reduced.problem(alpha_plus="3/5", alpha_minus="1/10"))


@pytest.mark.parametrize("regime", REGIMES)
def test_the_portrait_follows_the_solution_through_the_phases(regime: str) -> None:
    problem, start = reduced.problem(alpha_plus="1/4", alpha_minus=REGIMES[regime]), reduced.start()
    timeline = reduced.timeline(problem, start, 15)
    assert timeline.regime == regime
    points = orbit(problem, start, timeline, 30)
    given = Figure().subplots(1, 2)
    axs = draw_phase_portrait(flow_field(problem, start), points, timeline, given)
    assert axs == tuple(given)
    f = np.array([[float(one.f_plus), float(one.f_minus)] for one in points])
    r = np.exp(f.sum(axis=1)) / 4
    for ax, data in zip(axs, (f, np.column_stack([f[:, 0] - f[:, 1], r])), strict=True):
        phases = [line for line in ax.lines if re.fullmatch("Phase (II|III|IV)", str(line.get_label()))]
        together = np.concatenate([phases[0].get_xydata(), *(line.get_xydata()[1:] for line in phases[1:])])
        assert together == pytest.approx(data, rel=1e-9)
        begun = [one.phase for k, one in enumerate(points) if one.phase != points[k - 1].phase or k == 0]
        assert [line.get_label() for line in phases] == [f"Phase {name}" for name in begun]
        for name, pair in timeline.predictions.items():
            marks = [line for line in ax.lines if line.get_label() == style.event_name(name)]
            assert len(marks) == (pair is not None)
            if pair is not None:
                a, b = map(float, pair)
                expected = [a, b] if ax is axs[0] else [a - b, math.exp(a + b) / 4]
                assert marks[0].get_xydata()[0] == pytest.approx(expected)


def test_the_portrait_s_straight_lines_are_the_theory_s() -> None:
    start = reduced.start()
    timeline = reduced.timeline(PROBLEM, start, 15)
    axs = draw_phase_portrait(flow_field(PROBLEM, start), orbit(PROBLEM, start, timeline, 20), timeline)
    by_name = {line.get_label(): line for line in axs[0].lines}
    # the share of K₊ in f₋ is used up on f₋ = −α c f₊, from f = 0
    x, y = by_name["Phase II ends"].get_data()
    assert y == pytest.approx(-ALPHA * C * x, abs=1e-12)
    x, y = by_name["slow manifold"].get_data()
    assert np.exp(x + y) / 4 == pytest.approx(1 / (1 + ALPHA * (1 - C)), rel=1e-12)
    flat = [line.get_ydata() for line in axs[1].lines if len(line.get_ydata()) == 2]
    rests = 1 / (1 + ALPHA * (1 - C)), 1 + (1 - C) / ALPHA  # r∞ of Phase II and ρ of the four phases
    assert sorted(y[0] for y in flat) == pytest.approx(sorted([C, 1 / C, *rests]), rel=1e-12)
    assert all(y[0] == y[1] for y in flat)


@pytest.mark.parametrize("loss", ["exp", "logistic"])
def test_the_arrows_point_where_solutions_go(loss: str) -> None:
    """Beside the differences of a solution from a state with shares of both groups, in each phase."""
    problem = reduced.problem(alpha_plus="1/4", alpha_minus="3/20", loss=loss)
    start = reduced.start("3/10", "2/10", "-1/10")
    solve, method = (reduced.timeline, "exact") if loss == "exp" else (reduced.taylor_timeline, "taylor")
    ends = {name: float(t) for name, t in solve(problem, start, 15).times.items()}
    field = flow_field(problem, start)
    phases = []
    times = [0.1, 3.0, ends["T_plat"], (ends["T_II"] + ends["T_III"]) / 2, 2 * ends["T_III"]]
    at = [t * nearby for t in times for nearby in (1, 1 + 2**-30)]
    points = reduced.predict(problem, start, at, 20, method)
    for t, early, late in zip(times, points[::2], points[1::2], strict=True):
        step = [
            float(Decimal(getattr(late, name)) - Decimal(getattr(early, name)))
            for name in ("f_plus", "f_minus")
        ]
        f = np.array([float(early.f_plus)]), np.array([float(early.f_minus)])
        velocity = [float(part[0]) for part in field.velocity(*f)]
        assert math.atan2(*velocity) == pytest.approx(math.atan2(*step), abs=1e-6), t
        ratio = field.ratio(*f)
        assert np.array(field.at(f[0] - f[1], ratio)) == pytest.approx(np.array(f))
        P, Q = forces(loss, *f)
        assert ratio == pytest.approx(Q / P)
        h = 1e-6
        moved = forces(loss, f[0] + h * velocity[0], f[1] + h * velocity[1])
        assert field.ratio_speed(*f) == pytest.approx((moved[1] / moved[0] - Q / P) / h, rel=1e-3, abs=1e-8)
        phases.append(early.phase)
    assert phases == ["II", "II", "II", "III", "IV"]


def forces(loss: str, f_plus: np.ndarray, f_minus: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return P and Q at p = 4 as the loss defines them."""
    if loss == "exp":
        return 0.8 * np.exp(-f_plus), 0.2 * np.exp(f_minus)
    return 0.8 / (1 + np.exp(f_plus)), 0.2 / (1 + np.exp(-f_minus))


@pytest.mark.parametrize("sample", [flow_field, angles])
def test_portrait_and_angles_need_both_groups(sample: Callable[..., object]) -> None:
    with pytest.raises(InputError, match=r"^alpha_plus, alpha_minus: expected two positive fractions"):
        sample(reduced.problem(alpha_plus="1/4", alpha_minus=0), reduced.start())


def test_angles_need_the_closed_form() -> None:
    with pytest.raises(InputError, match=r"^loss: expected exp"):
        angles(reduced.problem(loss="logistic"), reduced.start())


@pytest.mark.parametrize("regime", REGIMES)
def test_the_angles_are_drawn_out_to_ten_to_the_thousand_on_their_law(regime: str) -> None:
    problem, start = reduced.problem(alpha_plus="1/4", alpha_minus=REGIMES[regime]), reduced.start()
    points, laws = angles(problem, start, 40), reduced.angle_laws(problem, start, 15)
    given = given_axes()
    assert draw_convergence(points, laws, given) is given
    lines = {str(line.get_label()): line for line in given.lines}
    for name, law, label in (
        ("angle_plus", laws.plus, "angle of K₊"),
        ("angle_minus", laws.minus, "angle of K₋"),
    ):
        (line,) = (line for words, line in lines.items() if words.startswith(label))
        angle = np.array([float(getattr(one, name)) for one in points])
        logs = np.array([float(Decimal(one.t).log10()) for one in points])
        assert logs[-1] == pytest.approx(1000, rel=1e-12)
        assert np.array_equal(line.get_xydata(), np.column_stack([logs, angle])[angle > 0])
        if law.shift is None:
            assert "0" in line.get_label()
            assert angle[-1] == 0
            continue
        (drawn,) = (one for words, one in lines.items() if "log t" in words)
        x, y = drawn.get_data()
        assert y == pytest.approx(float(law.constant) / (x * math.log(10) + float(law.shift)))
        # the law is right to O(1/log² t)
        assert angle[-1] == pytest.approx(y[-1], rel=1e-4)


def test_lengths_are_the_law_and_the_sample() -> None:
    law = distribution(PROBLEM, 100).laws["T_II"]
    networks = [fullnet.initial_network(100, 3, 0.1, 1.0, seed) for seed in range(60)]
    sample = drawn_lengths(networks, PROBLEM)
    given = given_axes()
    assert draw_lengths(law, sample, given) is given
    exactly, drawn, never = given.lines
    x, y = exactly.get_data()
    for k in range(0, len(x), 97):
        assert y[k] == pytest.approx(law.beyond(x[k] * math.log(10) * (1 + 1e-12)), rel=1e-9)
    # α ≥ c in 2.1 % of seeds at m = 100: then T_II is beyond 10^20 or infinite
    assert y[np.searchsorted(x, 20) - 1] == pytest.approx(0.021, abs=5e-4)
    assert y[-1] == pytest.approx(never.get_ydata()[0], rel=1e-9)
    for log_time, left in zip(*drawn.get_data(), strict=True):
        assert left == pytest.approx(np.mean(sample > log_time * math.log(10) * (1 + 1e-12)))
    assert set(drawn.get_xdata()) == set(sample[np.isfinite(sample)] / np.log(10))


def test_lengths_that_hardly_ever_are_infinite_or_are_below_one_fit_their_axes() -> None:
    for problem in (reduced.problem(delta="1.2"), reduced.problem(kappa2=100)):
        law = distribution(problem, 40).laws["T_II"]
        ax = draw_lengths(law, law.log_times[np.isfinite(law.log_times)][::20])
        assert labels.wrong(ax.figure) == []
        assert ax.get_xscale() == ("log" if law.log_times[0] > 0 else "linear")


@pytest.mark.parametrize("angle", ["pi/3", "pi/15"])
@pytest.mark.parametrize("m", [20, 100])
def test_lengths_fill_their_axes_and_show_the_line_of_never(angle: str, m: int) -> None:
    law = distribution(reduced.problem(delta=angle), m).laws["T_II"]
    sample = np.array([law.log_quantile((k + 0.5) / 400) for k in range(400)])
    ax = draw_lengths(law, sample, given_axes())
    ax.figure.draw_without_rendering()
    (low, high), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    ticks = [tick for tick in ax.get_xticks() if low <= tick <= high]
    assert len(ticks) >= 3
    assert bottom < law.never < top
    # four of five networks take a seventh of the width at least
    ends = ax.transAxes.inverted().transform(
        ax.transData.transform([(law.log_quantile(q) / math.log(10), 1.0) for q in (1e-3, 0.8)])
    )
    assert ends[1, 0] - ends[0, 0] > 0.15


def test_the_portrait_turns_without_a_corner_after_the_last_event() -> None:
    problem, start = PROBLEM, reduced.start()
    timeline = reduced.timeline(problem, start, 15)
    points = [one for one in orbit(problem, start, timeline) if one.phase == "IV"]
    r = np.array([math.exp(float(one.f_plus) + float(one.f_minus)) / 4 for one in points])
    assert np.abs(np.diff(r)).max() < (r[-1] - r[0]) / 8


def test_angles_that_are_soon_zero_have_an_axis_that_ends_soon() -> None:
    problem, start = reduced.problem(delta="pi/3", alpha_plus="1/4", alpha_minus="1/4"), reduced.start()
    ax = draw_convergence(angles(problem, start), reduced.angle_laws(problem, start, 15), given_axes())
    last = max(x for line in ax.lines for x in line.get_xdata())
    assert last < ax.get_xlim()[1] < 2 * last


def test_drawn_lengths_are_those_of_the_networks_own_flows() -> None:
    """From weights so small that the living sets and the start are those of κ₁ → 0."""
    networks = [fullnet.initial_network(30, 3, 1e-6, 1.0, seed) for seed in (0, 1, 2)]
    for network, log_time in zip(networks, drawn_lengths(networks, PROBLEM), strict=True):
        flow = fullnet.gradient_flow(network, fullnet.two_point(4, DELTA, 3), until=1e12)
        time = fullnet.phase_times(flow).times["T_II"]
        assert (math.inf if time is None else math.log(time)) == pytest.approx(log_time, rel=1e-4)


def test_descents_are_drawn_at_their_steps_beside_the_flow() -> None:
    network = fullnet.initial_network(20, 5, 0.1, 1.0, 0)
    path = fullnet.gradient_flow(network, fullnet.two_point(4, DELTA, 5), until=1e4)
    runs = descents(path, (0.2, 0.05, 0.02))
    given = tuple(Figure().subplots(2, 1))
    assert draw_step_sizes(path, runs, given) == given
    end = fullnet.phase_times(path).times["T_plat"]
    assert all(one.run.steps * one.run.lr >= 2 * end for one in runs)
    flow, descent, *late = given[0].lines
    assert list(flow.get_ydata()) == [end, end]
    ended = {one.run.lr: one.run.T_plat for one in runs}
    for rate, time in zip(*descent.get_data(), strict=True):
        assert time == ended[rate] if ended[rate] is not None else math.isnan(time)
    never = [rate for rate, time in ended.items() if time is None]
    assert sorted(never) == sorted(x for line in late for x in line.get_xdata())
    for sign, line, points in ((1, *given[1].lines[:2]), (-1, *given[1].lines[2:])):
        own = network.sign == sign
        assert line.get_ydata()[0] == np.sum(path.living & own)
        counts = dict(zip(*points.get_data(), strict=True))
        assert counts == {one.run.lr: np.sum(one.run.living & own) for one in runs}


def test_one_axes_for_two_panels_is_an_input_error() -> None:
    problem, start = PROBLEM, reduced.start()
    timeline = reduced.timeline(problem, start, 15)
    points = orbit(problem, start, timeline, 10)
    with pytest.raises(InputError, match=r"^axs: expected 2 Axes, got one Axes$"):
        draw_phase_portrait(flow_field(problem, start), points, timeline, given_axes())  # type: ignore[arg-type]


def test_descents_need_a_plateau_that_ends() -> None:
    lone = fullnet.given_network([[0.1, 0.2], [0.2, -0.1]], [1, 1], 1.0)
    path = fullnet.gradient_flow(lone, fullnet.two_point(4, DELTA, 2), until=10.0)
    with pytest.raises(InputError, match=r"^path: "):
        descents(path)


@pytest.mark.parametrize("name", ["phase_portrait", "step_sizes", "convergence", "lengths", "margin_map"])
def test_finished_figures_have_titles_and_no_label_over_another(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = import_module(f"reduced.figures.{name}")
    monkeypatch.setattr("reduced.figures.lengths.NETWORKS", 50)
    monkeypatch.setattr("reduced.figures.step_sizes.RATES", (0.1, 0.05))
    monkeypatch.setattr("reduced.figures.step_sizes.SMALL_RATES", ())
    with style.styled():
        built = module.figure(paper_setting(seed=1, until=1e6))
        assert labels.wrong(built) == []
    assert module.TITLE in built.get_suptitle()
    assert module.CAPTION.endswith(".")


def given_axes() -> Axes:
    """Return Axes of a figure of the caller's own."""
    return Figure().subplots()

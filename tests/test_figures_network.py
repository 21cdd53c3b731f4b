"""Claim: the figures of a network show its data: arrays, event times and counts, under labels that can be read."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

import fullnet
import reduced
from reduced import figures
from reduced.crosscheck.fates import DIES, JOINS_MINUS, JOINS_PLUS
from reduced.crosscheck.prediction import predict_from, state_of
from reduced.figures import style
from reduced.figures.alignment import target_angles
from reduced.figures.catalogue import chosen
from reduced.figures.moments import stills, window
from reduced.figures.setting import Setting, paper_setting

NETWORK_FIGURES = ("orientations", "timeline", "alignment", "staircase", "overlay", "patterns")
NAMED = ("T_I", "T_plat", "T_II", "T_III")
DELTA = math.pi / 15


def _labels() -> ModuleType:
    spec = spec_from_file_location("labels", Path(__file__).with_name("labels.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


labels = _labels()


@pytest.fixture(scope="module")
def setting() -> Setting:
    return paper_setting()


@pytest.fixture(scope="module")
def path(setting: Setting) -> fullnet.Trajectory:
    return setting.path


def _given(count: int, **subplot: Any) -> Any:
    return Figure().subplots(count, 1, squeeze=False, subplot_kw=subplot)[:, 0]


def _line(ax: Any, label: str) -> Any:
    (found,) = [line for line in ax.lines if line.get_label() == label]
    return found


def _vertical(ax: Any) -> dict[str, float]:
    """Return the vertical lines of Axes by name."""
    return {
        line.get_label()[1:]: line.get_xdata()[0]
        for line in ax.lines
        if len(line.get_xdata()) == 2 and line.get_xdata()[0] == line.get_xdata()[1]
    }


def _assert_phase_lines(axs: Sequence[Any], path: fullnet.Trajectory) -> None:
    times = fullnet.phase_times(path).times
    for ax in axs:
        assert _vertical(ax) == {name: times[name] for name in NAMED}


def test_the_timeline_is_the_flows(path: fullnet.Trajectory) -> None:
    given = _given(2)
    top, bottom = figures.draw_timeline(path, given)
    assert (top, bottom) == tuple(given)
    for k, name in enumerate(("f₊ = f(x₊)", "f₋ = f(x₋)")):
        line = _line(bottom, name)
        np.testing.assert_array_equal(line.get_ydata(), path.at(line.get_xdata())[:, k])
    accuracy = _line(top, "accuracy")
    assert list(zip(*accuracy.get_data(), strict=True))[:-1] == list(path.accuracy_changes)
    assert accuracy.get_drawstyle() == "steps-post"
    _assert_phase_lines((top, bottom), path)


def test_orientations_are_the_neurons_projected_on_the_plane(path: fullnet.Trajectory) -> None:
    (ax,) = _given(1, projection="polar")
    for t in stills(path).values():
        ax.clear()
        assert figures.draw_orientations(path, t, ax, (-5, 2.0)) is ax
        drawn = {points.get_label(): points.get_offsets() for points in ax.collections}
        # the two points lie in the plane of the first two coordinates
        x, y = path.neurons(t)[:, :2].T
        alive = np.array([pattern != "--" for pattern in path.patterns(t)])
        sign = path.network.sign
        for name, mask in (
            ("positive", alive & (sign > 0)),
            ("negative", alive & (sign < 0)),
            ("dead", ~alive),
        ):
            angle, radius = np.asarray(drawn[name]).T
            direction = np.arctan2(y[mask], x[mask])
            np.testing.assert_allclose(np.exp(1j * angle), np.exp(1j * direction), atol=1e-9)
            np.testing.assert_allclose(
                radius, np.log10(np.maximum(np.hypot(x, y)[mask], 1e-5)) + 5, atol=1e-9
            )


def test_the_stills_tell_the_phases_in_order(path: fullnet.Trajectory) -> None:
    times, found = fullnet.phase_times(path).times, stills(path)
    assert list(found) == [
        "start", "end of Phase I", "on the plateau", "end of the plateau", "in Phase III", "in the last phase",
    ]  # fmt: skip
    assert list(found.values()) == sorted(found.values())
    assert found["end of Phase I"] == times["last_phase_one_event"]
    assert found["end of the plateau"] == times["T_plat"]
    assert times["T_II"] < found["in Phase III"] < times["T_III"]


def test_directions_are_those_of_the_living_neurons(path: fullnet.Trajectory) -> None:
    top, bottom = figures.draw_alignment(path, _given(2))
    phases = fullnet.phase_times(path)
    x_plus, x_minus = path.data.X
    across = x_minus - (x_minus @ x_plus) * x_plus
    for name, members in (("K₊", phases.positive), ("K₋", phases.negative)):
        line = _line(top, f"{name}, {len(members)} neurons")
        for t, angle in list(zip(*line.get_data(), strict=True))[::40]:
            W = path.neurons(t)[members]
            own = np.arctan2(-W @ across / np.linalg.norm(across), W @ x_plus)
            assert angle == pytest.approx(math.degrees(np.angle(np.exp(1j * own).mean())), abs=1e-6)
    _assert_phase_lines((top, bottom), path)


def test_directions_end_where_theory_says(path: fullnet.Trajectory) -> None:
    """K₋ slides along x₊⊥ (−90° from x₊) from Phase I on; K₊ ends on the kink of x₋ (90° − Δ)."""
    top, _ = figures.draw_alignment(path)
    times = fullnet.phase_times(path).times
    plus, minus = (line for line in top.lines if str(line.get_label()).startswith("K"))
    t, angle = minus.get_data()
    sliding = (t > times["last_phase_one_event"]) & (t < times["T_III"])
    np.testing.assert_allclose(angle[sliding], -90.0, atol=1e-6)
    t, angle = plus.get_data()
    np.testing.assert_allclose(angle[t > times["T_III_PT"]], 90.0 - 12.0, atol=1e-6)
    targets = target_angles(path.data)
    assert targets["x₊⊥"] == -90.0
    assert targets["x₋⊥"] == pytest.approx(78.0)
    p, c = 4, math.cos(DELTA)
    # ⟨μ, x₊⟩/‖μ‖ for μ = p x₊ − x₋
    assert math.cos(math.radians(targets["μ"])) == pytest.approx((p - c) / math.sqrt(p * p - 2 * p * c + 1))


def test_the_staircase_shows_the_paper_s_plateaus_and_every_switch(setting: Setting) -> None:
    path = setting.noisy_path
    top, middle, bottom = figures.draw_staircase(path, _given(3))
    found = fullnet.detect(path).plateaus
    steps = [line for line in top.lines if line.get_linewidth() == 3]
    assert [line.get_ydata()[0] for line in steps] == [plateau.level for plateau in found]
    assert [line.get_xdata()[1] for line in steps] == [plateau.end for plateau in found]
    np.testing.assert_allclose([plateau.level for plateau in found], [12 / 15, 13 / 15, 14 / 15])
    assert [text.get_text() for text in top.texts] == ["93.3%", "86.7%", "80.0%"]
    t, loss = middle.lines[0].get_data()
    np.testing.assert_allclose(loss, np.exp(-path.data.y * path.at(t)) @ path.data.weights, rtol=1e-12)
    assert list(_vertical(bottom).values()) == [plateau.end for plateau in found]
    bars = {box.get_label(): sum(bar.get_height() for bar in box) for box in bottom.containers}
    first, last = bottom.get_xlim()
    changed = Counter(
        ("taken up" if after == "+" else "let go")
        for event in path.events
        if path.living[event.neuron] and first <= event.t <= last
        for before, after in zip(event.before, event.after, strict=True)
        if (before == "+") != (after == "+")
    )
    living = path.living.sum()
    assert bars["taken up"] == pytest.approx(changed["taken up"] / living)
    assert bars["let go"] == pytest.approx(-changed["let go"] / living)


def test_the_overlay_is_the_reduced_model_of_the_crosscheck(
    setting: Setting, path: fullnet.Trajectory
) -> None:
    top, bottom = figures.draw_overlay(path, setting.timeline, setting.handover, _given(2), points=40)
    alive, sign = path.living, path.network.sign
    fates = np.where(~alive, DIES, np.where(sign > 0, JOINS_PLUS, JOINS_MINUS))
    other = predict_from(state_of(path, setting.handover, fates), setting.problem, "mean")
    for k, name in enumerate(("f₊", "f₋")):
        t, network = _line(top, f"{name}, network").get_data()
        model = _line(top, f"{name}, reduced model").get_ydata()
        np.testing.assert_array_equal(network, path.at(t)[:, k])
        np.testing.assert_allclose(model, [float(other.predictions(one)[k]) for one in t], atol=1e-12)
        np.testing.assert_array_equal(_line(bottom, name).get_ydata(), np.abs(model - network))
        assert np.all(np.abs(model - network)[t < fullnet.phase_times(path).times["T_II"]] < 1e-13)
    events = _line(top, "events, reduced model")
    expected = [float(other.times()[name]) for name in ("T_plat", "T_II", "T_III")]
    np.testing.assert_allclose(events.get_xdata()[::2], expected, rtol=1e-12)
    _assert_phase_lines((top, bottom), path)


def test_the_pattern_counts_are_the_flows(path: fullnet.Trajectory) -> None:
    top, bottom = figures.draw_patterns(path, _given(2))
    t, classes = _line(top, "classes").get_data()
    patterns = _line(top, "patterns").get_ydata()
    sign = path.network.sign
    for k in range(0, len(t), 7):
        now = set(zip(sign, path.patterns(t[k]), strict=True))
        living = {(s, pattern) for s, pattern in now if pattern != "--"}
        assert classes[k] == len(living)
        assert patterns[k] == len({pattern for _, pattern in living})
    assert set(t[1:-1]) == {event.t for event in path.events if t[0] < event.t < t[-1]}
    legend = bottom.get_legend()
    assert legend is not None
    assert {"positive ++", "positive +0", "negative 0+", "negative ++"} <= {
        text.get_text() for text in legend.get_texts()
    }
    _assert_phase_lines((top, bottom), path)


def test_simple_then_complex_then_simple(path: fullnet.Trajectory) -> None:
    """Two living classes from the end of Phase I to T_II, three while K₊ crosses over (Thm 4.1, 4.6)."""
    top, _ = figures.draw_patterns(path)
    t, classes = _line(top, "classes").get_data()
    times = fullnet.phase_times(path).times
    quiet = (t >= times["last_phase_one_event"]) & (t < times["T_II"])
    crossing = (t >= times["T_II"]) & (t < times["T_III_PT"])
    assert set(classes[quiet]) == {2}
    assert set(classes[crossing]) == {3}


@contextmanager
def _unchanged_settings() -> Iterator[None]:
    before = dict(mpl.rcParams)
    yield
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("name", NETWORK_FIGURES)
def test_every_label_can_be_read(setting: Setting, name: str) -> None:
    with _unchanged_settings():
        (entry,) = chosen([name])
        assert labels.wrong(entry.draw(setting)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORK_FIGURES)
@pytest.mark.parametrize(
    "other",
    [
        paper_setting(m=1),
        paper_setting(m=4, seed=3),
        paper_setting(until=100.0),
        paper_setting(kappa1=3),
        paper_setting(reduced.problem(8, "pi/30")),
        paper_setting(reduced.problem(4, "pi/3")),
        paper_setting(reduced.problem(4, "pi/15", loss="logistic"), seed=5),
    ],
    ids=["one", "four", "short", "large weights", "small angle", "large angle", "logistic"],
)
def test_labels_stay_readable_in_other_settings(other: Setting, name: str) -> None:
    (entry,) = chosen([name])
    assert labels.wrong(entry.draw(other)) == []


def test_the_checker_sees_what_is_wrong() -> None:
    built, (ax,) = style.figure(3, 2)
    ax.text(0.5, 0.5, "one")
    ax.text(0.5, 0.5, "other")
    assert ("one", "other") in labels.overlapping(built)
    ax.text(0.9, 0.2, "much too long for its place", clip_on=False).set_in_layout(False)
    assert labels.cut_off(built) == ["much too long for its place"]
    ax.plot([0, 1], [0, 1], label="line")
    ax.legend(loc="upper right")
    assert labels.covered(built) == ["line"]


def test_close_times_are_named_one_above_the_other() -> None:
    built, (ax,) = style.figure(5, 3)
    style.log_time(ax, 1.0, 1e6)
    times = {
        "T_plat": 900.0,
        "T_II": 1000.0,
        "T_III_PT": "1050",
        "T_III": 1100.0,
        "T_I": None,
        "later": math.inf,
    }
    lines = style.phase_lines(ax, times)
    assert {name: line.get_xdata()[0] for name, line in lines.items()} == {
        "T_plat": 900.0,
        "T_II": 1000.0,
        "T_III_PT": 1050.0,
        "T_III": 1100.0,
    }
    assert len({text.get_position()[1] for text in ax.texts}) == 4
    assert labels.wrong(built) == []


def test_phases_are_shaded_between_their_ends() -> None:
    _, (ax,) = style.figure(5, 3)
    style.log_time(ax, 1.0, 1e6)
    assert style.shade_phases(ax, (10.0, "1e3", None)) == ((1.0, 10.0), (10.0, 1e3), (1e3, 1e6))
    assert [text.get_text() for text in ax.texts] == ["I", "II", "III"]


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (0.0717099, "0.0717"), (258.78, "259"), (9308.2, "9310"), (3.0012e5, r"$3.00 \times 10^{5}$")],
)
def test_numbers_are_written_short(number: float, text: str) -> None:
    assert style.written(number) == text


def test_the_wrong_number_of_axes_is_an_input_error(path: fullnet.Trajectory) -> None:
    with pytest.raises(reduced.InputError, match="axs: expected 2 Axes, got 3 Axes"):
        figures.draw_timeline(path, _given(3))
    one: Any = Figure().subplots()
    for draw in (figures.draw_timeline, figures.draw_alignment, figures.draw_patterns):
        with pytest.raises(reduced.InputError, match=r"^axs: expected 2 Axes, got one Axes$"):
            draw(path, one)
    with pytest.raises(reduced.InputError, match=r"^axs: expected 3 Axes, got one Axes$"):
        figures.draw_staircase(path, one)
    with pytest.raises(reduced.InputError, match=r"^axs: expected 2 Axes, got int$"):
        figures.draw_timeline(path, 3)  # type: ignore[arg-type]
    with pytest.raises(reduced.InputError, match=r"^ax: expected one Axes, got ndarray$"):
        figures.draw_orientations(path, 0.0, _given(2))


def test_an_array_of_axes_of_any_shape_is_taken(path: fullnet.Trajectory) -> None:
    given = Figure().subplots(2, 1, squeeze=False)
    assert figures.draw_timeline(path, given) == tuple(given.flat)


def test_names_above_the_users_axes_have_room_in_a_constrained_layout(path: fullnet.Trajectory) -> None:
    own = Figure(layout="constrained")
    figures.draw_timeline(path, own.subplots(2, 1, sharex=True))
    assert labels.wrong(own) == []


def test_only_finished_figures_say_their_parameters(setting: Setting, path: fullnet.Trajectory) -> None:
    words = "p = 4, Δ = π/15, m = 100, d = 20, seed 0"
    assert setting.words == words
    (entry,) = chosen(["timeline"])
    assert words in [text.get_text() for text in entry.draw(setting).findobj(Text)]
    drawn = figures.draw_timeline(path, _given(2))[0].figure
    assert words not in [text.get_text() for text in drawn.findobj(Text)]


def test_weights_that_no_seed_drew_are_called_given(setting: Setting) -> None:
    other = replace(setting, network=fullnet.given_network(2 * setting.network.W, setting.network.sign, 1.0))
    assert other.words.endswith("d = 20, given weights")


def test_the_band_of_directions_is_shown_whole_at_a_large_angle() -> None:
    large = paper_setting(reduced.problem(4, "pi/3"))
    top, _ = figures.draw_alignment(large.path, _given(2))
    low, high = top.get_ylim()
    for band in top.collections:
        y = band.get_paths()[0].vertices[:, 1]
        assert low <= y.min()
        assert y.max() <= high
    # K₋ lives on from beyond −135° there
    assert low < -135


def test_the_window_holds_every_named_time(path: fullnet.Trajectory) -> None:
    first, last = window(path)
    times = [t for t in fullnet.phase_times(path).times.values() if t is not None]
    assert first < min(times)
    assert max(times) < last <= path.end

"""Directions of the living neurons against time, with the directions they are drawn to, and accuracy (Fig 3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import fullnet
from reduced.figures import style
from reduced.figures.moments import phase_ends, window
from reduced.figures.plane import Floats, half_angle, plane_of
from reduced.figures.setting import Setting
from reduced.figures.timeline import LINES, draw_accuracy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Directions of the living neurons"
CAPTION = (
    "Angle, in the plane of the data and counted from x₊ away from x₋, of the neurons that live on: the line is "
    "their mean direction, the band reaches from the least to the greatest. K₊ gathers along μ ∝ p x₊ − x₋ and "
    "turns onto the kink of x₋; K₋ slides on the kink of x₊, along x₊⊥, until it becomes active on x₊ again at "
    f"T_III. Below: accuracy. {style.SHADING} After Fig 3 of the paper."
)

_POINTS = 240


def draw_alignment(
    path: fullnet.Trajectory, axs: Sequence[Axes] | None = None, points: int = _POINTS
) -> tuple[Axes, ...]:
    """Draw the directions of K₊ and K₋ above the accuracy against log-time.

    Arguments: path, a flow on two-point data; axs, two Axes, default those of a new figure; points, how many
    times. Returns the two Axes; angles in degrees from x₊, positive away from x₋. Source: Fig 3. Raises
    InputError.
    """
    top, bottom = style.panels(axs, 2, (6.6, 5.4), heights=(3, 1))
    phases, (first, last) = fullnet.phase_times(path), window(path)
    for ax in (top, bottom):
        style.log_time(ax, first, last)
    t = np.geomspace(first, last, points)
    t[-1] = min(t[-1], path.end)
    reach: list[Floats] = []
    for name, members, colour, dashes in (
        ("K₊", phases.positive, style.PLUS, style.PLUS_LINE),
        ("K₋", phases.negative, style.MINUS, style.MINUS_LINE),
    ):
        if not len(members):
            continue
        angle = around_mean(directions(path, t, members))
        top.fill_between(t, angle.min(axis=1), angle.max(axis=1), color=colour, alpha=0.2, linewidth=0)
        reach.append(angle)
        top.plot(t, mean_direction(angle), dashes, color=colour, label=f"{name}, {len(members)} neurons")
    _draw_targets(path, top)
    top.set_ylabel("angle from x₊, degrees")
    low, high = _limits(reach)
    top.set_yticks(np.arange(low, high + 1, 45))
    top.set_ylim(low, high)
    top.legend(loc="upper left")
    draw_accuracy(path, bottom)
    for ax in (top, bottom):
        style.shade_phases(ax, phase_ends(phases), labelled=ax is top)
        style.phase_lines(ax, {name: phases.times[name] for name in LINES}, labelled=ax is top)
    return top, bottom


def directions(path: fullnet.Trajectory, t: Floats, members: NDArray[np.intp]) -> Floats:
    """Return the angles (T, n) of neurons n in the plane of the data at times t (T,).

    Degrees from x₊, positive away from x₋, from −180 to 180.
    """
    from_x_plus = math.pi / 2 - half_angle(path.data)
    angle = np.array([plane_of(path, float(one)).angle[members] for one in t]) + from_x_plus
    result: Floats = np.degrees(np.angle(np.exp(1j * angle)))
    return result


def mean_direction(angle: Floats) -> Floats:
    """Return the directions (T,) of the mean unit vectors of angles (T, n), degrees."""
    result: Floats = np.degrees(np.angle(np.exp(1j * np.radians(angle)).mean(axis=1)))
    return result


def around_mean(angle: Floats) -> Floats:
    """Return angles (T, n), degrees, each less than half a turn from the mean direction of its time.

    Groups that reach across the direction opposite to x₊ stay in one piece.
    """
    mean = mean_direction(angle)[:, np.newaxis]
    result: Floats = mean + np.mod(angle - mean + 180.0, 360.0) - 180.0
    return result


def _limits(angles: Sequence[Floats]) -> tuple[int, int]:
    """Return multiples of 45° that hold all angles, at least −135° and 135°."""
    low, high = (min((one.min() for one in angles), default=0), max((one.max() for one in angles), default=0))
    return min(-135, 45 * math.floor(low / 45)), max(135, 45 * math.ceil(high / 45))


def target_angles(data: fullnet.DataSet) -> dict[str, float]:
    """Return the directions that the living neurons are drawn to, degrees from x₊ away from x₋."""
    delta = 2 * half_angle(data)
    p = float(data.weights[0] / data.weights[1])
    mu = math.atan2(math.sin(delta), p - math.cos(delta))
    return {
        "x₋⊥": 90 - math.degrees(delta),
        "μ": math.degrees(mu),
        "x₊⊥": -90.0,
    }


def _draw_targets(path: fullnet.Trajectory, ax: Axes) -> None:
    """Draw a thin line at each target with its name at the right end."""
    for name, angle in target_angles(path.data).items():
        ax.axhline(angle, color="#444444", linewidth=0.8, linestyle=(0, (1, 1.5)), label=f"_{name}")
        style.beside(ax, name, angle, fontsize=8)


def figure(setting: Setting) -> Figure:
    """Draw the catalogue's figure."""
    built, panels = style.figure(6.6, 5.4, rows=2, sharex=True, heights=(3, 1))
    draw_alignment(setting.path, panels)
    return style.titled(built, TITLE, setting.words)

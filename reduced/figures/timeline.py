"""The network's timeline: accuracy and both predictions in log-time, phases shaded, their ends named (Fig 2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

import fullnet
from reduced.figures import style
from reduced.figures.moments import phase_ends, window
from reduced.figures.setting import Setting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Phases of training"
CAPTION = (
    "Accuracy and the predictions f₊ = f(x₊), f₋ = f(x₋) of the whole network along its gradient flow, in "
    "log-time. The plateau of accuracy lasts until f₋ falls through 0 at T_plat; at T_II the first neuron of K₊ "
    "leaves x₋, at T_III the neurons of K₋ become active on x₊ again; a phase that never ends is the last. "
    f"{style.SHADING} After Fig 2 of the paper."
)

LINES = ("T_I", "T_plat", "T_II", "T_III")
_POINTS = 400


def draw_timeline(
    path: fullnet.Trajectory, axs: Sequence[Axes] | None = None, points: int = _POINTS
) -> tuple[Axes, ...]:
    """Draw accuracy above both predictions against log-time.

    Arguments: path, a flow on two-point data; axs, two Axes, default those of a new figure; points, how many
    times. Returns the two Axes. Source: Fig 2. Raises InputError.
    """
    top, bottom = style.panels(axs, 2, (6.6, 4.8), heights=(1, 2))
    phases, (first, last) = fullnet.phase_times(path), window(path)
    t = np.geomspace(first, last, points)
    for ax in (top, bottom):
        style.log_time(ax, first, last)
    draw_accuracy(path, top)
    style.shade_phases(top, phase_ends(phases))
    style.phase_lines(top, {name: phases.times[name] for name in LINES})
    f = path.at(t)
    bottom.plot(t, f[:, 0], style.PLUS_LINE, color=style.PLUS, label="f₊ = f(x₊)")
    bottom.plot(t, f[:, 1], style.MINUS_LINE, color=style.MINUS, label="f₋ = f(x₋)")
    bottom.axhline(0, color="black", linewidth=0.6)
    bottom.set_ylabel("prediction")
    bottom.legend(loc="upper left")
    style.shade_phases(bottom, phase_ends(phases), labelled=False)
    style.phase_lines(bottom, {name: phases.times[name] for name in LINES}, labelled=False)
    return top, bottom


def draw_accuracy(path: fullnet.Trajectory, ax: Axes) -> None:
    """Draw every change of the accuracy as a step into Axes whose x-limits are set."""
    changes = path.accuracy_changes
    t, level = [t for t, _ in changes], [level for _, level in changes]
    ax.plot(
        [*t, path.end], [*level, level[-1]], color=style.ACCURACY, drawstyle="steps-post", label="accuracy"
    )
    ax.set_ylim(0, 1.08)
    ax.set_ylabel("accuracy")


def figure(setting: Setting) -> Figure:
    """Draw the catalogue's figure."""
    built, panels = style.figure(6.6, 4.8, rows=2, sharex=True, heights=(1, 2))
    draw_timeline(setting.path, panels)
    return style.titled(built, TITLE, setting.words)

"""The reduced model over the full network, from where Phase I ends on, and what lies between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import fullnet
from reduced.figures import style
from reduced.figures.moments import phase_ends, window
from reduced.figures.plane import Floats
from reduced.figures.setting import DIGITS, Setting
from reduced.figures.timeline import LINES
from reduced.numbers import exact
from reduced.records import Loss, Timeline
from reduced.solve.predict import predict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Two equations over the whole network"
CAPTION = (
    "Predictions of the full network and of the reduced model, which has one particle for K₊ and one for K₋ and "
    "takes over the network's state at the last event of Phase I. Diamonds: T_plat, T_II and T_III of the "
    "reduced model; dashed lines: the network's. Below: how far the two are apart (where they are not "
    "equal): rounding until T_II, from then on the spread of K₊, whose neurons do not all leave x₋ at once. "
    f"{style.SHADING} Derived here."
)

_POINTS = 160


@dataclass(frozen=True, eq=False)
class Comparison:
    """Predictions (f₊, f₋), each (T, 2), of the network and the reduced model at the network's times t (T,)."""

    t: Floats
    network: Floats
    reduced: Floats


def compare(path: fullnet.Trajectory, timeline: Timeline, handover: float, t: Floats) -> Comparison:
    """Sample both sides.

    Arguments: path, the network's flow; timeline, of the reduced model, whose time 0 is the network's time
    ``handover``; t (T,), the network's times, none before the handover. Raises InputError.
    """
    method = "exact" if timeline.problem.loss is Loss.EXP else "taylor"
    since = [exact(float(one)) - exact(handover) for one in t]
    points = predict(timeline.problem, timeline.start, since, DIGITS, method)
    reduced = np.array([[float(point.f_plus), float(point.f_minus)] for point in points])
    return Comparison(t, path.at(t), reduced)


def draw_overlay(
    path: fullnet.Trajectory,
    timeline: Timeline,
    handover: float,
    axs: Sequence[Axes] | None = None,
    points: int = _POINTS,
) -> tuple[Axes, ...]:
    """Draw f± of the reduced model over the network's, and the difference below, against log-time.

    Arguments: path, the network's flow on two-point data; timeline, of the reduced model, whose time 0 is the
    network's time ``handover``; axs, two Axes, default those of a new figure; points, how many times. Returns
    the two Axes. Source: derived here. Raises InputError.
    """
    top, bottom = style.panels(axs, 2, (6.6, 5.4), heights=(3, 2))
    phases, (first, last) = fullnet.phase_times(path), window(path)
    for ax in (top, bottom):
        style.log_time(ax, first, last)
    t = np.clip(np.geomspace(max(first, handover), last, points), handover, path.end)
    both = compare(path, timeline, handover, t)
    for k, (name, colour, dashes) in enumerate(
        (("f₊", style.PLUS, style.PLUS_LINE), ("f₋", style.MINUS, style.MINUS_LINE))
    ):
        top.plot(
            both.t, both.network[:, k], color=colour, linewidth=4.5, alpha=0.45, label=f"{name}, network"
        )
        top.plot(
            both.t,
            both.reduced[:, k],
            dashes,
            color=style.REDUCED,
            linewidth=1.2,
            label=f"{name}, reduced model",
        )
        gap = np.abs(both.reduced[:, k] - both.network[:, k])
        bottom.plot(both.t, gap, dashes, color=colour, label=f"{name}")
    _draw_events(top, timeline, handover, last)
    top.set_ylabel("prediction")
    top.legend(loc="upper left")
    bottom.set_yscale("log", nonpositive="mask")
    bottom.set_ylabel("|reduced − network|")
    bottom.legend(loc="upper left")
    for ax in (top, bottom):
        style.shade_phases(ax, phase_ends(phases), labelled=ax is top)
        style.phase_lines(ax, {name: phases.times[name] for name in LINES}, labelled=ax is top)
    return top, bottom


def _draw_events(ax: Axes, timeline: Timeline, handover: float, last: float) -> None:
    """Draw the reduced model's events up to a time on its curves."""
    found = ((handover + float(timeline.times[name]), pair) for name, pair in timeline.predictions.items())
    known = [(t, pair) for t, pair in found if pair is not None and t <= last]
    ax.plot(
        [t for t, _ in known for _ in range(2)],
        [float(f) for _, pair in known for f in pair],
        "D",
        color=style.REDUCED,
        markerfacecolor="white",
        markersize=4.5,
        label="events, reduced model",
    )


def figure(setting: Setting) -> Figure:
    """Draw the catalogue's figure."""
    built, panels = style.figure(6.6, 5.4, rows=2, sharex=True, heights=(3, 2))
    draw_overlay(setting.path, setting.timeline, setting.handover, panels)
    return style.titled(built, TITLE, setting.words)

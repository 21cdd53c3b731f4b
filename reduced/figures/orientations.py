"""All neurons in the plane of the data at chosen moments: they condense, wait, and part (Fig 1 and 4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import fullnet
from reduced.figures import style
from reduced.figures.moments import stills
from reduced.figures.plane import half_angle, plane_of
from reduced.figures.setting import Setting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Neurons in the plane of the data"
CAPTION = (
    "Every neuron projected on the plane of the two data points at moments chosen from the flow's own events; "
    "the angle is its direction, the radius its norm there on one logarithmic scale (what is smaller is drawn at "
    "the centre). Arrows: the data. Dashed and dotted lines: the kinks, where a neuron's output on x₊ or x₋ "
    "begins. Neurons of either sign condense onto one direction or die; K₋ then sits on the kink of x₊ until "
    "Phase IV, and K₊ turns onto the kink of x₋ in Phase III. After Fig 1 and 4 of the paper."
)

_RIM = 0.3
_LABELLED = 3
"""Room, in decades, between the largest neuron and the rim; how many rings, from outside, are labelled."""


def draw_orientations(
    path: fullnet.Trajectory, t: float, ax: Axes | None = None, decades: tuple[int, float] | None = None
) -> Axes:
    """Draw all neurons at a time in polar Axes: radius log₁₀ of the norm in the plane, from decades[0] on.

    Arguments: path, a flow on two-point data; t, flow time; ax, polar Axes, default those of a new figure;
    decades, log₁₀ of the norm at the centre and at the rim, default what the flow takes. Returns the Axes.
    Source: Fig 1 and 4. Raises InputError.
    """
    ax = style.axes(ax, (3.6, 3.8), projection="polar")
    centre, rim = decades or scale(path, [t])
    now = plane_of(path, t)
    radius = np.log10(np.maximum(now.radius, 10.0**centre))
    for mask, name, marker, colour in (
        (now.dead, "dead", style.DEAD_MARKER, style.DEAD),
        (now.positive, "positive", style.PLUS_MARKER, style.PLUS),
        (now.negative, "negative", style.MINUS_MARKER, style.MINUS),
    ):
        ax.scatter(
            now.angle[mask],
            radius[mask] - centre,
            s=22,
            marker=marker,
            color=colour,
            linewidths=0.9,
            alpha=0.8,
            label=name,
            zorder=3,
        )
    _draw_data(ax, half_angle(path.data), rim - centre)
    _label_rings(ax, centre, rim)
    return ax


def scale(path: fullnet.Trajectory, times: Sequence[float]) -> tuple[int, float]:
    """Return log₁₀ of the norm at the centre, a whole number, and at the rim of pictures at these times."""
    radii = np.concatenate([plane_of(path, t).radius for t in times])
    largest = float(radii.max())
    smallest = max(float(np.quantile(radii, 0.02)), 1e-6 * largest)
    return math.floor(math.log10(smallest)), math.log10(largest) + _RIM


def _draw_data(ax: Axes, half: float, rim: float) -> None:
    """Draw both data directions as arrows and both kinks as lines through the centre."""
    for side, name, dashes, colour in (
        (1, "x₊", (0, (4, 2)), style.PLUS),
        (-1, "x₋", (0, (1, 1.5)), style.MINUS),
    ):
        direction = -math.pi / 2 + side * half
        ax.annotate(
            "",
            (direction, rim),
            (direction, 0),
            arrowprops={
                "arrowstyle": "-|>",
                "color": style.DATA,
                "linewidth": 1.1,
                "shrinkA": 0,
                "shrinkB": 0,
            },
        )
        ax.annotate(
            name, (direction, rim), (7 * side, -9), textcoords="offset points", ha="center", va="center"
        )
        for turn in (-1, 1):
            ax.plot(
                [direction + turn * math.pi / 2] * 2,
                [0, rim],
                color=colour,
                linestyle=dashes,
                linewidth=1.0,
                label=f"kink of {name}" if turn == 1 else f"_kink of {name}",
            )


def _label_rings(ax: Axes, centre: int, rim: float) -> None:
    """Put a ring at every decade of the norm; the outer ones are labelled, the inner ones are crowded."""
    rings = range(centre + 1, math.floor(rim - _RIM) + 1)
    names = [f"$10^{{{k}}}$" if k > rings[-1] - _LABELLED else "" for k in rings]
    polar: Any = ax
    polar.set_rlim(0, rim - centre)
    polar.set_rgrids([k - centre for k in rings], names, angle=90, fontsize=7)
    polar.set_thetagrids([])
    ax.spines["polar"].set_color("#BBBBBB")


def figure(setting: Setting) -> Figure:
    """Draw the catalogue's figure."""
    path = setting.path
    moments = stills(path)
    columns = min(3, len(moments))
    rows = math.ceil(len(moments) / columns)
    built, panels = style.figure(7.6, 2.75 * rows + 0.9, rows, columns, projection="polar")
    decades = scale(path, list(moments.values()))
    for ax, (name, t) in zip(panels, moments.items(), strict=False):
        draw_orientations(path, t, ax, decades)
        ax.set_title(f"{name}, t = {style.written(t)}")
    for ax in panels[len(moments) :]:
        ax.set_axis_off()
    handles, labels = panels[0].get_legend_handles_labels()
    built.legend(handles, labels, loc="outside lower center", ncols=5)
    return style.titled(built, f"{TITLE} (radius: norm there, logarithmic)", setting.words)

"""Noisy data: accuracy climbs in steps while neurons let go of points and take them up again (Fig 5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import fullnet
from reduced.figures import style
from reduced.figures.plane import Floats
from reduced.figures.setting import Setting
from reduced.figures.timeline import draw_accuracy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Another network, on noisy data: several plateaus"
CAPTION = (
    "Another network, drawn in the plane with the same m and seed, on the paper's 3(p + 1) noisy points (§A.3): "
    "accuracy, with the plateaus found on the run and their levels; the loss; and how many points a living neuron "
    "lets go of (deactivation) or takes up (reactivation) in each third of a decade of time, on average. Dashed: "
    "the ends of the plateaus. After Fig 5 of the paper."
)

_POINTS = 400
_AFTER = 100.0
_BINS_PER_DECADE = 3
# The bars leave a legend's height free, and are not blown up where next to nothing happens.
_ROOM, _FEW = 1.5, 0.1
# Plateaus shorter than this part of the window are not seen; how far apart levels are written at least.
_SEEN, _LABEL_STEP = 0.004, 0.065


@dataclass(frozen=True, eq=False)
class Switching:
    """How many points living neurons let go of and take up, per living neuron: in bins of time.

    edges (B + 1,), rising flow times; lost, gained (B,): active before and not after, or the other way round.
    """

    edges: Floats
    lost: Floats
    gained: Floats


def switching(path: fullnet.Trajectory, edges: Floats) -> Switching:
    """Count the (neuron, point) pairs that fall inactive or become active between edges (B + 1,)."""
    events = [event for event in path.events if path.living[event.neuron]]
    times = np.array([event.t for event in events])
    changes = [(_count(event.before, event.after), _count(event.after, event.before)) for event in events]
    lost, gained = np.array(changes, dtype=float).reshape(-1, 2).T
    living = max(1, int(path.living.sum()))
    return Switching(
        edges,
        *(np.histogram(times, edges, weights=weights)[0] / living for weights in (lost, gained)),
    )


def _count(one: str, other: str) -> int:
    """Count the points active in one pattern and not in the other."""
    return sum(a == "+" != b for a, b in zip(one, other, strict=True))


def staircase_window(path: fullnet.Trajectory) -> tuple[float, float]:
    """Return the flow times that hold the whole staircase of a flow on any data."""
    changes = [t for t, _ in path.accuracy_changes if t > 0]
    switches = [event.t for event in path.events if event.t > 0]
    known = [*changes, *switches[:1]] or [path.end]
    last = min(path.end, _AFTER * max(known))
    return min(0.1 * min(known), last / 10), last


def draw_staircase(
    path: fullnet.Trajectory, axs: Sequence[Axes] | None = None, points: int = _POINTS
) -> tuple[Axes, ...]:
    """Draw accuracy with its plateaus, loss, and switches of living neurons against log-time.

    Arguments: path, a flow on any data; axs, three Axes, default those of a new figure; points, how many times
    the loss is drawn at. Returns the three Axes. Source: Fig 5. Raises InputError.
    """
    top, middle, bottom = style.panels(axs, 3, (6.6, 6.2), heights=(4, 2, 2))
    first, last = staircase_window(path)
    for ax in (top, middle, bottom):
        style.log_time(ax, first, last)
    draw_accuracy(path, top)
    plateaus = fullnet.detect(path).plateaus
    _draw_plateaus(top, plateaus, last)
    t = np.minimum(np.geomspace(first, last, points), path.end)
    middle.plot(t, np.exp(path.log_loss(t)), color=style.LOSS)
    middle.set_yscale("log")
    middle.set_ylabel("loss")
    bins = round(_BINS_PER_DECADE * np.log10(last / first))
    found = switching(path, np.geomspace(first, last, bins + 1))
    look: Any = {"align": "edge", "linewidth": 0.5, "edgecolor": "black", "width": np.diff(found.edges)}
    bottom.bar(found.edges[:-1], found.gained, color=style.SKY, label="taken up", **look)
    bottom.bar(found.edges[:-1], -found.lost, color=style.VERMILLION, hatch="///", label="let go", **look)
    bottom.axhline(0, color="black", linewidth=0.6)
    bottom.set_ylabel("points per\nliving neuron")
    bottom.set_ylim(-_ROOM * max(found.lost.max(), _FEW), _ROOM * max(found.gained.max(), _FEW))
    bottom.legend(loc="upper left", ncols=2)
    for ax in (middle, bottom):
        ends = {f"end of plateau {k}": plateau.end for k, plateau in enumerate(plateaus, 1)}
        style.phase_lines(ax, ends, labelled=False)
    return top, middle, bottom


def _draw_plateaus(ax: Axes, plateaus: Sequence[fullnet.Plateau], last: float) -> None:
    """Draw each plateau as a thick step, and write the level of each one seen to the right of the Axes."""
    first = ax.get_xlim()[0]
    seen = []
    for plateau in plateaus:
        begin, end = max(plateau.start, first), last if plateau.end is None else plateau.end
        ax.plot([begin, end], [plateau.level] * 2, color="black", linewidth=3, solid_capstyle="butt")
        if math.log(end / begin) > _SEEN * math.log(last / first):
            seen.append(plateau.level)
    place = math.inf
    for level in sorted(seen, reverse=True):
        place = min(level, place - _LABEL_STEP)
        style.beside(ax, f"{level:.1%}", place, fontsize=7)


def figure(setting: Setting) -> Figure:
    """Draw the catalogue's figure."""
    built, panels = style.figure(6.6, 6.2, rows=3, sharex=True, heights=(4, 2, 2))
    draw_staircase(setting.noisy_path, panels)
    return style.titled(built, TITLE, setting.noisy_words)

"""How many activation patterns live: the network becomes simpler, then more complex again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import fullnet
from reduced.figures import style
from reduced.figures.moments import phase_ends, window
from reduced.figures.plane import Floats
from reduced.figures.setting import Setting
from reduced.figures.timeline import LINES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Patterns of the living neurons"
CAPTION = (
    "Above: how many activation patterns the living neurons have, and how many classes of one sign and one "
    "pattern. Below: the share of all neurons in each class; a pattern is a neuron's state on x₊ and x₋: + active, "
    "− inactive, 0 on the kink. Phase I leaves two living classes; at T_II and T_III they change once more. "
    f"{style.SHADING} Derived here."
)

_POINTS = 400
_HATCHES = {"++": "", "+-": "////", "-+": "\\\\\\\\", "0+": "....", "+0": "xxxx"}


def draw_patterns(
    path: fullnet.Trajectory, axs: Sequence[Axes] | None = None, points: int = _POINTS
) -> tuple[Axes, ...]:
    """Draw the numbers of living patterns and classes above the share of every class, against log-time.

    Arguments: path, a flow on two-point data; axs, two Axes, default those of a new figure; points, of how many
    switches at most the steps are shown. Returns the two Axes. Source: derived here. Raises InputError.
    """
    top, bottom = style.panels(axs, 2, (7.4, 5.6), heights=(1, 2))
    phases, (first, last) = fullnet.phase_times(path), window(path)
    found = fullnet.sample(path, times=switch_times(path, first, last, points))
    for ax in (top, bottom):
        style.log_time(ax, first, last)
    living = [k for k, (_, pattern) in enumerate(found.classes) if set(pattern) != {"-"}]
    classes = (found.counts[:, living] > 0).sum(axis=1)
    top.step(found.t, classes, where="post", color="black", label="classes")
    top.step(found.t, found.living_patterns, "--", where="post", color=style.ORANGE, label="patterns")
    top.set_ylim(0, classes.max() + 1)
    top.set_ylabel("number, living")
    top.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    _draw_shares(found, bottom)
    for ax in (top, bottom):
        style.shade_phases(ax, phase_ends(phases), labelled=ax is top)
        style.phase_lines(ax, {name: phases.times[name] for name in LINES}, labelled=ax is top)
    return top, bottom


def switch_times(path: fullnet.Trajectory, first: float, last: float, most: int) -> Floats:
    """Return the times of the switches between first and last, thinned to at most ``most``, and both ends."""
    times = np.unique([event.t for event in path.events])
    inner = times[(times > first) & (times < last)]
    return np.concatenate([[first], inner[:: 1 + len(inner) // most], [last]])


def _draw_shares(found: fullnet.Sample, ax: Axes) -> None:
    """Stack the shares of the classes that occur, living ones below, the dead on top in grey."""
    share = found.counts / found.counts.sum(axis=1, keepdims=True)
    seen = [k for k in range(len(found.classes)) if share[:, k].any()]
    below = np.zeros(len(found.t))
    for k in sorted(seen, key=lambda k: _place(*found.classes[k])):
        sign, pattern = found.classes[k]
        above = below + share[:, k]
        name = "dead" if set(pattern) == {"-"} else pattern.replace("-", "−")
        of_sign = "positive" if sign > 0 else "negative"
        ax.fill_between(found.t, below, above, step="post", label=f"{of_sign} {name}", **_look(sign, pattern))
        below = above
    ax.set_ylim(0, 1)
    ax.set_ylabel("fraction of all neurons")
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), reverse=True, handleheight=1.6)


def _place(sign: int, pattern: str) -> tuple[bool, int, str]:
    return set(pattern) == {"-"}, -sign, pattern


def _look(sign: int, pattern: str) -> dict[str, Any]:
    """Return colour by sign, hatching by pattern; the dead are grey."""
    line = {"edgecolor": "white", "linewidth": 0.4}
    if set(pattern) == {"-"}:
        return {"facecolor": "#C4C4C4" if sign > 0 else "#A6A6A6", **line}
    return {
        "facecolor": style.PLUS if sign > 0 else style.MINUS,
        "hatch": _HATCHES.get(pattern, "oo"),
        **line,
    }


def figure(setting: Setting) -> Figure:
    """Draw the catalogue's figure."""
    built, panels = style.figure(7.4, 5.6, rows=2, sharex=True, heights=(1, 2))
    draw_patterns(setting.path, panels)
    return style.titled(built, TITLE, setting.words)

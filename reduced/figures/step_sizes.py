"""Gradient descent at several steps beside the flow: when the plateau ends, and how many neurons live."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import fullnet
from reduced.errors import InputError
from reduced.figures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from reduced.figures.setting import Setting

TITLE = "Gradient descent at several steps, and the flow"
CAPTION = (
    "Gradient descent from the same initial weights, by its step (learning rate), each run twice as long as the "
    "flow's plateau. Above: the flow time at which the plateau of accuracy ends, the gradient flow's as a line; a "
    "triangle at the top edge: not within the run. Below: living neurons of each sign at the end of the run, the "
    "flow's as lines. Large steps kill negative neurons, which slide on a kink in the flow, and lengthen the "
    "plateau. The paper trains with step 0.01. Derived here."
)

Floats = NDArray[np.float64]

RATES = (0.05, 0.02, 0.01, 0.005, 0.002)
SMALL_RATES = (0.001, 0.0005, 0.0002)
"""Further steps where numba is installed; without it they take minutes."""
_PLATEAUS = 2.0
_SIZE = (6.4, 5.2)


def descents(path: fullnet.Trajectory, rates: Sequence[float] | None = None) -> tuple[fullnet.StepSize, ...]:
    """Run gradient descent from a flow's weights at several learning rates, to twice its plateau's end.

    Arguments: path, a flow on two-point data; rates, default :data:`RATES` and, with numba,
    :data:`SMALL_RATES`. Raises InputError when the flow's plateau does not end.
    """
    if rates is None:
        rates = RATES + SMALL_RATES if find_spec("numba") else RATES
    end = fullnet.phase_times(path).times["T_plat"]
    if not end:
        raise InputError("path", "a flow without an end of the plateau", "a plateau that ends after t = 0")
    return tuple(
        run for rate in rates for run in fullnet.step_sizes(path, [rate], math.ceil(_PLATEAUS * end / rate))
    )


def draw_step_sizes(
    path: fullnet.Trajectory, runs: Sequence[fullnet.StepSize], axs: Sequence[Axes] | None = None
) -> tuple[Axes, Axes]:
    """Draw the end of the plateau and the living neurons of each sign against the step.

    Arguments: path, the flow; runs, descents from its weights; axs, two Axes one above the other (default: new
    ones). Returns both.
    """
    top, bottom = style.panels(axs, 2, _SIZE)
    runs = sorted(runs, key=lambda one: one.run.lr)
    rates = [one.run.lr for one in runs]
    for ax in (top, bottom):
        ax.set_xscale("log")
        ax.set_xticks(rates, [f"{rate:g}" for rate in rates])
        ax.set_xticks([], minor=True)
    _draw_plateaus(top, path, runs)
    _draw_living(bottom, path, runs)
    bottom.set_xlabel("step (learning rate)")
    return top, bottom


def _draw_plateaus(ax: Axes, path: fullnet.Trajectory, runs: Sequence[fullnet.StepSize]) -> None:
    """Draw T_plat of each run, a triangle at the top edge where it is not reached, and the flow's."""
    rates, times = _columns(runs, [math.nan if one.run.T_plat is None else one.run.T_plat for one in runs])
    end = fullnet.phase_times(path).times["T_plat"]
    if end is not None:
        ax.axhline(end, color=style.REDUCED, linestyle="--", label="gradient flow")
    ax.plot(rates, times, "o-", color=style.ACCURACY, label="gradient descent")
    late = rates[np.isnan(times)]
    if len(late):
        ax.plot(
            late,
            np.ones_like(late),
            "^",
            transform=ax.get_xaxis_transform(),
            color=style.ACCURACY,
            markerfacecolor="white",
            markersize=8,
            clip_on=False,
            label="not within the run",
        )
    ax.set_ylabel(f"end of the plateau {style.event_name('T_plat')}\n(flow time)")
    style.legend_above(ax, 3)


def _draw_living(ax: Axes, path: fullnet.Trajectory, runs: Sequence[fullnet.StepSize]) -> None:
    """Draw how many neurons of each sign live at the end of each run, and in the flow."""
    for sign, words, colour, marker, dashes in (
        (1, "positive", style.PLUS, style.PLUS_MARKER, style.PLUS_LINE),
        (-1, "negative", style.MINUS, style.MINUS_MARKER, style.MINUS_LINE),
    ):
        own = path.network.sign == sign
        rates, counts = _columns(runs, [float(np.sum(one.run.living & own)) for one in runs])
        ax.axhline(float(np.sum(path.living & own)), color=colour, linestyle=dashes, linewidth=1.0)
        ax.plot(rates, counts, marker, color=colour, clip_on=False, label=f"{words} (line: the flow)")
    ax.set_ylim(bottom=0)
    ax.set_ylabel("living neurons")
    style.legend_above(ax, 3)


def _columns(runs: Sequence[fullnet.StepSize], values: Sequence[float]) -> tuple[Floats, Floats]:
    return np.array([one.run.lr for one in runs]), np.array(values, dtype=float)


def figure(setting: Setting) -> Figure:
    """Draw gradient descent from the setting's initial weights at the default steps."""
    built, panels = style.figure(*_SIZE, rows=2, sharex=True)
    draw_step_sizes(setting.path, descents(setting.path), panels)
    return style.titled(built, TITLE, setting.words)

"""How the directions converge: the angle of each living group to its limit, out to t = 10^1000."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reduced.errors import InputError
from reduced.figures import style
from reduced.numbers import exact
from reduced.records import Loss, Problem, Start
from reduced.solve.decay import AngleLaw, AngleLaws, angle_laws
from reduced.solve.predict import Point, predict
from reduced.solve.timeline import regime

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from reduced.figures.setting import Setting

TITLE = "How the directions converge"
CAPTION = (
    "The angle of each living group of the collapsed model to its limit direction, at flow times t out to "
    "10^1000 from the closed form, and the derived law C/(log t + k). A group that sits on a kink together with "
    "its limit has angle 0 from then on. The x-axis shows log₁₀ t itself, on a logarithmic scale, so that 1/log t "
    "is a straight line: by t = 10⁶ little has happened. Without such a law the axis ends soon after the angles "
    "are 0. Limit directions: Theorem 4.10; the law is derived here."
)

Floats = NDArray[np.float64]

_FIRST, _LAST, _POINTS = -0.5, 3.0, 160
_DIGITS = 15
# Room after the last curve, as a factor; axes shorter than this factor have more ticks.
_AFTER, _FEW_DECADES = 1.5, 100.0
_SIZE = (6.6, 4.2)
_GROUPS = (
    ("angle_plus", "K₊", style.PLUS, style.PLUS_MARKER),
    ("angle_minus", "K₋", style.MINUS, style.MINUS_MARKER),
)


def angles(problem: Problem, start: Start, points: int = _POINTS) -> tuple[Point, ...]:
    """Sample the collapsed model at times whose logarithm log₁₀ t grows evenly in scale, up to 1000.

    Arguments: problem with two living groups and the exponential loss; start; points. Raises InputError.
    """
    if problem.loss is not Loss.EXP:
        raise InputError("loss", problem.loss.value, "exp: times like 10^1000 need the closed form")
    if regime(problem) is None:
        given = f"{problem.alpha_plus}, {problem.alpha_minus}"
        raise InputError("alpha_plus, alpha_minus", given, "two positive fractions")
    logs = np.logspace(_FIRST, _LAST, points)
    return predict(problem, start, [exact(10) ** float(x) for x in logs], _DIGITS)


def draw_convergence(points: Sequence[Point], laws: AngleLaws, ax: Axes | None = None) -> Axes:
    """Draw both groups' angles against log₁₀ t, with their laws.

    Arguments: points of two living groups, in order of time; laws of the same model; ax, Axes (default: new
    ones). Returns the Axes.
    """
    ax = style.axes(ax, _SIZE)
    logs = np.array([float(Decimal(one.t).log10()) for one in points])
    ax.set_xscale("log")
    ax.set_yscale("log")
    for (name, group, colour, marker), law in zip(_GROUPS, (laws.plus, laws.minus), strict=True):
        angle = np.array([float(getattr(one, name)) for one in points])
        _draw_angle(ax, logs, angle, group, colour, marker)
        if law is not None and law.shift is not None:
            _draw_law(ax, logs, law)
    _scale(ax, logs)
    ax.set_xlabel("log₁₀ t of the flow time t (1000 stands for t = 10^1000)")
    ax.set_ylabel("angle to the limit direction (radians)")
    ax.legend(loc="upper right")
    return ax


def _scale(ax: Axes, logs: Floats) -> None:
    """End the x-axis where the last curve ends, with room after it when that is before the last time."""
    from matplotlib.ticker import LogLocator, NullFormatter

    drawn = [np.asarray(line.get_xdata(), dtype=float) for line in ax.lines]
    last = min(float(logs[-1]), _AFTER * max((x.max() for x in drawn if x.size), default=float(logs[-1])))
    ax.set_xlim(logs[0], last)
    few = last / logs[0] < _FEW_DECADES
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 3.0, 5.0) if few else (1.0,)))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_formatter(NullFormatter())
    ax.xaxis.set_major_formatter("{x:g}")


def _draw_angle(ax: Axes, logs: Floats, angle: Floats, group: str, colour: str, marker: str) -> None:
    """Draw one group's angle while it is positive, and say from when on it is exactly 0."""
    shown = angle > 0
    words = f"angle of {group}"
    if not shown.any():
        words += ": always 0"
    elif not shown[-1]:
        words += f": 0 by log₁₀ t = {logs[np.flatnonzero(shown)[-1] + 1]:.3g}"
    ax.plot(logs[shown], angle[shown], marker + "-", color=colour, markersize=4, markevery=12, label=words)


def _draw_law(ax: Axes, logs: Floats, law: AngleLaw) -> None:
    """Draw C/(log t + k) where it is positive."""
    constant, shift = float(law.constant), float(law.shift)
    below = logs * math.log(10) + shift
    words = f"{constant:.4g}/(log t {'−' if shift < 0 else '+'} {abs(shift):.4g})"
    ax.plot(
        logs[below > 0], constant / below[below > 0], "--", color=style.REDUCED, linewidth=1.2, label=words
    )


def figure(setting: Setting) -> Figure:
    """Draw the convergence of the network's living groups from the end of Phase I on."""
    built, (ax,) = style.figure(*_SIZE)
    problem, start = setting.living, setting.start
    draw_convergence(angles(problem, start), angle_laws(problem, start, _DIGITS), ax)
    return style.titled(built, TITLE, setting.words)

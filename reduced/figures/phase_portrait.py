"""The collapsed model as a flow in the plane (f₊, f₋): fast towards the slow manifold, then slowly along it."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from reduced.figures import style
from reduced.figures.flow_field import Floats, FlowField, flow_field
from reduced.maxmargin.network import as_float
from reduced.numbers import exact
from reduced.records import Problem, Start, Timeline
from reduced.solve.generated import regime_bounds
from reduced.solve.predict import Point, predict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from reduced.figures.setting import Setting

TITLE = "Phase portrait of the collapsed model"
CAPTION = (
    "Left: the predictions (f₊, f₋) of the collapsed model, from the network's state at the end of Phase I. "
    "Arrows show where the flow goes, by the equations of the phase each place belongs to: up together until the "
    "two forces balance (r = Q/P near 1), then slowly along this manifold. Phase II ends on the straight line on "
    "which the share of K₊ in f₋ is used up. Right: the same in the sum of both margins and r, where the manifold "
    "r = ρ of each phase and the lines r = cos Δ, r = 1/cos Δ (the end of Phase III) come apart. Prediction "
    "equations: Lemmas D.2–D.3 and F.2–F.3; the portrait is derived here."
)

_LOOK: dict[str, tuple[Any, str]] = {
    "II": ("-", style.BLUE),
    "III": ((0, (1, 0.7)), style.VERMILLION),
    "IV": ((0, (4, 1.2)), style.GREEN),
    "overlap": ("-.", style.PURPLE),
}
_MARKS = {"T_plat": "o", "T_II": "s", "T_III": "D"}
_ARROWS = 18
_EARLY, _DECADES_OF_RISE, _DECADES_AFTER = -2.0, 5.5, 1.5
_POINTS = 70
_SOON = 1e-4
_JUST_AFTER = 1 + exact("1e-9")
_MANIFOLD: dict[str, Any] = {"color": style.ORANGE, "linewidth": 5, "alpha": 0.55, "solid_capstyle": "butt"}
_PLATE = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
# Where the names of r = cos Δ and r = 1/cos Δ begin, and what the right panel shows beyond its lines.
_LABELS, _ROOM = 0.2, 0.35
_SIZE = (9.4, 4.4)
_INCHES = (3.9, 3.5)


def orbit(problem: Problem, start: Start, timeline: Timeline, points: int = _POINTS) -> tuple[Point, ...]:
    """Sample the collapsed model in log-time, from before its rise to well after its last event.

    Arguments: problem, start; timeline of the same: its events are among the times, a hair late, in the phase
    they begin; points for the rise, for the whole, and between events. Returns Points in order of time.
    """
    first = _EARLY - 2 * np.log10(as_float(problem.kappa2, "kappa2"))
    events = {float(Decimal(time).log10()): exact(time) * _JUST_AFTER for time in _reached(timeline).values()}
    last = max([first + _DECADES_OF_RISE, *events]) + _DECADES_AFTER
    stretches = [(first, first + _DECADES_OF_RISE), (first, last), *pairwise(sorted(events))]
    logs = {float(x) for stretch in stretches for x in np.linspace(*stretch, points)}
    # what turns quickly after an event needs times close behind it
    logs |= {float(x) for event in events for x in event + np.geomspace(_SOON, last - event, points)}
    logs -= set(events)
    times = [time for _, time in sorted([*((x, exact(10) ** x) for x in logs), *events.items()])]
    return predict(problem, start, [0, *times], timeline.digits, timeline.method)


def _reached(timeline: Timeline) -> dict[str, str]:
    """Return the times of the events that come after the start."""
    return {name: time for name, time in timeline.times.items() if 0 < Decimal(time) < Decimal("inf")}


def draw_phase_portrait(
    found: FlowField, points: Sequence[Point], timeline: Timeline, axs: Sequence[Axes] | None = None
) -> tuple[Axes, Axes]:
    """Draw the flow, its slow manifold, the lines where phases end, and one solution in two planes.

    Arguments: found, the equations; points, the solution in order of time; timeline, its events; axs, two Axes
    (default: new ones): the left for (f₊, f₋), the right for (f₊ − f₋, r = Q/P). Returns both. Raises
    InputError.
    """
    left, right = style.figure(*_SIZE, cols=2)[1] if axs is None else style.given_panels(axs, 2)
    f_plus, f_minus = (
        np.array([float(getattr(one, name)) for one in points]) for name in ("f_plus", "f_minus")
    )
    _draw_predictions(left, found, f_plus, f_minus)
    phases = [one.phase for one in points]
    _draw_ratio(right, found, f_plus, f_minus, phases)
    for ax, x, y in ((left, f_plus, f_minus), (right, f_plus - f_minus, found.ratio(f_plus, f_minus))):
        _draw_orbit(ax, phases, x, y)
    for name in _reached(timeline):
        pair = timeline.predictions[name]
        if pair is not None:
            a, b = (float(value) for value in pair)
            _mark(left, name, a, b)
            _mark(right, name, a - b, float(found.ratio(a, b)))
    left.legend(loc="lower left", frameon=True, framealpha=0.9, edgecolor="none")
    return left, right


def _draw_predictions(ax: Axes, found: FlowField, f_plus: Floats, f_minus: Floats) -> None:
    """Draw the flow in (f₊, f₋) with the slow manifold of Phase II and the line on which that phase ends."""
    ax.set_xlim(min(0.0, f_plus.min()), f_plus.max())
    ax.set_ylim(f_minus.min(), f_minus.max() + 0.25 * np.ptp(f_minus))
    ax.set_xlabel("prediction f₊ = f(x₊)")
    ax.set_ylabel("prediction f₋ = f(x₋)")
    x, y = _places(ax)
    _draw_arrows(ax, x, y, found.velocity(x, y))
    margins = np.linspace(f_plus.min() - ax.get_ylim()[1], f_plus.max() - ax.get_ylim()[0], _POINTS)
    manifold = found.at(margins, found.manifold("II"))
    ax.plot(*manifold, **_MANIFOLD, label="slow manifold")
    ends = np.array(ax.get_xlim())
    used_up = -(found.share[0] * ends + found.unused) / found.share[1]
    ax.plot(ends, used_up, "-.", color=style.BLACK, linewidth=1.0, label="Phase II ends")


def _draw_ratio(ax: Axes, found: FlowField, f_plus: Floats, f_minus: Floats, phases: Sequence[str]) -> None:
    """Draw the flow in (f₊ − f₋, r) near the manifolds, with the lines r = c and r = 1/c."""
    bounds = regime_bounds(found.cosine)
    margins = f_plus - f_minus
    manifolds = {name: found.manifold(name) for name in (phases[0], phases[-1]) if name in found.matrices}
    levels = [*bounds, *manifolds.values()]
    room = _ROOM * (max(levels) - min(levels))
    ax.set_xlim(margins.min(), margins.max())
    ax.set_ylim(max(min(levels) - room, min(levels) / 2), max(levels) + room)
    ax.set_xlabel("sum of the margins f₊ − f₋")
    ax.set_ylabel("ratio of the forces r = Q/P")
    for name, level in manifolds.items():
        stretch = margins[[k for k, phase in enumerate(phases) if phase == name]]
        ax.plot([stretch.min(), stretch.max()], [level, level], **_MANIFOLD)
    for bound, words in zip(bounds, ("r = cos Δ", "r = 1/cos Δ"), strict=True):
        ax.axhline(bound, color=style.BLACK, linewidth=1.0, linestyle="--", zorder=1.5)
        ax.text(
            _LABELS, bound, words, transform=ax.get_yaxis_transform(), va="center", fontsize=8, bbox=_PLATE
        )
    x, y = _places(ax)
    f = found.at(x, y)
    on_plus, on_minus = found.velocity(*f)
    _draw_arrows(ax, x, y, (on_plus - on_minus, found.ratio_speed(*f)))


def _places(ax: Axes) -> tuple[Floats, Floats]:
    """Return a grid of places inside the Axes."""
    x, y = (np.linspace(*ends, 2 * _ARROWS + 1)[1::2] for ends in (ax.get_xlim(), ax.get_ylim()))
    grid = np.meshgrid(x, y)
    return grid[0], grid[1]


def _draw_arrows(ax: Axes, x: Floats, y: Floats, velocity: tuple[Floats, Floats]) -> None:
    """Draw arrows of one length along the velocity, as it is seen in the Axes' scales."""
    u, v = (
        part / np.ptp(ends) * size
        for part, ends, size in zip(velocity, (ax.get_xlim(), ax.get_ylim()), _INCHES, strict=True)
    )
    speed = np.hypot(u, v)
    ax.quiver(
        x, y, u / speed, v / speed, pivot="mid", color="#9A9A9A", scale=1.6 * _ARROWS, width=0.0028, zorder=1
    )


def _draw_orbit(ax: Axes, phases: Sequence[str], x: Floats, y: Floats) -> None:
    """Draw a solution, each phase in its own look and joined to the next."""
    begins = [0, *(k for k in range(1, len(phases)) if phases[k] != phases[k - 1]), len(phases) - 1]
    for k, end in pairwise(begins):
        dashes, colour = _LOOK[phases[k]]
        ax.plot(
            x[k : end + 1],
            y[k : end + 1],
            linestyle=dashes,
            color=colour,
            linewidth=2.4,
            label=f"Phase {phases[k]}",
        )


def _mark(ax: Axes, name: str, x: float, y: float) -> None:
    ax.plot([x], [y], _MARKS[name], color=style.BLACK, markersize=6, label=style.event_name(name))


def figure(setting: Setting) -> Figure:
    """Draw the portrait of the network's living groups from the end of Phase I on."""
    built, panels = style.figure(*_SIZE, cols=2)
    problem, start, timeline = setting.living, setting.start, setting.timeline
    points = orbit(problem, start, timeline)
    draw_phase_portrait(flow_field(problem, start), points, timeline, panels)
    return style.titled(built, TITLE, setting.words)

"""How every figure looks: colours by role, log-time axes, phases shaded and their ends labelled.

Colours are Okabe and Ito's, told apart by the colour-blind; line styles, markers and lightness tell the same
things apart in grayscale. Nothing here touches pyplot or the global rcParams.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.text import Annotation

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILLION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
GREY, PALE, SUBTITLE = "#8C8C8C", "#EFEFEF", "#666666"

PLUS, MINUS, DEAD = VERMILLION, BLUE, GREY
"""What belongs to x₊ or to positive neurons, to x₋ or to negative ones, to dead neurons."""
REDUCED, DATA, ACCURACY, LOSS, LIMIT = BLACK, BLACK, GREEN, PURPLE, ORANGE
"""The reduced model, data directions, accuracy, loss, and limits as t → ∞."""

PLUS_LINE, MINUS_LINE = "-", "--"
PLUS_MARKER, MINUS_MARKER, DEAD_MARKER = "o", "^", "x"

STYLE: Any = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.labelsize": 9,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 9,
    "figure.titlesize": 10.5,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "legend.fontsize": 8,
    "legend.edgecolor": "none",
    "legend.framealpha": 0.85,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "mathtext.fontset": "dejavusans",
    "pdf.fonttype": 42,
    "savefig.dpi": 150,
    "svg.fonttype": "none",
    "svg.hashsalt": "reduced",
    "text.usetex": False,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}
"""The rcParams of every figure; they hold only inside :func:`styled`."""

SHADING = (
    "Phase I is shaded up to this run's last Phase I event; T_I = 10√(κ₁/κ₂) is the paper's bound on it."
)
"""What captions say where phases are shaded."""

TIME_LABEL = "flow time t = step × learning rate"

_EVENTS = {
    "T_I": r"$T_\mathrm{I}$",
    "last_phase_one_event": "last Phase I event",
    "T_r_equals_c": r"$r = \cos\Delta$",
    "T_plat": r"$T_\mathrm{plat}$",
    "T_II": r"$T_\mathrm{II}$",
    "T_III_PT": r"$T_\mathrm{III}^\mathrm{PT}$",
    "T_III": r"$T_\mathrm{III}$",
}
_ABOVE = "above the axes"
# Inches for the line under the title.
_SUBTITLE_ROOM = 0.17
_ROOM = 4.0
_LINE = 12.0
# Axes may still become narrower when the layout is made, texts do not.
_NARROWER = 1.25
_ROMAN = ("I", "II", "III", "IV")


@contextmanager
def styled() -> Iterator[None]:
    """Make what is drawn inside look like the package's figures; outside nothing changes."""
    from matplotlib import rc_context

    with rc_context(STYLE):
        yield


def figure(
    width: float,
    height: float,
    rows: int = 1,
    cols: int = 1,
    *,
    sharex: bool = False,
    heights: Sequence[float] | None = None,
    projection: str | None = None,
) -> tuple[Figure, tuple[Axes, ...]]:
    """Build a figure with its panels, row by row, drawn by Agg and known to nobody else.

    Arguments: width, height in inches; rows, cols; sharex, one time axis for all panels; heights (rows,), the
    relative heights of the rows; projection of the panels (``polar`` or None).
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    built = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(built)
    panels = built.subplots(
        rows,
        cols,
        sharex=sharex,
        squeeze=False,
        height_ratios=heights,
        subplot_kw={"projection": projection} if projection else None,
    )
    return built, tuple(panels.flat)


def beside(ax: Axes, text: str, height: float, fontsize: float) -> None:
    """Write a text right of the Axes, at a height in their data's units."""
    ax.annotate(
        text,
        (1.0, height),
        xycoords=ax.get_yaxis_transform(),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        fontsize=fontsize,
        annotation_clip=False,
    )


def titled(built: Figure, title: str, words: str) -> Figure:
    """Write a title over a figure of :func:`figure` and words in grey under it, and return the figure."""
    from matplotlib.text import Annotation

    height = built.get_size_inches()[1]
    layout: Any = built.get_layout_engine()
    layout.set(rect=(0, 0, 1, 1 - _SUBTITLE_ROOM / height))
    above = built.suptitle(title)
    below = Annotation(
        words,
        (0.5, 0),
        xycoords=above,
        xytext=(0, -2),
        textcoords="offset points",
        ha="center",
        va="top",
        fontsize=8,
        color=SUBTITLE,
        annotation_clip=False,
    )
    below.set_in_layout(False)
    built.add_artist(below)
    return built


def axes(ax: Axes | None, size: tuple[float, float] = (6.4, 3.6), projection: str | None = None) -> Axes:
    """Return the given Axes, or those of a new figure of a size (width, height) in inches.

    Raises InputError when something else than one Axes is given.
    """
    if ax is None:
        return figure(*size, projection=projection)[1][0]
    return _checked("ax", [ax], 1)[0]


def panels(
    axs: Sequence[Axes] | None,
    count: int,
    size: tuple[float, float] = (6.4, 5.2),
    heights: Sequence[float] | None = None,
) -> tuple[Axes, ...]:
    """Return the ``count`` given Axes, or those of a new figure, one above the other on one time axis.

    Names of phases and times are written above the first Axes: a figure with ``layout="constrained"`` makes room
    for them. Raises InputError when other than ``count`` Axes are given.
    """
    if axs is None:
        return figure(*size, rows=count, sharex=True, heights=heights)[1]
    return given_panels(axs, count)


def given_panels(axs: Sequence[Axes], count: int) -> tuple[Axes, ...]:
    """Return the ``count`` Axes of a sequence or an array of any shape. Raises InputError for anything else."""
    from matplotlib.axes import Axes

    if isinstance(axs, Axes):
        return _checked("axs", [axs], count)
    if not isinstance(axs, Iterable):
        return _checked("axs", axs, count)
    return _checked("axs", list(getattr(axs, "flat", axs)), count)


def _checked(name: str, found: Any, count: int) -> tuple[Axes, ...]:
    """Return found Axes when they are ``count``; raise InputError saying what came."""
    from matplotlib.axes import Axes

    from reduced.errors import InputError

    expected = "one Axes" if count == 1 else f"{count} Axes"
    if not isinstance(found, list):
        raise InputError(name, type(found).__name__, expected)
    strange = [type(one).__name__ for one in found if not isinstance(one, Axes)]
    if strange:
        raise InputError(name, strange[0], expected)
    if len(found) != count:
        raise InputError(name, "one Axes" if len(found) == 1 else f"{len(found)} Axes", expected)
    return tuple(found)


def log_time(ax: Axes, first: float, last: float) -> None:
    """Make the x-axis logarithmic flow time from first to last, labelled where tick labels are shown."""
    ax.set_xscale("log")
    ax.set_xlim(first, last)
    if ax.xaxis.get_tick_params(which="major").get("labelbottom", True):
        ax.set_xlabel(TIME_LABEL)


def legend_above(ax: Axes, columns: int) -> None:
    """Put the legend over the Axes, clear of the data and of marks on their edge."""
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.8, ncols=columns, frameon=False)


def event_name(name: str) -> str:
    """Return how the time called ``name`` (``T_plat``, …) is written in figures."""
    return _EVENTS.get(name, name)


def written(number: float, digits: int = 3) -> str:
    """Return a number as figures write it: a few digits, powers of ten as such."""
    mantissa, _, exponent = f"{number:.{digits - 1}e}".partition("e")
    if number == 0 or -3 <= int(exponent) < digits + 1:
        return f"{float(f'{number:.{digits}g}'):g}"
    return rf"${mantissa} \times 10^{{{int(exponent)}}}$"


def phase_lines(
    ax: Axes, times: Mapping[str, float | str | None], *, labelled: bool = True
) -> dict[str, Line2D]:
    """Draw a vertical line at each time, with its name above the axes.

    Arguments: ax, whose x-limits are already set; times by name (``T_plat``, …), flow times, those that never
    come (None, inf) or lie outside the axes left out; labelled, False where another panel has the names.
    Names that would overlap go one line higher. Returns the lines by name.
    """
    first, last = sorted(ax.get_xlim())
    lines = {}
    for name, given in times.items():
        t = math.inf if given is None else float(given)
        if first <= t <= last:
            lines[name] = ax.axvline(t, color="#444444", linewidth=0.9, linestyle=(0, (4, 2)), zorder=1.5)
            lines[name].set_label(f"_{name}")
    if labelled:
        for name, line in sorted(lines.items(), key=lambda item: float(_x(item[1]))):
            _label_above(ax, _x(line), event_name(name))
    return lines


def shade_phases(
    ax: Axes, ends: Sequence[float | str | None], *, labelled: bool = True
) -> tuple[tuple[float, float], ...]:
    """Shade every other phase and write I, II, … above the axes.

    Arguments: ax, whose x-limits are already set; ends, flow times at which Phases I, II and III end (None or
    inf: never); labelled, False where another panel has the numerals. Returns the stretch of each phase seen.
    """
    first, last = sorted(ax.get_xlim())
    bounds = [first, *(math.inf if end is None else float(end) for end in ends), math.inf]
    stretches = []
    for k, numeral in enumerate(_ROMAN[: len(bounds) - 1]):
        begin, end = max(first, bounds[k]), min(last, bounds[k + 1])
        if begin >= end:
            continue
        stretches.append((begin, end))
        if k % 2 == 0:
            ax.axvspan(begin, end, color=PALE, zorder=0)
        if labelled:
            _label_above(ax, _middle(ax, begin, end), numeral, color="#666666", weight="bold")
    return tuple(stretches)


def _x(line: Line2D) -> float:
    return float(line.get_xdata()[0])  # type: ignore[arg-type, index]


def _middle(ax: Axes, begin: float, end: float) -> float:
    """Return the time that is seen half-way between two times."""
    return math.sqrt(begin * end) if ax.get_xscale() == "log" else (begin + end) / 2


def _label_above(ax: Axes, x: float, words: str, **look: Any) -> Annotation:
    """Write words above the axes at x, on the lowest line where they overlap nothing written so before."""
    text = ax.annotate(
        words,
        (x, 1.0),
        xycoords=ax.get_xaxis_transform(),
        xytext=(0, _ROOM),
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize=8,
        annotation_clip=False,
        gid=_ABOVE,
        **look,
    )
    others = [other for other in ax.texts if other.get_gid() == _ABOVE and other is not text]
    level = 0
    while any(_level(other) == level and _touch(ax, text, other) for other in others):
        level += 1
    text.set_position((0, _ROOM + _LINE * level))
    return text


def _level(text: Any) -> int:
    return round((float(text.get_position()[1]) - _ROOM) / _LINE)


def _touch(ax: Axes, one: Any, other: Any) -> bool:
    """Tell whether two texts above the axes would overlap on one line."""
    centres = [ax.transData.transform((text.xy[0], 0.0))[0] for text in (one, other)]
    widths = [text.get_window_extent().width for text in (one, other)]
    return bool(abs(centres[0] - centres[1]) < _NARROWER * sum(widths) / 2 + _ROOM)

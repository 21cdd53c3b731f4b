"""What is wrong with the texts of a drawn figure: labels over labels, cut off, or a legend over data."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

_TOUCH = 0.5
_NEAR = 1e-9


def overlapping(figure: Figure) -> list[tuple[str, str]]:
    """Return the pairs of visible texts whose boxes overlap, as rendered."""
    return [
        (one, other)
        for (one, first), (other, second) in combinations(_boxes(figure), 2)
        if first.overlaps(second)
    ]


def cut_off(figure: Figure) -> list[str]:
    """Return the visible texts that reach out of the figure."""
    whole = figure.bbox.padded(_TOUCH)
    return [
        words
        for words, box in _boxes(figure)
        if not (whole.containsx(box.x0) and whole.containsx(box.x1))
        or not (whole.containsy(box.y0) and whole.containsy(box.y1))
    ]


def covered(figure: Figure) -> list[str]:
    """Return the labels of lines that have a vertex under a legend of their Axes."""
    figure.draw_without_rendering()
    found = []
    for ax in figure.axes:
        legend = ax.get_legend()
        if legend is None:
            continue
        box = legend.get_window_extent()
        for line in ax.lines:
            if str(line.get_label()).startswith("_"):
                continue
            x, y = line.get_transform().transform(line.get_xydata()).T
            if np.any((x > box.x0) & (x < box.x1) & (y > box.y0) & (y < box.y1)):
                found.append(str(line.get_label()))
    return found


def wrong(figure: Figure) -> list[object]:
    """Return everything that is wrong with a figure's texts, nothing for a good one."""
    return [*overlapping(figure), *cut_off(figure), *covered(figure)]


def _boxes(figure: Figure) -> list[tuple[str, Bbox]]:
    """Return every visible text with its box in pixels, a little shrunk."""
    figure.draw_without_rendering()
    unseen = {id(text) for ax in figure.axes for text in _unseen(ax)}
    return [
        (text.get_text(), text.get_window_extent().padded(-_TOUCH))
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and id(text) not in unseen
    ]


def _unseen(ax: Axes) -> Iterator[Text]:
    """Yield the labels of ticks that are not drawn: spare ones, out of view, or of Axes switched off."""
    for axis in (ax.xaxis, ax.yaxis):
        low, high = sorted(axis.get_view_interval())
        seen = {id(axis.label), id(axis.offsetText)} if ax.axison else set()
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            if ax.axison and low - _NEAR * abs(low) <= tick.get_loc() <= high + _NEAR * abs(high):
                seen |= {id(tick.label1), id(tick.label2)}
        yield from (text for text in axis.findobj(Text) if id(text) not in seen)

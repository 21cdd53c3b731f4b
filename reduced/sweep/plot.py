"""The picture of a sweep's scaling laws: one log-log panel per fit, the fitted power solid, the law dashed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reduced.errors import InputError
from reduced.figures import style
from reduced.figures.files import save_figure
from reduced.sweep.scaling import Fit, Series

FORMATS = (".png", ".svg", ".pdf")
MAX_PANELS = 24
_MAX_LEGEND = 6
_COLUMNS = 3
# The height of a legend's line, as a part of the Axes.
_LEGEND_LINE = 0.055
# Markers tell the groups apart in grayscale.
_COLOURS = (
    style.BLUE,
    style.VERMILLION,
    style.GREEN,
    style.PURPLE,
    style.ORANGE,
    style.SKY,
    style.BLACK,
)
_MARKERS = "osD^vPX"
_SYMBOLS = {
    "delta": "Δ (radians)",
    "kappa1": "κ₁",
    "kappa2": "κ₂",
    "alpha_plus": "α₊",
    "alpha_minus": "α₋",
    "dim": "d",
    "lr": "learning rate",
}
_LOG10 = math.log(10)


def plot_fits(fits: Sequence[Fit], path: str | Path) -> None:
    """Draw the fits into a file.

    Arguments: fits, at least one and at most :data:`MAX_PANELS`; path, ending in .png, .svg or .pdf. Axes
    show log₁₀ where numbers leave the range of doubles. Raises InputError.
    """
    target = Path(path)
    if target.suffix.lower() not in FORMATS:
        raise InputError("plot", str(path), f"a file name ending in {', '.join(FORMATS)}")
    if not target.parent.is_dir():
        raise InputError("plot", str(path), "a file in a folder that exists")
    if not 1 <= len(fits) <= MAX_PANELS:
        raise InputError("plot", f"{len(fits)} fits", f"1 to {MAX_PANELS} fits to draw")
    columns = min(_COLUMNS, len(fits))
    lines = math.ceil(len(fits) / columns)
    with style.styled():
        figure, panels = style.figure(4.6 * columns, 3.8 * lines, lines, columns)
        for panel, fit in zip(panels, fits, strict=False):
            draw_fit(panel, fit)
    for panel in panels[len(fits) :]:
        panel.set_axis_off()
    save_figure(figure, target)


def draw_fit(panel: Any, fit: Fit) -> Any:
    """Draw one fit into Axes, log₁₀ against log₁₀ of the numbers, and return the Axes."""
    for k, one in enumerate(fit.series):
        _draw_series(panel, fit, one, k)
    panel.set_xlabel(f"log₁₀ {_SYMBOLS.get(fit.parameter, fit.parameter)}")
    panel.set_ylabel("log₁₀ " + _quantity(fit.quantity))
    error = "" if math.isnan(fit.error) else f" ± {fit.error:.1g}"
    theory = "" if fit.theory is None else f", Δ → 0: {fit.theory}"
    panel.set_title(f"{fit.computation}: exponent {fit.exponent:.4g}{error}{theory}")
    panel.locator_params(nbins=5)
    panel.margins(y=0.15)
    if 1 < len(fit.series) <= _MAX_LEGEND or fit.series[0].law:
        _legend_above(panel)
    return panel


def _quantity(name: str) -> str:
    """Return how a quantity, or a difference of two, is written in figures."""
    terms = [style.event_name(term) for term in name.split(" - ")]
    return f"({' − '.join(terms)})" if len(terms) > 1 else terms[0]


def _legend_above(panel: Any) -> None:
    """Add the legend in a stretch of the Axes freed for it above the data."""
    handles, _ = panel.get_legend_handles_labels()
    low, high = panel.get_ylim()
    panel.set_ylim(low, low + (high - low) / (1 - _LEGEND_LINE * (len(handles) + 1)))
    panel.legend(loc="upper right")


def _draw_series(panel: Any, fit: Fit, one: Series, k: int) -> None:
    colour, marker = _COLOURS[k % len(_COLOURS)], _MARKERS[k % len(_MARKERS)]
    named = len(fit.series) <= _MAX_LEGEND
    words = ", ".join(f"{name} = {value}" for name, value in one.fixed.items()) or "rows"
    order = sorted(range(len(one.x)), key=one.x.__getitem__)
    x = [one.x[i] / _LOG10 for i in order]
    panel.plot(
        x,
        [one.y[i] / _LOG10 for i in order],
        marker,
        color=colour,
        markersize=4,
        label=words if named else None,
    )
    mean_x, mean_y = math.fsum(one.x) / len(one.x), math.fsum(one.y) / len(one.y)
    fitted = [(mean_y + fit.exponent * (one.x[i] - mean_x)) / _LOG10 for i in order]
    panel.plot(x, fitted, color=colour, linewidth=0.8, alpha=0.6)
    if one.law:
        law = [one.law[i] / _LOG10 for i in order]
        label = "law as Δ → 0" if k == len(fit.series) - 1 else None
        panel.plot(x, law, "--", color=colour, linewidth=1, label=label)

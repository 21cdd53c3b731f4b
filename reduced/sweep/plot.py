"""The picture of a sweep's scaling laws: one log-log panel per fit, the fitted power solid, the law dashed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reduced.errors import InputError
from reduced.figures import style
from reduced.figures.files import save_figure
from reduced.numbers import exact
from reduced.solve.promise import private_context
from reduced.sweep.scaling import Fit, Series

FORMATS = (".png", ".svg", ".pdf")
MAX_PANELS = 24
# Up to so many series each have a colour and a marker of their own; of more, so many are named.
_MAX_NAMED = 8
# Longer legends stand beside the Axes.
_MAX_INSIDE = 5
_RAMP, _RAMP_ENDS = "viridis", (0.0, 0.9)
_DECIMALS, _DIGITS = 4, 20
# Inches around a panel, so that a row's titles stay clear of the labels above.
_PADDING = 0.12
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
    style.GREY,
)
_MARKERS = "osD^vPX*"
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
        layout: Any = figure.get_layout_engine()
        layout.set(w_pad=_PADDING, h_pad=_PADDING)
        several = len({fit.computation for fit in fits}) > 1
        for panel, fit in zip(panels, fits, strict=False):
            draw_fit(panel, fit)
            if several:
                panel.set_title(f"{panel.get_title()} ({fit.computation})")
    for panel in panels[len(fits) :]:
        panel.set_axis_off()
    save_figure(figure, target)


def draw_fit(panel: Any, fit: Fit) -> Any:
    """Draw one fit into Axes, log₁₀ against log₁₀ of the numbers, and return the Axes.

    Series come in the order of their parameters; of more than eight, every few are named and colours go from
    dark to light.
    """
    ordered = sorted(fit.series, key=_order)
    named = _named(len(ordered))
    for k, one in enumerate(ordered):
        colour, marker = _look(k, len(ordered))
        _draw_series(panel, fit.exponent, one, colour, marker, _words(one) if k in named else None)
    if ordered[-1].law:
        panel.lines[-1].set_label("law as Δ → 0")
    panel.set_xlabel(f"log₁₀ {_SYMBOLS.get(fit.parameter, fit.parameter)}")
    panel.set_ylabel("log₁₀ " + _quantity(fit.quantity))
    error = "" if math.isnan(fit.error) else f" ± {fit.error:.1g}"
    theory = "" if fit.theory is None else f", Δ → 0: {fit.theory}"
    panel.set_title(f"{_quantity(fit.quantity)}: exponent {fit.exponent:.4g}{error}{theory}")
    panel.locator_params(nbins=5)
    panel.margins(y=0.15)
    if len(fit.series) > 1 or fit.series[0].law:
        _add_legend(panel)
    return panel


def _quantity(name: str) -> str:
    """Return how a quantity, or a difference of two, is written in figures."""
    terms = [style.event_name(term) for term in name.split(" - ")]
    return f"({' − '.join(terms)})" if len(terms) > 1 else terms[0]


def _add_legend(panel: Any) -> None:
    """Add the legend in a stretch of the Axes freed for it above the data, a long one beside the Axes."""
    handles, _ = panel.get_legend_handles_labels()
    if len(handles) > _MAX_INSIDE:
        panel.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
        return
    low, high = panel.get_ylim()
    panel.set_ylim(low, low + (high - low) / (1 - _LEGEND_LINE * (len(handles) + 1)))
    panel.legend(loc="upper right")


def _order(one: Series) -> tuple[tuple[float, str], ...]:
    """Return what series are sorted by: their parameters as numbers, words after them."""
    return tuple((math.inf if value is None else value, str(one.fixed[name])) for name, value in _values(one))


def _values(one: Series) -> list[tuple[str, float | None]]:
    """Return the parameters of a series with their values, None for what is no number."""
    return [(name, _number(value)) for name, value in one.fixed.items()]


def _number(value: Any) -> float | None:
    try:
        return float(exact(str(value)).evaluate(private_context(_DIGITS)))
    except InputError:
        return None


def _words(one: Series) -> str:
    """Return the parameters of a series, numbers as decimals."""
    return (
        ", ".join(
            f"{_name(name)} = {one.fixed[name] if value is None else format(value, f'.{_DECIMALS}g')}"
            for name, value in _values(one)
        )
        or "rows"
    )


def _name(parameter: str) -> str:
    return _SYMBOLS.get(parameter, parameter).removesuffix(" (radians)")


def _named(count: int) -> set[int]:
    """Return which of the series are named: all, or a few evenly spread ones with the first and the last."""
    few = min(count, _MAX_NAMED)
    return {round(k * (count - 1) / max(few - 1, 1)) for k in range(few)}


def _look(k: int, count: int) -> tuple[Any, str]:
    """Return the colour and the marker of a series."""
    marker = _MARKERS[k % len(_MARKERS)]
    if count <= _MAX_NAMED:
        return _COLOURS[k], marker
    from matplotlib import colormaps

    low, high = _RAMP_ENDS
    return colormaps[_RAMP](low + (high - low) * k / (count - 1)), marker


def _draw_series(
    panel: Any, exponent: float, one: Series, colour: Any, marker: str, words: str | None
) -> None:
    """Draw a series, the fitted power through its middle and the small-Δ law."""
    order = sorted(range(len(one.x)), key=one.x.__getitem__)
    x = [one.x[i] / _LOG10 for i in order]
    panel.plot(x, [one.y[i] / _LOG10 for i in order], marker, color=colour, markersize=4, label=words)
    mean_x, mean_y = math.fsum(one.x) / len(one.x), math.fsum(one.y) / len(one.y)
    fitted = [(mean_y + exponent * (one.x[i] - mean_x)) / _LOG10 for i in order]
    panel.plot(x, fitted, color=colour, linewidth=0.8, alpha=0.6)
    if one.law:
        panel.plot(x, [one.law[i] / _LOG10 for i in order], "--", color=colour, linewidth=1)

"""The picture of a sweep's scaling laws: one log-log panel per fit, the fitted power solid, the law dashed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reduced.errors import InputError
from reduced.sweep.scaling import Fit, Series

FORMATS = (".png", ".svg", ".pdf")
MAX_PANELS = 24
_MAX_LEGEND = 6
_COLUMNS = 3
# Okabe and Ito's palette, told apart by the colour-blind; markers tell the groups apart in grayscale.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
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
    from matplotlib.figure import Figure

    if Path(path).suffix.lower() not in FORMATS:
        raise InputError("plot", str(path), f"a file name ending in {', '.join(FORMATS)}")
    if not 1 <= len(fits) <= MAX_PANELS:
        raise InputError("plot", f"{len(fits)} fits", f"1 to {MAX_PANELS} fits to draw")
    columns = min(_COLUMNS, len(fits))
    lines = math.ceil(len(fits) / columns)
    figure = Figure(figsize=(4.6 * columns, 3.8 * lines), layout="constrained")
    panels = list(figure.subplots(lines, columns, squeeze=False).flat)
    for panel, fit in zip(panels, fits, strict=False):
        draw_fit(panel, fit)
    for panel in panels[len(fits) :]:
        panel.set_axis_off()
    try:
        figure.savefig(path, dpi=150)
    except OSError as why:
        raise InputError("plot", str(path), f"a file that can be written ({why.strerror})") from None


def draw_fit(panel: Any, fit: Fit) -> Any:
    """Draw one fit into Axes, log₁₀ against log₁₀ of the numbers, and return the Axes."""
    for k, one in enumerate(fit.series):
        _draw_series(panel, fit, one, k)
    panel.set_xlabel(f"log₁₀ {_SYMBOLS.get(fit.parameter, fit.parameter)}")
    panel.set_ylabel(f"log₁₀ {fit.quantity}")
    error = "" if math.isnan(fit.error) else f" ± {fit.error:.1g}"
    theory = "" if fit.theory is None else f", Δ → 0: {fit.theory}"
    panel.set_title(f"{fit.computation}: exponent {fit.exponent:.4g}{error}{theory}", fontsize=9)
    panel.locator_params(nbins=5)
    panel.margins(y=0.15)
    panel.grid(alpha=0.3)
    if 1 < len(fit.series) <= _MAX_LEGEND or fit.series[0].law:
        panel.legend(fontsize=7)
    return panel


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

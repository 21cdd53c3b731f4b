"""How much of the best possible margin training reaches: γ/γ_max over the angle Δ and the ratio α = α₋/α₊."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reduced.errors import InputError
from reduced.figures import style
from reduced.maxmargin.network import as_float
from reduced.records import Problem, Regime
from reduced.solve.generated import LIMIT, regime_bounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from reduced.figures.setting import Setting

TITLE = "How much of the largest margin is reached"
CAPTION = (
    "The normalised margin γ at the end of training over the largest one, γ_max, which has every neuron alive, "
    "by the angle Δ between the two points and the ratio α = α₋/α₊ of living fractions (α₊ fixed, half of the "
    "neurons positive). Thick lines: α = cos Δ and α = 1/cos Δ, between which training ends in Phase III, "
    "below which it ends in Phase IV, above which in Phase II. The star is this setting. "
    "Limit direction: Theorem 4.10; margins derived here."
)

Floats = NDArray[np.float64]

_COLUMNS, _ROWS = 181, 161
_LEAST_ALPHA, _MOST_ALPHA = 0.25, 2.0
# How much further the map goes when the problem's own α lies outside.
_BEYOND = 1.25
_EVERYONE = 0.5
_LEVELS = np.arange(1, 20) / 20
# Columns of the contours' labels, and how far in α they stay off the edges.
_LABELS, _EDGE = (11, 90, 140), 0.03
# Pale enough for black lines and words on all of it, also in grayscale.
_MAP, _DARKEST = "GnBu", 1.8
_PLATE = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1.5}
_SIZE = (6.4, 4.8)


@dataclass(frozen=True, eq=False)
class MarginMap:
    """γ/γ_max on a grid, with the boundaries of the regimes.

    alpha_plus, the same everywhere; deltas (n,), angles Δ in radians; alphas (k,), ratios α = α₋/α₊; shares
    (k, n), γ/γ_max; lower, upper (n,), the α between which the regime is three-phase.
    """

    alpha_plus: float
    deltas: Floats
    alphas: Floats
    shares: Floats
    lower: Floats
    upper: Floats


def margin_map(problem: Problem) -> MarginMap:
    """Evaluate γ/γ_max for the angles with p cos Δ > 1 and the ratios α around 1, as far as α₋ ≤ 1/2.

    Arguments: problem, of which p and α₊ count; half of all neurons are positive, as :func:`reduced.limit`
    supposes. Raises InputError.
    """
    p, alpha_plus = as_float(problem.p, "p"), as_float(problem.alpha_plus, "alpha_plus")
    if p <= 1:
        raise InputError("p", p, "more than 1, so that p cos(delta) > 1 for some angle")
    if not 0 < alpha_plus <= _EVERYONE:
        raise InputError("alpha_plus", alpha_plus, "a fraction above 0 and at most 1/2, half of all neurons")
    deltas = np.linspace(0, math.acos(1 / p), _COLUMNS)[1:]
    own_alpha = as_float(problem.alpha_minus, "alpha_minus") / alpha_plus
    least = min(_LEAST_ALPHA, own_alpha / _BEYOND) or _LEAST_ALPHA
    most = min(max(_MOST_ALPHA, own_alpha * _BEYOND), _EVERYONE / alpha_plus)
    alphas = np.linspace(least, most, _ROWS)
    delta, alpha = np.meshgrid(deltas, alphas)
    own = _margin_squared(alpha_plus, alpha * alpha_plus, delta)
    best = _margin_squared(_EVERYONE, _EVERYONE, delta)
    return MarginMap(alpha_plus, deltas, alphas, np.sqrt(own / best), *regime_bounds(np.cos(deltas)))


def _margin_squared(alpha_plus: float, alpha_minus: ArrayLike, delta: Floats) -> Floats:
    """Return γ²/κ₂² by the derived formula of each place's regime."""
    c, minus = np.cos(delta), np.broadcast_to(alpha_minus, delta.shape)
    numbers = alpha_plus, minus, 1, c, np.sin(delta) ** 2, 2 * np.sin(delta / 2) ** 2
    four, three, two = (
        LIMIT[regime.value](*numbers).gamma_squared
        for regime in (Regime.FOUR_PHASE, Regime.THREE_PHASE, Regime.TWO_PHASE)
    )
    lower, upper = regime_bounds(c)
    return np.select([minus < lower * alpha_plus, minus < upper * alpha_plus], [four, three], two)


def draw_margin_map(found: MarginMap, problem: Problem | None = None, ax: Axes | None = None) -> Axes:
    """Draw γ/γ_max as a map with labelled contours, the boundaries of the regimes and their names.

    Arguments: found; problem, marked by a star at its Δ and α; ax, Axes to draw into (default: new ones).
    Returns the Axes.
    """
    ax = style.axes(ax, _SIZE)
    ax.grid(visible=False)
    ax.set_xlim(found.deltas[0], found.deltas[-1])
    ax.set_ylim(found.alphas[0], found.alphas[-1])
    ax.set_xlabel("angle Δ between the points (radians)")
    ax.set_ylabel("ratio of living fractions α = α₋/α₊")
    extent = (*ax.get_xlim(), *ax.get_ylim())
    ax.imshow(found.shares, origin="lower", extent=extent, aspect="auto", cmap=_MAP, vmin=0.0, vmax=_DARKEST)
    lines = ax.contour(found.deltas, found.alphas, found.shares, _LEVELS, colors="black", linewidths=0.7)
    ax.clabel(lines, fmt="%.2f", fontsize=8, manual=list(_contour_labels(found)))
    _draw_regimes(ax, found)
    if problem is not None:
        _draw_place(ax, problem)
    return ax


def _contour_labels(found: MarginMap) -> Iterator[tuple[float, float]]:
    """Yield a place (Δ, α) for each contour's label, in the leftmost column where it is clear of the edges."""
    low, high = found.alphas[0] + _EDGE, found.alphas[-1] - _EDGE
    for level in _LEVELS:
        for column in _LABELS:
            along = found.shares[:, column]
            alpha = float(np.interp(level, along, found.alphas))
            if low < alpha < high:
                yield float(found.deltas[column]), alpha
                break


def _draw_regimes(ax: Axes, found: MarginMap) -> None:
    """Draw the two boundaries and write the regimes between them."""
    top, widest = found.alphas[-1], found.deltas[-1]
    ax.plot(found.deltas, found.lower, color=style.BLACK, linewidth=2.4, label="α = cos Δ")
    ax.plot(found.deltas, found.upper, "--", color=style.BLACK, linewidth=2.4, label="α = 1/cos Δ")
    for x, y, words in (
        (0.45 * widest, 0.56, "four-phase: α < cos Δ"),
        (0.80 * widest, 1.0, "three-phase"),
        (0.40 * widest, (1.45 + top) / 2, "two-phase: α ≥ 1/cos Δ"),
    ):
        if y < top:
            ax.text(x, y, words, ha="center", va="center", fontsize=9, bbox=_PLATE)


def _draw_place(ax: Axes, problem: Problem) -> None:
    """Mark where a problem lies (α = 0 is below the map)."""
    alpha = as_float(problem.alpha_minus, "alpha_minus") / as_float(problem.alpha_plus, "alpha_plus")
    delta = as_float(problem.delta, "delta")
    ax.plot([delta], [alpha], "*", color="black", markeredgecolor="white", markersize=14)


def figure(setting: Setting) -> Figure:
    """Draw the map at the network's own α₊."""
    built, (ax,) = style.figure(*_SIZE)
    draw_margin_map(margin_map(setting.living), setting.living, ax)
    return style.titled(built, f"{TITLE}: γ/γ_max at α₊ = {setting.living.alpha_plus}", setting.words)

"""How long Phase II lasts over random initialisations: the exact law of T_II beside networks drawn by seed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

import fullnet
from reduced.figures import style
from reduced.maxmargin.network import as_float
from reduced.records import Problem
from reduced.solve.doubles import plateau_map
from reduced.theorems.distribution import TimeLaw, distribution
from reduced.theorems.living import living_by_rule

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from reduced.figures.setting import Setting

TITLE = "How long Phase II lasts, over seeds"
CAPTION = (
    "The probability that Phase II lasts longer than t, by the exact law of the living counts of m neurons with "
    "half of the signs positive (κ₁ → 0), and among networks drawn by consecutive seeds, their living neurons "
    "read off their initial weights. The curve has a tail heavier than any power and ends at the probability "
    "that Phase II never ends (α ≥ 1/cos Δ, or no living positive neuron). All dots are of one sample, so "
    "neighbours go together: now and then they keep to one edge of the band. Counts: Theorem 4.1; law derived "
    "here."
)

Floats = NDArray[np.float64]

NETWORKS = 400
# Where 95 % of such samples lie, place by place.
_BAND, _BAND_WORDS = (0.025, 0.975), "where 95 % of {} networks lie"
# A share of early times left out; how near the line of never the curve is followed, as a factor.
_LEFT_OUT, _NEAR = 1e-4, 1.3
# Times over a wider range than this factor are drawn on a logarithmic scale; a rarer never is off the axis.
_FEW_TIMES, _ROOM, _LEAST_NEVER = 2.5, 0.03, 1e-8
_LOG10 = np.log(10)
_SIZE = (6.6, 4.2)


def drawn_lengths(networks: Iterable[fullnet.Network], problem: Problem) -> Floats:
    """Return ln T_II (inf for never) of networks whose living neurons follow from their initial weights.

    Arguments: networks; problem, of which p, Δ and κ₂ count. Source: the living sets as κ₁κ₂ → 0 and the
    closed form of the collapsed model from f = 0, in doubles.
    """
    living = [living_by_rule(network, problem) for network in networks]
    plus, minus = np.array([[mask.mean() for mask in masks] for masks in living]).T
    p, delta, kappa2 = (as_float(vars(problem)[name], name) for name in ("p", "delta", "kappa2"))
    return plateau_map(p, delta, plus, minus, kappa2)["log_T_II"]


def draw_lengths(law: TimeLaw, log_times: ArrayLike, ax: Axes | None = None) -> Axes:
    """Draw P(T > t) of a time's law and of a sample against log₁₀ t, down to the probability of never.

    Arguments: law; log_times (n,), ln t of the sample, inf for never; ax, Axes (default: new ones). Returns
    the Axes.
    """
    from scipy.stats import binom

    ax = style.axes(ax, _SIZE)
    sample = np.sort(np.asarray(log_times, dtype=float))
    places, beyond = _law_steps(law)
    low, high = (binom.ppf(level, len(sample), beyond) / len(sample) for level in _BAND)
    ax.fill_between(
        places,
        low,
        high,
        step="post",
        color=style.GREY,
        alpha=0.3,
        linewidth=0,
        label=_BAND_WORDS.format(len(sample)),
    )
    ax.plot(places, beyond, drawstyle="steps-post", color=style.REDUCED, label="exact law")
    ax.plot(*_sample_steps(sample), ".", color=style.BLUE, label=f"{len(sample)} networks")
    never = np.isinf(sample)
    ax.axhline(law.never, color=style.BLACK, linestyle=":", label="never, by the law")
    _scale(ax, law, places, sample)
    ax.annotate(
        f"never: probability {law.never:.3g} by the law, {int(never.sum())} of {len(sample)} networks",
        (0.02, max(law.never, ax.get_ylim()[0])),
        xycoords=ax.get_yaxis_transform(),
        xytext=(0, 3),
        textcoords="offset points",
        fontsize=8,
    )
    ax.set_ylabel(f"probability that {style.event_name(law.name)} > t")
    ax.set_xlabel("log₁₀ t of the flow time t")
    style.legend_above(ax, 2)
    return ax


def _law_steps(law: TimeLaw) -> tuple[Floats, Floats]:
    """Return log₁₀ t and P(T > t) at every finite time of a law, in increasing order."""
    places = np.unique(law.log_times[np.isfinite(law.log_times)])
    reached = np.cumsum(law.probabilities)[np.searchsorted(law.log_times, places, side="right") - 1]
    return places / _LOG10, np.maximum(law.probabilities.sum() - reached, law.never)


def _sample_steps(sample: Floats) -> tuple[Floats, Floats]:
    """Return log₁₀ t and the share of a sorted sample beyond t, at each of its finite times."""
    places = np.unique(sample[np.isfinite(sample)])
    return places / _LOG10, 1 - np.searchsorted(sample, places, side="right") / len(sample)


def _scale(ax: Axes, law: TimeLaw, places: Floats, sample: Floats) -> None:
    """Scale both axes to what is seen: the times until the curve nears the line of never, and that line.

    log₁₀ t can run over orders of magnitude itself; its axis is logarithmic too where it does.
    """
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

    finite = sample[np.isfinite(sample)] / _LOG10
    first = min([law.log_quantile(_LEFT_OUT * (1 - law.never)) / _LOG10, *finite])
    left = min(max(_NEAR * law.never, 0.5 / len(sample)), (1 + law.never) / 2)
    last = max([law.log_quantile(1 - left) / _LOG10, *finite])
    ax.set_yscale("log")
    if first > 0 and last > _FEW_TIMES * first:
        ax.set_xscale("log")
        ax.set_xlim(first / 1.03, 1.03 * last)
        ax.xaxis.set_major_locator(
            LogLocator(subs=(1.0, 1.5, 2.0, 3.0, 5.0, 7.0) if last < 100 * first else (1.0,))
        )
        ax.xaxis.set_minor_formatter(NullFormatter())
    else:
        room = _ROOM * (last - first) or 1.0
        ax.set_xlim(first - room, last + room)
        ax.xaxis.set_major_locator(MaxNLocator(7))
    seen = law.never if law.never > _LEAST_NEVER else 1.0
    ax.set_ylim(0.5 * min(seen, 1 / len(sample)), 1.3)
    ax.xaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_major_formatter("{x:g}")


def figure(setting: Setting) -> Figure:
    """Draw the law at the setting's m, beside networks of its kind."""
    built, (ax,) = style.figure(*_SIZE)
    problem = setting.problem
    networks = (setting.drawn(setting.seed + k) for k in range(NETWORKS))
    law = distribution(problem, setting.m).laws["T_II"]
    draw_lengths(law, drawn_lengths(networks, problem), ax)
    return style.titled(built, TITLE, setting.words)

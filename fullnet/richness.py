"""Lazy or rich: how many neurons change their activation patterns (the paper's comparison with the NTK)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullnet.checks import Floats, choice, count
from fullnet.data import DataSet
from fullnet.detection import condensed_at
from fullnet.errors import InputError
from fullnet.flow import gradient_flow
from fullnet.network import initial_network
from fullnet.sample import log_times
from fullnet.shown import shown
from fullnet.trajectory import Trajectory

REGIMES = ("rich", "lazy")


@dataclass(frozen=True, eq=False)
class PatternShare:
    """The fraction of all neurons whose pattern on a point differs from an earlier one, at times t (T,).

    from_start (T, N): from the pattern at time 0; from_condensation (T, N): from the pattern at
    condensed_at, the end of Phase I (NaN before it). A pattern on a point is active, inactive or sliding.
    """

    t: Floats
    condensed_at: float
    from_start: Floats
    from_condensation: Floats

    __repr__ = shown


@dataclass(frozen=True, eq=False)
class WidthStudy:
    """How the fraction of changed patterns depends on the width: m (K,), changed (K,), the fitted exponent.

    changed: the fraction of (neuron, point) pairs whose activity at the end differs from the start's, mean over
    seeds; changed ≈ constant · m^exponent, least squares in logarithms (NaN if nothing changes).
    """

    regime: str
    m: tuple[int, ...]
    changed: Floats
    exponent: float

    __repr__ = shown


def pattern_share(
    flow: Trajectory, points: int = 200, times: Any = None, condensed: float | None = None
) -> PatternShare:
    """Return the fraction of neurons with changed patterns over time.

    Arguments: flow; points, how many times even in log t, or times (T,) themselves; condensed, the end of
    Phase I, default the one detected. Returns a PatternShare. Raises InputError.
    """
    t = log_times(flow, points) if times is None else flow.checked_times(times).reshape(-1)
    settled = condensed_at(flow) if condensed is None else float(flow.checked_times(condensed))
    settled = 0.0 if settled is None else settled
    from_start, from_settled = marks(flow, 0.0), marks(flow, settled)
    now = [marks(flow, float(one)) for one in t]
    later = np.array([np.mean(one != from_settled, axis=0) for one in now])
    later[t < settled] = np.nan
    return PatternShare(t, settled, np.array([np.mean(one != from_start, axis=0) for one in now]), later)


def marks(flow: Trajectory, t: float) -> Any:
    """Return the patterns at a time as an array (m, N) of 1 active, 0 sliding, −1 inactive."""
    signs = {"+": 1, "0": 0, "-": -1}
    table = np.array([[signs[c] for c in name] for name in flow.history.patterns], dtype=np.int8)
    return table[flow.history.classes(t)]


def width_study(
    data: DataSet,
    widths: Sequence[int],
    regime: str,
    kappa1: float = 0.1,
    kappa2: float = 1.0,
    until: float = 1e4,
    seeds: Sequence[int] = (0,),
    loss: str = "exp",
) -> WidthStudy:
    """Follow networks of several widths and fit how the share of changed patterns depends on the width.

    Arguments: data; widths m; regime ``rich`` (initial size κ₁ for every m) or ``lazy`` (κ₁√m, so that single
    weights do not shrink with m and training moves them by about 1/√m; at a small angle Δ of two points
    that sets in where √m ≫ 1/Δ² only); kappa1, kappa2, the sizes κ₁, κ₂; until, flow time; seeds to average
    over; loss. Returns a WidthStudy. Raises InputError. Derived here.
    """
    choice(regime, "regime", REGIMES)
    sizes = tuple(count(m, "widths") for m in widths)
    if len(set(sizes)) < 2:
        raise InputError("widths", widths, "at least two different widths")
    dim = data.X.shape[1]
    changed = []
    for m in sizes:
        size = kappa1 * math.sqrt(m) if regime == "lazy" else kappa1
        nets = [initial_network(m, dim, size, kappa2, seed) for seed in seeds]
        changed.append(np.mean([_changed(gradient_flow(net, data, until, loss)) for net in nets]))
    shares = np.array(changed)
    fit = np.polyfit(np.log(sizes), np.log(shares), 1)[0] if np.all(shares > 0) else math.nan
    return WidthStudy(regime, sizes, shares, float(fit))


def _changed(flow: Trajectory) -> float:
    return float(np.mean((marks(flow, 0.0) > 0) != (marks(flow, flow.end) > 0)))

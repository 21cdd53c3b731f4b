"""How the KKT residual of the max-margin problem falls along a training run.

The weights are S V + (a part that no longer changes), S ~ log t, and V meets the KKT conditions: the residual of
the direction closes like 1/log t, once the last phase has begun. Before, the living neurons have other patterns,
whose own residual may be smaller for a while.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from reduced.maxmargin.kkt import kkt
from reduced.maxmargin.network import KINK_TOLERANCE, Floats


class Path(Protocol):
    """A training run that remembers its weights, such as fullnet's Trajectory and DescentPath."""

    @property
    def network(self) -> Any:
        """The network at time 0, with ``sign`` (m,) and ``kappa2``."""

    @property
    def data(self) -> Any:
        """The data set, with ``X`` (N, d) and ``y`` (N,)."""

    def neurons(self, t: float) -> Floats:
        """Return all weights (m, d) at flow time t."""


@dataclass(frozen=True)
class Residual:
    """The KKT certificate at flow time t: smallest stationarity residual, γ = min yᵢfᵢ/‖θ‖, λ₋/λ₊.

    ``multiplier_ratio`` is the second multiplier over the first, None when that is 0 or there are not two points;
    ``kinked`` counts the pairs of neuron and point counted as lying on a kink.
    """

    t: float
    residual: float
    normalised_margin: float
    multiplier_ratio: float | None
    kinked: int


def residual_along(
    path: Path, times: Iterable[float], kink_tolerance: float | Callable[[float], float] = KINK_TOLERANCE
) -> tuple[Residual, ...]:
    """Find the KKT residual of the weights of a run at several flow times.

    Arguments: path, the run; times; kink_tolerance, as in :func:`kkt`, or a function of time: neurons of a gradient
    descent chatter about their kinks at the size of its step (``DescentPath.chatter``), so that only a tolerance of
    that order sees them slide. Returns a Residual for each time. Raises InputError. Source: Thm 4.11 (KKT); along a
    run: derived here.
    """
    return tuple(
        _residual(path, t, kink_tolerance(t) if callable(kink_tolerance) else kink_tolerance) for t in times
    )


def _residual(path: Path, t: float, kink_tolerance: float) -> Residual:
    network, data = path.network, path.data
    found = kkt(path.neurons(t), network.sign, data.X, data.y, network.kappa2, kink_tolerance=kink_tolerance)
    first, *others = found.multipliers.tolist()
    ratio = others[0] / first if len(others) == 1 and first > 0 else None
    return Residual(t, found.residual, found.normalised_margin, ratio, int(found.kinked.sum()))

"""A gradient descent looked at on its way: its weights at chosen times."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from fullnet import checks
from fullnet.checks import Floats
from fullnet.data import DataSet
from fullnet.descent import Descent, gradient_descent
from fullnet.errors import InputError
from fullnet.network import Network, log_loss
from fullnet.shown import shown


@dataclass(frozen=True, eq=False)
class DescentPath:
    """A descent cut at increasing flow times (step × lr): the run that ends at each of them.

    Fields: network, the initial one; data; lr; loss; times (T,), on the step grid; runs (T,), each begun where the
    one before ended.
    """

    network: Network
    data: DataSet
    lr: float
    loss: str
    times: tuple[float, ...]
    runs: tuple[Descent, ...]

    __repr__ = shown

    def neurons(self, t: float) -> Floats:
        """Return all weights (m, d) at a flow time the path was cut at; InputError elsewhere."""
        return self._run(t).network.W

    def chatter(self, t: float) -> float:
        """Bound the distance from its kink of a neuron that slides by chattering, relative to its norm.

        One step moves ⟨b, x⟩ by at most lr |a| Σᵢ wᵢ(−ℓ′) ‖xᵢ‖ ‖x‖, and −ℓ′ ≤ ℓ for both losses.
        """
        run = self._run(t)
        if not run.living.any():
            return 0.0
        size = float(np.linalg.norm(run.network.W[run.living], axis=1).min())
        pull = math.exp(log_loss(run.network, self.data, self.loss))
        step = self.lr * float(np.abs(run.network.second_layer).max()) * pull
        return step * float(np.linalg.norm(self.data.X, axis=1).max()) / size

    def _run(self, t: float) -> Descent:
        for time, run in zip(self.times, self.runs, strict=True):
            if abs(t - time) <= self.lr:
                return run
        raise InputError("t", t, f"one of the times the path was cut at, {', '.join(map(str, self.times))}")


def descent_path(
    network: Network,
    data: DataSet,
    lr: float,
    times: Sequence[float],
    loss: str = "exp",
    subgradient: float = 0,
    on_progress: Callable[[int], None] | None = None,
) -> DescentPath:
    """Run a gradient descent and keep its weights at the given flow times.

    Arguments: network, data, lr, loss, subgradient, on_progress as in :func:`fullnet.gradient_descent`; times,
    increasing, ≥ 0, each rounded to the step grid. Returns a DescentPath. Raises InputError.
    """
    lr = checks.moderate(lr, "lr")
    marks = [round(checks.number(t, "times") / lr) for t in times]
    if not marks or marks[0] < 0 or any(b <= a for a, b in pairwise(marks)):
        raise InputError("times", list(times), "flow times >= 0 that increase by at least a step each")
    runs: list[Descent] = []
    for start, end in pairwise([0, *marks]):
        begin = runs[-1].network if runs else network
        runs.append(
            gradient_descent(
                begin, data, lr, end - start, loss, subgradient, stop_early=False, on_progress=on_progress
            )
        )
    return DescentPath(network, data, lr, loss, tuple(mark * lr for mark in marks), tuple(runs))

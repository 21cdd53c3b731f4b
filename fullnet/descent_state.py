"""A gradient descent under way: what it is asked, and all that it needs to go on."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullnet.checks import Floats
from fullnet.data import DataSet
from fullnet.descent_plain import CHANGED, DIVERGED, LOST
from fullnet.loss import Loss
from fullnet.network import Network, predictions, weighted_accuracy
from fullnet.shown import shown
from fullnet.task import same_problem

Engine = Callable[..., tuple[int, int, int]]


@dataclass(frozen=True, eq=False)
class DescentTask:
    """What a descent is asked to do, fixed while it runs.

    compiled: by the compiled engine; stop_early: no further than everything looked for.
    """

    network: Network
    data: DataSet
    lr: float
    loss: Loss
    subgradient: float
    compiled: bool
    stop_early: bool

    __repr__ = shown

    def same_problem(self, other: DescentTask) -> bool:
        """Return whether two tasks differ by the learning rate at most."""
        options = [(task.loss, task.subgradient) for task in (self, other)]
        return options[0] == options[1] and same_problem(self.network, self.data, other.network, other.data)


@dataclass(eq=False)
class DescentState:
    """Where a descent stands: the arrays its engine changes in place, and what was noted on the way.

    z, amounts (m, N): inner products and what was added along each data point; f (2N,): predictions one step
    ago and, when right changes, now; right (N,): the points that were right then; flags (2,): r ≥ c was seen,
    the first loss was seen; right_since (N,); changes: (step, accuracy from then on); made: steps; flips: of
    activations; T_II, None until it is found; diverged.
    """

    z: Floats
    amounts: Floats
    f: Floats
    right: Any
    flags: Any
    right_since: Floats
    changes: list[tuple[int, float]]
    made: int = 0
    flips: int = 0
    T_II: float | None = None
    diverged: bool = False

    __repr__ = shown

    def copy(self) -> DescentState:
        """Return a state of its own."""
        return deepcopy(self)

    def complete(self, task: DescentTask) -> bool:
        """Return whether all has been found that the task stops for."""
        return (
            task.stop_early
            and bool(self.right.all())
            and (self.T_II is not None or not task.data.is_two_point)
        )

    def go(self, task: DescentTask, advance: Engine, steps: int) -> None:
        """Make up to ``steps`` steps, to the next thing worth noting."""
        data = task.data
        made, why, flips = advance(
            self.z,
            self.amounts,
            self.f,
            self.right,
            self.flags,
            task.network.second_layer,
            data.X @ data.X.T,
            data.y,
            data.weights,
            task.lr,
            task.loss is Loss.LOGISTIC,
            task.subgradient,
            data.cosine if data.is_two_point else 0.0,
            steps,
        )
        self.made += made
        self.flips += flips
        if why == CHANGED:
            self.note_change(task, self.f[len(self.right) :].copy())
        elif why == LOST:
            self.T_II = self.made * task.lr
        self.diverged = why == DIVERGED

    def note_change(self, task: DescentTask, now: Floats) -> None:
        """Log a change of the set of right points between the step before and this one."""
        before = self.f[: len(now)].copy()
        right = task.data.y * now > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            part = before / (before - now)
        crossed = np.maximum(self.made - 1 + part, 0.0) * task.lr
        self.right_since = np.where(right, np.where(self.right, self.right_since, crossed), math.inf)
        self.right[:] = right
        self.f[: len(now)] = now
        accuracy = float(weighted_accuracy(now, task.data))
        if accuracy != self.changes[-1][1]:
            self.changes.append((self.made, accuracy))


def first_state(task: DescentTask) -> DescentState:
    """Return the state before the first step."""
    network, data = task.network, task.data
    start = predictions(network, data)
    z, right = network.W @ data.X.T, data.y * start > 0
    return DescentState(
        z=z,
        amounts=np.zeros_like(z),
        f=np.concatenate([start, start]),
        right=right,
        flags=np.zeros(2, dtype=bool),
        right_since=np.where(right, 0.0, math.inf),
        changes=[(0, float(weighted_accuracy(start, data)))],
    )

"""The paper's gradient descent, on the inner products ⟨wₖ, xⱼ⟩ only: d does not change a step's cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fullnet import checks
from fullnet.checks import Floats
from fullnet.data import DataSet
from fullnet.errors import InputError
from fullnet.loss import Loss, loss_named
from fullnet.network import Network, matching, predictions, weighted_accuracy
from fullnet.shown import shown
from fullnet.trajectory import Outcome

ENGINES = ("auto", "numba", "numpy")
SUBGRADIENTS = (0, 0.5, 1)

Engine = Callable[..., tuple[int, int, int]]

_CHUNK = 1_000_000
_WORTH_COMPILING = 20_000_000
_DONE, _CHANGED, _LOST, _DIVERGED = 0, 1, 2, 3


@dataclass(frozen=True, eq=False)
class Descent:
    """A gradient descent run. Times are flow times: step × lr.

    steps made; accuracy_changes: (step, accuracy from then on), beginning at step 0; right_since (N,): time
    from which a point is right for good, linearly interpolated inside its step, inf if it is not right at the
    end; T_plat: the last of these (for two-point data that of x₋), None if infinite; T_II (two-point data):
    time of the first step in which a positive neuron active on both points loses x₋, after the first r ≥ c,
    else None; living (m,): active on some point at the end; flips: how often an activation changed; network:
    the final weights; predictions (N,).
    """

    lr: float
    steps: int
    outcome: Outcome
    accuracy_changes: tuple[tuple[int, float], ...]
    right_since: Floats
    T_plat: float | None
    T_II: float | None
    living: NDArray[np.bool_]
    flips: int
    network: Network
    predictions: Floats

    __repr__ = shown


def gradient_descent(
    network: Network,
    data: DataSet,
    lr: float,
    steps: int,
    loss: str = "exp",
    subgradient: float = 0,
    stop_early: bool = True,
    engine: str = "auto",
    on_progress: Callable[[int], None] | None = None,
) -> Descent:
    """Train by full-batch gradient descent.

    Arguments: network; data; lr > 0, the step; steps ≥ 0, the most to make; loss ``exp`` or ``logistic``;
    subgradient, the derivative of ReLU at 0: 0, 0.5 or 1; stop_early ends the run once every point is right
    and, for two-point data, T_II is found; engine ``numba``, ``numpy`` or ``auto`` (numba if installed and
    worth compiling); on_progress (steps made), called every million steps. Returns a Descent with outcome
    ``finished`` (stopped early), ``steps`` or ``diverged``. Raises InputError.
    """
    matching(network, data)
    lr, steps = checks.moderate(lr, "lr"), checks.count(steps, "steps", 0)
    kind = loss_named(loss)
    checks.choice(subgradient, "subgradient", SUBGRADIENTS)
    advance = _engine(engine, steps * network.W.shape[0] * len(data.y), data)
    run = _Run(network, data, lr, kind, float(subgradient))
    while run.made < steps and not run.diverged and not (stop_early and run.complete):
        before = run.made // _CHUNK
        run.go(advance, min(steps - run.made, _CHUNK))
        if on_progress is not None and run.made // _CHUNK != before:
            on_progress(run.made)
    return run.result(stop_early)


def _engine(name: str, work: int, data: DataSet) -> Engine:
    checks.choice(name, "engine", ENGINES)
    if name == "numpy" or (name == "auto" and work < _WORTH_COMPILING):
        return run_arrays
    try:
        from fullnet.descent_kernel import run_pair, run_points
    except ImportError:
        if name == "numba":
            raise InputError("engine", "numba", "numpy or auto where numba is not installed") from None
        return run_arrays
    compiled: Engine = run_pair if data.is_two_point else run_points
    return compiled


@np.errstate(over="ignore", invalid="ignore")
def run_arrays(
    z: Floats,
    amounts: Floats,
    f: Floats,
    right: NDArray[np.bool_],
    flags: NDArray[np.bool_],
    second_layer: Floats,
    gram: Floats,
    y: Floats,
    weights: Floats,
    lr: float,
    logistic: bool,
    subgradient: float,
    ratio: float,
    steps: int,
) -> tuple[int, int, int]:
    """Make up to ``steps`` steps in place; return (steps made, why it stopped, activation flips).

    Arguments: z, amounts (m, N): inner products and what was added along each data point; f (2N,):
    predictions one step ago and, when ``right`` changes, now; flags: r ≥ c was seen, the first loss was seen;
    ratio: c for two-point data, else 0. Stops: 0 all made, 1 the set of right points is about to change, 2
    the first ++ positive neuron has lost x₋, 3 diverged.
    """
    flips = 0
    points = len(y)
    active = z > 0
    for n in range(steps):
        fresh = second_layer @ np.where(active, z, 0.0)
        margin = y * fresh
        force = weights / (1 + np.exp(margin)) if logistic else weights * np.exp(-margin)
        if not (np.all(np.isfinite(fresh)) and np.all(np.isfinite(force))):
            return n, _DIVERGED, flips
        if np.any((margin > 0) != right):
            f[points:] = fresh
            return n, _CHANGED, flips
        f[:points] = fresh
        if ratio > 0 and force[1] >= ratio * force[0]:
            flags[0] = True
        slope = active + subgradient * (z == 0) if subgradient else active
        gain = (lr * second_layer)[:, None] * slope * (y * force)
        amounts += gain
        z += gain @ gram
        now = z > 0
        turned = now != active
        if turned.any():
            flips += int(np.count_nonzero(turned))
            if ratio > 0 and flags[0] and not flags[1]:
                lost = active[:, 0] & active[:, 1] & ~now[:, 1] & (second_layer > 0)
                flags[1] = bool(lost.any())
                if flags[1]:
                    return n + 1, _LOST, flips
        active = now
    return steps, _DONE, flips


class _Run:
    """One descent under way: the state the engines change in place, and the log."""

    def __init__(self, network: Network, data: DataSet, lr: float, loss: Loss, subgradient: float) -> None:
        self.network, self.data, self.lr, self.loss, self.subgradient = network, data, lr, loss, subgradient
        self.z = network.W @ data.X.T
        self.amounts = np.zeros_like(self.z)
        start = predictions(network, data)
        self.f = np.concatenate([start, start])
        self.right = data.y * start > 0
        self.flags = np.zeros(2, dtype=bool)
        self.right_since = np.where(self.right, 0.0, math.inf)
        self.changes = [(0, float(weighted_accuracy(start, data)))]
        self.made = self.flips = 0
        self.T_II: float | None = None
        self.diverged = False

    @property
    def complete(self) -> bool:
        """Whether everything looked for has been found."""
        return bool(self.right.all()) and (self.T_II is not None or not self.data.is_two_point)

    def go(self, advance: Engine, steps: int) -> None:
        """Make up to ``steps`` steps, to the next thing worth noting."""
        made, why, flips = advance(
            self.z,
            self.amounts,
            self.f,
            self.right,
            self.flags,
            self.network.second_layer,
            self.data.X @ self.data.X.T,
            self.data.y,
            self.data.weights,
            self.lr,
            self.loss is Loss.LOGISTIC,
            self.subgradient,
            self.data.cosine if self.data.is_two_point else 0.0,
            steps,
        )
        self.made += made
        self.flips += flips
        if why == _CHANGED:
            self.note_change(self.f[len(self.right) :].copy())
        elif why == _LOST:
            self.T_II = self.made * self.lr
        self.diverged = why == _DIVERGED

    def note_change(self, now: Floats) -> None:
        """Log a change of the set of right points between the step before and this one."""
        before = self.f[: len(now)].copy()
        right = self.data.y * now > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            part = before / (before - now)
        crossed = np.maximum(self.made - 1 + part, 0.0) * self.lr
        self.right_since = np.where(right, np.where(self.right, self.right_since, crossed), math.inf)
        self.right[:] = right
        self.f[: len(now)] = now
        accuracy = float(weighted_accuracy(now, self.data))
        if accuracy != self.changes[-1][1]:
            self.changes.append((self.made, accuracy))

    def result(self, stop_early: bool) -> Descent:
        """Return the record of the run."""
        with np.errstate(over="ignore", invalid="ignore"):
            final = self.network.second_layer @ np.maximum(self.z, 0.0)
            W = self.network.W + self.amounts @ self.data.X
        if not self.diverged and np.any((self.data.y * final > 0) != self.right):
            self.note_change(final)
        outcome = Outcome.FINISHED if stop_early and self.complete else Outcome.STEPS
        plateau = float(self.right_since[1] if self.data.is_two_point else self.right_since.max())
        return Descent(
            lr=self.lr,
            steps=self.made,
            outcome=Outcome.DIVERGED if self.diverged else outcome,
            accuracy_changes=tuple(self.changes),
            right_since=self.right_since,
            T_plat=plateau if math.isfinite(plateau) else None,
            T_II=self.T_II,
            living=np.any(self.z > 0, axis=1),
            flips=self.flips,
            network=replace(self.network, W=W),
            predictions=final,
        )

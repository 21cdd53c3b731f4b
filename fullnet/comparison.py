"""Gradient descent beside the flow from the same weights: what the step size changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullnet.descent import Descent, gradient_descent
from fullnet.shown import shown
from fullnet.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class StepSize:
    """One descent beside the flow.

    run; lost, neurons the flow keeps alive at the descent's last time and descent killed; gained, the other
    way round; time_errors (N,): right_since of descent less the flow's, NaN where either is never; gap: the
    largest |f| difference at the last time.
    """

    run: Descent
    lost: NDArray[np.intp]
    gained: NDArray[np.intp]
    time_errors: NDArray[np.float64]
    gap: float

    __repr__ = shown


def step_sizes(
    flow: Trajectory, rates: Sequence[float], steps: int, subgradient: float = 0, engine: str = "auto"
) -> tuple[StepSize, ...]:
    """Run gradient descent at several learning rates from the flow's initial weights, and compare.

    Arguments: flow; rates, learning rates; steps, the most for each run, kept within the flow's time;
    subgradient and engine as in :func:`gradient_descent`. Returns a StepSize for each rate. Raises InputError.
    """
    return tuple(
        _compared(
            flow,
            gradient_descent(
                flow.network,
                flow.data,
                rate,
                min(steps, int(flow.end / rate)),
                flow.loss,
                subgradient,
                stop_early=False,
                engine=engine,
            ),
        )
        for rate in rates
    )


def _compared(flow: Trajectory, run: Descent) -> StepSize:
    end = min(run.steps * run.lr, flow.end)
    dead = np.array([motion.dead for motion in flow.history.motions])
    living = ~dead[flow.history.classes(end)]
    since = np.array([right_since(flow, j) for j in range(len(flow.data.y))])
    finite = np.isfinite(since) & np.isfinite(run.right_since)
    errors = np.where(finite, run.right_since, np.nan) - np.where(finite, since, np.nan)
    gap = float(np.max(np.abs(run.predictions - flow.at(end))))
    return StepSize(
        run, np.flatnonzero(living & ~run.living), np.flatnonzero(~living & run.living), errors, gap
    )


def right_since(flow: Trajectory, point: int) -> float:
    """Return the time from which a point is right until the end, inf if it is not right then."""
    time, sign = flow.pieces.prediction_signs(point)[-1]
    return time if sign == flow.data.y[point] else np.inf

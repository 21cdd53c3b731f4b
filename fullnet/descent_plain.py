"""The descent loop in plain NumPy: the engine that is always there, and the one that says what engines do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullnet.checks import Floats

DONE, CHANGED, LOST, DIVERGED = 0, 1, 2, 3


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
            return n, DIVERGED, flips
        if np.any((margin > 0) != right):
            f[points:] = fresh
            return n, CHANGED, flips
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
                    return n + 1, LOST, flips
        active = now
    return steps, DONE, flips

"""The forces Uⱼ = wⱼ (−ℓ′(yⱼ fⱼ)) of the data points, relative to the leading one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fullnet.checks import Floats
from fullnet.data import DataSet
from fullnet.loss import Loss

_LARGEST = 700.0


@dataclass(frozen=True, eq=False)
class Scaled:
    """Forces over the leading one, u (..., N); lead (...), its index; log_lead (...), its logarithm.

    q (..., N): the factors in U′ = U q·(…), None for exponential loss; idle (..., N): the forces that move no
    neuron, 0 for the others; those are 0 in u.
    """

    u: Floats
    lead: Any
    log_lead: Any
    q: Floats | None
    idle: Floats


def scaled(f: Floats, data: DataSet, loss: Loss, heard: Any = True) -> Scaled:
    """Return the forces at predictions f (..., N).

    heard (..., N): the points whose forces move some neuron, one of which leads (any point, where there is
    none). A point that no neuron hears would else outweigh the others beyond the range of doubles in time.
    """
    margin = data.y * f
    log_force = np.log(data.weights) + loss.log_force(margin)
    hears = np.broadcast_to(heard, log_force.shape)
    candidates = np.where(hears | ~hears.any(axis=-1, keepdims=True), log_force, -np.inf)
    lead = candidates.argmax(axis=-1)
    top = candidates.max(axis=-1)
    q = None if loss is Loss.EXP else loss.complement(margin)
    u = np.exp(np.minimum(log_force - top[..., None], _LARGEST))
    return Scaled(np.where(hears, u, 0.0), lead, top, q, np.where(hears, 0.0, u))

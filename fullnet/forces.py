"""The forces Uⱼ = wⱼ (−ℓ′(yⱼ fⱼ)) of the data points, relative to the leading one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fullnet.checks import Floats
from fullnet.data import DataSet
from fullnet.loss import Loss


@dataclass(frozen=True, eq=False)
class Scaled:
    """Forces over the leading one, u (..., N); lead (...), its index; log_lead (...), its logarithm.

    q (..., N): the factors in U′ = U q·(…), None for exponential loss.
    """

    u: Floats
    lead: Any
    log_lead: Any
    q: Floats | None


def scaled(f: Floats, data: DataSet, loss: Loss) -> Scaled:
    """Return the forces at predictions f (..., N)."""
    margin = data.y * f
    log_force = np.log(data.weights) + loss.log_force(margin)
    lead = log_force.argmax(axis=-1)
    top = log_force.max(axis=-1)
    q = None if loss is Loss.EXP else loss.complement(margin)
    return Scaled(np.exp(log_force - top[..., None]), lead, top, q)

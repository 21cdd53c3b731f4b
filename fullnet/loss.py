"""The two losses ℓ(z) of the margin z = y f, in logarithms so that nothing under- or overflows."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np

from fullnet.checks import Floats, choice


class Loss(StrEnum):
    """The loss of a margin: ℓ(z) = e^{−z} or ℓ(z) = log(1 + e^{−z})."""

    EXP = "exp"
    LOGISTIC = "logistic"

    def log_value(self, margin: Floats) -> Floats:
        """Return log ℓ(z), same shape as margin."""
        if self is Loss.EXP:
            return -margin
        softplus = np.logaddexp(0.0, -margin)
        # Beyond z = 37, log(1 + e^{−z}) = e^{−z} in double precision.
        return np.where(margin > 37, -margin, np.log(np.where(margin > 37, 1.0, softplus)))

    def log_force(self, margin: Floats) -> Floats:
        """Return log(−ℓ′(z)), same shape as margin."""
        return -margin if self is Loss.EXP else -np.logaddexp(0.0, margin)

    def complement(self, margin: Floats) -> Floats:
        """Return q(z) with (−ℓ′)′ = −(−ℓ′) q: 1 for exp, 1 − (−ℓ′) = 1/(1 + e^{−z}) for logistic."""
        return np.ones_like(margin) if self is Loss.EXP else np.exp(-np.logaddexp(0.0, -margin))


def loss_named(value: Any) -> Loss:
    """Return the Loss with that name, or raise InputError."""
    return Loss(choice(value, "loss", [one.value for one in Loss]))

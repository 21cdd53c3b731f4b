"""What a flow is asked to do: the problem, fixed while it runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from fullnet.data import DataSet
from fullnet.loss import Loss
from fullnet.network import Network
from fullnet.surfaces import Surfaces


@dataclass(frozen=True, eq=False)
class Task:
    """A network, data and a loss, with how to follow their flow.

    ridge: the solution taken from a repelling kink, or None; order of the Taylor series; tolerance, the
    truncation error of a step relative to the forces; mirrored: compute scalar products in mirrored
    coordinates.
    """

    network: Network
    data: DataSet
    loss: Loss
    ridge: str | None
    order: int
    tolerance: float
    mirrored: bool = False

    @cached_property
    def surfaces(self) -> Surfaces:
        """The kink surfaces of the data."""
        return Surfaces(self.data, self.mirrored)

    @property
    def share(self) -> float:
        """κ₂²/m, what one neuron adds to the coefficients."""
        return self.network.kappa2**2 / len(self.network.sign)

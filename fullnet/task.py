"""What a flow is asked to do: the problem, fixed while it runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fullnet.data import DataSet
from fullnet.loss import Loss
from fullnet.network import Network
from fullnet.shown import shown
from fullnet.surfaces import Surfaces


@dataclass(frozen=True, eq=False)
class Task:
    """A network, data and a loss, with how to follow their flow.

    ridge: the solution taken from a repelling kink, or None; order of the Taylor series; tolerance, the
    truncation error of a step relative to the forces; compiled: by the compiled engine; mirrored: compute
    scalar products in mirrored coordinates.
    """

    network: Network
    data: DataSet
    loss: Loss
    ridge: str | None
    order: int
    tolerance: float
    compiled: bool = False
    mirrored: bool = False

    __repr__ = shown

    @cached_property
    def surfaces(self) -> Surfaces:
        """The kink surfaces of the data."""
        return Surfaces(self.data, self.mirrored)

    def same_as(self, other: Task) -> bool:
        """Return whether two tasks have one flow, bit for bit."""
        options = [
            (task.loss, task.ridge, task.order, task.tolerance, task.compiled) for task in (self, other)
        ]
        return options[0] == options[1] and same_problem(self.network, self.data, other.network, other.data)

    @property
    def share(self) -> float:
        """κ₂²/m, what one neuron adds to the coefficients."""
        return self.network.kappa2**2 / len(self.network.sign)


def same_problem(network: Network, data: DataSet, other_network: Network, other_data: DataSet) -> bool:
    """Return whether two networks and their data are equal, bit for bit."""
    pairs = (
        (network.W, other_network.W),
        (network.sign, other_network.sign),
        (data.X, other_data.X),
        (data.y, other_data.y),
        (data.weights, other_data.weights),
    )
    return network.kappa2 == other_network.kappa2 and all(np.array_equal(one, two) for one, two in pairs)

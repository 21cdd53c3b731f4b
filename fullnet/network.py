"""Two-layer ReLU networks with a fixed second layer, and what can be asked of one at rest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullnet import checks
from fullnet.checks import Floats, count, real_array, sign_array
from fullnet.data import DataSet
from fullnet.errors import InputError
from fullnet.files import inside, read_arrays
from fullnet.loss import loss_named
from fullnet.shown import shown

LAWS = ("sphere", "gaussian")


@dataclass(frozen=True, eq=False)
class Network:
    """f(x) = Σₖ aₖ max(⟨wₖ, x⟩, 0) with aₖ = signₖ κ₂/√m fixed; W (m, d) is trained.

    Build it with :func:`given_network`, :func:`initial_network` or :func:`load_network`. Arrays are
    read-only.
    """

    W: Floats
    sign: Floats
    kappa2: float

    __repr__ = shown

    @property
    def second_layer(self) -> Floats:
        """The fixed weights aₖ, shape (m,)."""
        return self.sign * self.scale

    @property
    def scale(self) -> float:
        """κ₂/√m, the size of every aₖ."""
        return self.kappa2 / math.sqrt(len(self.sign))

    @property
    def kappa1(self) -> float:
        """√m max ‖wₖ‖, the κ₁ of a sphere initialisation."""
        return math.sqrt(len(self.W)) * float(np.max(np.linalg.norm(self.W, axis=1)))


def given_network(W: Any, sign: Any, kappa2: float) -> Network:
    """Build a checked network from arrays: W (m, d) real, sign (m,) of ±1, kappa2 > 0. Raises InputError."""
    weights = real_array(W, "W", 2)
    return Network(weights, sign_array(sign, "sign", len(weights)), checks.moderate(kappa2, "kappa2"))


def initial_network(
    m: int,
    dim: int,
    kappa1: float,
    kappa2: float,
    seed: int,
    law: str = "sphere",
    positive: int | None = None,
) -> Network:
    """Draw initial weights.

    Arguments: m neurons in dimension dim ≥ 2; kappa1 = κ₁ and kappa2 = κ₂ > 0, the sizes of the layers; seed;
    law ``sphere`` (uniform on radius κ₁/√m) or ``gaussian`` (N(0, κ₁² I/(m d))); positive, how many signs are +1
    (default ⌈m/2⌉): the first ones, the rest are −1. The draw depends on (m, dim, seed, law) only, so κ₁ just
    scales it. Returns a Network. Raises InputError. Source: §A.1.
    """
    m, dim, seed = count(m, "m"), count(dim, "dim", 2), count(seed, "seed", 0)
    radius = checks.moderate(kappa1, "kappa1") / math.sqrt(m)
    checks.choice(law, "law", LAWS)
    plus = (m + 1) // 2 if positive is None else count(positive, "positive", 0)
    if plus > m:
        raise InputError("positive", positive, f"at most m = {m}")
    draw = np.random.default_rng(seed).standard_normal((m, dim))
    if law == "sphere":
        draw /= np.linalg.norm(draw, axis=1, keepdims=True)
    else:
        draw /= math.sqrt(dim)
    return given_network(radius * draw, np.where(np.arange(m) < plus, 1.0, -1.0), kappa2)


def load_network(path: str | Path, kappa2: float, argument: str = "path") -> Network:
    """Read a network from an .npz file with ``W`` (m, d) and ``sign`` (m,) of ±1; others in it are not read.

    Arguments: path; kappa2 > 0; argument, the name by which errors call the file. Returns a Network. Raises
    InputError.
    """
    scale = checks.moderate(kappa2, "kappa2")
    with inside(path, argument):
        return given_network(**read_arrays(path, ("W", "sign")), kappa2=scale)


def matching(net: Network, data: DataSet) -> None:
    """Raise InputError unless the network and the data live in the same dimension."""
    if net.W.shape[1] != data.X.shape[1]:
        raise InputError(
            "network", f"weights in dimension {net.W.shape[1]}", f"dimension {data.X.shape[1]} of the data"
        )


def predictions(net: Network, data: DataSet) -> Floats:
    """Return the predictions f(xⱼ) of net on data, shape (N,)."""
    result: Floats = net.second_layer @ np.maximum(net.W @ data.X.T, 0.0)
    return result


def log_loss(net: Network, data: DataSet, loss: str = "exp") -> float:
    """Return log L of net on data, L = Σⱼ weightsⱼ ℓ(yⱼ f(xⱼ)), with loss ``exp`` or ``logistic``."""
    return float(total_log_loss(predictions(net, data), data, loss))


def total_log_loss(f: Floats, data: DataSet, loss: str) -> Any:
    """Return log Σⱼ weightsⱼ ℓ(yⱼ fⱼ) for predictions f (..., N)."""
    terms = np.log(data.weights) + loss_named(loss).log_value(data.y * f)
    return np.logaddexp.reduce(terms, axis=-1)


def gradient(net: Network, data: DataSet, loss: str = "exp", subgradient: float = 0.0) -> Floats:
    """Return ∂L/∂W, shape (m, d).

    Arguments: net; data; loss ``exp`` or ``logistic``; subgradient, the derivative of ReLU at 0. Raises
    InputError.
    """
    z = net.W @ data.X.T
    slope = (z > 0) + subgradient * (z == 0)
    f = net.second_layer @ np.maximum(z, 0.0)
    force = data.weights * np.exp(loss_named(loss).log_force(data.y * f))
    result: Floats = -net.second_layer[:, None] * ((slope * (force * data.y)) @ data.X)
    return result


def accuracy(net: Network, data: DataSet) -> float:
    """Return the weight of the points of data that net has right, in [0, 1]: y f > 0 strictly."""
    return float(weighted_accuracy(predictions(net, data), data))


def weighted_accuracy(f: Floats, data: DataSet) -> Any:
    """Return the weight of the right points for predictions f (..., N)."""
    return weight_of(data.y * f > 0, data)


def weight_of(right: NDArray[np.bool_], data: DataSet) -> Any:
    """Return the weight of the points marked in right (..., N): exactly 1 for all."""
    return np.where(np.all(right, axis=-1), 1.0, right @ data.weights)

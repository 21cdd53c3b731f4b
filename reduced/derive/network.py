"""The network and its data as symbols, and the velocity of one neuron on a smooth piece of its loss."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import sympy as sp

from reduced.derive.symbols import DerivationError, Expr, c, kappa2, m, p, tidy
from reduced.errors import InputError
from reduced.shown import shown

_z, _g = sp.Symbol("z", real=True), sp.Symbol("g")


@dataclass(frozen=True)
class Activation:
    """An activation with one kink at 0: the smooth function on each side of it, as SymPy Lambdas."""

    active: Expr
    inactive: Expr

    def __post_init__(self) -> None:
        """Refuse an activation that jumps at the kink: the gradient flow would not be a Filippov system."""
        if sp.simplify(self.active(0) - self.inactive(0)) != 0:
            raise InputError("activation", f"{self.active}, {self.inactive}", "two branches that agree at 0")

    def on(self, side: bool) -> Expr:
        """Return the branch used for z > 0 (True) or z < 0 (False)."""
        return self.active if side else self.inactive

    def slope_at_kink(self, side: bool) -> Expr:
        """Return the one-sided derivative at the kink."""
        return sp.diff(self.on(side)(_z), _z).subs(_z, 0)


RELU = Activation(sp.Lambda(_z, _z), sp.Lambda(_z, 0))
SQUARED_RELU = Activation(sp.Lambda(_z, _z**2), sp.Lambda(_z, 0))


def leaky_relu(slope: Expr) -> Activation:
    """Return the leaky ReLU with the given slope for z < 0."""
    return Activation(sp.Lambda(_z, _z), sp.Lambda(_z, slope * _z))


@dataclass(frozen=True)
class Loss:
    """A loss ℓ(z) of the margin z = y f, as a SymPy Lambda."""

    function: Expr

    def __call__(self, z: Expr) -> Expr:
        """Return ℓ(z)."""
        return self.function(z)

    def force(self, z: Expr) -> Expr:
        """Return −ℓ′(z), the pull on a point of margin z."""
        return -sp.diff(self.function(_z), _z).subs(_z, z)

    @property
    def force_law(self) -> Expr:
        """The polynomial φ of degree ≤ 3, a Lambda, with dg/dz = φ(g) along g(z) = −ℓ′(z).

        Exponential loss: −g; logistic loss: −g(1 − g). It makes Taylor recurrences of the prediction ODE
        polynomial. Derived here: the ansatz Σ cₖ gᵏ is fixed at four values of z and the identity is then
        checked for all z. Raises DerivationError for a loss without such a law.
        """
        g, slope = self.force(_z), sp.diff(self.force(_z), _z)
        unknowns = sp.symbols("c0:4")
        ansatz = sum(coefficient * g**k for k, coefficient in enumerate(unknowns))
        samples = [(ansatz - slope).subs(_z, sp.log(value)) for value in (1, 2, 3, 5)]
        for solution in sp.solve([sp.simplify(sample) for sample in samples], unknowns, dict=True):
            law = sp.factor(sum(solution.get(u, 0) * _g**k for k, u in enumerate(unknowns)))
            if sp.simplify(law.subs(_g, g) - slope) == 0:
                return sp.Lambda(_g, law)
        raise DerivationError(
            f"the force −ℓ′ of the loss {self.function} obeys no polynomial law of degree ≤ 3"
        )


EXP = Loss(sp.Lambda(_z, sp.exp(-_z)))
LOGISTIC = Loss(sp.Lambda(_z, sp.log(1 + sp.exp(-_z))))


@dataclass(frozen=True)
class DataSet:
    """N data points known by their inner products only.

    Fields: gram, the (N, N) symmetric ImmutableMatrix ⟨xᵢ,xⱼ⟩; labels, N values ±1; weights, N positive
    weights in the loss; names, N words that name the points; forces, N symbols Uᵢ standing for
    wᵢ(−ℓ′(yᵢfᵢ)).
    """

    gram: Expr
    labels: tuple[int, ...]
    weights: tuple[Expr, ...]
    names: tuple[str, ...]
    forces: tuple[Expr, ...]

    __repr__ = shown

    def __post_init__(self) -> None:
        """Check shapes, symmetry and labels."""
        size = len(self.labels)
        if self.gram.shape != (size, size) or not self.gram.is_symmetric():
            raise InputError("gram", self.gram, f"a symmetric {size} × {size} matrix")
        if any(label not in (1, -1) for label in self.labels):
            raise InputError("labels", self.labels, "values +1 or -1")
        for name in ("weights", "names", "forces"):
            if len(getattr(self, name)) != size:
                raise InputError(name, getattr(self, name), f"{size} entries, one for each label")

    @property
    def size(self) -> int:
        """The number N of points."""
        return len(self.labels)

    @property
    def predictions(self) -> tuple[Expr, ...]:
        """The symbols fᵢ of the network's outputs at the points."""
        return tuple(sp.Symbol(f"f_{name}", real=True) for name in self.names)

    @property
    def coordinates(self) -> tuple[Expr, ...]:
        """The symbols uᵢ = ⟨b,xᵢ⟩ of one neuron."""
        return tuple(sp.Symbol(f"u_{name}", real=True) for name in self.names)


def data_set(gram: Expr, labels: tuple[int, ...], weights: tuple[Expr, ...]) -> DataSet:
    """Build a DataSet whose points are named 1 … N and whose forces are U_1 … U_N.

    Arguments: gram (N, N), the matrix of ⟨xᵢ, xⱼ⟩; labels (N,) of ±1; weights (N,), summing to 1. Raises
    InputError. Any number of points: derived here.
    """
    names = tuple(str(i + 1) for i in range(len(labels)))
    forces = tuple(sp.Symbol(f"U_{name}", positive=True) for name in names)
    return DataSet(sp.ImmutableMatrix(gram), tuple(labels), tuple(map(sp.sympify, weights)), names, forces)


PLUS, MINUS = 0, 1
"""The indices of x₊ and x₋ in the two-point data."""

P, Q = sp.symbols("P Q", positive=True)

TWO_POINTS = DataSet(
    gram=sp.ImmutableMatrix([[1, c], [c, 1]]),
    labels=(1, -1),
    weights=(p / (1 + p), 1 / (1 + p)),
    names=("plus", "minus"),
    forces=(P, Q),
)


@dataclass(frozen=True)
class NetworkModel:
    """A network f(x) = Σₖ aₖ σ(⟨bₖ,x⟩) with fixed aₖ = ±output_scale, its data and its loss."""

    data: DataSet = TWO_POINTS
    activation: Activation = RELU
    loss: Loss = EXP
    output_scale: Expr = kappa2 / sp.sqrt(m)

    __repr__ = shown

    def force(self, i: int) -> Expr:
        """Return wᵢ(−ℓ′(yᵢfᵢ)), the expression in fᵢ that the symbol Uᵢ stands for."""
        label = self.data.labels[i]
        return self.data.weights[i] * self.loss.force(label * self.data.predictions[i])

    @property
    def forces(self) -> dict[Expr, Expr]:
        """The forces' symbols Uᵢ with the expressions they stand for."""
        return {symbol: self.force(i) for i, symbol in enumerate(self.data.forces)}

    @property
    def forces_at_start(self) -> dict[Expr, Expr]:
        """The forces' symbols Uᵢ with their values at f = 0, for a loss frozen at initialisation."""
        at_start = dict.fromkeys(self.data.predictions, 0)
        return {symbol: force.subs(at_start) for symbol, force in self.forces.items()}


@dataclass(frozen=True)
class Velocity:
    """A neuron's velocity ḃ = Σᵢ cᵢ xᵢ as its coefficients cᵢ on the data."""

    data: DataSet
    coefficients: tuple[Expr, ...]

    __repr__ = shown

    def along(self, j: int) -> Expr:
        """Return ⟨ḃ,xⱼ⟩, the rate of the neuron's coordinate uⱼ."""
        return sp.expand(sum(ci * self.data.gram[i, j] for i, ci in enumerate(self.coefficients)))

    def dot(self, other: Velocity) -> Expr:
        """Return the inner product with another velocity, through the Gram matrix."""
        return sp.expand(sum(ci * other.along(i) for i, ci in enumerate(self.coefficients)))

    def scaled(self, factor: Expr) -> Velocity:
        """Return the velocity times a factor."""
        return Velocity(self.data, tuple(tidy(factor * ci) for ci in self.coefficients))

    def at(self, values: dict[Expr, Expr]) -> Velocity:
        """Return the velocity with symbols replaced by values."""
        return Velocity(self.data, tuple(tidy(ci.subs(values)) for ci in self.coefficients))


@cache
def smooth_velocity(model: NetworkModel, sign: int, active: tuple[int, ...]) -> Velocity:
    """Derive ḃ = −∇_b L of a neuron that is active exactly on the given points.

    The loss is written in the neuron's inner products uᵢ, the rest of the network being Fᵢ = fᵢ − aσ(uᵢ), and
    differentiated by each uᵢ: ∇_b L = Σᵢ (∂L/∂uᵢ) xᵢ. The result is in the forces Uᵢ.
    """
    data, a = model.data, sign * model.output_scale
    rest = sp.symbols(f"F_1:{data.size + 1}", real=True)
    own = [model.activation.on(i in active)(u) for i, u in enumerate(data.coordinates)]
    loss = sum(
        data.weights[i] * model.loss(data.labels[i] * (rest[i] + a * own[i])) for i in range(data.size)
    )
    whole = {rest[i]: data.predictions[i] - a * own[i] for i in range(data.size)}
    coefficients = []
    for i, u in enumerate(data.coordinates):
        slope = sp.diff(loss, u).subs(whole)
        per_force = sp.simplify(-slope / model.force(i))
        coefficients.append(per_force * data.forces[i])
    return Velocity(data, tuple(coefficients))

"""Derived systems, the paper's and those of changed networks, agree with finite differences of the networks.

The network here is plain NumPy and knows nothing of the derivation: the gradient comes from differences of
the loss in the weights (one-sided ones across a kink), Filippov's velocity from combining the one-sided
gradients, and the rate of the predictions from differences of the predictions along that velocity.
"""

from dataclasses import dataclass

import numpy as np
import pytest
import sympy as sp

from reduced import derive
from reduced.derive.symbols import Delta, kappa2, m, p

STEP = 1e-4


@dataclass
class Net:
    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    a: np.ndarray
    b: np.ndarray
    slope: float
    logistic: bool

    def outputs(self, b):
        z = b @ self.X.T
        return self.a @ np.where(z > 0, z, self.slope * z)

    def loss(self, b):
        margin = self.y * self.outputs(b)
        each = np.log1p(np.exp(-margin)) if self.logistic else np.exp(-margin)
        return float(self.weights @ each)

    def velocity(self, neuron, sliding):
        """Filippov's velocity of one neuron, from differences of the loss along the dual directions."""
        dual = np.linalg.pinv(self.X).T
        low = np.array(
            [self.slope_along(neuron, dual[i], -1 if i in sliding else 0) for i in range(len(dual))]
        )
        high = np.array(
            [self.slope_along(neuron, dual[i], 1 if i in sliding else 0) for i in range(len(dual))]
        )
        gram = self.X @ self.X.T
        weight = np.zeros(len(dual))
        if sliding:
            J = list(sliding)
            weight[J] = np.linalg.solve(gram[np.ix_(J, J)] * (high - low)[J], -(gram @ low)[J])
        return -(low + weight * (high - low)) @ self.X, weight

    def slope_along(self, neuron, direction, side):
        def at(h):
            b = self.b.copy()
            b[neuron] += h * direction
            return self.loss(b)

        if side == 0:
            return (at(STEP) - at(-STEP)) / (2 * STEP)
        return side * (-3 * at(0) + 4 * at(side * STEP) - at(2 * side * STEP)) / (2 * STEP)

    def rates(self, sliding_of):
        flow = np.array([self.velocity(k, sliding_of[k])[0] for k in range(len(self.a))])
        return (self.outputs(self.b + STEP * flow) - self.outputs(self.b - STEP * flow)) / (2 * STEP)


def random_net(model, groups, counts, X, values, seed):
    """Build a random network whose neurons have exactly the groups' patterns."""
    rng = np.random.default_rng(seed)
    size = len(X)
    rows, owners = [], []
    for group, count in zip(groups, counts, strict=True):
        pattern = np.array([1 if i in group.active else 0 if i in group.sliding else -1 for i in range(size)])
        for _ in range(count):
            coordinates = pattern * rng.uniform(0.3, 1.0, size)
            outside = rng.normal(size=X.shape[1])
            outside -= np.linalg.pinv(X) @ (X @ outside)
            rows.append(np.linalg.pinv(X) @ coordinates + outside)
            owners.append(group)
    scale = float(model.output_scale.subs(values))
    slope = float(sp.sympify(model.activation.slope_at_kink(False)).subs(values))
    net = Net(
        X=X,
        y=np.array(model.data.labels, float),
        weights=np.array([float(w.subs(values)) for w in model.data.weights]),
        a=np.array([group.sign * scale for group in owners]),
        b=np.array(rows),
        slope=slope,
        logistic=model.loss == derive.LOGISTIC,
    )
    return net, owners


def assert_agrees(model, groups, counts, X, values, seed):
    ode = derive.prediction_ode(model, groups)
    net, owners = random_net(model, groups, counts, X, values, seed)
    outputs = net.outputs(net.b)
    named = {symbol.name: value for symbol, value in values.items()}
    named |= {symbol.name: f for symbol, f in zip(model.data.predictions, outputs, strict=True)}
    derived = ode.lambdify("numpy")(*(named[symbol.name] for symbol in ode.arguments))
    measured = net.rates([group.sliding for group in owners])
    np.testing.assert_allclose(derived, measured, rtol=1e-6, atol=1e-8)
    return ode, net, owners, named


def two_points(angle, rng):
    X = np.zeros((2, 4))
    X[:, :2] = [[1, 0], [np.cos(angle), np.sin(angle)]]
    rotation, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    return X @ rotation


COUNTS = (5, 3)
NEURONS = 10


def phase_groups(name):
    fractions = (sp.Rational(COUNTS[0], NEURONS), sp.Rational(COUNTS[1], NEURONS))
    return [
        derive.Group(group.name, group.sign, fraction, group.active, group.sliding)
        for group, fraction in zip(derive.PHASES[name], fractions, strict=True)
    ]


ETA = sp.Symbol("eta", positive=True)
MODELS = {
    "paper": derive.NetworkModel(),
    "leaky": derive.NetworkModel(activation=derive.leaky_relu(ETA)),
    "logistic": derive.NetworkModel(loss=derive.LOGISTIC),
    "leaky logistic": derive.NetworkModel(activation=derive.leaky_relu(ETA), loss=derive.LOGISTIC),
    "mean field": derive.NetworkModel(output_scale=kappa2 / m),
}


@pytest.mark.parametrize("name", derive.PHASES)
@pytest.mark.parametrize("model", MODELS)
def test_phases_agree_with_the_networks_own_gradient_flow(model, name):
    rng = np.random.default_rng(7)
    for seed in range(3):
        angle = rng.uniform(0.2, 1.3)
        values = {p: rng.uniform(1.5, 6), Delta: angle, kappa2: rng.uniform(0.5, 1.5), m: NEURONS, ETA: 0.2}
        assert_agrees(MODELS[model], phase_groups(name), COUNTS, two_points(angle, rng), values, seed)


def third_point_model(loss):
    gram = sp.Matrix(3, 3, lambda i, j: sp.Symbol(f"g_{min(i, j) + 1}{max(i, j) + 1}", real=True))
    weights = sp.symbols("w_1:4", positive=True)
    return derive.NetworkModel(data=derive.data_set(gram, (1, -1, 1), weights), loss=loss)


GROUPS_ON_THREE_POINTS = [
    derive.Group("everywhere", 1, sp.Rational(2, 9), active=(0, 1, 2)),
    derive.Group("kink on 2", 1, sp.Rational(3, 9), active=(0, 2), sliding=(1,)),
    derive.Group("two kinks", -1, sp.Rational(2, 9), active=(1,), sliding=(0, 2)),
    derive.Group("one point", -1, sp.Rational(1, 9), active=(2,)),
]


@pytest.mark.parametrize("loss", [derive.EXP, derive.LOGISTIC], ids=["exp", "logistic"])
def test_a_third_point_with_any_gram_matrix_agrees(loss):
    model = third_point_model(loss)
    rng = np.random.default_rng(11)
    for seed in range(3):
        X = rng.normal(size=(3, 5))
        gram = X @ X.T
        values = {model.data.gram[i, j]: gram[i, j] for i in range(3) for j in range(i, 3)}
        values |= dict(zip(model.data.weights, rng.uniform(0.2, 0.6, 3), strict=True)) | {kappa2: 0.8, m: 9}
        ode, net, owners, named = assert_agrees(model, GROUPS_ON_THREE_POINTS, (2, 3, 2, 1), X, values, seed)
        _check_multipliers(ode, net, owners, named)


def _check_multipliers(ode, net, owners, named):
    forces = dict(ode.model.forces)
    for index, group in enumerate(ode.groups):
        _, weight = net.velocity(owners.index(group), group.sliding)
        for j in group.sliding:
            multiplier = ode.motions[index].multipliers[j]
            expression = multiplier.subs(forces)
            value = float(expression.subs({symbol: named[symbol.name] for symbol in expression.free_symbols}))
            assert value == pytest.approx(weight[j], rel=1e-6)


def test_a_third_point_has_a_lotka_volterra_form():
    ode = derive.prediction_ode(third_point_model(derive.EXP), GROUPS_ON_THREE_POINTS)
    matrix = ode.lotka_volterra()
    forces = sp.Matrix(ode.model.data.forces)
    for i, label in enumerate(ode.model.data.labels):
        assert sp.simplify((matrix * forces)[i] + label * ode.rates[i]) == 0


def test_a_wrong_system_is_noticed():
    """The comparison has the power to reject: Phase III's rates do not fit a network in Phase II."""
    rng = np.random.default_rng(3)
    values = {p: 4.0, Delta: 0.5, kappa2: 1.0, m: NEURONS}
    net, owners = random_net(MODELS["paper"], phase_groups("II"), COUNTS, two_points(0.5, rng), values, 0)
    wrong = derive.prediction_ode(MODELS["paper"], phase_groups("III"))
    named = {symbol.name: value for symbol, value in values.items()}
    named |= dict(zip(("f_plus", "f_minus"), net.outputs(net.b), strict=True))
    derived = wrong.lambdify("numpy")(*(named[symbol.name] for symbol in wrong.arguments))
    assert np.abs(derived - net.rates([group.sliding for group in owners])).max() > 1e-2

"""The prediction ODEs derived from the network equal the paper's tables, and hold where the tables say."""

import itertools

import pytest
import sympy as sp

from reduced import derive
from reduced.derive.symbols import Delta, alpha_minus, alpha_plus, c, kappa2, m, s
from reduced.errors import InputError

k = kappa2**2
P, Q = derive.TWO_POINTS.forces

# Lemmas D.3, E.5, F.3, typed by hand
TABLE = {
    "II": (k * alpha_plus, k * alpha_plus * c, k * alpha_plus * c, k * (alpha_plus + alpha_minus * s**2)),
    "III": (k * alpha_plus * s**2, 0, 0, k * alpha_minus * s**2),
    "IV": (k * (alpha_plus * s**2 + alpha_minus), k * alpha_minus * c, k * alpha_minus * c, k * alpha_minus),
}

# (u̇, v̇)/a by output sign, active points, sliding points (Lemma C.1, Definition H.1), typed by hand
VELOCITIES = {
    (1, (0, 1), ()): (P - c * Q, c * P - Q),
    (-1, (0,), ()): (P, c * P),
    (1, (1,), ()): (-c * Q, -Q),
    (-1, (1,), (0,)): (0, -(s**2) * Q),
    (1, (0,), (1,)): (s**2 * P, 0),
    (1, (), ()): (0, 0),
}


def is_zero(expression):
    return sp.simplify(expression) == 0


@pytest.mark.parametrize("name", TABLE)
def test_coefficients_equal_the_table(name):
    ode = derive.phase(name)
    for derived, by_hand in zip((ode.A, ode.B, ode.C, ode.D), TABLE[name], strict=True):
        assert is_zero(derived - by_hand)


@pytest.mark.parametrize("name", TABLE)
def test_rates_are_the_coefficients_times_the_forces(name):
    ode = derive.phase(name)
    assert is_zero(ode.rates[0] - (ode.A * P - ode.B * Q))
    assert is_zero(ode.rates[1] - (ode.C * P - ode.D * Q))


@pytest.mark.parametrize("piece", VELOCITIES)
def test_neuron_velocities_equal_the_table(piece):
    sign, active, sliding = piece
    model = derive.NetworkModel()
    velocity = derive.motion(model, sign, active, sliding).velocity
    for point, by_hand in enumerate(VELOCITIES[piece]):
        assert is_zero(velocity.along(point) / (sign * kappa2 / sp.sqrt(m)) - by_hand)


@pytest.mark.parametrize("name", TABLE)
def test_lotka_volterra_matrix_reproduces_the_flow_of_the_forces(name):
    ode = derive.phase(name)
    matrix = ode.lotka_volterra()
    A, B, C, D = TABLE[name]
    assert all(is_zero(entry) for entry in matrix - sp.Matrix([[-A, B], [C, -D]]))


def test_lotka_volterra_form_is_refused_for_logistic_loss():
    ode = derive.phase("II", derive.NetworkModel(loss=derive.LOGISTIC))
    with pytest.raises(derive.DerivationError, match="not exponential"):
        ode.lotka_volterra()


@pytest.mark.parametrize(
    ("sign", "active", "sliding", "holds"),
    [
        (-1, (1,), (0,), lambda r, c: r <= 1 / c),
        (1, (0,), (1,), lambda r, c: r >= c),
        (1, (1,), (0,), lambda r, c: False),
        (-1, (0,), (1,), lambda r, c: False),
    ],
)
def test_sliding_conditions_hold_exactly_where_the_table_says(sign, active, sliding, holds):
    conditions = derive.motion(derive.NetworkModel(), sign, active, sliding).conditions
    for ratio, angle in itertools.product((0.3, 0.75, 0.97, 1.0, 1.1, 1.6), (0.1, 0.7, 1.2)):
        values = {P: 1.0, Q: ratio, Delta: angle}
        derived = all(bool(condition.relation.subs(values)) for condition in conditions)
        assert derived == holds(ratio, float(sp.cos(angle))), (ratio, angle)


def test_squared_relu_has_no_closed_prediction_ode():
    groups = [derive.Group("all", 1, alpha_plus, active=(0, 1))]
    with pytest.raises(
        derive.AutonomyError, match="group all depend on its neurons' own coordinates u_minus, u_plus"
    ):
        derive.prediction_ode(derive.NetworkModel(activation=derive.SQUARED_RELU), groups)


def test_changed_activation_scale_and_loss_change_the_system():
    eta = sp.Symbol("eta", positive=True)
    paper = derive.phase("III")
    leaky = derive.phase("III", derive.NetworkModel(activation=derive.leaky_relu(eta)))
    assert is_zero(leaky.A - paper.A)
    assert is_zero(leaky.motions[0].multipliers[1] - paper.motions[0].multipliers[1])
    positive = derive.Group("one", 1, alpha_plus, active=(0,))
    leaky_one = derive.prediction_ode(leaky.model, [positive])
    assert is_zero(leaky_one.D - k * alpha_plus * eta**2)
    assert derive.prediction_ode(derive.NetworkModel(), [positive]).D == 0
    scaled = derive.phase("II", derive.NetworkModel(output_scale=kappa2 / m))
    assert is_zero(scaled.D - derive.phase("II").D / m)
    logistic = derive.phase("II", derive.NetworkModel(loss=derive.LOGISTIC))
    assert is_zero(logistic.A - derive.phase("II").A)
    assert not is_zero(logistic.model.force(0) - derive.phase("II").model.force(0))


def test_force_laws_of_the_losses():
    g = sp.Symbol("g")
    assert is_zero(derive.EXP.force_law(g) + g)
    assert is_zero(derive.LOGISTIC.force_law(g) + g * (1 - g))
    z = sp.Symbol("z")
    with pytest.raises(derive.DerivationError, match="no polynomial law"):
        _ = derive.Loss(sp.Lambda(z, sp.exp(-z) + sp.exp(-2 * z))).force_law


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: derive.phase("V"), "phase: expected II, III or IV, got V"),
        (lambda: derive.motion(derive.NetworkModel(), 1, (0,), (0,)), "active, sliding"),
        (lambda: derive.motion(derive.NetworkModel(), 1, (0, 5)), "active, sliding"),
        (lambda: derive.data_set(sp.eye(2), (1, 2), (1, 1)), "labels"),
        (lambda: derive.data_set(sp.Matrix([[1, 0], [1, 1]]), (1, -1), (1, 1)), "gram"),
        (lambda: derive.data_set(sp.eye(2), (1, -1), (1,)), "weights"),
        (lambda: derive.Group("none", 0, 1), "sign: expected"),
        (lambda: derive.limit("five-phase"), "regime"),
        (lambda: derive.Activation(sp.Lambda(sp.Symbol("z"), 1), sp.Lambda(sp.Symbol("z"), 0)), "activation"),
        (
            lambda: derive.motion(derive.NetworkModel(activation=derive.SQUARED_RELU), 1, (0,), (1,)),
            "activation: expected an activation with a kink",
        ),
    ],
)
def test_bad_input_is_named(build, message):
    with pytest.raises(InputError, match=message):
        build()


def test_sliding_on_dependent_points_is_refused():
    twins = derive.data_set(sp.Matrix([[1, 1], [1, 1]]), (1, 1), (1, 1))
    with pytest.raises(derive.DerivationError, match="linearly dependent"):
        derive.motion(derive.NetworkModel(data=twins), -1, (), (0, 1))

"""A neuron on a kink crosses, slides, follows the other side or has no unique flow, as the fields decide."""

import numpy as np
import pytest

import fullnet

ANGLE = 0.3
OTHER = [np.cos(ANGLE), np.sin(ANGLE), 0.0]
# One point on an axis, so that weights can lie exactly on its kink.
PLUS_ON_AXIS = fullnet.data_set([[1, 0, 0], OTHER], [1, -1], [0.8, 0.2])
MINUS_ON_AXIS = fullnet.data_set([OTHER, [1, 0, 0]], [1, -1], [0.8, 0.2])
UP, DOWN = [0.0, 0.1, 0.7], [0.0, -0.1, 0.7]


def start_pattern(data, sign, w, **options):
    flow = fullnet.gradient_flow(fullnet.given_network([w], [sign], 1.0), data, until=1e-3, **options)
    return flow.patterns(0.0)[0]


@pytest.mark.parametrize(
    ("data", "sign", "w", "pattern"),
    [
        (MINUS_ON_AXIS, 1, UP, "++"),  # r < c: both fields point to the active side (Case II)
        (MINUS_ON_AXIS, 1, DOWN, "--"),  # inactive field is zero, the active one points in (Case IV)
        (MINUS_ON_AXIS, -1, UP, "+-"),
        (PLUS_ON_AXIS, -1, UP, "0+"),  # both fields point to the kink: it slides (Case I)
        (PLUS_ON_AXIS, 1, DOWN, "+-"),  # inactive field is zero, the active one points away (Case IV)
        (PLUS_ON_AXIS, -1, DOWN, "--"),
    ],
)
def test_start_on_a_kink(data, sign, w, pattern):
    assert start_pattern(data, sign, w) == pattern
    for ridge in ("active", "inactive", "slide"):
        assert start_pattern(data, sign, w, ridge=ridge) == pattern


def test_start_on_a_ridge_has_no_unique_flow():
    with pytest.raises(fullnet.NotUnique, match=r"neuron 0 \(pattern 0\+\).*ridge="):
        start_pattern(PLUS_ON_AXIS, 1, UP)


@pytest.mark.parametrize(("ridge", "pattern"), [("active", "++"), ("inactive", "-+"), ("slide", "0+")])
def test_each_choice_on_a_ridge_is_a_solution(ridge, pattern):
    """Active and inactive are the limits of starts beside the ridge; the slide stays on it."""
    net = fullnet.given_network([UP], [1], 1.0)
    flow = fullnet.gradient_flow(net, PLUS_ON_AXIS, until=0.05, ridge=ridge)
    assert flow.patterns(0.0) == [pattern]
    if ridge == "slide":
        assert abs(flow.neurons(0.05)[0, 0]) < 1e-16
        return
    side = 1e-9 if ridge == "active" else -1e-9
    near = fullnet.given_network([[side, *UP[1:]]], [1], 1.0)
    beside = fullnet.gradient_flow(near, PLUS_ON_AXIS, until=0.05)
    np.testing.assert_allclose(flow.neurons(0.05), beside.neurons(0.05), atol=3e-9)


def test_the_origin_has_no_unique_flow():
    """It rests there for ever, or leaves at any time: a positive neuron at r < c into ``++``, others slide."""
    for sign, way in ((1, "++"), (-1, "0+")):
        with pytest.raises(fullnet.NotUnique, match=r"pattern 00.*origin.*could leave"):
            start_pattern(PLUS_ON_AXIS, sign, [0, 0, 0.5])
        for ridge, pattern in (("active", way), ("inactive", "--"), ("slide", "--")):
            assert start_pattern(PLUS_ON_AXIS, sign, [0, 0, 0.5], ridge=ridge) == pattern


def test_the_origin_of_many_points():
    """With more kinks at once than can be tried one by one, valleys take the velocity of least norm."""
    angles = np.linspace(0, 1.2, 9)
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    data = fullnet.data_set(X, [1, -1] * 4 + [1])
    net = fullnet.given_network([[0.0, 0.0]], [1], 1.0)
    with pytest.raises(fullnet.NotUnique):
        fullnet.gradient_flow(net, data, until=1.0)
    for ridge in ("active", "inactive"):
        flow = fullnet.gradient_flow(net, data, until=1.0, ridge=ridge)
        places = X @ flow.neurons(1.0)[0]
        for z, mark in zip(places, flow.patterns(1.0)[0], strict=True):
            assert abs(z) < 1e-12 or mark == ("+" if z > 0 else "-")
    assert np.linalg.norm(fullnet.gradient_flow(net, data, until=1.0, ridge="inactive").neurons(1.0)) == 0


def test_a_neuron_that_comes_to_the_origin():
    """A positive neuron along x₋ moves into the origin and rests there; small steps carry it through."""
    X = np.array([[0.6, 0.8], [-0.8, 0.6], [0.0, -1.0]])
    data = fullnet.data_set(X, [1, 1, -1])
    net = fullnet.given_network([[0.0, -0.3]], [1], 1.0)
    (death,) = fullnet.gradient_flow(net, data, until=5.0).deaths
    assert (death.neuron, death.cause, death.points) == (0, "origin", (2,))
    flow = fullnet.gradient_flow(net, data, until=5.0, ridge="active")
    assert [(event.before, event.after) for event in flow.events[:1]] == [("--+", "++-")]
    run = fullnet.gradient_descent(net, data, 1e-4, 50_000, stop_early=False)
    np.testing.assert_allclose(run.predictions, flow.at(5.0), atol=1e-3)
    for ridge in (None, "inactive", "slide"):
        flow = fullnet.gradient_flow(net, data, until=5.0, ridge=ridge)
        assert [(event.before, event.after) for event in flow.events] == [("--+", "---")]
        np.testing.assert_allclose(flow.neurons(5.0), 0, atol=1e-15)


def test_a_neuron_that_cannot_leave_the_origin_dies_there():
    """Between two negative points a positive neuron is pulled into the origin, and nothing pulls it out."""
    data = fullnet.data_set([[1.0, 0.5], [-1.0, 0.5]], [-1, -1])
    flow = fullnet.gradient_flow(fullnet.given_network([[0.0, 0.1]], [1], 1.0), data, until=10.0)
    assert [(event.kind, event.after) for event in flow.events] == [("die", "--")]


@pytest.mark.parametrize("labels", [[1, -1] * 4 + [1], [-1, -1, 1, 1, 1, 1, -1, -1, 1]])
def test_a_way_out_of_the_origin_of_a_plane_is_a_solution(labels):
    """A start beside the origin, on the way chosen, goes the same way."""
    angles = np.linspace(0, 1.2, 9)
    data = fullnet.data_set(np.column_stack([np.cos(angles), np.sin(angles)]), labels)
    net = fullnet.given_network([[0.0, 0.0]], [1], 1.0)
    flow = fullnet.gradient_flow(net, data, until=0.5, ridge="active")
    assert np.linalg.norm(flow.neurons(0.5)) > 1e-2
    beside = fullnet.given_network(flow.neurons(1e-6), [1], 1.0)
    again = fullnet.gradient_flow(beside, data, until=0.5 - 1e-6)
    np.testing.assert_allclose(again.neurons(again.end), flow.neurons(0.5), atol=1e-10)


def test_one_neuron():
    """A positive one alone learns x₊ only (f₋ ends at exactly 0); a negative one alone x₋ only."""
    data = fullnet.two_point(4, np.pi / 15, 3)
    for sign, last, right in ((1.0, "+0", 0), (-1.0, "0+", 1)):
        net = fullnet.given_network([[-0.4, -0.1, 0.1]], [sign], 1.0)
        flow = fullnet.gradient_flow(net, data, until=1e6)
        assert flow.patterns(1e6) == [last]
        assert data.y[right] * flow.at(1e6)[right] > 5
        assert flow.at(1e6)[1 - right] == 0.0
        assert (fullnet.phase_times(flow).times["T_plat"] is None) == (sign > 0)


def test_all_dead_at_the_start():
    data = fullnet.two_point(4, np.pi / 15, 3)
    net = fullnet.given_network([[0.0, 1.0, 2.0]] * 4, [1, -1, 1, -1], 1.0)
    flow = fullnet.gradient_flow(net, data, until=1e9)
    assert flow.outcome is fullnet.Outcome.FINISHED
    assert not flow.living.any()
    assert flow.events == ()
    np.testing.assert_array_equal(flow.at([0, 1, 1e9]), 0)
    np.testing.assert_array_equal(flow.neurons(1e9), net.W)
    phases = fullnet.phase_times(flow)
    assert {name: t for name, t in phases.times.items() if t is not None}.keys() == {"T_I"}
    assert [(one.start, one.end, one.level) for one in phases.plateaus] == [(0.0, None, 0.0)]

"""Whatever is wrong with an input, one InputError names the argument, what came and what was expected."""

import math

import numpy as np
import pytest

import fullnet

DATA = fullnet.two_point(4, np.pi / 15, 3)
NET = fullnet.initial_network(4, 3, 0.1, 1.0, seed=0)
NONSENSE = ["four", None, math.nan, math.inf, -math.inf, 1j, [1], True]
INTEGER_NONSENSE = [*NONSENSE, 1.5, -1]


def rejects(name, call):
    with pytest.raises(fullnet.InputError, match=name) as caught:
        call()
    assert "expected" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("bad", [*NONSENSE, 0, -1])
def test_positive_numbers(bad):
    rejects("p", lambda: fullnet.two_point(bad, 0.2, 3))
    rejects("kappa1", lambda: fullnet.initial_network(4, 3, bad, 1.0, 0))
    rejects("kappa2", lambda: fullnet.initial_network(4, 3, 1.0, bad, 0))
    rejects("until", lambda: fullnet.gradient_flow(NET, DATA, bad))
    rejects("tolerance", lambda: fullnet.gradient_flow(NET, DATA, 1.0, tolerance=bad))
    rejects("lr", lambda: fullnet.gradient_descent(NET, DATA, bad, 10))


@pytest.mark.parametrize("bad", INTEGER_NONSENSE)
def test_integers(bad):
    rejects("dim", lambda: fullnet.two_point(4, 0.2, bad))
    rejects("m", lambda: fullnet.initial_network(bad, 3, 0.1, 1.0, 0))
    rejects("dim", lambda: fullnet.initial_network(4, bad, 0.1, 1.0, 0))
    rejects("seed", lambda: fullnet.initial_network(4, 3, 0.1, 1.0, bad))
    rejects("steps", lambda: fullnet.gradient_descent(NET, DATA, 0.01, bad))
    if bad is not None:
        rejects("positive", lambda: fullnet.initial_network(4, 3, 0.1, 1.0, 0, positive=bad))


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("delta", lambda: fullnet.two_point(4, 0, 3)),
        ("delta", lambda: fullnet.two_point(4, math.pi / 2, 3)),
        ("delta", lambda: fullnet.two_point(4, "pi/15", 3)),
        ("dim", lambda: fullnet.two_point(4, 0.2, 1)),
        ("positive", lambda: fullnet.initial_network(4, 3, 0.1, 1.0, 0, positive=5)),
        ("law", lambda: fullnet.initial_network(4, 3, 0.1, 1.0, 0, law="uniform")),
        ("kappa1", lambda: fullnet.initial_network(4, 3, 1e200, 1.0, 0)),
        ("kappa2", lambda: fullnet.initial_network(4, 3, 1.0, 1e-200, 0)),
        ("until", lambda: fullnet.gradient_flow(NET, DATA, 1e301)),
        ("loss", lambda: fullnet.gradient_flow(NET, DATA, 1.0, loss="hinge")),
        ("ridge", lambda: fullnet.gradient_flow(NET, DATA, 1.0, ridge="up")),
        ("tolerance", lambda: fullnet.gradient_flow(NET, DATA, 1.0, tolerance=0.1)),
        ("network", lambda: fullnet.gradient_flow(NET, fullnet.two_point(4, 0.2, 5), 1.0)),
        ("network", lambda: fullnet.gradient_descent(NET, fullnet.two_point(4, 0.2, 5), 0.1, 1)),
        ("loss", lambda: fullnet.gradient_descent(NET, DATA, 0.1, 1, loss=None)),
        ("subgradient", lambda: fullnet.gradient_descent(NET, DATA, 0.1, 1, subgradient=0.3)),
        ("engine", lambda: fullnet.gradient_descent(NET, DATA, 0.1, 1, engine="torch")),
        ("t", lambda: fullnet.gradient_flow(NET, DATA, 1.0).at(1.5)),
        ("t", lambda: fullnet.gradient_flow(NET, DATA, 1.0).at([0.5, math.nan])),
        ("t", lambda: fullnet.gradient_flow(NET, DATA, 1.0).neurons(-1e-9)),
        ("estimate_error", lambda: fullnet.gradient_flow(NET, DATA, 1.0).prediction_error(0.5)),
        ("budget", lambda: fullnet.Budget(steps=-1)),
        ("budget", lambda: fullnet.Budget(seconds=math.nan)),
    ],
)
def test_single_values(name, call):
    rejects(name, call)


@pytest.mark.parametrize(
    ("name", "X", "y", "weights"),
    [
        ("X", [[1, 0], [1]], [1, -1], None),
        ("X", [1, 0], [1, -1], None),
        ("X", np.zeros((0, 2)), [], None),
        ("X", [["a", "b"]], [1], None),
        ("X", [[1.0, math.nan]], [1], None),
        ("X", [[1.0, math.inf]], [1], None),
        ("X", [[1e200, 0]], [1], None),
        ("X", [[1.0], [2.0]], [1, -1], None),
        ("X", [[1.0, 0], [0, 0]], [1, -1], None),
        ("X", [[1j, 0]], [1], None),
        ("X", [[True, False]], [1], None),
        ("y", [[1.0, 0]], [1, -1], None),
        ("y", [[1.0, 0], [0, 1]], [1, 0], None),
        ("y", [[1.0, 0]], [[1]], None),
        ("y", [[1.0, 0]], ["+"], None),
        ("weights", [[1.0, 0], [0, 1]], [1, -1], [1]),
        ("weights", [[1.0, 0], [0, 1]], [1, -1], [1, 0]),
        ("weights", [[1.0, 0], [0, 1]], [1, -1], [1, -1]),
        ("weights", [[1.0, 0], [0, 1]], [1, -1], [1, math.nan]),
    ],
)
def test_data_arrays(name, X, y, weights):
    rejects(name, lambda: fullnet.data_set(X, y, weights))


@pytest.mark.parametrize(
    ("name", "W", "sign"),
    [
        ("W", [1.0, 2.0], [1, 1]),
        ("W", [[math.nan, 0]], [1]),
        ("W", [[1e101, 0]], [1]),
        ("W", np.zeros((0, 2)), []),
        ("sign", [[1.0, 0]], [2]),
        ("sign", [[1.0, 0]], [1, 1]),
        ("sign", [[1.0, 0]], [math.nan]),
    ],
)
def test_network_arrays(name, W, sign):
    rejects(name, lambda: fullnet.given_network(W, sign, 1.0))


def test_arrays_are_copied_and_frozen():
    X = np.eye(2)
    data = fullnet.data_set(X, [1, -1])
    X[0, 0] = 7
    assert data.X[0, 0] == 1
    for array in (data.X, data.y, data.weights, NET.W, NET.sign):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_files_that_are_not_what_they_should_be(tmp_path):
    good = tmp_path / "good.npz"
    np.savez(good, W=NET.W, sign=NET.sign, X=DATA.X, y=DATA.y)
    cut = tmp_path / "cut.npz"
    cut.write_bytes(good.read_bytes()[:200])
    empty = tmp_path / "empty.npz"
    empty.write_bytes(b"")
    text = tmp_path / "text.npz"
    text.write_text("hello")
    other = tmp_path / "other.npz"
    np.savez(other, weights=[1.0])
    pickled = tmp_path / "pickled.npz"
    np.savez(pickled, W=np.array([{}], dtype=object), sign=NET.sign, X=np.array([{}], dtype=object), y=DATA.y)
    single = tmp_path / "single.npy"
    np.save(single, NET.W)
    for path in (tmp_path / "missing.npz", cut, empty, text, other, pickled, tmp_path):
        rejects("path: .*expected", lambda path=path: fullnet.load_network(path, 1.0))
    for path in (
        tmp_path / "missing.npz",
        tmp_path / "missing.csv",
        cut,
        empty,
        text,
        other,
        pickled,
        tmp_path,
    ):
        rejects("path: .*expected", lambda path=path: fullnet.load_data(path))
    rejects("path: .*expected", lambda: fullnet.load_network(single, 1.0))
    swapped = tmp_path / "swapped.npz"
    np.savez(swapped, W=NET.W.T, sign=NET.sign)
    rejects("sign", lambda: fullnet.load_network(swapped, 1.0))


@pytest.mark.parametrize(
    "text",
    ["", "# nothing\n", "x,y,z\n1,0,1\n", "1,0,1\n1,0\n", "1,1\n2,-1\n", "1:0:1\n", "1,0,1\n0,one,-1\n"],
)
def test_malformed_csv(tmp_path, text):
    path = tmp_path / "points.csv"
    path.write_text(text)
    rejects("path: .*expected", lambda: fullnet.load_data(path))


def test_csv_with_wrong_labels(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("1,0,1\n0,1,0\n")
    rejects("line 2: expected a label", lambda: fullnet.load_data(path))
    path.write_bytes(b"\xff\xfe\x00")
    rejects("path: .*expected", lambda: fullnet.load_data(path))


def test_good_files_round_trip(tmp_path):
    points = tmp_path / "points.npz"
    np.savez(points, X=DATA.X, y=DATA.y, weights=DATA.weights)
    loaded = fullnet.load_data(points)
    for name in ("X", "y", "weights"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(DATA, name))
    table = tmp_path / "points.csv"
    table.write_text("# x, y, label\n1, 0, 1\n\n0.5, -2e-1, -1\n")
    loaded = fullnet.load_data(table)
    np.testing.assert_array_equal(loaded.X, [[1, 0], [0.5, -0.2]])
    np.testing.assert_array_equal(loaded.weights, [0.5, 0.5])
    weights = tmp_path / "net.npz"
    np.savez(weights, W=NET.W, sign=NET.sign.astype(int))
    np.testing.assert_array_equal(fullnet.load_network(weights, 1.0).W, NET.W)


def test_initial_networks_follow_their_law():
    net = fullnet.initial_network(2001, 5, 0.3, 2.0, seed=4)
    np.testing.assert_allclose(np.linalg.norm(net.W, axis=1), 0.3 / math.sqrt(2001), rtol=1e-14)
    assert net.kappa1 == pytest.approx(0.3, rel=1e-14)
    assert np.sum(net.sign == 1) == 1001
    np.testing.assert_allclose(np.abs(net.second_layer), 2.0 / math.sqrt(2001), rtol=1e-14)
    gaussian = fullnet.initial_network(4000, 5, 0.3, 2.0, seed=4, law="gaussian", positive=17)
    assert np.sum(gaussian.sign == 1) == 17
    assert np.std(gaussian.W) == pytest.approx(0.3 / math.sqrt(4000 * 5), rel=0.03)
    scaled = fullnet.initial_network(2001, 5, 0.6, 2.0, seed=4)
    np.testing.assert_allclose(scaled.W, 2 * net.W, rtol=1e-15)


def test_outside_assumption_is_allowed():
    data = fullnet.two_point(0.5, 1.2, 3)
    assert fullnet.gradient_flow(NET, data, 1e3).outcome is fullnet.Outcome.FINISHED


def test_a_budget_keeps_everything_up_to_there():
    whole = fullnet.gradient_flow(NET, DATA, 1e6)
    part = fullnet.gradient_flow(NET, DATA, 1e6, budget=fullnet.Budget(steps=whole.steps // 2))
    assert part.outcome is fullnet.Outcome.BUDGET
    assert 0 < part.end < 1e6
    assert part.events == whole.events[: len(part.events)]
    np.testing.assert_array_equal(part.at(part.end), whole.at(part.end))
    none = fullnet.gradient_flow(NET, DATA, 1e6, budget=fullnet.Budget(seconds=0))
    assert none.outcome is fullnet.Outcome.BUDGET
    np.testing.assert_array_equal(none.at(0.0), fullnet.predictions(NET, DATA))

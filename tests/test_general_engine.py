"""The solver's motions on N points are the engine's: same systems, same multipliers, slid surfaces included."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
import sympy as sp

from reduced.derive import Group, NetworkModel, data_set, motion, prediction_ode
from reduced.errors import InputError
from reduced.solve.general import Motions, points

X = [["1", "1/3", "0"], ["-1/2", "1", "2/7"], ["3/5", "1/4", "1"], ["1/9", "-2/3", "5/4"]]
LABELS, WEIGHTS = (1, -1, -1, 1), ("1/2", "1/4", "1/8", "1/8")


@pytest.fixture(scope="module")
def motions():
    ctx = mpmath.mp.clone()
    ctx.dps = 40
    return Motions(ctx, points(X, LABELS, WEIGHTS))


@pytest.fixture(scope="module")
def model():
    rows = [[sp.Rational(x) for x in row] for row in X]
    gram = sp.Matrix(4, 4, lambda i, j: sum(a * b for a, b in zip(rows[i], rows[j], strict=True)))
    kappa2, m = sp.Rational(3, 2), sp.Symbol("m", positive=True)
    data = data_set(gram, LABELS, tuple(map(sp.Rational, WEIGHTS)))
    return NetworkModel(data, output_scale=kappa2 / sp.sqrt(m))


@pytest.mark.parametrize(
    "members",
    [
        [(1, (1, 1, 1, 1), 3), (-1, (0, 1, 1, -1), 2)],
        [(1, (1, 0, 0, 1), 3), (-1, (1, 1, -1, -1), 4)],
        [(-1, (0, 1, 1, 0), 1), (1, (-1, 1, -1, 1), 2), (1, (1, 0, 1, -1), 5)],
    ],
    ids=["one surface", "two surfaces", "mixed"],
)
def test_prediction_system(motions, model, members):
    ctx, m = motions.ctx, 20
    counts = [(motions.motion(sign, state), count) for sign, state, count in members]
    found = motions.matrix(counts, ctx.mpf(9) / 4 / m)
    groups = [
        Group(
            str(k),
            sign,
            sp.Rational(count, m),
            tuple(i for i, side in enumerate(state) if side > 0),
            tuple(i for i, side in enumerate(state) if side == 0),
        )
        for k, (sign, state, count) in enumerate(members)
    ]
    derived = prediction_ode(model, groups).matrix
    for i in range(4):
        for j in range(4):
            exact = ctx.mpf(int(derived[i, j].p)) / int(derived[i, j].q)
            assert abs(found[i][j] - exact) <= ctx.mpf(10) ** -37


def test_multipliers_on_two_surfaces(motions, model):
    """λ of the engine is the push over the force of the active side."""
    ctx, state = motions.ctx, (1, 0, 0, 1)
    derived = motion(model, 1, (0, 3), (1, 2))
    forces = [Fraction(k, 7) for k in (3, 4, 5, 2)]
    values = {
        symbol: sp.Rational(U.numerator, U.denominator)
        for symbol, U in zip(model.data.forces, forces, strict=True)
    }
    U = [ctx.mpf(u.numerator) / u.denominator for u in forces]
    for s in (1, 2):
        multiplier = sp.nsimplify(derived.multipliers[s].subs(values))
        push = ctx.fdot(zip(motions.motion(1, state).push[s], U, strict=True))
        active = ctx.fdot(zip(motions.force[1][s], U, strict=True))
        assert abs(push / active - ctx.mpf(int(multiplier.p)) / int(multiplier.q)) <= ctx.mpf(10) ** -36


def test_points_on_one_line_share_a_surface():
    found = points([["sqrt(2)", 1], [0, 1], ["-2", "-sqrt(2)"], [0, "1/3"]], [1, 1, -1, -1])
    assert found.of_point == (0, 1, 0, 1)
    assert found.factor[3].fraction == Fraction(1, 3)
    assert float(found.factor[2].evaluate(mpmath.mp.clone())) == pytest.approx(-(2**0.5))


def test_bad_points_are_named():
    with pytest.raises(InputError, match="X"):
        points([[1, 0], [0, 0]], [1, -1])
    with pytest.raises(InputError, match="y"):
        points([[1, 0]], [2])
    with pytest.raises(InputError, match="weights"):
        points([[1, 0]], [1], [0])

"""The living groups of a network after condensation, and the prediction system the engine derives for them."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import fullnet
from reduced.errors import InputError

if TYPE_CHECKING:
    from reduced.derive import Group, PredictionODE

_INTO_THE_GAP = 0.1


def condensed_time(trajectory: fullnet.Trajectory) -> float:
    """Return a time after condensation: a tenth into the widest gap, in log t, between switches.

    Condensation is a burst of switches that ends long before the next one; 0 when nothing ever switches.
    """
    times = sorted({event.t for event in trajectory.events if event.t > 0})
    if not times:
        return 0.0
    begin, end = max(pairwise([*times, trajectory.end]), key=lambda gap: gap[1] / gap[0])
    return float(begin * (end / begin) ** _INTO_THE_GAP)


def living_groups(trajectory: fullnet.Trajectory, t: float) -> tuple[Group, ...]:
    """Return the groups of neurons that share sign and pattern at a time, without the dead, largest first."""
    import sympy as sp

    from reduced.derive import Group

    network = trajectory.network
    shared = Counter(zip((int(s) for s in network.sign), trajectory.patterns(t), strict=True))
    return tuple(
        Group(
            f"{'+' if sign > 0 else '-'}({pattern})",
            sign,
            sp.Rational(count, len(network.sign)),
            tuple(i for i, mark in enumerate(pattern) if mark == "+"),
            tuple(i for i, mark in enumerate(pattern) if mark == "0"),
        )
        for (sign, pattern), count in shared.most_common()
        if set(pattern) != {"-"}
    )


def living_system(trajectory: fullnet.Trajectory, t: float) -> PredictionODE:
    """Derive the prediction system of the groups living at a time, with the data's exact Gram matrix.

    Its ``matrix`` is the K of ḟ = K U, its ``lotka_volterra()`` (exponential loss) the M of U̇ᵢ = Uᵢ Σ MᵢⱼUⱼ.
    Raises InputError when nothing lives, DerivationError for dependent sliding points.
    """
    groups = living_groups(trajectory, t)
    if not groups:
        raise InputError("t", t, "a time at which neurons live")
    import sympy as sp

    from reduced.derive import EXP, LOGISTIC, NetworkModel, data_set, prediction_ode

    data, network = trajectory.data, trajectory.network
    rows = [[_rational(x) for x in row] for row in data.X]
    gram = sp.Matrix([[sum(a * b for a, b in zip(p, q, strict=True)) for q in rows] for p in rows])
    points = data_set(gram, tuple(int(y) for y in data.y), tuple(_rational(w) for w in data.weights))
    m = sp.Symbol("m", positive=True)
    scale = _rational(network.kappa2) / sp.sqrt(m)
    loss = EXP if trajectory.loss == "exp" else LOGISTIC
    return prediction_ode(NetworkModel(points, loss=loss, output_scale=scale), groups)


def _rational(value: Any) -> Any:
    import sympy as sp

    number = Fraction(float(value))
    return sp.Rational(number.numerator, number.denominator)

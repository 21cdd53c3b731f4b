"""The perturbation test of Theorem 4.11 on an explicit network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from reduced.errors import InputError
from reduced.maxmargin.living import LivingOnly, living_only, random_best_slope
from reduced.maxmargin.margin import optimum
from reduced.maxmargin.network import checked_network
from reduced.maxmargin.point import LimitPoint, limit_point
from reduced.maxmargin.revival import Revival, revivals
from reduced.numbers import ExactLike, decimal_string, exact
from reduced.records import Regime
from reduced.shown import shown

_WORKING_DIGITS = 50


@dataclass(frozen=True)
class ReviveDead:
    """The headline slopes: ``form`` is both (both signs revived, living at rest), rebalanced, or none.

    ``slope_predicted`` and ``slope_measured`` are decimal strings, None without a dead neuron; ``cases``
    holds every way to revive.
    """

    form: str
    slope_predicted: str | None
    slope_measured: str | None
    cases: tuple[Revival, ...]

    __repr__ = shown


@dataclass(frozen=True)
class Perturbation:
    """The perturbation test at θ̄, ‖θ̄‖ = ‖D‖ = 1; slopes are d/dε at 0⁺ of min yᵢf(xᵢ; θ̄ + εD)/‖θ̄ + εD‖.

    ``gamma_limit``: γ at θ̄, ``gamma_max``: the largest over all neurons by their signs, ``gamma_ratio`` their
    quotient (decimal strings); ``living``: counts positive, negative, dead; ``distance``:
    from the given weights' direction to θ̄; ``random_best``: the largest slope over random directions in
    all neurons, a warning (they do not find the ascent), never a test; ``local_optimum``: of the whole
    network; ``words``: the finding in a sentence.
    """

    gamma_limit: str
    gamma_max: str
    gamma_ratio: str
    regime: Regime
    living: dict[str, int]
    distance: float
    living_only: LivingOnly
    revive_dead: ReviveDead
    random_best: float
    random_count: int
    local_optimum: bool
    words: str

    __repr__ = shown

    def _repr_html_(self) -> str:
        from reduced.report import tables

        return tables.perturbation_html(self)


def perturb(
    W: ArrayLike,
    signs: ArrayLike,
    delta: ExactLike,
    kappa2: ExactLike = 1,
    *,
    directions: int = 2000,
    seed: int = 0,
    digits: int = 30,
) -> Perturbation:
    """Test whether the limit θ̄ of a network is a local optimum of the normalised margin (Theorem 4.11).

    Arguments: W (m, d), weights of θ̄ or of a trained network, data at :func:`data_points`: they say who
    lives, and θ̄ is then solved for in high precision; signs (m,) of ±1; delta, the angle Δ; kappa2 > 0;
    directions ≥ 1, random directions tried; seed; digits of the decimal strings. Returns a Perturbation.
    Raises InputError naming the argument, also when no neuron of one sign lives.
    """
    if directions < 1:
        raise InputError("directions", directions, "a number >= 1")
    if digits < 1:
        raise InputError("digits", digits, "a number >= 1")
    point = limit_point(W, signs, delta, kappa2, max(digits, _WORKING_DIGITS))
    weights, _ = checked_network(W, signs)
    everyone = np.ones(len(weights), dtype=bool)
    alone = living_only(point, directions, seed)
    revived = _revive_dead(point, digits)
    random_best = random_best_slope(point, everyone, directions, seed)
    words = _words(point, alone, revived)
    if revived.form != "none" and random_best <= 0:
        words += f"; none of {directions} random directions does: they are no test of optimality"
    κ2, best = point.kappa2.evaluate(point.ctx), _best_of_all(point)
    return Perturbation(
        gamma_limit=decimal_string(κ2 * point.optimum.gamma, digits),
        gamma_max=decimal_string(κ2 * best, digits),
        gamma_ratio=decimal_string(point.optimum.gamma / best, digits),
        regime=point.optimum.regime,
        living={
            "positive": int(point.living_plus.sum()),
            "negative": int(point.living_minus.sum()),
            "dead": int((~point.living).sum()),
        },
        distance=float(np.linalg.norm(weights / np.linalg.norm(weights) - point.weights)),
        living_only=alone,
        revive_dead=revived,
        random_best=random_best,
        random_count=directions,
        local_optimum=alone.local_optimum and revived.form == "none",
        words=words,
    )


def _best_of_all(point: LimitPoint) -> Any:
    """Return γ_max over all neurons, in units of κ₂."""
    m = len(point.signs)
    plus, minus = (exact(int(np.count_nonzero(point.signs == of_sign))) / m for of_sign in (1, -1))
    return optimum(plus, minus, point.delta, point.ctx.dps).gamma


def _revive_dead(point: LimitPoint, digits: int) -> ReviveDead:
    cases = revivals(point, digits)
    if not cases:
        return ReviveDead("none", None, None, ())
    if cases[0].case == "both":
        return ReviveDead("both", cases[0].plain.predicted, cases[0].plain.measured, cases)
    return ReviveDead("rebalanced", cases[0].rebalanced.predicted, cases[0].rebalanced.measured, cases)


def _words(point: LimitPoint, alone: LivingOnly, revived: ReviveDead) -> str:
    start = (
        "θ̄ is a local optimum among its living neurons"
        if alone.local_optimum
        else "local optimality among the living neurons could not be certified"
    )
    positive, negative = len(point.dead(1)), len(point.dead(-1))
    if revived.form == "none":
        return f"{start}; no neuron is dead, so that is the whole network"
    if revived.form == "both":
        how = (
            f"the {positive} dead positive neurons along x₋⊥ and the {negative} dead negative ones along x₊⊥"
        )
        return f"{start}; the dead neurons make it not locally optimal: reviving {how} raises both margins"
    who = (
        f"{positive} dead positive neurons along x₋⊥"
        if positive
        else f"{negative} dead negative neurons along x₊⊥"
    )
    return (
        f"{start}; the dead neurons make it not locally optimal: reviving the {who} raises one margin, "
        "and the living neurons re-balance the other (no dead neuron of the other sign)"
    )

"""Reviving dead neurons: why θ̄ is not a local optimum of the whole network (Theorem 4.11, second half).

A dead positive neuron given a weight w along x₋⊥ sees x₊ but not x₋: it raises margin₊ by κ₂ s w/√m and
leaves margin₋ alone; a dead negative one along x₊⊥ does the same for margin₋. D has no part along θ̄, so
the norm grows only at second order. Both signs, scaled so that N₊ᵈw₊ = N₋ᵈw₋, raise both margins equally:
slope κ₂ s N₊ᵈw₊/√m.

Re-balancing (derived here). When the revived part gains (g₊, g₋) with g₊ ≠ g₋, let the living neurons move
by D_L = h̃₊∇margin₊ + h̃₋∇margin₋ along their kinks, with M h̃ = h and M_ij = ⟨∇margin i, ∇margin j⟩: the
margins then change by h, at the least ‖D_L‖ (‖D_L‖² = ⟨h̃, h⟩). Since θ̄ ∝ λ₊∇margin₊ + λ₋∇margin₋ and M λ
∝ (1, 1), ⟨θ̄, D_L⟩ ∝ λ₊h₊ + λ₋h₋, so no first-order change of the norm means h₊ = −ρ h₋; equal gains g₊ +
h₊ = g₋ + h₋ give h₋ = (g₊ − g₋)/(1 + ρ) and the common slope (g₊ + ρ g₋)/(1 + ρ). With ‖D‖ = 1 over revived
and living parts together, g± are the gains of the normalised direction, smaller by √(1 + ‖D_L‖²).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reduced.maxmargin.margin import solve_pair
from reduced.maxmargin.network import Pair
from reduced.maxmargin.point import LimitPoint
from reduced.numbers import decimal_string

EPSILONS = range(4, 13)
"""Slopes are measured at ε = 10^−k for these k."""

_MEASURED_DIGITS = 17


@dataclass(frozen=True)
class Slope:
    """A slope dγ/dε at 0⁺: predicted, measured at the smallest ε, and (ε, measured) for every ε."""

    predicted: str
    measured: str
    by_epsilon: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Revival:
    """One way to revive dead neurons, ‖D‖ = ‖θ̄‖ = 1.

    ``case``: both, positive, negative or one-neuron; ``neurons`` revived; ``gains`` (g₊, g₋) of the two
    margins with the revived part alone; ``plain``: slope with living neurons at rest; ``rebalanced``: with
    living neurons moved so that both margins rise equally; ``living_norm``: ‖D_L‖ for a revived part of
    norm 1 (multiply ``rebalanced`` by √(1 + living_norm²) to have it per unit of revived weight).
    """

    case: str
    neurons: tuple[int, ...]
    gains: tuple[str, str]
    plain: Slope
    rebalanced: Slope
    living_norm: str


def revivals(point: LimitPoint, digits: int) -> tuple[Revival, ...]:
    """Predict and measure the slope for every way to revive dead neurons that the network offers.

    Arguments: point, the limit network in at least 50 digits; digits of the predicted slopes.
    Returns the cases both (first), positive, negative, one-neuron, as far as such dead neurons exist.
    """
    positive, negative = point.dead(1), point.dead(-1)
    cases: list[tuple[str, list[int], list[int]]] = []
    if positive and negative:
        cases.append(("both", positive, negative))
    if positive:
        cases.append(("positive", positive, []))
    if negative:
        cases.append(("negative", [], negative))
    if positive or negative:
        cases.append(("one-neuron", positive[:1], [] if positive else negative[:1]))
    return tuple(_revival(point, *case, digits) for case in cases)


def _revival(point: LimitPoint, case: str, positive: list[int], negative: list[int], digits: int) -> Revival:
    ctx, κ2 = point.ctx, point.kappa2.evaluate(point.ctx)
    revived, gains = _revived(point, positive, negative)
    rho = point.optimum.rho
    shift = (gains[0] - gains[1]) / (1 + rho)
    change = -rho * shift, shift
    mix = solve_pair(point.optimum.gain, change)
    living_norm = ctx.sqrt(mix[0] * change[0] + mix[1] * change[1])
    length = ctx.sqrt(1 + living_norm**2)
    living = point.combination(mix, 1 / ctx.sqrt(len(point.signs)))
    balanced = [((a + c) / length, (b + d) / length) for (a, b), (c, d) in zip(revived, living, strict=True)]
    slope = (gains[0] + rho * gains[1]) / (1 + rho) / length
    return Revival(
        case,
        tuple(positive + negative),
        (decimal_string(κ2 * gains[0], digits), decimal_string(κ2 * gains[1], digits)),
        _slope(point, revived, κ2 * min(gains), digits),
        _slope(point, balanced, κ2 * slope, digits),
        decimal_string(living_norm, digits),
    )


def _revived(point: LimitPoint, positive: list[int], negative: list[int]) -> tuple[list[Pair], Pair]:
    """Return the unit direction in dead neurons, as inner products with x₊, x₋, and its gains / κ₂."""
    ctx, s = point.ctx, point.optimum.sine
    share = 1 / ctx.sqrt(sum(ctx.one / len(group) for group in (positive, negative) if group))
    direction = [(ctx.zero, ctx.zero)] * len(point.signs)
    for k in positive:
        direction[k] = (s * share / len(positive), ctx.zero)
    for k in negative:
        direction[k] = (ctx.zero, s * share / len(negative))
    gain = s * share / ctx.sqrt(len(point.signs))
    return direction, (gain if positive else ctx.zero, gain if negative else ctx.zero)


def _slope(point: LimitPoint, direction: list[Pair], predicted: Any, digits: int) -> Slope:
    """Measure the slope along a direction: forward differences at ε and ε/2, one Richardson step."""
    ctx, κ2 = point.ctx, point.kappa2.evaluate(point.ctx)
    centre = point.inner
    start = _normalised_margin(point, centre, direction, ctx.zero)
    table = []
    for k in EPSILONS:
        ε = ctx.mpf(10) ** -k
        coarse, fine = (
            (_normalised_margin(point, centre, direction, step) - start) / step for step in (ε, ε / 2)
        )
        table.append((f"1e-{k}", decimal_string(κ2 * (2 * fine - coarse), min(digits, _MEASURED_DIGITS))))
    return Slope(decimal_string(predicted, digits), table[-1][1], tuple(table))


def _normalised_margin(point: LimitPoint, centre: list[Pair], direction: list[Pair], ε: Any) -> Any:
    """Evaluate min yᵢf(xᵢ)/‖θ‖ at θ̄ + εD from the network's definition, in units of κ₂."""
    ctx, s = point.ctx, point.optimum.sine
    c = ctx.cos(point.delta.evaluate(ctx))
    plus = minus = square = ctx.zero
    for ς, (u, v), (du, dv) in zip(point.signs, centre, direction, strict=True):
        a, b = u + ε * du, v + ε * dv
        square += a * a + b * b - 2 * c * a * b
        if a > 0:
            plus += a if ς > 0 else -a
        if b > 0:
            minus += b if ς > 0 else -b
    # ‖b‖² = (u² + v² − 2cuv)/s² in the plane of the data
    return min(plus, -minus) / ctx.sqrt(len(point.signs)) / (ctx.sqrt(square) / s)

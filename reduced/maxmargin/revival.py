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

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reduced.maxmargin.margin import solve_pair
from reduced.maxmargin.network import Pair
from reduced.maxmargin.point import LimitPoint
from reduced.numbers import decimal_string
from reduced.shown import shown

EPSILONS = range(4, 13)
"""Slopes are measured at ε = 10^−k for these k."""

_MEASURED_DIGITS = 17
_ASCENT_WIDTH = 1e-11
_ASCENT_DIGITS = 10


@dataclass(frozen=True)
class Slope:
    """A slope dγ/dε at 0⁺: predicted, measured at the smallest ε, and (ε, measured) for every ε."""

    predicted: str
    measured: str
    by_epsilon: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Ascent:
    """Where γ stops growing along a straight ascent: step ε, γ there, and γ/γ(θ̄) (decimal strings)."""

    epsilon: str
    gamma: str
    growth: str


@dataclass(frozen=True)
class Revival:
    """One way to revive dead neurons, ‖D‖ = ‖θ̄‖ = 1.

    ``case``: both, positive, negative or one-neuron; ``neurons`` revived; ``gains`` (g₊, g₋) of the two
    margins with the revived part alone; ``plain``: slope with living neurons at rest; ``rebalanced``: with
    living neurons moved so that both margins rise equally; ``living_norm``: ‖D_L‖ for a revived part of
    norm 1 (multiply ``rebalanced`` by √(1 + living_norm²) to have it per unit of revived weight);
    ``ascent``: how far γ grows along the re-balanced direction.
    """

    case: str
    neurons: tuple[int, ...]
    gains: tuple[str, str]
    plain: Slope
    rebalanced: Slope
    living_norm: str
    ascent: Ascent

    __repr__ = shown


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
        _ascent(point, balanced, digits),
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
    gamma = _along(point, direction)
    start = gamma(ctx.zero)
    table = []
    for k in EPSILONS:
        ε = ctx.mpf(10) ** -k
        coarse, fine = ((gamma(step) - start) / step for step in (ε, ε / 2))
        table.append((f"1e-{k}", decimal_string(κ2 * (2 * fine - coarse), min(digits, _MEASURED_DIGITS))))
    return Slope(decimal_string(predicted, digits), table[-1][1], tuple(table))


def _ascent(point: LimitPoint, direction: list[Pair], digits: int) -> Ascent:
    """Follow θ̄ + εD to the largest γ: doubled steps to a bracket, then golden sections.

    Both margins are concave along the ray as long as the living neurons keep their own points, and the norm
    is convex, so γ(ε) rises to one maximum and falls from there. The maximum is smooth, or the kink where a
    living neuron wakes or stops on the other point.
    """
    ctx, κ2 = point.ctx, point.kappa2.evaluate(point.ctx)
    gamma = _along(point, direction)
    step = ctx.mpf(10) ** -6
    while gamma(2 * step) > gamma(step):
        step *= 2
    peak = _golden_maximum(ctx, gamma, 2 * step)
    digits = min(digits, _MEASURED_DIGITS)
    return Ascent(
        decimal_string(peak, min(digits, _ASCENT_DIGITS)),
        decimal_string(κ2 * gamma(peak), digits),
        decimal_string(gamma(peak) / point.optimum.gamma, digits),
    )


def _golden_maximum(ctx: Any, value: Callable[[Any], Any], high: Any) -> Any:
    """Return where a function that rises and then falls on [0, high] is largest."""
    share, low = (ctx.sqrt(5) - 1) / 2, ctx.zero
    left, right = high - share * high, share * high
    at_left, at_right = value(left), value(right)
    while high - low > _ASCENT_WIDTH * high:
        if at_left > at_right:
            high, right, at_right = right, left, at_left
            left = high - share * (high - low)
            at_left = value(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + share * (high - low)
            at_right = value(right)
    return (low + high) / 2


def _along(point: LimitPoint, direction: list[Pair]) -> Callable[[Any], Any]:
    """Return ε ↦ min yᵢf(xᵢ)/‖θ‖ at θ̄ + εD in units of κ₂, from the network's definition.

    Neurons that start and move alike are counted, not repeated.
    """
    ctx, s, c = point.ctx, point.optimum.sine, point.optimum.cosine
    neurons = Counter(zip(point.signs.tolist(), point.inner, direction, strict=True))
    root = ctx.sqrt(len(point.signs))

    def gamma(ε: Any) -> Any:
        f_plus = f_minus = square = ctx.zero
        for (ς, (u, v), (du, dv)), count in neurons.items():
            on_plus, on_minus = u + ε * du, v + ε * dv
            # ‖b‖² sin²Δ, for b in the plane of the data
            square += count * (on_plus**2 + on_minus**2 - 2 * c * on_plus * on_minus)
            f_plus += ς * count * max(on_plus, ctx.zero)
            f_minus += ς * count * max(on_minus, ctx.zero)
        return min(f_plus, -f_minus) / root * s / ctx.sqrt(square)

    return gamma

"""The largest normalised margin, found twice without the limit formulas.

The problem is min ½‖θ‖² subject to yᵢf(xᵢ) ≥ 1 over N₊ = α₊m positive and N₋ = α₋m negative neurons. The
margins are concave in the weights as long as positive neurons are active on x₊ and negative ones on x₋, so
averaging the neurons of one sign raises both margins and lowers the norm (Jensen): one vector per sign is
enough.

:func:`optimum` solves the stationarity equations by trying the three possible sets of kinks, in mpmath;
:func:`convex_optimum` is a least distance program in doubles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from reduced.errors import InputError
from reduced.maxmargin.cone import least_distance
from reduced.maxmargin.network import Floats, LimitVectors, Pair, checked_angle, data_points
from reduced.numbers import Exact, ExactLike, decimal_string, exact, sign, sin
from reduced.records import Regime
from reduced.shown import shown
from reduced.solve.promise import private_context

Kinks = tuple[bool, bool]
"""Whether K₊ lies on the kink of x₋, and K₋ on that of x₊."""

_POSSIBLE: tuple[Kinks, ...] = ((True, True), (True, False), (False, True))
"""Every set of kinks an optimum can have; at the border of two regimes both kinks are there."""


@dataclass(frozen=True)
class Optimum:
    """The max-margin point of living neurons in the context ``ctx``; pairs are (⟨b, x₊⟩, ⟨b, x₋⟩).

    ``multipliers`` (λ₊, λ₋) scaled so that both margins are 1; ``gain`` the symmetric matrix M with
    M_ij = ⟨∇margin i, ∇margin j⟩ along the kinks, in units of κ₂².
    """

    ctx: Any
    delta: Exact
    kinks: Kinks
    gain: tuple[Pair, Pair]
    multipliers: Pair

    @property
    def gamma(self) -> Any:
        """The normalised margin 1/√(λ₊ + λ₋), in units of κ₂."""
        return 1 / self.ctx.sqrt(sum(self.multipliers))

    @property
    def regime(self) -> Regime:
        """The regime with these kinks; two-phase from its border on, where ξ of K₊ at x₋ reaches 1."""
        if not self.kinks[1]:
            return Regime.FOUR_PHASE
        full = self.cosine - self.rho >= -_tie(self.ctx)
        return Regime.TWO_PHASE if not self.kinks[0] or full else Regime.THREE_PHASE

    @property
    def cosine(self) -> Any:
        """The cosine of Δ."""
        return self.ctx.cos(self.delta.evaluate(self.ctx))

    @property
    def sine(self) -> Any:
        """The sine of Δ."""
        return sin(self.delta).evaluate(self.ctx)

    @property
    def rho(self) -> Any:
        """The ratio λ₋/λ₊."""
        return self.multipliers[1] / self.multipliers[0]

    @property
    def kink_multipliers(self) -> tuple[Any | None, Any | None]:
        """Clarke's multiplier of K₊ at x₋ and of K₋ at x₊; None without a kink."""
        c = self.cosine
        return (c / self.rho if self.kinks[0] else None), (c * self.rho if self.kinks[1] else None)

    def combination(self, weights: Pair) -> tuple[Pair, Pair]:
        """Return Σ weightsᵢ ∇margin i along the kinks, per neuron of K₊ and K₋, in units of a = κ₂/√m."""
        return _along_kinks(self.kinks, self.cosine, self.sine, weights)


def max_margin(
    alpha_plus: ExactLike, alpha_minus: ExactLike, delta: ExactLike, kappa2: ExactLike = 1, digits: int = 30
) -> LimitVectors:
    """Find the max-margin direction for given fractions of positive and negative neurons.

    With the living fractions α± this is the limit direction (Theorem 4.10), with the fractions β± of all
    neurons by sign the global optimum γ_max; solved numerically here, as a check on the derived formulas.
    Arguments: alpha_plus, alpha_minus > 0; delta, the angle Δ; kappa2 > 0; digits, significant digits of
    the result. Returns LimitVectors of decimal strings. Raises InputError naming the argument; without a
    neuron of one sign no margin is positive and there is no direction.
    """
    solution = optimum(alpha_plus, alpha_minus, delta, digits)
    ctx, rho = solution.ctx, solution.rho
    plus, minus = solution.kink_multipliers
    on_minus = -rho * (1 if plus is None else plus)
    on_plus = -(ctx.one if minus is None else minus)
    gamma = solution.gamma * exact(kappa2, "kappa2").evaluate(ctx)
    return LimitVectors(
        decimal_string(rho, digits),
        ("1", decimal_string(on_minus, digits)),
        (decimal_string(on_plus, digits), decimal_string(rho, digits)),
        solution.regime,
        decimal_string(gamma, digits),
    )


def optimum(alpha_plus: ExactLike, alpha_minus: ExactLike, delta: ExactLike, digits: int) -> Optimum:
    """Solve the stationarity equations of the max-margin problem at ``digits`` digits (derived here).

    For each possible set of kinks the weights are linear in λ, hence the margins too: M λ = (1, 1). The set
    that holds is the one whose kink multipliers lie in [0, 1] and whose other neurons lie on the active
    side; at a tie of two regimes both give the same point. Raises InputError naming the argument.
    """
    angle = checked_angle(delta)
    alphas = exact(alpha_plus, "alpha_plus"), exact(alpha_minus, "alpha_minus")
    for name, value in zip(("alpha_plus", "alpha_minus"), alphas, strict=True):
        if sign(value) <= 0:
            raise InputError(
                name, value, "a positive fraction (without neurons of both signs no margin is positive)"
            )
    ctx = private_context(digits + 20)
    ctx.dps += 4 * max(0, -int(ctx.log10(angle.evaluate(ctx))) + 1)
    fractions = alphas[0].evaluate(ctx), alphas[1].evaluate(ctx)
    candidates = [_candidate(ctx, angle, fractions, kinks) for kinks in _POSSIBLE]
    return min(candidates, key=lambda candidate: max(_tie(ctx), _violation(candidate)))


def _tie(ctx: Any) -> Any:
    """Return the size below which a difference is rounding."""
    return ctx.mpf(10) ** (10 - ctx.dps)


def _candidate(ctx: Any, delta: Exact, alphas: Pair, kinks: Kinks) -> Optimum:
    c, s = ctx.cos(delta.evaluate(ctx)), ctx.sin(delta.evaluate(ctx))
    columns = [_margins(_along_kinks(kinks, c, s, unit), alphas) for unit in ((1, 0), (0, 1))]
    gain = (columns[0][0], columns[1][0]), (columns[0][1], columns[1][1])
    multipliers = solve_pair(gain, (ctx.one, ctx.one))
    return Optimum(ctx, delta, kinks, gain, multipliers)


def _along_kinks(kinks: Kinks, c: Any, s: Any, weights: Pair) -> tuple[Pair, Pair]:
    """Return λ₊∇margin₊ + λ₋∇margin₋ per neuron of K₊ and of K₋, projected on the kink it lies on."""
    plus, minus = weights
    positive = (plus * s * s, plus * 0) if kinks[0] else (plus - c * minus, c * plus - minus)
    negative = (minus * 0, minus * s * s) if kinks[1] else (c * minus - plus, minus - c * plus)
    return positive, negative


def _margins(neurons: tuple[Pair, Pair], alphas: Pair) -> Pair:
    """Return the two margins of the linear pieces (in units of κ₂²)."""
    positive, negative = neurons
    return (
        alphas[0] * positive[0] - alphas[1] * negative[0],
        alphas[1] * negative[1] - alphas[0] * positive[1],
    )


def _violation(candidate: Optimum) -> Any:
    """Return by how much the kink set of a candidate fails (0 when it holds)."""
    plus, minus = candidate.multipliers
    if plus <= 0 or minus <= 0:
        return candidate.ctx.inf
    c = candidate.cosine
    slack_plus, slack_minus = minus - c * plus, plus - c * minus
    wrong = [
        -slack_plus if candidate.kinks[0] else slack_plus,
        -slack_minus if candidate.kinks[1] else slack_minus,
    ]
    return max(0, *wrong) / (plus + minus)


def solve_pair(matrix: tuple[Pair, Pair], right: Pair) -> Pair:
    """Solve a 2×2 linear system."""
    (a, b), (c, d) = matrix
    determinant = a * d - b * c
    return (d * right[0] - b * right[1]) / determinant, (a * right[1] - c * right[0]) / determinant


@dataclass(frozen=True)
class ConvexOptimum:
    """The optimum of the convex program in doubles: γ, and (2, 2) rows √N₊ b₊, √N₋ b₋ of the unit-norm θ̄."""

    gamma: float
    classes: Floats

    __repr__ = shown


def convex_optimum(
    alpha_plus: float, alpha_minus: float, delta: ExactLike, kappa2: float = 1.0
) -> ConvexOptimum:
    """Solve the max-margin problem as a convex program (a least distance program; derived here).

    Arguments: alpha_plus, alpha_minus > 0, fractions by sign; delta, the angle Δ; kappa2 > 0. Each margin
    is the least of two linear functions (its kinked share switched off or on), so the constraints are four
    half-spaces in ℝ⁴. Returns the ConvexOptimum. Raises InputError when no margin can be positive.
    """
    if not (alpha_plus > 0 and alpha_minus > 0):
        raise InputError(
            "alpha_plus, alpha_minus", (alpha_plus, alpha_minus), "positive fractions of both signs"
        )
    rows = margin_rows(alpha_plus, alpha_minus, delta, (True, True))
    point = least_distance(rows)
    norm = float(np.linalg.norm(point))
    return ConvexOptimum(kappa2 / norm, (point / norm).reshape(2, 2))


def margin_rows(alpha_plus: float, alpha_minus: float, delta: ExactLike, kinks: Kinks) -> Floats:
    """Return the linear pieces (rows, 4) of the two margins in (√N₊ b₊, √N₋ b₋), in units of κ₂.

    A neuron on a kink contributes two pieces (inactive, active) to its valley, any other only the active
    one.
    """
    (x_plus, x_minus), (root_plus, root_minus) = data_points(delta, 2), np.sqrt([alpha_plus, alpha_minus])
    on_plus = [np.r_[root_plus * x_plus, -xi * root_minus * x_plus] for xi in _pieces(kinks[1])]
    on_minus = [np.r_[-xi * root_plus * x_minus, root_minus * x_minus] for xi in _pieces(kinks[0])]
    return np.array(on_plus + on_minus)


def _pieces(kinked: bool) -> tuple[float, ...]:
    return (0.0, 1.0) if kinked else (1.0,)

"""Formulas derived by reduced.derive, as plain arithmetic for any type of number.

Written by ``python -m reduced.derive.generate``; do not edit. c = cos Δ, s2 = sin² Δ, w = 1 − cos Δ, k = κ₂².
No sum in here cancels, however small Δ is.
"""
# ruff: noqa: E501
# fmt: off

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

Pairs = tuple[tuple[Any, Any], tuple[Any, Any]]
Four = tuple[Any, Any, Any, Any]


class Limit(NamedTuple):
    """The limit direction: ρ, v± as coefficients on (x₊, x₋), γ², kink multipliers (None without kink)."""

    rho: Any
    v_plus: tuple[Any, Any]
    v_minus: tuple[Any, Any]
    gamma_squared: Any
    kink_plus: Any
    kink_minus: Any


class AngleLaw(NamedTuple):
    """Angle to the limit ~ √(s2 turn² + stretch_squared · frozen²)/(log t + log(growth · w₊) + drift)."""

    growth: Any
    turn: Any
    stretch_squared: Any
    drift: Any


# (u̇, v̇)/a of a neuron by pattern: its coefficients on P and Q.
# The sliding pattern 0+ is for a < 0 only, +0 for a > 0 only.
def _velocity_pp(c: Any, s2: Any) -> Pairs:
    return (1, -c), (c, -1)


def _velocity_pm(c: Any, s2: Any) -> Pairs:
    return (1, 0), (c, 0)


def _velocity_mp(c: Any, s2: Any) -> Pairs:
    return (0, -c), (0, -1)


def _velocity_0p(c: Any, s2: Any) -> Pairs:
    return (0, 0), (0, -s2)


def _velocity_p0(c: Any, s2: Any) -> Pairs:
    return (s2, 0), (0, 0)


VELOCITY: dict[str, Callable[[Any, Any], Pairs]] = {
    "++": _velocity_pp,
    "+-": _velocity_pm,
    "-+": _velocity_mp,
    "0+": _velocity_0p,
    "+0": _velocity_p0,
}


# A, B, C, D of ḟ₊ = A P − B Q, ḟ₋ = C P − D Q, by phase.
def _coefficients_ii(alpha_plus: Any, alpha_minus: Any, k: Any, c: Any, s2: Any) -> Four:
    return alpha_plus * k, alpha_plus * c * k, alpha_plus * c * k, k * (alpha_minus * s2 + alpha_plus)


def _coefficients_iii(alpha_plus: Any, alpha_minus: Any, k: Any, c: Any, s2: Any) -> Four:
    return alpha_plus * k * s2, 0, 0, alpha_minus * k * s2


def _coefficients_iv(alpha_plus: Any, alpha_minus: Any, k: Any, c: Any, s2: Any) -> Four:
    return k * (alpha_minus + alpha_plus * s2), alpha_minus * c * k, alpha_minus * c * k, alpha_minus * k


COEFFICIENTS: dict[str, Callable[[Any, Any, Any, Any, Any], Four]] = {
    "II": _coefficients_ii,
    "III": _coefficients_iii,
    "IV": _coefficients_iv,
}


# The limit direction by regime, for output weights ±κ₂/√m.
def _limit_four_phase(alpha_plus: Any, alpha_minus: Any, kappa2: Any, c: Any, s2: Any, w: Any) -> Limit:
    return Limit(
        (alpha_minus + alpha_plus * w) / alpha_minus,
        (1, -c),
        (-1, (alpha_minus + alpha_plus * w) / alpha_minus),
        alpha_minus * kappa2**2 * w * (alpha_minus + alpha_plus) / (2 * alpha_minus + alpha_plus * w),
        alpha_minus * c / (alpha_minus + alpha_plus * w),
        None,
    )


def _limit_three_phase(alpha_plus: Any, alpha_minus: Any, kappa2: Any, c: Any, s2: Any, w: Any) -> Limit:
    return Limit(
        alpha_plus / alpha_minus,
        (1, -c),
        (-alpha_plus * c / alpha_minus, alpha_plus / alpha_minus),
        alpha_minus * alpha_plus * kappa2**2 * s2 / (alpha_minus + alpha_plus),
        alpha_minus * c / alpha_plus,
        alpha_plus * c / alpha_minus,
    )


def _limit_two_phase(alpha_plus: Any, alpha_minus: Any, kappa2: Any, c: Any, s2: Any, w: Any) -> Limit:
    return Limit(
        alpha_plus / (alpha_minus * w + alpha_plus),
        (1, -alpha_plus / (alpha_minus * w + alpha_plus)),
        (-alpha_plus * c / (alpha_minus * w + alpha_plus), alpha_plus / (alpha_minus * w + alpha_plus)),
        alpha_plus * kappa2**2 * w * (alpha_minus + alpha_plus) / (alpha_minus * w + 2 * alpha_plus),
        None,
        alpha_plus * c / (alpha_minus * w + alpha_plus),
    )


LIMIT: dict[str, Callable[[Any, Any, Any, Any, Any, Any], Limit]] = {
    "four-phase": _limit_four_phase,
    "three-phase": _limit_three_phase,
    "two-phase": _limit_two_phase,
}


# How the angle of a group's neuron to its limit closes, by regime and group: u_1, v_1 = ⟨b, x±⟩/|a|,
# ell = ln(ρ/r) and f₊ at any time of the final phase.
def _angle_law_four_phase_k_plus(alpha_plus: Any, alpha_minus: Any, k: Any, c: Any, s2: Any, w: Any, u_1: Any, v_1: Any, ell: Any, f_plus_1: Any) -> AngleLaw:
    return AngleLaw(
        k * w * (alpha_minus + alpha_plus),
        0,
        k**2 * w * (alpha_minus + alpha_plus)**2 / (2 - w),
        -f_plus_1 + (-c * ell + k * u_1 * (alpha_minus + alpha_plus)) / (2 - w),
    )


def _angle_law_four_phase_k_minus(alpha_plus: Any, alpha_minus: Any, k: Any, c: Any, s2: Any, w: Any, u_1: Any, v_1: Any, ell: Any, f_plus_1: Any) -> AngleLaw:
    return AngleLaw(
        k * w * (alpha_minus + alpha_plus),
        alpha_minus * (alpha_minus + alpha_plus) * (-ell + k * u_1 * (alpha_minus + alpha_plus) + k * v_1 * (alpha_minus - alpha_plus * c)) / ((2 - w) * (2 * alpha_minus**2 + 2 * alpha_minus * alpha_plus * w + alpha_plus**2 * w)),
        alpha_minus**2 * k**2 * w * (alpha_minus + alpha_plus)**2 / (2 * alpha_minus**2 + 2 * alpha_minus * alpha_plus * w + alpha_plus**2 * w),
        -f_plus_1 + (-alpha_minus**2 * k * u_1 * (alpha_minus + alpha_plus) + alpha_minus * k * v_1 * (alpha_minus + alpha_plus) * (alpha_minus + alpha_plus * w) - ell * (alpha_minus**2 + 2 * alpha_minus * alpha_plus * w + alpha_plus**2 * w)) / (2 * alpha_minus**2 + 2 * alpha_minus * alpha_plus * w + alpha_plus**2 * w),
    )


def _angle_law_three_phase_k_plus(alpha_plus: Any, alpha_minus: Any, k: Any, c: Any, s2: Any, w: Any, u_1: Any, v_1: Any, ell: Any, f_plus_1: Any) -> AngleLaw:
    return AngleLaw(
        alpha_plus * k * s2,
        0,
        alpha_plus**2 * k**2 * s2,
        alpha_plus * k * u_1 - f_plus_1,
    )


def _angle_law_three_phase_k_minus(alpha_plus: Any, alpha_minus: Any, k: Any, c: Any, s2: Any, w: Any, u_1: Any, v_1: Any, ell: Any, f_plus_1: Any) -> AngleLaw:
    return AngleLaw(
        alpha_plus * k * s2,
        0,
        alpha_minus**2 * k**2 * s2,
        alpha_minus * k * v_1 - ell - f_plus_1,
    )


def _angle_law_two_phase_k_plus(alpha_plus: Any, alpha_minus: Any, k: Any, c: Any, s2: Any, w: Any, u_1: Any, v_1: Any, ell: Any, f_plus_1: Any) -> AngleLaw:
    return AngleLaw(
        alpha_plus * k * w * (alpha_minus + alpha_plus) / (alpha_minus * w + alpha_plus),
        -alpha_plus * (alpha_minus + alpha_plus) * (ell + k * u_1 * (-alpha_minus * c + alpha_plus) + k * v_1 * (alpha_minus + alpha_plus)) / ((2 - w) * (alpha_minus**2 * w + 2 * alpha_minus * alpha_plus * w + 2 * alpha_plus**2)),
        alpha_plus**2 * k**2 * w * (alpha_minus + alpha_plus)**2 / (alpha_minus**2 * w + 2 * alpha_minus * alpha_plus * w + 2 * alpha_plus**2),
        alpha_plus * (-alpha_plus * ell - alpha_plus * k * v_1 * (alpha_minus + alpha_plus) + k * u_1 * (alpha_minus + alpha_plus) * (alpha_minus * w + alpha_plus)) / (alpha_minus**2 * w + 2 * alpha_minus * alpha_plus * w + 2 * alpha_plus**2) - f_plus_1,
    )


def _angle_law_two_phase_k_minus(alpha_plus: Any, alpha_minus: Any, k: Any, c: Any, s2: Any, w: Any, u_1: Any, v_1: Any, ell: Any, f_plus_1: Any) -> AngleLaw:
    return AngleLaw(
        alpha_plus * k * w * (alpha_minus + alpha_plus) / (alpha_minus * w + alpha_plus),
        0,
        k**2 * w * (alpha_minus + alpha_plus)**2 / (2 - w),
        -f_plus_1 + (-ell + k * v_1 * (alpha_minus + alpha_plus)) / (2 - w),
    )


ANGLE_LAW: dict[str, Callable[[Any, Any, Any, Any, Any, Any, Any, Any, Any, Any], AngleLaw]] = {
    "four-phase K_plus": _angle_law_four_phase_k_plus,
    "four-phase K_minus": _angle_law_four_phase_k_minus,
    "three-phase K_plus": _angle_law_three_phase_k_plus,
    "three-phase K_minus": _angle_law_three_phase_k_minus,
    "two-phase K_plus": _angle_law_two_phase_k_plus,
    "two-phase K_minus": _angle_law_two_phase_k_minus,
}


def regime_bounds(c: Any) -> tuple[Any, Any]:
    """Return the two values of α = α₋/α₊ between which the regime is three-phase."""
    return c, 1 / c


# Coefficients (of 1, g, g², …) of the φ with dg/dz = φ(g) along a loss's force g = −ℓ′(z).
FORCE_LAW: dict[str, tuple[int, ...]] = {
    "exp": (0, -1),
    "logistic": (0, -1, 1),
}


def living_fractions(p: Any, delta: Any, math: Any) -> tuple[Any, Any]:
    """Return the expected (α₊, α₋) as κ₁ → 0; math offers cos, sin, acos, sqrt and pi."""
    c, s, acos, sqrt, pi = math.cos(delta), math.sin(delta), math.acos, math.sqrt, math.pi
    return 1 / 4, (delta - acos(s / sqrt(-2 * c * p + p**2 + 1)) + pi) / (4 * pi)

"""The network at the end of training: data points, living sets, the limit θ̄ and the angles to it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reduced.errors import InputError
from reduced.numbers import PI, Exact, ExactLike, cos, exact, sign, sin
from reduced.records import Regime
from reduced.shown import shown
from reduced.solve.promise import private_context

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Pair = tuple[Any, Any]

KINK_TOLERANCE = 1e-12
"""A neuron counts as lying on the kink of x when |⟨b, x⟩| is at most this times ‖b‖ ‖x‖."""

_DIGITS_BEHIND_DOUBLES = 40


@dataclass(frozen=True)
class LimitVectors:
    """The limit direction: b_k/‖θ‖ → v₊ (living positive), v₋ (living negative) up to one common factor.

    ``v_plus`` and ``v_minus`` are coefficient pairs on [x₊, x₋]; ``rho`` = λ₋/λ₊ = lim Q/P; ``gamma`` is
    the normalised margin min yᵢf(xᵢ)/‖θ‖. Numbers are anything :func:`reduced.numbers.exact` reads: decimal
    strings, floats or mpf. Floats do for large Δ; at small Δ the pairs cancel and need the digits.
    """

    rho: Any
    v_plus: Pair
    v_minus: Pair
    regime: Regime
    gamma: Any

    __repr__ = shown


@dataclass(frozen=True)
class Angles:
    """The largest angle (radians) of K₊ (``plus``) and of K₋ (``minus``) to their limits; None for an empty set."""

    plus: float | None
    minus: float | None


def data_points(delta: ExactLike, dim: int) -> Floats:
    """Place the two data points x± = (±sin(Δ/2), −cos(Δ/2), 0, …).

    Arguments: delta in (0, π/2), radians; dim ≥ 2. Returns X (2, dim), rows x₊, x₋, of length 1.
    Raises InputError naming the argument. Source: Assumption 3.1.
    """
    half = checked_angle(delta) / 2
    if dim < 2:
        raise InputError("dim", dim, "a dimension of at least 2")
    X = np.zeros((2, dim))
    X[0, 0], X[1, 0] = as_float(sin(half), "delta"), -as_float(sin(half), "delta")
    X[:, 1] = -as_float(cos(half), "delta")
    return X


def checked_angle(delta: ExactLike) -> Exact:
    """Return Δ as an exact number; raise InputError unless 0 < Δ < π/2."""
    angle = exact(delta, "delta")
    if sign(angle) <= 0 or sign(PI / 2 - angle) <= 0:
        raise InputError("delta", angle, "an angle strictly between 0 and pi/2")
    return angle


def checked_network(W: ArrayLike, signs: ArrayLike) -> tuple[Floats, Floats]:
    """Return weights (m, d) and signs (m,) as float64 arrays; InputError when they are not a network."""
    try:
        weights = np.asarray(W, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("W", type(W).__name__, "an array of real numbers of shape (m, d)") from None
    if weights.ndim != 2 or weights.shape[0] < 1 or weights.shape[1] < 2:
        raise InputError("W", f"shape {weights.shape}", "shape (m, d) with m >= 1 and d >= 2")
    if not np.all(np.isfinite(weights)):
        raise InputError("W", "NaN or infinity", "finite numbers")
    return weights, checked_signs(signs, len(weights))


def checked_signs(signs: ArrayLike, count: int, name: str = "sign") -> Floats:
    """Return ±1 entries (count,) as float64; raise InputError when they are not."""
    array = np.asarray(signs)
    if array.shape != (count,):
        raise InputError(name, f"shape {array.shape}", f"shape ({count},)")
    if not np.all((array == 1) | (array == -1)):
        raise InputError(name, array.tolist(), "entries +1 and -1 only")
    return array.astype(np.float64)


def as_float(value: ExactLike, name: str) -> float:
    """Return the double nearest to an exact number; raise InputError naming the argument, also past doubles."""
    number = exact(value, name)
    nearest = float(number.evaluate(private_context(24)))
    if math.isinf(nearest):
        raise InputError(name, number, "a number in the range of doubles, below 1.8e308")
    return nearest


def living_sets(
    W: ArrayLike, signs: ArrayLike, X: Floats, tolerance: float = KINK_TOLERANCE
) -> tuple[Mask, Mask]:
    """Read the living sets from the weights of a trained network.

    A positive neuron lives when it is active on x₊, a negative one when it is active on x₋; after Phase I
    every other neuron is dead or about to die. Arguments: W (m, d), signs (m,), X (2, d) rows x₊, x₋,
    tolerance relative to ‖b_k‖. Returns the masks (K₊, K₋), each (m,). Source: Thm 4.1.
    """
    weights, ς = checked_network(W, signs)
    norms = np.linalg.norm(weights, axis=1)
    awake = weights @ X.T > tolerance * norms[:, None] * np.linalg.norm(X, axis=1)
    return (ς > 0) & awake[:, 0], (ς < 0) & awake[:, 1]


def limit_network(
    limit: LimitVectors,
    delta: ExactLike,
    signs: ArrayLike,
    living_plus: ArrayLike,
    living_minus: ArrayLike,
    dim: int,
) -> Floats:
    """Build θ̄, the m-neuron network the directions converge to, with ‖θ̄‖ = 1 (κ₂ drops out).

    Arguments: limit, the limit directions; delta, the angle Δ; signs (m,) of ±1; living_plus, living_minus,
    masks (m,) of K₊ and K₋; dim ≥ 2. Returns W (m, dim): a multiple of v₊ on K₊, of v₋ on K₋, 0 for dead
    neurons (Theorem 4.10). Raises InputError when a mask does not fit the signs or no neuron lives.
    """
    ς = checked_signs(signs, np.size(signs))
    plus, minus = (
        _living_mask(living_plus, ς > 0, "living_plus"),
        _living_mask(living_minus, ς < 0, "living_minus"),
    )
    if not (plus.any() or minus.any()):
        raise InputError("living_plus, living_minus", "no living neuron", "at least one")
    if dim < 2:
        raise InputError("dim", dim, "a dimension of at least 2")
    W = np.zeros((len(ς), dim))
    W[plus, :2] = plane_vector(limit.v_plus, delta)
    W[minus, :2] = plane_vector(limit.v_minus, delta)
    return W / float(np.linalg.norm(W))


def angles_to_limit(
    W: ArrayLike, living_plus: ArrayLike, living_minus: ArrayLike, delta: ExactLike, limit: LimitVectors
) -> Angles:
    """Measure how far the living neurons point from their limits.

    Arguments: W (m, d), data at :func:`data_points`; living_plus, living_minus, masks (m,); delta, the
    angle Δ; limit. Returns the largest angle over K₊ to v₊ and over K₋ to v₋, radians, right to rounding
    also when tiny. Source: Thm 4.10.
    """
    weights = np.asarray(W, dtype=np.float64)
    return Angles(
        _largest_angle(weights[np.asarray(living_plus, dtype=bool)], plane_vector(limit.v_plus, delta)),
        _largest_angle(weights[np.asarray(living_minus, dtype=bool)], plane_vector(limit.v_minus, delta)),
    )


def plane_vector(coefficients: Pair, delta: ExactLike) -> Floats:
    """Return the first two coordinates (2,) of the vector with these coefficients on [x₊, x₋].

    Sum and difference of the coefficients are formed in high precision: for small Δ they cancel.
    """
    ctx = private_context(_DIGITS_BEHIND_DOUBLES)
    half = checked_angle(delta) / 2
    on_plus, on_minus = (exact(value, "limit").evaluate(ctx) for value in coefficients)
    across = (on_plus - on_minus) * sin(half).evaluate(ctx)
    along = -(on_plus + on_minus) * cos(half).evaluate(ctx)
    return np.array([float(across), float(along)])


def _living_mask(mask: ArrayLike, allowed: Mask, name: str) -> Mask:
    living = np.asarray(mask)
    if living.shape != allowed.shape or living.dtype != np.bool_:
        raise InputError(
            name, f"{living.dtype} of shape {living.shape}", f"a boolean mask of shape {allowed.shape}"
        )
    if np.any(living & ~allowed):
        raise InputError(
            name, f"neurons {np.flatnonzero(living & ~allowed).tolist()}", "neurons of its own sign only"
        )
    return living


def _largest_angle(neurons: Floats, direction: Floats) -> float | None:
    """Return max 2 atan2(‖û − v̂‖, ‖û + v̂‖): no cancellation at small angles, unlike arccos."""
    if len(neurons) == 0:
        return None
    target = np.zeros(neurons.shape[1])
    target[:2] = direction / np.linalg.norm(direction)
    units = neurons / np.linalg.norm(neurons, axis=1, keepdims=True)
    apart, together = np.linalg.norm(units - target, axis=1), np.linalg.norm(units + target, axis=1)
    return float(np.max(2 * np.arctan2(apart, together)))

"""Theorems 4.10 and 4.11: where the directions converge to, and what that point is for the margin."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from reduced.maxmargin import kkt, limit_network, perturb
from reduced.maxmargin.network import Angles
from reduced.maxmargin.perturbation import Perturbation
from reduced.theorems.evidence import LATE, LATE_POWERS, Evidence
from reduced.theorems.hypotheses import (
    both_signs_alive,
    counts_in_bounds,
    four_phases,
    small_initialisation,
    some_dead,
)
from reduced.theorems.records import Measurement, Statement
from reduced.theorems.scaling import scaling

_LN10 = math.log(10)
_DIRECTIONS = 500
_ROUNDING = 1e-12


def _direction(side: Callable[[Angles], float | None]) -> Callable[[Evidence], Measurement]:
    """Follow the largest angle of a living set to its limit; it closes like 1/log t."""

    def measure(e: Evidence) -> Measurement:
        angles = [side(e.angles(e.late_weights(power))) for power in LATE_POWERS] if e.limit else []
        if not angles or any(angle is None for angle in angles):
            return Measurement("no limit direction", None)
        found = [float(angle or 0.0) for angle in angles]
        seen_at_end = side(e.angles(e.flow.neurons(e.flow.end)))
        words = (
            f"largest angle {seen_at_end:.3e} at t = {e.flow.end:.0e}, {found[0]:.3e} … {found[-1]:.3e} "
            f"at {LATE}"
        )
        if max(found) < _ROUNDING:
            return Measurement(words + " (zero to rounding)", True, 0.0)
        logs = [power * _LN10 for power in LATE_POWERS]
        swept = scaling("log t", logs, [angle * log for angle, log in zip(found, logs, strict=True)])
        words += f"; angle·log t → {swept.low[-1]:.4g}"
        return Measurement(words, swept.same_order and found[-1] < found[0], swept.low[-1], swept.why)

    return measure


def _dead_vanish(e: Evidence) -> Measurement:
    if not len(e.phases.dead):
        return Measurement("no neuron is dead", None)
    shares = []
    for power in LATE_POWERS:
        W = e.late_weights(power)
        shares.append(float(np.linalg.norm(W[e.phases.dead], axis=1).max(initial=0.0) / np.linalg.norm(W)))
    logs = [power * _LN10 for power in LATE_POWERS]
    ends = f"{shares[0]:.3e} … {shares[-1]:.3e} at {LATE}"
    words = f"largest ‖b_k‖/‖θ‖ of {len(e.phases.dead)} dead: {ends}"
    swept = scaling("log t", logs, [share * log for share, log in zip(shares, logs, strict=True)])
    return Measurement(words, swept.same_order and shares[-1] < shares[0], swept.low[-1], swept.why)


def _final_patterns(e: Evidence) -> Measurement:
    """Read the inner products of the limit off the weights at the latest time, relative to ‖θ‖."""
    W = e.late_weights(LATE_POWERS[-1])
    W = W / np.linalg.norm(W)
    v_plus, u_minus = W[e.positive] @ e.data.X[1], W[e.negative] @ e.data.X[0]
    off, least = float(np.abs(v_plus).max(initial=0.0)), float(u_minus.min(initial=math.inf))
    seen = off < _ROUNDING and least > 0
    words = (
        f"max|⟨b̄_k, x₋⟩| over K₊ = {off:.1e}, min⟨b̄_k, x₊⟩ over K₋ = {least:.4g} "
        f"(t = 10^{LATE_POWERS[-1]}, ‖θ‖ = 1)"
    )
    return Measurement(words, seen, least, "" if seen else "K₊ off its kink or K₋ on it")


def _certificate(e: Evidence) -> Measurement:
    """Run the KKT certificate on θ̄, and on the weights along the flow to show the residual falling."""
    ends = e.limit_vectors
    if ends is None:
        return Measurement("no limit direction", None)
    sign, X, y = e.network.sign, e.data.X, e.data.y
    living = e.flow.living
    W = limit_network(ends, e.problem.delta, sign, living & (sign > 0), living & (sign < 0), X.shape[1])
    at_limit = kkt(W, sign, X, y, e.kappa2)
    along = [
        kkt(e.late_weights(power), sign, X, y, e.kappa2).residual
        for power in (LATE_POWERS[0], LATE_POWERS[-1])
    ]
    seen = at_limit.residual < _ROUNDING and at_limit.feasible and along[1] < along[0]
    words = (
        f"smallest residual {at_limit.residual:.1e} at θ̄ (margin {at_limit.normalised_margin:.10g}); "
        f"{along[0]:.2e} … {along[1]:.2e} along the flow at 10^{LATE_POWERS[0]}, 10^{LATE_POWERS[-1]}"
    )
    return Measurement(words, seen, at_limit.residual, "" if seen else "θ̄ is no KKT point")


def _test(e: Evidence) -> Perturbation:
    W = e.flow.neurons(e.flow.end)
    return perturb(W, e.network.sign, e.problem.delta, e.problem.kappa2, directions=_DIRECTIONS, digits=15)


def _not_optimal(e: Evidence) -> Measurement:
    """Revive the dead neurons: the margin must grow at first order."""
    if e.limit is None:
        return Measurement("no limit direction", None)
    found = _test(e)
    slope = found.revive_dead.slope_measured
    if slope is None:
        return Measurement(
            "no neuron is dead: θ̄ is optimal", False, 0.0, "without a dead neuron it is an optimum"
        )
    seen = float(slope) > 0 and not found.local_optimum
    words = f"slope of the margin reviving the dead ({found.revive_dead.form}) = {float(slope):.6g} > 0"
    return Measurement(words, seen, float(slope), "" if seen else "no ascent found")


def _living_optimal(e: Evidence) -> Measurement:
    if e.limit is None:
        return Measurement("no limit direction", None)
    found = _test(e).living_only
    words = (
        f"best slope {found.best_slope:.1e} over all directions of living neurons, "
        f"{found.random_best:.2e} over {found.random_count} random ones"
    )
    return Measurement(
        words, found.local_optimum, found.best_slope, "" if found.local_optimum else "not certified"
    )


_FOLLOWS = (small_initialisation, counts_in_bounds, four_phases)

STATEMENTS = (
    Statement(
        "4.10(i)",
        "the living positive neurons converge in direction",
        "b_k/‖θ‖ → C(x₊ − x₋ cos Δ), k ∈ K₊",
        _FOLLOWS,
        _direction(lambda angles: angles.plus),
    ),
    Statement(
        "4.10(ii)",
        "the living negative neurons converge in direction",
        "b_k/‖θ‖ → C((1 + (1−cos Δ)/α) x₋ − x₊), k ∈ K₋",
        _FOLLOWS,
        _direction(lambda angles: angles.minus),
    ),
    Statement(
        "4.10(iii)",
        "dead neurons vanish in the limit",
        "b_k/‖θ‖ → 0, k dead",
        (*_FOLLOWS, some_dead),
        _dead_vanish,
    ),
    Statement(
        "4.10(iv)",
        "in the limit K₊ lies on the kink of x₋ and K₋ is active on both points",
        "⟨b̄_k, x₋⟩ = 0, k ∈ K₊; ⟨b̄_k, x₊⟩ > 0, k ∈ K₋",
        _FOLLOWS,
        _final_patterns,
    ),
    Statement(
        "4.11-KKT",
        "the limit direction is a KKT point of the max-margin problem",
        "θ̄ = Σ λᵢ yᵢ ∂f(xᵢ; θ̄), λᵢ ≥ 0",
        (both_signs_alive,),
        _certificate,
    ),
    Statement(
        "4.11-not-optimal",
        "yet it is not a local optimum of it",
        "∃ D: γ(θ̄ + εD) > γ(θ̄) for small ε > 0",
        (both_signs_alive, some_dead),
        _not_optimal,
    ),
    Statement(
        "4.11-living",
        "what makes it non-optimal is the dead neurons: among the living ones it is optimal",
        "γ(θ̄ + εD) ≤ γ(θ̄) for D supported on living neurons (derived here)",
        (both_signs_alive,),
        _living_optimal,
    ),
)

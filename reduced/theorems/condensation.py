"""Theorem 4.1, the initial condensation: everything is looked at at T_I = 10√(κ₁/κ₂).

Alignment is measured in its weakest form: 1 − cos is small here, and O(√(κ₁/κ₂)) as κ₁ shrinks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from fullnet.checks import Floats
from reduced.theorems.counts import BOUND_MINUS, BOUND_PLUS, CountBound, count_law
from reduced.theorems.evidence import Evidence
from reduced.theorems.hypotheses import small_initialisation
from reduced.theorems.records import Measurement, Statement
from reduced.theorems.scaling import Scaling, scaling

_Members = Callable[[Evidence], Any]


def _plus(e: Evidence) -> Any:
    return e.positive


def _minus(e: Evidence) -> Any:
    return e.negative


def _count(members: _Members, of_sign: int, bound: CountBound) -> Callable[[Evidence], Measurement]:
    """Measure a count against its bound; the reason of a failure is how likely one is."""

    def measure(e: Evidence) -> Measurement:
        found = len(members(e))
        seen = bound.contains(found, e.m)
        chance = count_law(e.problem).within(of_sign, e.m, bound)
        low, high = bound.counts(e.m)
        why = (
            f"with half of the signs + the bound holds with probability {chance:.4f} only at m = {e.m} "
            "(exact binomial): m is too small for it"
        )
        words = f"{found} of m = {e.m} ({found / e.m:.3f}), bound {low} … {high}"
        return Measurement(words, seen, found / e.m, "" if seen else why)

    return measure


def _at_condensation(e: Evidence, members: Any) -> Floats:
    weights: Floats = e.flow.neurons(e.T_I)[members]
    return weights


def _unit(e: Evidence, on_plus: float, on_minus: float) -> Floats:
    vector: Floats = on_plus * e.data.X[0] + on_minus * e.data.X[1]
    return vector / float(np.linalg.norm(vector))


def _norms(members: _Members) -> Callable[[Evidence], Floats]:
    """Return ‖b_k(T_I)‖ √m/√(κ₁κ₂) of the members."""

    def ratios(e: Evidence) -> Floats:
        norms: Floats = np.linalg.norm(_at_condensation(e, members(e)), axis=1)
        return norms * math.sqrt(e.m / (e.kappa1 * e.kappa2))

    return ratios


def _misalignment(e: Evidence, members: Any, direction: Floats) -> Floats:
    """Return 1 − cos of the angle between each member and a direction at T_I, without cancellation."""
    units = _at_condensation(e, members)
    units = units / np.linalg.norm(units, axis=1, keepdims=True)
    gaps: Floats = 0.5 * np.sum((units - direction) ** 2, axis=1)
    return np.where(gaps < _ROUNDING, 0.0, gaps)


def _swept(e: Evidence, ratios: Callable[[Evidence], Any]) -> Scaling:
    variants = list(e.over_kappa1())
    return scaling("κ₁", [v.kappa1 for v in variants], [ratios(v) for v in variants])


def _theta_norm(e: Evidence) -> Measurement:
    if not len(e.positive):
        return Measurement("no living positive neuron", None)
    found = _swept(e, _norms(_plus))
    return Measurement(found.words, found.same_order, max(found.high), found.why)


def _tiny_norm(e: Evidence) -> Measurement:
    if not len(e.negative):
        return Measurement("no living negative neuron", None)
    found = _swept(e, lambda v: _norms(_minus)(v) / v.delta)
    here = float(_norms(_minus)(e).max())
    largest = float(_norms(_plus)(e).min()) if len(e.positive) else math.inf
    seen = found.bounded and here < largest
    words = f"{found.words}; largest K₋ norm / smallest K₊ norm at T_I = {here / largest:.3g}"
    return Measurement(words, seen, max(found.high), "" if seen else "norms of K₋ not below those of K₊")


def _aligned(
    members: _Members, name: str, direction: Callable[[Evidence], Floats]
) -> Callable[[Evidence], Measurement]:
    """Measure 1 − cos to a direction: small here, and O(√(κ₁/κ₂)) as κ₁ shrinks."""

    def measure(e: Evidence) -> Measurement:
        if not len(members(e)):
            return Measurement(f"no neuron to align with {name}", None)

        def ratio(v: Evidence) -> Floats:
            gaps = _misalignment(v, members(e), direction(v))
            return gaps / math.sqrt(v.kappa1 / v.kappa2)

        found = _swept(e, ratio)
        worst = float(_misalignment(e, members(e), direction(e)).max())
        seen = found.bounded and worst < _ALIGNED
        why = "" if seen else f"least aligned neuron: cos = {1 - worst:.4f}; {_slow_turning(e, name)}"
        words = f"least cos to {name} = {1 - worst:.6g}; (1 − cos)/√(κ₁/κ₂): {found.words}"
        return Measurement(words, seen, 1 - worst, why)

    return measure


_ROUNDING = 1e-24
"""What the squared rounding errors of weights leave of 1 − cos; below it is 0."""

_ALIGNED = 0.05
"""1 − cos below which a neuron counts as strongly aligned (an angle of 18°)."""


def _slow_turning(e: Evidence, name: str) -> str:
    """Say why a neuron has not turned: what it moved by until T_I beside the part that stays frozen."""
    if name == "μ":
        speed = math.sqrt(e.p**2 - 2 * e.p * e.cosine + 1) / (1 + e.p)
    else:
        speed = math.sin(e.delta) / (1 + e.p)
    moved = 10 * speed / math.sqrt(e.kappa1 / e.kappa2)
    return f"until T_I a neuron moves about {moved:.3g} times its initial norm only (frozen loss)"


def _patterns(members: _Members, expected: str) -> Callable[[Evidence], Measurement]:
    def measure(e: Evidence) -> Measurement:
        patterns = e.flow.patterns(e.T_I)
        others = [int(k) for k in members(e) if patterns[k] != expected]
        total = len(members(e))
        if not total:
            return Measurement("no such neuron", None)
        late = e.time("last_phase_one_event") or 0.0
        why = f"the last Phase-I event comes at {late:.4g}, T_I = {e.T_I:.4g}" if others else ""
        words = f"{total - len(others)} of {total} have {expected} at T_I = {e.T_I:.4g}"
        return Measurement(words, not others, 1 - len(others) / total, why)

    return measure


def _rest_dead(e: Evidence) -> Measurement:
    patterns = e.flow.patterns(e.T_I)
    alive = [int(k) for k in e.phases.dead if patterns[k] != "--"]
    total = len(e.phases.dead)
    words = f"{total - len(alive)} of {total} others are dead at T_I = {e.T_I:.4g}"
    late = e.time("last_phase_one_event") or 0.0
    why = f"the last Phase-I event comes at {late:.4g}" if alive else ""
    return Measurement(words, not alive, float(len(alive)), why)


def _predictions(point: int) -> Callable[[Evidence], Measurement]:
    def measure(e: Evidence) -> Measurement:
        def ratio(v: Evidence) -> float:
            scale = v.kappa2 * math.sqrt(v.kappa1 * v.kappa2)
            return float(v.flow.at(v.T_I)[point]) / scale

        found = _swept(e, ratio)
        return Measurement(found.words, found.same_order, ratio(e), found.why)

    return measure


def _accuracy(e: Evidence) -> Measurement:
    level, expected = float(e.flow.accuracy(e.T_I)), e.p / (1 + e.p)
    seen = abs(level - expected) < 1e-12
    why = "" if seen else "f₊ and f₋ are not both positive at T_I"
    return Measurement(f"accuracy at T_I = {level:.6g}, p/(1+p) = {expected:.6g}", seen, level, why)


_SMALL = (small_initialisation,)

STATEMENTS = (
    Statement(
        "4.1-S1(i)",
        "about a quarter of the neurons is positive and lives",
        "0.21 m ≤ |K₊| ≤ 0.29 m",
        (),
        _count(_plus, 1, BOUND_PLUS),
    ),
    Statement(
        "4.1-S1(ii)",
        "the norms of K₊ are small but significant",
        "‖b_k(T_I)‖ = Θ(√(κ₁κ₂/m)), k ∈ K₊",
        _SMALL,
        _theta_norm,
    ),
    Statement(
        "4.1-S1(iii)",
        "K₊ is strongly aligned with μ",
        "1 − ⟨w_k(T_I), μ⟩ = O(√(κ₁/κ₂)), k ∈ K₊",
        _SMALL,
        _aligned(_plus, "μ", lambda e: _unit(e, e.p, -1.0)),
    ),
    Statement(
        "4.1-S1(iv)",
        "K₊ is active on both points",
        "sgn⁺_k(T_I) = sgn⁻_k(T_I) = 1, k ∈ K₊",
        _SMALL,
        _patterns(_plus, "++"),
    ),
    Statement(
        "4.1-S2(i)",
        "some of the neurons are negative and live",
        "0.075 m ≤ |K₋| ≤ 0.205 m",
        (),
        _count(_minus, -1, BOUND_MINUS),
    ),
    Statement(
        "4.1-S2(ii)",
        "the norms of K₋ are tiny",
        "‖b_k(T_I)‖ = O(Δ√(κ₁κ₂/m)), k ∈ K₋, and below those of K₊",
        _SMALL,
        _tiny_norm,
    ),
    Statement(
        "4.1-S2(iii)",
        "K₋ is strongly aligned with x₊⊥",
        "1 − ⟨w_k(T_I), x₊⊥⟩ = O(√(κ₁/κ₂)), k ∈ K₋",
        _SMALL,
        _aligned(_minus, "x₊⊥", lambda e: _unit(e, -e.cosine, 1.0)),
    ),
    Statement(
        "4.1-S2(iv)",
        "K₋ slides on the kink of x₊ and is active on x₋",
        "sgn⁺_k(T_I) = 0, sgn⁻_k(T_I) = 1, k ∈ K₋",
        _SMALL,
        _patterns(_minus, "0+"),
    ),
    Statement(
        "4.1-S3",
        "every other neuron is dead",
        "sgn⁺_k(T_I) = sgn⁻_k(T_I) = 0, k ∉ K₊ ∪ K₋",
        _SMALL,
        _rest_dead,
    ),
    Statement(
        "4.1-S4(f+)",
        "the prediction at x₊ is small",
        "f₊(T_I) = Θ(κ₂√(κ₁κ₂))",
        _SMALL,
        _predictions(0),
    ),
    Statement(
        "4.1-S4(f-)",
        "the prediction at x₋ is small and has the wrong sign",
        "f₋(T_I) = Θ(κ₂√(κ₁κ₂)) > 0",
        _SMALL,
        _predictions(1),
    ),
    Statement(
        "4.1-S4(acc)",
        "only x₊ is classified right",
        "Acc(T_I) = p/(1+p)",
        _SMALL,
        _accuracy,
    ),
)

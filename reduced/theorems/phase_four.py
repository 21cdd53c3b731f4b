"""Theorem 4.9 and the lemmas of Phase IV: no more changes, L ~ 1/t, growth of the norm, the gradient."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

import fullnet
from fullnet.checks import Floats
from reduced.theorems.evidence import LATE, LATE_POWERS, Evidence
from reduced.theorems.hypotheses import (
    both_signs_alive,
    counts_in_bounds,
    four_phases,
    phases_apart,
    small_initialisation,
)
from reduced.theorems.plateau import phase_ode
from reduced.theorems.records import Measurement, Statement
from reduced.theorems.scaling import Scaling, scaling

_SAMPLES = 200
_LN10 = math.log(10)


def _no_more_changes(e: Evidence) -> Measurement:
    T_III = e.time("T_III")
    if T_III is None:
        return Measurement("Phase IV does not come", None)
    later = [event for event in e.flow.events if event.t > T_III]
    words = f"{len(later)} changes after T_III = {T_III:.8g} up to t = {e.flow.end:.0e}"
    exact_later = sum(event.time > (e.exact_run.times["T_III"] or 0) for event in e.exact_run.events)
    words += f", {exact_later} in the exact flow, for ever"
    seen = not later and exact_later == 0
    return Measurement(words, seen, float(len(later) + exact_later), "" if seen else "patterns still change")


def _loss_decays(e: Evidence) -> Measurement:
    """Follow t·L from ten times the end of the last phase on, up to t = 10^1000."""
    if e.limit is None:
        return Measurement("x₊ or x₋ is never learned", None)
    marks = [e.time(name) for name in ("T_plat", "T_II", "T_III_PT", "T_III")]
    settled = max((t for t in marks if t is not None), default=1.0)
    early = np.geomspace(min(10 * max(settled, 1.0), e.flow.end), e.flow.end, 8)
    logs = list(np.log(early) + e.flow.log_loss(early))
    powers = [math.log10(t) for t in early]
    for power in LATE_POWERS:
        f_plus, f_minus = e.late_predictions(power)
        scaled = np.logaddexp(
            math.log(e.data.weights[0]) - float(f_plus), math.log(e.data.weights[1]) + float(f_minus)
        )
        logs.append(float(scaled) + power * _LN10)
        powers.append(float(power))
    found = _over_log_time(powers, logs)
    gamma = float(e.limit.gamma)
    words = f"t·L: {found.words}; γ²tL = {math.exp(logs[-1]) * gamma**2:.10g} at t = 10^{LATE_POWERS[-1]}"
    return Measurement(words, found.same_order, math.exp(logs[-1]), found.why)


def _over_log_time(powers: list[float], logs: list[float]) -> Scaling:
    """Return e^logs over log t: the power left is one of log t, far stricter than one of t."""
    return scaling("log t", [power * _LN10 for power in powers], np.exp(logs).tolist())


def _phase_four_times(e: Evidence) -> Floats | None:
    T_III = e.time("T_III")
    return None if T_III is None else np.geomspace(T_III, e.flow.end, _SAMPLES)


def _ratio_to_limit(e: Evidence) -> Measurement:
    """Sample r over Phase IV: from 1/c, rising, to ρ."""
    times = _phase_four_times(e)
    if times is None or e.limit is None:
        return Measurement("Phase IV does not come", None)
    r, rho = e.ratio(times), float(e.limit.rho)
    falls = float(np.max(r[:-1] / r[1:] - 1))
    start, gap = abs(float(r[0]) * e.cosine - 1), abs(float(r[-1]) / rho - 1)
    seen = falls < 1e-9 and start < 1e-6 and gap < 1e-6
    words = (
        f"r from {r[0]:.8g} (1/c = {1 / e.cosine:.8g}) to {r[-1]:.8g}, ρ = {rho:.8g}; "
        f"falls by {max(falls, 0):.0e}"
    )
    return Measurement(words, seen, gap, "" if seen else "r does not rise from 1/c to ρ")


def _forces_fall(e: Evidence) -> Measurement:
    times = _phase_four_times(e)
    if times is None:
        return Measurement("Phase IV does not come", None)
    forces = e.forces(times)
    rising = int(np.sum(np.diff(forces, axis=0) >= 0))
    words = f"P and Q fall at {2 * (len(times) - 1) - rising} of {2 * (len(times) - 1)} steps over Phase IV"
    return Measurement(words, rising == 0, float(rising), "" if not rising else "a force rises")


def _logarithmic(point: int) -> Callable[[Evidence], Measurement]:
    """Follow |f| − log t from T_III to t = 10^1000."""

    def measure(e: Evidence) -> Measurement:
        T_III = e.time("T_III")
        if T_III is None:
            return Measurement("Phase IV does not come", None)
        early = np.geomspace(T_III, e.flow.end, 40)
        gaps = list(e.data.y[point] * e.flow.at(early)[:, point] - np.log(early))
        for power in LATE_POWERS:
            flow = e.exact_run.flow
            f = e.late_predictions(power)[point]
            gaps.append(float(e.data.y[point] * f - power * flow.ctx.log(10)))
        late = max(abs(a - b) for a, b in zip(gaps[-4:], gaps[-3:], strict=False))
        low, high = min(gaps), max(gaps)
        seen = bool(late < 1e-6 and high - low < math.log(10) * 2)
        words = (
            f"±f − log t in [{low:.4f}, {high:.4f}] from T_III to 10^{LATE_POWERS[-1]}, "
            f"at the end {gaps[-1]:.8f}"
        )
        return Measurement(
            words, seen, gaps[-1], "" if seen else "it drifts or spans more than a factor 100 in e^f"
        )

    return measure


def _gradient_angle(e: Evidence, W: Floats) -> float:
    """Return the angle of the velocity θ̇ to θ."""
    found = fullnet.given_network(W, e.network.sign, e.kappa2)
    velocity = _velocity(e, W)
    units = found.W / np.linalg.norm(found.W), velocity / np.linalg.norm(velocity)
    return float(2 * np.arctan2(np.linalg.norm(units[0] - units[1]), np.linalg.norm(units[0] + units[1])))


def _velocity(e: Evidence, W: Floats) -> Floats:
    """Return θ̇ (m, d) up to a factor, at the limit ratio ρ of the forces, in the final patterns."""
    ends = e.limit
    if ends is None:
        raise ValueError("no limit")
    X, second = e.data.X, e.network.second_layer
    rho = float(ends.rho)
    kink = {
        1: 1.0 if ends.kink_plus is None else float(ends.kink_plus),
        -1: 1.0 if ends.kink_minus is None else float(ends.kink_minus),
    }
    result = np.zeros_like(W)
    result[e.positive] = second[e.positive][:, None] * (X[0] - kink[1] * rho * X[1])
    result[e.negative] = second[e.negative][:, None] * (kink[-1] * X[0] - rho * X[1])
    return result


def _norm_grows(e: Evidence) -> Measurement:
    if e.limit is None:
        return Measurement("no neuron of one sign lives", None)
    norms = [float(np.linalg.norm(e.late_weights(power))) for power in LATE_POWERS]
    gamma = float(e.limit.gamma)
    logs = [power * _LN10 for power in LATE_POWERS]
    ratios = [norm * gamma / log for norm, log in zip(norms, logs, strict=True)]
    found = scaling("log t", logs, ratios)
    seen = found.same_order and norms[-1] > norms[0]
    words = f"‖θ‖ = {norms[0]:.5g} … {norms[-1]:.5g} at t = {LATE}; γ‖θ‖/log t → {ratios[-1]:.6f}"
    return Measurement(words, seen, ratios[-1], found.why)


def _gradient_aligns(e: Evidence) -> Measurement:
    if e.limit is None:
        return Measurement("no neuron of one sign lives", None)
    angles = [_gradient_angle(e, e.late_weights(power)) for power in LATE_POWERS]
    logs = [power * _LN10 for power in LATE_POWERS]
    found = scaling("log t", logs, [angle * log for angle, log in zip(angles, logs, strict=True)])
    seen = found.same_order and angles[-1] < angles[0]
    words = (
        f"angle(−∇L, θ) = {angles[0]:.3e} … {angles[-1]:.3e} at t = {LATE}, times log t: {found.low[-1]:.4g}"
    )
    return Measurement(words, seen, found.low[-1], found.why)


_FOLLOWS = (small_initialisation, counts_in_bounds, four_phases)
_LEMMA = (both_signs_alive, phases_apart, four_phases)

STATEMENTS = (
    Statement(
        "4.9-patterns",
        "from T_III on no activation pattern changes",
        "sgn±_k constant on (T_III, ∞), all k",
        _FOLLOWS,
        _no_more_changes,
    ),
    Statement(
        "4.9-loss",
        "the loss decays like 1/t",
        "L(θ(t)) = Θ(1/t)",
        _FOLLOWS,
        _loss_decays,
    ),
    Statement(
        "F.2-F.3",
        "in Phase IV the predictions obey an autonomous ODE",
        "ḟ₊ = AP − BQ, ḟ₋ = CP − DQ with the coefficients of Phase IV",
        _LEMMA,
        phase_ode("IV", "T_III", None),
    ),
    Statement(
        "F.4(r)",
        "in Phase IV the ratio of the forces rises from 1/cos Δ to its limit",
        "r ↑ ρ = 1 + (1−c)/α",
        _LEMMA,
        _ratio_to_limit,
    ),
    Statement("F.4(P,Q)", "in Phase IV both forces fall", "Ṗ < 0, Q̇ < 0", _LEMMA, _forces_fall),
    Statement("F.5(f+)", "f₊ grows like log t", "f₊ − log t bounded", _LEMMA, _logarithmic(0)),
    Statement("F.5(f-)", "−f₋ grows like log t", "−f₋ − log t bounded", _LEMMA, _logarithmic(1)),
    Statement("F.6(norm)", "the weights diverge", "‖θ(t)‖ → ∞ (like log t/γ)", _LEMMA, _norm_grows),
    Statement(
        "F.6(angle)",
        "the gradient aligns with the weights",
        "angle(−∇L(θ), θ) → 0 (like 1/log t)",
        _LEMMA,
        _gradient_aligns,
    ),
)

"""Theorems 4.4 and 4.5 and the lemmas of Phase II: the plateau, its end, and the end of Phase II."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from reduced.solve.generated import COEFFICIENTS
from reduced.theorems.evidence import Evidence
from reduced.theorems.hypotheses import (
    both_signs_alive,
    counts_in_bounds,
    phase_two_ends,
    phases_apart,
    small_initialisation,
    within_reach,
)
from reduced.theorems.initialisation import over_small_kappa1
from reduced.theorems.odes import prediction_ode_error
from reduced.theorems.records import Measurement, Statement
from reduced.theorems.scaling import Scaling, scaling

_ODE_TOLERANCE = 1e-6
_SAMPLES = 200


def plateau_estimate(e: Evidence) -> float:
    """Return the paper's order of T_plat, p/(κ₂²Δ²)."""
    return e.p / (e.kappa2 * e.delta) ** 2


def second_phase_estimate(e: Evidence) -> float:
    """Return the paper's order of T_II, p^{1/(1 − α cos Δ)}/(κ₂²Δ²), with the network's own α."""
    return float(e.p ** (1 / (1 - e.alpha * e.cosine)) / (e.kappa2 * e.delta) ** 2)


def _time_scaling(
    name: str,
    time: str,
    variants: Callable[[Evidence], Iterable[Evidence]],
    variable: Callable[[Evidence], float],
    estimate: Callable[[Evidence], float],
) -> Callable[[Evidence], Measurement]:
    """Measure a phase time over its Θ-estimate along a sweep; networks that do not get there are left out."""

    def measure(e: Evidence) -> Measurement:
        swept = list(variants(e))
        usable = [v for v in swept if v.time(time) is not None]
        if len(usable) < 3:
            return Measurement(f"{time} is finite at {len(usable)} values of {name} only", None)
        ratios = [(v.time(time) or 0.0) / estimate(v) for v in usable]
        found = scaling(name, [variable(v) for v in usable], ratios)
        words, dropped = found.words, len(swept) - len(usable)
        if dropped:
            words += f" ({dropped} values left out: no {time} in reach)"
        here = e.time(time)
        constant = None if here is None else here / estimate(e)
        return Measurement(words, found.same_order, constant, _reason(e, found, usable, time, variable))

    return measure


def _reason(
    e: Evidence,
    found: Scaling,
    usable: Sequence[Evidence],
    time: str,
    variable: Callable[[Evidence], float],
) -> str:
    """Tell why a Θ-claim fails: by its corrections, or because the living sets change along the sweep."""
    if found.same_order or e.regime is None:
        return found.why
    living = sorted({(len(v.positive), len(v.negative)) for v in usable})
    counts = ", ".join(f"{plus}/{minus}" for plus, minus in living)
    reasons = [found.why, f"|K₊|/|K₋| along the sweep: {counts}"]
    for words, fixed in zip(
        ("collapsed model", "small-Δ law"), _at_fixed_fractions(e, usable, time, variable), strict=True
    ):
        if fixed is not None:
            reasons.append(f"the {words} at fixed α± leaves {found.name}^{fixed.exponent:+.3f}")
    return "; ".join(reasons)


def _at_fixed_fractions(
    e: Evidence, usable: Sequence[Evidence], time: str, variable: Callable[[Evidence], float]
) -> tuple[Scaling | None, Scaling | None]:
    """Return the same sweep at this network's living fractions: collapsed model, and its small-Δ law."""
    from reduced.parameters import start
    from reduced.solve.asymptotic import asymptotic
    from reduced.solve.timeline import timeline

    models: list[tuple[float, float]] = []
    laws: list[tuple[float, float]] = []
    for v in usable:
        problem = replace(e.living_problem, p=v.problem.p, delta=v.problem.delta)
        power = 1 / (1 - e.alpha * v.cosine) if time == "T_II" else 1.0
        scale = (v.kappa2 * v.delta) ** 2 / v.p**power
        law = getattr(asymptotic(problem, start(), 15), time)
        for times, t in (
            (models, timeline(problem, start(), 15).times[time]),
            (laws, "inf" if law is None else law),
        ):
            if 0 < float(t) < math.inf:
                times.append((variable(v), float(t) * scale))
    model, law_alone = (
        scaling("", *zip(*times, strict=True)) if len(times) >= 3 else None for times in (models, laws)
    )
    return model, law_alone


def _one_deactivation(e: Evidence) -> Measurement:
    """Count the events after Phase I up to and including T_II."""
    T_II = e.time("T_II")
    if T_II is None:
        return Measurement("Phase II does not end", None)
    after = max(e.T_I, e.time("last_phase_one_event") or 0.0)
    events = [event for event in e.flow.events if after < event.t <= T_II]
    right = [
        event
        for event in events
        if e.network.sign[event.neuron] > 0 and event.before == "++" and event.after == "+0"
    ]
    seen = len(events) == 1 and len(right) == 1
    words = f"{len(events)} change(s) in ({after:.4g}, T_II = {T_II:.8g}]: " + ", ".join(
        f"neuron {event.neuron} {event.before}→{event.after}" for event in events[:3]
    )
    return Measurement(words, seen, T_II, "" if seen else "other patterns changed too")


def _accuracy(e: Evidence) -> Measurement:
    """Read the accuracy off the dense output from T_I on: p/(1+p) up to T_plat, 1 from there."""
    T_plat = e.time("T_plat")
    if T_plat is None:
        return Measurement("x₋ is never learned in the flow followed", None)
    changes = [(t, level) for t, level in e.flow.accuracy_changes if t > e.T_I]
    before, expected = float(e.flow.accuracy(min(e.T_I, T_plat))), e.p / (1 + e.p)
    seen = (
        T_plat > e.T_I
        and abs(before - expected) < 1e-12
        and len(changes) == 1
        and changes[0][1] == 1.0
        and abs(changes[0][0] - T_plat) <= 1e-9 * T_plat
    )
    words = f"accuracy {before:.6g} from T_I, {len(changes)} change(s) later; 1 from T_plat = {T_plat:.8g}"
    return Measurement(words, seen, T_plat, "" if seen else "the accuracy is not one step from T_I on")


def _plateau_stays(e: Evidence) -> Measurement:
    """Follow T_plat as κ₁ → 0: it must tend to a positive limit."""
    found = over_small_kappa1(e)
    if found is None:
        return Measurement("T_plat is infinite", None)
    seen = found.plateau_settles
    why = "" if seen else "T_plat does not settle at a positive value"
    return Measurement(found.plateau_words, seen, found.plateau_limit, why)


def phase_ode(phase: str, begin: str, end: str | None) -> Callable[[Evidence], Measurement]:
    """Compare ḟ± in the flow with the prediction ODE of a phase on the network's own counts."""

    def measure(e: Evidence) -> Measurement:
        found = prediction_ode_error(e, phase, begin, end)
        if found is None:
            return Measurement(f"Phase {phase} does not come", None)
        words = f"ḟ₊, ḟ₋ agree with AP − BQ, CP − DQ to {found:.2e} (relative) over Phase {phase}"
        return Measurement(
            words, found < _ODE_TOLERANCE, found, "" if found < _ODE_TOLERANCE else "they differ"
        )

    return measure


def _phase_two_times(e: Evidence) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    begin, end = e.time("last_phase_one_event") or 0.0, e.time("T_II") or e.flow.end
    begin = max(begin, 1e-9)
    return np.geomspace(begin, end, _SAMPLES) if begin < end else None


def _ratio_rises(e: Evidence) -> Measurement:
    """Sample r over Phase II: rising, to r∞ = (A+C)/(B+D)."""
    times = _phase_two_times(e)
    if times is None or e.regime is None:
        return Measurement("no Phase II with both signs alive", None)
    r = e.ratio(times)
    A, B, C, D = COEFFICIENTS["II"](
        len(e.positive) / e.m, len(e.negative) / e.m, e.kappa2**2, e.cosine, 1 - e.cosine**2
    )
    end = (A + C) / (B + D)
    falls = float(np.max(r[:-1] / r[1:] - 1))
    gap = abs(1 - float(r[-1]) / end)
    seen = falls < 1e-9 and gap < 1e-3
    words = f"r from {r[0]:.4g} to {r[-1]:.10g}, r∞ = {end:.10g}; largest relative fall {max(falls, 0):.1e}"
    why = (
        "" if seen else "r falls" if falls >= 1e-9 else f"r is {gap:.2g} away from r∞ at the end of Phase II"
    )
    return Measurement(words, seen, gap, why)


def _force_decays(e: Evidence) -> Measurement:
    """Sample P·(p + κ₂²Δ²t) over [T_I, T_II]."""
    end = e.time("T_II") or e.flow.end
    if end <= e.T_I:
        return Measurement("Phase II is empty", None)
    times = np.geomspace(e.T_I, end, _SAMPLES)
    P = e.forces(times)[:, 0]
    found = scaling("t", times.tolist(), (P * (e.p + (e.kappa2 * e.delta) ** 2 * times)).tolist())
    words = f"P·(p + κ₂²Δ²t) in [{min(found.low):.4g}, {max(found.high):.4g}] over [T_I, T_II]"
    seen = found.spread <= 10
    return Measurement(
        words, seen, found.spread, "" if seen else f"its range spans a factor {found.spread:.3g}"
    )


def _nearest_ends_phase(e: Evidence) -> Measurement:
    """Tell who ends Phase II: of K₊ the neuron nearest to the kink of x₋, before r reaches 1/c."""
    T_II = e.time("T_II")
    if T_II is None:
        return Measurement("Phase II does not end", None)
    first = next(
        event for event in e.flow.events if event.t == T_II and event.before == "++" and event.after[1] != "+"
    )
    middle = (max(e.T_I, e.time("last_phase_one_event") or 0.0) + T_II) / 2
    v = e.flow.neurons(middle)[e.positive] @ e.data.X[1]
    nearest = int(e.positive[int(np.argmin(v))])
    r = float(e.ratio(T_II))
    seen = first.neuron == nearest and r < 1 / e.cosine and bool(v.min() > 0)
    words = (
        f"neuron {first.neuron} reaches v = 0 first; least v halfway: neuron {nearest}; "
        f"r(T_II) = {r:.6g}, 1/c = {1 / e.cosine:.6g}"
    )
    return Measurement(words, seen, r, "" if seen else "another condition of Phase II broke first")


_FOLLOWS = (small_initialisation, counts_in_bounds)

STATEMENTS = (
    Statement(
        "4.4-T_II(Δ)",
        "how the end of Phase II depends on the angle",
        "T_II = Θ(p^{1/(1−α cos Δ)}/(κ₂²Δ²)) over Δ",
        (*_FOLLOWS, phase_two_ends),
        _time_scaling("Δ", "T_II", Evidence.over_angles, lambda v: v.delta, second_phase_estimate),
    ),
    Statement(
        "4.4-T_II(p)",
        "how the end of Phase II depends on the ratio of the classes",
        "T_II = Θ(p^{1/(1−α cos Δ)}/(κ₂²Δ²)) over p",
        (*_FOLLOWS, phase_two_ends),
        _time_scaling("p", "T_II", Evidence.over_ratios, lambda v: v.p, second_phase_estimate),
    ),
    Statement(
        "4.4-pattern",
        "at T_II one positive neuron leaves x₋, and nothing else has changed since T_I",
        "∃ k ∈ K₊: sgn⁻_k 1 → 0; all other patterns constant on [T_I, T_II]",
        (*_FOLLOWS, phase_two_ends, within_reach),
        _one_deactivation,
    ),
    Statement(
        "4.5-T_plat(Δ)",
        "how the plateau depends on the angle",
        "T_plat = Θ(p/(κ₂²Δ²)) over Δ",
        (*_FOLLOWS, both_signs_alive),
        _time_scaling("Δ", "T_plat", Evidence.over_angles, lambda v: v.delta, plateau_estimate),
    ),
    Statement(
        "4.5-T_plat(p)",
        "how the plateau depends on the ratio of the classes",
        "T_plat = Θ(p/(κ₂²Δ²)) over p",
        (*_FOLLOWS, both_signs_alive),
        _time_scaling("p", "T_plat", Evidence.over_ratios, lambda v: v.p, plateau_estimate),
    ),
    Statement(
        "4.5-accuracy",
        "the accuracy stays at p/(1+p) until T_plat and is 1 from then on",
        "Acc = p/(1+p) on [T_I, T_plat), 1 on [T_plat, ∞)",
        (*_FOLLOWS, both_signs_alive),
        _accuracy,
    ),
    Statement(
        "4.5-small-κ₁",
        "a smaller initialisation does not remove the plateau",
        "lim T_plat > 0 as κ₁ → 0",
        (both_signs_alive,),
        _plateau_stays,
    ),
    Statement(
        "D.2-D.3",
        "in Phase II the predictions obey an autonomous ODE",
        "ḟ₊ = AP − BQ, ḟ₋ = CP − DQ with the coefficients of Phase II",
        (both_signs_alive, phases_apart),
        phase_ode("II", "last_phase_one_event", "T_II"),
    ),
    Statement(
        "D.4(i)",
        "in Phase II the ratio of the forces rises to its limit",
        "r = Q/P ↑ r∞ = 1/(1+α(1−c))",
        (both_signs_alive, phases_apart),
        _ratio_rises,
    ),
    Statement(
        "D.4(ii)",
        "the force on x₊ decays like 1/t after a start of size 1",
        "P = Θ(1/(p + κ₂²Δ²t)) on [T_I, T_II]",
        (*_FOLLOWS, phase_two_ends),
        _force_decays,
    ),
    Statement(
        "D.5",
        "Phase II ends when the first positive neuron reaches the kink of x₋",
        "T_II = min{t: v_k(t) = 0, k ∈ K₊}",
        (both_signs_alive, phases_apart, phase_two_ends, within_reach),
        _nearest_ends_phase,
    ),
)

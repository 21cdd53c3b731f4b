"""Theorems 4.6–4.8 and the lemmas of Phase III: the transition, Phase III, and its end."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from reduced.theorems.evidence import Evidence
from reduced.theorems.hypotheses import (
    both_signs_alive,
    counts_in_bounds,
    four_phases,
    phase_two_ends,
    phases_apart,
    small_initialisation,
    within_reach,
)
from reduced.theorems.plateau import phase_ode
from reduced.theorems.records import Measurement, Statement
from reduced.theorems.scaling import Scaling, scaling


def _transition(e: Evidence) -> tuple[float, float] | None:
    begin, end = e.time("T_II"), e.time("T_III_PT")
    return None if begin is None or end is None else (begin, end)


def _shrinking(e: Evidence, measured: Callable[[Evidence, float, float], float]) -> Scaling | None:
    """Return a measurement of the transition over √(κ₁/κ₂), for the κ₁ whose transition was reached."""
    found = [(v, span) for v in e.over_kappa1() if (span := _transition(v)) is not None]
    if len(found) < 3:
        return None
    ratios = [measured(v, *span) / math.sqrt(v.kappa1 / v.kappa2) for v, span in found]
    return scaling("κ₁", [v.kappa1 for v, _ in found], ratios)


def _transition_time(e: Evidence) -> Measurement:
    """Follow (T_III^PT − T_II)/T_II as κ₁ shrinks."""
    found = _shrinking(e, lambda _, begin, end: (end - begin) / begin)
    span = _transition(e)
    if found is None or span is None:
        return Measurement("the transition does not come", None)
    begin, end = span
    words = (
        f"T_III^PT − T_II = {end - begin:.6g} = {(end - begin) / begin:.3g} T_II, "
        f"∝ κ₁^{found.exponent + 0.5:.3f}"
    )
    why = "" if found.bounded else "it does not shrink like √κ₁"
    return Measurement(words, found.bounded, (end - begin) / begin, why)


def _patterns_after(e: Evidence) -> Measurement:
    """Look at every living pattern right after the transition."""
    span = _transition(e)
    if span is None:
        return Measurement("the transition does not come", None)
    patterns = e.flow.patterns(span[1])
    plus = sum(patterns[k] == "+0" for k in e.positive)
    minus = sum(patterns[k] == "0+" for k in e.negative)
    seen = plus == len(e.positive) and minus == len(e.negative)
    words = (
        f"at T_III^PT: {plus} of {len(e.positive)} of K₊ have +0, {minus} of {len(e.negative)} of K₋ have 0+"
    )
    return Measurement(words, seen, float(plus + minus), "" if seen else "some pattern is another one")


def _once_each(e: Evidence) -> Measurement:
    """Check that between T_II and T_III^PT each of K₊ leaves x₋ exactly once, and nothing else happens."""
    span = _transition(e)
    if span is None:
        return Measurement("the transition does not come", None)
    events = [event for event in e.flow.events if span[0] <= event.t <= span[1]]
    leaving = [event.neuron for event in events if (event.before, event.after) == ("++", "+0")]
    seen = len(events) == len(leaving) and sorted(leaving) == sorted(int(k) for k in e.positive)
    words = (
        f"{len(events)} changes in [T_II, T_III^PT], {len(leaving)} of them ++ → +0, |K₊| = {len(e.positive)}"
    )
    return Measurement(words, seen, float(len(events)), "" if seen else "not one a neuron of K₊")


def _fixed_forces(point: int, name: str) -> Callable[[Evidence], Measurement]:
    """Measure how much P or Q changes over the transition."""

    def change(v: Evidence, begin: float, end: float) -> float:
        first, last = v.forces(np.array([begin, end]))[:, point]
        return abs(float(last / first) - 1)

    def measure(e: Evidence) -> Measurement:
        found, span = _shrinking(e, change), _transition(e)
        if found is None or span is None:
            return Measurement("the transition does not come", None)
        here = change(e, *span)
        words = (
            f"{name} changes by {here:.3g} (relative) over [T_II, T_III^PT], ∝ κ₁^{found.exponent + 0.5:.3f}"
        )
        return Measurement(words, found.bounded, here, "" if found.bounded else "it does not shrink like √κ₁")

    return measure


def _phase_three_quiet(e: Evidence) -> Measurement:
    """T_III comes after the transition, and no pattern changes in between."""
    span, T_III = _transition(e), e.time("T_III")
    if span is None or T_III is None:
        return Measurement("Phase III does not end", None)
    between = [event for event in e.flow.events if span[1] < event.t < T_III]
    seen = span[1] < T_III and not between
    words = f"T_III^PT = {span[1]:.8g} < T_III = {T_III:.8g}, {len(between)} changes in between"
    return Measurement(words, seen, T_III, "" if seen else "Phase III is not quiet")


def _shortly_after(e: Evidence) -> Measurement:
    """(T_III − T_II)/(Δ² T_II) along the sweep of Δ, and T_III − T_II beside its small-angle law."""
    found = []
    for v in e.over_angles():
        begin, end = v.time("T_II"), v.time("T_III")
        if begin is not None and end is not None:
            found.append((v.delta, (end / begin - 1) / v.delta**2))
    begin, end = e.time("T_II"), e.time("T_III")
    if len(found) < 3 or begin is None or end is None:
        return Measurement(f"T_III is finite at {len(found)} angles only", None)
    swept = scaling("Δ", *zip(*found, strict=True))
    law = phase_three_law(e)
    words = f"(T_III/T_II − 1)/Δ²: {swept.words}; T_III − T_II = {end - begin:.6g}"
    words += f" (small-angle law {law:.6g})" if law is not None else ""
    share = ((e.time("T_III_PT") or begin) - begin) / (end - begin)
    why = (
        f"it grows as Δ shrinks (Δ^{swept.exponent:+.3f}): {share:.0%} of T_III − T_II is the transition, "
        "whose share of T_II goes with κ₁ and not with Δ"
    )
    return Measurement(words, swept.bounded, (end / begin - 1) / e.delta**2, "" if swept.bounded else why)


def phase_three_law(e: Evidence) -> float | None:
    """Return the small-Δ law of T_III − T_II (it has no Δ in it), None unless α < 1."""
    if e.alpha >= 1:
        return None
    excess = (len(e.positive) - len(e.negative)) / e.m
    return float(e.p ** (1 / (1 - e.alpha)) * (1 + e.p) * (1 + e.alpha) / (2 * e.kappa2**2 * e.p * excess))


def _reactivation_times(e: Evidence) -> list[float]:
    begin = e.time("T_r_equals_c")
    if begin is None:
        return []
    return [
        event.t
        for event in e.flow.events
        if event.t >= begin
        and e.network.sign[event.neuron] < 0
        and (event.before, event.after) == ("0+", "++")
    ]


def _simultaneous(e: Evidence) -> Measurement:
    """All of K₋ reactivate on x₊ in one moment."""
    times = _reactivation_times(e)
    if not times:
        return Measurement("no neuron reactivates", None)
    spread = max(times) - min(times)
    seen = spread == 0 and len(times) == len(e.negative)
    words = f"{len(times)} of {len(e.negative)} reactivate on x₊, spread of their times {spread:g}"
    return Measurement(words, seen, spread, "" if seen else "not all of K₋ at once")


def _reactivation_ratio(e: Evidence) -> Measurement:
    """Compare the reactivations with the root of cQ = P in the dense output."""
    times = _reactivation_times(e)
    if not times:
        return Measurement("no neuron reactivates", None)
    roots = [t for t, sign in e.flow.turns([-1.0, e.cosine]) if sign > 0]
    if not roots:
        return Measurement("r never passes 1/c", False, None, "neurons reactivate while r < 1/c")
    gap = max(abs(t - roots[0]) for t in times) / roots[0]
    seen = gap < 1e-9
    words = f"{len(times)} reactivations, all within {gap:.1e} T_III of the moment r = 1/c"
    return Measurement(words, seen, gap, "" if seen else "they are apart")


_FOLLOWS = (small_initialisation, counts_in_bounds, phase_two_ends, within_reach)

STATEMENTS = (
    Statement(
        "4.6-time",
        "the transition is short, and shorter for a smaller initialisation",
        "T_III^PT = (1 + O(√(κ₁/κ₂))) T_II",
        _FOLLOWS,
        _transition_time,
    ),
    Statement(
        "4.6-once",
        "in the transition every positive living neuron leaves x₋, once",
        "sgn⁻_k 1 → 0 for all k ∈ K₊, nothing else, in [T_II, T_III^PT]",
        _FOLLOWS,
        _once_each,
    ),
    Statement(
        "4.6-patterns",
        "after the transition K₊ lies on the kink of x₋ and K₋ on that of x₊",
        "K₊: sgn⁺ = 1, sgn⁻ = 0; K₋: sgn⁺ = 0, sgn⁻ = 1",
        _FOLLOWS,
        _patterns_after,
    ),
    Statement(
        "E.2-E.3(P)",
        "the force on x₊ is nearly fixed over the transition",
        "P(t) = (1 + O(√(κ₁/κ₂))) P(T_II) on [T_II, T_III^PT]",
        _FOLLOWS,
        _fixed_forces(0, "P"),
    ),
    Statement(
        "E.2-E.3(Q)",
        "the force on x₋ is nearly fixed over the transition",
        "Q(t) = (1 + O(√(κ₁/κ₂))) Q(T_II) on [T_II, T_III^PT]",
        _FOLLOWS,
        _fixed_forces(1, "Q"),
    ),
    Statement(
        "4.7-quiet",
        "Phase III has an end, and no pattern changes before it",
        "T_III^PT < T_III < ∞; patterns constant on (T_III^PT, T_III)",
        (*_FOLLOWS, four_phases),
        _phase_three_quiet,
    ),
    Statement(
        "4.7-T_III",
        "Phase III is short beside Phase II",
        "T_III = (1 + O(Δ²)) T_II",
        (*_FOLLOWS, four_phases),
        _shortly_after,
    ),
    Statement(
        "4.8",
        "all negative living neurons reactivate on x₊ at once",
        "sgn⁺_k 0 → 1 at t = T_III for all k ∈ K₋",
        (*_FOLLOWS, four_phases),
        _simultaneous,
    ),
    Statement(
        "E.5-E.6",
        "in Phase III the predictions obey a decoupled ODE",
        "ḟ₊ = AP, ḟ₋ = −DQ with the coefficients of Phase III",
        (both_signs_alive, phases_apart, phase_two_ends, within_reach),
        phase_ode("III", "T_III_PT", "T_III"),
    ),
    Statement(
        "E.7",
        "the reactivations come when the force ratio reaches 1/cos Δ",
        "T_III = inf{t: r(t) = 1/c}, for every k ∈ K₋",
        (both_signs_alive, phases_apart, four_phases),
        _reactivation_ratio,
    ),
)

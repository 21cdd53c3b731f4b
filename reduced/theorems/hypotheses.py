"""The conditions that statements ask for, each decided at one network."""

from __future__ import annotations

import math

from reduced.records import Regime
from reduced.theorems.counts import BOUND_MINUS, BOUND_PLUS
from reduced.theorems.evidence import HYPOTHESIS_POWER, Evidence
from reduced.theorems.records import Hypothesis


def small_initialisation(e: Evidence) -> Hypothesis:
    """κ₁/κ₂ ≲ Δ⁸, the constant read as 1 (Thm 4.1)."""
    share, bound = e.kappa1 / e.kappa2, e.delta**HYPOTHESIS_POWER
    return Hypothesis(f"κ₁/κ₂ = {share:.3g}, asked ≲ Δ⁸ = {bound:.3g}", share <= bound * (1 + 1e-12))


def counts_in_bounds(e: Evidence) -> Hypothesis:
    """|K₊| and |K₋| lie in the bounds of Thm 4.1, from which later theorems start."""
    plus, minus = len(e.positive), len(e.negative)
    met = BOUND_PLUS.contains(plus, e.m) and BOUND_MINUS.contains(minus, e.m)
    return Hypothesis(f"|K₊|/m = {plus / e.m:.3g}, |K₋|/m = {minus / e.m:.3g} against Thm 4.1's bounds", met)


def both_signs_alive(e: Evidence) -> Hypothesis:
    """Both K₊ and K₋ have a neuron."""
    return Hypothesis(f"{len(e.positive)} and {len(e.negative)} living neurons", e.regime is not None)


def four_phases(e: Evidence) -> Hypothesis:
    """α < cos Δ, so that Phases III and IV come."""
    return Hypothesis(f"α = {e.alpha:.4g}, cos Δ = {e.cosine:.4g}", e.regime is Regime.FOUR_PHASE)


def phase_two_ends(e: Evidence) -> Hypothesis:
    """α < 1/cos Δ, so that Phase II ends."""
    return Hypothesis(
        f"α = {e.alpha:.4g}, 1/cos Δ = {1 / e.cosine:.4g}",
        e.regime in (Regime.FOUR_PHASE, Regime.THREE_PHASE),
    )


def phases_apart(e: Evidence) -> Hypothesis:
    """The last Phase-I event comes before every later one, and Phase III after the transition."""
    last = e.time("last_phase_one_event") or 0.0
    later = [t for t in (e.time("T_plat"), e.time("T_II")) if t is not None]
    crossed, regained = e.time("T_III_PT"), e.time("T_III")
    early = last > 0 and any(t <= last for t in later)
    late = crossed is not None and regained is not None and regained < crossed
    first = min(later, default=math.inf)
    return Hypothesis(f"last Phase-I event {last:.4g}, next phase ends {first:.4g}", not (early or late))


def within_reach(e: Evidence) -> Hypothesis:
    """Phase II ends inside the flow that was followed."""
    t = e.time("T_II")
    return Hypothesis(
        "T_II " + (f"= {t:.6g}" if t is not None else "beyond the flow followed"), t is not None
    )


def some_dead(e: Evidence) -> Hypothesis:
    """At least one neuron is dead."""
    return Hypothesis(f"{len(e.phases.dead)} dead neurons", len(e.phases.dead) > 0)

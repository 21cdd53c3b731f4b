"""Lemmas of Phase I: dead neurons, radial and tangential motion, fates and exit times, living counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from fullnet.checks import Floats
from reduced.solve.generated import VELOCITY
from reduced.theorems.counts import BOUND_MINUS, BOUND_PLUS, count_law
from reduced.theorems.evidence import Evidence
from reduced.theorems.hypotheses import small_initialisation
from reduced.theorems.records import Measurement, Statement
from reduced.theorems.scaling import scaling

_QUOTIENT_TOLERANCE = 1e-6


def _dead_stay_dead(e: Evidence) -> Measurement:
    """Look for any event of a dead neuron, and compare its weights with those of the end, bit by bit."""
    revived = [event for event in e.flow.events if event.before == "--"]
    middle = min(max(e.T_I, e.time("last_phase_one_event") or 0.0), e.flow.end)
    patterns = e.flow.patterns(middle)
    dead = [k for k, pattern in enumerate(patterns) if pattern == "--"]
    moved = float(np.abs(e.flow.neurons(middle)[dead] - e.flow.neurons(e.flow.end)[dead]).max(initial=0.0))
    seen = not revived and moved == 0.0
    words = (
        f"{len(dead)} dead at t = {middle:.4g}: {len(revived)} revived, largest change of a weight {moved:g}"
    )
    return Measurement(words, seen, moved, "" if seen else "a dead neuron moved")


def _quiet_moment(e: Evidence) -> tuple[float, float]:
    """Return a time and a step around which no event happens: inside the longest gap between early events."""
    bound = e.time("T_r_equals_c") or e.T_I
    marks = sorted({0.0, bound, *(event.t for event in e.flow.events if event.t < bound)})
    left, right = max(pairwise(marks), key=lambda gap: gap[1] - gap[0])
    middle = (left + right) / 2
    return middle, (right - left) * 1e-4


def _velocities(e: Evidence, t: float) -> Floats:
    """Return ḃ_k (m, d) at t from the table of patterns (Filippov's velocity where a neuron slides)."""
    P, Q = e.forces(t)
    c, s2 = e.cosine, math.sin(e.delta) ** 2
    X = e.data.X
    gram = np.linalg.inv(np.array([[1.0, c], [c, 1.0]]))
    result = np.zeros_like(e.network.W)
    for k, pattern in enumerate(e.flow.patterns(t)):
        if pattern != "--":
            (uP, uQ), (vP, vQ) = VELOCITY[pattern](c, s2)
            inner = np.array([uP * P + uQ * Q, vP * P + vQ * Q])
            result[k] = e.network.second_layer[k] * (gram @ inner) @ X
    return result


def _polar_motion(e: Evidence) -> Measurement:
    """Compare difference quotients of ‖b‖ and b/‖b‖ in the flow with the two projections of ḃ."""
    t, h = _quiet_moment(e)
    before, now, after = (e.flow.neurons(x) for x in (t - h, t, t + h))
    moving = np.any(before != after, axis=1)
    if not moving.any():
        return Measurement("no neuron moves", None)
    norms = [np.linalg.norm(W[moving], axis=1) for W in (before, now, after)]
    units = [W[moving] / n[:, None] for W, n in zip((before, now, after), norms, strict=True)]
    velocity = _velocities(e, t)[moving]
    radial = np.sum(velocity * units[1], axis=1)
    tangential = (velocity - radial[:, None] * units[1]) / norms[1][:, None]
    speed = np.linalg.norm(velocity, axis=1)
    off_norm = np.abs((norms[2] - norms[0]) / (2 * h) - radial) / speed
    off_unit = np.linalg.norm((units[2] - units[0]) / (2 * h) - tangential, axis=1) * norms[1] / speed
    worst = float(max(off_norm.max(), off_unit.max()))
    words = f"largest relative deviation over {int(moving.sum())} neurons at t = {t:.4g}: {worst:.2e}"
    seen = worst < _QUOTIENT_TOLERANCE
    return Measurement(words, seen, worst, "" if seen else f"above {_QUOTIENT_TOLERANCE:g}")


@dataclass(frozen=True)
class _Class:
    """A derived course as plain functions of (|u|, |v|, p, Δ, κ₂, m): who belongs, its fate, last switch."""

    sign: int
    pattern: str
    condition: Callable[..., Any]
    exit_time: Callable[..., Any]
    end: str
    switches: int


@cache
def _classes() -> tuple[_Class, ...]:
    import sympy

    from reduced.derive import all_courses

    def plain(expression: Any) -> Callable[..., Any]:
        symbols = {symbol.name: symbol for symbol in expression.free_symbols}
        names = ("u", "v", "p", "Delta", "kappa2", "m")
        arguments = [symbols.get(name, sympy.Dummy()) for name in names]
        return sympy.lambdify(arguments, expression, modules="numpy")  # type: ignore[no-any-return]

    return tuple(
        _Class(
            course.sign,
            course.pattern,
            plain(course.condition),
            plain(course.exit_time),
            course.steps[-1].pattern if course.steps else course.pattern,
            len(course.steps),
        )
        for course in all_courses()
    )


@dataclass(frozen=True)
class _Outcomes:
    """One class at one network: its size, wrong fates, and relative errors of the exit times."""

    size: int
    wrong: int
    errors: Floats


def _outcomes(e: Evidence, sign: int, pattern: str) -> _Outcomes:
    """Compare every neuron of an initial class with the course derived for it at the frozen loss."""
    u, v = (e.network.W @ x for x in e.data.X)
    bound = e.time("T_r_equals_c") or e.flow.end
    last = {event.neuron: event for event in e.flow.events if event.t < bound}
    inside = (e.network.sign == sign) & ((u > 0) == (pattern[0] == "+")) & ((v > 0) == (pattern[1] == "+"))
    wrong, errors = 0, []
    for course in (c for c in _classes() if (c.sign, c.pattern) == (sign, pattern)):
        arguments = (e.p, e.delta, e.kappa2, e.m)
        members = inside & course.condition(np.abs(u), np.abs(v), *arguments)
        for k in np.flatnonzero(members):
            event = last.get(int(k))
            if (event.after if event else pattern) != course.end:
                wrong += 1
            elif event and course.switches:
                expected = float(course.exit_time(abs(u[k]), abs(v[k]), *arguments))
                errors.append(abs(event.t / expected - 1))
    return _Outcomes(int(inside.sum()), wrong, np.array(errors))


def _class_measure(sign: int, pattern: str) -> Callable[[Evidence], Measurement]:
    """Measure fates and exit times of one class; the exit times' error must vanish like κ₁κ₂."""

    def measure(e: Evidence) -> Measurement:
        here = _outcomes(e, sign, pattern)
        if not here.size:
            return Measurement("no neuron starts there", None)
        words = f"{here.size - here.wrong} of {here.size} fates as derived"
        if not len(here.errors):
            return Measurement(words, here.wrong == 0, here.wrong, "" if not here.wrong else _BORDERLINE)
        variants = list(e.over_kappa1())
        found = scaling(
            "κ₁",
            [v.kappa1 for v in variants],
            [_outcomes(v, sign, pattern).errors.max(initial=0.0) / (v.kappa1 * v.kappa2) for v in variants],
        )
        words += f"; exit times off by at most {here.errors.max():.2e}; error/(κ₁κ₂): {found.words}"
        seen = here.wrong == 0 and found.bounded
        return Measurement(words, seen, max(found.high), "" if seen else _BORDERLINE)

    return measure


_BORDERLINE = "the forces move during Phase I, so a neuron near a border between fates may change sides"


def _counts(e: Evidence) -> Measurement:
    """Compare Hoeffding's guarantee with the exact binomial probability, and say what this draw gave."""
    found = len(e.positive), len(e.negative)
    seen, words = True, []
    law = count_law(e.problem)
    for sign, bound, name, count in ((1, BOUND_PLUS, "K₊", found[0]), (-1, BOUND_MINUS, "K₋", found[1])):
        chance, promised = law.within(sign, e.m, bound), law.hoeffding(sign, e.m, bound)
        words.append(
            f"|{name}| = {count}, in bounds with probability {chance:.4f} "
            f"(Hoeffding ≥ {max(promised, 0):.4f})"
        )
        seen = seen and chance >= promised
    return Measurement(
        "; ".join(words),
        seen,
        law.within(1, e.m, BOUND_PLUS) * law.within(-1, e.m, BOUND_MINUS),
        "" if seen else "the exact probability lies below Hoeffding's bound",
    )


_CLASS_NAMES = {1: "positive", -1: "negative"}
_CLASSES = tuple((sign, pattern) for sign in (1, -1) for pattern in ("++", "+-", "-+", "--"))

STATEMENTS = (
    Statement(
        "B.2",
        "a dead neuron stays dead and never moves",
        "sgn⁺_k(t) = sgn⁻_k(t) = 0 ⟹ ḃ_k = 0 from then on",
        (),
        _dead_stay_dead,
    ),
    Statement(
        "C.1",
        "motion splits into a radial and a tangential part",
        "d‖b‖/dt = ⟨ḃ,w⟩, ẇ = (ḃ − ⟨ḃ,w⟩w)/‖b‖",
        (),
        _polar_motion,
    ),
    *(
        Statement(
            f"C.3-C.10({'+' if sign > 0 else '-'},{pattern})",
            f"fate and exit time of {_CLASS_NAMES[sign]} neurons that start with pattern {pattern}",
            "fate as with the loss frozen at f = 0; exit time = frozen one · (1 + O(κ₁κ₂))",
            (small_initialisation,),
            _class_measure(sign, pattern),
        )
        for sign, pattern in _CLASSES
    ),
    Statement(
        "C.11",
        "the living counts stay in their bounds with the probability Hoeffding guarantees",
        "P(bound) ≥ 1 − Σ exp(−2 gap²/n)",
        (),
        _counts,
    ),
)

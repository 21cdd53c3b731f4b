"""The derived equations as a part of the page, every formula taken from the derivation engine."""

from __future__ import annotations

from typing import Any

from reduced.derive import (
    FINAL_PHASES,
    MINUS,
    PLUS,
    Course,
    Fate,
    PredictionODE,
    all_courses,
    limit,
    phase,
    regime_bounds,
    small_angle_law,
)
from reduced.derive.plateau import f_minus_0, f_plus_0, share_0
from reduced.records import Regime
from reduced.report.html import Markup, heading, html_table, text
from reduced.report.mathml import block, display, dotted, inline, markup, symbol

_AT_ZERO = {f_plus_0: 0, f_minus_0: 0, share_0: 0}
_FATES = {Fate.JOINS_K_PLUS: "joins K₊", Fate.JOINS_K_MINUS: "joins K₋", Fate.DIES: "dies"}


def equations(regime: Regime | None) -> str:
    """Return the equations behind the phases: condensation, prediction ODEs, plateau law, limit of the regime."""
    parts = [
        text(
            "K₊ and K₋ are the living positive and negative neurons, α₊ and α₋ their shares of all. A pattern says "
            "what a neuron does on x₊, then on x₋: + active, − inactive, 0 sliding along the kink."
        ),
        heading("Phase I: condensation"),
        _fates(),
        heading("Phases II to IV: two predictions"),
        text("With the forces"),
        _forces(phase("II")),
        text("the predictions on the two points obey, in each phase,"),
        _rates(),
    ]
    for name in ("II", "III", "IV"):
        parts.append(_phase(name, phase(name)))
    parts += [heading("Ends of the plateau and of Phase II as Δ → 0"), _laws()]
    if regime is not None:
        parts += [heading(f"The end of training, {regime.value} regime"), _limit(regime)]
    return "\n".join(parts)


def box(*equations: str) -> str:
    """Return displayed equations in a box of their own that scrolls sideways when they are too wide."""
    inside = "\n".join(equations)
    return (
        f'<div class="scroll equations" tabindex="0" role="region" aria-label="equations">\n{inside}\n</div>'
    )


def _fates() -> str:
    title = "Fate of a neuron whose inner products with x₊ and x₋ have sizes u and v"
    columns = ("output", "starts", "if", "fate", "sealed at time")
    return html_table(title, columns, map(_fate, all_courses()))


def _fate(course: Course) -> tuple[str, ...]:
    always = not course.condition.free_symbols
    return (
        "positive" if course.sign > 0 else "negative",
        course.pattern.replace("-", "−"),
        "" if always else Markup(inline(markup(course.condition))),
        _FATES[course.fate],
        Markup(inline(markup(course.exit_time))),
    )


def _forces(ode: PredictionODE) -> str:
    named = zip(ode.model.data.forces, (ode.model.force(PLUS), ode.model.force(MINUS)), strict=True)
    return box(*(display(markup(name), force) for name, force in named))


def _rates() -> str:
    P, Q = (markup(force) for force in phase("II").model.data.forces)
    return box(
        *(
            block(f"{dotted(rate)}<mo>=</mo><mi>{rise}</mi>{P}<mo>−</mo><mi>{fall}</mi>{Q}")
            for rate, rise, fall in (("f_plus", "A", "B"), ("f_minus", "C", "D"))
        )
    )


def _phase(name: str, ode: PredictionODE) -> str:
    groups = ", ".join(
        f"{group.name.replace('_plus', '₊').replace('_minus', '₋')} {group.pattern(2).replace('-', '−')}"
        for group in ode.groups
    )
    coefficients = (display(symbol(letter), getattr(ode, letter)) for letter in "ABCD")
    slides = (block(markup(one.relation)) for one in ode.conditions if one.relation.rhs != 0)
    words = f"Phase {name} (patterns {groups}), possible while the multipliers on the kinks are at most 1:"
    return "\n".join([text(words), box(*coefficients, *slides)])


def _laws() -> str:
    laws = {name: small_angle_law(name).subs(_AT_ZERO) for name in ("T_plat", "T_II")}
    words = text("From f = 0, the second for α₋ < α₊:")
    return words + "\n" + box(*(display(symbol(name), law, "≈") for name, law in laws.items()))


def _limit(regime: Regime) -> str:
    found = limit(regime.value)
    plus, minus = (direction.coefficients for direction in found.directions)
    equations = (
        display(symbol("rho"), found.ratio),
        block(f"{symbol('v_plus')}<mo>∝</mo>{_combination(plus)}"),
        block(f"{symbol('v_minus')}<mo>∝</mo>{_combination(minus)}"),
        display(f"<msup>{symbol('gamma')}<mn>2</mn></msup>", found.gamma_squared),
    )
    ends = (
        f"Training ends in Phase {FINAL_PHASES[regime.value]}, with Q/P → ρ, the weights of K₊ and K₋ along"
    )
    holds = (block(markup(bound)) for bound in regime_bounds(found))
    return "\n".join(
        (
            text(f"{ends} v₊ and v₋, and the normalised margin γ:"),
            box(*equations),
            text("The regime is this one while, for α = α₋/α₊,"),
            box(*holds),
        )
    )


def _combination(coefficients: tuple[Any, ...]) -> str:
    """Return a combination of x₊ and x₋."""
    on_plus, on_minus = coefficients
    return _term(on_plus, "x_plus", "") + _term(on_minus, "x_minus", "<mo>+</mo>")


def _term(coefficient: Any, point: str, plus: str) -> str:
    """Return one term of a combination with its sign; plus is what stands before a term without minus."""
    negative = coefficient.could_extract_minus_sign()
    size = -coefficient if negative else coefficient
    factor = "" if size == 1 else markup(size)
    if size.is_Add:
        factor = f"<mo>(</mo>{factor}<mo>)</mo>"
    return ("<mo>−</mo>" if negative else plus) + factor + symbol(point)

"""Write ``reduced/solve/generated.py``: the derived formulas as plain arithmetic for any type of number.

Run as ``python -m reduced.derive.generate``. A test regenerates the text and compares it byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import sympy as sp

from reduced.derive.decay import AngleLaw, angle_law, f_plus_1, rise, u_1, v_1
from reduced.derive.filippov import motion
from reduced.derive.limit import FINAL_PHASES, LimitDirection, alpha, limit, regime_bounds
from reduced.derive.network import EXP, LOGISTIC, MINUS, PLUS, Loss, NetworkModel
from reduced.derive.phase_one import living_fractions
from reduced.derive.phases import PHASES, phase
from reduced.derive.symbols import Delta, DerivationError, Expr, c, in_cosines, kappa2, s, tidy

TARGET = Path(__file__).parent.parent / "solve" / "generated.py"

PIECES: dict[str, tuple[int, tuple[int, ...], tuple[int, ...]]] = {
    "++": (1, (PLUS, MINUS), ()),
    "+-": (1, (PLUS,), ()),
    "-+": (1, (MINUS,), ()),
    "0+": (-1, (MINUS,), (PLUS,)),
    "+0": (1, (PLUS,), (MINUS,)),
}
"""Pattern of a moving neuron: the output sign it is derived for, its active and its sliding points."""

LOSSES: dict[str, Loss] = {"exp": EXP, "logistic": LOGISTIC}

_COSINE, _SINE_SQUARED, _VERSINE, _KAPPA_SQUARED = sp.symbols("c s2 w k", positive=True)

_HEADER = '''"""Formulas derived by reduced.derive, as plain arithmetic for any type of number.

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
'''


def generated_text() -> str:
    """Derive everything the solvers need and return the text of the generated module."""
    return "\n".join(
        [
            _HEADER,
            _velocities(),
            _coefficients(),
            _limits(),
            _angle_laws(),
            _bounds(),
            _force_laws(),
            _fractions(),
        ]
    )


def velocity_coefficients(pattern: str, model: NetworkModel | None = None) -> tuple[tuple[Expr, Expr], ...]:
    """Return the coefficients of (u̇, v̇)/a on the forces (P, Q) for a neuron of the given pattern."""
    model = model or NetworkModel()
    sign, active, sliding = PIECES[pattern]
    moving = motion(model, sign, active, sliding).velocity.scaled(1 / (sign * model.output_scale))
    rows = []
    for point in (PLUS, MINUS):
        first, second = (tidy(sp.diff(moving.along(point), force)) for force in model.data.forces)
        rows.append((first, second))
    return tuple(rows)


def _velocities() -> str:
    functions = {
        pattern: ("", [f"({_text(on_p)}, {_text(on_q)})" for on_p, on_q in velocity_coefficients(pattern)])
        for pattern in PIECES
    }
    comment = (
        "# (u̇, v̇)/a of a neuron by pattern: its coefficients on P and Q.\n"
        "# The sliding pattern 0+ is for a < 0 only, +0 for a > 0 only."
    )
    return _table("VELOCITY", "c: Any, s2: Any", "Pairs", functions, comment)


def _coefficients() -> str:
    functions = {name: ("", [_text(getattr(phase(name), letter)) for letter in "ABCD"]) for name in PHASES}
    comment = "# A, B, C, D of ḟ₊ = A P − B Q, ḟ₋ = C P − D Q, by phase."
    arguments = "alpha_plus: Any, alpha_minus: Any, k: Any, c: Any, s2: Any"
    return _table("COEFFICIENTS", arguments, "Four", functions, comment)


def _limits() -> str:
    functions = {regime: ("Limit", _limit_fields(limit(regime))) for regime in FINAL_PHASES}
    comment = "# The limit direction by regime, for output weights ±κ₂/√m."
    arguments = "alpha_plus: Any, alpha_minus: Any, kappa2: Any, c: Any, s2: Any, w: Any"
    return _table("LIMIT", arguments, "Limit", functions, comment)


def _limit_fields(found: LimitDirection) -> list[str]:
    pairs = [
        f"({', '.join(_stable(coefficient) for coefficient in direction.coefficients)})"
        for direction in found.directions
    ]
    kinks = ["None" if kink is None else _stable(kink) for kink in found.kinks]
    return [_stable(found.ratio), *pairs, _stable(found.gamma_squared), *kinks]


def _angle_laws() -> str:
    functions = {
        f"{regime} {group}": ("AngleLaw", _angle_law_fields(angle_law(regime, group)))
        for regime in FINAL_PHASES
        for group in ("K_plus", "K_minus")
    }
    comment = (
        "# How the angle of a group's neuron to its limit closes, by regime and group: u_1, v_1 = ⟨b, x±⟩/|a|,\n"
        "# ell = ln(ρ/r) and f₊ at any time of the final phase."
    )
    state = ", ".join(f"{symbol.name}: Any" for symbol in (u_1, v_1, rise, f_plus_1))
    arguments = f"alpha_plus: Any, alpha_minus: Any, k: Any, c: Any, s2: Any, w: Any, {state}"
    return _table("ANGLE_LAW", arguments, "AngleLaw", functions, comment)


def _angle_law_fields(law: AngleLaw) -> list[str]:
    fields = (law.growth, law.turn, law.stretch_squared, law.drift)
    return [_text(field.subs(1 - c, _VERSINE)) for field in fields]


def _bounds() -> str:
    bounds = {bound.rel_op: bound for bound in regime_bounds(limit("three-phase"))}
    lower, upper = (bounds[op].rhs if bounds[op].lhs == alpha else bounds[op].lhs for op in (">=", "<"))
    return (
        "\ndef regime_bounds(c: Any) -> tuple[Any, Any]:\n"
        '    """Return the two values of α = α₋/α₊ between which the regime is three-phase."""\n'
        f"    return {_text(lower)}, {_text(upper)}\n"
    )


def _force_laws() -> str:
    force = sp.Symbol("g")
    entries = []
    for name, loss in LOSSES.items():
        rising = reversed(sp.Poly(loss.force_law(force), force).all_coeffs())
        entries.append(f'    "{name}": ({", ".join(_text(coefficient) for coefficient in rising)}),')
    comment = "# Coefficients (of 1, g, g², …) of the φ with dg/dz = φ(g) along a loss's force g = −ℓ′(z)."
    return "\n".join(["", comment, "FORCE_LAW: dict[str, tuple[int, ...]] = {", *entries, "}", ""])


def _fractions() -> str:
    angle, cosine, sine = sp.symbols("delta c s", positive=True)
    plus, minus = (fraction.subs({s: sine, c: cosine, Delta: angle}) for fraction in living_fractions())
    return (
        "\ndef living_fractions(p: Any, delta: Any, math: Any) -> tuple[Any, Any]:\n"
        '    """Return the expected (α₊, α₋) as κ₁ → 0; math offers cos, sin, acos, sqrt and pi."""\n'
        "    c, s, acos, sqrt, pi = math.cos(delta), math.sin(delta), math.acos, math.sqrt, math.pi\n"
        f"    return {_operators(plus)}, {_operators(minus)}\n"
    )


def _table(
    name: str, arguments: str, result: str, functions: Mapping[str, tuple[str, list[str]]], comment: str
) -> str:
    """Write one function for each key, returning ``head(parts)``, and the dictionary that names them."""
    lines, entries = ["", comment], []
    for key, (head, parts) in functions.items():
        function = f"_{name}_{_spelled(key)}".lower()
        lines += [f"def {function}({arguments}) -> {result}:", _returned(head, parts), "", ""]
        entries.append(f'    "{key}": {function},')
    kinds = ", ".join(["Any"] * arguments.count("Any"))
    return "\n".join([*lines, f"{name}: dict[str, Callable[[{kinds}], {result}]] = {{", *entries, "}", ""])


def _spelled(key: str) -> str:
    """Turn a key into a piece of a function's name: a pattern is spelled p, m, 0."""
    if key in PIECES:
        return key.translate(str.maketrans("+-", "pm"))
    return key.replace("-", "_").replace(" ", "_")


def _returned(head: str, parts: list[str]) -> str:
    if head:
        return "\n".join([f"    return {head}(", *(f"        {part}," for part in parts), "    )"])
    return f"    return {', '.join(parts)}"


def _stable(expression: Expr) -> str:
    """Write a limit quantity in c, s2 and w; refuse one in which a sum still cancels."""
    return _text(in_cosines(expression, _COSINE, _VERSINE, _SINE_SQUARED), cancelling=False)


def _text(expression: Expr, cancelling: bool = True) -> str:
    """Write an expression as Python arithmetic that any number type can do."""
    plain = sp.sympify(expression).subs(s**2, _SINE_SQUARED).subs({c: _COSINE})
    plain = plain.subs(kappa2**2, _KAPPA_SQUARED) if cancelling else plain
    if any(not number.is_Integer for number in plain.atoms(sp.Number)) or plain.atoms(sp.Function):
        raise DerivationError(f"{plain} is not plain arithmetic")
    if not cancelling and any(_mixed_signs(total) for total in plain.atoms(sp.Add)):
        raise DerivationError(f"a sum in {plain} may cancel")
    return _operators(plain)


def _operators(expression: Expr) -> str:
    return re.sub(r"(?<![*])([*/])(?![*])", r" \1 ", str(expression))


def _mixed_signs(total: Expr) -> bool:
    return len({term.as_coeff_Mul()[0] > 0 for term in total.args}) > 1


if __name__ == "__main__":
    TARGET.write_text(generated_text(), encoding="utf-8")

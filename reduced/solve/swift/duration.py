"""The time a piece takes, in doubles: a few Taylor terms for tiny steps, Gauss panels and a series for long ones.

The time is T/P₀ with T = ∫ P₀/P dS, the integral of a smooth function of σ = gS (or of q = hR when r falls)
whose singularities lie π off the real axis.
"""

from __future__ import annotations

from math import exp, expm1, log, log1p

from reduced.solve.swift.piece import GENERIC, MINUS, PLUS, Motion, Piece

# Gauss-Legendre nodes > 0 on [-1, 1] with weights: first the 4-point rule, for steps up to 0.1, then the
# 12-point rule, for panels up to 2.
_RULES = (
    (0.33998104358485626, 0.6521451548625461),
    (0.8611363115940526, 0.34785484513745385),
    (0.1252334085114689, 0.24914704581340277),
    (0.3678314989981802, 0.2334925365383548),
    (0.5873179542866175, 0.20316742672306592),
    (0.7699026741943047, 0.16007832854334622),
    (0.9041172563704749, 0.10693932599531843),
    (0.9815606342467192, 0.04717533638651183),
)
_TINY, _SMALL, _WIDE = 1.5e-3, 0.1, 2.0
# Where the ratio is this close to its limit the rest is a series; its terms fall like _NEAR^n.
_NEAR = 0.2
_TERMS = 26
_OVERFLOW = 600.0


def duration(piece: Piece, q: float, motion: Motion) -> tuple[float, float]:
    """Return T = ∫₀^q P₀/P dS as (value, exponent): T = value · e^exponent, the exponent 0 unless T is huge."""
    if piece.kind == GENERIC:
        size = max(piece.g, piece.h * piece.r) * motion.S
        if size < _TINY:
            return _taylor(piece, motion.S), 0.0
        far = piece.G * exp(-q)
        if abs(far) > _NEAR * piece.g or size < 1.0:
            return _panels(piece, motion), 0.0
        near = max(0.0, log(abs(piece.G) / (_NEAR * piece.g))) if piece.G != 0.0 else 0.0
        return _long(piece, q, near)
    if piece.kind == PLUS:
        if q > _OVERFLOW:
            return 1.0 / piece.g, q
        return expm1(q) / piece.g, 0.0
    if piece.kind == MINUS:
        if q > _OVERFLOW:
            return 1.0 / (piece.r * piece.h), q
        return expm1(q) / (piece.r * piece.h), 0.0
    return q, 0.0


def _taylor(piece: Piece, S: float) -> float:
    """Integrate exp(A s − B R(s)) over [0, S] with its first four derivatives, from those of the exponent."""
    turn = piece.G - piece.h * piece.r
    first = piece.A - piece.B * piece.r
    second = -piece.B * piece.r * piece.G
    third = second * turn
    fourth = second * (turn * turn - 2.0 * piece.h * piece.r * piece.G)
    square = first * first + second
    cubic = first * (square + 2.0 * second) + third
    quartic = first * (cubic + 3.0 * third) + 3.0 * second * square + fourth
    return float(S * (1.0 + S / 2.0 * (first + S / 3.0 * (square + S / 4.0 * (cubic + S / 5.0 * quartic)))))


def _panels(piece: Piece, motion: Motion) -> float:
    """Integrate over a step on which the exponent grows moderately, in the variable that suits r's direction."""
    if piece.G >= 0.0:
        return _gauss(piece.A, piece.B, piece.g, piece.h, piece.r, piece.g * motion.S)
    r = piece.r
    return float(_gauss(piece.D, piece.B, piece.h, piece.g, 1.0 / r, piece.h * motion.R) / r)


def _gauss(a: float, b: float, g: float, h: float, r: float, width: float) -> float:
    """Return ∫₀^width exp((a/g) x − (b/h) ln(1 + (hr/g)(eˣ − 1))) dx / g."""
    total, ratio = 0.0, h * r / g
    slope, power = a / g, b / h
    panels = int(width / _WIDE) + 1
    half = 0.5 * width / panels
    first, last = (0, 2) if width < _SMALL else (2, 8)
    for panel in range(panels):
        middle = (2 * panel + 1) * half
        for n in range(first, last):
            node, weight = _RULES[n]
            x, z = middle + half * node, middle - half * node
            right = slope * x - power * log1p(ratio * expm1(x))
            left = slope * z - power * log1p(ratio * expm1(z))
            total += weight * (exp(right) + exp(left))
    return total * half / g


def _long(piece: Piece, q: float, near: float) -> tuple[float, float]:
    """Integrate up to q = near by panels and from there on by the series in the complement 1 − y."""
    g, h, r = piece.g, piece.h, piece.r
    growth, power = piece.det / (g * h), piece.B / g
    start = h * r / g
    value = 0.0
    if near > 0.0:
        width = near + log((1.0 - piece.G / g * exp(-near)) / start) if piece.G > 0.0 else near
        value = (
            _gauss(piece.A, piece.B, g, h, r, width)
            if piece.G > 0.0
            else _gauss(piece.D, piece.B, h, g, 1.0 / r, width) / r
        )
    rest, z = q - near, piece.G / g * exp(-near)
    # ∫ (1 − z e^{−τ})^{−power} e^{growth τ} dτ term by term, divided by e^{growth·rest} when that is huge
    huge = growth * rest > _OVERFLOW
    series = _over(growth, rest) if not huge else 1.0 / growth
    top = exp(growth * rest) if not huge else 1.0
    low = 1.0 if not huge else 0.0
    term, fade = 1.0, 1.0
    step = exp(-rest)
    for n in range(1, _TERMS):
        term *= z * (power + n - 1.0) / n
        fade *= step
        rate = growth - n
        if abs(rate) * rest < 0.5 and not huge:
            series += term * _over(rate, rest)
        elif rate != 0.0:
            series += term * (top * fade - low) / rate
        if abs(term) < 1e-18:
            break
    # (y/y₀)^{−power} e^{growth·near} and dS = dq/(g y) folded into h r
    scale = start**power * exp(growth * near) / (h * r)
    if huge:
        return value * exp(-growth * rest) + scale * series, growth * rest
    return value + scale * series, 0.0


def _over(rate: float, span: float) -> float:
    """Return ∫₀^span e^{rate τ} dτ."""
    return expm1(rate * span) / rate if rate * span != 0.0 else span

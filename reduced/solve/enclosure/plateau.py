"""T_plat of one problem for many starts, in bare Arb balls: the short way where Phase II alone decides.

In Phase II f₋ = f₋₀ − βq + λ ln(y/y₀) with λ = C/g and slope −β + λ z/y. From below the fixed ratio (z₀ > 0)
the slope falls, so f₋ is concave and, from f₋₀ > 0 or an upward start at 0, has one root. The share of K₊ in
f₋ rises until r = c and falls after, so one that is positive at the root was positive before it: no event of
Phase II came earlier, for r stays below r∞ ≤ 1 < 1/c. After it f₋ only falls (C = 0 in Phase III,
r > c in Phase IV). Whatever is not certified here goes the long way, through the whole timeline.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import flint

from reduced.numbers import cos, sign, sin
from reduced.records import Problem, Start
from reduced.solve.enclosure.answer import Enclosure, certify, enclosure
from reduced.solve.enclosure.ball import Ball, Undecided, enclosure_of
from reduced.solve.enclosure.collapsed import enclosure_timeline
from reduced.solve.enclosure.root import enclose_root
from reduced.solve.enclosure.series import rising_series
from reduced.solve.generated import COEFFICIENTS
from reduced.solve.timeline import check_state, require_exponential

# The series in z is slow towards 1: starts further from the fixed ratio go the long way.
_FARTHEST = 0.9


@dataclass(frozen=True)
class _PhaseTwo:
    """The constants of Phase II as Arb balls of one precision; share_rate is κ₂²α₊."""

    w_plus: Any
    w_minus: Any
    c: Any
    share_rate: Any
    g: Any
    h: Any
    lam: Any
    beta: Any
    shift: Any

    @classmethod
    def of(cls, problem: Problem) -> _PhaseTwo:
        """Return the constants at the present precision."""
        p, alpha_plus, alpha_minus, kappa2 = (
            enclosure_of(x) for x in (problem.p, problem.alpha_plus, problem.alpha_minus, problem.kappa2)
        )
        c, k = enclosure_of(cos(problem.delta)), kappa2 * kappa2
        s2 = enclosure_of(sin(problem.delta) ** 2)
        A, B, C, D = COEFFICIENTS["II"](alpha_plus, alpha_minus, k, c, s2)
        g, h = A + C, B + D
        beta, shift = (A * D - B * C) / (g * h), (A * B + 2 * B * C + C * D) / (g * h)
        return cls(p / (1 + p), 1 / (1 + p), c, k * alpha_plus, g, h, C / g, beta, shift)

    def end(self, f_plus: Any, f_minus: Any, share: Any) -> Any:
        """Return T_plat from f₊, f₋ and the share of K₊ in f₋.

        Raises Undecided when it is not certain that Phase II decides it.
        """
        Q0 = self.w_minus * f_minus.exp()
        y0 = self.h * Q0 / (self.g * self.w_plus) * f_plus.exp()
        z0, lam, beta = 1 - y0, self.lam, self.beta
        upward = f_minus > 0 or (f_minus.is_zero() and lam * z0 > beta * y0)
        if not (upward and share >= 0 and 0 < z0 < _FARTHEST and beta > 0):
            raise Undecided("start", y0, "one below the fixed ratio with f₋ rising or positive")

        def value_and_slope(q: Any) -> tuple[Any, Any]:
            z = z0 * (-q).exp()
            y = 1 - z
            return f_minus - beta * q + lam * (y.log() - log_y0), lam * z / y - beta

        log_y0 = y0.log()
        q = enclose_root(value_and_slope, (f_minus - lam * log_y0) / beta)
        z = z0 * (-q).exp()
        S, R = (q + (1 - z).log() - log_y0) / self.g, q / self.h
        if not (q > 0 and share + self.share_rate * (self.c * S - R) > 0):
            raise Undecided("event", q, "the end of the plateau before that of Phase II")
        K0, K = (rising_series(lam, self.shift, x) for x in (z0, z))
        integral = (beta * q).expm1() / beta * (1 - beta * K) - (K - K0)
        return (lam * log_y0).exp() * integral / (self.h * Q0)


class PreparedPlateau:
    """A problem made ready for enclosing T_plat from many starts at fixed digits."""

    def __init__(self, problem: Problem, digits: int = 30) -> None:
        """Keep problem (exponential loss) and digits; constants are computed once per working precision."""
        require_exponential(problem, "enclosure")
        self.problem = problem
        self.digits = digits
        self.short_way = sign(problem.alpha_plus) * sign(problem.alpha_minus) > 0
        self._constants: dict[int, _PhaseTwo] = {}

    def enclose(self, start: Start) -> Enclosure:
        """Return the enclosure of T_plat; arguments and errors as for ``enclosure_timeline``."""
        check_state(self.problem, start)
        if self.short_way:
            found = certify(lambda _: self._end(start), lambda ball: [ball], self._answer, self.digits)
            if found is not None:
                return found
        whole = enclosure_timeline(self.problem, start, self.digits)
        return Enclosure(whole.times["T_plat"], whole.radius["T_plat"])

    def _answer(self, ball: Ball | None) -> Enclosure | None:
        return None if ball is None else enclosure(ball, self.digits)

    def _end(self, start: Start) -> Ball | None:
        """Return T_plat at the present precision, None for the long way."""
        bits = flint.ctx.prec
        if bits not in self._constants:
            self._constants[bits] = _PhaseTwo.of(self.problem)
        f_plus, f_minus, negative = (
            enclosure_of(f) for f in (start.f_plus, start.f_minus, start.f_minus_negative)
        )
        try:
            return Ball(self._constants[bits].end(f_plus, f_minus, f_minus - negative))
        except Undecided:
            return None

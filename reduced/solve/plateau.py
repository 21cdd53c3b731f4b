"""T_plat of one problem for many starts at fixed digits: the short way, where Phase II alone decides.

In Phase II f₋ is concave along the path while r lies below the fixed ratio, so from f₋ > 0, or an upward start at
0, it has one root. The share of K₊ in f₋ rises until r = c and falls after, so one that is positive at the root
was positive before it: no event came earlier. After it f₋ only falls. Other starts go the long way, through the
whole timeline. (The same argument, proved in balls, is in :mod:`reduced.solve.enclosure.plateau`.)
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Any

from reduced.numbers import decimal_string, exact, sign
from reduced.records import Problem, Start
from reduced.solve.block import Form, RatioBlock
from reduced.solve.doubles.kernel import last_fall
from reduced.solve.generated import COEFFICIENTS
from reduced.solve.promise import agree, check_digits, private_context
from reduced.solve.timeline import (
    check_state,
    guard_digits,
    quantities,
    require_exponential,
    timeline,
)

_NOWHERE = Start(exact(0), exact(0), exact(0))


@dataclass(frozen=True)
class _PhaseTwo:
    """Phase II of a problem in one context: its rates, weights, c and κ₂²α₊."""

    ctx: Any
    rates: tuple[Any, Any, Any, Any]
    w_plus: Any
    w_minus: Any
    c: Any
    share_rate: Any

    @classmethod
    def of(cls, problem: Problem, digits: int) -> _PhaseTwo:
        """Evaluate a problem at a working precision in decimal digits."""
        ctx = private_context(digits)
        given = quantities(ctx, problem, _NOWHERE)
        k = given.kappa2**2
        rates = COEFFICIENTS["II"](given.alpha_plus, given.alpha_minus, k, given.c, given.s2)
        weights = given.p / (1 + given.p), 1 / (1 + given.p)
        return cls(ctx, rates, *weights, given.c, k * given.alpha_plus)

    def end(self, start: Start, guess: Any | None) -> tuple[Any, Any] | None:
        """Return the path parameter of the end of the plateau and T_plat, None unless Phase II clearly decides it.

        Arguments: start; guess, the path parameter to refine (None: the one found in doubles).
        """
        ctx = self.ctx
        f_plus, f_minus, negative = (
            f.evaluate(ctx) for f in (start.f_plus, start.f_minus, start.f_minus_negative)
        )
        piece = RatioBlock(ctx, *self.rates, self.w_plus * ctx.exp(-f_plus), self.w_minus * ctx.exp(f_minus))
        if not (0 < piece.z0 < 1 and f_minus >= 0 and piece.beta > 0):
            return None
        form = Form(f_minus, self.rates[2], -self.rates[3])
        q = _refined(piece, form, _rough(piece, form) if guess is None else guess)
        if q is None:
            return None
        share = f_minus - negative + self.share_rate * (self.c * piece.S(q) - piece.R(q))
        return (q, piece.elapsed(q)) if share > ctx.sqrt(ctx.eps) else None


def _rough(piece: RatioBlock, form: Form) -> float:
    """Return where f₋ falls through 0, in doubles."""
    lean, drift = piece.C / piece.g, piece.beta
    return last_fall(*(float(x) for x in (form.e0, lean, drift, piece.y0, piece.z0)))


def _refined(piece: RatioBlock, form: Form, guess: Any) -> Any | None:
    """Return the root of a form near a guess by Newton's method, None when the guess is not close to one."""
    ctx = piece.ctx
    q, enough = ctx.mpf(guess), ctx.ldexp(1, -ctx.prec // 2 - 4)
    for _ in range(ctx.prec.bit_length()):
        speed_S, speed_R = piece.speeds(q)
        slope = form.on_S * speed_S + form.on_R * speed_R
        if not (q > 0 and slope < 0):
            return None
        step = piece.value(form, q) / slope
        q -= step
        # convergence is quadratic: after a step this small the next one is below rounding
        if abs(step) <= q * enough:
            return q
    return None


class PreparedPlateau:
    """A problem made ready for T_plat from many starts, every digit right."""

    def __init__(self, problem: Problem, digits: int = 30) -> None:
        """Evaluate a problem (exponential loss) once for a number of digits.

        Raises InputError for another loss or an unusable number of digits.
        """
        require_exponential(problem)
        self.problem = problem
        self.digits = check_digits(digits)
        self._short = sign(problem.alpha_plus) * sign(problem.alpha_minus) > 0
        guard = guard_digits(problem, _NOWHERE)
        self._levels = [_PhaseTwo.of(problem, digits + guard), _PhaseTwo.of(problem, digits + guard + 10 + guard // 2)]
        # a context's precision changes while it works: one thread at a time
        self._lock = Lock()

    def length(self, start: Start) -> str:
        """Return T_plat from a start as a decimal string; arguments and errors as for ``timeline``."""
        check_state(self.problem, start)
        if self._short:
            with self._lock:
                coarse = self._levels[0].end(start, None)
                fine = coarse and self._levels[1].end(start, coarse[0])
            if coarse and fine and agree([coarse[1]], [fine[1]], self.digits):
                return decimal_string(fine[1], self.digits)
        return timeline(self.problem, start, self.digits).times["T_plat"]

"""T_plat of one problem for many starts at fixed digits: the short way, where Phase II alone decides.

In Phase II, with λ = C/g, f₋ = f₋₀ − βq + λ ln(y/y₀) and y = 1 − z₀ e^{−q}. From below the fixed ratio (z₀ > 0) it
is concave in q, so from f₋₀ > 0, or an upward start at 0, it has one root. The share of K₊ in f₋ rises until r = c
and falls after, so one that is positive at the root was positive before it: no event came earlier. After it f₋ only
falls. Other starts go the long way, through the whole timeline, and so does whatever two precisions do not agree
on. (The same argument, proved in balls, is in :mod:`reduced.solve.enclosure.plateau`.)
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Any

from reduced.numbers import decimal_string, exact, sign
from reduced.records import Problem, Start
from reduced.solve.doubles.kernel import last_fall
from reduced.solve.generated import COEFFICIENTS
from reduced.solve.promise import agree, check_digits, private_context
from reduced.solve.series import middle_series
from reduced.solve.timeline import (
    check_state,
    guard_digits,
    quantities,
    require_exponential,
    timeline,
)

_NOWHERE = Start(exact(0), exact(0), exact(0))
# The series in z is slow towards 1: starts further from the fixed ratio go the long way.
_FARTHEST = 0.75


@dataclass(frozen=True)
class _PhaseTwo:
    """The constants of Phase II in one context; log_ratio is ln y₀ at f = 0, share_rate κ₂²α₊."""

    ctx: Any
    a: Any
    lean: Any
    beta: Any
    g: Any
    h: Any
    c: Any
    w_minus: Any
    log_ratio: Any
    share_rate: Any

    @classmethod
    def of(cls, problem: Problem, digits: int) -> _PhaseTwo:
        """Evaluate a problem at a working precision in decimal digits."""
        ctx = private_context(digits)
        given = quantities(ctx, problem, _NOWHERE)
        k = given.kappa2**2
        A, B, C, D = COEFFICIENTS["II"](given.alpha_plus, given.alpha_minus, k, given.c, given.s2)
        g, h = A + C, B + D
        log_ratio = ctx.log(h / (g * given.p))
        beta = (A * D - B * C) / (g * h)
        return cls(ctx, A / g, C / g, beta, g, h, given.c, 1 / (1 + given.p), log_ratio, k * given.alpha_plus)

    def end(self, start: Start, guess: Any | None) -> tuple[Any, Any] | None:
        """Return the path parameter of the end of the plateau and T_plat, None unless Phase II clearly decides it.

        Arguments: start; guess, the path parameter to refine (None: the one found in doubles).
        """
        ctx, beta = self.ctx, self.beta
        f_plus, f_minus, negative = (
            f.evaluate(ctx) for f in (start.f_plus, start.f_minus, start.f_minus_negative)
        )
        log_y0 = self.log_ratio + f_plus + f_minus
        y0 = ctx.exp(log_y0)
        z0 = 1 - y0
        if not (0 < z0 < _FARTHEST and f_minus >= 0):
            return None
        if guess is None:
            guess = _guess(f_minus, self.lean, beta, y0, z0)
        if guess is None:
            return None
        found = self._refined(f_minus, log_y0, z0, ctx.mpf(guess))
        if found is None:
            return None
        q, z, grown = found
        share = f_minus - negative + self.share_rate * (self.c * (q + grown) / self.g - q / self.h)
        if share < ctx.sqrt(ctx.eps):
            return None
        K0, K = (middle_series(ctx, self.a, -beta, x) for x in (z0, z))
        integral = (ctx.exp(beta * q) - 1) / beta * (1 - beta * K) - (K - K0)
        return q, ctx.exp(self.lean * log_y0 - f_minus) * integral / (self.h * self.w_minus)

    def _refined(self, f_minus: Any, log_y0: Any, z0: Any, q: Any) -> tuple[Any, Any, Any] | None:
        """Return the root q of f₋ with z and ln(y/y₀) there, by Newton's method, None when there is none near."""
        ctx, enough = self.ctx, self.ctx.ldexp(1, -self.ctx.prec // 2 - 4)
        for _ in range(ctx.prec.bit_length()):
            z = z0 * ctx.exp(-q)
            y = 1 - z
            grown = ctx.log(y) - log_y0
            slope = self.lean * z / y - self.beta
            if not (q > 0 and slope < 0):
                return None
            step = (f_minus - self.beta * q + self.lean * grown) / slope
            q -= step
            # convergence is quadratic: after a step this small the next one is below rounding
            if abs(step) <= q * enough:
                return q, z * (1 + step), grown - step * z / y
        return None


def _guess(*form: Any) -> float | None:
    """Return where f₋ last falls through 0, found in doubles, None where these cannot show it falling."""
    try:
        return last_fall(*(float(x) for x in form))
    except (ArithmeticError, ValueError):
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
        precisions = (digits + guard, digits + guard + 10 + guard // 2) if self._short else ()
        self._levels = [_PhaseTwo.of(problem, precision) for precision in precisions]
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

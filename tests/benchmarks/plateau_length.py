"""How long does the plateau last? The closed form against a general Taylor integrator with root finding.

The state is that of a network on its plateau: f₊ = 3/4, f₋ = 3/5, p = 4, Δ = π/15, α₊ = 0.23, α₋ = 0.13.
"""

from __future__ import annotations

from typing import Any

import reduced
from reduced.solve.block import Form
from reduced.solve.generated import COEFFICIENTS
from reduced.solve.pieces import ClosedForm
from reduced.solve.promise import private_context
from tests.benchmarks.harness import Benchmark, Contender

_GUARD = 15
_SHOWN = 15
# T_plat is 290.95…: as close as a bracket gets without knowing the answer.
_BRACKET = (280, 300)


def plateau_length(quick: bool) -> Benchmark:
    """Compare times to T_plat at 30 digits (quick: 15)."""
    digits = 15 if quick else 30
    problem = reduced.problem(p=4, delta="pi/15", alpha_plus="0.23", alpha_minus="0.13")
    start = reduced.start("3/4", "3/5")
    fine, plain = private_context(digits + _GUARD), private_context(digits)

    def all_times() -> str:
        return _short(reduced.timeline(problem, start, digits=digits).times["T_plat"])

    return Benchmark(
        f"T_plat of the collapsed model at {digits} digits",
        (
            Contender(
                "closed form, T_plat alone",
                lambda: _closed_form(fine, digits),
                "piece, root, time; one precision",
                calls=10,
            ),
            Contender(
                "reduced.timeline",
                all_times,
                "three times, f± there; two precisions",
            ),
            Contender(
                "mpmath.odefun + findroot",
                lambda: _odefun(plain, digits),
                f"bracket {_BRACKET} given; one precision",
            ),
        ),
        claim="closed form ≥ 10⁴ × faster than odefun at 30 digits",
    )


def _closed_form(ctx: Any, digits: int) -> str:
    """Find T_plat on the one piece it lies on, with some guard digits."""
    c, k = ctx.cos(ctx.pi / 15), ctx.one
    rates = COEFFICIENTS["II"](ctx.mpf(23) / 100, ctx.mpf(13) / 100, k, c, 1 - c * c)
    weights, f = (ctx.mpf(4) / 5, ctx.mpf(1) / 5), (ctx.mpf(3) / 4, ctx.mpf(3) / 5)
    solver = ClosedForm()
    piece = solver.piece(ctx, weights, rates, solver.forces(ctx, weights, f))
    _, _, C, D = rates
    *_, (end, _) = piece.roots(Form(f[1], C, -D))
    return _short(ctx.nstr(piece.elapsed(end), digits))


def _odefun(ctx: Any, digits: int) -> str:
    """Find T_plat the way mpmath's manual suggests, with the Phase II equations written out by hand."""
    plus, minus = ctx.mpf("0.23"), ctx.mpf("0.13")
    c, s = ctx.cos(ctx.pi / 15), ctx.sin(ctx.pi / 15)

    def velocity(_: Any, f: Any) -> list[Any]:
        P, Q = 4 * ctx.exp(-f[0]) / 5, ctx.exp(f[1]) / 5
        return [plus * P - plus * c * Q, plus * c * P - (plus + minus * s**2) * Q]

    f = ctx.odefun(velocity, 0, [ctx.mpf(3) / 4, ctx.mpf(3) / 5])
    return _short(ctx.nstr(ctx.findroot(lambda t: f(t)[1], _BRACKET, solver="anderson"), digits))


def _short(decimal: str) -> str:
    return f"T_plat = {decimal[:_SHOWN]}"

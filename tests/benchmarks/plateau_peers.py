"""How long does the plateau last? The closed form against integrators that step through it and watch for f₋ = 0.

The state is that of a network on its plateau: f₊ = 3/4, f₋ = 3/5, p = 4, Δ = π/15, α₊ = 0.23, α₋ = 0.13; T_plat is
290.95421860144791349875…. What a peer compiles or builds once is not timed. Answers show how many digits came out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from math import cos, pi, sin
from typing import Any

import reduced
from reduced.solve.doubles import plateau_times
from reduced.solve.plateau import PreparedPlateau
from reduced.solve.promise import private_context
from tests.benchmarks.harness import Absent, Benchmark, Contender

_PLUS, _MINUS, _DELTA = 0.23, 0.13, pi / 15
_START = (0.75, 0.6)
_FAR = 1e4
# Digits of the answer shown.
_SHOWN = 19
# odefun is timed on this share of the way, 5.8 of 291 time units.
_SHARE = 1 / 50
_TOLERANCE = 1e-13


def plateau_in_doubles(quick: bool) -> Benchmark:
    """Compare times to T_plat in double precision (quick: without the slowest peer)."""
    return Benchmark(
        "T_plat of the collapsed model in doubles",
        (
            Contender("reduced, plain floats", _floats, "T_plat, T_II and T_III, no compiler", calls=200),
            _heyoka_double(),
            *(_scipy(method) for method in ("DOP853", "LSODA")),
            *(_diffrax(solver) for solver in ("Tsit5", "Dopri8")),
            Absent("torchdiffeq dopri8", "not with --quick") if quick else _torchdiffeq(),
        ),
        claim="floats ≤ 15 µs",
    )


def plateau_in_many_digits(quick: bool) -> Benchmark:
    """Compare times to T_plat at 50 digits (quick: 30)."""
    digits = 30 if quick else 50
    problem = reduced.problem(4, "pi/15", "0.23", "0.13")
    start = reduced.start("3/4", "3/5")
    prepared = PreparedPlateau(problem, digits)
    root = _event(digits)
    return Benchmark(
        f"T_plat of the collapsed model at {digits} digits",
        (
            Contender(
                "reduced, prepared problem",
                lambda: prepared.length(start),
                "root and time at two precisions",
                calls=10,
            ),
            _arb(problem, start, digits),
            Contender(
                "bare mpmath.hyp2f1",
                partial(_special_function, private_context(digits + 15), root, digits),
                "time only, the root given, one precision",
                calls=10,
            ),
            Contender(
                "reduced.timeline",
                lambda: reduced.timeline(problem, start, digits).times["T_plat"],
                "three times, f± there, two precisions",
            ),
            _heyoka_digits(digits),
            Contender(
                "mpmath.odefun",
                partial(_odefun, private_context(digits)),
                f"{_SHARE:.0%} of the way timed, scaled; no root",
                work=_SHARE,
            ),
        ),
        claim="≥ 10⁵ × faster than odefun, ≥ 15 × than heyoka (Arb: ≥ 50 ×)",
    )


def _velocity(
    exp: Callable[[Any], Any], f_plus: Any, f_minus: Any, c: Any, s2: Any, unit: Any = 1
) -> tuple[Any, Any]:
    """Return (ḟ₊, ḟ₋) of Phase II, written out by hand; unit is the number 1 of the arithmetic."""
    plus, minus = 23 * unit / 100, 13 * unit / 100
    P, Q = 4 * unit / 5 * exp(-f_plus), unit / 5 * exp(f_minus)
    return plus * P - plus * c * Q, plus * c * P - (plus + minus * s2) * Q


_C, _S2 = cos(_DELTA), sin(_DELTA) ** 2


def _floats() -> str:
    return repr(plateau_times(4.0, _DELTA, _PLUS, _MINUS, 1.0, *_START).T_plat)


def _heyoka_double() -> Contender | Absent:
    name = "heyoka, double, terminal event"
    if find_spec("heyoka") is None:
        return Absent(name, "heyoka is not installed")
    import heyoka

    first, second = heyoka.make_vars("f_plus", "f_minus")
    rates = _velocity(heyoka.exp, first, second, _C, _S2, 1.0)
    event = heyoka.t_event(second, direction=heyoka.event_direction.negative)
    integrator = heyoka.taylor_adaptive(
        [(first, rates[0]), (second, rates[1])], list(_START), t_events=[event]
    )

    def run() -> str:
        integrator.time, integrator.state[:] = 0.0, _START
        integrator.reset_cooldowns()
        integrator.propagate_until(_FAR)
        return repr(float(integrator.time))

    return Contender(name, run, "integration, event; compiled before", calls=50)


def _heyoka_digits(digits: int) -> Contender | Absent:
    name = "heyoka, multiprecision, terminal event"
    if find_spec("heyoka") is None:
        return Absent(name, "heyoka is not installed")
    import heyoka

    if not hasattr(heyoka, "real"):
        return Absent(name, "this heyoka is built without multiprecision")
    bits = int(3.33 * digits) + 10
    one = heyoka.real(1, bits)
    ctx = private_context(digits + 15)
    c, s2 = (
        heyoka.real(ctx.nstr(x, digits + 10), bits) for x in (ctx.cos(ctx.pi / 15), ctx.sin(ctx.pi / 15) ** 2)
    )
    first, second = heyoka.make_vars("f_plus", "f_minus")
    rates = _velocity(heyoka.exp, first, second, c, s2, one)
    event = heyoka.t_event(second, direction=heyoka.event_direction.negative, fp_type=heyoka.real)
    start = [3 * one / 4, 3 * one / 5]
    integrator = heyoka.taylor_adaptive(
        [(first, rates[0]), (second, rates[1])],
        start,
        t_events=[event],
        fp_type=heyoka.real,
        prec=bits,
        compact_mode=True,
    )

    def run() -> str:
        integrator.time, integrator.state[:] = 0 * one, start
        integrator.reset_cooldowns()
        integrator.propagate_until(10_000 * one)
        return str(ctx.nstr(ctx.mpf(str(integrator.time)), digits))

    return Contender(name, lambda: run()[:_SHOWN], f"integration, event at {bits} bits; compiled before")


def _scipy(method: str) -> Contender:
    import numpy as np
    from scipy.integrate import solve_ivp

    def falls(_: float, f: Any) -> float:
        return float(f[1])

    falls.terminal, falls.direction = True, -1  # type: ignore[attr-defined]

    def run() -> str:
        found = solve_ivp(
            lambda _, f: _velocity(np.exp, *f, _C, _S2),
            (0, _FAR),
            _START,
            method=method,
            rtol=_TOLERANCE,
            atol=_TOLERANCE,
            events=falls,
        )
        return repr(float(found.t_events[0][0]))

    return Contender(f"scipy {method} with event", run, f"rtol = atol = {_TOLERANCE:g}")


def _diffrax(solver: str) -> Contender | Absent:
    name = f"diffrax {solver} with event"
    if find_spec("diffrax") is None:
        return Absent(name, "diffrax is not installed")
    import diffrax
    import jax
    import jax.numpy as jnp
    import optimistix

    jax.config.update("jax_enable_x64", True)
    event = diffrax.Event(lambda t, y, args, **_: y[1], optimistix.Newton(_TOLERANCE, _TOLERANCE))
    term = diffrax.ODETerm(lambda t, y, args: jnp.stack(_velocity(jnp.exp, *y, _C, _S2)))

    @jax.jit
    def length(start: Any) -> Any:
        return diffrax.diffeqsolve(
            term,
            getattr(diffrax, solver)(),
            0.0,
            _FAR,
            0.01,
            start,
            stepsize_controller=diffrax.PIDController(_TOLERANCE, _TOLERANCE),
            event=event,
            max_steps=100_000,
        ).ts[-1]

    start = jnp.array(_START)
    length(start)  # compiles
    return Contender(
        name, lambda: repr(float(length(start))), f"jitted; rtol = atol = {_TOLERANCE:g}", calls=5
    )


def _torchdiffeq() -> Contender | Absent:
    name = "torchdiffeq dopri8 with event"
    missing = [module for module in ("torch", "torchdiffeq") if find_spec(module) is None]
    if missing:
        return Absent(name, f"{missing[0]} is not installed")
    import torch
    import torchdiffeq

    def run() -> str:
        time, _ = torchdiffeq.odeint_event(
            lambda _, f: torch.stack(_velocity(torch.exp, f[0], f[1], _C, _S2)),
            torch.tensor(_START, dtype=torch.float64),
            torch.tensor(0.0, dtype=torch.float64),
            event_fn=lambda _, f: f[1],
            method="dopri8",
            rtol=1e-11,
            atol=1e-11,
        )
        return repr(float(time))

    return Contender(name, run, "rtol = atol = 1e-11")


def _arb(problem: reduced.Problem, start: reduced.Start, digits: int) -> Contender | Absent:
    name = "reduced, prepared problem in Arb balls"
    if find_spec("flint") is None:
        return Absent(name, "python-flint is not installed")
    from reduced.solve.enclosure import PreparedPlateau as PreparedEnclosure

    prepared = PreparedEnclosure(problem, digits)
    return Contender(
        name, lambda: str(prepared.enclose(start).mid)[:_SHOWN], "root and time proved, a radius", calls=20
    )


def _event(digits: int) -> Any:
    """Return z = 1 − r/r∞ at T_plat, found once from the elementary equation f₋ = 0."""
    ctx = private_context(digits + 15)
    _, _, b, y0, z0 = _exponents(ctx)
    lean = ctx.cos(ctx.pi / 15) / (1 + ctx.cos(ctx.pi / 15))

    def f_minus(x: Any) -> Any:
        z = z0 * ctx.exp(-x)
        return ctx.mpf(3) / 5 + lean * ctx.log((1 - z) / y0) + b * x

    return z0 * ctx.exp(-ctx.findroot(f_minus, (5, 40), solver="anderson"))


def _exponents(ctx: Any) -> tuple[Any, ...]:
    """Return g P₀, a, b, y₀ and z₀ of the closed form (theory of the plateau's length)."""
    plus, minus, c = ctx.mpf(23) / 100, ctx.mpf(13) / 100, ctx.cos(ctx.pi / 15)
    A, B, C, D = plus, plus * c, plus * c, plus + minus * (1 - c * c)
    g, h, a = A + C, B + D, A / (A + C)
    P0, Q0 = 4 * ctx.exp(ctx.mpf(-3) / 4) / 5, ctx.exp(ctx.mpf(3) / 5) / 5
    y0 = Q0 * h / (P0 * g)
    return g * P0, a, B / h - a, y0, 1 - y0


def _special_function(ctx: Any, z: Any, digits: int) -> str:
    """Evaluate T = y₀^{−a} z₀^{−b}/(g P₀) [𝔅(z₀) − 𝔅(z)] with 𝔅(z) = z^b/b ₂F₁(b, 1−a; 1+b; z)."""
    gP0, a, b, y0, z0 = _exponents(ctx)
    ends = [x**b / b * ctx.hyp2f1(b, 1 - a, 1 + b, x) for x in (z0, z)]
    return str(ctx.nstr(y0**-a * z0**-b / gP0 * (ends[0] - ends[1]), digits))


def _odefun(ctx: Any) -> str:
    c = ctx.cos(ctx.pi / 15)
    flow = ctx.odefun(
        lambda _, f: list(_velocity(ctx.exp, *f, c, 1 - c * c, ctx.one)), 0, [ctx.mpf(3) / 4, ctx.mpf(3) / 5]
    )
    return f"f₋({291 * _SHARE:.2f}) = {ctx.nstr(flow(291 * _SHARE)[1], 12)}"

"""The collapsed model: each living group one particle, Phases II → III → IV from a given state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log10
from typing import Any

from reduced.errors import InputError
from reduced.numbers import Exact, cos, decimal_string, exact, sign, sin
from reduced.records import Loss, Outcome, Problem, Regime, Start, Timeline
from reduced.solve.flow import DEAD, Flow, Geometry, Particle, exact_flow
from reduced.solve.generated import regime_bounds
from reduced.solve.pieces import ClosedForm, Pieces
from reduced.solve.promise import keep_promise, private_context

PLUS, MINUS = "K+", "K-"
EVENTS = ("T_plat", "T_II", "T_III")
# With so many digits, one after the other, two numbers are told apart.
_DECIDING_DIGITS = (15, 60, 240, 1200)


@dataclass(frozen=True)
class Moments:
    """The three times of a timeline as mpf values, with (f₊, f₋) there (None when the time is infinite).

    ``both_live`` tells whether each sign keeps a living group.
    """

    times: dict[str, Any]
    predictions: dict[str, tuple[Any, Any] | None]
    both_live: bool

    def numbers(self) -> list[Any]:
        """Return every number that must be right."""
        return list(self.times.values()) + [
            f for pair in self.predictions.values() for f in pair or (None, None)
        ]


def regime(problem: Problem, sign: Callable[[Exact], int] = sign) -> Regime | None:
    """Return the regime by α = α₋/α₊ against c and 1/c, None when one group is empty.

    Arguments: problem; sign, which decides the sign of an exact number. Derived here.
    """
    if not sign(problem.alpha_plus) or not sign(problem.alpha_minus):
        return None
    lower, upper = _excesses(problem)
    if sign(lower) < 0:
        return Regime.FOUR_PHASE
    return Regime.THREE_PHASE if sign(upper) < 0 else Regime.TWO_PHASE


def _excesses(problem: Problem) -> tuple[Exact, Exact]:
    """Return by how much α₋ exceeds α₊ times each derived regime bound."""
    lower, upper = regime_bounds(cos(problem.delta))
    return problem.alpha_minus - lower * problem.alpha_plus, problem.alpha_minus - upper * problem.alpha_plus


def timeline(problem: Problem, start: Start, digits: int = 30) -> Timeline:
    """Solve the collapsed model exactly and return its times and predictions, every digit right.

    Arguments: problem (exponential loss); start, the state at flow time 0; digits, significant digits of
    every number. Returns a Timeline with decimal strings. Raises InputError for another loss or a state no
    network can be in. Source: the phases of Theorems 4.4–4.8; their closed form is derived here.
    """
    require_exponential(problem)
    check_state(problem, start)
    found = keep_promise(
        lambda ctx: moments(collapsed_flow(ctx, problem, start)),
        Moments.numbers,
        digits,
        guard_digits(problem, start),
    )
    return timeline_record(problem, start, found, "exact", digits)


def timeline_record(problem: Problem, start: Start, found: Moments, method: str, digits: int) -> Timeline:
    """Turn computed moments into the Timeline that leaves the package, with its outcome."""
    return Timeline(
        problem,
        start,
        regime(problem) if found.both_live else None,
        {name: decimal_string(value, digits) for name, value in found.times.items()},
        {
            name: None if pair is None else (decimal_string(pair[0], digits), decimal_string(pair[1], digits))
            for name, pair in found.predictions.items()
        },
        method,
        outcome_of(problem, start, found),
        digits,
    )


def require_exponential(problem: Problem, method: str = "exact") -> None:
    """Raise InputError unless the loss is exponential: only then the closed form, which a method needs, exists."""
    if problem.loss is not Loss.EXP:
        raise InputError("method", method, f"taylor: loss {problem.loss.value} has no closed form")


def check_state(problem: Problem, start: Start) -> None:
    """Raise InputError when a prediction is given to a group that has no neurons."""
    if not sign(problem.alpha_minus) and sign(start.f_minus_negative):
        raise InputError("f_minus_negative", start.f_minus_negative, "0, because alpha_minus is 0")
    if not sign(problem.alpha_plus):
        for name, value in (("f_plus", start.f_plus), ("f_minus", start.f_minus - start.f_minus_negative)):
            if sign(value):
                raise InputError(name, value, "no share of K₊, because alpha_plus is 0")


@dataclass(frozen=True)
class Quantities:
    """The numbers of a problem and a start in one context: c = cos Δ, s² = sin² Δ, f₋ also by groups."""

    p: Any
    c: Any
    s2: Any
    alpha_plus: Any
    alpha_minus: Any
    kappa2: Any
    f_plus: Any
    f_minus: Any
    share_plus: Any
    share_minus: Any


def quantities(ctx: Any, problem: Problem, start: Start) -> Quantities:
    """Evaluate a problem and a start in a private context."""
    numbers = (
        problem.p,
        cos(problem.delta),
        sin(problem.delta) ** 2,
        problem.alpha_plus,
        problem.alpha_minus,
        problem.kappa2,
        start.f_plus,
        start.f_minus,
        start.f_minus - start.f_minus_negative,
        start.f_minus_negative,
    )
    return Quantities(*(number.evaluate(ctx) for number in numbers))


def collapsed_flow(ctx: Any, problem: Problem, start: Start, pieces: Pieces | None = None) -> Flow:
    """Return the flow of the two groups from a state, in a private mpmath context (default: closed form)."""
    return flow_of_groups(ctx, quantities(ctx, problem, start), problem, start, pieces or ClosedForm())


def flow_of_groups(ctx: Any, given: Quantities, problem: Problem, start: Start, pieces: Pieces) -> Flow:
    """Return the flow of the two groups with the given numbers; problem and start decide what is exactly 0."""
    p = given.p
    geometry = Geometry(given.c, given.s2, p / (1 + p), 1 / (1 + p), given.kappa2**2)
    predictions = given.f_plus, given.f_minus
    forces = pieces.forces(ctx, geometry.weights, predictions)
    particles = _particles(ctx, given, problem, start, geometry, forces)
    return exact_flow(ctx, geometry, particles, predictions, pieces=pieces)


def _particles(
    ctx: Any,
    given: Quantities,
    problem: Problem,
    start: Start,
    geometry: Geometry,
    forces: tuple[Any, Any],
) -> list[Particle]:
    """Return the two groups as particles in the pattern that the state calls for."""
    P, Q = forces
    particles = []
    if sign(problem.alpha_plus):
        mass = given.alpha_plus
        slides = not sign(start.f_minus - start.f_minus_negative) and geometry.c * P <= Q
        u, v = (f / (geometry.scale * mass) for f in (given.f_plus, given.share_plus))
        particles.append(Particle(PLUS, 1, mass, u, v, "+0" if slides else "++"))
    if sign(problem.alpha_minus):
        mass = given.alpha_minus
        v = -given.share_minus / (geometry.scale * mass)
        particles.append(Particle(MINUS, -1, mass, ctx.zero, v, "++" if geometry.c * Q > P else "0+"))
    return particles


def moments(flow: Flow) -> Moments:
    """Return T_plat, T_II and T_III of a collapsed flow with the predictions there."""
    ctx = flow.ctx
    labels = living_groups(flow)
    times = dict.fromkeys(EVENTS, ctx.inf)
    at: dict[str, tuple[Any, Any] | None] = dict.fromkeys(EVENTS)
    if PLUS in labels:
        times["T_II"] = _switch_time(flow, PLUS, "+0")
    if labels == {PLUS, MINUS}:
        times["T_III"] = _switch_time(flow, MINUS, "++")
        if flow.final_sign(1) < 0:
            times["T_plat"], at["T_plat"] = _end_of_plateau(flow)
    for name in ("T_II", "T_III"):
        if times[name] < ctx.inf:
            at[name] = predictions_of_groups(flow, *flow.locate(times[name]))
    return Moments(times, at, labels == {PLUS, MINUS})


def living_groups(flow: Flow) -> set[int | str]:
    """Return the labels of the groups that live on for ever."""
    return {label for label, stays in flow.stays.items() if stays[-1].pattern != DEAD}


def _end_of_plateau(flow: Flow) -> tuple[Any, tuple[Any, Any]]:
    """Return when f₋ last falls through 0, with (f₊, f₋) there; the start if it never does."""
    falls = [(index, q) for index, q, direction in flow.crossings(1) if direction < 0]
    if not falls:
        return flow.ctx.zero, predictions_of_groups(flow, 0, flow.ctx.zero)
    index, q = falls[-1]
    return flow.time(index, q), (predictions_of_groups(flow, index, q)[0], flow.ctx.zero)


def predictions_of_groups(flow: Flow, index: int, q: Any) -> tuple[Any, Any]:
    """Return (f₊, f₋) as the sum of the groups' shares (exact where a group sits on its kink)."""
    f_plus = f_minus = flow.ctx.zero
    for particle in flow.particles:
        pattern, u, v = flow.particle(particle.label, index, q)
        share = particle.sign * particle.mass * flow.geometry.scale
        f_plus += share * u if pattern[0] == "+" else 0
        f_minus += share * v if pattern[1] == "+" else 0
    return f_plus, f_minus


def _switch_time(flow: Flow, label: str, last_pattern: str) -> Any:
    """Return from when on a group keeps a pattern for ever: 0 if from the start on, infinity if it never does."""
    if flow.stays[label][-1].pattern != last_pattern:
        return flow.ctx.inf
    switches = [event.time for event in flow.events if event.neuron == label]
    return switches[-1] if switches else flow.ctx.zero


def outcome_of(problem: Problem, start: Start, found: Moments) -> Outcome:
    """Return how a timeline ended."""
    if not found.both_live:
        return Outcome.PLATEAU_INFINITE
    already = [name for name in EVENTS if found.times[name] == 0]
    if already == ["T_plat"] and not sign(start.f_minus):
        return Outcome.NO_PLATEAU
    return Outcome.ALREADY if already else Outcome.FINISHED


def guard_digits(problem: Problem, start: Start) -> int:
    """Return guard digits for the known cancellations: Δ → 0, and numbers close to where the flow changes.

    These are the regime boundaries, a start on which f₋ = 0 rests, and a start ratio of c or 1/c.
    """
    ctx = private_context(15)
    delta = problem.delta.evaluate(ctx)
    guard = 15 + ceil(4 * max(0.0, -log10(float(delta))))
    lost = [closeness(ctx, gap) for gap in _gaps(problem, start)]
    return guard + max(*lost, *(_closeness_of_ratio(problem, start, side) for side in (1, -1)))


def _closeness_of_ratio(problem: Problem, start: Start, side: int) -> int:
    """Return how many digits of ln r₀ agree with side · ln c, 0 for an equality.

    What so many digits do not tell apart is taken as equal, here as in the flow; no symbols are asked.
    """
    for digits in _DECIDING_DIGITS:
        ctx = private_context(digits)
        terms = [start.f_plus.evaluate(ctx), start.f_minus.evaluate(ctx), -ctx.log(problem.p.evaluate(ctx))]
        gap = abs(ctx.fsum(terms) - side * ctx.log(cos(problem.delta).evaluate(ctx)))
        if gap > ctx.fsum(map(abs, [1, *terms])) * ctx.mpf(10) ** (8 - digits):
            return max(0, int(-ctx.log10(gap)) + 1)
    return 0


def _gaps(problem: Problem, start: Start) -> list[Exact]:
    """Return the differences whose sign decides what happens; exact zeros are left out."""
    c, s2 = cos(problem.delta), sin(problem.delta) ** 2
    plus, minus, p = problem.alpha_plus, problem.alpha_minus, problem.p
    gaps = [*_excesses(problem), exact(1)]
    if not sign(start.f_minus):
        ratio = Exact("exp", (start.f_plus,)) / p if sign(start.f_plus) else 1 / p
        gaps.append(c * plus - (plus + minus * s2) * ratio)
    return [gap for gap in gaps if sign(gap)]


def closeness(ctx: Any, gap: Exact) -> int:
    """Return how many digits a difference loses by being near 0."""
    value = abs(gap.evaluate(ctx))
    return 0 if value >= 1 else int(-ctx.log10(value)) + 1

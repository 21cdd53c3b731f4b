"""The whole network on any small data set, every neuron its own particle, to any number of digits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import floor, log10
from typing import Any

from reduced.errors import InputError
from reduced.numbers import Exact, ExactLike, exact, sign
from reduced.records import Event, Loss, Outcome
from reduced.shown import shown
from reduced.solve.flow import Ridge
from reduced.solve.general.flow import GeneralFlow, Particle, general_flow
from reduced.solve.general.motion import Motions, State
from reduced.solve.general.points import Points, points
from reduced.solve.promise import check_digits, keep_promise, private_context

# Flows lose two or three digits; but what counts as equal depends on the working precision, so it is never low.
_GUARD, _LEAST_DIGITS = 12, 35


@dataclass(frozen=True)
class GeneralRun:
    """An exact flow on N points; numbers are mpf.

    events in order; accuracy_changes, (time, weight of the right points from then on) from time 0 on; living,
    whether each neuron is not inactive on every point at the end; final, the predictions at the end; outcome;
    flow, for predictions, patterns and distances at any time.
    """

    flow: GeneralFlow
    weights: tuple[Any, ...]
    labels: tuple[int, ...]

    __repr__ = shown

    @property
    def events(self) -> tuple[Event, ...]:
        """Every switch in order."""
        return self.flow.events

    @property
    def outcome(self) -> Outcome:
        """How the flow ended."""
        return self.flow.outcome

    @cached_property
    def living(self) -> tuple[bool, ...]:
        """Whether each particle is alive at the end."""
        return tuple(set(pattern) != {"-"} for pattern in self.flow.patterns(self.flow.end))

    @cached_property
    def final(self) -> tuple[Any, ...]:
        """The predictions at the end."""
        return self.flow.at(self.flow.end)

    @cached_property
    def accuracy_changes(self) -> tuple[tuple[Any, Any], ...]:
        """(time, accuracy from then on): the weight of the points with y f > 0."""
        changes = sorted(
            (t, j, sign_then * label > 0)
            for j, label in enumerate(self.labels)
            for t, sign_then in self.flow.prediction_changes(j)
        )
        right = [False] * len(self.labels)
        found: list[tuple[Any, Any, tuple[bool, ...]]] = []
        for t, j, is_right in changes:
            right[j] = is_right
            if found and found[-1][0] == t:
                found.pop()
            if not found or found[-1][2] != tuple(right):
                level = self.flow.ctx.fsum(w for w, ok in zip(self.weights, right, strict=True) if ok)
                found.append((t, level, tuple(right)))
        return tuple((t, level) for t, level, _ in found)

    def numbers(self) -> list[Any]:
        """Return every number that must be right."""
        return [
            *(event.time for event in self.events),
            *(t for t, _ in self.accuracy_changes),
            *self.final,
        ]


def network_flow_general(
    W: Any,
    sign: Sequence[int],
    X: Any,
    y: Sequence[int],
    weights: Sequence[ExactLike] | None = None,
    *,
    kappa2: ExactLike = 1,
    loss: Loss | str = Loss.EXP,
    digits: int = 30,
    until: ExactLike,
    ridge: Ridge | None = None,
    max_events: int | None = None,
) -> GeneralRun:
    """Solve the gradient flow of an m-neuron network on N points, every event, all digits right.

    Arguments: W (m, d) and sign (m,) ±1, initial weights; X (N, d), y (N,) ±1, weights (N,) (default 1/N);
    kappa2 > 0, the output weights are sign κ₂/√m; loss ``exp`` or ``logistic``; digits of every event time;
    until > 0; ridge, the choice on repelling kinks; max_events, a budget. Floats stand for their exact binary
    values. Returns a GeneralRun. Raises InputError, NotUnique. Derived here.
    """
    start = network_start(W, sign, X, y, weights)
    return solve_from(
        start, kappa2=kappa2, loss=loss, digits=digits, until=until, ridge=ridge, max_events=max_events
    )


def network_start(
    W: Any,
    sign: Sequence[int],
    X: Any,
    y: Sequence[int],
    weights: Sequence[ExactLike] | None = None,
    patterns: Sequence[str] | None = None,
    f: Sequence[ExactLike] | None = None,
) -> NetworkStart:
    """Build a checked start: arguments as in :func:`network_flow_general`, and what is known besides.

    patterns (m,), one of ``+ - 0`` for each point (a sliding neuron's ⟨b,x⟩ counts as 0 exactly); f (N,), the
    predictions. Raises InputError.
    """
    data = points(X, y, weights)
    rows = tuple(tuple(exact(x, "W") for x in row) for row in W)
    signs = tuple(int(s) for s in sign)
    if len(rows) != len(signs) or any(s not in (1, -1) for s in signs):
        raise InputError("sign", signs, f"{len(rows)} values +1 or -1")
    if any(len(row) != len(data.X[0]) for row in rows):
        raise InputError("W", f"rows of {len(rows[0])} entries", f"rows of {len(data.X[0])} entries")
    states = None if patterns is None else tuple(_state(data, pattern) for pattern in patterns)
    return NetworkStart(data, rows, signs, states, None if f is None else tuple(exact(x, "f") for x in f))


def _state(data: Points, pattern: str) -> State:
    sides = ("-0+".index(pattern[j]) - 1 for j in data.first)
    return tuple(sides)


@dataclass(frozen=True)
class NetworkStart:
    """Where a flow starts: points, weights (m, d), signs; states and predictions where they are known."""

    data: Points
    W: tuple[tuple[Exact, ...], ...]
    signs: tuple[int, ...]
    states: tuple[State, ...] | None
    f: tuple[Exact, ...] | None

    @cached_property
    def leading_zeros(self) -> int:
        """The decimal zeros in front of the smallest neuron's largest weight."""
        rough = private_context(15)
        sizes = [max(abs(float(x.evaluate(rough))) for x in row) for row in self.W]
        return max(0, 1 - floor(log10(min((size for size in sizes if size), default=1.0))))

    def particles(self, ctx: Any, motions: Motions, kappa2: Any) -> list[Particle]:
        """Return the neurons with Z = ⟨b,x_s⟩√m/κ₂."""
        coordinates = self.data.coordinates(ctx)
        surfaces = [coordinates[j] for j in self.data.first]
        unscale = ctx.sqrt(len(self.W)) / kappa2
        found = []
        for k, row in enumerate(self.W):
            b = [x.evaluate(ctx) for x in row]
            Z = tuple(unscale * ctx.fdot(zip(b, x, strict=True)) for x in surfaces)
            found.append(Particle(k, self.signs[k], Z, None if self.states is None else self.states[k]))
        return found


def solve_from(
    start: NetworkStart,
    *,
    kappa2: ExactLike,
    loss: Loss | str,
    digits: int,
    until: ExactLike,
    ridge: Ridge | None = None,
    max_events: int | None = None,
) -> GeneralRun:
    """Solve a flow from a start at t = 0; arguments and result as in :func:`network_flow_general`."""
    output, end, named = exact(kappa2, "kappa2"), exact(until, "until"), Loss(loss)
    for name, number in (("kappa2", output), ("until", end)):
        if sign(number) <= 0:
            raise InputError(name, number, "a positive number")

    def compute(ctx: Any) -> GeneralRun:
        k2, motions = output.evaluate(ctx), Motions(ctx, start.data)
        particles = start.particles(ctx, motions, k2)
        scale = k2**2 / len(particles)
        f = (
            [
                scale * ctx.fsum(p.sign * _active(p, motions, j) for p in particles)
                for j in range(motions.size)
            ]
            if start.f is None
            else [x.evaluate(ctx) for x in start.f]
        )
        flow = general_flow(motions, particles, f, scale, named, end.evaluate(ctx), ridge, max_events)
        weights = tuple(w.evaluate(ctx) for w in start.data.weights)
        return GeneralRun(flow, weights, start.data.labels)

    guard = max(_GUARD, _LEAST_DIGITS - check_digits(digits)) + start.leading_zeros
    return keep_promise(compute, GeneralRun.numbers, digits, guard)


def _active(particle: Particle, motions: Motions, point: int) -> Any:
    """Return max(⟨b,x⟩, 0)/|a| at a point."""
    return max(motions.factor[point] * particle.Z[motions.points.of_point[point]], 0)

"""The gradient flow of particles on N points, event by event, at any precision.

Every particle is one neuron. All particles of one sign and state move by one displacement, linear in the impulses
S = ∫U dt, so a smooth piece is the prediction system ḟ = K U alone: Taylor steps, and every event the root of a
polynomial. Since the forces are positive, impulses only grow: a kink that is farther away than they can carry a
particle in the step is out of reach for certain, and only the others are looked at. Derived here.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import add
from typing import Any

from reduced.errors import BudgetExceeded
from reduced.records import Event, Loss, Outcome
from reduced.shown import shown
from reduced.solve.flow import Ridge
from reduced.solve.general.crowds import Crowd
from reduced.solve.general.decision import settle, value
from reduced.solve.general.motion import Motions, State
from reduced.solve.general.watch import Lookout, Watch
from reduced.solve.generated import FORCE_LAW
from reduced.solve.integrator import force, predictions
from reduced.solve.outline import Outline
from reduced.solve.polynomial import Polynomial
from reduced.solve.step import Kernel, Step

MAX_STEPS = 200_000


@dataclass(frozen=True)
class Particle:
    """A neuron at the start: label, sign ±1, Z (n,) = ⟨b,x_s⟩/|a| on the surfaces, and its state if known.

    A state that is given is kept (its sliding surfaces count as Z = 0 exactly); otherwise it is decided.
    """

    label: int
    sign: int
    Z: tuple[Any, ...]
    state: State | None = None


@dataclass(frozen=True)
class Segment:
    """A step, the part of it used (τ from 0 to used), the matrix K there and f at its start."""

    step: Step
    used: Any
    matrix: tuple[tuple[Any, ...], ...]
    f: tuple[Any, ...]

    @property
    def end(self) -> Any:
        """The time at which the used part ends."""
        return self.step.time(self.used)

    def predictions(self, tau: Any) -> tuple[Any, ...]:
        """Return f (N,) at τ."""
        return predictions(self.step.ctx, self.matrix, self.f, self.step.gained(tau))

    def prediction_form(self, point: int) -> Polynomial:
        """Return f at one point as a polynomial in τ."""
        return self.step.impulse_form(self.f[point], self.matrix[point])

    def certain_sign(self, point: int) -> int:
        """Return the sign that f at a point keeps all along for certain, or 0 when doubles do not tell."""
        f = float(self.f[point])
        sign = int(f > 0) - int(f < 0)
        row = [sign * float(x) for x in self.matrix[point]]
        return sign if sign and self._outline.fall(abs(f), row) is None else 0

    @cached_property
    def _outline(self) -> Outline:
        return self.step.outline_of_impulses(self.used)


@dataclass(frozen=True)
class Stay:
    """What a particle does from one of its events on: time, state, and Z = base + velocity·S of its motion."""

    time: Any
    state: State
    base: tuple[Any, ...]


@dataclass(frozen=True)
class GeneralFlow:
    """A finished flow: segments, events in order, every particle's stays."""

    ctx: Any
    motions: Motions
    particles: tuple[Particle, ...]
    segments: tuple[Segment, ...]
    events: tuple[Event, ...]
    stays: dict[int, tuple[Stay, ...]]
    outcome: Outcome

    __repr__ = shown

    @property
    def end(self) -> Any:
        """The time up to which the flow is known."""
        return self.segments[-1].end

    def at(self, t: Any) -> tuple[Any, ...]:
        """Return the predictions f (N,) at a time in [0, end]."""
        segment, tau = self._locate(t)
        return segment.predictions(tau)

    def patterns(self, t: Any) -> list[str]:
        """Return every particle's pattern at a time, after the events at it."""
        return [self.motions.pattern(self._stay(particle, t).state) for particle in self.particles]

    def distances(self, t: Any) -> list[tuple[Any, ...]]:
        """Return every particle's Z (n,) at a time."""
        segment, tau = self._locate(t)
        S = segment.step.impulses(tau)
        found = []
        for particle in self.particles:
            stay = self._stay(particle, t)
            velocity = self.motions.motion(particle.sign, stay.state).velocity
            found.append(predictions(self.ctx, velocity, stay.base, S))
        return found

    def prediction_changes(self, point: int) -> list[tuple[Any, int]]:
        """Return (time, sign of f at the point from then on), beginning at time 0."""
        found: list[tuple[Any, int]] = [(self.ctx.zero, int(self.ctx.sign(self.segments[0].f[point])))]
        for segment in self.segments:
            inside: list[tuple[Any, int]] = []
            if not any(segment.matrix[point]):
                first = int(self.ctx.sign(segment.f[point]))
            elif certain := segment.certain_sign(point):
                first = certain
            else:
                form = segment.prediction_form(point)
                inside = list(form.sign_changes(self.ctx.zero, segment.used))
                first = -inside[0][1] if inside else form.sign(segment.used)
                first = first or found[-1][1]
            for t, sign in (
                (segment.step.t0, first),
                *((segment.step.time(tau), sign) for tau, sign in inside),
            ):
                if found[-1][0] == t:
                    found.pop()
                if not found or found[-1][1] != sign:
                    found.append((t, sign))
        return found

    def _locate(self, t: Any) -> tuple[Segment, Any]:
        index = bisect_right(self.segments, t, key=lambda segment: segment.step.t0) - 1
        segment = self.segments[max(index, 0)]
        return segment, min(segment.step.tau(t), segment.used)

    def _stay(self, particle: Particle, t: Any) -> Stay:
        stays = self.stays[particle.label]
        return stays[max(bisect_right(stays, t, key=lambda stay: stay.time) - 1, 0)]


def general_flow(
    motions: Motions,
    particles: Sequence[Particle],
    f: Sequence[Any],
    scale: Any,
    loss: Loss,
    until: Any,
    ridge: Ridge | None = None,
    max_events: int | None = None,
) -> GeneralFlow:
    """Solve the flow of particles from t = 0 to ``until`` > 0.

    Arguments: motions, the geometry at one precision; particles; f (N,), predictions at t = 0; scale, κ₂²/m;
    loss; ridge, the choice on repelling kinks; max_events, a budget (outcome ``budget``). Returns a
    GeneralFlow. Raises NotUnique; BudgetExceeded beyond 200 000 steps.
    """
    run = _Run(motions, loss, scale, until, tuple(f), ridge)
    run.gather(particles)
    outcome = Outcome.FINISHED
    while run.t < until:
        if max_events is not None and len(run.events) >= max_events:
            outcome = Outcome.BUDGET
            break
        if len(run.segments) >= MAX_STEPS:
            raise BudgetExceeded(f"the flow needs more than {MAX_STEPS} Taylor steps")
        run.advance()
    stays = {label: tuple(found) for label, found in run.stays.items()}
    return GeneralFlow(
        motions.ctx, motions, tuple(particles), tuple(run.segments), tuple(run.events), stays, outcome
    )


@dataclass(eq=False)
class _Run:
    """A flow under way."""

    motions: Motions
    loss: Loss
    scale: Any
    until: Any
    f: tuple[Any, ...]
    ridge: Ridge | None
    crowds: dict[tuple[int, State], Crowd] = field(default_factory=dict)
    signs: dict[int, int] = field(default_factory=dict)
    segments: list[Segment] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    stays: dict[int, list[Stay]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin at t = 0 with no impulse."""
        self.ctx = self.motions.ctx
        self.t = self.ctx.zero
        self.S = (self.ctx.zero,) * self.motions.size
        self.weights = [w.evaluate(self.ctx) for w in self.motions.points.weights]
        self.unit: Any | None = None

    def forces(self) -> tuple[Any, ...]:
        """Return U (N,) now."""
        labels = self.motions.points.labels
        return tuple(
            force(self.ctx, self.loss, w, y * f) for w, y, f in zip(self.weights, labels, self.f, strict=True)
        )

    def gather(self, particles: Sequence[Particle]) -> None:
        """Put every particle into the crowd of its starting state; those on a kink are settled first."""
        U = self.forces()
        for particle in particles:
            self.signs[particle.label] = particle.sign
            state, Z = particle.state, list(particle.Z)
            if state is None:
                state = tuple(int(self.ctx.sign(z)) for z in Z)
                at = [s for s, side in enumerate(state) if side == 0]
                if at:
                    state = settle(self.motions, particle.sign, state, at, U, False, self.ridge)
            self.enter(
                particle.label,
                state,
                [z if side else self.ctx.zero for z, side in zip(Z, state, strict=True)],
            )
        self.refresh()

    def enter(self, label: int, state: State, Z: Sequence[Any]) -> None:
        """Put a particle at Z into the crowd of a state."""
        key = (self.signs[label], state)
        if key not in self.crowds:
            self.crowds[key] = Crowd(self.motions.motion(*key), state)
        velocity = self.crowds[key].motion.velocity
        base = tuple(z - value(self.ctx, row, self.S) for z, row in zip(Z, velocity, strict=True))
        self.crowds[key].enter(label, base)
        self.stays.setdefault(label, []).append(Stay(self.t, state, base))

    def refresh(self) -> None:
        """Bring K up to date, and predictions to exactly 0 where no particle is active."""
        size = self.motions.size
        counts = [(crowd.motion, len(crowd.bases)) for crowd in self.moving()]
        self.matrix = self.motions.matrix(counts, self.scale)
        active = [any(crowd.motion.pattern[i] == "+" for crowd in self.moving()) for i in range(size)]
        self.f = tuple(f if on else self.ctx.zero for f, on in zip(self.f, active, strict=True))
        labels = self.motions.points.labels
        self.kernel = Kernel(self.ctx, self.matrix, labels, tuple(self.weights), FORCE_LAW[self.loss.value])

    def moving(self) -> Iterator[Crowd]:
        """Yield the crowds that are not dead."""
        return (crowd for crowd in self.crowds.values() if not crowd.motion.dead)

    def advance(self) -> None:
        """Add the step that starts here, up to its end, the next event or the end of the flow."""
        U = self.forces()
        unit = self.unit or self.kernel.first_unit(U)
        if not self.kernel.moving:
            unit = self.until - self.t
        lookout = Lookout(self.ctx, self.moving(), self.S)
        step = self.kernel.step(self.t, self.S, U, unit, lambda begun: lookout.forecast(begun, self.until))
        left = step.tau(self.until)
        last = left <= step.length
        used, found = lookout.next_event(step, left if last else step.length)
        gained = step.gained(used)
        self.segments.append(Segment(step, used, self.matrix, self.f))
        self.f = predictions(self.ctx, self.matrix, self.f, gained)
        self.S = tuple(map(add, self.S, gained))
        self.t = self.until if last and not found else step.time(used)
        self.unit = self.kernel.next_unit(step, used)
        if found:
            self.switch(found)

    def switch(self, found: list[Watch]) -> None:
        """Carry out the events of this moment: sliding crowds that leave, and arrivals at kinks."""
        arrivals: dict[int, set[int]] = {}
        for one in found:
            if one.side is None:
                side, s = one.crowd.state[one.surface], one.surface
                offset = value(self.ctx, one.crowd.motion.velocity[s], self.S)
                for label, base in one.crowd.bases.items():
                    if side * (base[s] + offset) <= 2 * one.tolerance:
                        arrivals.setdefault(label, set()).add(s)
        leaving = [
            (label, one.surface, one.side)
            for one in found
            if one.side is not None
            for label in one.crowd.bases
        ]
        for label, surface, to in sorted(leaving, key=lambda each: each[0]):
            sign, state = self.signs[label], self.state(label)
            after = tuple(to if s == surface else side for s, side in enumerate(state))
            self.move(label, sign, after, ())
        U = self.forces()
        for label, reached in sorted(arrivals.items()):
            sign, state = self.signs[label], self.state(label)
            at = sorted(reached | self.in_origin(label) | {s for s, side in enumerate(state) if side == 0})
            self.move(label, sign, settle(self.motions, sign, state, at, U, True, self.ridge), tuple(at))
        self.refresh()

    def in_origin(self, label: int) -> set[int]:
        """Return all surfaces if a particle is in the origin of the data, as far as half the digits tell."""
        crowd = self.crowds[self.signs[label], self.state(label)]
        for base, row in zip(crowd.bases[label], crowd.motion.velocity, strict=True):
            size = abs(base) + self.ctx.fsum(abs(x) * total for x, total in zip(row, self.S, strict=True))
            distance = abs(base + value(self.ctx, row, self.S))
            if distance > self.ctx.ldexp(size, -self.ctx.prec // 2):
                return set()
        return set(range(self.motions.count))

    def state(self, label: int) -> State:
        """Return a particle's state now."""
        return self.stays[label][-1].state

    def move(self, label: int, sign: int, after: State, on: Sequence[int]) -> None:
        """Move a particle to another state and log it; on the kinks ``on`` its Z becomes exactly 0."""
        before = self.state(label)
        crowd = self.crowds[sign, before]
        base = crowd.leave(label)
        if not crowd.bases:
            del self.crowds[sign, before]
        Z = predictions(self.ctx, crowd.motion.velocity, base, self.S)
        residual = max((abs(Z[s]) for s in on), default=self.ctx.zero)
        self.enter(label, after, [self.ctx.zero if s in on or before[s] == 0 else z for s, z in enumerate(Z)])
        if after != before:
            old, new = self.motions.pattern(before), self.motions.pattern(after)
            self.events.append(Event(self.t, _kind(before, after, new), label, old, new, residual))


def _kind(before: State, after: State, pattern: str) -> str:
    if set(pattern) == {"-"}:
        return "die"
    if any(old != 0 and new == 0 for old, new in zip(before, after, strict=True)):
        return "slide"
    if any(old == 0 and new != 0 for old, new in zip(before, after, strict=True)):
        return "leave"
    return "cross"

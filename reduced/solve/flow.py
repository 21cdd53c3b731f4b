"""The exact gradient flow of particles on two points: smooth pieces, strung together at events.

A particle is one neuron, or a whole group that moves as one (the collapsed model). Its state is (u, v) =
(⟨b,x₊⟩, ⟨b,x₋⟩)/|a| and a pattern (x₊ then x₋) of ``+`` active, ``-`` inactive, ``0`` sliding. All particles
of one sign and pattern move by the same linear form in S = ∫P dt and R = ∫Q dt, so a particle is remembered
by its intercepts and the next one to reach a kink is the one with the smallest intercept: no time step, no
integration, whatever the number of particles. Derived here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from reduced.records import Event, Outcome
from reduced.shown import shown
from reduced.solve.block import Block, Form, sign_of_sum
from reduced.solve.generated import VELOCITY
from reduced.solve.pieces import ClosedForm, Pieces

Ridge = Literal["active", "inactive", "slide"]
DEAD = "--"
TIE = 24
"""So many of the last bits of a sum of clocks may be rounding where two arrivals are compared."""


class NotUnique(ValueError):
    """A particle starts on a repelling ridge (or at the origin), so the flow has several solutions."""


@dataclass(frozen=True)
class Particle:
    """A particle at the start: sign ±1, mass (1 or α), u, v, and its pattern unless that is to be decided."""

    label: int | str
    sign: int
    mass: Any
    u: Any
    v: Any
    pattern: str | None = None


@dataclass(frozen=True)
class Geometry:
    """The data as the flow sees it: c = cos Δ, s² = sin² Δ, the weights, κ₂² per mass unit."""

    c: Any
    s2: Any
    w_plus: Any
    w_minus: Any
    scale: Any

    @property
    def weights(self) -> tuple[Any, Any]:
        """The weights of x₊ and x₋ in the loss."""
        return self.w_plus, self.w_minus

    def velocity(self, sign: int, pattern: str) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
        """Return (u̇, v̇)/|a| of a particle, each as coefficients on (P, Q)."""
        (uP, uQ), (vP, vQ) = VELOCITY[pattern](self.c, self.s2) if pattern != DEAD else ((0, 0), (0, 0))
        return (sign * uP, sign * uQ), (sign * vP, sign * vQ)


@dataclass(frozen=True)
class Segment:
    """A piece between two events: its start (t, f±, S, R so far), block, length q (None: endless)."""

    t: Any
    f_plus: Any
    f_minus: Any
    S: Any
    R: Any
    block: Block
    length: Any | None

    def predictions(self, q: Any) -> tuple[Any, Any]:
        """Return (f₊, f₋) at path parameter q."""
        return self.block.value(self.prediction_form(0), q), self.block.value(self.prediction_form(1), q)

    def prediction_form(self, point: int) -> Form:
        """Return f₊ (point 0) or f₋ (point 1) as a form along this piece."""
        b = self.block
        return Form(self.f_plus, b.A, -b.B) if point == 0 else Form(self.f_minus, b.C, -b.D)

    def crossings(self, point: int) -> list[tuple[Any, int]]:
        """Return the path parameters at which f₊ or f₋ passes zero inside, with the direction of passing."""
        roots = self.block.roots(self.prediction_form(point))
        return [(q, direction) for q, direction in roots if self.length is None or q <= self.length]


@dataclass(frozen=True)
class Stay:
    """What a particle does from one of its events on: pattern, and u, v = intercept + velocity·(S, R)."""

    segment: int
    pattern: str
    u: Any
    v: Any


@dataclass(frozen=True)
class Flow:
    """A finished flow: segments, events, passages of r = Q/P through c and 1/c, every particle's stays.

    ``ratio_events`` are (t, "c" or "1/c", direction); ``outcome`` is finished or budget.
    """

    ctx: Any
    geometry: Geometry
    particles: tuple[Particle, ...]
    segments: tuple[Segment, ...]
    events: tuple[Event, ...]
    ratio_events: tuple[tuple[Any, str, int], ...]
    stays: dict[int | str, tuple[Stay, ...]]
    outcome: Outcome

    __repr__ = shown

    def locate(self, t: Any) -> tuple[int, Any]:
        """Return (segment index, path parameter) of flow time t ≥ 0 (inside what was computed)."""
        index = max(i for i, segment in enumerate(self.segments) if segment.t <= t)
        segment = self.segments[index]
        return index, segment.block.path_of_time(t - segment.t)

    def predictions(self, t: Any) -> tuple[Any, Any]:
        """Return (f₊, f₋) at flow time t."""
        index, q = self.locate(t)
        return self.segments[index].predictions(q)

    def particle(self, label: int | str, index: int, q: Any) -> tuple[str, Any, Any]:
        """Return (pattern, u, v) of a particle at a place found by :meth:`locate`."""
        segment = self.segments[index]
        stay = [stay for stay in self.stays[label] if stay.segment <= index][-1]
        sign = next(p.sign for p in self.particles if p.label == label)
        S, R = segment.S + segment.block.S(q), segment.R + segment.block.R(q)
        on_u, on_v = self.geometry.velocity(sign, stay.pattern)
        return stay.pattern, _line(stay.u, on_u, S, R), _line(stay.v, on_v, S, R)

    def time(self, index: int, q: Any) -> Any:
        """Return the flow time of a place (segment index, path parameter)."""
        segment = self.segments[index]
        return segment.t + segment.block.elapsed(q)

    def crossings(self, point: int) -> list[tuple[int, Any, int]]:
        """Return where (segment index, q) f₊ (point 0) or f₋ (point 1) passes zero, with the direction.

        A prediction that runs out, its last active neuron gone at the end of a segment, passes nothing there.
        """
        following = [(segment.f_plus, segment.f_minus)[point] for segment in self.segments[1:]]
        return [
            (index, q, direction)
            for index, (segment, then) in enumerate(zip(self.segments, [*following, None], strict=True))
            if then is not self.ctx.zero
            for q, direction in segment.crossings(point)
        ]

    def final_sign(self, point: int) -> int:
        """Return the sign of f₊ or f₋ as t → ∞ (0 when it stays exactly 0), or where a cut flow ends."""
        last = self.segments[-1]
        if last.length is not None:
            return int(self.ctx.sign(last.predictions(last.length)[point]))
        return last.block.limit_sign(last.prediction_form(point))


@dataclass
class _Member:
    """A living particle with its intercepts: u = u0 + (velocity form at cumulative S, R), likewise v."""

    particle: Particle
    u0: Any
    v0: Any


@dataclass
class _State:
    """Everything that changes along the flow; ``level`` is 0 for r < c, 1 for c ≤ r ≤ 1/c, 2 for r > 1/c."""

    ctx: Any
    geometry: Geometry
    pieces: Pieces
    f_plus: Any
    f_minus: Any
    level: int
    t: Any
    S: Any
    R: Any
    groups: dict[tuple[int, str], list[_Member]] = field(default_factory=dict)
    segments: list[Segment] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    ratio_events: list[tuple[Any, str, int]] = field(default_factory=list)
    stays: dict[int | str, list[Stay]] = field(default_factory=dict)

    def rates(self) -> tuple[Any, Any, Any, Any]:
        """Return (A, B, C, D), recomputed from the masses of the living groups."""
        A = B = C = D = self.ctx.zero
        for (_, pattern), members in self.groups.items():
            mass = sum(member.particle.mass for member in members)
            (uP, uQ), (vP, vQ) = self.geometry.velocity(1, pattern)
            if pattern[0] == "+":
                A, B = A + mass * uP, B - mass * uQ
            if pattern[1] == "+":
                C, D = C + mass * vP, D - mass * vQ
        scale = self.geometry.scale
        return A * scale, B * scale, C * scale, D * scale

    def moving(self, velocity: tuple[Any, Any]) -> int:
        """Return the sign of a velocity form, which turns only at the ratio events r = c and r = 1/c."""
        on_P, on_Q = velocity
        if on_P * on_Q >= 0:
            return int(self.ctx.sign(on_P) or self.ctx.sign(on_Q))
        below = self.level < 2 if abs(on_P) > abs(on_Q) else self.level < 1
        return int(self.ctx.sign(on_P)) if below else int(self.ctx.sign(on_Q))

    def enter(self, particle: Particle, pattern: str, u: Any, v: Any) -> None:
        """Put a particle at (u, v) into the group of its pattern from here on."""
        on_u, on_v = self.geometry.velocity(particle.sign, pattern)
        u0, v0 = (
            u - _line(self.ctx.zero, on_u, self.S, self.R),
            v - _line(self.ctx.zero, on_v, self.S, self.R),
        )
        self.stays.setdefault(particle.label, []).append(Stay(len(self.segments), pattern, u0, v0))
        if pattern != DEAD:
            self.groups.setdefault((particle.sign, pattern), []).append(_Member(particle, u0, v0))

    def decide(self, sign: int, pattern: str, coordinate: int, ridge: Ridge | None) -> str:
        """Return the pattern of a particle that sits on the kink of one coordinate (Def H.1, cases I–IV)."""
        active, inactive, slide = (_replace(pattern, coordinate, mark) for mark in "+-0")
        towards_active = self.moving(self.geometry.velocity(sign, active)[coordinate])
        towards_inactive = self.moving(self.geometry.velocity(sign, inactive)[coordinate])
        if towards_active < 0 < towards_inactive:
            return slide
        if towards_active > 0 > towards_inactive:
            if ridge is None:
                raise NotUnique(
                    "a neuron starts on a repelling ridge: choose --ridge active, inactive or slide"
                )
            return {"active": active, "inactive": inactive, "slide": slide}[ridge]
        return active if towards_active + towards_inactive > 0 else inactive


def exact_flow(
    ctx: Any,
    geometry: Geometry,
    particles: Sequence[Particle],
    predictions: tuple[Any, Any],
    until: Any | None = None,
    ridge: Ridge | None = None,
    max_events: int | None = None,
    pieces: Pieces | None = None,
) -> Flow:
    """Solve the flow of particles exactly, event by event.

    Arguments: ctx, a private mpmath context whose precision stays fixed; geometry; particles with their (u,
    v)/|a|; predictions (f₊, f₋) at t = 0; until, the last flow time of interest (None: for ever); ridge, the
    choice on repelling ridges and in the origin, where who comes by moving rests unless it is ``active``;
    max_events, a budget; pieces, how smooth pieces are solved (default: closed form, exponential loss). Returns
    a Flow. Raises NotUnique.
    """
    pieces = pieces or ClosedForm()
    P, Q = pieces.forces(ctx, geometry.weights, predictions)
    level = int(geometry.c * P <= Q) + int(geometry.c * Q > P)
    state = _State(ctx, geometry, pieces, *predictions, level, ctx.zero, ctx.zero, ctx.zero)
    for particle in particles:
        state.enter(particle, _starting_pattern(state, particle, ridge), particle.u, particle.v)
    outcome = Outcome.FINISHED
    while _advance(state, until, ridge):
        if max_events is not None and len(state.events) >= max_events:
            outcome = Outcome.BUDGET
            break
    return Flow(
        ctx,
        geometry,
        tuple(particles),
        tuple(state.segments),
        tuple(state.events),
        tuple(state.ratio_events),
        {label: tuple(stays) for label, stays in state.stays.items()},
        outcome,
    )


def _starting_pattern(state: _State, particle: Particle, ridge: Ridge | None) -> str:
    if particle.pattern is not None:
        return particle.pattern
    marks = ["+" if x > 0 else "-" if x < 0 else "0" for x in (particle.u, particle.v)]
    pattern = "".join(marks)
    if pattern == "00":
        if ridge is None:
            raise NotUnique("a neuron starts at the origin: choose --ridge active, inactive or slide")
        return _leaving_origin(state, particle.sign) if ridge == "active" else DEAD
    if "0" in pattern:
        return state.decide(particle.sign, pattern, pattern.index("0"), ridge)
    return pattern


def _leaving_origin(state: _State, sign: int) -> str:
    """Return the pattern in which a particle leaves the origin."""
    if sign > 0:
        return "++" if state.level == 0 else "+0"
    return "++" if state.level == 2 else "0+"


def _advance(state: _State, until: Any | None, ridge: Ridge | None) -> bool:
    """Add the piece that starts here and pass to the next event; return False when the flow is complete."""
    weights = state.geometry.weights
    forces = state.pieces.forces(state.ctx, weights, (state.f_plus, state.f_minus))
    piece = state.pieces.piece(state.ctx, weights, state.rates(), forces)
    q, ratio_event = _next_ratio_event(state, piece)
    q_ratio, first = q, None
    approaches = list(_approaches(state))
    for approach in approaches:
        nearer = _earlier(piece, approach.distance, q)
        if nearer is not q:
            q, first = nearer, approach
    segment = Segment(state.t, state.f_plus, state.f_minus, state.S, state.R, piece, q)
    state.segments.append(segment)
    if q is None or (until is not None and state.t + piece.elapsed(q) > until):
        return False
    arrivals: dict[Any, list[tuple[_Member, str, int]]] = {}
    for arrival in _arrivals(state, piece, q, approaches, first):
        arrivals.setdefault(arrival[0].particle.label, []).append(arrival)
    state.t = state.t + piece.elapsed(q)
    state.f_plus, state.f_minus = segment.predictions(q)
    state.S, state.R = state.S + piece.S(q), state.R + piece.R(q)
    if ratio_event is not None and q == q_ratio:
        _pass_ratio(state, ratio_event)
    for (member, pattern, coordinate), *second in arrivals.values():
        if second:
            _arrive_in_origin(state, member, pattern, ridge)
        else:
            _arrive(state, member, pattern, coordinate, ridge)
    # without an active neuron a prediction is 0 exactly, not the rounding left over
    state.f_plus, state.f_minus = (
        f if any(pattern[point] == "+" for _, pattern in state.groups) else state.ctx.zero
        for point, f in enumerate((state.f_plus, state.f_minus))
    )
    return True


def _next_ratio_event(state: _State, piece: Block) -> tuple[Any | None, tuple[Any, str, int] | None]:
    """Return the q and the description of the next passing of r through c or 1/c.

    It is at once, q = 0, where r is there already and its level is the one it comes from.
    """
    c, ctx = state.geometry.c, state.ctx
    speed_S, speed_R = piece.speeds(ctx.zero)
    direction = sign_of_sum(ctx, (piece.A + piece.C) * speed_S, -(piece.B + piece.D) * speed_R)
    below, above = (c, "c"), (1 / c, "1/c")
    target = {(0, 1): below, (1, 1): above, (1, -1): below, (2, -1): above}.get((state.level, direction))
    if target is None:
        return None, None
    is_there = sign_of_sum(ctx, piece.ratio(ctx.zero), -target[0]) == 0
    q = ctx.zero if is_there else piece.path_of_ratio(target[0])
    return (None, None) if q is None else (q, (*target, direction))


@dataclass(frozen=True)
class _Approach:
    """A group moving towards the kink of one coordinate, with the distance of its nearest member."""

    distance: Form
    nearest: _Member
    members: list[_Member]
    pattern: str
    coordinate: int


def _approaches(state: _State) -> Iterable[_Approach]:
    """Yield every group and coordinate moving towards its kink."""
    for (sign, pattern), members in state.groups.items():
        velocity = state.geometry.velocity(sign, pattern)
        for coordinate, mark in enumerate(pattern):
            side = {"+": 1, "-": -1}.get(mark, 0)
            if side == 0 or state.moving(velocity[coordinate]) != -side:
                continue
            intercept, nearest = min(
                ((side * (member.u0, member.v0)[coordinate], member) for member in members),
                key=lambda pair: pair[0],
            )
            on_S, on_R = (side * x for x in velocity[coordinate])
            distance = _line(intercept, (on_S, on_R), state.S, state.R)
            form = Form(max(distance, state.ctx.zero), on_S, on_R)
            yield _Approach(form, nearest, members, pattern, coordinate)


def _earlier(piece: Block, form: Form, q: Any | None) -> Any | None:
    """Return the root of a decreasing distance if it comes before q, else q."""
    if form.e0 == 0:
        return piece.ctx.zero
    if q is not None:
        return q if piece.value(form, q) > 0 else next((root for root, _ in piece.roots(form)), q)
    return next((root for root, _ in piece.roots(form)), None)


def _arrivals(
    state: _State, piece: Block, q: Any, approaches: Iterable[_Approach], first: _Approach | None
) -> Iterable[tuple[_Member, str, int]]:
    """Yield the members that are on a kink at q, with pattern and coordinate.

    These are the nearest member of the approach that ends at q, and whoever ties with it to rounding.
    """
    ctx = state.ctx
    for approach in approaches:
        form, coordinate = approach.distance, approach.coordinate
        moved = abs(form.on_S * (state.S + piece.S(q))) + abs(form.on_R * (state.R + piece.R(q)))
        tolerance = (abs(form.e0) + moved) * ctx.ldexp(1, TIE - ctx.prec)
        value = ctx.zero if approach is first else piece.value(form, q)
        if value > tolerance:
            continue
        reach = tolerance - min(value, ctx.zero)
        nearest = approach.nearest
        for member in approach.members:
            ahead = (member.u0 - nearest.u0, member.v0 - nearest.v0)[coordinate]
            if member is nearest or abs(ahead) <= reach:
                yield member, approach.pattern, coordinate


def _pass_ratio(state: _State, event: tuple[Any, str, int]) -> None:
    """Record that r passes c or 1/c and release the sliding groups whose surface no longer attracts."""
    _, name, direction = event
    state.level += direction
    state.ratio_events.append((state.t, name, direction))
    for (sign, pattern), members in list(state.groups.items()):
        if "0" not in pattern:
            continue
        after = state.decide(sign, pattern, pattern.index("0"), None)
        if after != pattern:
            for member in list(members):
                _switch(state, member, pattern, after, "leave")


def _arrive(state: _State, member: _Member, pattern: str, coordinate: int, ridge: Ridge | None) -> None:
    if member not in state.groups.get((member.particle.sign, pattern), []):
        raise NotUnique(
            f"neuron {member.particle.label} reaches both kinks at once, at the origin of the data plane"
        )
    after = state.decide(member.particle.sign, pattern, coordinate, ridge)
    _switch(state, member, pattern, after, _kind(after), coordinate)


def _arrive_in_origin(state: _State, member: _Member, pattern: str, ridge: Ridge | None) -> None:
    """Let a member that falls on both kinks at once rest there, or leave at once where ridge is ``active``."""
    after = _leaving_origin(state, member.particle.sign) if ridge == "active" else DEAD
    _switch(state, member, pattern, after, _kind(after), 0, 1)


def _kind(after: str) -> str:
    """Return the kind of an arrival by the pattern it leads to."""
    return "die" if after == DEAD else "slide" if "0" in after else "cross"


def _switch(state: _State, member: _Member, before: str, after: str, kind: str, *kinks: int) -> None:
    """Move a member to another pattern and log it; the coordinates that reached their kink become exactly 0."""
    particle = member.particle
    state.groups[particle.sign, before].remove(member)
    if not state.groups[particle.sign, before]:
        del state.groups[particle.sign, before]
    on_u, on_v = state.geometry.velocity(particle.sign, before)
    position = [_line(member.u0, on_u, state.S, state.R), _line(member.v0, on_v, state.S, state.R)]
    residual = position[kinks[0]] if kinks else state.ctx.zero
    for coordinate in kinks:
        position[coordinate] = state.ctx.zero
    state.events.append(Event(state.t, kind, particle.label, before, after, residual))
    state.enter(particle, after, *position)


def _line(intercept: Any, velocity: tuple[Any, Any], S: Any, R: Any) -> Any:
    return intercept + velocity[0] * S + velocity[1] * R


def _replace(pattern: str, coordinate: int, mark: str) -> str:
    return pattern[:coordinate] + mark + pattern[coordinate + 1 :]

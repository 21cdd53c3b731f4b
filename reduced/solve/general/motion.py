"""How neurons of one sign and state move on N points (Filippov; the engine's formulas in numbers).

A neuron b with output weight a = sign·|a| is described by Z_s = ⟨b,x_s⟩/|a| for the first point x_s of every
surface. Its state is one number for each surface: +1 where Z > 0, −1 where Z < 0, 0 where it slides on Z = 0.
Its velocity is ḃ/|a| = sign·Σ_s F_s x_s, where the push F_s is the sum of the forces yⱼUⱼ·factorⱼ of the points
active on the neuron's side of the surface, and where it slides whatever keeps it there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from reduced.solve.general.points import Points

_GUARD_BITS = 40

State = tuple[int, ...]
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Exit:
    """While a neuron slides on a surface, row·U has the sign of jump·U; where it gets to 0 it leaves to side."""

    surface: int
    side: int
    row: Row
    jump: Row

    @cached_property
    def rough(self) -> tuple[float, ...]:
        """The row as floats (N,)."""
        return tuple(map(float, self.row))


@dataclass(frozen=True)
class Motion:
    """How all neurons of one sign and state move, linear in the forces U (N,).

    state; push (n, N) on every surface; velocity (n, N): dZ/dt = velocity U; rates, N rows: one neuron adds
    (κ₂²/m) rates U to df/dt, as integers times 2^−bits, empty where it is not active; exits of the sliding
    surfaces; pattern, one of ``+ - 0`` for each point.
    """

    state: State
    push: tuple[Row, ...]
    velocity: tuple[Row, ...]
    rates: tuple[tuple[int, ...], ...]
    exits: tuple[Exit, ...]
    pattern: str

    @cached_property
    def dead(self) -> bool:
        """Whether the neuron is inactive on every point."""
        return set(self.pattern) == {"-"}

    @cached_property
    def rough(self) -> tuple[tuple[float, ...], ...]:
        """The velocity as floats (n, N)."""
        return tuple(tuple(map(float, row)) for row in self.velocity)

    @cached_property
    def sizes(self) -> tuple[tuple[float, ...], ...]:
        """The absolute values of the velocity (n, N)."""
        return tuple(tuple(map(abs, row)) for row in self.rough)

    @cached_property
    def outward(self) -> tuple[tuple[float, ...], ...]:
        """How the velocity leads away from each surface (n, N)."""
        return tuple(tuple(side * x for x in row) for side, row in zip(self.state, self.rough, strict=True))

    @cached_property
    def inward(self) -> tuple[tuple[float, ...], ...]:
        """The part of the velocity that leads towards each surface (n, N), at least 0."""
        return tuple(tuple(max(-x, 0.0) for x in row) for row in self.outward)


class SingularKinks(ArithmeticError):
    """The surfaces slid on are linearly dependent: their multipliers are not unique."""


class Motions:
    """The motions on and between the surfaces of a data set, at one precision."""

    def __init__(self, ctx: Any, points: Points) -> None:
        """Evaluate the geometry of the points in an mpmath context."""
        self.ctx, self.points = ctx, points
        self.count, self.size = len(points.first), len(points.labels)
        self.bits = ctx.prec + _GUARD_BITS
        gram = points.gram(ctx)
        self.gram = [[gram[i][j] for j in points.first] for i in points.first]
        self.factor = [x.evaluate(ctx) for x in points.factor]
        self.force = {side: tuple(self._force(s, side) for s in range(self.count)) for side in (1, -1)}
        self._known: dict[tuple[int, State], Motion] = {}

    def _force(self, surface: int, side: int) -> Row:
        """Return the push on a surface from its active points on that side, as a row on U."""
        points = zip(self.points.of_point, self.factor, self.points.labels, strict=True)
        return tuple(
            factor * label if s == surface and factor * side > 0 else self.ctx.zero
            for s, factor, label in points
        )

    def jump(self, surface: int) -> Row:
        """Return the row of the force on side +1 of a surface less that on side −1."""
        return tuple(a - b for a, b in zip(self.force[1][surface], self.force[-1][surface], strict=True))

    def pattern(self, state: State) -> str:
        """Return the pattern of a state over the data points."""
        sides = (
            state[s] * (1 if factor > 0 else -1)
            for s, factor in zip(self.points.of_point, self.factor, strict=True)
        )
        return "".join("-0+"[side + 1] for side in sides)

    def matrix(self, counts: Iterable[tuple[Motion, int]], scale: Any) -> tuple[Row, ...]:
        """Return K (N, N) = scale · Σ count · rates: integers, so nothing drifts and zeros are exact."""
        total = [[0] * self.size for _ in range(self.size)]
        for motion, count in counts:
            for i, rates in enumerate(motion.rates):
                if rates:
                    total[i] = [x + count * r for x, r in zip(total[i], rates, strict=True)]
        return tuple(tuple(scale * self.ctx.ldexp(x, -self.bits) for x in row) for row in total)

    def motion(self, sign: int, state: State) -> Motion:
        """Return the motion of neurons of that sign in that state (computed once for each).

        Raises SingularKinks when the state slides on linearly dependent surfaces.
        """
        key = (sign, state)
        if key not in self._known:
            self._known[key] = self._motion(sign, state)
        return self._known[key]

    def _motion(self, sign: int, state: State) -> Motion:
        ctx = self.ctx
        if not any(state):
            return self._rest(state)
        sliding = [s for s in range(self.count) if state[s] == 0]
        push: list[Row] = [
            self.force[side][s] if side else (ctx.zero,) * self.size for s, side in enumerate(state)
        ]
        for s, row in zip(sliding, self._balance(sliding, push), strict=True):
            push[s] = row
        velocity = tuple(
            tuple(sign * x for x in self._along(s, sliding, push)) if state[s] else (ctx.zero,) * self.size
            for s in range(self.count)
        )
        pattern = self.pattern(state)
        rates = tuple(
            tuple(int((sign * factor * x).to_fixed(self.bits)) for x in velocity[s]) if mark == "+" else ()
            for mark, s, factor in zip(pattern, self.points.of_point, self.factor, strict=True)
        )
        exits = tuple(
            Exit(
                s,
                side,
                tuple(side * (a - b) for a, b in zip(self.force[side][s], push[s], strict=True)),
                self.jump(s),
            )
            for s in sliding
            for side in (1, -1)
        )
        return Motion(state, tuple(push), velocity, rates, exits, pattern)

    def _rest(self, state: State) -> Motion:
        """Return the motion in the origin of the data, with every multiplier at 0: none."""
        still = tuple((self.ctx.zero,) * self.size for _ in state)
        return Motion(state, still, still, ((),) * self.size, (), self.pattern(state))

    def _along(self, surface: int, sliding: list[int], push: list[Row]) -> Row:
        """Return Σ_r ⟨x_s,x_r⟩ F_r as a row on U: beside kinks a point pushes along its own surface only."""
        row = self.gram[surface]
        return tuple(
            row[own] * push[own][j] + sum(row[r] * push[r][j] for r in sliding if r != own)
            for j, own in enumerate(self.points.of_point)
        )

    def _balance(self, sliding: list[int], push: list[Row]) -> list[Row]:
        """Return the pushes on the sliding surfaces that keep every ⟨ḃ,x_s⟩ there at 0."""
        if not sliding:
            return []
        ctx = self.ctx
        matrix = ctx.matrix([[self.gram[s][r] for r in sliding] for s in sliding])
        target = ctx.matrix([[-x for x in self._along(s, [], push)] for s in sliding])
        if len(sliding) > 1 and abs(ctx.det(matrix)) <= ctx.ldexp(1, -ctx.prec // 2) * _product(
            matrix, len(sliding)
        ):
            raise SingularKinks(f"surfaces {sliding}")
        solved = [ctx.lu_solve(matrix, target[:, j]) for j in range(self.size)]
        return [tuple(column[i] for column in solved) for i in range(len(sliding))]


def _product(matrix: Any, size: int) -> Any:
    result = 1
    for i in range(size):
        result *= matrix[i, i]
    return result

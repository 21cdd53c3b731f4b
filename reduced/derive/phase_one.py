"""Phase I: how a neuron turns, and the fate of every initial direction while the loss is at its start.

(Lem C.1–C.10.) With the loss frozen at f = 0 a neuron moves along straight pieces, so its fate follows from
which of its two coordinates u = ⟨b,x₊⟩, v = ⟨b,x₋⟩ reaches 0 first and from what it does there.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import product

import sympy as sp

from reduced.derive.export import Formula, Formulas
from reduced.derive.filippov import motion
from reduced.derive.network import MINUS, PLUS, TWO_POINTS, NetworkModel, Velocity
from reduced.derive.symbols import (
    Delta,
    DerivationError,
    Expr,
    c,
    in_cosines,
    is_zero,
    latex_name,
    s,
    sign_under_assumption,
    tidy,
)
from reduced.errors import InputError

u, v = sp.symbols("u v", positive=True)
"""The sizes |⟨b,x₊⟩| and |⟨b,x₋⟩| at the start."""

radius = sp.Symbol("r", positive=True)
"""The norm ‖b‖."""


@dataclass(frozen=True, repr=False)
class PolarMotion(Formulas):
    """A neuron's motion split into its norm's and its direction's (Lem C.1).

    Fields: radial, d‖b‖/dt; tangential, the rates of ωᵢ = ⟨b,xᵢ⟩/‖b‖, both in the ωᵢ (``directions``) and r
    = ‖b‖.
    """

    directions: tuple[Expr, ...]
    radial: Expr
    tangential: tuple[Expr, ...]

    def formulas(self) -> tuple[Formula, ...]:
        """Return d‖b‖/dt and the rates of the direction's coordinates."""
        turning = (
            Formula(f"d{omega.name}", rf"\dot{{{latex_name(omega.name)}}}", rate)
            for omega, rate in zip(self.directions, self.tangential, strict=True)
        )
        return (Formula("dr", r"\dot r", self.radial), *turning)


def polar_motion(velocity: Velocity) -> PolarMotion:
    """Split a velocity ḃ = Σ cᵢxᵢ into the rate of ‖b‖ and of the direction b/‖b‖.

    d‖b‖/dt = ⟨ḃ,ω⟩ and ω̇ = (ḃ − ⟨ḃ,ω⟩ω)/‖b‖, seen through ωᵢ = ⟨ω,xᵢ⟩. Arguments: velocity. Returns the
    PolarMotion. Checked: d(rωᵢ)/dt = ⟨ḃ,xᵢ⟩; raises DerivationError if that fails. Source: Lem C.1.
    """
    directions = tuple(sp.Symbol(f"omega_{name}", real=True) for name in velocity.data.names)
    radial = tidy(sum(ci * omega for ci, omega in zip(velocity.coefficients, directions, strict=True)))
    tangential = tuple(
        (tidy(velocity.along(i)) - omega * radial) / radius for i, omega in enumerate(directions)
    )
    for i, omega in enumerate(directions):
        if not is_zero(radial * omega + radius * tangential[i] - velocity.along(i)):
            raise DerivationError("the radial and tangential parts do not add up to the velocity")
    return PolarMotion(directions, radial, tangential)


class Fate(StrEnum):
    """What becomes of a neuron in Phase I."""

    JOINS_K_PLUS = "joins K_plus"
    JOINS_K_MINUS = "joins K_minus"
    DIES = "dies"


@dataclass(frozen=True)
class Step:
    """One switch: ``cross``, ``slide`` or ``die`` on a point's kink, when, and the pattern after it."""

    kind: str
    point: int
    time: Expr
    pattern: str


@dataclass(frozen=True)
class Course(Formulas):
    """The course of the initial directions of one class: output sign, pattern, and a condition on u and v.

    Fields: condition, an inequality in u and v (true when the class has one fate only); steps, the switches
    in order; fate; exit_time, when the fate is sealed, for output weights ±κ₂/√m and initial sizes u, v.
    """

    sign: int
    pattern: str
    condition: Expr
    steps: tuple[Step, ...]
    fate: Fate
    exit_time: Expr

    def formulas(self) -> tuple[Formula, ...]:
        """Return the exit time."""
        return (Formula("exit_time", r"t_{\mathrm{exit}}", self.exit_time),)


@dataclass(frozen=True)
class _Place:
    """Where a neuron is on its way: time, pattern, and the sizes of its coordinates (0 where it slides)."""

    time: Expr
    pattern: str
    sizes: tuple[Expr, Expr]


@cache
def courses(sign: int, pattern: str, model: NetworkModel | None = None) -> tuple[Course, ...]:
    """Derive the fate and exit time of a class of initial directions with the loss frozen at f = 0.

    Arguments: sign ±1 of the output weight; pattern over (x₊, x₋), each ``+`` or ``-``. Returns one Course,
    or one for each of two branches when it depends on u and v which coordinate reaches 0 first. Every sign
    is decided from p cos Δ > 1 alone. Raises InputError for a model whose inactive neurons move or that has
    other data than two points. Source: Lem C.3–C.10; derived here by walking the pieces.
    """
    if model and (model.data.size != TWO_POINTS.size or model.activation.slope_at_kink(False) != 0):
        raise InputError(
            "model", model.activation.inactive, "two points and an activation that is 0 below its kink"
        )
    if pattern not in ("++", "+-", "-+", "--"):
        raise InputError("pattern", pattern, "two of + and -")
    walk = _Walk(model or NetworkModel(), sign)
    start = _Place(sp.Integer(0), pattern, (u, v))
    return tuple(
        Course(sign, pattern, condition, steps, _fate(sign, end.pattern), tidy(end.time))
        for condition, steps, end in walk.from_place(start, sp.true, ())
    )


def all_courses(model: NetworkModel | None = None) -> tuple[Course, ...]:
    """Derive the courses of all eight classes of initial direction.

    Arguments: model, the network (default: the paper's). Returns the courses, by sign and pattern. Raises
    InputError as :func:`courses` does. Source: Lem C.3–C.10.
    """
    classes = product((1, -1), ("++", "+-", "-+", "--"))
    return tuple(course for sign, pattern in classes for course in courses(sign, pattern, model))


def living_fractions(model: NetworkModel | None = None) -> tuple[Expr, Expr]:
    """Derive the expected fractions (α₊, α₋) of the neurons that join K₊ and K₋ as κ₁ → 0.

    Signs are fair coins and directions uniform; a course starts in a wedge of the plane of u and v, whose
    angle over 2π is its probability. Arguments: model, the network (default: the paper's). Returns (α₊, α₋) in
    p and Δ. Derived here from the fates.
    """
    found = all_courses(model)
    plus, minus = (
        sum(_wedge(course) for course in found if course.fate is fate) / (4 * sp.pi)
        for fate in (Fate.JOINS_K_PLUS, Fate.JOINS_K_MINUS)
    )
    return sp.simplify(plus), sp.factor(minus)


def _wedge(course: Course) -> Expr:
    """Return the angle of the wedge of initial directions of a course.

    The wedge lies between two lines ⟨b,n⟩ = 0. A condition in u and v puts the line where both sides are
    equal in the place of that coordinate's line it keeps away from: the one whose size it bounds from
    below.
    """
    signs = [1 if state == "+" else -1 for state in course.pattern]
    normals = [sp.Matrix([signs[0], 0]), sp.Matrix([0, signs[1]])]
    if course.condition != sp.true:
        gap = sp.expand(course.condition.rhs - course.condition.lhs)
        slopes = [sp.diff(gap, size) for size in (u, v)]
        bounded = next(i for i, slope in enumerate(slopes) if sign_under_assumption(slope) > 0)
        normals[bounded] = sp.Matrix([sign * slope for sign, slope in zip(signs, slopes, strict=True)])
    gram = sp.Matrix(TWO_POINTS.gram)
    first, second = normals
    inner, *squares = (
        tidy((a.T * gram * b)[0]) for a, b in ((first, second), (first, first), (second, second))
    )
    cosine = inner / sp.sqrt(squares[0] * squares[1]).subs(sp.Abs(s), s)
    between = {c: Delta, -c: sp.pi - Delta}.get(cosine, sp.acos(cosine))
    return sp.pi - between


_Path = tuple[Expr, tuple[Step, ...], _Place]


@dataclass(frozen=True)
class _Walk:
    """Walks a neuron from piece to piece until none of its coordinates can reach 0 any more."""

    model: NetworkModel
    sign: int

    def from_place(self, place: _Place, condition: Expr, steps: tuple[Step, ...]) -> tuple[_Path, ...]:
        """Return every path from a place on: condition for it, steps taken, last place."""
        hits = self._hits(place)
        paths: tuple[_Path, ...] = ()
        for point, time in hits.items():
            rivals = [other for index, other in hits.items() if index != point]
            first = condition if not rivals else sp.And(condition, _earlier(time, rivals[0]))
            step, after = self._switch(place, point, time)
            paths += self.from_place(after, first, (*steps, step))
        return paths or ((condition, steps, place),)

    def _hits(self, place: _Place) -> dict[int, Expr]:
        """Return the time each shrinking coordinate needs to reach 0."""
        rates = self._rates(place.pattern)
        hits = {}
        for point, (state, rate) in enumerate(zip(place.pattern, rates, strict=True)):
            growth = rate if state == "+" else -rate
            if state != "0" and sign_under_assumption(growth) < 0:
                hits[point] = place.sizes[point] / -growth
        return hits

    def _switch(self, place: _Place, point: int, time: Expr) -> tuple[Step, _Place]:
        """Decide from both one-sided normal components whether the neuron slides or crosses."""
        inside, outside = (_with(place.pattern, point, state) for state in "+-")
        normals = [sign_under_assumption(self._rates(pattern)[point]) for pattern in (inside, outside)]
        came_from = place.pattern[point]
        beyond = outside if came_from == "+" else inside
        pattern = _with(place.pattern, point, "0") if normals == [-1, 1] else beyond
        kind = "slide" if "0" in pattern else "die" if "+" not in pattern else "cross"
        rates = self._rates(place.pattern)
        sizes = tuple(
            sp.Integer(0) if i == point else size + (rate if state == "+" else -rate) * time
            for i, (size, rate, state) in enumerate(zip(place.sizes, rates, place.pattern, strict=True))
        )
        after = _Place(place.time + time, pattern, (in_cosines(sizes[0]), in_cosines(sizes[1])))
        return Step(kind, point, tidy(after.time), pattern), after

    def _rates(self, pattern: str) -> tuple[Expr, Expr]:
        """Return (u̇, v̇) in a pattern, the forces being those at f = 0."""
        active = tuple(i for i in (PLUS, MINUS) if pattern[i] == "+")
        sliding = tuple(i for i in (PLUS, MINUS) if pattern[i] == "0")
        velocity = motion(self.model, self.sign, active, sliding).velocity.at(self.model.forces_at_start)
        return tidy(velocity.along(PLUS)), tidy(velocity.along(MINUS))


def _with(pattern: str, point: int, state: str) -> str:
    return pattern[:point] + state + pattern[point + 1 :]


def _earlier(time: Expr, other: Expr) -> Expr:
    """Return the inequality time < other without denominators."""
    (left, below), (right, under) = (sp.fraction(sp.cancel(sp.together(x))) for x in (time, other))
    sign = sign_under_assumption(below) * sign_under_assumption(under)
    common = sp.gcd(left * under, right * below)
    first, second = (tidy(sign * side / common) for side in (left * under, right * below))
    return sp.Lt(first, second)


def _fate(sign: int, pattern: str) -> Fate:
    if "+" not in pattern:
        return Fate.DIES
    return Fate.JOINS_K_PLUS if sign > 0 else Fate.JOINS_K_MINUS

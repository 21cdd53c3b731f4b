"""Integrate any prediction system ḟ = K U by Taylor series: any N, either loss, any number of digits.

Uᵢ = wᵢ g(yᵢfᵢ), g = −ℓ′, are the forces and Sᵢ = ∫Uᵢ dt the impulses, so f = f(0) + K S. Every quantity that
decides an event is a linear form in S or in U; its sign changes are isolated on each step's polynomial, none is
stepped over. The system is solved twice, at two precisions (so with other orders, steps and roundings); what is
returned is the finer solution, and its error estimate is how far the coarser one is from it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from reduced.errors import BudgetExceeded, InputError
from reduced.numbers import Exact, ExactLike, exact
from reduced.records import Loss
from reduced.solve.generated import FORCE_LAW
from reduced.solve.promise import check_digits, private_context
from reduced.solve.step import Kernel, Step

MAX_STEPS = 50_000
_ATTEMPTS = 8
_GUARD = 15
_MARGIN = 4

Number = ExactLike | Any
"""An exact number, or an mpf (which stands for its exact binary value)."""


@dataclass(frozen=True)
class System:
    """The prediction system ḟ = K U: matrix K (N, N), labels (N,) ±1, weights (N,) > 0, loss.

    Entries are numbers of :mod:`reduced.numbers`, exact as given. Build it with :func:`prediction_system`.
    """

    matrix: tuple[tuple[Exact, ...], ...]
    labels: tuple[int, ...]
    weights: tuple[Exact, ...]
    loss: Loss

    def forces(self, ctx: Any, f: Sequence[Any]) -> tuple[Any, ...]:
        """Return U (N,) at predictions f (N,), in an mpmath context."""
        weights = (w.evaluate(ctx) for w in self.weights)
        return tuple(force(ctx, self.loss, w, y * z) for w, y, z in zip(weights, self.labels, f, strict=True))


def force(ctx: Any, loss: Loss, weight: Any, margin: Any) -> Any:
    """Return w·g(z), g = −ℓ′: w e^{−z} or w/(1 + e^z)."""
    return weight * ctx.exp(-margin) if loss is Loss.EXP else weight / (1 + ctx.exp(margin))


def prediction_system(
    matrix: Sequence[Sequence[Number]],
    labels: Sequence[int],
    weights: Sequence[Number],
    loss: Loss | str = Loss.EXP,
) -> System:
    """Build a checked System.

    Arguments: matrix K (N, N) of ḟ = K U; labels (N,) of ±1; weights (N,) positive; loss ``exp`` or
    ``logistic``. Raises InputError.
    """
    size = len(labels)
    if any(label not in (1, -1) for label in labels):
        raise InputError("labels", list(labels), "values +1 or -1")
    if len(matrix) != size or any(len(row) != size for row in matrix):
        raise InputError(
            "matrix", f"rows of {[len(row) for row in matrix]} entries", f"{size} rows of {size}"
        )
    if len(weights) != size:
        raise InputError("weights", f"{len(weights)} entries", f"{size} entries, one for each label")
    shares = tuple(exact(w, "weights") for w in weights)
    if any(w.evaluate(private_context(20)) <= 0 for w in shares):
        raise InputError("weights", [str(w) for w in shares], "positive numbers")
    try:
        named = Loss(loss)
    except ValueError:
        raise InputError("loss", loss, "one of exp, logistic") from None
    rows = tuple(tuple(exact(x, "matrix") for x in row) for row in matrix)
    return System(rows, tuple(int(y) for y in labels), shares, named)


@dataclass(frozen=True)
class Form:
    """The linear form constant + impulses·S + forces·U, whose sign changes are events."""

    constant: Number = 0
    impulses: tuple[Number, ...] = ()
    forces: tuple[Number, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a form in both S and U at once, or with a constant beside U."""
        if self.impulses and self.forces:
            raise InputError("form", "coefficients on both S and U", "coefficients on one of them")
        if self.forces and self.constant:
            raise InputError("form", f"constant {self.constant} beside U", "a form homogeneous in U")


def prediction_form(system: System, start: Sequence[Number], point: int) -> Form:
    """Return fᵢ of a system with that start as a form in the impulses."""
    return Form(start[point], tuple(system.matrix[point]))


@dataclass(frozen=True)
class Solution:
    """A solved system, with SciPy's names where they fit.

    t (T,), the step ends from 0 to ``until``; y, the predictions there, N tuples of length T; t_events and
    t_directions, for each form the times of its sign changes and the signs after them; error, an estimate
    of the largest error in y (absolute) and in the event times (relative), whichever is larger; success and
    message. Numbers are mpf.
    """

    t: tuple[Any, ...]
    y: tuple[tuple[Any, ...], ...]
    t_events: tuple[tuple[Any, ...], ...]
    t_directions: tuple[tuple[int, ...], ...]
    error: Any
    success: bool
    message: str
    path: Path

    def sol(self, t: Any) -> tuple[Any, ...]:
        """Return the predictions f (N,) at a time in [0, until]."""
        return self.path.predictions(self.path.ctx.mpf(t))

    def impulses(self, t: Any) -> tuple[Any, ...]:
        """Return S = ∫₀ᵗ U dt (N,)."""
        step, tau = self.path.locate(self.path.ctx.mpf(t))
        return step.impulses(tau)

    def forces(self, t: Any) -> tuple[Any, ...]:
        """Return U (N,) at a time."""
        step, tau = self.path.locate(self.path.ctx.mpf(t))
        return step.forces(tau)


@dataclass(frozen=True)
class Path:
    """The steps of one run at one precision: dense output."""

    ctx: Any
    matrix: tuple[tuple[Any, ...], ...]
    start: tuple[Any, ...]
    steps: tuple[Step, ...]
    until: Any

    def locate(self, t: Any) -> tuple[Step, Any]:
        """Return the step that contains t and the τ of t in it; raise InputError outside [0, until]."""
        if not 0 <= t <= self.until:
            raise InputError("t", self.ctx.nstr(t, 15), f"a time from 0 to {self.ctx.nstr(self.until, 15)}")
        step = self.steps[max(0, bisect_right(self.steps, t, key=lambda step: step.t0) - 1)]
        return step, step.tau(t)

    def predictions(self, t: Any) -> tuple[Any, ...]:
        """Return f (N,) at a time."""
        step, tau = self.locate(t)
        return predictions(self.ctx, self.matrix, self.start, step.impulses(tau))

    def changes(self, form: Form) -> list[tuple[Any, int]]:
        """Return the times of a form's sign changes, each with the sign after it."""
        found: list[tuple[Any, int]] = []
        before = 0
        for step in self.steps:
            end = min(step.length, step.tau(self.until))
            polynomial = self._along(form, step)
            inside = list(polynomial.sign_changes(self.ctx.zero, end))
            first = -inside[0][1] if inside else polynomial.sign(end)
            if before * first < 0:
                found.append((step.t0, first))
            found += [(step.time(tau), sign) for tau, sign in inside]
            before = inside[-1][1] if inside else first or before
        return found

    def _along(self, form: Form, step: Step) -> Any:
        if form.forces:
            return step.force_form([exact(x).evaluate(self.ctx) for x in form.forces])
        row = [exact(x).evaluate(self.ctx) for x in form.impulses]
        so_far = (x * s for x, s in zip(row, step.start, strict=True))
        return step.impulse_form(exact(form.constant).evaluate(self.ctx) + self.ctx.fsum(so_far), row)


def predictions(ctx: Any, matrix: Any, start: Iterable[Any], impulses: Sequence[Any]) -> tuple[Any, ...]:
    """Return start + K S (N,)."""
    return tuple(f + ctx.fdot(zip(row, impulses, strict=True)) for f, row in zip(start, matrix, strict=True))


def taylor(
    system: System,
    start: Sequence[Number],
    until: Number,
    digits: int = 30,
    events: Sequence[Form] = (),
) -> Solution:
    """Solve ḟ = K U from f(0) = start to a time, all digits right.

    Arguments: system; start (N,), the predictions at flow time 0; until > 0; digits, significant digits of
    the predictions (relative to max(1, |f|)) and of the event times; events, the forms whose sign changes
    are wanted. Returns a Solution. Raises InputError, and BudgetExceeded beyond 50 000 steps. Source: derived
    here.
    """
    check_digits(digits)
    if len(start) != len(system.labels):
        raise InputError("start", f"{len(start)} predictions", f"{len(system.labels)} predictions")
    first, end = tuple(exact(f, "start") for f in start), exact(until, "until")
    if end.evaluate(private_context(20)) <= 0:
        raise InputError("until", until, "a positive time")
    guard = _GUARD
    for _ in range(_ATTEMPTS):
        coarse, fine = (
            _path(private_context(digits + extra), system, first, end) for extra in (guard, 2 * guard + 5)
        )
        found = [path_events(fine, events), path_events(coarse, events)]
        error = _distance(coarse, fine, *found)
        if error <= fine.ctx.mpf(10) ** (-digits - _MARGIN):
            return _solution(fine, found[0], error)
        guard *= 2
    raise ArithmeticError(f"no working precision gave {digits} stable digits")


def path_events(path: Path, events: Sequence[Form]) -> list[list[tuple[Any, int]]]:
    """Return the sign changes of each form along a path."""
    return [path.changes(form) for form in events]


def _path(ctx: Any, system: System, first: tuple[Exact, ...], end: Exact) -> Path:
    """Make steps from 0 to the end; every step starts with the forces of its predictions."""
    matrix = tuple(tuple(x.evaluate(ctx) for x in row) for row in system.matrix)
    weights = tuple(w.evaluate(ctx) for w in system.weights)
    kernel = Kernel(ctx, matrix, system.labels, weights, FORCE_LAW[system.loss.value])
    start, until = tuple(f.evaluate(ctx) for f in first), end.evaluate(ctx)
    forces = system.forces(ctx, start)
    steps: list[Step] = []
    t, impulses, unit = ctx.zero, (ctx.zero,) * len(start), kernel.first_unit(forces)
    while t < until:
        if len(steps) >= MAX_STEPS:
            raise BudgetExceeded(f"the flow to t = {end} needs more than {MAX_STEPS} Taylor steps")
        step = kernel.step(t, impulses, forces, until if not any(map(any, matrix)) else unit)
        steps.append(step)
        t, impulses, unit = step.end, step.impulses(step.length), kernel.next_unit(step, step.length)
        forces = system.forces(ctx, predictions(ctx, matrix, start, impulses))
    return Path(ctx, matrix, start, tuple(steps), until)


def _distance(coarse: Path, fine: Path, *events: list[list[tuple[Any, int]]]) -> Any:
    """Return how far two runs are apart: predictions over max(1, |f|), event times relatively."""
    ctx = fine.ctx
    distance = ctx.ldexp(1, 8 - coarse.ctx.prec)
    for t in [step.t0 for step in fine.steps[1:]] + [fine.until]:
        for f, g in zip(
            fine.predictions(t), coarse.predictions(min(coarse.ctx.mpf(t), coarse.until)), strict=True
        ):
            distance = max(distance, abs(f - g) / max(1, abs(f)))
    for mine, others in zip(*events, strict=True):
        if [sign for _, sign in mine] != [sign for _, sign in others]:
            return ctx.inf
        for (t, _), (other, _) in zip(mine, others, strict=True):
            distance = max(distance, abs(t - other) / t)
    return distance


def _solution(path: Path, events: list[list[tuple[Any, int]]], error: Any) -> Solution:
    times = (*(step.t0 for step in path.steps), path.until)
    columns = [path.predictions(t) for t in times]
    return Solution(
        times,
        tuple(zip(*columns, strict=True)),
        tuple(tuple(t for t, _ in found) for found in events),
        tuple(tuple(sign for _, sign in found) for found in events),
        error,
        True,
        f"reached t = {path.ctx.nstr(path.until, 15)} in {len(path.steps)} steps",
        path,
    )

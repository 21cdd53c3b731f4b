"""A Taylor step solves its system on its own clock, and its outline in doubles encloses every form along it."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from reduced.records import Loss
from reduced.solve.generated import FORCE_LAW
from reduced.solve.integrator import force, predictions
from reduced.solve.promise import private_context
from reduced.solve.step import Kernel

MATRIX = ((0.5, -0.375, 0.125), (0.25, -0.5, 0.0625), (0.125, -0.25, 0.75))
LABELS = (1, -1, 1)


def system(digits, loss):
    """Return a context, K, the kernel of ḟ = K U and its forces at predictions f."""
    ctx = private_context(digits)
    matrix = tuple(tuple(ctx.mpf(x) for x in row) for row in MATRIX)
    weights = (ctx.mpf("0.5"), ctx.mpf("0.25"), ctx.mpf("0.25"))

    def forces(f):
        return tuple(force(ctx, loss, w, y * z) for w, y, z in zip(weights, LABELS, f, strict=True))

    return ctx, matrix, Kernel(ctx, matrix, LABELS, weights, FORCE_LAW[loss.value]), forces


def steps_from(digits, loss, count):
    """Yield the steps from f = 0 on, each with the predictions at its start."""
    ctx, matrix, kernel, forces = system(digits, loss)
    t, S, f = ctx.zero, (ctx.zero,) * 3, (ctx.zero,) * 3
    unit = kernel.first_unit(forces(f))
    for _ in range(count):
        step = kernel.step(t, S, forces(f), unit)
        yield step, f
        f = predictions(ctx, matrix, f, step.gained(step.length))
        t, S, unit = step.end, step.impulses(step.length), kernel.next_unit(step, step.length)


@pytest.mark.parametrize("loss", Loss)
def test_the_forces_along_a_step_are_those_of_its_predictions(loss):
    """Substitution: U(t) of the series is w g(y f(t)) with f(t) = f + K ∫U; in the end the clock has a pace."""
    ctx, matrix, _, forces = system(40, loss)
    paces = []
    for step, f in steps_from(40, loss, 40):
        paces.append(step.pace)
        for part in ("0.25", "0.75", "1"):
            tau = step.length * ctx.mpf(part)
            expected = forces(predictions(ctx, matrix, f, step.gained(tau)))
            for U, V in zip(step.forces(tau), expected, strict=True):
                assert abs(U - V) <= ctx.mpf("1e-38") * V
            assert abs(step.tau(step.time(tau)) - tau) <= ctx.mpf("1e-30")
    assert paces[-1] > 0


@pytest.mark.parametrize("loss", Loss)
def test_impulses_are_the_integrals_of_the_forces(loss):
    for step, _ in list(steps_from(30, loss, 25))[::8]:
        ctx, end = step.ctx, step.length
        for i, gained in enumerate(step.gained(end)):
            integral = ctx.quad(lambda x, i=i, step=step: step.forces(x)[i] * step.unit_at(x), [0, end])
            assert abs(integral - gained) <= ctx.mpf("1e-25") * gained


def predictions_at(digits, time):
    ctx, matrix, *_ = system(digits, Loss.EXP)
    step, f = next(found for found in steps_from(digits, Loss.EXP, 200) if found[0].end >= time)
    return predictions(ctx, matrix, f, step.gained(step.tau(ctx.mpf(time))))


@pytest.mark.parametrize("time", ["0.5", "100", "1e6"])
def test_two_precisions_agree(time):
    """They differ in order, steps and clocks."""
    coarse, fine = (predictions_at(digits, private_context(20).mpf(time)) for digits in (30, 50))
    for x, y in zip(coarse, fine, strict=True):
        assert abs(x - y) <= 1e-27 * max(1, abs(y))


@pytest.mark.parametrize("seed", range(4))
def test_an_outline_never_misses_a_fall_and_never_invents_one(seed):
    draw = Random(seed)
    (step, _), *_ = list(steps_from(40, Loss.EXP, 12))[-1:]
    ctx, end = step.ctx, step.length
    outline = step.outline_of_impulses(end)
    whole = [float(x) for x in step.gained(end)]
    sure = 0
    for _ in range(60):
        row = [draw.uniform(-1, 1) for _ in range(3)]
        constant = draw.uniform(0, 1.2) * sum(abs(r * x) for r, x in zip(row, whole, strict=True))
        form = step.impulse_form(ctx.mpf(constant), [ctx.mpf(x) for x in row])
        changes = [tau for tau, _ in form.sign_changes(ctx.zero, end)]
        fall = outline.fall(constant, row)
        if fall is None:
            assert not changes
        elif fall.sure:
            sure += 1
            assert end * fall.low <= changes[0] <= end * fall.high
            assert abs(end * fall.guess - changes[0]) <= 1e-3 * changes[0]
            root = form.falling_root(end * fall.low, end * fall.high, end * fall.guess)
            assert abs(root - changes[0]) <= ctx.mpf("1e-35")
    assert sure > 5


def test_what_doubles_cannot_hold_is_left_open():
    """Sizes that under- or overflow, and a form that only touches 0, are not decided."""
    (step, _), *_ = steps_from(40, Loss.EXP, 1)
    outline = step.outline_of_impulses(step.length)
    for constant, row in (
        (1e-300, [-1e-300, 0.0, 0.0]),
        (1e300, [-1e300, 0.0, 0.0]),
        (float("nan"), [1.0, 0, 0]),
    ):
        fall = outline.fall(constant, row)
        assert fall is not None
        assert not fall.sure
    gained = [float(x) for x in step.gained(step.length)]
    touch = outline.fall(gained[0], [-1.0, 0.0, 0.0])
    assert touch is None or not touch.sure


@pytest.mark.parametrize("digits", [40, 600])
def test_a_step_told_to_end_early_needs_fewer_terms_and_is_as_exact(digits):
    ctx, matrix, kernel, forces = system(digits, Loss.EXP)
    close = ctx.mpf(10) ** (1 - digits)
    start = (ctx.zero,) * 3
    U = forces(start)
    whole = kernel.step(ctx.zero, start, U, kernel.first_unit(U))
    short = kernel.step(ctx.zero, start, U, whole.unit, lambda _: ctx.mpf("0.001"))
    assert len(short.coefficients[0]) < len(whole.coefficients[0]) / 2
    time = short.end
    for x, y in zip(short.gained(short.length), whole.gained(whole.tau(time)), strict=True):
        assert abs(x - y) <= close * y
    f = predictions(ctx, matrix, start, short.gained(short.length))
    for x, y in zip(short.forces(short.length), forces(f), strict=True):
        assert abs(x - y) <= close * y


def test_steps_grow_with_the_time_once_forces_fade_like_its_inverse():
    ends = [step.end for step, _ in steps_from(40, Loss.EXP, 120)]
    factors = [later / earlier for earlier, later in pairwise(ends[-20:])]
    assert min(factors) > 1.2

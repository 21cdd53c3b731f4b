"""How the angles to the limit directions close, in numbers: angle(t) ~ constant/(log t + shift)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reduced.numbers import decimal_string
from reduced.records import Problem, Regime, Start
from reduced.solve.block import RatioBlock
from reduced.solve.flow import DEAD, Flow
from reduced.solve.generated import ANGLE_LAW
from reduced.solve.promise import keep_promise
from reduced.solve.timeline import (
    MINUS,
    PLUS,
    check_state,
    collapsed_flow,
    guard_digits,
    living_groups,
    regime,
    require_exponential,
)


@dataclass(frozen=True)
class AngleLaw:
    """angle(t) = constant/(log t + shift) up to a relative error O(1/log² t); always 0 when the constant is.

    Numbers are mpf from :func:`angle_law`, decimal strings from :func:`angle_laws` (shift None for constant 0).
    """

    constant: Any
    shift: Any


@dataclass(frozen=True)
class AngleLaws:
    """The laws of both groups' angles; None for both when a group is empty."""

    plus: AngleLaw | None
    minus: AngleLaw | None


def angle_law(flow: Flow, found: Regime, label: int | str, frozen: Any = 0) -> AngleLaw:
    """Return the law by which one living particle's angle to its limit closes.

    Arguments: flow, run for ever; found, the regime of its living particles; label of the particle; frozen, the
    length of its part outside the plane of the data in units of κ₂/√m. Source: reduced.derive.decay, evaluated
    where the flow's last piece begins. Raises ValueError for a flow that has not come to its final phase.
    """
    ctx, geometry, last = flow.ctx, flow.geometry, flow.segments[-1]
    if not isinstance(last.block, RatioBlock) or last.length is not None:
        raise ValueError("the flow has not come to its final phase")
    alive = [particle for particle in flow.particles if flow.stays[particle.label][-1].pattern != DEAD]
    sign = next(particle.sign for particle in alive if particle.label == label)
    _, u, v = flow.particle(label, len(flow.segments) - 1, ctx.zero)
    law = ANGLE_LAW[f"{found.value} {'K_plus' if sign > 0 else 'K_minus'}"](
        sum(particle.mass for particle in alive if particle.sign > 0),
        sum(particle.mass for particle in alive if particle.sign < 0),
        geometry.scale,
        geometry.c,
        geometry.s2,
        geometry.s2 / (1 + geometry.c),
        u,
        v,
        -ctx.log1p(-last.block.z0),
        last.f_plus,
    )
    across = geometry.s2 * law.turn**2 + law.stretch_squared * frozen**2
    return AngleLaw(ctx.sqrt(across), ctx.log(law.growth * geometry.w_plus) + law.drift)


def angle_laws(problem: Problem, start: Start, digits: int = 30) -> AngleLaws:
    """Return the laws by which the angles of the collapsed groups to their limits close.

    Arguments: problem (exponential loss); start, the state at t = 0; digits of every number. The constants are
    "0" where the angle is exactly 0 in the end: both in three-phase, K₊ in four-phase, K₋ in two-phase. Raises
    InputError naming the argument. Derived here.
    """
    require_exponential(problem)
    check_state(problem, start)
    if regime(problem) is None:
        return AngleLaws(None, None)
    found = keep_promise(
        lambda ctx: flow_laws(collapsed_flow(ctx, problem, start), problem),
        lambda laws: [number for law in laws.values() for number in (law.constant, law.shift)],
        digits,
        guard_digits(problem, start),
    )
    return AngleLaws(*(_in_text(found[label], digits) for label in (PLUS, MINUS)))


def _in_text(law: AngleLaw, digits: int) -> AngleLaw:
    shift = decimal_string(law.shift, digits) if law.constant else None
    return AngleLaw(decimal_string(law.constant, digits), shift)


def flow_laws(flow: Flow, problem: Problem) -> dict[str, AngleLaw]:
    """Return the laws of K₊ and K₋ in a collapsed flow as mpf, by label; empty when a group is."""
    found = regime(problem)
    both_live = living_groups(flow) == {PLUS, MINUS}
    return (
        {}
        if found is None or not both_live
        else {label: angle_law(flow, found, label) for label in (PLUS, MINUS)}
    )

"""The uncollapsed network in balls, from the exact binary values of its weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from reduced.errors import InputError
from reduced.records import Loss, Problem
from reduced.shown import shown
from reduced.solve.enclosure.answer import Enclosure, certify, enclosure
from reduced.solve.enclosure.ball import Ball, BallContext
from reduced.solve.enclosure.piece import BallClosedForm
from reduced.solve.flow import Particle, Ridge, exact_flow
from reduced.solve.network import ExactRun, measure, setting
from reduced.solve.weights import checked_network


@dataclass(frozen=True)
class EnclosedRun:
    """The proved times of a network's flow and (f₊, f₋) there, by name.

    ``times`` has None for an event that never comes, ``predictions`` has also ``start``; ``events`` counts
    the events that were put in order on the way (neurons joined as equal count once).
    """

    times: dict[str, Enclosure | None]
    predictions: dict[str, tuple[Enclosure, Enclosure]]
    events: int

    __repr__ = shown


def enclosure_network(
    W: Any, sign: Any, problem: Problem, digits: int = 30, ridge: Ridge | None = None
) -> EnclosedRun:
    """Enclose T_plat, the first T_II, T_III and the other phase times of an m-neuron network.

    Arguments: W (m, d), sign (m,), problem, digits and ridge as for ``network_flow`` (weights stand for their
    exact binary values, exponential loss). Returns an EnclosedRun. The events are proved to come in the order
    found: whichever of two events is first is decided by disjoint balls, at a precision raised until they are;
    neurons that are equal in both data directions move as one. Raises InputError, NotUnique, and Undecided for
    events that no precision tried separates. Derived here.
    """
    if problem.loss is not Loss.EXP:
        raise InputError("loss", problem.loss.value, "exp: enclosures use the closed form")
    W, sign = checked_network(W, sign)

    def compute(ctx: BallContext) -> ExactRun:
        geometry, particles, predictions = setting(ctx, W, sign, problem)
        joined = _joined(particles, W)
        return measure(exact_flow(ctx, geometry, joined, predictions, None, ridge, pieces=BallClosedForm()))

    def numbers(run: ExactRun) -> list[Ball | None]:
        return [*run.times.values(), *(f for pair in run.predictions.values() for f in pair)]

    def answer(run: ExactRun) -> EnclosedRun:
        times = {name: None if t is None else enclosure(t, digits) for name, t in run.times.items()}
        predictions = {
            name: (enclosure(f_plus, digits), enclosure(f_minus, digits))
            for name, (f_plus, f_minus) in run.predictions.items()
        }
        return EnclosedRun(times, predictions, len(run.events))

    return certify(compute, numbers, answer, digits)


def _joined(particles: list[Particle], W: Any) -> list[Particle]:
    """Return the particles with those of equal sign and weights in the data plane made one of their mass."""
    found: dict[tuple[int, float, float], Particle] = {}
    for particle, row in zip(particles, W, strict=True):
        key = particle.sign, float(row[0]), float(row[1])
        twin = found.get(key)
        found[key] = particle if twin is None else replace(twin, mass=twin.mass + particle.mass)
    return list(found.values())

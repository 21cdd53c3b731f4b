"""The jobs of test_determinism, in a module of their own so that spawned workers can import them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

import reduced
from reduced.solve.plateau import PreparedPlateau
from reduced.solve.sensitivity import sensitivities

PROBLEM = reduced.problem(4, "pi/15", "0.23", "0.13")
START = reduced.start("3/4", "3/5", "-1/10")
SHARED = {digits: PreparedPlateau(PROBLEM, digits) for digits in (12, 60)}


def timeline(digits: int) -> object:
    return reduced.timeline(PROBLEM, START, digits)


def predict(digits: int) -> object:
    return reduced.predict(PROBLEM, START, ["0", "12.5", "1e400"], digits)


def derivatives(digits: int) -> object:
    return sensitivities(PROBLEM, START, digits)


def laws(digits: int) -> object:
    return [
        reduced.asymptotic(reduced.problem(4, "1/10", "1/4", "3/20", loss=loss), START, digits)
        for loss in ("exp", "logistic")
    ]


def taylor(digits: int) -> object:
    return reduced.taylor_timeline(
        reduced.problem(4, "1/2", "1/4", "3/20", loss="logistic"), reduced.start(), min(digits, 15)
    )


def limit(digits: int) -> object:
    return reduced.limit(PROBLEM, digits)


def prepared(digits: int) -> object:
    """One prepared problem is shared by all threads of a process."""
    return SHARED[12 if digits < 30 else 60].length(START)


def network(digits: int) -> object:
    weights = np.random.default_rng(3).standard_normal((10, 2)) / 100
    run = reduced.network_flow(weights, np.where(np.arange(10) < 5, 1, -1), reduced.problem(), digits)
    return run.times, run.predictions, run.events, run.positive, run.negative, run.dead


QUESTIONS: dict[str, Callable[[int], object]] = {
    function.__name__: function
    for function in (timeline, predict, derivatives, laws, taylor, limit, prepared, network)
}
JOBS = [(name, digits) for digits in (9, 120, 25, 60) for name in QUESTIONS]


def answer(job: tuple[str, int]) -> str:
    """Return the answer to a question at a number of digits, with every bit of every number in it."""
    name, digits = job
    return spelled(QUESTIONS[name](digits))


def spelled(value: Any) -> str:
    """Write a value out in full, where the records' own repr leaves things out."""
    if is_dataclass(value):
        return type(value).__name__ + spelled(
            {field.name: getattr(value, field.name) for field in fields(value)}
        )
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {spelled(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(spelled, value)) + "]"
    return repr(value)

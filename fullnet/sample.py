"""A flow sampled at times even in log t: everything one would plot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullnet.checks import Floats, count
from fullnet.clock import clock_at, log_time
from fullnet.condensation import direction_clusters
from fullnet.forces import scaled
from fullnet.history import Ints
from fullnet.shown import shown
from fullnet.trajectory import Trajectory

_FIRST = 1e-2
_TREE_LIMIT = 500


@dataclass(frozen=True, eq=False)
class Sample:
    """Quantities of a flow at times t (T,), flow time.

    prediction (T, N); accuracy, log_loss, log_gradient = log ‖∇L‖, angle between −∇L and θ (radians, NaN
    where one of them is 0), norm = ‖θ‖, each (T,); classes, the (sign, pattern) met, and counts (T, C), how
    many neurons are in each; living_patterns (T,): how many patterns have a living neuron; clusters (T,): of
    the living neurons' directions, −1 where not counted (data spanning more than a plane, many neurons).
    """

    t: Floats
    prediction: Floats
    accuracy: Floats
    log_loss: Floats
    log_gradient: Floats
    angle: Floats
    norm: Floats
    classes: tuple[tuple[int, str], ...]
    counts: Ints
    living_patterns: Ints
    clusters: Ints

    __repr__ = shown


def sample(flow: Trajectory, points: int = 200, times: Any = None) -> Sample:
    """Sample a flow.

    Arguments: flow; points ≥ 2, how many times, even in log t from a hundredth of the first switch to the
    end, after t = 0; times (T,), rising, instead of these. Returns a Sample. Raises InputError.
    """
    t = log_times(flow, points) if times is None else flow.checked_times(times).reshape(-1)
    counts = flow.history.counts(flow.pieces.holding(t))
    f = flow.at(t)
    log_gradient, angle, norm = (
        np.array(column) for column in zip(*_geometry(flow, t, f, counts), strict=True)
    )
    return Sample(
        t=t,
        prediction=f,
        accuracy=flow.accuracy(t),
        log_loss=flow.log_loss(t),
        log_gradient=log_gradient,
        angle=angle,
        norm=norm,
        classes=tuple(
            (sign, name) for (sign, _), name in zip(flow.history.keys, flow.history.patterns, strict=True)
        ),
        counts=counts,
        living_patterns=_living_patterns(flow, counts),
        clusters=np.array([_clusters(flow, float(one)) for one in t]),
    )


def log_times(flow: Trajectory, points: int = 200) -> Floats:
    """Return 0 and times (points − 1,) even in log t, from a hundredth of the first switch to the end."""
    points = count(points, "points", 2)
    if flow.end == 0:
        return np.zeros(1)
    switches = flow.history.time[flow.history.time > 0]
    first = _FIRST * float(switches[0] if len(switches) else flow.end)
    logs = np.linspace(log_time(first), log_time(flow.end), points - 1)
    inner = [min(clock_at(log_t), flow.end) for log_t in logs[:-1].tolist()]
    return np.array([0.0, *inner, flow.end])


def _geometry(flow: Trajectory, t: Floats, f: Floats, counts: Ints) -> list[tuple[float, float, float]]:
    """Return log ‖∇L‖, the angle between −∇L and θ, and ‖θ‖ for each time."""
    force = scaled(f, flow.data, flow.task.loss, flow.history.heard(counts))
    units, second_layer = flow.task.surfaces.units, flow.network.second_layer
    result = []
    for i, time in enumerate(t.tolist()):
        theta = flow.neurons(time)
        push = (flow.history.pushes @ force.u[i])[flow.history.classes(time)]
        pull = second_layer[:, None] * (push @ units)
        norm, size = float(np.linalg.norm(theta)), float(np.linalg.norm(pull))
        log_size = float(force.log_lead[i]) + math.log(size) if size else -math.inf
        result.append((log_size, _angle(theta / norm, pull / size) if size and norm else math.nan, norm))
    return result


def _angle(one: Floats, other: Floats) -> float:
    """Return the angle between two unit arrays, exact for small ones."""
    return 2 * math.atan2(float(np.linalg.norm(one - other)), float(np.linalg.norm(one + other)))


def _living_patterns(flow: Trajectory, counts: Ints) -> Ints:
    """Return how many patterns (T,) have a living neuron of either sign."""
    names = sorted({motion.pattern for motion in flow.history.motions if not motion.dead})
    of_class = np.array([[motion.pattern == name for name in names] for motion in flow.history.motions])
    result: Ints = ((counts @ of_class) > 0).sum(axis=1)
    return result


def _clusters(flow: Trajectory, t: float) -> int:
    plane = np.linalg.matrix_rank(flow.data.X) <= 2
    return len(direction_clusters(flow, t)) if plane or len(flow.living) <= _TREE_LIMIT else -1

"""Gradient flow, event by event: Taylor series, exact switches, Filippov sliding (derived here).

Between events all neurons of one sign and state move by one displacement, linear in the impulses Sⱼ = ∫ Uⱼ
dt, so a smooth piece is an ODE in the N forces alone, whatever m and d are. Its Taylor series gives dense
output and the events as roots of polynomials; no step crosses a kink. Steps follow the forces, so they grow
like t.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

from fullnet import checks
from fullnet.clock import LATEST, LINEAR, clock_at, time_text
from fullnet.data import DataSet
from fullnet.decide import RIDGES
from fullnet.errors import InputError
from fullnet.loss import loss_named
from fullnet.network import Network, matching
from fullnet.run import Budget, Checkpoint, Course, Progress, Run, begun, continued
from fullnet.storage import save
from fullnet.task import Task
from fullnet.trajectory import Trajectory

FLOW_ENGINES = ("auto", "numba", "numpy")

_ORDER, _SHADOW_ORDER = 24, 20
# Neurons times points from which compiling pays: off a plane neurons are in many more classes.
_WORTH_COMPILING, _WORTH_OFF_PLANE = 12_000, 4_000


def gradient_flow(
    network: Network,
    data: DataSet,
    until: float | None = None,
    loss: str = "exp",
    ridge: str | None = None,
    tolerance: float = 2.0**-56,
    budget: Budget | None = None,
    on_progress: Progress | None = None,
    estimate_error: bool = False,
    engine: str = "auto",
    checkpoint: Checkpoint | None = None,
    resume: Trajectory | None = None,
    on_compile: Callable[[], None] | None = None,
    log_until: float | None = None,
) -> Trajectory:
    """Follow the gradient flow of all weights from t = 0 to ``until``, with every switch of every neuron.

    Arguments: network; data; until, flow time, from above 0 to 10³⁰⁰; loss ``exp`` or ``logistic``; ridge
    ``active``, ``inactive`` or ``slide``, the solution taken from a repelling kink; tolerance, the truncation
    error of a step relative to the forces; budget; on_progress(t, events so far), called now and then;
    estimate_error computes the flow a second time, beside the first, with another order, other steps and other
    roundings; engine ``numpy``, ``numba`` or ``auto`` (numba if installed and worth compiling); checkpoint,
    where the flow is saved on the way and at its end; resume, an earlier part of the same flow, as loaded from
    a checkpoint: the result is then bit for bit that of a flow never interrupted (to rounding, where an end of
    its own cut its last step short); on_compile, called once before numba compiles kernels that are not on disk
    yet, which takes some ten seconds; log_until, ln t at most 10⁸, for a later end, in place of ``until``:
    times past 10³⁰⁰ are readings of a clock (:func:`log_time`). Returns a Trajectory (outcome ``finished`` or
    ``budget``). Raises InputError, and NotUnique where a neuron lies on a repelling kink and no ridge is given.
    """
    matching(network, data)
    until = _end(until, log_until)
    if ridge is not None:
        checks.choice(ridge, "ridge", RIDGES)
    tolerance = checks.positive(tolerance, "tolerance")
    if tolerance > 1e-3:
        raise InputError("tolerance", tolerance, "at most 1e-3")
    if resume is not None and resume.end > until:
        here, there = time_text(until), time_text(resume.end)
        raise InputError("until", here, f"at least {there}, where the flow to resume is")
    kind = loss_named(loss)
    compiled = _compiled(engine, network, data) if resume is None else resume.task.compiled
    if compiled:
        _prepare_kernels(on_compile)
    task = Task(network, data, kind, ridge, _ORDER, tolerance, compiled)
    second = Task(network, data, kind, ridge, _SHADOW_ORDER, tolerance / 4, compiled, mirrored=True)
    course = Course(
        until,
        _run(task, resume),
        _run(second, None if resume is None else resume.shadow) if estimate_error else None,
        budget or Budget(),
        on_progress,
        checkpoint,
    )
    result = course.follow()
    if checkpoint is not None:
        save(result, checkpoint.path)
    return result


def _end(until: float | None, log_until: float | None) -> float:
    """Return the clock's reading at the end asked for, by the time or by its logarithm."""
    if log_until is None:
        end = checks.positive(until, "until")
        if end > LINEAR:
            raise InputError("until", until, f"at most {LINEAR:g}, or log_until for a later end")
        return end
    if until is not None:
        raise InputError("log_until", log_until, "until or log_until, not both")
    last = checks.number(log_until, "log_until")
    if last > LATEST:
        raise InputError("log_until", log_until, f"at most {LATEST:g}")
    return checks.positive(clock_at(last), "log_until")


def _run(task: Task, earlier: Trajectory | None) -> Run:
    return begun(task) if earlier is None else continued(task, earlier)


def _prepare_kernels(on_compile: Callable[[], None] | None) -> None:
    """Load the compiled engine; tell the caller where it has to be compiled first."""
    try:
        from fullnet.compiled import is_compiled
    except ImportError:
        raise InputError("resume", "a flow followed with numba", "numba to be installed") from None
    if on_compile is not None and not is_compiled():
        on_compile()


def _compiled(name: str, network: Network, data: DataSet) -> bool:
    """Decide for the compiled engine."""
    checks.choice(name, "engine", FLOW_ENGINES)
    installed = find_spec("numba") is not None
    if name == "numba" and not installed:
        raise InputError("engine", "numba", "numpy or auto where numba is not installed")
    least = _WORTH_COMPILING if np.linalg.matrix_rank(data.X) <= 2 else _WORTH_OFF_PLANE
    return name == "numba" or (name == "auto" and installed and len(network.sign) * len(data.y) >= least)

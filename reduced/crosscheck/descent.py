"""Gradient descent beside the flow: what the step size does to times and living sets."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

import fullnet
from reduced.crosscheck.records import DescentRow
from reduced.errors import InputError
from reduced.numbers import ExactLike, decimal_string, exact, sign
from reduced.records import Outcome
from reduced.solve.promise import private_context

DEFAULT_RATES = ("1e-2", "3e-3", "1e-3", "3e-4", "1e-4")
_PAPER_TIME = 1500.0  # of the paper's 150 000 steps of 0.01
_MOST_STEPS = 120_000_000
_MOST_STEPS_WITHOUT_NUMBA = 400_000


def descent_rows(
    network: fullnet.Network,
    data: fullnet.DataSet,
    full: fullnet.Trajectory,
    phases: fullnet.Phases,
    learning_rates: Sequence[ExactLike],
    steps: int | None = None,
    subgradient: float = 0,
) -> tuple[DescentRow, ...]:
    """Run gradient descent at several steps from the flow's initial weights.

    Arguments: network, data, and full, the flow on them, with its phases; learning_rates, exact numbers; steps of
    each run (None: until 5 % past the flow's T_II or T_plat, without them to its end or t = 1500, within what
    the machine does in reasonable time); subgradient of ReLU at 0. Returns a row for each learning rate. Raises
    InputError. Source: §A.1.
    """
    rows = []
    for rate in learning_rates:
        exact_rate = exact(rate, "lr")
        if sign(exact_rate) <= 0:
            raise InputError("lr", exact_rate, "a positive step size")
        lr = float(exact_rate.evaluate(private_context(20)))
        count = _steps_for(lr, phases, full.end) if steps is None else steps
        run = fullnet.gradient_descent(network, data, lr, count, subgradient=subgradient)
        lost = full.living & ~run.living
        rows.append(
            DescentRow(
                decimal_string(exact_rate.evaluate(private_context(30)), 17),
                run.steps,
                _time(run.T_plat),
                _time(run.T_II),
                _counts(run.living, network.sign),
                {
                    "positive": int((lost & (network.sign > 0)).sum()),
                    "negative": int((lost & (network.sign < 0)).sum()),
                },
                bool(np.array_equal(run.living, full.living)),
                ended(run),
            )
        )
    return tuple(rows)


def ended(run: fullnet.Descent) -> str:
    """Name how a run of all its steps ended: ``finished`` when both times were found on the way."""
    found = run.T_plat is not None and run.T_II is not None
    return Outcome.FINISHED.value if found and run.outcome.value == "steps" else run.outcome.value


def _steps_for(lr: float, phases: fullnet.Phases, end: float) -> int:
    ends = [t for t in (phases.times["T_II"], phases.times["T_plat"]) if t is not None]
    horizon = 1.05 * max(ends) + 10 if ends else min(end, _PAPER_TIME)
    return min(math.ceil(horizon / lr), _MOST_STEPS if _has_numba() else _MOST_STEPS_WITHOUT_NUMBA)


def _has_numba() -> bool:
    from importlib.util import find_spec

    return find_spec("numba") is not None


def _counts(
    living: np.ndarray[tuple[int], np.dtype[np.bool_]], signs: fullnet.Network | np.ndarray
) -> dict[str, int]:
    signs = np.asarray(signs)
    return {
        "positive": int((living & (signs > 0)).sum()),
        "negative": int((living & (signs < 0)).sum()),
        "dead": int((~living).sum()),
    }


def _time(value: float | None) -> str | None:
    return None if value is None else f"{value:.12g}"

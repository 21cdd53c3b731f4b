"""Table 2 of the paper: measured phase times beside the Θ-estimates, over Δ and over p."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

import fullnet
from reduced.numbers import ExactLike
from reduced.parameters import problem, start
from reduced.records import Regime
from reduced.solve.asymptotic import asymptotic
from reduced.theorems.evidence import ANGLES, RATIOS, Evidence, evidence
from reduced.theorems.plateau import plateau_estimate, second_phase_estimate

LEARNING_RATE = 1e-2
GRID: tuple[tuple[str, int], ...] = (
    *((angle, 4) for angle in ANGLES),
    *(("pi/15", p) for p in RATIOS if p != 4),
)
_MOST_STEPS = 6_000_000
_MOST_STEPS_WITHOUT_NUMBA = 400_000


@dataclass(frozen=True)
class Times:
    """One time in a cell, flow time: medians over seeds of the flow's, the descent's, the paper's and ours.

    ``estimate`` is the order of magnitude the paper gives, ``law`` the small-angle law with its constant.
    """

    flow: float
    descent: float
    estimate: float
    law: float


@dataclass(frozen=True)
class TimesRow:
    """One cell of the grid; times are flow times, infinite where more than half of the seeds never get there.

    ``delta`` and ``p`` as given; ``networks`` counts the seeds, ``four_phase`` those with α < cos Δ.
    """

    delta: str
    p: str
    networks: int
    four_phase: int
    T_plat: Times
    T_II: Times


def times_table(
    networks: Sequence[fullnet.Network],
    kappa2: ExactLike = 1,
    grid: Sequence[tuple[ExactLike, ExactLike]] = GRID,
    learning_rate: float = LEARNING_RATE,
    on_network: Callable[[str], None] | None = None,
) -> tuple[TimesRow, ...]:
    """Measure Table 2: flow and gradient descent of the same networks over a grid of (Δ, p).

    Arguments: networks, the initial networks (one a seed; the medians are over them); kappa2, theirs; grid of
    (Δ, p), default the paper's Δ at p = 4 and p at Δ = π/15; learning_rate of the descent; on_network, told
    in words before each run. Returns one row a cell. Raises InputError. Source: §A.2, Table 2.
    """
    rows = []
    for delta, p in grid:
        setting = problem(p, delta, kappa2=kappa2)
        cells = []
        for number, network in enumerate(networks):
            if on_network is not None:
                on_network(f"Δ = {delta}, p = {p}, network {number + 1} of {len(networks)}")
            cells.append(_cell(evidence(network, setting), learning_rate))
        medians = np.median(np.array([times for _, times in cells]), axis=0)
        T_plat, T_II = (Times(*(float(x) for x in half)) for half in (medians[:4], medians[4:]))
        four = sum(regime is Regime.FOUR_PHASE for regime, _ in cells)
        rows.append(TimesRow(str(delta), str(p), len(cells), four, T_plat, T_II))
    return tuple(rows)


def _cell(e: Evidence, learning_rate: float) -> tuple[Regime | None, list[float]]:
    """Return the regime, and flow, descent, estimate and law of T_plat and T_II of one network."""
    run = fullnet.gradient_descent(e.network, e.data, learning_rate, _steps(e, learning_rate))
    laws = asymptotic(e.living_problem, start(), 10)
    finite = e.alpha * e.cosine < 1
    return e.regime, [
        _or_infinite(e.time("T_plat")),
        _or_infinite(run.T_plat),
        plateau_estimate(e),
        _or_infinite(laws.T_plat),
        _or_infinite(e.time("T_II")),
        _or_infinite(run.T_II),
        second_phase_estimate(e) if finite else math.inf,
        _or_infinite(laws.T_II),
    ]


def _steps(e: Evidence, learning_rate: float) -> int:
    """Return steps enough to pass the flow's T_II, within what a descent may take."""
    ends = [t for t in (e.time("T_plat"), e.time("T_II")) if t is not None]
    most = _MOST_STEPS if find_spec("numba") is not None else _MOST_STEPS_WITHOUT_NUMBA
    return min(math.ceil((1.05 * max(ends, default=1500.0) + 10) / learning_rate), most)


def _or_infinite(value: float | str | None) -> float:
    return math.inf if value is None else float(value)

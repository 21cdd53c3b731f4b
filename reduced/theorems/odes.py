"""The prediction ODEs (Lem D.2–D.3, E.5–E.6, F.2–F.3) against difference quotients of f in the flow."""

from __future__ import annotations

import numpy as np

from reduced.solve.generated import COEFFICIENTS
from reduced.theorems.evidence import Evidence

_PLACES = 12
_STEP = 1e-2


def prediction_ode_error(e: Evidence, phase: str, begin: str, end: str | None) -> float | None:
    """Return the largest relative deviation of ḟ± from the prediction ODE inside a phase.

    Arguments: evidence; phase II, III or IV, whose coefficients are taken at the network's own living
    fractions; begin, end: the names of the measured times between which to look (end None or beyond the flow:
    to its end). ḟ comes from central differences of the flow's f, extrapolated once. Returns None when the
    phase does not come.
    """
    start = e.time(begin)
    stop = (e.time(end) if end else None) or e.flow.end
    if e.regime is None or start is None or start >= stop:
        return None
    rates = COEFFICIENTS[phase](
        len(e.positive) / e.m, len(e.negative) / e.m, e.kappa2**2, e.cosine, np.sin(e.delta) ** 2
    )
    length = stop - start
    # dense near the start of the phase, where f moves fastest, but no nearer than rounding allows
    nearest = min(max(1e-6 * length, 1e-3 * start), 0.1 * length)
    times = start + np.geomspace(nearest, 0.9 * length, _PLACES)
    return max(_deviation(e, float(t), min(float(t) - start, stop - float(t)) * _STEP, rates) for t in times)


def _deviation(e: Evidence, t: float, h: float, rates: tuple[float, ...]) -> float:
    A, B, C, D = rates
    P, Q = e.forces(t)
    predicted = np.array([A * P - B * Q, C * P - D * Q])
    size = np.array([A * P + B * Q, C * P + D * Q])
    coarse, fine = (_quotient(e, t, step) for step in (h, h / 2))
    return float(np.max(np.abs((4 * fine - coarse) / 3 - predicted) / size))


def _quotient(e: Evidence, t: float, h: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    ahead, behind = e.flow.at(t + h), e.flow.at(t - h)
    result: np.ndarray[tuple[int], np.dtype[np.float64]] = (ahead - behind) / ((t + h) - (t - h))
    return result

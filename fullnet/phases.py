"""The phases of a two-point run, read off the log of a flow (never from formulas of the reduced model)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullnet.clock import LINEAR, log_time
from fullnet.detection import Plateau, learned, plateaus
from fullnet.errors import InputError
from fullnet.shown import shown
from fullnet.trajectory import Event, Trajectory

TIMES = ("T_r_equals_c", "last_phase_one_event", "T_plat", "T_II", "T_III_PT", "T_III")


@dataclass(frozen=True, eq=False)
class Phases:
    """Measured times of a two-point run (None: never within the run) and the neurons that live on.

    times: T_I = 10√(κ₁/κ₂) with κ₁ = √m max‖wₖ(0)‖ (a definition, not a measurement); T_r_equals_c, the first
    time r = Q/P reaches c = cos Δ; last_phase_one_event, the last switch before it; T_plat, from which on f₋
    < 0; T_II, the first positive ``++`` neuron to lose x₋ after r = c; T_III_PT, the last living one to do
    so; T_III, the first sliding negative neuron to become active on x₊ again after r = c. errors: estimated
    absolute errors of these times, empty unless the flow was computed with ``estimate_error=True``. positive,
    negative, dead: indices at the end.
    """

    times: dict[str, float | None]
    errors: dict[str, float]
    positive: NDArray[np.intp]
    negative: NDArray[np.intp]
    dead: NDArray[np.intp]
    plateaus: tuple[Plateau, ...]

    __repr__ = shown

    def _repr_html_(self) -> str:
        from fullnet.notebook import phases_html

        return phases_html(self)


def phase_times(trajectory: Trajectory) -> Phases:
    """Measure the phases of a flow on two-point data.

    Arguments: trajectory, the flow. Returns Phases, whose times are flow times. Raises InputError for other
    data. Source: Theorems 4.1, 4.4–4.8 define the times.
    """
    if not trajectory.data.is_two_point:
        raise InputError("trajectory", f"{len(trajectory.data.y)} data points", "a flow on two-point data")
    times = _times(trajectory)
    living, sign = trajectory.living, trajectory.network.sign
    return Phases(
        times={"T_I": 10 * math.sqrt(trajectory.network.kappa1 / trajectory.network.kappa2), **times},
        errors=_errors(trajectory, trajectory.shadow, times) if trajectory.shadow else {},
        positive=np.flatnonzero(living & (sign > 0)),
        negative=np.flatnonzero(living & (sign < 0)),
        dead=np.flatnonzero(~living),
        plateaus=plateaus(trajectory),
    )


def _times(trajectory: Trajectory) -> dict[str, float | None]:
    reached = _ratio_reaches_cosine(trajectory)
    bound = math.inf if reached is None else reached
    early = [event.t for event in trajectory.events if event.t < bound]
    late = [event for event in trajectory.events if event.t >= bound]
    losses = [event for event in late if _positive(trajectory, event) and _loses_minus(event)]
    lasting = [event.t for event in losses if trajectory.living[event.neuron]]
    regained = [event.t for event in late if not _positive(trajectory, event) and _regains_plus(event)]
    return {
        "T_r_equals_c": reached,
        "last_phase_one_event": early[-1] if early else None,
        "T_plat": _plateau_end(trajectory),
        "T_II": losses[0].t if losses else None,
        "T_III_PT": lasting[-1] if lasting else None,
        "T_III": regained[0] if regained else None,
    }


def _ratio_reaches_cosine(trajectory: Trajectory) -> float | None:
    signs = trajectory.turns([trajectory.data.cosine, -1.0])
    return next((t for t, sign in signs if sign <= 0), None)


def _plateau_end(trajectory: Trajectory) -> float | None:
    """Return the time from which f₋ < 0; None too for a run so short that f₋ has its sign from the start."""
    time, sign = trajectory.pieces.prediction_signs(1)[-1]
    return time if sign < 0 and learned(trajectory, 1) is not None else None


def _positive(trajectory: Trajectory, event: Event) -> bool:
    return bool(trajectory.network.sign[event.neuron] > 0)


def _loses_minus(event: Event) -> bool:
    return event.before == "++" and event.after[1] != "+"


def _regains_plus(event: Event) -> bool:
    return event.before[0] == "0" and event.after[0] == "+"


def _errors(trajectory: Trajectory, shadow: Trajectory, times: dict[str, float | None]) -> dict[str, float]:
    """Compare with the flow's second computation; T_plat is no better known than f over its speed allows."""
    other = _times(shadow)
    known = {name: t for name, t in times.items() if t is not None}
    twins = {name: other[name] for name in known}
    worst = max(
        (abs(t - twin) / t for t, twin in zip(known.values(), twins.values(), strict=True) if t and twin),
        default=0.0,
    )
    errors = {name: max(float(trajectory.time_error(t)), t * worst) for name, t in known.items()}
    if "T_plat" in known:
        errors["T_plat"] = max(errors["T_plat"], _crossing_error(trajectory, known["T_plat"]))
    return errors


def _crossing_error(trajectory: Trajectory, t: float) -> float:
    piece = trajectory.pieces.locate(np.array([t]))[0]
    rates = trajectory.history.rates(trajectory.history.counts(piece))[0]
    # t ∂f₋/∂t: forces alone may leave the range of doubles
    with np.errstate(over="ignore", invalid="ignore"):
        speed = abs(float(rates[1] @ np.exp(trajectory.log_forces(t) + log_time(t))))
    return min(t, LINEAR) * float(trajectory.prediction_error(t)) / speed if speed > 0 else math.inf

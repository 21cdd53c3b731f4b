"""Gradient flow, event by event: Taylor series, exact switches, Filippov sliding (derived here).

Between events all neurons of one sign and state move by one displacement, linear in the impulses Sⱼ = ∫ Uⱼ
dt, so a smooth piece is an ODE in the N forces alone, whatever m and d are. Its Taylor series gives dense
output and the events as roots of polynomials; no step crosses a kink. Steps follow the forces, so they grow
like t.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullnet import checks
from fullnet.checks import Floats
from fullnet.crowds import EPS, Crowd, Crowds
from fullnet.data import DataSet
from fullnet.decide import RIDGES, Neuron, settle
from fullnet.errors import InputError
from fullnet.loss import Loss, loss_named
from fullnet.network import Network, matching, predictions
from fullnet.pieces import Pieces
from fullnet.series import earliest, force_series, integrated, step_length, stretched, value_at
from fullnet.surfaces import State, Surfaces
from fullnet.trajectory import Event, Outcome, Trajectory, with_shadow

Progress = Callable[[float, int], None]

_ORDER, _SHADOW_ORDER = 24, 20
_LONGEST, _SHORTEST = 1e300, 1e-300
_LATEST = 1e300


@dataclass(frozen=True)
class Budget:
    """The most a flow may use: smooth pieces, seconds of wall time (None: no bound)."""

    steps: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        """Check the bounds; raise InputError."""
        if self.steps is not None:
            checks.count(self.steps, "budget steps", 0)
        if self.seconds is not None and checks.number(self.seconds, "budget seconds") < 0:
            raise InputError("budget seconds", self.seconds, "a number ≥ 0")


def gradient_flow(
    network: Network,
    data: DataSet,
    until: float,
    loss: str = "exp",
    ridge: str | None = None,
    tolerance: float = 2.0**-56,
    budget: Budget | None = None,
    on_progress: Progress | None = None,
    estimate_error: bool = False,
) -> Trajectory:
    """Follow the gradient flow of all weights from t = 0 to ``until``, with every switch of every neuron.

    Arguments: network; data; until > 0, flow time; loss ``exp`` or ``logistic``; ridge ``active``,
    ``inactive`` or ``slide``, the solution taken from a repelling kink; tolerance, the truncation error of a
    step relative to the forces; budget; on_progress(t, events so far), called now and then; estimate_error
    computes the flow a second time with another order, other steps and other roundings. Returns a Trajectory
    (outcome ``finished`` or ``budget``). Raises InputError, and NotUnique where a neuron lies on a repelling
    kink and no ridge is given.
    """
    matching(network, data)
    until = checks.positive(until, "until")
    if until > _LATEST:
        raise InputError("until", until, f"at most {_LATEST:g}")
    if ridge is not None:
        checks.choice(ridge, "ridge", RIDGES)
    tolerance = checks.positive(tolerance, "tolerance")
    if tolerance > 1e-3:
        raise InputError("tolerance", tolerance, "at most 1e-3")
    run = _Run(network, data, loss_named(loss), ridge)
    result = run.to(until, _ORDER, tolerance, budget or Budget(), on_progress)
    if not estimate_error:
        return result
    second = _Run(network, data, loss_named(loss), ridge, mirrored=True)
    return with_shadow(result, second.to(until, _SHADOW_ORDER, tolerance / 4, budget or Budget(), None))


class _Run:
    """One flow under way: time, predictions, impulses, crowds, and the log."""

    def __init__(
        self, network: Network, data: DataSet, loss: Loss, ridge: str | None, mirrored: bool = False
    ) -> None:
        self.network, self.data, self.loss, self.ridge = network, data, loss, ridge
        self.surfaces = Surfaces(data, mirrored)
        self.share = network.kappa2**2 / len(network.sign)
        self.log_weights = np.log(data.weights)
        self.t = 0.0
        self.f = predictions(network, data)
        self.impulses = (np.zeros(len(data.y)), np.zeros(len(data.y)))
        self.events: list[Event] = []
        self.event_states: list[State] = []
        self.event_pieces: list[int] = []
        self.pieces: list[tuple[Any, ...]] = []
        self.scale_forces()
        self.crowds = self.gather()
        self.start_states = tuple(self.crowds.state)
        self.settle_predictions()

    def gather(self) -> Crowds:
        """Put every neuron into the crowd of its initial state; those exactly on a kink are settled first."""
        places = self.surfaces.places(self.network.W, self.network.scale)
        signs = [int(sign) for sign in self.network.sign]
        crowds = Crowds(self.surfaces, signs, places)
        for k, sides in enumerate(np.sign(places).astype(int).tolist()):
            state = tuple(sides)
            on = [s for s, side in enumerate(state) if side == 0]
            if on:
                neuron = Neuron(k, signs[k], state, arriving=False)
                state = settle(self.surfaces, neuron, on, self.u, self.ridge)
            crowds.enter(k, state, on)
        crowds.refresh()
        return crowds

    def scale_forces(self) -> None:
        """Set the forces u relative to the leading one, and the logarithm of that one."""
        margin = self.data.y * self.f
        log_force = self.log_weights + self.loss.log_force(margin)
        self.lead = int(log_force.argmax())
        self.log_lead = float(log_force[self.lead])
        self.u = np.exp(log_force - self.log_lead)
        self.q = None if self.loss is Loss.EXP else self.loss.complement(margin)

    def settle_predictions(self) -> None:
        """Set predictions to exactly 0 where no neuron is active any more."""
        self.f = np.where(self.crowds.active, self.f, 0.0)

    def to(
        self, until: float, order: int, tolerance: float, budget: Budget, on_progress: Progress | None
    ) -> Trajectory:
        """String smooth pieces together up to a time, or until the budget is used up."""
        outcome, began = Outcome.FINISHED, time.monotonic()
        while self.t < until:
            if budget.steps is not None and len(self.pieces) >= budget.steps:
                outcome = Outcome.BUDGET
            if budget.seconds is not None and time.monotonic() - began > budget.seconds:
                outcome = Outcome.BUDGET
            if outcome is Outcome.BUDGET:
                break
            self.advance(until, order, tolerance)
            if on_progress is not None and len(self.pieces) % 64 == 0:
                on_progress(self.t, len(self.events))
        return self.trajectory(until, outcome)

    def advance(self, until: float, order: int, tolerance: float) -> None:
        """Integrate one smooth piece, up to the next event or the end of the step."""
        self.scale_forces()
        rates = self.share * self.crowds.total_rates
        pace = float(np.max(np.abs(rates))) or 1.0
        growth = -self.data.y[:, None] * (rates / pace)
        series = force_series(self.u, self.q, growth, self.lead, order)
        log_unit = -self.log_lead - math.log(pace)
        left = (until - self.t) * _exp(-log_unit)
        step = min(step_length(series, tolerance), max(2 * left, _SHORTEST), _LONGEST)
        series = stretched(series, step)
        shares, clock = series[:-1], integrated(series[-1:])[0] * step
        impulse = integrated(shares) * (step / pace)
        remaining = -clock
        remaining[0] = min(left, _LONGEST)
        used, gates, exits, ended = self.next_event(shares, impulse, remaining)
        clock *= _exp(log_unit)
        self.pieces.append((self.t, used, clock, shares, step / pace, rates, self.f, *self.impulses))
        gained = value_at(impulse, used)
        self.impulses = _added(*self.impulses, gained)
        self.f = self.f + rates @ gained
        self.t = until if ended else self.t + float(value_at(clock, used))
        self.crowds.shift(gained)
        if gates or exits:
            self.scale_forces()
            self.switch(gates, exits)

    def next_event(
        self, shares: Floats, impulse: Floats, remaining: Floats
    ) -> tuple[float, list[int], list[int], bool]:
        """Return the part of the step used, the gates and exits reached then, and whether time is up.

        Arguments: the step's polynomials: shares (N, K+1), impulse (N, K+2), and the time that remains
        (K+2,).
        """
        crowds = self.crowds
        start = shares[:, 0]
        travel = np.abs(crowds.velocity) @ value_at(impulse, 1.0)
        paths = crowds.side[:, None] * (crowds.velocity @ impulse)
        paths[:, 0] = crowds.distances(travel)
        gates = np.flatnonzero(np.isfinite(paths[:, 0]))
        forms = np.sign(crowds.jump_rows @ start)[:, None] * (crowds.exit_rows @ shares)
        forms[:, 0] = np.maximum(forms[:, 0], 8 * EPS * (np.abs(crowds.exit_rows) @ start))
        rows = np.zeros((1 + len(gates) + len(forms), len(remaining)))
        rows[0] = remaining
        rows[1 : 1 + len(gates)] = paths[gates]
        rows[1 + len(gates) :, :-1] = forms
        used, which = earliest(rows)
        reached = [int(gates[i - 1]) for i in which if 0 < i <= len(gates)]
        left = [i - 1 - len(gates) for i in which if i > len(gates)]
        return used, reached, left, 0 in which

    def switch(self, gates: list[int], exits: list[int]) -> None:
        """Carry out the events of this moment: arrivals at kinks, and sliding crowds that leave."""
        leaving: list[tuple[Crowd, int, int]] = [self.crowds.exits[i][:3] for i in exits]
        arrived = [(k, gate % self.surfaces.count) for gate in gates for k in self.crowds.arrivals(gate)]
        for crowd, s, side in leaving:
            for k in sorted(crowd.members):
                self.move(k, _replaced(self.crowds.state[k], s, side), [s])
        for k, s in arrived:
            on = sorted({s, *self.crowds.close_to(k)})
            neuron = Neuron(k, self.crowds.signs[k], self.crowds.state[k], arriving=True)
            state = settle(self.surfaces, neuron, on, self.u, self.ridge)
            self.move(k, state, on)
        self.crowds.refresh()
        self.settle_predictions()

    def move(self, k: int, state: State, on: list[int]) -> None:
        """Move a neuron to another state (or the same, after touching a kink) and log it."""
        before = self.crowds.state[k]
        self.crowds.leave(k)
        self.crowds.enter(k, state, on)
        if state == before:
            return
        old, new = self.surfaces.pattern(before), self.surfaces.pattern(state)
        self.events.append(Event(self.t, _kind(before, state, new), k, old, new))
        self.event_states.append(state)
        self.event_pieces.append(len(self.pieces))

    def trajectory(self, until: float, outcome: Outcome) -> Trajectory:
        """Return the record of the flow so far; a last empty piece holds the final state."""
        rates = self.share * self.crowds.total_rates
        self.scale_forces()
        degree = self.pieces[0][3].shape[1] if self.pieces else 1
        still = np.zeros((len(self.u), degree))
        still[:, 0] = self.u
        self.pieces.append((self.t, 0.0, np.zeros(degree + 1), still, 0.0, rates, self.f, *self.impulses))
        pieces = Pieces(*(np.array(column) for column in zip(*self.pieces, strict=True)))
        living = np.array(["+" in p or "0" in p for p in map(self.surfaces.pattern, self.crowds.state)])
        return Trajectory(
            network=self.network,
            data=self.data,
            loss=self.loss.value,
            until=until,
            outcome=outcome,
            events=tuple(self.events),
            living=living,
            steps=len(pieces.start) - 1,
            pieces=pieces,
            surfaces=self.surfaces,
            start_states=self.start_states,
            event_states=tuple(self.event_states),
            event_pieces=tuple(self.event_pieces),
        )


def _added(high: Floats, low: Floats, gained: Floats) -> tuple[Floats, Floats]:
    """Add to a sum kept as high + low, losing nothing to the rounding of high (Knuth's two-sum)."""
    total = high + gained
    part = total - high
    return total, low + ((high - (total - part)) + (gained - part))


def _exp(x: float) -> float:
    return math.exp(min(x, 709.0))


def _replaced(state: State, s: int, side: int) -> State:
    return (*state[:s], side, *state[s + 1 :])


def _kind(before: State, after: State, pattern: str) -> str:
    if set(pattern) == {"-"}:
        return "die"
    if any(old != 0 and new == 0 for old, new in zip(before, after, strict=True)):
        return "slide"
    if any(old == 0 and new != 0 for old, new in zip(before, after, strict=True)):
        return "leave"
    return "cross"

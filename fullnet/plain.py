"""Gradient flow in plain NumPy, one smooth piece at a time."""

from __future__ import annotations

import math

import numpy as np

from fullnet.checks import Floats
from fullnet.clock import clock_after, units_between
from fullnet.crowds import EPS, Crowds
from fullnet.decide import Neuron, settle
from fullnet.forces import scaled
from fullnet.history import Ints
from fullnet.series import earliest, force_series, integrated, steady_length, step_length, stretched, value_at
from fullnet.standing import Log, Standing
from fullnet.surfaces import State
from fullnet.task import Task
from fullnet.ways import with_sides

_LONGEST, _SHORTEST = 1e300, 1e-300
_EAGER, _NARROWEST = 1.25, 1e-12


class PlainEngine:
    """One flow under way, in plain NumPy: the standing, its crowds, and the log."""

    def __init__(self, task: Task, standing: Standing, log: Log) -> None:
        """Sort the neurons of a standing into crowds."""
        self.task, self.standing, self.log = task, standing, log
        self.crowds = Crowds(task.surfaces, standing)
        self.settle_predictions()

    def settle_predictions(self) -> None:
        """Set predictions to exactly 0 where no neuron is active any more."""
        self.standing.f = np.where(self.crowds.active, self.standing.f, 0.0)

    def pause(self) -> None:
        """Leave the standing as all that is needed to go on; it always is."""

    def advance(self, until: float, most: int) -> None:
        """Integrate one smooth piece (``most`` is at least 1), up to the next event or the end of the step."""
        standing, task = self.standing, self.task
        if not self.crowds.active.any():
            self.log.add_piece(standing.t, 1.0, 0.0, standing.f, standing.impulse, standing.impulse_low)
            standing.t = until
            return
        force = scaled(standing.f, task.data, task.loss, self.crowds.active)
        rates = task.share * standing.rates
        pace = float(np.max(np.abs(rates))) or 1.0
        growth = -task.data.y[:, None] * (rates / pace)
        series = force_series(force.u, force.q, growth, int(force.lead), task.order)
        log_unit = -float(force.log_lead) - math.log(pace)
        left = units_between(standing.t, until, log_unit)
        steady = steady_length(force.u, force.q, growth, int(force.lead), task.order)
        longest = min(step_length(series, task.tolerance), steady, max(2 * left, _SHORTEST), _LONGEST)
        step = min(longest, self._aim(force.u / pace))
        series = stretched(series, step)
        clock = integrated(series[-1:])[0] * step
        impulse = integrated(series[:-1]) * (step / pace)
        # a force that moves nobody stays as it is, while the leading one falls like 1/clock rate
        shares = series[:-1] + force.idle[:, None] * series[-1:]
        remaining = -clock
        remaining[0] = min(left, _LONGEST)
        used, gates, exits, ended = self.next_event(shares, impulse, remaining)
        self.log.add_piece(standing.t, used, step / pace, standing.f, standing.impulse, standing.impulse_low)
        gained = value_at(impulse, used)
        standing.impulse, standing.impulse_low = added(standing.impulse, standing.impulse_low, gained)
        standing.f = standing.f + rates @ gained
        standing.t = until if ended else clock_after(standing.t, float(value_at(clock, used)), log_unit)
        if gates or exits:
            self.switch(gates, exits)

    def _aim(self, speeds: Floats) -> float:
        """Return a step a little beyond the earliest arrival at present speeds: no later gate needs a look."""
        crowds = self.crowds
        closing = -crowds.side * (crowds.velocity @ speeds)
        distance = crowds.distances(np.zeros_like(closing))
        with np.errstate(over="ignore"):
            steps = np.where(closing > 0, distance / np.where(closing > 0, closing, 1.0), np.inf)
        return max(_EAGER * float(steps.min(initial=np.inf)), _NARROWEST)

    def next_event(
        self, shares: Floats, impulse: Floats, remaining: Floats
    ) -> tuple[float, list[int], list[int], bool]:
        """Return the part of the step used, the gates and exits reached then, and whether time is up.

        Arguments: the step's polynomials: shares (N, K+1), impulse (N, K+2), and the time that remains
        (K+2,).
        """
        crowds = self.crowds
        start = shares[:, 0]
        whole = value_at(impulse, 1.0)
        travel = crowds.speed @ whole
        distance = crowds.distances(travel)
        near = np.flatnonzero(distance <= travel)
        gates = near[crowds.side.reshape(-1)[near] != 0]
        paths = crowds.side.reshape(-1)[gates, None] * (
            crowds.velocity.reshape(-1, len(start))[gates] @ impulse
        )
        paths[:, 0] = distance.reshape(-1)[gates]
        opening = self._may_open(shares)
        forms = np.sign(crowds.jump_rows[opening] @ start)[:, None] * (crowds.exit_rows[opening] @ shares)
        forms[:, 0] = np.maximum(forms[:, 0], 8 * EPS * (crowds.exit_sizes[opening] @ start))
        rows = np.zeros((1 + len(gates) + len(forms), len(remaining)))
        rows[0] = remaining
        rows[1 : 1 + len(gates)] = paths
        rows[1 + len(gates) :, :-1] = forms
        used, which = earliest(rows)
        reached = [int(gates[i - 1]) for i in which if 0 < i <= len(gates)]
        left = [int(opening[i - 1 - len(gates)]) for i in which if i > len(gates)]
        return used, reached, left, 0 in which

    def _may_open(self, shares: Floats) -> Ints:
        """Return the exits whose form may reach 0 within the step, by how far each share moves."""
        crowds = self.crowds
        moved = np.abs(shares[:, 1:]).sum(axis=1) * (1 + 1e-12)
        noise = 8 * EPS * shares[:, 0]
        value = np.sign(crowds.jump_rows @ shares[:, 0]) * (crowds.exit_rows @ shares[:, 0])
        return np.flatnonzero(value <= crowds.exit_sizes @ (moved + noise))

    def switch(self, gates: list[int], exits: list[int]) -> None:
        """Carry out the events of this moment: arrivals at kinks, and sliding crowds that leave."""
        crowds, task = self.crowds, self.task
        force = scaled(self.standing.f, task.data, task.loss).u
        leaving = [crowds.exits[i][:3] for i in exits]
        arrived: dict[int, set[int]] = {}
        for gate in gates:
            for k in crowds.arrivals(gate):
                arrived.setdefault(k, set()).add(gate % task.surfaces.count)
        for number, s, side in leaving:
            for k in sorted(crowds.all[number].members):
                self.move(k, with_sides(crowds.state(k), [s], [side]), [s])
        for k, reached in arrived.items():
            on = sorted({*reached, *crowds.close_to(k)})
            sign = self.standing.keys[self.standing.member[k]][0]
            neuron = Neuron(k, sign, crowds.state(k), arriving=True)
            self.move(k, settle(task.surfaces, neuron, on, force, task.ridge), on)
        crowds.refresh()
        self.settle_predictions()

    def move(self, k: int, state: State, on: list[int]) -> None:
        """Move a neuron to another crowd (or the same, after touching a kink) and log it."""
        before, after = self.crowds.move(k, state, on)
        if before != after:
            self.log.add_move(self.standing.t, k, before, after, self.log.pieces)


def added(high: Floats, low: Floats, gained: Floats) -> tuple[Floats, Floats]:
    """Add to a sum kept as high + low, losing nothing to the rounding of high (Knuth's two-sum)."""
    total = high + gained
    part = total - high
    return total, low + ((high - (total - part)) + (gained - part))

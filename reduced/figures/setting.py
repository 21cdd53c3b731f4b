"""What the figures show: two data points, a network, its flow, and the collapsed model it hands over to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

import fullnet
from reduced.errors import InputError
from reduced.maxmargin.network import as_float
from reduced.numbers import Exact, ExactLike, exact
from reduced.parameters import problem as checked_problem
from reduced.parameters import require_positive
from reduced.records import Loss, Problem, Start, Timeline
from reduced.solve.limit import LimitDirection
from reduced.solve.limit import limit as limit_direction
from reduced.solve.taylor import taylor_timeline
from reduced.solve.timeline import timeline as exact_timeline

LAST_TIME = 1e12
DIGITS = 15
"""More than a picture shows, as many as a double holds."""

_NOISIEST = 20


@dataclass(frozen=True, eq=False)
class Setting:
    """One run and everything the figures read off it, each computed when first asked for.

    problem: p, Δ, κ₂ and the loss (its α± are the κ₁ → 0 law); network, at t = 0; kappa1, law (``sphere``,
    ``gaussian``) and seed, by which others like it are drawn; until, the last flow time; ridge, the choice on
    repelling kinks. Build the paper's with :func:`paper_setting`.
    """

    problem: Problem
    network: fullnet.Network
    kappa1: float
    law: str = "sphere"
    seed: int = 0
    until: float = LAST_TIME
    ridge: str | None = None

    @property
    def m(self) -> int:
        """The number of neurons."""
        return len(self.network.sign)

    @property
    def dim(self) -> int:
        """The dimension d."""
        return int(self.network.W.shape[1])

    @cached_property
    def origin(self) -> str:
        """Where the initial weights are from: ``seed 0``, or ``given weights`` when the seed does not draw them."""
        own = self.drawn(self.seed)
        same = np.array_equal(own.W, self.network.W) and np.array_equal(own.sign, self.network.sign)
        return f"seed {self.seed}" if same else "given weights"

    @property
    def words(self) -> str:
        """The parameters in one line, such as ``p = 4, Δ = π/15, m = 100, d = 20, seed 0``."""
        delta = str(self.problem.delta).replace("pi", "π")
        return f"p = {self.problem.p}, Δ = {delta}, m = {self.m}, d = {self.dim}, {self.origin}"

    @property
    def noisy_words(self) -> str:
        """The parameters of :attr:`noisy_path` in one line."""
        return f"p = {self.problem.p}, noisy points and network with m = {self.m}, d = 2, seed {self.seed}"

    def drawn(self, seed: int, dim: int | None = None) -> fullnet.Network:
        """Draw a network like this one with another seed, in dimension dim (default: the same)."""
        return fullnet.initial_network(
            self.m, dim or self.dim, self.kappa1, self.network.kappa2, seed, self.law
        )

    @cached_property
    def data(self) -> fullnet.DataSet:
        """The two data points."""
        p, delta = as_float(self.problem.p, "p"), as_float(self.problem.delta, "delta")
        return fullnet.two_point(p, delta, self.dim)

    @cached_property
    def path(self) -> fullnet.Trajectory:
        """The network's gradient flow."""
        return fullnet.gradient_flow(self.network, self.data, self.until, self.problem.loss.value, self.ridge)

    @cached_property
    def phases(self) -> fullnet.Phases:
        """The phase times measured on the flow."""
        return fullnet.phase_times(self.path)

    @property
    def handover(self) -> float:
        """The time at which the network is handed to the reduced model: its last Phase I event."""
        return self.phases.times["last_phase_one_event"] or 0.0

    @cached_property
    def living(self) -> Problem:
        """The problem with α± the network's own living fractions at the handover."""
        alive = np.array([set(pattern) != {"-"} for pattern in self.path.patterns(self.handover)])
        plus, minus = (int((alive & (self.network.sign == sign)).sum()) for sign in (1, -1))
        return replace(self.problem, alpha_plus=exact(plus) / self.m, alpha_minus=exact(minus) / self.m)

    @cached_property
    def start(self) -> Start:
        """The network's state at the handover, as a state of the collapsed model."""
        net, t = self.network, self.handover
        on_plus, on_minus = (
            net.second_layer * np.maximum(self.path.neurons(t) @ x, 0.0) for x in self.data.X
        )
        shares = [exact(float(on_minus[net.sign == sign].sum())) for sign in (1, -1)]
        return Start(exact(float(on_plus.sum())), shares[0] + shares[1], shares[1])

    @cached_property
    def timeline(self) -> Timeline:
        """The collapsed model's timeline from the handover on; its times are counted from there."""
        solve = exact_timeline if self.problem.loss is Loss.EXP else taylor_timeline
        return solve(self.living, self.start, DIGITS)

    @cached_property
    def limit(self) -> LimitDirection:
        """The limit direction and margins of the network's living groups."""
        fractions = (exact(int((self.network.sign == sign).sum())) / self.m for sign in (1, -1))
        return limit_direction(self.living, DIGITS, *fractions)

    @cached_property
    def noisy_path(self) -> fullnet.Trajectory:
        """The flow of a network like this one, in the plane, on the paper's noisy data (§A.3).

        Raises InputError unless p is an integer of at most 20: the cost of 3(p + 1) points grows like p³.
        """
        p = as_float(self.problem.p, "p")
        if p > _NOISIEST:
            raise InputError("p", p, f"at most {_NOISIEST} for the 3(p + 1) noisy points")
        data = fullnet.noisy(p, 2, self.seed)
        return fullnet.gradient_flow(
            self.drawn(self.seed, dim=2), data, self.until, self.problem.loss.value, self.ridge
        )


def paper_setting(
    problem: Problem | None = None,
    kappa1: ExactLike = "1/10",
    m: int = 100,
    dim: int = 20,
    seed: int = 0,
    law: str = "sphere",
    until: float = LAST_TIME,
) -> Setting:
    """Build a Setting; the defaults are the paper's.

    Arguments: problem (p, Δ, κ₂, loss), default p = 4, Δ = π/15, κ₂ = 1; kappa1 > 0; m neurons in dimension
    dim ≥ 2; seed and law (``sphere``, ``gaussian``) of the draw; until, the last flow time. Raises InputError.
    """
    found: Problem = checked_problem() if problem is None else problem
    scale: Exact = exact(kappa1, "kappa1")
    require_positive(scale, "kappa1")
    size, kappa2 = as_float(scale, "kappa1"), as_float(found.kappa2, "kappa2")
    return Setting(found, fullnet.initial_network(m, dim, size, kappa2, seed, law), size, law, seed, until)

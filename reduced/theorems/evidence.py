"""Everything the statements are measured on: flows, phases and exact runs of one network, kept once made."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

import fullnet
from fullnet.checks import Floats
from reduced.errors import InputError
from reduced.maxmargin.network import Angles, LimitVectors, angles_to_limit, as_float
from reduced.numbers import ExactLike, exact
from reduced.records import Loss, Problem, Regime
from reduced.shown import shown
from reduced.solve.limit import LimitValues, limit_values
from reduced.solve.network import ExactRun, network_flow
from reduced.solve.promise import private_context
from reduced.solve.timeline import regime

LAST_TIME = 1e12
EXACT_DIGITS = 25
HYPOTHESIS_POWER = 8
KAPPA_FACTORS = (1.0, 1e-1, 1e-2, 1e-3)
ANGLES = ("pi/10", "pi/15", "pi/20", "pi/30")
RATIOS = (2, 4, 6, 8)
LATE_POWERS = (30, 100, 300, 1000)
"""Powers of ten of the late times at which the end of training is looked at."""
LATE = f"10^{LATE_POWERS[0]} … 10^{LATE_POWERS[-1]}"


@dataclass(frozen=True, eq=False)
class Evidence:
    """One initial network on its two-point data, and all that was ever measured on it.

    ``ridge`` is the choice on repelling ridges, ``until`` the last time of the numerical flow.
    Variants (other κ₁, Δ or p with the same initial directions) are evidence of their own and kept.
    """

    network: fullnet.Network
    problem: Problem
    ridge: Any = None
    until: float = LAST_TIME
    _variants: dict[tuple[str, object], Evidence] = field(default_factory=dict, repr=False)

    __repr__ = shown

    def __post_init__(self) -> None:
        """Refuse what the statements do not speak of; raise InputError."""
        if self.problem.loss is not Loss.EXP:
            raise InputError("loss", self.problem.loss.value, "exp: the theorems are about exponential loss")
        if self.until < self.T_I:
            raise InputError("until", self.until, f"at least T_I = 10√(κ₁/κ₂) = {self.T_I:g}")

    @cached_property
    def p(self) -> float:
        """The weight ratio as a double."""
        return as_float(self.problem.p, "p")

    @cached_property
    def delta(self) -> float:
        """The angle Δ as a double."""
        return as_float(self.problem.delta, "delta")

    @property
    def kappa2(self) -> float:
        """The size κ₂ of the output weights."""
        return self.network.kappa2

    @property
    def kappa1(self) -> float:
        """The size κ₁ = √m max‖b_k(0)‖ of the initial weights."""
        return self.network.kappa1

    @property
    def m(self) -> int:
        """The number of neurons."""
        return len(self.network.sign)

    @property
    def cosine(self) -> float:
        """Return c = cos Δ."""
        return math.cos(self.delta)

    @cached_property
    def data(self) -> fullnet.DataSet:
        """The two points."""
        return fullnet.two_point(self.p, self.delta, self.network.W.shape[1])

    @cached_property
    def flow(self) -> fullnet.Trajectory:
        """The numerical gradient flow, with its error estimate."""
        return fullnet.gradient_flow(
            self.network, self.data, self.until, ridge=self.ridge, estimate_error=True
        )

    @cached_property
    def phases(self) -> fullnet.Phases:
        """The measured phase times."""
        return fullnet.phase_times(self.flow)

    def time(self, name: str) -> float | None:
        """Return a measured time by name, None when the event never came."""
        return self.phases.times[name]

    @property
    def T_I(self) -> float:
        """The paper's end of Phase I, 10√(κ₁/κ₂)."""
        return 10 * math.sqrt(self.kappa1 / self.kappa2)

    @property
    def positive(self) -> Any:
        """Indices of K₊: the positive neurons that are alive at the end."""
        return self.phases.positive

    @property
    def negative(self) -> Any:
        """Indices of K₋."""
        return self.phases.negative

    @cached_property
    def living_problem(self) -> Problem:
        """The collapsed problem with this network's own living fractions."""
        return replace(
            self.problem,
            alpha_plus=exact(len(self.positive)) / self.m,
            alpha_minus=exact(len(self.negative)) / self.m,
        )

    @cached_property
    def regime(self) -> Regime | None:
        """The regime by the measured living fractions, None when one sign has none."""
        return regime(self.living_problem)

    @property
    def alpha(self) -> float:
        """α = α₋/α₊ (infinite without a living positive neuron)."""
        return len(self.negative) / len(self.positive) if len(self.positive) else math.inf

    @cached_property
    def exact_run(self) -> ExactRun:
        """The exact m-neuron flow, for ever."""
        return network_flow(self.network.W, self.network.sign, self.problem, EXACT_DIGITS, ridge=self.ridge)

    @cached_property
    def limit(self) -> LimitValues | None:
        """The limit direction derived for the measured living fractions."""
        return None if self.regime is None else limit_values(private_context(40), self.living_problem)

    @property
    def limit_vectors(self) -> LimitVectors | None:
        """The limit direction as the angle measurement takes it."""
        ends = self.limit
        if ends is None:
            return None
        return LimitVectors(ends.rho, ends.v_plus, ends.v_minus, ends.regime, ends.gamma)

    def forces(self, t: Any) -> Floats:
        """Return (P, Q) at flow times t, shape as in :meth:`fullnet.Trajectory.at`."""
        return np.exp(self.flow.log_forces(t))

    def ratio(self, t: Any) -> Floats:
        """Return r = Q/P at flow times t (T,)."""
        logs = self.flow.log_forces(t)
        result: Floats = np.exp(logs[..., 1] - logs[..., 0])
        return result

    def late_predictions(self, power: int) -> tuple[Any, Any]:
        """Return (f₊, f₋) at t = 10^power from the exact flow, as mpf."""
        flow = self.exact_run.flow
        f_plus, f_minus = flow.predictions(flow.ctx.mpf(10) ** power)
        return f_plus, f_minus

    def late_weights(self, power: int) -> Floats:
        """Return all weights (m, d) at t = 10^power: exact flow in the data plane, frozen elsewhere."""
        flow, W = self.exact_run.flow, np.array(self.network.W)
        index, q = flow.locate(flow.ctx.mpf(10) ** power)
        across, along = math.sin(self.delta / 2), math.cos(self.delta / 2)
        for k in range(self.m):
            _, u, v = flow.particle(k, index, q)
            W[k, 0] = float(u - v) * self.network.scale / (2 * across)
            W[k, 1] = -float(u + v) * self.network.scale / (2 * along)
        return W

    def angles(self, W: Floats) -> Angles:
        """Return the angles of the living neurons to their limits (None each without a limit)."""
        ends = self.limit_vectors
        if ends is None:
            return Angles(None, None)
        living = self.flow.living
        sign = self.network.sign
        return angles_to_limit(W, living & (sign > 0), living & (sign < 0), self.problem.delta, ends)

    def with_kappa1(self, kappa1: float) -> Evidence:
        """Return the evidence of the same initial directions at another κ₁."""
        if kappa1 == self.kappa1:
            return self
        scaled = fullnet.given_network(
            self.network.W * (kappa1 / self.kappa1), self.network.sign, self.kappa2
        )
        return self._variant(("kappa1", kappa1), scaled, self.problem)

    def with_angle(self, delta: ExactLike) -> Evidence:
        """Return the evidence of the same initial weights at another Δ."""
        angle = exact(delta, "delta")
        return self._with_problem(("delta", str(angle)), replace(self.problem, delta=angle))

    def with_ratio(self, p: ExactLike) -> Evidence:
        """Return the evidence of the same initial weights at another p."""
        weight = exact(p, "p")
        return self._with_problem(("p", str(weight)), replace(self.problem, p=weight))

    def _with_problem(self, key: tuple[str, object], problem: Problem) -> Evidence:
        same = problem.p == self.problem.p and problem.delta == self.problem.delta
        return self if same else self._variant(key, self.network, problem)

    def _variant(self, key: tuple[str, object], network: fullnet.Network, problem: Problem) -> Evidence:
        if key not in self._variants:
            self._variants[key] = Evidence(network, problem, self.ridge, self.until)
        return self._variants[key]

    def over_kappa1(self) -> Iterator[Evidence]:
        """Yield the evidence at κ₁, κ₁/10, κ₁/100, κ₁/1000 (1e-1 … 1e-4 in the paper's setting)."""
        for factor in KAPPA_FACTORS:
            yield self.with_kappa1(self.kappa1 * factor)

    def over_angles(self) -> Iterator[Evidence]:
        """Yield the evidence over the paper's angles, those that keep p cos Δ > 1."""
        for text in ANGLES:
            if self.p * math.cos(as_float(exact(text), "delta")) > 1:
                yield self.with_angle(text)

    def over_ratios(self) -> Iterator[Evidence]:
        """Yield the evidence over the paper's weight ratios, those that keep p cos Δ > 1."""
        for p in RATIOS:
            if p * self.cosine > 1:
                yield self.with_ratio(p)

    @property
    def allowed_kappa1(self) -> float:
        """The greatest κ₁ that meets κ₁/κ₂ ≤ Δ⁸ here and over the swept angles (constant read as 1)."""
        smallest = min(self.delta, *(as_float(exact(text), "delta") for text in ANGLES))
        return float(self.kappa2 * smallest**HYPOTHESIS_POWER)

    def rescaled(self) -> Evidence:
        """Return the evidence of the same directions at a κ₁ that meets the hypothesis on κ₁/κ₂."""
        return self.with_kappa1(min(self.kappa1, self.allowed_kappa1))


def evidence(
    network: fullnet.Network, problem: Problem, ridge: Any = None, until: float = LAST_TIME
) -> Evidence:
    """Build the evidence of one initial network.

    Arguments: network, the initial network; problem, of which p, Δ, κ₂ count (the living fractions are
    measured; exponential loss); ridge, the choice on repelling ridges; until, the last time of the numerical
    flow. Raises InputError.
    """
    if abs(as_float(problem.kappa2, "kappa2") - network.kappa2) > 1e-12 * network.kappa2:
        raise InputError("network", f"kappa2 = {network.kappa2:g}", f"the problem's {problem.kappa2}")
    return Evidence(network, problem, ridge, until)

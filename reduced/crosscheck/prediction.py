"""The reduced side: what the prediction ODEs say from the state at the last Phase-I event on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullnet import Trajectory
from reduced.crosscheck.fates import DIES, JOINS_PLUS
from reduced.numbers import cos, sin
from reduced.records import Problem
from reduced.solve.flow import DEAD, Flow, Geometry, Particle, exact_flow
from reduced.solve.promise import private_context

# The pattern in which Phase I leaves the living neurons of each sign.
JOINED = {1: "++", -1: "0+"}
_DIGITS = 40


@dataclass(frozen=True)
class State:
    """The network at the last Phase-I event t₁: predictions, (u, v)/|a|, patterns, predicted fates."""

    t1: Any
    f: tuple[Any, Any]
    u: list[Any]
    v: list[Any]
    patterns: list[str]
    fates: list[str]
    signs: list[int]


@dataclass(frozen=True)
class Prediction:
    """Reduced dynamics from a state on; times are counted from t = 0 of the network."""

    state: State
    flow: Flow

    def times(self) -> dict[str, Any]:
        """Return T_plat, T_II, T_III_PT, T_III as mpf (None: never)."""
        flow, t1 = self.flow, self.state.t1
        signs = {particle.label: particle.sign for particle in flow.particles}
        losses = [e.time for e in flow.events if signs[e.neuron] > 0 and e.before == "++" and e.after == "+0"]
        regained = [
            e.time for e in flow.events if signs[e.neuron] < 0 and e.before == "0+" and e.after == "++"
        ]
        falls = [flow.time(index, q) for index, q, direction in flow.crossings(1) if direction < 0]
        plateau = None
        if flow.final_sign(1) < 0:
            plateau = t1 + falls[-1] if falls else t1
        return {
            "T_plat": plateau,
            "T_II": t1 + losses[0] if losses else None,
            "T_III_PT": t1 + losses[-1] if losses else None,
            "T_III": t1 + regained[0] if regained else None,
        }

    def predictions(self, t: Any) -> tuple[Any, Any]:
        """Return (f₊, f₋) at network time t ≥ t₁."""
        return self.flow.predictions(self._since(t))

    def patterns(self, t: Any) -> list[str]:
        """Return the pattern of every neuron at network time t ≥ t₁."""
        return [pattern for pattern, _, _ in self.neurons(t)]

    def neurons(self, t: Any) -> list[tuple[str, Any, Any]]:
        """Return (pattern, u, v) of every neuron at network time t ≥ t₁, u and v in units of |a|."""
        index, q = self.flow.locate(self._since(t))
        living = {particle.label for particle in self.flow.particles}
        return [
            self.flow.particle(k, index, q) if k in living else (DEAD, self.state.u[k], self.state.v[k])
            for k in range(len(self.state.signs))
        ]

    def _since(self, t: Any) -> Any:
        return max(self.flow.ctx.mpf(t) - self.state.t1, self.flow.ctx.zero)


def on_their_way(trajectory: Trajectory, t1: float) -> NDArray[np.bool_]:
    """Return the mask (m,) of neurons that are neither dead nor in the pattern of their group at t₁."""
    signs = (int(s) for s in trajectory.network.sign)
    places = zip(trajectory.patterns(t1), signs, strict=True)
    return np.array([pattern not in (JOINED[sign], DEAD) for pattern, sign in places])


def state_of(trajectory: Trajectory, t1: float, fates: NDArray[np.str_]) -> State:
    """Read the state of a numerical flow at its last Phase-I event t₁; its doubles count as exact."""
    ctx = private_context(_DIGITS)
    network, data = trajectory.network, trajectory.data
    weights = trajectory.neurons(t1)
    u, v = (weights @ x / network.scale for x in data.X)
    f = trajectory.at(t1)
    return State(
        ctx.mpf(t1),
        (ctx.mpf(float(f[0])), ctx.mpf(float(f[1]))),
        [ctx.mpf(float(x)) for x in u],
        [ctx.mpf(float(x)) for x in v],
        trajectory.patterns(t1),
        [str(fate) for fate in fates],
        [int(s) for s in network.sign],
    )


def predict_from(state: State, problem: Problem, spread: str | None = None) -> Prediction:
    """Solve the reduced dynamics from a state.

    Arguments: state; problem (p, Δ, κ₂); spread, None for every neuron its own particle, else how the group
    K₊ is collapsed into one particle: ``mean`` of its v, or ``least`` or ``greatest`` (which bound the effect
    of the spread).
    """
    ctx = private_context(_DIGITS)
    kappa2, p = problem.kappa2.evaluate(ctx), problem.p.evaluate(ctx)
    geometry = Geometry(
        cos(problem.delta).evaluate(ctx),
        (sin(problem.delta) ** 2).evaluate(ctx),
        p / (1 + p),
        1 / (1 + p),
        kappa2**2 / len(state.signs),
    )
    particles = _neurons(ctx, state) if spread is None else _groups(ctx, state, spread)
    return Prediction(state, exact_flow(ctx, geometry, particles, state.f))


def _neurons(ctx: Any, state: State) -> list[Particle]:
    particles = []
    for k, sign in enumerate(state.signs):
        pattern = _joined_pattern(state, k)
        if pattern == DEAD:
            continue
        u = ctx.zero if pattern[0] == "0" else state.u[k]
        v = ctx.zero if pattern[1] == "0" else state.v[k]
        particles.append(Particle(k, sign, 1, u, v, pattern))
    return particles


def _joined_pattern(state: State, k: int) -> str:
    """Return the pattern predicted after Phase I; a neuron still on its way keeps the one it has."""
    joined = JOINED[state.signs[k]]
    on_its_way = state.patterns[k] not in (joined, DEAD)
    if on_its_way:
        return state.patterns[k]
    return DEAD if state.fates[k] == DIES else joined


def _groups(ctx: Any, state: State, spread: str) -> list[Particle]:
    """Return K₊ and K₋ as one particle each (mass = head count)."""
    plus = [k for k, fate in enumerate(state.fates) if fate == JOINS_PLUS]
    minus = [k for k, fate in enumerate(state.fates) if fate not in (JOINS_PLUS, DIES)]
    choices: dict[str, Callable[[list[Any]], Any]] = {
        "mean": lambda values: ctx.fsum(values) / len(values),
        "least": min,
        "greatest": max,
    }
    particles = []
    if plus:
        u, v = ctx.fsum(state.u[k] for k in plus) / len(plus), choices[spread]([state.v[k] for k in plus])
        particles.append(Particle(plus[0], 1, len(plus), u, v, "++"))
    if minus:
        v = ctx.fsum(state.v[k] for k in minus) / len(minus)
        particles.append(Particle(minus[0], -1, len(minus), ctx.zero, v, "0+"))
    return particles

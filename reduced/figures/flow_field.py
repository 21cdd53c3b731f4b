"""The collapsed model's direction at every place of the plane (f₊, f₋), from the derived neuron velocities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reduced.errors import InputError
from reduced.maxmargin.network import as_float
from reduced.numbers import sign
from reduced.records import Loss, Problem, Start
from reduced.solve.generated import VELOCITY, regime_bounds

Floats = NDArray[np.float64]

# Patterns of (K₊, K₋), in the order in which a place's phase is decided.
_PATTERNS = {"II": ("++", "0+"), "III": ("+0", "0+"), "IV": ("+0", "++"), "overlap": ("++", "++")}
_LARGEST_LOG = 700.0


@dataclass(frozen=True, eq=False)
class FlowField:
    """The prediction equations of every phase, and which phase a place (f₊, f₋) belongs to.

    p; cosine = cos Δ; matrices (2, 2) by phase: (ḟ₊, ḟ₋) = matrix (P, Q); share (2,), unused: along every
    solution that passes through one given start, the share of K₊ in f₋ is share·(f₊, f₋) + unused in Phase II;
    loss.
    """

    p: float
    cosine: float
    matrices: Mapping[str, Floats]
    share: Floats
    unused: float
    loss: Loss

    def ratio(self, f_plus: ArrayLike, f_minus: ArrayLike) -> Floats:
        """Return r = Q/P at predictions of any shape."""
        a, b = np.asarray(f_plus, dtype=float), -np.asarray(f_minus, dtype=float)
        logs = a - b if self.loss is Loss.EXP else np.logaddexp(0, a) - np.logaddexp(0, b)
        ratio: Floats = np.exp(np.clip(logs - np.log(self.p), -_LARGEST_LOG, _LARGEST_LOG))
        return ratio

    def at(self, margins: ArrayLike, ratio: ArrayLike) -> tuple[Floats, Floats]:
        """Return the predictions (f₊, f₋) with f₊ − f₋ = margins and Q/P = ratio."""
        half, scaled = np.asarray(margins, dtype=float) / 2, self.p * np.asarray(ratio, dtype=float)
        if self.loss is Loss.EXP:
            middle = np.log(scaled) / 2
        else:
            # e^half E² + (1 − p r) E − p r e^half = 0 for E = e^middle
            lean = (scaled - 1) * np.exp(-half) / 2
            middle = np.log(lean + np.sqrt(lean**2 + scaled))
        return middle + half, middle - half

    def velocity(self, f_plus: Floats, f_minus: Floats) -> tuple[Floats, Floats]:
        """Return (ḟ₊, ḟ₋)/(P + Q) by the equations of the phase that each place belongs to."""
        r = self.ratio(f_plus, f_minus)
        lower, upper = regime_bounds(self.cosine)
        joined = (self.share[0] * f_plus + self.share[1] * f_minus + self.unused > 0) | (r < lower)
        slides = r <= upper
        places = [joined & slides, ~joined & slides, ~joined & ~slides, joined & ~slides]
        forces = np.stack([1 / (1 + r), r / (1 + r)])
        speeds = [np.tensordot(self.matrices[name], forces, axes=1) for name in _PATTERNS]
        found = np.select([np.stack([place, place]) for place in places], speeds)
        return found[0], found[1]

    def ratio_speed(self, f_plus: Floats, f_minus: Floats) -> Floats:
        """Return ṙ/(P + Q)."""
        on_plus, on_minus = self.velocity(f_plus, f_minus)
        if self.loss is Loss.LOGISTIC:
            on_plus, on_minus = on_plus / (1 + np.exp(-f_plus)), on_minus / (1 + np.exp(f_minus))
        return self.ratio(f_plus, f_minus) * (on_plus + on_minus)

    def manifold(self, phase: str) -> float:
        """Return the ratio ρ at which f₊ + f₋ rests in a phase: its slow manifold."""
        on_P, on_Q = self.matrices[phase].sum(axis=0)
        return float(-on_P / on_Q)


def flow_field(problem: Problem, start: Start) -> FlowField:
    """Evaluate the derived velocities for a problem with two living groups, seen from a start.

    Raises InputError when a group is empty.
    """
    if not sign(problem.alpha_plus) or not sign(problem.alpha_minus):
        given = f"{problem.alpha_plus}, {problem.alpha_minus}"
        raise InputError("alpha_plus, alpha_minus", given, "two positive fractions")
    names = ("p", "delta", "alpha_plus", "alpha_minus", "kappa2")
    p, delta, plus, minus, kappa2 = (as_float(vars(problem)[name], name) for name in names)
    c, s2 = float(np.cos(delta)), float(np.sin(delta) ** 2)
    part_of_plus, _ = (plus * kappa2**2 * _rates(pattern, c, s2) for pattern in ("++", "0+"))
    matrices = {
        name: plus * kappa2**2 * _rates(first, c, s2) + minus * kappa2**2 * _rates(second, c, s2)
        for name, (first, second) in _PATTERNS.items()
    }
    share = np.linalg.solve(matrices["II"].T, part_of_plus[1])
    f_plus, f_minus, negative = (as_float(value, name) for name, value in vars(start).items())
    unused = f_minus - negative - float(share @ np.array([f_plus, f_minus]))
    return FlowField(p, c, matrices, share, unused, problem.loss)


def _rates(pattern: str, c: float, s2: float) -> Floats:
    """Return what a neuron of a pattern adds to (ḟ₊, ḟ₋), per unit of mass: coefficients (2, 2) on P and Q."""
    active = np.array([[mark == "+"] for mark in pattern])
    return np.where(active, np.array(VELOCITY[pattern](c, s2), dtype=float), 0.0)

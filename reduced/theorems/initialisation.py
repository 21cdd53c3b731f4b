"""Small κ₁: what a smaller initialisation changes – the transition – and what it does not – the plateau."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reduced.numbers import decimal_string
from reduced.solve.network import network_flow
from reduced.theorems.evidence import EXACT_DIGITS, Evidence
from reduced.theorems.scaling import power

KAPPA_SWEEP = tuple(10.0**-k for k in range(1, 9))


@dataclass(frozen=True)
class SmallKappa1:
    """The phase times of one network's directions over κ₁ (decimal strings in ``times``).

    times: (κ₁, T_plat, T_II, T_III^PT); plateau_limit: T_plat at κ₁ → 0 by extrapolation (error of first
    order removed); plateau_order: the fitted power of κ₁ in T_plat − limit; transition_order: that in
    T_III^PT − T_II.
    """

    times: tuple[tuple[str, str, str, str], ...]
    transitions: tuple[float, ...]
    plateau_errors: tuple[float, ...]
    plateau_limit: float
    plateau_order: float
    transition_order: float

    @property
    def plateau_settles(self) -> bool:
        """Whether T_plat tends to a positive limit, its distance vanishing with some positive power of κ₁."""
        return self.plateau_limit > 0 and self.plateau_order > 0.5

    @property
    def transition_shrinks(self) -> bool:
        """Whether T_III^PT − T_II vanishes with some positive power of κ₁."""
        return self.transition_order > 0.5

    @property
    def plateau_words(self) -> str:
        """The limit of the plateau in words."""
        return (
            f"T_plat → {self.plateau_limit:.10g}, |T_plat − limit| ∝ κ₁^{self.plateau_order:.3f} "
            f"(κ₁ = {self.times[0][0]} … {self.times[-1][0]})"
        )


def small_kappa1(e: Evidence, kappa1: Sequence[float] = KAPPA_SWEEP) -> SmallKappa1 | None:
    """Sweep κ₁ with the same initial directions, by the exact flow (25 digits: doubles lose the differences).

    Arguments: evidence; kappa1, decreasing values. Returns None when a phase time of the sweep is infinite.
    """
    rows = []
    for value in kappa1:
        network = e.with_kappa1(value).network
        times = network_flow(network.W, network.sign, e.problem, EXACT_DIGITS).times
        T_plat, T_II, T_III_PT = (times[name] for name in ("T_plat", "T_II", "T_III_PT"))
        if T_plat is None or T_II is None or T_III_PT is None:
            return None
        rows.append((value, T_plat, T_II, T_III_PT))
    return _fitted(rows)


def over_small_kappa1(e: Evidence) -> SmallKappa1 | None:
    """Sweep κ₁ over its four decades with the numerical flow: quick, and enough for four of them."""
    rows = []
    for variant in e.over_kappa1():
        T_plat, T_II, T_III_PT = (variant.time(name) for name in ("T_plat", "T_II", "T_III_PT"))
        if T_plat is None or T_II is None or T_III_PT is None:
            return None
        rows.append((variant.kappa1, T_plat, T_II, T_III_PT))
    return _fitted(rows)


def _fitted(rows: Sequence[tuple[float, Any, Any, Any]]) -> SmallKappa1:
    """Fit both orders; the limit comes from the last two rows with the error taken as first order."""
    kappas, plateaus = [row[0] for row in rows], [row[1] for row in rows]
    step = kappas[-2] / kappas[-1]
    limit = (step * plateaus[-1] - plateaus[-2]) / (step - 1)
    errors = [abs(float(t - limit)) for t in plateaus[:-1]]
    transitions = [float(row[3] - row[2]) for row in rows]
    texts = tuple(
        (f"{kappa1:.3g}", _text(T_plat), _text(T_II), _text(T_III_PT))
        for kappa1, T_plat, T_II, T_III_PT in rows
    )
    return SmallKappa1(
        texts,
        tuple(transitions),
        tuple(errors),
        float(limit),
        power(kappas[:-1], errors),
        power(kappas, transitions),
    )


def _text(t: Any) -> str:
    return f"{t:.13g}" if isinstance(t, float) else decimal_string(t, 20)

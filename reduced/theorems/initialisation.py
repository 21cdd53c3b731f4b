"""Small κ₁: what a smaller initialisation changes – the transition – and what it does not – the plateau."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from reduced.numbers import decimal_string
from reduced.shown import shown
from reduced.solve.network import network_flow
from reduced.theorems.evidence import EXACT_DIGITS, Evidence
from reduced.theorems.scaling import power

KAPPA_SWEEP = tuple(10.0**-k for k in range(1, 9))


@dataclass(frozen=True)
class KappaTimes:
    """The phase times at one κ₁ as mpf or float numbers, None when an event does not come."""

    kappa1: float
    T_plat: Any
    T_II: Any | None
    T_III_PT: Any | None

    @property
    def transition(self) -> float | None:
        """T_III^PT − T_II."""
        if self.T_II is None or self.T_III_PT is None:
            return None
        return float(self.T_III_PT - self.T_II)

    def texts(self) -> tuple[str, str, str, str]:
        """Return κ₁ and the three times as decimal strings (``inf`` for never)."""
        return f"{self.kappa1:.3g}", _text(self.T_plat), _text(self.T_II), _text(self.T_III_PT)


@dataclass(frozen=True)
class SmallKappa1:
    """The phase times of one network's directions over decreasing κ₁, and the powers fitted to them.

    plateau_limit: T_plat at κ₁ → 0, extrapolated from the last two rows with an error of first order;
    plateau_order: the power of κ₁ in |T_plat − limit|; transition_order: that in T_III^PT − T_II, None when
    the transition does not come.
    """

    rows: tuple[KappaTimes, ...]
    plateau_limit: float
    plateau_order: float
    transition_order: float | None

    __repr__ = shown

    @property
    def plateau_settles(self) -> bool:
        """Whether T_plat tends to a positive limit, its distance vanishing with some positive power of κ₁."""
        return self.plateau_limit > 0 and self.plateau_order > 0.5

    @property
    def transition_shrinks(self) -> bool:
        """Whether T_III^PT − T_II vanishes with some positive power of κ₁."""
        return self.transition_order is not None and self.transition_order > 0.5

    @property
    def plateau_words(self) -> str:
        """The limit of the plateau in words."""
        return (
            f"T_plat → {self.plateau_limit:.10g}, |T_plat − limit| ∝ κ₁^{self.plateau_order:.3f} "
            f"(κ₁ = {self.rows[0].kappa1:.3g} … {self.rows[-1].kappa1:.3g})"
        )


def small_kappa1(
    e: Evidence, kappa1: Sequence[float] = KAPPA_SWEEP, on_step: Callable[[str], None] | None = None
) -> SmallKappa1 | None:
    """Sweep κ₁ with the same initial directions, by the exact flow (doubles lose the differences).

    Arguments: e, the evidence of a network; kappa1, at least three decreasing values; on_step, told in words
    before each. Returns None when the plateau is infinite. Source: Thm 4.5 (last claim) and Thm 4.6.
    """
    rows = []
    for value in kappa1:
        if on_step is not None:
            on_step(f"κ₁ = {value:.0e}")
        network = e.with_kappa1(value).network
        times = network_flow(network.W, network.sign, e.problem, EXACT_DIGITS, ridge=e.ridge).times
        if times["T_plat"] is None:
            return None
        rows.append(KappaTimes(value, times["T_plat"], times["T_II"], times["T_III_PT"]))
    return _fitted(rows)


def over_small_kappa1(e: Evidence) -> SmallKappa1 | None:
    """Sweep κ₁ over its four decades with the numerical flow: quick, and enough for four of them."""
    rows = []
    for variant in e.over_kappa1():
        T_plat, T_II, T_III_PT = (variant.time(name) for name in ("T_plat", "T_II", "T_III_PT"))
        if T_plat is None:
            return None
        rows.append(KappaTimes(variant.kappa1, T_plat, T_II, T_III_PT))
    return _fitted(rows)


def _fitted(rows: Sequence[KappaTimes]) -> SmallKappa1:
    """Fit both powers."""
    kappas, plateaus = [row.kappa1 for row in rows], [row.T_plat for row in rows]
    step = kappas[-2] / kappas[-1]
    limit = (step * plateaus[-1] - plateaus[-2]) / (step - 1)
    errors = [abs(float(t - limit)) for t in plateaus[:-1]]
    spans = [row.transition for row in rows]
    found = [span for span in spans if span is not None]
    order = power(kappas, found) if len(found) == len(rows) else None
    return SmallKappa1(tuple(rows), float(limit), power(kappas[:-1], errors), order)


def _text(t: Any | None) -> str:
    if t is None:
        return "inf"
    return f"{t:.13g}" if isinstance(t, float) else decimal_string(t, 20)

"""Series in Δ of times, predictions and margins as Δ → 0, three terms each, derived from the closed form.

At the events of Phase II the distance e^(−x) from the fixed ratio is beyond all orders in Δ and is left out;
all else is a power series in d = Δ². With L = ln(r∞/r₀), s = C/(A+C), β = (AD − BC)/(gh), g = A+C, h = B+D,
the event "start + on_P S + on_Q R = 0" comes when the growth exponent is E = β (start + λL)/(−κ), λ = on_P/g,
κ = λ + on_Q/h, and

    T = e^{−sL} [(e^E − 1)/β + K]/(h Q₀),     K = ∫₀^{z₀} ((1−ζ)^{−s} − 1) (ζ/z₀)^{−β} dζ/ζ,  z₀ = 1 − e^{−L},

whose expansion around s = ½, β = 0 has dilogarithms, checked by differentiation. Derived here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import sympy as sp

from reduced.derive.export import Formula, Formulas
from reduced.derive.limit import fixed_ratio, limit
from reduced.derive.phases import phase
from reduced.derive.plateau import f_minus_0, f_plus_0, in_powers_of_p, plateau_end, share_0
from reduced.derive.power_series import PowerSeries, as_series, in_squared_angle
from reduced.derive.symbols import (
    Delta,
    DerivationError,
    Expr,
    alpha_minus,
    alpha_plus,
    c,
    is_zero,
    kappa2,
    p,
    s,
)
from reduced.errors import InputError

u = sp.Symbol("u", positive=True)
"""√(r₀/r∞) at the start."""

log_rise = sp.Symbol("ell", positive=True)
"""ln(r∞/r₀) at Δ = 0: ln p − f₊ − f₋ at the start."""

QUANTITIES = (
    "T_plat",
    "T_II",
    "T_III - T_II",
    "f_plus at T_plat",
    "f_plus at T_II",
    "f_minus at T_II",
    "gamma",
    "gamma_ratio",
)
TERMS = 3

PAPER_ORDERS: dict[str, Expr] = {
    "T_plat": p / (kappa2 * Delta) ** 2,
    "T_II": p ** (1 / (1 - alpha_minus / alpha_plus * sp.cos(Delta))) / (kappa2 * Delta) ** 2,
}
"""The paper's Θ-estimates of the times of Phase II (Theorems 4.5 and 4.4)."""


@dataclass(frozen=True, repr=False)
class SmallAngleSeries(Formulas):
    """quantity ~ Δ^lowest · Σ terms[k] Δ^(2k), up to e^(−x) beyond all orders.

    The terms depend on p, α₊, α₋, κ₂ and the start's f_plus_0, f_minus_0 and share of K₊ in f₋.
    """

    quantity: str
    lowest: int
    terms: tuple[Expr, ...]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.quantity}: {self.listed()}>"

    def formulas(self) -> tuple[Formula, ...]:
        """Return the terms, named by their power of Δ."""
        powers = [self.lowest + 2 * k for k in range(len(self.terms))]
        return tuple(
            Formula(f"Delta^{power}", rf"[\Delta^{{{power}}}]", term)
            for power, term in zip(powers, self.terms, strict=True)
        )

    def partial_sum(self, count: int = TERMS) -> Expr:
        """Return the sum of the first ``count`` terms as an expression in Δ."""
        powers = (Delta ** (self.lowest + 2 * k) for k in range(count))
        return sum((term * power for term, power in zip(self.terms, powers, strict=False)), sp.Integer(0))

    @property
    def paper_order(self) -> Expr | None:
        """The paper's Θ-estimate of the quantity, None where it has none."""
        return PAPER_ORDERS.get(self.quantity)

    @property
    def hidden_constant(self) -> Expr | None:
        """What the quantity is over the paper's Θ-estimate as Δ → 0, from the start f = 0 (derived here)."""
        if self.paper_order is None:
            return None
        leading = self.terms[0].subs({f_plus_0: 0, f_minus_0: 0, share_0: 0})
        order = (self.paper_order * Delta**-self.lowest).subs(Delta, 0)
        return sp.factor_terms(
            sum(_power_of_p(term) for term in sp.Add.make_args(sp.expand(leading / order)))
        )


@cache
def small_angle_series(quantity: str) -> SmallAngleSeries:
    """Derive the first three terms of a quantity of the collapsed model as Δ → 0 (exponential loss).

    Arguments: quantity, one of :data:`QUANTITIES`. The start is any with r₀ < 1 (f₊ + f₋ < ln p); for T_II
    and what follows α₋ < α₊; γ and γ/γ_max are those of the four-phase regime. Raises InputError. Derived
    here.
    """
    if quantity not in QUANTITIES:
        raise InputError("quantity", quantity, f"one of {', '.join(QUANTITIES)}")
    if quantity in ("gamma", "gamma_ratio"):
        return _margin_series(quantity)
    event = _event("T_plat" if quantity.endswith("T_plat") else "T_II")
    if quantity in ("T_plat", "T_II"):
        return SmallAngleSeries(quantity, -2, event.time())
    if quantity == "T_III - T_II":
        return SmallAngleSeries(quantity, 0, event.third_phase())
    series = event.prediction(0 if quantity.startswith("f_plus") else 1)
    return SmallAngleSeries(quantity, 0, tuple(_written(x) for x in series.coefficients[:TERMS]))


@dataclass(frozen=True)
class _Event:
    """An event of Phase II: where it starts, the growth exponent E there, and the ingredients of its time."""

    log_start: PowerSeries
    exponent: PowerSeries
    damping: PowerSeries
    slow_rate: PowerSeries
    growth: PowerSeries

    def time(self) -> tuple[Expr, ...]:
        """Return the coefficients of Δ⁻², Δ⁰, Δ² of the time."""
        before, after = -self.exponent * self.log_start, self.growth - self.exponent * self.log_start
        unit = as_series((1 + p) * sp.exp(-f_minus_0)) / self.damping
        slow = unit / self.slow_rate.lowered()
        first, last = (
            [sp.exp(x.coefficients[0]) * y for y in (slow * x.exponential()).coefficients]
            for x in (before, after)
        )
        fast = [sp.exp(before.coefficients[0]) * y for y in (unit * before.exponential()).coefficients]
        K = self._fast_integral()
        terms = [last[k] - first[k] for k in range(TERMS)]
        terms[1] += fast[0] * K[0]
        terms[2] += fast[1] * K[0] + fast[0] * K[1]
        return tuple(_written(term) for term in terms)

    def _fast_integral(self) -> tuple[Expr, Expr]:
        """Return K to first order in d."""
        zeroth, on_exponent, on_beta = (x.subs(u, sp.exp(-log_rise / 2)) for x in fast_integral())
        turn = sp.diff(fast_integral()[0], u).subs(u, sp.exp(-log_rise / 2)) * sp.exp(-log_rise / 2)
        first = -turn * self.log_start.coefficients[1] / 2
        first += on_exponent * self.exponent.coefficients[1] + on_beta * self.slow_rate.coefficients[1]
        return zeroth, first

    def prediction(self, point: int) -> PowerSeries:
        """Return f₊ (point 0) or f₋ (point 1) at the event."""
        share = self.exponent if point else 1 - self.exponent
        start = (f_plus_0, f_minus_0)[point]
        grown = -self.growth if point else self.growth
        return as_series(start) + share * self.log_start + grown

    def third_phase(self) -> tuple[Expr, ...]:
        """Return the coefficients of the length of Phase III, which ends when Q/P = 1/c from the state at T_II."""
        A, D = (phase("III").A, phase("III").D)
        gap = in_squared_angle((1 - c * fixed_ratio(phase("II"))) / (c * A - D))
        fall = -self.prediction(1)
        terms = ((1 + p) * gap * fall.exponential()).coefficients[:TERMS]
        return tuple(_written(sp.exp(fall.coefficients[0]) * term) for term in terms)


@cache
def _event(name: str) -> _Event:
    ode = phase("II")
    g, h = in_squared_angle(ode.A + ode.C), in_squared_angle(ode.B + ode.D)
    log_start = log_rise + (g / h).logarithm()
    slow_rate = in_squared_angle(ode.A * ode.D - ode.B * ode.C) / (g * h)
    start, on_P, on_Q = plateau_end(name)
    on_log = in_squared_angle(on_P) / g
    slope = on_log + in_squared_angle(on_Q) / h
    growth = (start + on_log * log_start) * (slow_rate.lowered() / -slope.lowered())
    return _Event(log_start, in_squared_angle(ode.C) / g, h, slow_rate, growth)


@cache
def fast_integral() -> tuple[Expr, Expr, Expr]:
    """Return K, ∂K/∂s and ∂K/∂β at s = ½, β = 0 as functions of u = √(1 − z₀), each checked by differentiation.

    Raises DerivationError when a check fails.
    """
    zeroth = -2 * sp.log((1 + u) / 2)
    on_exponent = 2 * (sp.polylog(2, 1 - u) + sp.polylog(2, -u) + sp.log(u) * sp.log(1 + u) + sp.pi**2 / 12)
    on_beta = 2 * sp.polylog(2, (1 - u) / 2) - sp.log((1 + u) / 2) ** 2
    measure = -2 * u / (1 - u**2)  # dζ/ζ = measure du with ζ = 1 − u²
    integrands = (1 / u - 1, -2 * sp.log(u) / u, zeroth)
    for value, integrand in zip((zeroth, on_exponent, on_beta), integrands, strict=True):
        slope = sp.expand_func(sp.diff(value, u))
        if not is_zero(sp.simplify(slope - integrand * measure)) or value.subs(u, 1) != 0:
            raise DerivationError(f"the expansion {value} fails its check by differentiation")
    return zeroth, on_exponent, on_beta


def _margin_series(quantity: str) -> SmallAngleSeries:
    """Expand γ of the four-phase limit, or its ratio to γ_max = κ₂ sin Δ/2 (everyone alive, half and half)."""
    squared = in_squared_angle(limit("four-phase").gamma_squared)
    if quantity == "gamma_ratio":
        squared = in_squared_angle(limit("four-phase").gamma_squared / (kappa2 * s / 2) ** 2)
    lowest = 0
    if squared.coefficients[0] == 0:
        squared, lowest = squared.lowered(), 1
    first = sp.sqrt(squared.coefficients[0])
    terms = squared.root().coefficients[:TERMS]
    return SmallAngleSeries(quantity, lowest, tuple(sp.factor_terms(first * term) for term in terms))


def _power_of_p(term: Expr) -> Expr:
    """Return a product of powers of p as one power of p."""
    power = sp.expand(sp.expand_log(sp.log(sp.factor(term)), force=True)).coeff(sp.log(p))
    return term.subs(p, 1) * p ** sp.cancel(power)


def _written(expression: Expr) -> Expr:
    """Write a term in the start's predictions and p."""
    found = sp.sympify(expression).subs(log_rise, sp.log(p) - f_plus_0 - f_minus_0)
    return sp.factor_terms(found.replace(sp.exp, lambda exponent: in_powers_of_p(exponent)))

"""The scaling laws a sweep shows: exponents and constants of its times, beside the laws of small Δ.

A fit is log(quantity) = exponent · log(parameter) + log(constant), by least squares with one exponent and a
constant per group of rows that differ in nothing but the parameter and the seed. The leading laws of small Δ
(:mod:`reduced.solve.asymptotic`) are fitted in the same way on the same points.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import Any

from reduced.shown import shown
from reduced.sweep.points import LAW, Row, canonical
from reduced.sweep.store import read_rows

PARAMETERS = ("delta", "p", "kappa2", "kappa1", "alpha_plus", "alpha_minus", "m", "dim", "lr")
QUANTITIES = {
    "plateau": ("T_plat", "T_II", "T_III", "T_III - T_II"),
    "limit": ("gamma", "gamma_ratio"),
    "simulate": ("T_plat", "T_II", "T_III_PT", "T_III", "T_III - T_II"),
    "crosscheck": ("T_plat", "T_II", "T_III_PT", "T_III", "T_III - T_II"),
    "gd": ("T_plat", "T_II"),
}

THEORY = {
    ("T_plat", "delta"): -2,
    ("T_II", "delta"): -2,
    ("T_III - T_II", "delta"): 0,
    ("gamma", "delta"): 1,
    ("gamma_ratio", "delta"): 0,
    ("T_plat", "kappa2"): -2,
    ("T_II", "kappa2"): -2,
    ("T_III", "kappa2"): -2,
    ("T_III - T_II", "kappa2"): -2,
    ("gamma", "kappa2"): 1,
    ("gamma_ratio", "kappa2"): 0,
}
"""Exponents as Δ → 0 (leading terms of the small-angle series), and those of κ₂ (time scales like κ₂⁻²)."""


@dataclass(frozen=True)
class Series:
    """The rows of one fit that differ in the parameter and the seed only.

    ``x``, ``y`` are natural logarithms of parameter and quantity, ``law`` those of the small-Δ law (empty
    without one); ``fixed`` the parameters that vary between groups.
    """

    fixed: dict[str, Any]
    x: tuple[float, ...]
    y: tuple[float, ...]
    law: tuple[float, ...]

    __repr__ = shown


@dataclass(frozen=True)
class Fit:
    """A power law of one quantity in one parameter, over several groups of rows.

    ``exponent`` is common to the groups, with its standard ``error`` (NaN from two points), ``constants`` the
    least and the greatest of the groups, as texts; ``law_exponent`` and ``law_constants`` are those of the
    small-Δ law on the same points, ``ratios`` the range of quantity over law (None without one); ``theory``
    the exponent as Δ → 0, None where it is no power. ``points`` were used, ``left_out`` were not (failed,
    infinite, never reached, or alone in their group). ``computation`` names what was swept, ``series`` holds
    the points of each group.
    """

    computation: str
    quantity: str
    parameter: str
    exponent: float
    error: float
    constants: tuple[str, str]
    law_exponent: float | None
    law_constants: tuple[str, str] | None
    ratios: tuple[float, float] | None
    theory: int | None
    points: int
    left_out: int
    series: tuple[Series, ...]

    __repr__ = shown


def summary(source: str | Path | Sequence[Row]) -> list[Fit]:
    """Fit every quantity of a sweep against every parameter that takes several values in it.

    Arguments: source, the sweep's file, or its rows. Returns the fits that have points, each beside the small-Δ
    law of its quantity (exponents: Theorems 4.4, 4.5, 4.7; constants derived here). Raises InputError.
    """
    rows = read_rows(source) if isinstance(source, str | Path) else source
    by_computation: dict[str, list[tuple[dict[str, Any], Row]]] = defaultdict(list)
    for row in rows:
        config = row.config
        by_computation[config["compute"]].append((config, row))
    fits = []
    for computation, found in sorted(by_computation.items()):
        varying = {name for config, _ in found for name in config if config[name] != found[0][0][name]}
        for quantity in QUANTITIES[computation]:
            for parameter in PARAMETERS:
                if parameter in varying:
                    fit = _fit(computation, found, quantity, parameter, varying)
                    if fit is not None:
                        fits.append(fit)
    return fits


def _fit(
    computation: str,
    rows: list[tuple[dict[str, Any], Row]],
    quantity: str,
    parameter: str,
    varying: set[str],
) -> Fit | None:
    groups: dict[str, list[tuple[float, float, float | None]]] = defaultdict(list)
    fixed: dict[str, dict[str, Any]] = {}
    for config, row in rows:
        if config[parameter] == LAW:
            continue
        y = _logarithm(_quantity(row.result, quantity))
        if y is not None:
            others = {name: value for name, value in config.items() if name not in (parameter, "seed")}
            key = canonical(others)
            fixed[key] = {name: value for name, value in others.items() if name in varying}
            law = _logarithm(row.result.get(f"law {quantity}"))
            groups[key].append((_log_of_parameter(str(config[parameter])), y, law))
    series = []
    for key, points in sorted(groups.items()):
        if len({x for x, _, _ in points}) > 1:
            laws = [law for _, _, law in points if law is not None]
            xs, ys = [x for x, _, _ in points], [y for _, y, _ in points]
            complete = tuple(laws) if len(laws) == len(points) else ()
            series.append(Series(fixed[key], tuple(xs), tuple(ys), complete))
    if not series:
        return None
    exponent, error = _slope([(one.x, one.y) for one in series])
    with_law = all(one.law for one in series)
    law_exponent = _slope([(one.x, one.law) for one in series])[0] if with_law else None
    gaps = [y - law for one in series for y, law in zip(one.y, one.law, strict=False)]
    used = sum(len(one.x) for one in series)
    return Fit(
        computation,
        quantity,
        parameter,
        exponent,
        error,
        _constants([(one.x, one.y) for one in series], exponent),
        law_exponent,
        None if law_exponent is None else _constants([(one.x, one.law) for one in series], law_exponent),
        (math.exp(min(gaps)), math.exp(max(gaps))) if with_law and max(gaps) < _LARGEST_LOG else None,
        THEORY.get((quantity, parameter)),
        used,
        len(rows) - used,
        tuple(series),
    )


_LARGEST_LOG = 700.0


def _slope(groups: list[tuple[tuple[float, ...], tuple[float, ...]]]) -> tuple[float, float]:
    """Return the least-squares slope common to all groups, each with its own constant, and its standard error."""
    pairs = [pair for xs, ys in groups for pair in zip(_centred(xs), _centred(ys), strict=True)]
    spread = math.fsum(x * x for x, _ in pairs)
    slope = math.fsum(x * y for x, y in pairs) / spread
    freedom = len(pairs) - len(groups) - 1
    if freedom < 1:
        return slope, math.nan
    return slope, math.sqrt(math.fsum((y - slope * x) ** 2 for x, y in pairs) / freedom / spread)


def _centred(values: tuple[float, ...]) -> list[float]:
    mean = math.fsum(values) / len(values)
    return [value - mean for value in values]


def _constants(groups: list[tuple[tuple[float, ...], tuple[float, ...]]], slope: float) -> tuple[str, str]:
    logs = [(math.fsum(ys) - slope * math.fsum(xs)) / len(xs) for xs, ys in groups]
    low, high = (f"{Decimal(log).exp():.6g}" for log in (min(logs), max(logs)))
    return low, high


def _quantity(result: dict[str, Any], name: str) -> str | None:
    """Return a quantity of a row, or the difference of two."""
    if " - " not in name:
        return result.get(name)
    later, earlier = (result.get(part) for part in name.split(" - "))
    if later is None or earlier is None or "inf" in (later, earlier):
        return None
    return str(Decimal(later) - Decimal(earlier))


def _logarithm(text: str | None) -> float | None:
    """Return the natural logarithm of a positive finite decimal string, None for anything else."""
    if text is None:
        return None
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    return float(value.ln()) if value.is_finite() and value > 0 else None


@cache
def _log_of_parameter(text: str) -> float:
    from reduced.numbers import read_number
    from reduced.solve.promise import private_context

    ctx = private_context(20)
    return float(ctx.log(read_number(text).evaluate(ctx)))

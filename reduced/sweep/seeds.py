"""How the results of a sweep vary over seeds: medians and quantiles, with what never happens counted."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from reduced.shown import shown
from reduced.sweep.points import Row, canonical
from reduced.sweep.scaling import QUANTITIES
from reduced.sweep.store import read_rows

LEVELS = (5, 25, 50, 75, 95)
"""The quantiles given, in percent."""

_COUNTS = ("positive", "negative", "dead")


@dataclass(frozen=True)
class Spread:
    """One quantity over the seeds of rows that differ in nothing else.

    fixed: the parameters that vary between such groups; seeds: how many have the quantity; never: how many of
    these are infinite; unknown: how many have none (errors, or not reached within the run); quantiles: at
    :data:`LEVELS`, the least value that so many percent of the seeds do not exceed, as texts ("inf": never).
    """

    computation: str
    quantity: str
    fixed: dict[str, Any]
    seeds: int
    never: int
    unknown: int
    quantiles: tuple[str, ...]

    __repr__ = shown


def over_seeds(source: str | Path | Sequence[Row]) -> list[Spread]:
    """Describe every time and living count of a sweep over its seeds.

    Arguments: source, the sweep's file, or its rows. Returns a Spread for each quantity of each group of rows
    that differ in the seed only and are at least two. Raises InputError. Derived here.
    """
    rows = read_rows(source) if isinstance(source, str | Path) else source
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if "seed" in row.config:
            groups[canonical({key: value for key, value in row.config.items() if key != "seed"})].append(row)
    large = [group for _, group in sorted(groups.items()) if len(group) > 1]
    if not large:
        return []
    first = large[0][0].config
    varying = {name for group in large for name, value in group[0].config.items() if value != first[name]}
    return [
        found
        for group in large
        for quantity in (*QUANTITIES[group[0].config["compute"]], *_COUNTS)
        if (found := _spread(group, quantity, varying)) is not None
    ]


def _spread(group: list[Row], quantity: str, varying: set[str]) -> Spread | None:
    """Describe one quantity of rows that differ in the seed only, None where no row has it."""
    found = [row.result.get(quantity) for row in group]
    values = sorted(Decimal(str(value)) for value in found if value is not None)
    if not values:
        return None
    config = group[0].config
    return Spread(
        config["compute"],
        quantity,
        {name: value for name, value in config.items() if name in varying - {"seed"}},
        len(values),
        sum(value.is_infinite() for value in values),
        len(found) - len(values),
        tuple(_text(values[math.ceil(level / 100 * len(values)) - 1]) for level in LEVELS),
    )


def _text(value: Decimal) -> str:
    return "inf" if value.is_infinite() else f"{value:.6g}"

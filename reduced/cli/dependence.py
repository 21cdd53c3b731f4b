"""What ``plateau`` can say beside the times: what they depend on, and their law over initialisation."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from reduced.cli.options import choose
from reduced.cli.render import table
from reduced.numbers import decimal_string, double_string
from reduced.records import Problem, Start
from reduced.solve.promise import private_context

if TYPE_CHECKING:
    from reduced.solve.sensitivity import Sensitivity
    from reduced.theorems.distribution import Distribution, TimeLaw

_PANEL = "Dependence"
_SHOWN = 6


@dataclass(frozen=True)
class Dependence:
    """Options that add tables on what the times depend on."""

    sensitivities: Annotated[
        bool,
        Option(
            "--sensitivities", rich_help_panel=_PANEL, help="Add exact derivatives and condition numbers."
        ),
    ] = False
    distribution: Annotated[
        bool,
        Option(
            "--distribution",
            rich_help_panel=_PANEL,
            help="Add the exact law of the times over random initialisation, κ₁ → 0.",
        ),
    ] = False
    m: Annotated[
        int, Option("--m", rich_help_panel=_PANEL, help="Number of neurons of the distribution.")
    ] = 100
    signs: Annotated[
        str,
        Option(
            "--signs",
            metavar="half|coin",
            rich_help_panel=_PANEL,
            help="Output signs in the distribution: half and half, or fair coins.",
        ),
    ] = "half"

    def facts(self, problem: Problem, start: Start, digits: int) -> tuple[dict[str, Any], list[Any]]:
        """Return what was asked for, as a record for JSON and as tables."""
        record: dict[str, Any] = {}
        tables: list[Any] = []
        if self.sensitivities:
            from reduced.solve.sensitivity import sensitivities

            found = sensitivities(problem, start, digits)
            record["sensitivity"] = {name: time and asdict(time) for name, time in found.items()}
            tables.append(_sensitivity_table(found))
        if self.distribution:
            from reduced.theorems.distribution import distribution

            law = distribution(problem, self.m, choose(self.signs, "signs", ("half", "coin")))
            record["distribution"] = _distribution_record(law, digits)
            tables.append(_distribution_table(law))
        return record, tables


def _sensitivity_table(found: dict[str, Sensitivity | None]) -> Any:
    rows: list[tuple[str, str, str | None, str | None]] = []
    for name, time in found.items():
        if time is None:
            rows.append((name, "", None, None))
            continue
        for number, (x, derivative) in enumerate(time.derivative.items()):
            rows.append(("" if number else name, x, derivative, _few(time.condition[x])))
    return table("Sensitivities", ("time", "x", "∂T/∂x", "x/T ∂T/∂x"), rows)


def _few(text: str) -> str:
    """Shorten a decimal string to a few significant digits."""
    return decimal_string(private_context(30).mpf(text), _SHOWN)


def _distribution_record(law: Distribution, digits: int) -> dict[str, Any]:
    from reduced.theorems.distribution import LEVELS

    few = min(digits, law.chance_digits, law.time_digits)

    def one(time: TimeLaw) -> dict[str, Any]:
        return {
            "quantiles": {
                str(level): _time(time.log_quantile(level), digits, law.time_digits) for level in LEVELS
            },
            "tail_exponents": [x and double_string(x, few) for x in time.tail_exponents(LEVELS)],
            "never": double_string(time.never, few),
            "at_once": double_string(time.at_once, few),
        }

    laws = {name: one(time) for name, time in law.laws.items()}
    return {"m": law.m, "signs": law.signs.value, "log_scale": double_string(law.log_scale, few), **laws}


def _distribution_table(law: Distribution) -> Any:
    from reduced.theorems.distribution import LEVELS

    columns = [_column(time, LEVELS, law.time_digits) for time in law.laws.values()]
    names = [f"quantile {level}" for level in LEVELS]
    names += [f"tail exponent {low} – {high}" for low, high in pairwise(LEVELS)]
    rows = list(zip([*names, "P(never)"], *columns, strict=True))
    title = f"Law over initialisation, m = {law.m}, signs {law.signs.value}, κ₁ → 0"
    return table(title, ("", *law.laws), rows)


def _column(time: TimeLaw, levels: tuple[float, ...], places: int) -> list[str | None]:
    quantiles = [_time(time.log_quantile(level), _SHOWN, places) for level in levels]
    exponents = [None if x is None else f"{x:.4g}" for x in time.tail_exponents(levels)]
    return [*quantiles, *exponents, double_string(time.never, 4)]


def _time(log_time: float, digits: int, places: int) -> str:
    """Write e^log_time, which may lie past the range of doubles, with the digits that places of it leave."""
    if math.isinf(log_time):
        return "inf" if log_time > 0 else "0"
    ctx = private_context(30)
    trusted = places - max(0, math.ceil(math.log10(max(1.0, abs(log_time)))))
    return decimal_string(ctx.exp(ctx.mpf(log_time)), max(1, min(digits, trusted)))

"""What ``theorems --table`` prints: Tables 1 and 2 of the paper, the law of Phase I, small κ₁."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from reduced.cli.options import Model, Weights
from reduced.cli.render import table, values
from reduced.numbers import double_string
from reduced.records import Outcome, Problem

if TYPE_CHECKING:
    import fullnet
    from reduced.theorems import CountLaw, Evidence, SmallKappa1, TimesRow

_SEEDS_OF_TABLE_2 = 20
_SEEDS_OF_COUNTS = 400
_FLOWS_OF_COUNTS = 10
_SHOWN = 6
_WIDTHS = (20, 50, 100, 200, 500, 1000)
_FAILURES = (0.1, 0.05, 0.01)
_KAPPAS = (1.0, 1e-1, 1e-2, 1e-3)

Update = Callable[[str], None]
Answer = tuple[dict[str, Any], list[Any]]


@dataclass(frozen=True)
class Setting:
    """The options of one call: where networks come from, the problem, how flows run, digits shown."""

    model: Model
    weights: Weights
    problem: Problem
    ridge: Any
    until: float
    digits: int
    seeds: int | None

    def networks(self, count: int) -> list[fullnet.Network]:
        """Draw the networks of consecutive seeds, or load the one of --init."""
        if self.weights.init is not None:
            return [self.weights.network(self.model)]
        first = self.weights.seed or 0
        return [replace(self.weights, seed=first + k).network(self.model) for k in range(count)]

    def evidence(self) -> Evidence:
        """Return the evidence of the first network."""
        from reduced.theorems import evidence

        return evidence(self.networks(1)[0], self.problem, self.ridge, self.until)

    def text(self, value: float | None) -> str | None:
        """Write a double; what is not a number is null, infinities are "inf" and "-inf"."""
        if value is None or math.isnan(value):
            return None
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        return double_string(float(value), self.digits)


def pattern_answer(setting: Setting, _: Update) -> Answer:
    """Table 1: who switches on which point in which phase."""
    from reduced.theorems import changes_in_words, pattern_table

    found = pattern_table(setting.evidence())
    record = {
        "table": [
            {
                "period": row.period,
                "begin": setting.text(row.begin),
                "end": setting.text(row.end),
                "group": row.group,
                "size": row.size,
                "on_plus": changes_in_words(row.on_plus),
                "on_minus": changes_in_words(row.on_minus),
            }
            for row in found
        ]
    }
    rows = [
        (
            row.period,
            f"{row.begin:.6g} … {row.end:.6g}",
            f"{row.group} ({row.size})",
            changes_in_words(row.on_plus),
            changes_in_words(row.on_minus),
        )
        for row in found
    ]
    columns = ("phase", "time", "neurons", "on x₊", "on x₋")
    return record, [table("Table 1: activation on each point (1 active, 0 not)", columns, rows)]


def times_answer(setting: Setting, update: Update) -> Answer:
    """Table 2: phase times over Δ and p."""
    from reduced.theorems import times_table

    networks = setting.networks(setting.seeds or _SEEDS_OF_TABLE_2)
    found = times_table(networks, setting.problem.kappa2, on_network=update)
    record = {"table": [_times(setting, row) for row in found]}
    parts = []
    for name in ("T_plat", "T_II"):
        rows = [
            (row.delta, row.p, f"{row.four_phase}/{row.networks}", *_times_texts(getattr(row, name)))
            for row in found
        ]
        columns = ("Δ", "p", "four-phase", "flow", "descent 0.01", "paper's order", "our law")
        parts.append(table(f"Table 2: {name}, medians over {len(networks)} networks", columns, rows))
    return record, parts


def _times(setting: Setting, row: TimesRow) -> dict[str, Any]:
    def four(name: str) -> dict[str, str | None]:
        times = getattr(row, name)
        kinds = ("flow", "descent", "estimate", "law")
        return {kind: setting.text(getattr(times, kind)) for kind in kinds}

    return {
        "delta": row.delta,
        "p": row.p,
        "networks": row.networks,
        "four_phase": row.four_phase,
        "T_plat": four("T_plat"),
        "T_II": four("T_II"),
    }


def counts_answer(setting: Setting, update: Update) -> Answer:
    """The law of Phase I: counts, regimes, living sets from raw weights."""
    from reduced.theorems import (
        Signs,
        count_law,
        gaussian_norm_spread,
        living_check,
        seeded_counts,
    )

    m, dim = _or(setting.weights.m, 100), _or(setting.weights.dim, 20)
    seeds = setting.seeds or _SEEDS_OF_COUNTS
    record: dict[str, Any] = {"m": m, "signs": {}}
    parts: list[Any] = []
    for signs in Signs:
        update(f"{signs.value} signs: {seeds} draws")
        law = count_law(setting.problem, signs)
        drawn = seeded_counts(setting.problem, m, dim, seeds, _or(setting.weights.init_law, "sphere"), signs)
        entry = _law(setting, law, m)
        entry["seeds"] = {
            "count": seeds,
            "S1": drawn.plus_in_bounds,
            "S2": drawn.minus_in_bounds,
            "mean_plus": setting.text(drawn.mean_plus),
            "mean_minus": setting.text(drawn.mean_minus),
        }
        record["signs"][signs.value] = entry
        parts += _law_tables(signs.value, entry, law)
    checks = []
    networks = setting.networks(min(seeds, _FLOWS_OF_COUNTS))
    for kappa1 in _KAPPAS:
        checks.append(living_check(networks, setting.problem, kappa1, update))
    record["living"] = [
        {
            "kappa_product": setting.text(check.product),
            "networks": check.networks,
            "exact": check.exact,
            "neurons": check.neurons,
            "wrong": check.wrong,
            "borderline": check.borderline,
            "wrong_outside": check.wrong_outside,
        }
        for check in checks
    ]
    rows = [
        (
            f"{check.product:.3g}",
            f"{check.exact}/{check.networks}",
            f"{check.wrong}/{check.neurons}",
            str(check.borderline),
            str(check.wrong_outside),
        )
        for check in checks
    ]
    spread = gaussian_norm_spread(dim)
    record["gaussian_norm_spread"] = setting.text(spread)
    columns = ("κ₁κ₂", "networks exact", "neurons wrong", "borderline", "wrong, not borderline")
    parts += [
        table("Living sets from the raw weights against the flow", columns, rows),
        f"The Gaussian law has the same living sets; its norms spread by {spread:.4g} of their mean "
        f"at d = {dim}.",
    ]
    return record, parts


def _law(setting: Setting, law: CountLaw, m: int) -> dict[str, Any]:
    from reduced.theorems import BOUND_MINUS, BOUND_PLUS

    bounds = (("S1", 1, BOUND_PLUS), ("S2", -1, BOUND_MINUS))
    return {
        "alpha_plus": setting.text(law.alpha_plus),
        "alpha_minus": setting.text(law.alpha_minus),
        "exact": {name: setting.text(law.within(sign, m, bound)) for name, sign, bound in bounds},
        "hoeffding": {name: setting.text(law.hoeffding(sign, m, bound)) for name, sign, bound in bounds},
        "smallest_m": {
            f"{failure:g}": {
                name: [
                    law.smallest_m(sign, bound, failure),
                    law.smallest_m(sign, bound, failure, by_hoeffding=True),
                ]
                for name, sign, bound in bounds
            }
            for failure in _FAILURES
        },
        "regimes": [
            {
                "m": width,
                **{
                    "none" if regime is None else regime.value: setting.text(chance)
                    for regime, chance in law.regimes(width).items()
                },
            }
            for width in sorted({m, *_WIDTHS} if m <= _WIDTHS[-1] else _WIDTHS)
        ],
    }


def _law_tables(signs: str, entry: dict[str, Any], law: CountLaw) -> list[Any]:
    seeds = entry["seeds"]
    chances = [
        (
            name,
            _short(entry["exact"][name]),
            _short(entry["hoeffding"][name]),
            f"{seeds[name]}/{seeds['count']}",
        )
        for name in ("S1", "S2")
    ]
    widths = [
        (name, failure, *(str(m) for m in found[name]))
        for failure, found in entry["smallest_m"].items()
        for name in ("S1", "S2")
    ]
    regimes = [[_short(cell) for cell in row.values()] for row in entry["regimes"]]
    return [
        values(
            f"Phase I with {signs} signs",
            [("α₊ expected", f"{law.alpha_plus:.6g}"), ("α₋ expected", f"{law.alpha_minus:.6g}")],
        ),
        table("Theorem 4.1's count bounds", ("bound", "probability", "Hoeffding ≥", "draws"), chances),
        table("Smallest m that leaves δ", ("bound", "δ", "exact", "Hoeffding"), widths),
        table("Probability of each regime", tuple(entry["regimes"][0]), regimes),
    ]


def small_kappa1_answer(setting: Setting, update: Update) -> Answer:
    """The phase times as κ₁ shrinks."""
    from reduced.theorems import small_kappa1

    found = small_kappa1(setting.evidence(), on_step=update)
    if found is None:
        outcome = Outcome.PLATEAU_INFINITE
        return {"outcome": outcome.value}, [outcome.message]
    return _kappa_record(setting, found), _kappa_tables(found)


def _kappa_record(setting: Setting, found: SmallKappa1) -> dict[str, Any]:
    names = ("kappa1", "T_plat", "T_II", "T_III_PT")
    return {
        "table": [
            {**dict(zip(names, row.texts(), strict=True)), "transition": setting.text(row.transition)}
            for row in found.rows
        ],
        "T_plat_limit": setting.text(found.plateau_limit),
        "T_plat_order": setting.text(found.plateau_order),
        "transition_order": setting.text(found.transition_order),
    }


def _kappa_tables(found: SmallKappa1) -> list[Any]:
    rows = [(*row.texts(), None if row.transition is None else f"{row.transition:.6g}") for row in found.rows]
    closing = f"{found.plateau_words}: a smaller initialisation does not avoid the plateau"
    if found.transition_order is not None:
        closing += f"; the transition shrinks like κ₁^{found.transition_order:.3f}"
    columns = ("κ₁", "T_plat", "T_II", "T_III_PT", "T_III_PT − T_II")
    return [table("Phase times as κ₁ shrinks (exact flow)", columns, rows), closing]


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def _short(cell: Any) -> str:
    return f"{float(cell):.{_SHOWN}g}" if isinstance(cell, str) else str(cell)


def _times_texts(times: Any) -> tuple[str, ...]:
    return tuple(f"{getattr(times, kind):.5g}" for kind in ("flow", "descent", "estimate", "law"))


TABLES: dict[str, Callable[[Setting, Update], Answer]] = {
    "1": pattern_answer,
    "2": times_answer,
    "counts": counts_answer,
    "kappa1": small_kappa1_answer,
}
"""What each name after ``--table`` measures and prints."""

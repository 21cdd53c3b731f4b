"""The command theorems: the ledger of the paper's statements, its two tables, and the law of Phase I."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from reduced.cli.budget import BudgetExceeded, time_limit
from reduced.cli.options import Digits, Flow, Model, Weights, choose
from reduced.cli.render import (
    double_text,
    note,
    print_json,
    print_tables,
    progress,
    table,
    values,
    warn_without,
)
from reduced.cli.simulation import LAST_TIME
from reduced.errors import InputError
from reduced.records import Outcome, Problem

if TYPE_CHECKING:
    import fullnet
    from reduced.theorems import Aggregate, CountLaw, Ledger, SmallKappa1, TimesRow

TABLES = ("1", "2", "counts", "kappa1")
MAX_SEEDS = 100_000

_SEEDS_OF_TABLE_2 = 20
_SEEDS_OF_COUNTS = 400
_FLOWS_OF_COUNTS = 10
_SHOWN = 6
_WIDTHS = (20, 50, 100, 200, 500, 1000)
_FAILURES = (0.1, 0.05, 0.01)
_KAPPAS = (1.0, 1e-1, 1e-2, 1e-3)

Update = Callable[[str], None]
Answer = tuple[dict[str, Any], list[Any]]


def theorems(
    model: Model,
    weights: Weights,
    flow: Flow,
    out: Digits,
    seeds: Annotated[
        int | None,
        Option(
            "--seeds", rich_help_panel="Run", help="Networks, from --seed on. Default: 1 (tables differ)."
        ),
    ] = None,
    which: Annotated[
        str | None,
        Option(
            "--table",
            metavar="1|2|counts|kappa1",
            rich_help_panel="Run",
            help="Instead of the ledger: who switches where; times over Δ and p; law of Phase I; small κ₁.",
        ),
    ] = None,
) -> int:
    """The paper's theorems and lemmas, statement by statement, measured on networks.

    A statement holds, fails, or its hypothesis is not met; then the ledger still tells whether
    the conclusion was seen, here and with the same directions at a κ₁ that meets the
    hypothesis. Exit code 0 whatever the verdicts.

    \b
    Examples
      reduced theorems
      reduced theorems --seeds 20 --json
      reduced theorems --table 1
      reduced theorems --table 2 --seeds 5
    """
    problem, digits = model.problem(), out.checked()
    if seeds is not None and not 1 <= seeds <= MAX_SEEDS:
        raise InputError("seeds", seeds, f"an integer from 1 to {MAX_SEEDS}")
    if which is not None:
        choose(which, "table", TABLES)
    if seeds is not None and seeds > 1 and weights.init is not None:
        raise InputError("seeds", seeds, "1 with --init, which gives one network")
    run = _Run(model, weights, flow, problem, digits, seeds)
    answers: dict[str | None, Callable[[Update], Answer]] = {
        None: run.ledger,
        "1": run.pattern_table,
        "2": run.times_table,
        "counts": run.counts,
        "kappa1": run.small_kappa1,
    }
    warn_without("numba" if which == "2" else "gmpy2")
    try:
        with progress("measuring") as update, time_limit(flow.seconds()):
            record, shown = answers[which](update)
    except BudgetExceeded:
        record, shown = {"outcome": Outcome.BUDGET.value}, [Outcome.BUDGET.message]
    notes = weights.unused(model)
    if out.json:
        print_json({"outcome": Outcome.FINISHED.value, **record, "notes": notes})
    else:
        for line in notes:
            note(line)
        print_tables(*shown)
    return 3 if record.get("outcome") == Outcome.BUDGET.value else 0


class _Run:
    """The options of one call, and an answer for each of its forms."""

    def __init__(
        self, model: Model, weights: Weights, flow: Flow, problem: Problem, digits: int, seeds: int | None
    ) -> None:
        self.model, self.weights, self.problem = model, weights, problem
        self.digits, self.seeds = digits, seeds
        self.ridge, self.until = flow.checked_ridge(), flow.until_or(LAST_TIME)

    def networks(self, count: int) -> list[fullnet.Network]:
        """Draw the networks of consecutive seeds, or load the one of --init."""
        if self.weights.init is not None:
            return [self.weights.network(self.model)]
        first = self.weights.seed or 0
        return [replace(self.weights, seed=first + k).network(self.model) for k in range(count)]

    def ledger(self, update: Update) -> Answer:
        """Measure every statement, at one network or over many."""
        from reduced.theorems import aggregate, ledger

        networks = self.networks(self.seeds or 1)
        found = []
        for number, network in enumerate(networks):
            place = f"network {number + 1} of {len(networks)}, " if len(networks) > 1 else ""

            def tell(statement: str, place: str = place) -> None:
                update(f"{place}{statement}")

            found.append(ledger(network, self.problem, self.ridge, self.until, tell))
        if len(found) == 1:
            return self._one(found[0])
        return self._many(aggregate(found))

    def _one(self, found: Ledger) -> Answer:
        record: dict[str, Any] = {
            "statements": [
                {
                    "id": row.id,
                    "claim": row.claim,
                    "formula": row.formula,
                    "measured": row.measured,
                    "verdict": row.verdict.value,
                    "conclusion": row.conclusion,
                    "why": row.why,
                    "constant": self._text(row.constant),
                    "rescaled": None
                    if row.rescaled is None
                    else {"measured": row.rescaled.words, "conclusion": row.rescaled.seen},
                }
                for row in found.rows
            ],
            "rescaled_kappa1": self._text(found.rescaled_kappa1),
        }
        columns = ("statement", "verdict", "seen", "at small κ₁", "formula")
        rows = [
            (
                row.id,
                row.verdict.value,
                _yes(row.conclusion),
                _yes(row.rescaled.seen) if row.rescaled is not None else None,
                row.formula,
            )
            for row in found.rows
        ]
        details = [f"{row.id}: {row.measured}{_because(row.why)}" for row in found.rows]
        closing = (
            "every hypothesis on κ₁/κ₂ is met"
            if found.rescaled_kappa1 is None
            else f"small κ₁: the same directions at κ₁ = {found.rescaled_kappa1:.3g}, which meets κ₁/κ₂ ≤ Δ⁸"
        )
        return record, [table("The paper's statements at this network", columns, rows), *details, closing]

    def _many(self, found: Aggregate) -> Answer:
        record = {
            "networks": found.networks,
            "statements": [
                {
                    "id": one.id,
                    "claim": one.claim,
                    "formula": one.formula,
                    "measured": one.measured,
                    "verdict": one.verdict.value,
                    "counts": {verdict.value: count for verdict, count in one.counts.items()},
                    "seen": one.seen,
                    "measurable": one.measurable,
                    "interval": None if one.interval is None else [self._text(x) for x in one.interval],
                    "constants": None if one.constants is None else [self._text(x) for x in one.constants],
                    "rescaled": {"seen": one.rescaled[0], "measurable": one.rescaled[1]},
                }
                for one in found.summaries
            ],
        }
        rows = [
            (
                one.id,
                one.verdict.value,
                f"{one.seen}/{one.measurable}",
                None if one.interval is None else f"{one.interval[0]:.2f} … {one.interval[1]:.2f}",
                f"{one.rescaled[0]}/{one.rescaled[1]}" if one.rescaled[1] else None,
                one.formula,
            )
            for one in found.summaries
        ]
        columns = ("statement", "verdict", "seen", "95 %", "at small κ₁", "formula")
        return record, [table(f"The paper's statements over {found.networks} networks", columns, rows)]

    def pattern_table(self, _: Update) -> Answer:
        """Table 1: who switches on which point in which phase."""
        from reduced.theorems import changes_in_words, evidence, pattern_table

        network = self.networks(1)[0]
        found = pattern_table(evidence(network, self.problem, self.ridge, self.until))
        record = {
            "table": [
                {
                    "period": row.period,
                    "begin": self._text(row.begin),
                    "end": self._text(row.end),
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

    def times_table(self, update: Update) -> Answer:
        """Table 2: phase times over Δ and p."""
        from reduced.theorems import times_table

        networks = self.networks(self.seeds or _SEEDS_OF_TABLE_2)
        found = times_table(networks, self.problem.kappa2, on_network=update)
        record = {"table": [self._times(row) for row in found]}
        parts = []
        for name in ("T_plat", "T_II"):
            rows = [
                (row.delta, row.p, f"{row.four_phase}/{row.networks}", *_times_texts(getattr(row, name)))
                for row in found
            ]
            columns = ("Δ", "p", "four-phase", "flow", "descent 0.01", "paper's order", "our law")
            parts.append(table(f"Table 2: {name}, medians over {len(networks)} networks", columns, rows))
        return record, parts

    def _times(self, row: TimesRow) -> dict[str, Any]:
        def four(name: str) -> dict[str, str | None]:
            times = getattr(row, name)
            kinds = ("flow", "descent", "estimate", "law")
            return {kind: self._text(getattr(times, kind)) for kind in kinds}

        return {
            "delta": row.delta,
            "p": row.p,
            "networks": row.networks,
            "four_phase": row.four_phase,
            "T_plat": four("T_plat"),
            "T_II": four("T_II"),
        }

    def counts(self, update: Update) -> Answer:
        """The law of Phase I: counts, regimes, living sets from raw weights."""
        from reduced.theorems import Signs, count_law, living_check, seeded_counts

        m, dim = _or(self.weights.m, 100), _or(self.weights.dim, 20)
        seeds = self.seeds or _SEEDS_OF_COUNTS
        record: dict[str, Any] = {"m": m, "signs": {}}
        parts: list[Any] = []
        for signs in Signs:
            update(f"{signs.value} signs: {seeds} draws")
            law = count_law(self.problem, signs)
            drawn = seeded_counts(self.problem, m, dim, seeds, _or(self.weights.init_law, "sphere"), signs)
            entry = self._law(law, m)
            entry["seeds"] = {
                "count": seeds,
                "S1": drawn.plus_in_bounds,
                "S2": drawn.minus_in_bounds,
                "mean_plus": self._text(drawn.mean_plus),
                "mean_minus": self._text(drawn.mean_minus),
            }
            record["signs"][signs.value] = entry
            parts += self._law_tables(signs.value, entry, law)
        checks = []
        networks = self.networks(min(seeds, _FLOWS_OF_COUNTS))
        for kappa1 in _KAPPAS:
            checks.append(living_check(networks, self.problem, kappa1, update))
        record["living"] = [
            {
                "kappa_product": self._text(check.product),
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
        columns = ("κ₁κ₂", "networks exact", "neurons wrong", "borderline", "wrong, not borderline")
        parts.append(table("Living sets from the raw weights against the flow", columns, rows))
        return record, parts

    def _law(self, law: CountLaw, m: int) -> dict[str, Any]:
        from reduced.theorems import BOUND_MINUS, BOUND_PLUS

        bounds = (("S1", 1, BOUND_PLUS), ("S2", -1, BOUND_MINUS))
        return {
            "alpha_plus": self._text(law.alpha_plus),
            "alpha_minus": self._text(law.alpha_minus),
            "exact": {name: self._text(law.within(sign, m, bound)) for name, sign, bound in bounds},
            "hoeffding": {name: self._text(law.hoeffding(sign, m, bound)) for name, sign, bound in bounds},
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
                        "none" if regime is None else regime.value: self._text(chance)
                        for regime, chance in law.regimes(width).items()
                    },
                }
                for width in sorted({m, *_WIDTHS} if m <= _WIDTHS[-1] else _WIDTHS)
            ],
        }

    def _law_tables(self, signs: str, entry: dict[str, Any], law: CountLaw) -> list[Any]:
        seeds = entry["seeds"]
        chances = [
            (
                name,
                _short(entry["exact"][name]),
                _short(entry["hoeffding"][name]),
                f"{seeds[name]}/{seeds['count']}",
                *(f"{entry['smallest_m'][f'{f:g}'][name]}" for f in _FAILURES),
            )
            for name in ("S1", "S2")
        ]
        heads = (
            "bound",
            "probability",
            "Hoeffding ≥",
            "draws",
            *(f"m for δ = {f:g} [exact, Hoeffding]" for f in _FAILURES),
        )
        regimes = [tuple(_short(cell) for cell in row.values()) for row in entry["regimes"]]
        return [
            values(
                f"Phase I with {signs} signs",
                [("α₊ expected", f"{law.alpha_plus:.6g}"), ("α₋ expected", f"{law.alpha_minus:.6g}")],
            ),
            table("Theorem 4.1's count bounds", heads, chances),
            table("Probability of each regime", tuple(entry["regimes"][0]), regimes),
        ]

    def small_kappa1(self, update: Update) -> Answer:
        """The phase times as κ₁ shrinks."""
        from reduced.theorems import evidence, small_kappa1

        network = self.networks(1)[0]
        found = small_kappa1(evidence(network, self.problem, self.ridge, self.until), on_step=update)
        if found is None:
            outcome = Outcome.PLATEAU_INFINITE
            return {"outcome": outcome.value}, [outcome.message]
        return self._kappa_record(found), self._kappa_tables(found)

    def _kappa_record(self, found: SmallKappa1) -> dict[str, Any]:
        names = ("kappa1", "T_plat", "T_II", "T_III_PT")
        return {
            "table": [
                {**dict(zip(names, row.texts(), strict=True)), "transition": self._text(row.transition)}
                for row in found.rows
            ],
            "T_plat_limit": self._text(found.plateau_limit),
            "T_plat_order": self._text(found.plateau_order),
            "transition_order": self._text(found.transition_order),
        }

    def _kappa_tables(self, found: SmallKappa1) -> list[Any]:
        rows = [
            (*row.texts(), None if row.transition is None else f"{row.transition:.6g}") for row in found.rows
        ]
        closing = f"{found.plateau_words}: a smaller initialisation does not avoid the plateau"
        if found.transition_order is not None:
            closing += f"; the transition shrinks like κ₁^{found.transition_order:.3f}"
        columns = ("κ₁", "T_plat", "T_II", "T_III_PT", "T_III_PT − T_II")
        return [table("Phase times as κ₁ shrinks (exact flow)", columns, rows), closing]

    def _text(self, value: float | None) -> str | None:
        """Write a double; what is not a number is null, infinities are "inf" and "-inf"."""
        if value is None or math.isnan(value):
            return None
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        return double_text(float(value), self.digits)


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def _yes(seen: bool | None) -> str | None:
    return None if seen is None else "yes" if seen else "no"


def _because(why: str) -> str:
    return f" [{why}]" if why else ""


def _short(cell: Any) -> str:
    return f"{float(cell):.{_SHOWN}g}" if isinstance(cell, str) else str(cell)


def _times_texts(times: Any) -> tuple[str, ...]:
    return tuple(f"{getattr(times, kind):.5g}" for kind in ("flow", "descent", "estimate", "law"))

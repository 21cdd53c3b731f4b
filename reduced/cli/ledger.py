"""The command theorems: the ledger of the paper's statements, its two tables, and the law of Phase I."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from reduced.cli.budget import BudgetExceeded, time_limit
from reduced.cli.options import Digits, Flow, Model, Weights, choose
from reduced.cli.render import note, print_json, print_tables, progress, table, warn_without
from reduced.cli.simulation import LAST_TIME
from reduced.cli.theorem_tables import TABLES, Answer, Setting, Update
from reduced.errors import InputError
from reduced.records import Outcome

if TYPE_CHECKING:
    from reduced.theorems import Aggregate, Ledger

MAX_SEEDS = 100_000


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
        choose(which, "table", tuple(TABLES))
    if seeds is not None and seeds > 1 and weights.init is not None:
        raise InputError("seeds", seeds, "1 with --init, which gives one network")
    setting = Setting(model, weights, problem, flow.checked_ridge(), flow.until_or(LAST_TIME), digits, seeds)
    answer = ledger_answer if which is None else TABLES[which]
    warn_without("numba" if which == "2" else "gmpy2")
    try:
        with progress("measuring") as update, time_limit(flow.seconds()):
            record, shown = answer(setting, update)
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


def ledger_answer(setting: Setting, update: Update) -> Answer:
    """Measure every statement, at one network or over many."""
    from reduced.theorems import aggregate, ledger

    networks = setting.networks(setting.seeds or 1)
    found = []
    for number, network in enumerate(networks):
        place = f"network {number + 1} of {len(networks)}, " if len(networks) > 1 else ""

        def tell(statement: str, place: str = place) -> None:
            update(f"{place}{statement}")

        found.append(ledger(network, setting.problem, setting.ridge, setting.until, tell))
    if len(found) == 1:
        return _one(setting, found[0])
    return _many(setting, aggregate(found))


def _one(setting: Setting, found: Ledger) -> Answer:
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
                "constant": setting.text(row.constant),
                "rescaled": None
                if row.rescaled is None
                else {
                    "measured": row.rescaled.words,
                    "conclusion": row.rescaled.seen,
                    "why": row.rescaled.why,
                },
            }
            for row in found.rows
        ],
        "rescaled_kappa1": setting.text(found.rescaled_kappa1),
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
    details = [f"{row.id}: {row.measured}{'' if row.conclusion else _because(row.why)}" for row in found.rows]
    shown = [table("The paper's statements at this network", columns, rows), *details, *_closing(found)]
    return record, shown


def _many(setting: Setting, found: Aggregate) -> Answer:
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
                "interval": None if one.interval is None else [setting.text(x) for x in one.interval],
                "constants": None if one.constants is None else [setting.text(x) for x in one.constants],
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
            None if one.constants is None else f"{one.constants[1]:.4g}",
            f"{one.rescaled[0]}/{one.rescaled[1]}" if one.rescaled[1] else None,
            one.formula,
        )
        for one in found.summaries
    ]
    columns = ("statement", "verdict", "seen", "95 %", "median constant", "at small κ₁", "formula")
    return record, [table(f"The paper's statements over {found.networks} networks", columns, rows)]


def _closing(found: Ledger) -> list[str]:
    """Return the last lines: what was not seen here, and what was not seen where its hypothesis is met."""
    here = [row.id for row in found.rows if row.conclusion is False]
    lines = [f"Not seen at this network: {', '.join(here) or 'nothing'}."]
    if found.rescaled_kappa1 is not None:
        small = [row.id for row in found.rows if row.rescaled is not None and row.rescaled.seen is False]
        lines.append(
            f"Small κ₁ means the same directions at κ₁ = {found.rescaled_kappa1:.3g}, so that κ₁/κ₂ ≤ Δ⁸. "
            f"Not seen even there: {', '.join(small) or 'nothing'}."
        )
    return lines


def _yes(seen: bool | None) -> str | None:
    return None if seen is None else "yes" if seen else "no"


def _because(why: str) -> str:
    return f" [{why}]" if why else ""

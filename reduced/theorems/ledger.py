"""The ledger: every statement at one network, or over many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

import fullnet
from reduced.errors import InputError
from reduced.records import Problem
from reduced.theorems import condensation, ending, fates, phase_four, plateau, transition
from reduced.theorems.counts import wilson
from reduced.theorems.evidence import LAST_TIME, Evidence, evidence
from reduced.theorems.hypotheses import small_initialisation
from reduced.theorems.records import Aggregate, Ledger, Measurement, Row, Statement, Summary, Verdict

STATEMENTS: tuple[Statement, ...] = (
    *condensation.STATEMENTS,
    *plateau.STATEMENTS[:7],
    *(one for one in transition.STATEMENTS if one.id.startswith("4.")),
    *(one for one in phase_four.STATEMENTS if one.id.startswith("4.")),
    *ending.STATEMENTS,
    *fates.STATEMENTS,
    *plateau.STATEMENTS[7:],
    *(one for one in transition.STATEMENTS if one.id.startswith("E.")),
    *(one for one in phase_four.STATEMENTS if one.id.startswith("F.")),
)
"""Theorems in order, then lemmas in order."""


def ledger(
    network: fullnet.Network,
    problem: Problem,
    ridge: Any = None,
    until: float = LAST_TIME,
    on_statement: Callable[[str], None] | None = None,
) -> Ledger:
    """Measure every statement of the paper at one network.

    Arguments: network, the initial network; problem, of which p, Δ, κ₂ count (exponential loss, p cos Δ > 1);
    ridge, the choice on repelling ridges; until, the last time of the numerical flow; on_statement, told the
    id of each statement before it is measured. Returns a Ledger. Raises InputError, fullnet.NotUnique.
    """
    found = evidence(network, problem, ridge, until)
    rows = []
    for statement in STATEMENTS:
        if on_statement is not None:
            on_statement(statement.id)
        rows.append(row(statement, found))
    small = small_initialisation(found).met
    return Ledger(tuple(rows), None if small else found.allowed_kappa1)


def row(statement: Statement, e: Evidence) -> Row:
    """Measure one statement at one network, and once more at a smaller κ₁ if its hypothesis asks for that."""
    hypotheses = [(test, test(e)) for test in statement.hypotheses]
    unmet = [found.words for _, found in hypotheses if not found.met]
    measured = statement.measure(e)
    if measured.seen is None:
        unmet.append(f"nothing to measure: {measured.words}")
    asks_small = any(test is small_initialisation and not found.met for test, found in hypotheses)
    return Row(
        statement.id,
        statement.claim,
        statement.formula,
        measured.words,
        _verdict(unmet, measured),
        measured.seen,
        "; ".join([*unmet, *([measured.why] if measured.why else [])]),
        measured.constant,
        _rescaled(statement, e) if asks_small else None,
    )


def _rescaled(statement: Statement, e: Evidence) -> Measurement | None:
    """Measure at the rescaled κ₁; None when another hypothesis is still not met there."""
    small = e.rescaled()
    if not all(test(small).met for test in statement.hypotheses):
        return None
    return statement.measure(small)


def _verdict(unmet: Sequence[str], measured: Measurement) -> Verdict:
    if unmet or measured.seen is None:
        return Verdict.NOT_MET
    return Verdict.HOLDS if measured.seen else Verdict.FAILS


def aggregate(ledgers: Iterable[Ledger]) -> Aggregate:
    """Summarise the ledgers of many networks, statement by statement.

    Arguments: ledgers, at least one. Returns an Aggregate of one Summary a statement. Raises InputError without
    any.
    """
    found = list(ledgers)
    if not found:
        raise InputError("ledgers", "none", "at least one ledger")
    columns = zip(*(one.rows for one in found), strict=True)
    return Aggregate(len(found), tuple(_summary(column) for column in columns))


def _summary(rows: Sequence[Row]) -> Summary:
    counts = Counter(row.verdict for row in rows)
    judged = [row.conclusion for row in rows if row.conclusion is not None]
    constants = [row.constant for row in rows if row.constant is not None and np.isfinite(row.constant)]
    spread = None
    if constants:
        spread = float(min(constants)), float(np.median(constants)), float(max(constants))
    interval = wilson(sum(judged), len(judged)) if judged else None
    rescaled = [row.rescaled.seen for row in rows if row.rescaled is not None]
    small = [seen for seen in rescaled if seen is not None]
    words = "nothing to measure"
    if interval is not None:
        words = (
            f"seen in {sum(judged)} of {len(judged)} networks (95 %: {interval[0]:.3f} … {interval[1]:.3f})"
        )
    if spread is not None:
        words += f"; constant {spread[0]:.4g} / {spread[1]:.4g} / {spread[2]:.4g}"
    if small:
        words += f"; at a κ₁ that meets the hypothesis: {sum(small)} of {len(small)}"
    return Summary(
        rows[0].id,
        rows[0].claim,
        rows[0].formula,
        words,
        _overall(counts),
        {verdict: counts[verdict] for verdict in Verdict},
        sum(judged),
        len(judged),
        interval,
        spread,
        (sum(small), len(small)),
    )


def _overall(counts: Counter[Verdict]) -> Verdict:
    for verdict in (Verdict.FAILS, Verdict.HOLDS):
        if counts[verdict]:
            return verdict
    return Verdict.NOT_MET

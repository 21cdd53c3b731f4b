"""What the ledger is made of: statements, their hypotheses, measurements, verdicts, and the ledger itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from reduced.shown import shown

if TYPE_CHECKING:
    from reduced.theorems.evidence import Evidence


class Verdict(StrEnum):
    """What a measurement says about a statement; the value is the name scripts see."""

    HOLDS = "holds"
    FAILS = "fails"
    NOT_MET = "hypothesis not met"


@dataclass(frozen=True)
class Hypothesis:
    """A condition of a statement at one network: in words with its numbers, and whether it is met."""

    words: str
    met: bool


@dataclass(frozen=True)
class Measurement:
    """What was measured, in words with numbers.

    ``seen``: the statement's conclusion was there (None: nothing to measure it on). ``constant``: the implied
    constant or headline number, by which networks can be compared. ``why``: the reason when it was not seen.
    """

    words: str
    seen: bool | None
    constant: float | None = None
    why: str = ""


@dataclass(frozen=True)
class Statement:
    """One statement of the paper: id, claim in words and as a formula, hypotheses, and how to measure it."""

    id: str
    claim: str
    formula: str
    hypotheses: tuple[Callable[[Evidence], Hypothesis], ...]
    measure: Callable[[Evidence], Measurement]

    __repr__ = shown


@dataclass(frozen=True)
class Row:
    """One statement at one network.

    ``verdict`` speaks of this network. ``conclusion`` tells whether the claim's conclusion was seen although
    a hypothesis may not be met (None: there was nothing to measure). ``rescaled`` is the same measurement
    with the same initial directions at a κ₁ for which the hypothesis on κ₁/κ₂ is met (None when it is met
    already or the statement has no such hypothesis). ``why`` names unmet hypotheses and the reason of a
    failure.
    """

    id: str
    claim: str
    formula: str
    measured: str
    verdict: Verdict
    conclusion: bool | None
    why: str
    constant: float | None
    rescaled: Measurement | None

    __repr__ = shown


@dataclass(frozen=True)
class Ledger:
    """The ledger of one network: rows in the paper's order, and the κ₁ at which they were rescaled."""

    rows: tuple[Row, ...]
    rescaled_kappa1: float | None

    __repr__ = shown

    def _repr_html_(self) -> str:
        from reduced.report import tables

        return tables.ledger_html(self)

    def row(self, statement: str) -> Row:
        """Return the row of a statement by its id."""
        return next(row for row in self.rows if row.id == statement)


@dataclass(frozen=True)
class Summary:
    """One statement over many networks.

    ``seen`` of ``measurable`` networks showed the conclusion, ``interval`` is the 95 % Wilson interval of
    that fraction (None when nothing was measurable); ``counts`` of the verdicts; ``verdict``: fails when it
    fails at some network, else holds when it holds at some, else hypothesis not met; ``constants``: least,
    median and greatest. ``rescaled`` repeats seen and measurable for the rescaled networks.
    """

    id: str
    claim: str
    formula: str
    measured: str
    verdict: Verdict
    counts: dict[Verdict, int]
    seen: int
    measurable: int
    interval: tuple[float, float] | None
    constants: tuple[float, float, float] | None
    rescaled: tuple[int, int]

    __repr__ = shown


@dataclass(frozen=True)
class Aggregate:
    """The ledger aggregated over networks: one summary a statement."""

    networks: int
    summaries: tuple[Summary, ...]

    __repr__ = shown

    def _repr_html_(self) -> str:
        from reduced.report import tables

        return tables.aggregate_html(self)

"""What a cross-check leaves behind."""

from __future__ import annotations

from dataclasses import dataclass

from reduced.records import Outcome, Regime
from reduced.shown import shown


@dataclass(frozen=True)
class Check:
    """One quantity on both sides.

    ``reduced`` is the prediction of the reduced dynamics, ``exact`` the exact m-neuron flow from t = 0
    (shown, never the reference), ``full`` the network's numerical flow; all decimal strings or counts in
    words, None where nothing applies and "inf" for never. ``agree`` is |difference| ≤ tolerance. ``at`` is
    the flow time the row is about, if one.
    """

    quantity: str
    reduced: str | None
    exact: str | None
    full: str | None
    difference: str
    tolerance: str
    agree: bool
    at: str | None = None


@dataclass(frozen=True)
class DescentRow:
    """Gradient descent at one step beside the flow: informative, never part of the verdict.

    Times are flow times (None: not reached in the steps made); ``lost`` counts neurons dead in descent and
    living in the flow; ``same_living`` tells whether the living sets are equal; ``outcome`` how the run
    ended, ``finished`` when both times were found.
    """

    lr: str
    steps: int
    T_plat: str | None
    T_II: str | None
    living: dict[str, int]
    lost: dict[str, int]
    same_living: bool
    outcome: str


@dataclass(frozen=True)
class CrossCheck:
    """The table of a cross-check with its verdict, notes in words, and gradient descent beside it.

    ``checks`` are the rows and ``agree`` is whether all of them do; ``outcome`` and ``living`` are the flow's;
    ``regime`` is by the living fractions; ``gd`` has a row for each step tried, ``largest_faithful_lr`` the
    largest one whose living sets are the flow's.
    """

    checks: tuple[Check, ...]
    agree: bool
    outcome: Outcome
    regime: Regime | None
    living: dict[str, int]
    notes: tuple[str, ...]
    gd: tuple[DescentRow, ...]
    largest_faithful_lr: str | None

    __repr__ = shown

    def _repr_html_(self) -> str:
        from reduced.report import tables

        return tables.crosscheck_html(self)

"""The paper's statements against measurements: the theorem ledger, its tables, and the law of Phase I.

- :func:`ledger` measures every :class:`Statement` of :data:`STATEMENTS` at one network; :func:`aggregate`
  summarises many ledgers.
- :func:`pattern_table` and :func:`times_table` are the paper's Tables 1 and 2.
- :func:`count_law` gives exact probabilities of the living counts and regimes, :func:`seeded_counts` and
  :func:`living_check` the same from draws and flows.
- :func:`small_kappa1` follows the phase times as the initialisation shrinks.
"""

from reduced.theorems.counts import BOUND_MINUS, BOUND_PLUS, CountBound, CountLaw, Signs, count_law, wilson
from reduced.theorems.evidence import Evidence, evidence
from reduced.theorems.initialisation import SmallKappa1, small_kappa1
from reduced.theorems.ledger import STATEMENTS, aggregate, ledger
from reduced.theorems.living import (
    LivingCheck,
    SeededCounts,
    gaussian_norm_spread,
    living_by_rule,
    living_check,
    seeded_counts,
)
from reduced.theorems.patterns import PatternRow, changes_in_words, pattern_table
from reduced.theorems.records import (
    Aggregate,
    Hypothesis,
    Ledger,
    Measurement,
    Row,
    Statement,
    Summary,
    Verdict,
)
from reduced.theorems.times import Times, TimesRow, times_table

__all__ = [
    "BOUND_MINUS",
    "BOUND_PLUS",
    "STATEMENTS",
    "Aggregate",
    "CountBound",
    "CountLaw",
    "Evidence",
    "Hypothesis",
    "Ledger",
    "LivingCheck",
    "Measurement",
    "PatternRow",
    "Row",
    "SeededCounts",
    "Signs",
    "SmallKappa1",
    "Statement",
    "Summary",
    "Times",
    "TimesRow",
    "Verdict",
    "aggregate",
    "changes_in_words",
    "count_law",
    "evidence",
    "gaussian_norm_spread",
    "ledger",
    "living_by_rule",
    "living_check",
    "pattern_table",
    "seeded_counts",
    "small_kappa1",
    "times_table",
    "wilson",
]

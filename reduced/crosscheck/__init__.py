"""Reduced dynamics against the full network: the one place that knows both sides."""

from reduced.crosscheck.compare import crosscheck
from reduced.crosscheck.data import crosscheck_data
from reduced.crosscheck.descent import DEFAULT_RATES, descent_rows
from reduced.crosscheck.fates import Fates, predicted_fates
from reduced.crosscheck.records import Check, CrossCheck, DescentRow

__all__ = [
    "DEFAULT_RATES",
    "Check",
    "CrossCheck",
    "DescentRow",
    "Fates",
    "crosscheck",
    "crosscheck_data",
    "descent_rows",
    "predicted_fates",
]

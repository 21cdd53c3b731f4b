"""Solve the derived systems with mpmath: closed form, Taylor series, collapsed model and whole network."""

from typing import TYPE_CHECKING, Any

from reduced.solve.limit import LimitDirection, LimitValues, limit, limit_values
from reduced.solve.network import ExactRun, network_flow
from reduced.solve.predict import Point, predict
from reduced.solve.taylor import TaylorSeries, taylor_timeline
from reduced.solve.timeline import regime, timeline

if TYPE_CHECKING:
    from reduced.solve.swift import SwiftRun, network_flow_double

__all__ = [
    "ExactRun",
    "LimitDirection",
    "LimitValues",
    "Point",
    "SwiftRun",
    "TaylorSeries",
    "limit",
    "limit_values",
    "network_flow",
    "network_flow_double",
    "predict",
    "regime",
    "taylor_timeline",
    "timeline",
]


def __getattr__(name: str) -> Any:
    """Import the flow in doubles, and with it NumPy, when it is first used."""
    if name in ("SwiftRun", "network_flow_double"):
        from reduced.solve import swift

        return getattr(swift, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

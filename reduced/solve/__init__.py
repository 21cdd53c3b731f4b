"""Solve the derived systems with mpmath: closed form, Taylor series, collapsed model and whole network."""

from reduced.solve.limit import LimitDirection, LimitValues, limit, limit_values
from reduced.solve.network import ExactRun, network_flow
from reduced.solve.predict import Point, predict
from reduced.solve.taylor import TaylorSeries, taylor_timeline
from reduced.solve.timeline import regime, timeline

__all__ = [
    "ExactRun",
    "LimitDirection",
    "LimitValues",
    "Point",
    "TaylorSeries",
    "limit",
    "limit_values",
    "network_flow",
    "predict",
    "regime",
    "taylor_timeline",
    "timeline",
]

"""The reduced model of any small data set: N points, every neuron its own particle, any digits, either loss."""

from reduced.solve.general.flow import GeneralFlow, Particle, general_flow
from reduced.solve.general.motion import Motions
from reduced.solve.general.network import (
    GeneralRun,
    NetworkStart,
    network_flow_general,
    network_start,
    solve_from,
)
from reduced.solve.general.points import Points, points

__all__ = [
    "GeneralFlow",
    "GeneralRun",
    "Motions",
    "NetworkStart",
    "Particle",
    "Points",
    "general_flow",
    "network_flow_general",
    "network_start",
    "points",
    "solve_from",
]

"""The m-neuron flow, event by event: sorted lists, integer counts and four clocks, for any number type."""

from reduced.solve.swift.chain import KINDS, PATTERNS
from reduced.solve.swift.path import Path
from reduced.solve.swift.run import SwiftRun, Switches, network_flow_double

__all__ = ["KINDS", "PATTERNS", "Path", "SwiftRun", "Switches", "network_flow_double"]

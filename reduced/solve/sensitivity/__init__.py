"""Exact derivatives of the collapsed model's times by everything they depend on."""

from reduced.solve.sensitivity.times import PARAMETERS, Sensitivity, sensitivities

__all__ = ["PARAMETERS", "Sensitivity", "sensitivities"]

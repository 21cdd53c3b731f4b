"""The collapsed model in double precision: one parameter set in microseconds, millions at once."""

from reduced.solve.doubles.times import OUTCOMES, PlateauTimes, plateau_map, plateau_times

__all__ = ["OUTCOMES", "PlateauTimes", "plateau_map", "plateau_times"]

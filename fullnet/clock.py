"""The clock of a flow: one double that tells any flow time, however late (derived here).

Up to 10³⁰⁰ the clock shows t itself; from there on 10³⁰⁰ (1 + ln(t/10³⁰⁰)), which starts with the same value and
slope and reaches far past the range of doubles. So readings are compared, sorted and kept in files like times.
"""

from __future__ import annotations

from math import exp, expm1, floor, inf, log, log1p

LINEAR = 1e300
"""The last time that is its own reading."""

LATEST = 1e8
"""The largest ln t a flow can be asked for."""

_LOG_LINEAR = log(LINEAR)
_LARGEST = 709.0


def clock_at(log_t: float) -> float:
    """Return the reading at a flow time given by its natural logarithm ln t (−inf for t = 0)."""
    return exp(log_t) if log_t <= _LOG_LINEAR else LINEAR * (1 + (log_t - _LOG_LINEAR))


def log_time(clock: float) -> float:
    """Return ln t at a reading of the clock (−inf for t = 0)."""
    if clock > LINEAR:
        return _LOG_LINEAR + (clock / LINEAR - 1)
    return log(clock) if clock > 0 else -inf


def flow_time(clock: float) -> float:
    """Return t at a reading of the clock, inf where it lies past the range of doubles."""
    if clock <= LINEAR:
        return clock
    log_t = log_time(clock)
    return exp(log_t) if log_t < _LARGEST else inf


def time_text(clock: float, digits: int = 6) -> str:
    """Write the flow time at a reading of the clock with some significant digits, as in 1.25e+1000."""
    if clock <= LINEAR:
        return f"{clock:.{digits}g}"
    power = log_time(clock) / log(10)
    mantissa = f"{10 ** (power - floor(power)):.{digits}g}"
    return f"{mantissa}e+{floor(power)}" if mantissa != "10" else f"1e+{floor(power) + 1}"


# The next two are compiled into kernels too, so they call functions of ``math`` only.


def units_between(start: float, end: float, log_unit: float) -> float:
    """Return the flow time between two readings in units of e^log_unit, e^709 at most."""
    if end <= LINEAR:
        return (end - start) * exp(min(-log_unit, _LARGEST))
    later = _LOG_LINEAR + (end / LINEAR - 1)
    if start == end:
        return 0.0
    if start == 0:
        return exp(min(later - log_unit, _LARGEST))
    behind = (start - end) / LINEAR if start >= LINEAR else log(start) - later
    return exp(min(later + log(-expm1(behind)) - log_unit, _LARGEST))


def clock_after(start: float, units: float, log_unit: float) -> float:
    """Return the reading a flow time of so many units of e^log_unit after another reading."""
    if start < LINEAR:
        plain = start + units * exp(min(log_unit, _LARGEST))
        if plain <= LINEAR:
            return plain
    if units <= 0:
        return start
    gained = log(units) + log_unit
    if start == 0:
        return LINEAR * (1 + (gained - _LOG_LINEAR))
    log_start = log(start) if start < LINEAR else _LOG_LINEAR + (start / LINEAR - 1)
    ahead = gained - log_start
    grown = max(ahead, 0.0) + log1p(exp(-abs(ahead)))
    if start >= LINEAR:
        return start + LINEAR * grown
    return LINEAR * (1 + (log_start + grown - _LOG_LINEAR))

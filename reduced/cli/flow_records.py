"""What the command simulate says of a flow: its JSON record, from each of the engines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf, sqrt
from typing import TYPE_CHECKING, Any

from reduced.cli.render import exponential_text, trusted_text
from reduced.numbers import Exact, decimal_string, double_string
from reduced.records import Outcome

if TYPE_CHECKING:
    import fullnet
    from reduced.solve.network import ExactRun
    from reduced.solve.swift import SwiftRun

TIMES = ("last_phase_one_event", "T_r_equals_c", "T_plat", "T_II", "T_III_PT", "T_III")
"""The phase times every engine looks for, T_I aside."""

_LEVEL_DIGITS = 15
_EPSILON = 2.0**-52

# How much of ln t an error of a prediction may cost where it passes zero: plateaus are slow.
_PER_PREDICTION = 10.0
# A relative error past this leaves one digit.
_NO_DIGITS = 0.3


@dataclass(frozen=True)
class FlowRecord:
    """A flow as it is printed: the record without its events, how many there are by kind, and the events.

    two_point tells whether its data are the two points, on which alone the phase times mean something.
    """

    record: dict[str, Any]
    kinds: dict[str, int]
    events: Callable[[], Iterator[dict[str, Any]]]
    two_point: bool = True


def exact_record(run: ExactRun, until: Exact | None, digits: int) -> FlowRecord:
    """Describe an exact flow; what never comes is "inf" in a run for ever and null in one that ends.

    Arguments: run; until, the last flow time of interest (None: for ever); digits, right in every number.
    """
    last = None if until is None else until.evaluate(run.flow.ctx)

    def text(value: Any) -> str | None:
        if value is None or (last is not None and value > last):
            return "inf" if last is None else None
        return decimal_string(value, digits)

    times = {name: text(value) for name, value in run.times.items()}
    if run.times["last_phase_one_event"] is None:
        times["last_phase_one_event"] = None
    living = _living(run)
    record = {
        "living": living,
        "times": times,
        "predictions": {
            name: [decimal_string(f, digits) for f in run.predictions[name]]
            if name in run.predictions and times.get(name, "0") is not None
            else None
            for name in ("start", *times)
        },
        "outcome": _outcome(run.outcome.value, living),
        "plateaus": [
            {"start": text(start), "end": text(end), "level": decimal_string(level, digits)}
            for start, end, level in run.plateaus
            if last is None or start <= last
        ],
    }
    return FlowRecord(
        record,
        dict(Counter(event.kind for event in run.events)),
        lambda: (
            _event(decimal_string(event.time, digits), event.kind, event.neuron, event.before, event.after)
            for event in run.events
        ),
    )


def double_record(run: SwiftRun, endless: bool, digits: int) -> FlowRecord:
    """Describe an exact flow in doubles: every number has the digits its error estimate leaves.

    Arguments: run, with its errors; endless, whether it was followed for ever, so that what did not come never
    comes ("inf", else null); digits, at most. Raises ValueError without an error estimate.
    """
    from reduced.solve.swift import KINDS, PATTERNS

    if run.errors is None:
        raise ValueError("the run has no error estimate")
    errors, never = run.errors, "inf" if endless and run.outcome is not Outcome.BUDGET else None
    times = {
        name: never if t is None else _time(t, run.log_times[name], errors.times[name], digits)
        for name, t in run.times.items()
    }
    if run.times["last_phase_one_event"] is None:
        times["last_phase_one_event"] = None
    living = _living(run)
    record = {
        "living": living,
        "times": times,
        "predictions": {
            name: [trusted_text(f, errors.predictions[name], digits) for f in run.predictions[name]]
            if name in run.predictions
            else None
            for name in ("start", *times)
        },
        "outcome": _outcome(run.outcome.value, living),
        "plateaus": [
            {
                "start": _time(start, None, error[0], digits),
                "end": never if end is None else _time(end, None, error[1], digits),
                "level": double_string(level, min(digits, _LEVEL_DIGITS)),
            }
            for (start, end, level), error in zip(run.plateaus, errors.plateaus, strict=True)
        ],
    }
    found = run.events

    def events() -> Iterator[dict[str, Any]]:
        columns = (found.time, found.log_time, found.kind, found.neuron, found.before, found.after)
        lists = (column.tolist() for column in (*columns, errors.events))
        for t, log_t, kind, neuron, before, after, error in zip(*lists, strict=True):
            t_text = _time(t, log_t, error, digits)
            yield _event(t_text, KINDS[kind], neuron, PATTERNS[before], PATTERNS[after])

    kinds = {kind: int((found.kind == code).sum()) for code, kind in enumerate(KINDS)}
    return FlowRecord(record, {kind: count for kind, count in kinds.items() if count}, events)


def _living(run: ExactRun | SwiftRun) -> dict[str, int]:
    return {"positive": len(run.positive), "negative": len(run.negative), "dead": len(run.dead)}


def _time(t: float, log_t: float | None, error: float, digits: int) -> str:
    """Write a flow time of given error of ln t; past the range of doubles from its logarithm."""
    if t == 0:
        return "0"
    if t < inf:
        return trusted_text(t, t * min(error, _NO_DIGITS), digits)
    return "inf" if log_t is None else exponential_text(log_t, error, digits)


def numeric_record(path: fullnet.Trajectory, digits: int) -> FlowRecord:
    """Describe a numerical flow: every number has the digits its error estimate leaves."""
    import fullnet

    phases = fullnet.phase_times(path) if path.data.is_two_point else None
    detection = fullnet.detect(path)
    found = dict.fromkeys(TIMES) | (phases.times if phases else {})
    known = [name for name in TIMES if found[name] is not None]
    errors = {found[name]: phases.errors[name] for name in known} if phases else {}
    printed = _Trusted(path, errors, frozenset(event.t for event in path.events), digits)
    living, causes = count_living(path.living, path.network), Counter(death.cause for death in path.deaths)
    record = {
        "living": living,
        "times": {name: printed.time(found[name]) for name in TIMES},
        "predictions": {
            "start": printed.predictions(0.0),
            **{name: printed.predictions(found[name]) for name in TIMES},
        },
        "outcome": _outcome(path.outcome.value, living) if phases else path.outcome.value,
        "plateaus": [
            {
                "start": printed.time(plateau.start),
                "end": printed.time(plateau.end),
                "level": double_string(plateau.level, min(digits, _LEVEL_DIGITS)),
            }
            for plateau in detection.plateaus
        ],
        "condensation": {
            "t": printed.time(detection.condensed_at),
            "clusters": [cluster.members.tolist() for cluster in detection.clusters],
        },
        "until": end_text(path.end, digits),
        "final": printed.end(),
        "died": {cause: causes[cause] for cause in ("start", "left", "origin")},
    }
    return FlowRecord(
        record,
        dict(Counter(event.kind for event in path.events)),
        lambda: (
            _event(str(printed.time(event.t)), event.kind, event.neuron, event.before, event.after)
            for event in path.events
        ),
        path.data.is_two_point,
    )


@dataclass(frozen=True)
class _Trusted:
    """Writes what a numerical flow found, with the digits its error estimate leaves.

    ``errors`` holds the absolute errors of the phase times, by time; any other time has that of an event, or,
    where it is a zero of a prediction, what the predictions' error makes of it.
    """

    path: fullnet.Trajectory
    errors: dict[float | None, float]
    switches: frozenset[float]
    digits: int

    def time(self, t: float | None) -> str | None:
        """Write a flow time given by the clock's reading, None when there is none."""
        import fullnet

        if t is None:
            return None
        if t <= fullnet.LINEAR:
            return trusted_text(t, self._error(t), self.digits)
        return exponential_text(fullnet.log_time(t), self._error(t) / fullnet.LINEAR, self.digits)

    def predictions(self, t: float | None) -> list[str] | None:
        """Write the predictions at a flow time, None when there is none."""
        import fullnet

        if t is None:
            return None
        # on these flows f moves by at most about one while t grows by a factor e
        error = float(self.path.prediction_error(t)) + (self._error(t) / min(t, fullnet.LINEAR) if t else 0.0)
        return [trusted_text(float(f), error, self.digits) for f in self.path.at(t)]

    def end(self) -> dict[str, str]:
        """Write the network's accuracy, loss and size at the end."""
        end = self.path.end
        log_loss = float(self.path.log_loss(end))
        # log L moves by at most as much as a prediction does
        error = float(self.path.prediction_error(end)) + 4 * _EPSILON * (1 + abs(log_loss))
        return {
            "t": end_text(end, self.digits),
            "accuracy": double_string(float(self.path.accuracy(end)), min(self.digits, _LEVEL_DIGITS)),
            "loss": exponential_text(log_loss, error, self.digits),
            "log_loss": trusted_text(log_loss, error, self.digits),
            "norm": self._norm(),
        }

    def _norm(self) -> str:
        size, shadow = _norm_at(self.path, self.path.end), self.path.shadow
        if shadow is None or shadow.end < self.path.end:
            return trusted_text(size, inf, self.digits)
        error = max(abs(size - _norm_at(shadow, self.path.end)), 16 * _EPSILON * size)
        return trusted_text(size, error, self.digits)

    def _error(self, t: float) -> float:
        import fullnet

        if t in self.errors:
            return self.errors[t]
        error = float(self.path.time_error(t))
        if t in self.switches:
            return error
        return max(error, _PER_PREDICTION * min(t, fullnet.LINEAR) * float(self.path.prediction_error(t)))


def _norm_at(path: fullnet.Trajectory, t: float) -> float:
    return sqrt(float((path.neurons(t) ** 2).sum()))


def end_text(end: float, digits: int) -> str:
    """Write the time a flow was followed to, given by the clock's reading."""
    import fullnet

    if end <= fullnet.LINEAR:
        return double_string(end, digits)
    log_end = fullnet.log_time(end)
    return exponential_text(log_end, 4 * _EPSILON * log_end, digits)


def count_living(living: Any, network: fullnet.Network) -> dict[str, int]:
    """Count the living neurons by sign, and the dead."""
    return {
        "positive": int((living & (network.sign > 0)).sum()),
        "negative": int((living & (network.sign < 0)).sum()),
        "dead": int((~living).sum()),
    }


def _event(t: str, kind: str, neuron: int | str, before: str, after: str) -> dict[str, Any]:
    return {"t": t, "kind": kind, "neuron": neuron, "from": before, "to": after}


def _outcome(ended: str, living: dict[str, int]) -> str:
    """Name the outcome of a two-point flow; without both signs alive one point is never learned."""
    if ended == Outcome.FINISHED.value and not (living["positive"] and living["negative"]):
        return Outcome.PLATEAU_INFINITE.value
    return ended

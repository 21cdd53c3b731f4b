"""The m-neuron flow in doubles: the same chain of exact events, to nearly all digits a double has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import expm1, inf, log, sqrt
from time import perf_counter
from typing import Any

import numpy as np

from reduced.errors import InputError, MissingExtra
from reduced.numbers import Exact, cos, exact, sin
from reduced.records import Loss, Outcome, Problem
from reduced.shown import shown
from reduced.solve.accuracy import Plateau, plateaus
from reduced.solve.flow import NotUnique, Ridge
from reduced.solve.network import TIMES
from reduced.solve.promise import private_context
from reduced.solve.swift import chain, kernels
from reduced.solve.swift.chain import COLUMNS, NOBODY, PATTERNS, Record, Setting, kind_of
from reduced.solve.swift.engine import Start, follow, level_of
from reduced.solve.swift.path import Floats, Integers, Path, Place
from reduced.solve.swift.piece import Angle
from reduced.solve.swift.shadow import Errors, blurred, compare, nudged
from reduced.solve.swift.start import contributions, patterns
from reduced.solve.weights import checked_network

_DIGITS = 60
_LARGEST = 650
_UNBOUNDED = 2**62
# A coordinate this small against its terms may be 0: a few units in the last place of what clocks add up.
_NEAR = 2.0**-46
# By the patterns before and after: the kind, and whether a neuron loses x₋ but not x₊, or finds x₊ again.
_CODES = range(len(PATTERNS))
_KIND = np.array([[kind_of(before, after) for after in _CODES] for before in _CODES])
_LOSES_MINUS, _REGAINS_PLUS = np.zeros((2, *_KIND.shape), bool)
_LOSES_MINUS[chain.BOTH, [chain.ONLY_PLUS, chain.SLIDE_MINUS]] = True
_REGAINS_PLUS[chain.SLIDE_PLUS, [chain.BOTH, chain.ONLY_PLUS]] = True


@dataclass(frozen=True)
class Switches:
    """The events in order, one array entry each: time (inf past 1e308), ln time, kind, neuron, patterns.

    kind indexes :data:`reduced.solve.swift.KINDS`; before and after index :data:`reduced.solve.swift.PATTERNS`.
    """

    time: Floats
    log_time: Floats
    kind: Integers
    neuron: Integers
    before: Integers
    after: Integers


@dataclass(frozen=True)
class SwiftRun:
    """A network flow in doubles.

    times: flow times by name (:data:`reduced.solve.network.TIMES`, None when the event never comes, inf past
    1e308) and log_times, their logarithms; predictions: (f₊, f₋) at each of these and at ``start``;
    positive, negative, dead: neurons at the end; plateaus: (start, end or None, accuracy); events; path, for
    predictions, weights and counts at any time; errors, their estimated errors where asked for.
    """

    times: dict[str, float | None]
    log_times: dict[str, float | None]
    predictions: dict[str, tuple[float, float]]
    positive: Integers
    negative: Integers
    dead: Integers
    plateaus: tuple[Plateau, ...]
    events: Switches
    outcome: Outcome
    path: Path
    errors: Errors | None = None

    __repr__ = shown


def network_flow_double(
    W: Any,
    sign: Any,
    problem: Problem,
    until: Any | None = None,
    ridge: Ridge | None = None,
    max_events: int | None = None,
    compiled: bool | None = None,
    on_compile: Callable[[], None] | None = None,
    estimate_error: bool = False,
    max_seconds: float | None = None,
) -> SwiftRun:
    """Solve the gradient flow of an m-neuron network on the two data points, in doubles.

    Arguments: W (m, d ≥ 2) and sign (m,), the initial weights and ±1, at x± = (±sin(Δ/2), −cos(Δ/2), 0, …);
    problem, of which p, delta and kappa2 count (exponential loss); until, the last flow time of interest
    (None: for ever); ridge, the choice on repelling ridges and in the origin, where a neuron that comes by
    moving rests unless it is ``active``; max_events, a budget; compiled, whether numba runs the chain (None:
    when it is installed and m is large enough to pay); on_compile, called before machine code is made for the
    first time; estimate_error, whether to solve a second flow with an input that differs by rounding and
    compare; max_seconds, a budget of wall time. Returns a SwiftRun. Raises InputError, MissingExtra (compiled
    without numba), or NotUnique for a start on a repelling ridge or in the origin. Derived here.
    """
    if problem.loss is not Loss.EXP:
        raise InputError("method", "exact", f"ode: loss {problem.loss.value} has no closed form")
    weights, signs = checked_network(W, sign)
    setting, start, scale = _begin(weights, signs, problem, until, ridge, max_events)
    where = _kernels(len(signs), compiled, on_compile)
    weight = _constants(problem.p, problem.delta, problem.kappa2).weight_plus

    def solve(begin: Start, bounds: Setting, stop: Callable[[], bool] | None = None) -> SwiftRun:
        record, why = follow(bounds, begin, where, stop)
        outcome = Outcome.BUDGET if why == chain.BUDGET else Outcome.FINISHED
        return _measure(_path(bounds, begin, scale, record, outcome), outcome, (weight, 1 - weight))

    run = solve(start, setting, _alarm(max_seconds, 2 if estimate_error else 1))
    if not estimate_error:
        return run
    if run.outcome is Outcome.BUDGET:
        setting = setting._replace(most_rows=len(run.path.rows))
    try:
        shadow = solve(nudged(start, setting.angle.gap), setting._replace(angle=blurred(setting.angle)))
    except NotUnique:
        shadow = None
    return replace(run, errors=compare(run, shadow))


def _alarm(max_seconds: float | None, parts: int) -> Callable[[], bool] | None:
    """Return whether the first of equal parts of a budget is used up, as a function."""
    if max_seconds is None:
        return None
    last = perf_counter() + max_seconds / parts
    return lambda: perf_counter() > last


def _begin(
    W: Floats, sign: Integers, problem: Problem, until: Any, ridge: Ridge | None, max_events: int | None
) -> tuple[Setting, Start, float]:
    """Return the setting, the state at t = 0 and |a| = κ₂/√m; constants are rounded once, at the end."""
    data = _constants(problem.p, problem.delta, problem.kappa2)
    scale = data.kappa2 / sqrt(len(W))
    u, v = contributions(W, data.across, data.along, scale)
    f_plus, f_minus = (float(np.sum(sign * np.maximum(side, 0.0))) for side in (u, v))
    if not abs(f_plus + f_minus) < _LARGEST:
        raise InputError("W", f"weights with f₊ + f₋ = {f_plus + f_minus:.3g}", f"|f₊ + f₋| below {_LARGEST}")
    growth = expm1(f_plus + f_minus) * data.one_over_p
    r, delta = data.one_over_p + growth, data.above_c + growth
    force = scale**2 * data.weight_plus
    end, log_end = _horizon(until)
    setting = Setting(
        data.angle,
        force,
        log(force),
        end,
        log_end,
        _UNBOUNDED if max_events is None else max_events + 1,
        _NEAR,
        ridge != "active",
    )
    level = level_of(delta, data.angle.gap)
    start = Start(sign, patterns(sign, u, v, level, ridge), u, v, f_plus, f_minus, r, delta, level)
    return setting, start, scale


def _horizon(until: Any) -> tuple[float, float]:
    """Return the last time of interest and its logarithm."""
    if until is None:
        return inf, inf
    last = exact(until, "until")
    if last.fraction is None:
        value = last.evaluate(private_context(20))
        return float(value), float(value.context.log(value)) if value > 0 else -inf
    if last.fraction <= 0:
        return 0.0, -inf
    log_end = log(last.fraction.numerator) - log(last.fraction.denominator)
    return float(last.fraction) if log_end < 700 else inf, log_end


@dataclass(frozen=True)
class _Constants:
    """What depends on the problem only, rounded once; across = sin(Δ/2), along = cos(Δ/2) as two doubles."""

    angle: Angle
    across: tuple[float, float]
    along: tuple[float, float]
    kappa2: float
    weight_plus: float
    one_over_p: float
    above_c: float


@lru_cache(maxsize=256)
def _constants(p: Exact, delta: Exact, kappa2: Exact) -> _Constants:
    ctx = private_context(_DIGITS)
    ratio = p.evaluate(ctx)
    across, along = sin(delta / 2).evaluate(ctx), cos(delta / 2).evaluate(ctx)
    c, s2 = cos(delta).evaluate(ctx), (2 * across * along) ** 2
    return _Constants(
        Angle(float(c), float(2 * across**2), float(s2), float(s2 / c), 2.0**-52),
        _parts(across),
        _parts(along),
        float(kappa2.evaluate(ctx)),
        float(ratio / (1 + ratio)),
        float(1 / ratio),
        float(1 / ratio - c),
    )


def _parts(value: Any) -> tuple[float, float]:
    """Return a number as the sum of two doubles."""
    return float(value), float(value - float(value))


def _kernels(m: int, compiled: bool | None, on_compile: Callable[[], None] | None) -> kernels.Kernels:
    """Return where to run: compiled when asked for, or when it pays and can be had."""
    if compiled is None:
        compiled = m >= kernels.COMPILE_FROM and kernels.has_compiler()
    if not compiled:
        return kernels.Interpreted()
    if not kernels.has_compiler():
        raise MissingExtra("compiled=True needs numba: install the extra 'fast'")
    ready = kernels.compiled_kernels()
    if on_compile is not None and not ready.is_cached():
        on_compile()
    return ready


def _path(setting: Setting, start: Start, scale: float, record: Record, outcome: Outcome) -> Path:
    used = int(record.counts[chain.ROWS])
    rows = np.asarray(record.rows[: used * COLUMNS], np.float64).reshape(used, COLUMNS)
    switches = np.asarray(record.switches[: 3 * used], np.int32).reshape(used, 3)
    endless = outcome is not Outcome.BUDGET
    return Path(setting, scale, start.sign, start.pattern, start.u, start.v, rows, switches, endless)


def _measure(path: Path, outcome: Outcome, weights: tuple[float, float]) -> SwiftRun:
    """Read the phase times off the rows of a path."""
    rows = path.moves
    events = _switches(path)
    final, positive = path.pattern.copy(), path.sign > 0
    final[events.neuron] = events.after
    reached = _reaches_c(path)
    early = len(rows) if reached is None else int(np.searchsorted(rows, reached))
    late, neuron = rows[early:], events.neuron[early:]
    change = events.before[early:], events.after[early:]
    lost = _LOSES_MINUS[change] & positive[neuron]
    loss, lasting = late[lost], late[lost & (final[neuron] != chain.DEAD)]
    back = late[_REGAINS_PLUS[change] & ~positive[neuron]]
    crossings = [[(at, to) for at, to in path.crossings(point) if path.includes(at)] for point in (0, 1)]
    learned = [_learned(path, point, crossings[point]) for point in (0, 1)]
    falls = [place for place, direction in crossings[1] if direction < 0]
    plateau_end = None
    if crossings[1] and crossings[1][-1][1] < 0:
        plateau_end = falls[-1]
    elif not crossings[1] and path.sign_at_start(1) < 0 and learned[1] is not None:
        plateau_end = path.place(0)
    places: dict[str, Place | None] = {
        "last_phase_one_event": path.place(int(rows[early - 1])) if early else None,
        "T_r_equals_c": None if reached is None else path.place(reached),
        "T_plat": plateau_end,
        "T_II": path.place(int(loss[0])) if loss.size else None,
        "T_III_PT": path.place(int(lasting[-1])) if lasting.size else None,
        "T_III": path.place(int(back[0])) if back.size else None,
    }
    times: dict[str, float | None] = dict.fromkeys(TIMES)
    log_times: dict[str, float | None] = dict.fromkeys(TIMES)
    predictions = {"start": path.predictions_at(path.place(0))}
    for name, place in places.items():
        if place is None:
            continue
        times[name], log_times[name] = place.time, place.log_time
        predictions[name] = path.predictions_at(place)
        if name == "T_plat" and falls:
            predictions[name] = predictions[name][0], 0.0
    alive = final != chain.DEAD
    return SwiftRun(
        times,
        log_times,
        predictions,
        np.flatnonzero(alive & positive),
        np.flatnonzero(alive & ~positive),
        np.flatnonzero(~alive),
        _plateaus(path, crossings, weights, learned),
        events,
        outcome,
        path,
    )


def _reaches_c(path: Path) -> int | None:
    """Return the row in which r first is c or more, None when it always stays below."""
    if path.rows[0, chain.DELTA] >= 0:
        return 0
    passages = np.flatnonzero(path.switches[1:, 0] == NOBODY) + 1
    return next((row for row in passages.tolist() if path.switches[row, 1:].tolist() == [0, 1]), None)


def _switches(path: Path) -> Switches:
    rows = path.moves
    neuron, before, after = path.switches[rows].T
    time = path.rows[rows, chain.TIME]
    with np.errstate(divide="ignore"):
        log_time = np.where(time < chain.HUGE, np.log(time), path.rows[rows, chain.LOG_TIME])
    time = np.where(log_time < 709.0, time, np.inf)
    return Switches(time, log_time, _KIND[before, after], neuron, before, after)


def _plateaus(
    path: Path,
    crossings: list[list[tuple[Place, int]]],
    weights: tuple[float, float],
    learned: Sequence[float | None],
) -> tuple[Plateau, ...]:
    passages = [(place.time, point, sign) for point in (0, 1) for place, sign in crossings[point]]
    return plateaus([path.sign_at_start(0) > 0, path.sign_at_start(1) < 0], passages, weights, learned)


def _learned(path: Path, point: int, crossings: list[tuple[Place, int]]) -> float | None:
    """Return the time from which the sign of f₊ or f₋ is not that of the random start, or None."""
    if path.rows[0, chain.F_PLUS + point] == 0:
        return 0.0
    places = [place for place, _ in crossings[:1]]
    doubled = path.doubling(point, places[0].row + 1 if places else None)
    if doubled is not None and path.includes(doubled):
        places.append(doubled)
    return min((place.time for place in places), default=None)

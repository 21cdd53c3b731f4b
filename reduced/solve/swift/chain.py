"""The chain of events between two passages of r through c or 1/c, for any number type.

All neurons of one sign and pattern move by the same clock, so the next one to reach a kink is the head of a
sorted list: one list per clock, its order fixed because no clock turns inside a leg (X turns at r = 1/c, Y at
r = c, and there the leg ends). Only neurons that begin to fall towards a kink in the middle of a leg need
heaps. Counts are integers and nothing is summed over neurons, so an event costs the same for any m. Everything
here is in the subset of Python that numba compiles; lists and arrays are both welcome.
"""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

from reduced.solve.swift.arithmetic import exp, log, log1p
from reduced.solve.swift.duration import duration
from reduced.solve.swift.piece import (
    Angle,
    Motion,
    Piece,
    at_rest,
    learn,
    move,
    ratio_turn,
    rising,
    start_piece,
    turn_of_difference,
    turn_of_R,
    turn_of_S,
)

DEAD, BOTH, ONLY_PLUS, ONLY_MINUS, SLIDE_PLUS, SLIDE_MINUS = range(6)
"""Patterns as integers: --, ++, +-, -+, 0+ (on the kink of x₊), +0 (on that of x₋)."""

PATTERNS = ("--", "++", "+-", "-+", "0+", "+0")
"""Their names (x₊ then x₋: ``+`` active, ``-`` inactive, ``0`` sliding)."""

KINDS = ("cross", "slide", "leave", "die")
"""Names of the kinds of events."""

LEVEL, ROWS, DONE_S, DONE_R, DONE_X, DONE_Y, LATE_S, LATE_R = range(6, 14)
"""Places in ``Record.counts`` behind the counts by pattern: level, rows written, list heads, heap sizes."""
COUNTS = 14

TIME, LOG_TIME, S, R, X, Y, F_PLUS, F_MINUS, RATIO, DELTA, LENGTH, U, V = range(13)
"""Columns of a row: the state after an event, the length q of the piece before it, the neuron's u and v."""
COLUMNS = 13

NOBODY = -1
ENDED, CUT, TURNED, FULL, BUDGET = range(5)
"""Why a leg ends: nothing follows, what follows is too late (the q of its piece stands in the first unused
row), r passed c or 1/c, no room for rows, enough events."""

_BY_S, _BY_R, _BY_X, _BY_Y = range(4)
HUGE = 1e300
"""Times from here on are known by their logarithm."""


class Setting(NamedTuple):
    """What stays fixed: the angle, the force κ₂² w₊/m and its log, where to stop, and what the origin means.

    A coordinate below ``near`` times its terms is 0 where the other one is; ``rests``, whether a neuron that comes
    to the origin so stays there (else it leaves at once).
    """

    angle: Angle
    force: Any
    log_force: Any
    until: Any
    log_until: Any
    most_rows: int
    near: Any
    rests: bool


class Neurons(NamedTuple):
    """Per neuron: sign, pattern, and u, v as intercepts, u = u₀ + (its pattern's linear form in the clocks)."""

    sign: Any
    pattern: Any
    u: Any
    v: Any


class Queue(NamedTuple):
    """Neurons in the order in which they reach their kink: key (a clock reading or an intercept) and who."""

    key: Any
    who: Any


class Record(NamedTuple):
    """What grows: counts; rows of the log, COLUMNS numbers each; (neuron, before, after) of each row."""

    counts: Any
    rows: Any
    switches: Any


def kind_of(before: int, after: int) -> int:
    """Return the kind of a switch, an index into KINDS."""
    if after == DEAD:
        return KINDS.index("die")
    if after >= SLIDE_PLUS:
        return KINDS.index("slide")
    return KINDS.index("leave" if before >= SLIDE_PLUS else "cross")


def span(piece: Piece, q: Any, motion: Motion) -> tuple[Any, Any]:
    """Return ∫₀^q P₀/P dS of a piece as value · e^exponent, in the number type of q."""
    if isinstance(q, float):
        return duration(piece, q, motion)
    from reduced.solve.swift.closed_form import duration_of_mpf

    return duration_of_mpf(piece, q)


def run_leg(
    setting: Setting,
    neurons: Neurons,
    by_S: Queue,
    by_R: Queue,
    by_X: Queue,
    by_Y: Queue,
    late_S: Queue,
    late_R: Queue,
    record: Record,
) -> int:
    """Follow the flow from the last row up to the passage of r through c or 1/c; return why it ended there.

    by_S, by_R: sorted readings of S, R; by_X, by_Y: sorted intercepts of the neurons in ++ that fall towards
    u = 0, v = 0 while X, Y run in the direction of this level; late_S, late_R: heaps. Rows are appended.
    """
    counts, rows, switches = record.counts, record.rows, record.switches
    angle, pattern, level = setting.angle, neurons.pattern, counts[LEVEL]
    room = min(len(rows) // COLUMNS, setting.most_rows)
    toward = (1, 1, 1 if level < 2 else -1, 1 if level < 1 else -1)
    fixed, late = (by_S, by_R, by_X, by_Y), (late_S, late_R)
    who_X, who_Y = by_X.who, by_Y.who
    while counts[ROWS] < room:
        now = (counts[ROWS] - 1) * COLUMNS
        piece = start_piece(
            angle,
            counts[BOTH],
            counts[ONLY_PLUS],
            counts[ONLY_MINUS],
            counts[SLIDE_PLUS],
            counts[SLIDE_MINUS],
            rows[now + RATIO],
            rows[now + DELTA],
        )
        counts[DONE_X] = _first_active(who_X, counts[DONE_X], pattern)
        counts[DONE_Y] = _first_active(who_Y, counts[DONE_Y], pattern)
        ahead = (
            _ahead(_next_of_two(by_S, counts[DONE_S], late_S, counts[LATE_S]), rows[now + S]),
            _ahead(_next_of_two(by_R, counts[DONE_R], late_R, counts[LATE_R]), rows[now + R]),
            _ahead(_next(by_X, counts[DONE_X]), toward[_BY_X] * rows[now + X]),
            _ahead(_next(by_Y, counts[DONE_Y]), toward[_BY_Y] * rows[now + Y]),
        )
        q, winner, motion = _race(piece, ahead, toward, level, angle.gap)
        if q == inf:
            return ENDED
        if not _write_row(setting, piece, q, motion, rows, now):
            return CUT
        counts[ROWS] += 1
        row = now + COLUMNS
        mark = 3 * (counts[ROWS] - 1)
        if winner == NOBODY:
            up = rising(piece)
            rows[row + DELTA] = 0 * q if level == (0 if up else 1) else angle.gap + 0 * q
            rows[row + RATIO] = piece.c + rows[row + DELTA]
            rows[row + U], rows[row + V] = 0 * q, 0 * q
            counts[LEVEL] = level + 1 if up else level - 1
            switches[mark], switches[mark + 1], switches[mark + 2] = NOBODY, level, counts[LEVEL]
            return TURNED
        k = _take(fixed, late, winner, toward[winner], record, row)
        before = pattern[k]
        _arrive(setting, neurons, k, winner, level, rows, row)
        after = pattern[k]
        counts[before] -= 1
        counts[after] += 1
        switches[mark], switches[mark + 1], switches[mark + 2] = k, before, after
        _clear_unlearned(counts, rows, row)
        if after == ONLY_PLUS:
            counts[LATE_S] = _push(late_S, counts[LATE_S], rows[row + U] + rows[row + S], k)
        elif after == ONLY_MINUS:
            counts[LATE_R] = _push(late_R, counts[LATE_R], rows[row + V] + rows[row + R], k)
    return BUDGET if counts[ROWS] >= setting.most_rows else FULL


def _first_active(who: Any, done: int, pattern: Any) -> int:
    """Return the place of the first neuron still active on both points, from ``done`` on."""
    while done < len(who) and pattern[who[done]] != BOTH:
        done += 1
    return done


def _next(queue: Queue, done: int) -> Any:
    """Return the key of the next neuron in a list (inf: none)."""
    return queue.key[done] if done < len(queue.key) else inf


def _next_of_two(fixed: Queue, done: int, late: Queue, size: int) -> Any:
    """Return the key of the next neuron in a list and a heap (inf: none)."""
    key = fixed.key[done] if done < len(fixed.key) else inf
    return late.key[0] if size > 0 and late.key[0] < key else key


def _ahead(reading: Any, clock: Any) -> Any:
    """Return how far a clock must still run to a reading."""
    return reading - clock if reading > clock else 0 * clock


def _race(piece: Piece, ahead: Any, toward: Any, level: int, gap: Any) -> tuple[Any, int, Motion]:
    """Return the q of the next event, its clock (NOBODY for the passage of r through c or 1/c) and the motion.

    The clock that looks soonest is solved, then every other one only if it has passed its reading by then. The
    motion means nothing where q is inf.
    """
    q, winner = ratio_turn(piece, level, gap), NOBODY
    first = _soonest(piece, ahead, toward)
    if first != NOBODY:
        reached = _solve(piece, first, toward[first], ahead[first], q)
        if reached < q:
            q, winner = reached, first
    motion = move(piece, q) if q < inf else at_rest(piece)
    for clock in range(4):
        if clock == first or ahead[clock] == inf:
            continue
        if q == inf or toward[clock] * _reading(motion, clock) > ahead[clock]:
            reached = _solve(piece, clock, toward[clock], ahead[clock], q)
            if reached < q:
                q, winner, motion = reached, clock, move(piece, reached)
    return q, winner, motion


def _soonest(piece: Piece, ahead: Any, toward: Any) -> int:
    """Return the clock that would be first if all kept their speed (NOBODY when no neuron is on its way)."""
    speeds = (1 + 0 * piece.r, piece.r, 1 - piece.c * piece.r, -piece.delta)
    best, clock = inf, NOBODY
    for candidate in range(4):
        if ahead[candidate] < inf:
            speed = toward[candidate] * speeds[candidate]
            if clock == NOBODY or ahead[candidate] < best * speed:
                best, clock = ahead[candidate] / speed if speed > 0 else inf, candidate
    return clock


def _reading(motion: Motion, clock: int) -> Any:
    """Return how far a clock has moved."""
    if clock == _BY_S:
        return motion.S
    if clock == _BY_R:
        return motion.R
    return motion.X if clock == _BY_X else motion.Y


def _solve(piece: Piece, clock: int, toward: int, ahead: Any, limit: Any) -> Any:
    """Return the q at which a clock has moved ``ahead`` in its direction (inf: not before limit)."""
    if clock == _BY_S:
        return turn_of_S(piece, ahead)
    if clock == _BY_R:
        return turn_of_R(piece, ahead)
    return turn_of_difference(piece, clock == _BY_X, toward, ahead, limit)


def _write_row(setting: Setting, piece: Piece, q: Any, motion: Motion, rows: Any, now: int) -> bool:
    """Write the state at q behind the row ``now``; return False when its time lies beyond the last one asked."""
    row = now + COLUMNS
    rows[row + LENGTH] = q
    value, exponent = span(piece, q, motion)
    f_plus = rows[now + F_PLUS]
    t, log_t = rows[now + TIME], 0 * q
    known = exponent == 0 and -600 < f_plus < 600 and t < HUGE
    if known:
        t = t + value / setting.force * exp(f_plus)
    if t > setting.until:
        return False
    if not known or t >= HUGE:
        log_t = _log_time(rows, now)
        if value > 0:
            step = log(value) + exponent + f_plus - setting.log_force
            log_t = max(step, log_t) + log1p(exp(-abs(step - log_t)))
        t = exp(log_t)
        if log_t > setting.log_until:
            return False
    change_plus, change_minus = learn(piece, q, motion.L)
    rows[row + TIME] = t
    rows[row + LOG_TIME] = log_t
    rows[row + S] = rows[now + S] + motion.S
    rows[row + R] = rows[now + R] + motion.R
    rows[row + X] = rows[now + X] + motion.X
    rows[row + Y] = rows[now + Y] + motion.Y
    rows[row + F_PLUS] = f_plus + change_plus
    rows[row + F_MINUS] = rows[now + F_MINUS] + change_minus
    far = 2 * motion.r < piece.c
    rows[row + RATIO] = motion.r if far else piece.c + motion.delta
    rows[row + DELTA] = motion.r - piece.c if far else motion.delta
    return True


def _clear_unlearned(counts: Any, rows: Any, row: int) -> None:
    """Make a prediction to which no neuron contributes exactly 0."""
    if counts[BOTH] + counts[ONLY_PLUS] + counts[SLIDE_MINUS] == 0:
        rows[row + F_PLUS] = 0 * rows[row + F_PLUS]
    if counts[BOTH] + counts[ONLY_MINUS] + counts[SLIDE_PLUS] == 0:
        rows[row + F_MINUS] = 0 * rows[row + F_MINUS]


def _log_time(rows: Any, row: int) -> Any:
    """Return ln t of a row."""
    t = rows[row + TIME]
    if t >= HUGE:
        return rows[row + LOG_TIME]
    return log(t) if t > 0 else 0 * t - HUGE


def _take(fixed: Any, late: Any, clock: int, toward: int, record: Record, row: int) -> Any:
    """Remove the next neuron of a clock and return it; its key becomes the clock's reading in the new row.

    So neurons with equal keys arrive at one and the same time, whatever rounding did to the clock.
    """
    counts, rows = record.counts, record.rows
    queue, place = fixed[clock], counts[DONE_S + clock]
    if clock < _BY_X and counts[LATE_S + clock] > 0 and late[clock].key[0] < _next(queue, place):
        rows[row + S + clock], k = late[clock].key[0], late[clock].who[0]
        counts[LATE_S + clock] = _pop(late[clock], counts[LATE_S + clock])
        return k
    counts[DONE_S + clock] += 1
    rows[row + S + clock] = toward * queue.key[place]
    return queue.who[place]


def _arrive(setting: Setting, neurons: Neurons, k: int, clock: int, level: int, rows: Any, row: int) -> None:
    """Decide what neuron k does on the kink it has reached (Def H.1) and move it to its new pattern.

    One that falls on both kinks at once comes to the origin, where the solution is not unique: it can rest, or
    leave, by its only way out, along the kink that attracts it.
    """
    c, s2 = setting.angle.c, setting.angle.s2
    sign, before = neurons.sign[k], neurons.pattern[k]
    u, v = position(c, s2, sign, before, neurons.u[k], neurons.v[k], rows, row)
    in_origin = False
    if clock == _BY_X:
        u, after = 0 * u, (ONLY_MINUS if sign > 0 else SLIDE_PLUS)
        in_origin = v <= setting.near * (abs(neurons.v[k]) + abs(rows[row + Y]))
    elif clock == _BY_Y:
        v, after = 0 * v, (SLIDE_MINUS if sign > 0 else ONLY_PLUS)
        in_origin = u <= setting.near * (abs(neurons.u[k]) + abs(rows[row + X]))
    elif before == ONLY_PLUS and sign > 0:
        v, after = 0 * v, (BOTH if level == 0 else SLIDE_MINUS)
    elif before == ONLY_MINUS and sign < 0:
        u, after = 0 * u, (BOTH if level == 2 else SLIDE_PLUS)
    elif clock == _BY_S:
        u, after = 0 * u, DEAD
    else:
        v, after = 0 * v, DEAD
    if in_origin:
        u, v, after = 0 * u, 0 * v, (SLIDE_MINUS if sign > 0 else SLIDE_PLUS)
        if setting.rests:
            after = DEAD
    neurons.pattern[k] = after
    place(c, s2, neurons, k, u, v, rows, row)


def clock_forms(c: Any, s2: Any, pattern: int, rows: Any, row: int) -> tuple[Any, Any]:
    """Return what the clocks of a row add to u and v of a positive neuron of a pattern."""
    if pattern == BOTH:
        return rows[row + X], rows[row + Y]
    if pattern == ONLY_PLUS:
        return rows[row + S], c * rows[row + S]
    if pattern == ONLY_MINUS:
        return -c * rows[row + R], -rows[row + R]
    if pattern == SLIDE_PLUS:
        return 0 * c, -s2 * rows[row + R]
    if pattern == SLIDE_MINUS:
        return s2 * rows[row + S], 0 * c
    return 0 * c, 0 * c


def position(
    c: Any, s2: Any, sign: int, pattern: int, u0: Any, v0: Any, rows: Any, row: int
) -> tuple[Any, Any]:
    """Return (u, v) of a neuron with the given intercepts at a row."""
    on_u, on_v = clock_forms(c, s2, pattern, rows, row)
    return u0 + sign * on_u, v0 + sign * on_v


def place(c: Any, s2: Any, neurons: Neurons, k: int, u: Any, v: Any, rows: Any, row: int) -> None:
    """Put neuron k, whose pattern is set, at (u, v) in a row, and note that there."""
    on_u, on_v = clock_forms(c, s2, neurons.pattern[k], rows, row)
    neurons.u[k] = u - neurons.sign[k] * on_u
    neurons.v[k] = v - neurons.sign[k] * on_v
    rows[row + U] = u
    rows[row + V] = v


def _push(heap: Queue, size: int, key: Any, who: int) -> int:
    """Put a neuron on a heap and return its new size."""
    spot = size
    while spot > 0 and key < heap.key[(spot - 1) // 2]:
        parent = (spot - 1) // 2
        heap.key[spot], heap.who[spot] = heap.key[parent], heap.who[parent]
        spot = parent
    heap.key[spot], heap.who[spot] = key, who
    return size + 1


def _pop(heap: Queue, size: int) -> int:
    """Remove the first neuron of a heap and return its new size."""
    size -= 1
    key, who = heap.key[size], heap.who[size]
    spot = 0
    while 2 * spot + 1 < size:
        child = 2 * spot + 1
        if child + 1 < size and heap.key[child + 1] < heap.key[child]:
            child += 1
        if key <= heap.key[child]:
            break
        heap.key[spot], heap.who[spot] = heap.key[child], heap.who[child]
        spot = child
    heap.key[spot], heap.who[spot] = key, who
    return size


def release(setting: Setting, neurons: Neurons, record: Record, sign: int, before: int, after: int) -> None:
    """Let all neurons of a sign leave their kink at once, in the state of the last row; one row for each."""
    counts, rows = record.counts, record.rows
    now = (counts[ROWS] - 1) * COLUMNS
    c, s2 = setting.angle.c, setting.angle.s2
    signs, patterns = neurons.sign, neurons.pattern
    for k in range(len(signs)):
        if signs[k] == sign and patterns[k] == before:
            row, mark = counts[ROWS] * COLUMNS, 3 * counts[ROWS]
            rows[row : row + COLUMNS] = rows[now : now + COLUMNS]
            rows[row + LENGTH] = 0 * rows[now + LENGTH]
            u, v = position(c, s2, sign, before, neurons.u[k], neurons.v[k], rows, row)
            patterns[k] = after
            place(c, s2, neurons, k, u, v, rows, row)
            record.switches[mark] = k
            record.switches[mark + 1] = before
            record.switches[mark + 2] = after
            counts[before] -= 1
            counts[after] += 1
            counts[ROWS] += 1

"""Measure contenders side by side: interleaved rounds, medians with their spread, ratios to the first.

A benchmark is one question with several contenders; the first is ours, the others are named peers. All run
in the same process and the same minutes, in the order A B C A B C …, so that a machine that slows down slows
all of them. Ratios are of processor time: on a busy machine a long run waits for its turn and a short one does
not, which would flatter the short one. Nothing here asserts a time: it prints what it saw.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter, process_time

ROUNDS = 5
"""Times every contender runs unless told otherwise, so that a median means something."""


@dataclass(frozen=True)
class Contender:
    """One way to get an answer.

    name; run, which computes the answer and returns it in short form (a string, so that the table shows
    whether all found the same); includes, what the time contains; work, the share of the whole job that run
    does: its time is divided by it (1/50: a fiftieth is timed); calls made per timing, for answers that come
    in less than a millisecond.
    """

    name: str
    run: Callable[[], str]
    includes: str
    work: float = 1.0
    calls: int = 1


@dataclass(frozen=True)
class Absent:
    """A contender that cannot run here, and why."""

    name: str
    why: str


@dataclass(frozen=True)
class Benchmark:
    """A question, what is claimed about it (or nothing), and its contenders, ours first."""

    question: str
    contenders: Sequence[Contender | Absent]
    claim: str = ""


@dataclass(frozen=True)
class Timing:
    """Seconds a contender takes for the whole job in each round, by the clock and of a processor; its answer."""

    contender: Contender
    elapsed: tuple[float, ...]
    processor: tuple[float, ...]
    answer: str


def measure(benchmark: Benchmark, rounds: int = ROUNDS) -> list[Timing]:
    """Time the contenders that can run, interleaved, and return one Timing each, in order.

    Nothing is warmed up: what is paid only once shows in the longest time, not in the median.
    """
    present = [contender for contender in benchmark.contenders if isinstance(contender, Contender)]
    elapsed: dict[str, list[float]] = {contender.name: [] for contender in present}
    processor: dict[str, list[float]] = {contender.name: [] for contender in present}
    answers: dict[str, str] = {}
    for _ in range(rounds):
        for contender in present:
            began, used = perf_counter(), _processor_time()
            for _ in range(contender.calls):
                answers[contender.name] = contender.run()
            jobs = contender.calls * contender.work
            elapsed[contender.name].append((perf_counter() - began) / jobs)
            processor[contender.name].append((_processor_time() - used) / jobs)
    return [Timing(c, tuple(elapsed[c.name]), tuple(processor[c.name]), answers[c.name]) for c in present]


def ratio(timing: Timing, ours: Timing) -> float:
    """Return how many times the processor time of ours a contender takes, by medians."""
    return median(timing.processor) / median(ours.processor)


def _processor_time() -> float:
    """Return the processor seconds of this process and of the processes it waited for."""
    times = os.times()
    return process_time() + times.children_user + times.children_system

"""Measure contenders side by side: interleaved rounds, medians with their spread, ratios to the first.

A benchmark is one question with several contenders; the first is ours, the others are named peers. All run
in the same process and the same minute, in the order A B C A B C …, so that a machine that slows down slows
all of them. Nothing here asserts a time: it prints what it saw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter

ROUNDS = 5
"""Times every contender runs, at least, so that a median means something."""


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
    """Seconds a contender takes for the whole job in each round, and its answer."""

    contender: Contender
    seconds: tuple[float, ...]
    answer: str

    @property
    def median(self) -> float:
        """The middle of the rounds' times, in seconds."""
        return median(self.seconds)


def measure(benchmark: Benchmark, rounds: int = ROUNDS) -> list[Timing]:
    """Time the contenders that can run, interleaved, and return one Timing each, in order.

    Nothing is warmed up: what is paid only once shows in the longest time, not in the median.
    """
    present = [contender for contender in benchmark.contenders if isinstance(contender, Contender)]
    seconds: dict[str, list[float]] = {contender.name: [] for contender in present}
    answers: dict[str, str] = {}
    for _ in range(rounds):
        for contender in present:
            began = perf_counter()
            for _ in range(contender.calls):
                answers[contender.name] = contender.run()
            took = perf_counter() - began
            seconds[contender.name].append(took / contender.calls / contender.work)
    return [Timing(c, tuple(seconds[c.name]), answers[c.name]) for c in present]


def ratio(timing: Timing, ours: Timing) -> float:
    """Return how many times longer a contender takes than ours, by medians."""
    return timing.median / ours.median

"""Print one table of ratios against named peers: ``python -m tests.benchmarks [--quick] [NAME …]``."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable, Iterator
from statistics import median

from reduced.cli.render import print_tables, table
from tests.benchmarks.command_line import cross_check, cross_check_data, start_up
from tests.benchmarks.harness import ROUNDS, Absent, Benchmark, measure, ratio
from tests.benchmarks.network_training import exact_network, network_training
from tests.benchmarks.plateau_length import plateau_length
from tests.benchmarks.plateau_peers import plateau_in_doubles, plateau_in_many_digits

BENCHMARKS: dict[str, Callable[[bool], Benchmark]] = {
    "plateau": plateau_length,
    "plateau-doubles": plateau_in_doubles,
    "plateau-digits": plateau_in_many_digits,
    "training": network_training,
    "exact": exact_network,
    "start-up": start_up,
    "crosscheck": cross_check,
    "crosscheck-data": cross_check_data,
}
_COLUMNS = ("", "elapsed", "min – max", "processor", "ratio", "answer", "includes")


def main() -> None:
    """Measure the benchmarks named (all by default) and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="less work per round, scaled where it says so")
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, help=f"times each contender runs (default {ROUNDS})"
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(BENCHMARKS)}")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]!r}: expected any of {', '.join(BENCHMARKS)}")
    if options.rounds < 1:
        parser.error(f"--rounds {options.rounds}: expected at least 1")
    rows: list[tuple[str, ...]] = []
    for name in options.names or BENCHMARKS:
        print(f"measuring: {name}", file=sys.stderr, flush=True)
        rows += _rows(BENCHMARKS[name](options.quick), options.rounds)
    title = f"Python {platform.python_version()}, {os.cpu_count()} processors, {options.rounds} interleaved rounds"
    print_tables(table(title, _COLUMNS, rows))


def _rows(benchmark: Benchmark, rounds: int) -> Iterator[tuple[str, ...]]:
    """Yield the question and a row per contender, in order; ratios are to the benchmark's first."""
    timings = measure(benchmark, rounds)
    yield (f"{benchmark.question}:", *[""] * 5, benchmark.claim and f"claim: {benchmark.claim}")
    measured = {timing.contender.name: timing for timing in timings}
    for contender in benchmark.contenders:
        if isinstance(contender, Absent):
            yield f"  {contender.name}", *["–"] * 5, f"skipped: {contender.why}"
            continue
        timing = measured[contender.name]
        spread = f"{_seconds(min(timing.elapsed))} – {_seconds(max(timing.elapsed))}"
        times = ratio(timing, timings[0])
        yield (
            f"  {contender.name}",
            _seconds(median(timing.elapsed)),
            spread,
            _seconds(median(timing.processor)),
            f"{times:,.0f} ×" if times >= 100 else f"{times:.3g} ×",
            timing.answer,
            contender.includes,
        )
    yield ("",) * 7


def _seconds(value: float) -> str:
    return f"{value:.3g} s" if value >= 1 else f"{value * 1e3:.3g} ms"


if __name__ == "__main__":
    main()

"""Does a sweep go twice as fast with two workers? ``python -m tests.benchmarks.sweep_workers [--quick]``.

Times a sweep of 2 000 plateau points and one of 500 networks (m = 100) with two worker processes and with one,
by the clock, from an empty file to the last row, the start of the workers included. The rows must be the same.
Needs two processors with nothing else to do: the load average stands beside the ratio, and so do the
processor seconds of parent and workers, of which a second worker must not need more, and the part of the time
that a worker was at a point (``busy``): where others use the machine, these two say what it would be alone.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
from pathlib import Path
from time import process_time

from reduced import sweep
from reduced.cli.render import print_tables, table

_QUICK = 10


def main() -> None:
    """Measure both sweeps and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.sweep_workers", description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"a {_QUICK}th of the points")
    share = _QUICK if parser.parse_args().quick else 1
    plateau = {"p": f"lin(2, 9, {50 // share})", "delta": "lin(pi/30, pi/5, 40)"}
    sweeps = {
        f"{2000 // share} plateau points": sweep.grid("plateau", plateau),
        f"{500 // share} networks": sweep.grid("simulate", {"seed": f"0:{500 // share}"}),
    }
    rows = []
    for name, points in sweeps.items():
        found = {workers: _timed(points, workers) for workers in (2, 1)}
        assert found[1][1] == found[2][1], "one and two workers give different rows"
        for workers, ((elapsed, parent, children, busy, load), _) in found.items():
            ratio = found[1][0][0] / elapsed
            seconds = [f"{used:.1f} s" for used in (elapsed, parent, children)]
            cells = (*seconds, f"{busy:.0%}", f"{load:.1f}", f"{ratio:.2f} ×")
            rows.append((name, str(workers), *cells))
    columns = ("sweep", "workers", "elapsed", "parent", "workers' processor", "busy", "load", "speed-up")
    print_tables(table(f"Sweeps on {os.cpu_count()} processors; claim: at least 1.7 ×", columns, rows))


def _timed(
    points: list[sweep.Point], workers: int
) -> tuple[tuple[float, float, float, float, float], list[tuple[str, dict, str | None]]]:
    """Run a sweep into a new file; return seconds elapsed, of parent, of workers, busy, the load; the rows."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sweep.db"
        own, others = process_time(), _of_children()
        report = sweep.run(points, path, workers=workers)
        parent, children = process_time() - own, _of_children() - others
        rows = sweep.read_rows(path)
        busy = sum(row.seconds for row in rows) / (workers * report.seconds)
        times = (report.seconds, parent, children, busy, os.getloadavg()[0])
        return times, [(row.key, row.result, row.error) for row in rows]


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()

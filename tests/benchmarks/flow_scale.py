"""Time the exact flow in doubles against the number of neurons, all phases to t = 1e12.

Run ``python tests/benchmarks/flow_scale.py [--dim D] [--repeat N] [m …]``. For every m it prints events, median and
best wall time and processor time of :func:`reduced.solve.network_flow_double` (weights are drawn outside the
clock), and the growth per doubling of m between neighbours.
"""

from __future__ import annotations

import argparse
import math
import resource
import statistics
import sys
import time

import numpy as np

from reduced import problem
from reduced.solve import network_flow_double
from reduced.solve.swift.kernels import COMPILE_FROM, has_compiler

SIZES = (100, 1000, 10_000, 125_000, 250_000, 500_000, 1_000_000)


def sphere(m: int, dim: int, kappa1: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """Return weights uniform on the sphere of radius κ₁/√m, half of them with sign +1."""
    W = np.random.default_rng(m).normal(size=(m, dim))
    W *= kappa1 / math.sqrt(m) / np.linalg.norm(W, axis=1, keepdims=True)
    return W, np.where(np.arange(m) < m // 2, 1, -1)


def warm_up() -> None:
    """Compile the kernels, or load them, and say how long that took."""
    W, sign = sphere(1000, 5)
    begin, used = time.perf_counter(), time.process_time()
    network_flow_double(
        W, sign, problem(), compiled=True, on_compile=lambda: print("compiling …", file=sys.stderr)
    )
    print(
        f"kernels ready after {time.perf_counter() - begin:.2f} s ({time.process_time() - used:.2f} s of processor)"
    )


def measure(m: int, dim: int, repeat: int) -> tuple[int, float, float, float]:
    """Return events, median and best wall time, and best processor time of one m."""
    (W, sign), paper = sphere(m, dim), problem()
    walls, processors = [], []
    for _ in range(repeat):
        begin, used = time.perf_counter(), time.process_time()
        run = network_flow_double(W, sign, paper, until="1e12")
        walls.append(time.perf_counter() - begin)
        processors.append(time.process_time() - used)
    return len(run.events.time), statistics.median(walls), min(walls), min(processors)


def main() -> None:
    """Print one line per m."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("m", nargs="*", type=int, default=SIZES)
    parser.add_argument("--dim", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=7)
    asked = parser.parse_args()
    print(f"{'m':>9} {'events':>9} {'median s':>10} {'best s':>10} {'processor s':>12} {'per doubling':>13}")
    before, cold = None, has_compiler()
    for m in asked.m:
        if cold and m >= COMPILE_FROM:
            warm_up()
            cold = False
        events, median, best, processor = measure(m, asked.dim, asked.repeat)
        growth = (
            ""
            if before is None
            else f"{(processor / before[1]) ** (math.log(2) / math.log(m / before[0])):.2f}"
        )
        print(f"{m:9d} {events:9d} {median:10.5f} {best:10.5f} {processor:12.5f} {growth:>13}")
        before = m, processor
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()

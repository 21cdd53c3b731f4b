"""Time the flow against the number of neurons: how much each doubling of m costs.

Run ``python tests/benchmarks/flow_scale.py [--data two-point|noisy|general] [--dim D] [--repeat N] [m …]``. On
the two points it is the exact flow in doubles through all phases to t = 1e12,
:func:`reduced.solve.network_flow_double`; on the paper's noisy points (N = 15 in a plane) and on points in general
position (N = 10 at random in D dimensions) the numerical flow to t = 1e4, :func:`fullnet.gradient_flow`. For every
m it prints events, median and best wall time, processor time, microseconds of it per event, and its growth per
doubling of m between neighbours; weights are drawn outside the clock.
"""

from __future__ import annotations

import argparse
import math
import resource
import statistics
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

import fullnet
from reduced import problem
from reduced.solve import network_flow_double

SIZES = {
    "two-point": (100, 1000, 10_000, 125_000, 250_000, 500_000, 1_000_000),
    "noisy": (100, 1000, 10_000, 100_000),
    "general": (100, 1000, 10_000, 100_000),
}
_DIM = {"two-point": 10, "noisy": 2, "general": 10}
_POINTS = 10
_LAST = 1e4
_PAPER = problem()

Flow = Callable[[fullnet.Network], int]


def network(m: int, dim: int) -> fullnet.Network:
    """Return weights uniform on the sphere of radius κ₁/√m, half of them with sign +1."""
    W = np.random.default_rng(m).normal(size=(m, dim))
    W *= 0.1 / math.sqrt(m) / np.linalg.norm(W, axis=1, keepdims=True)
    return fullnet.given_network(W, np.where(np.arange(m) < m // 2, 1, -1), 1.0)


def exact(net: fullnet.Network) -> int:
    """Follow the exact flow on the two points; return the number of events."""
    return len(network_flow_double(net.W, net.sign, _PAPER, until="1e12").events.time)


def numerical(kind: str, dim: int) -> Flow:
    """Return what follows the numerical flow on other data."""
    if kind == "noisy":
        data = fullnet.noisy(4, dim, 0)
    else:
        draw = np.random.default_rng(0)
        X = draw.normal(size=(_POINTS, dim))
        data = fullnet.data_set(X / np.linalg.norm(X, axis=1, keepdims=True), draw.choice([-1, 1], _POINTS))
    return lambda net: len(fullnet.gradient_flow(net, data, until=_LAST).history.time)


def warm_up(flow: Flow, dim: int) -> None:
    """Compile the kernels, or load them, and say how long that took."""
    begin, used = time.perf_counter(), time.process_time()
    flow(network(20_000, dim))
    seconds, processor = time.perf_counter() - begin, time.process_time() - used
    print(f"kernels ready after {seconds:.2f} s ({processor:.2f} s of processor)", file=sys.stderr)


def measure(flow: Flow, m: int, dim: int, repeat: int) -> tuple[int, float, float, float]:
    """Return events, median and best wall time, and best processor time of one m."""
    net = network(m, dim)
    walls, processors, events = [], [], 0
    for _ in range(repeat):
        begin, used = time.perf_counter(), time.process_time()
        events = flow(net)
        walls.append(time.perf_counter() - begin)
        processors.append(time.process_time() - used)
    return events, statistics.median(walls), min(walls), min(processors)


def main() -> None:
    """Print one line per m."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("m", nargs="*", type=int, help="numbers of neurons (default: some up to 10⁵ or 10⁶)")
    parser.add_argument("--data", choices=tuple(SIZES), default="two-point")
    parser.add_argument("--dim", type=int)
    parser.add_argument("--repeat", type=int, default=3)
    asked = parser.parse_args()
    dim = asked.dim or _DIM[asked.data]
    flow = exact if asked.data == "two-point" else numerical(asked.data, dim)
    if find_spec("numba"):
        warm_up(flow, dim)
    heads = ("m", "events", "median s", "best s", "processor s", "µs per event", "per doubling")
    print("".join(f"{head:>14}" for head in heads))
    before: tuple[int, float] | None = None
    for m in asked.m or SIZES[asked.data]:
        events, median, best, processor = measure(flow, m, dim, asked.repeat)
        growth = ""
        if before is not None and m != before[0]:
            growth = f"{(processor / before[1]) ** (math.log(2) / math.log(m / before[0])):.2f}"
        each = 1e6 * processor / max(events, 1)
        print(
            f"{m:14d}{events:14d}{median:14.5f}{best:14.5f}{processor:14.5f}{each:14.2f}{growth:>14}",
            flush=True,
        )
        before = m, processor
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()

"""How long does it take to train the paper's network to the end? The exact events against steps of descent.

p = 4, Δ = π/15, m = 100, d = 20, κ₁ = 0.1, κ₂ = 1. The flow runs through all phases to t = 10⁶; the paper's
150 000 descent steps of 0.01 reach t = 1500. All contenders start from the same weights and show f₋ at the
time of the last descent step; late in training descent differs there, as at this step it loses neurons.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

import fullnet
import reduced
from tests.benchmarks.harness import Absent, Benchmark, Contender

_DELTA = math.pi / 15
_KAPPA2 = 1.0
_LR = 0.01
_STEPS = 150_000
_QUICK_STEPS = 3_000
_END = 1e6


def network_training(quick: bool) -> Benchmark:
    """Compare the flow to t = 1e6 with 150 000 descent steps (quick: 3 000, scaled up)."""
    steps = _QUICK_STEPS if quick else _STEPS
    network, data = _setting()
    scaled = f" (timed: {steps}, scaled)" if quick else ""

    def flow() -> str:
        trajectory = fullnet.gradient_flow(network, data, until=_END)
        fullnet.phase_times(trajectory)
        return _last(trajectory.at(steps * _LR)[1], steps)

    def descent(engine: str) -> Callable[[], str]:
        return lambda: _last(
            fullnet.gradient_descent(network, data, _LR, steps, stop_early=False, engine=engine).predictions[
                1
            ],
            steps,
        )

    work = steps / _STEPS
    return Benchmark(
        "the m = 100 network through all phases",
        (
            Contender("fullnet.gradient_flow", flow, f"events to t = {_END:g}, phase times"),
            _torch(network, steps, work, scaled),
            Contender(
                "NumPy loop on ⟨b,x±⟩",
                lambda: _last(_inner_products(network, data, steps), steps),
                f"{_STEPS} steps{scaled}",
                work,
            ),
            Contender("gradient_descent, numpy", descent("numpy"), f"{_STEPS} steps{scaled}, records", work),
            _compiled(descent, steps, work, scaled),
        ),
        claim="flow ≥ 500 × faster than 150 000 PyTorch steps",
    )


def exact_network(quick: bool) -> Benchmark:
    """Compare the exact m-neuron flow at 30 digits with the flow in doubles."""
    network, data = _setting()
    problem = reduced.problem(p=4, delta=_DELTA)

    def exact() -> str:
        return _plateau(reduced.network_flow(network.W, network.sign, problem, digits=30).times["T_plat"])

    def doubles(estimate: bool) -> Callable[[], str]:
        return lambda: _plateau(
            fullnet.phase_times(
                fullnet.gradient_flow(network, data, until=_END, estimate_error=estimate)
            ).times["T_plat"]
        )

    return Benchmark(
        "the m = 100 flow at 30 digits",
        (
            Contender("reduced.network_flow", exact, "all events for ever, 30 right digits"),
            Contender("gradient_flow", doubles(False), f"events to t = {_END:g}, doubles"),
            Contender("gradient_flow with error", doubles(True), "the same and its error estimate"),
        ),
        claim="simulate --precision 30 in < 3 s",
    )


def _setting() -> tuple[fullnet.Network, fullnet.DataSet]:
    network = fullnet.initial_network(m=100, dim=20, kappa1=0.1, kappa2=_KAPPA2, seed=0)
    return network, fullnet.two_point(p=4, delta=_DELTA, dim=20)


def _last(f_minus: float, steps: int) -> str:
    return f"f₋({steps * _LR:g}) = {f_minus:.4f}"


def _plateau(time: object) -> str:
    return f"T_plat = {float(str(time)):.10g}"


def _inner_products(network: fullnet.Network, data: fullnet.DataSet, steps: int) -> float:
    """Descend on z = ⟨b, x±⟩ alone, in plain NumPy; return the last f₋."""
    a = network.sign * _KAPPA2 / math.sqrt(len(network.sign))
    z = network.W @ data.X.T
    gram = data.X @ data.X.T
    weighted = data.weights * data.y
    for _ in range(steps):
        active = z > 0
        force = weighted * np.exp(-data.y * (a @ (z * active)))
        z += _LR * a[:, None] * ((active * force) @ gram)
    return float((a @ np.maximum(z, 0))[1])


def _compiled(
    descent: Callable[[str], Callable[[], str]], steps: int, work: float, scaled: str
) -> Contender | Absent:
    name = "gradient_descent, numba"
    if find_spec("numba") is None:
        return Absent(name, "numba is not installed (extra fast)")
    run = descent("numba")
    run()
    return Contender(name, run, f"{_STEPS} steps{scaled}, records, compiled before", work)


def _torch(network: fullnet.Network, steps: int, work: float, scaled: str) -> Contender | Absent:
    """Build the training loop as a researcher writes it: five data rows, autograd, an optimizer."""
    name = "PyTorch"
    if find_spec("torch") is None:
        return Absent(name, "torch is not installed (extra bench)")
    import torch

    # at this size more threads only wait for each other
    torch.set_num_threads(1)
    half = _DELTA / 2
    X = torch.zeros(5, 20, dtype=torch.float64)
    X[:4, 0], X[4, 0], X[:, 1] = math.sin(half), -math.sin(half), -math.cos(half)
    y = torch.tensor([1.0, 1, 1, 1, -1], dtype=torch.float64)
    a = torch.tensor(network.sign * _KAPPA2 / math.sqrt(len(network.sign)))

    def train() -> str:
        hidden = torch.nn.Linear(20, len(a), bias=False, dtype=torch.float64)
        with torch.no_grad():
            hidden.weight.copy_(torch.tensor(network.W))
        optimizer = torch.optim.SGD(hidden.parameters(), lr=_LR)
        for _ in range(steps):
            optimizer.zero_grad()
            loss = torch.exp(-y * (torch.relu(hidden(X)) @ a)).mean()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            return _last(float(torch.relu(hidden(X))[4] @ a), steps)

    return Contender(name, train, f"{_STEPS} steps{scaled}, autograd and SGD", work)

"""Compiled and interpreted, the chain of events is one source and gives the same numbers."""

import importlib.util

import numpy as np
import pytest

import fullnet
from reduced import problem
from reduced.solve.swift import network_flow_double
from reduced.solve.swift.kernels import COMPILE_FROM

PAPER = problem()

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not installed"),
]


def test_compiled_equals_interpreted():
    net = fullnet.initial_network(500, 4, 0.1, 1.0, seed=3)
    calls = []
    fast = network_flow_double(net.W, net.sign, PAPER, compiled=True, on_compile=lambda: calls.append(1))
    slow = network_flow_double(net.W, net.sign, PAPER, compiled=False)
    assert np.array_equal(fast.path.switches, slow.path.switches)
    assert np.allclose(fast.path.rows, slow.path.rows, rtol=1e-12, atol=1e-14)
    assert len(calls) <= 1
    again = []
    network_flow_double(net.W, net.sign, PAPER, compiled=True, on_compile=lambda: again.append(1))
    assert not again or not calls, "what was compiled is not compiled again"


def test_a_large_network_is_solved_to_the_end():
    net = fullnet.initial_network(COMPILE_FROM, 3, 0.1, 1.0, seed=1)
    run = network_flow_double(net.W, net.sign, PAPER, until="1e12")
    assert list(run.times) == sorted(run.times, key=list(run.times).index)
    ordered = [run.times[name] for name in ("T_r_equals_c", "T_plat", "T_II", "T_III_PT", "T_III")]
    assert ordered == sorted(ordered)
    u, v = fullnet.two_point(4, np.pi / 15, 3).X @ net.W.T
    c = np.cos(np.pi / 15)
    plus = (net.sign > 0) & (u > 0)
    minus = (net.sign < 0) & (v > 0) & (v * (4 - c) > u * (4 * c - 1))
    assert abs(len(run.positive) - plus.sum()) < 0.01 * len(u)
    assert abs(len(run.negative) - minus.sum()) < 0.01 * len(u)

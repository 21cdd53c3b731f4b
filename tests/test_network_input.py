"""Claim: every way to solve a network's flow refuses the same weights and signs, in one sentence naming them."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import reduced
from reduced import InputError
from reduced.solve import network_flow, network_flow_double
from reduced.solve.weights import checked_network

PAPER = reduced.problem()
GOOD = np.random.default_rng(5).standard_normal((4, 3)) / 10
SIGNS = np.array([1, -1, 1, -1])


def _exact(W: Any, sign: Any) -> object:
    return network_flow(W, sign, PAPER, 5)


def _double(W: Any, sign: Any) -> object:
    return network_flow_double(W, sign, PAPER)


def _balls(W: Any, sign: Any) -> object:
    from reduced.solve.enclosure import enclosure_network

    return enclosure_network(W, sign, PAPER, 5)


WAYS = [_exact, _double, *([_balls] if find_spec("flint") else [])]
BAD = {
    "nan": (GOOD * np.nan, SIGNS, "W: expected finite weights"),
    "inf": (GOOD * np.inf, SIGNS, "W: expected finite weights"),
    "nothing among numbers": ([[0.1, None]], [1], "W: expected finite weights"),
    "a vector": (GOOD[:, 0], SIGNS, r"W: expected a matrix \(m, d\) .* got an array of shape \(4,\)"),
    "one dimension": (GOOD[:, :1], SIGNS, r"W: expected a matrix .* d ≥ 2, got an array of shape \(4, 1\)"),
    "no neuron": (GOOD[:0], SIGNS[:0], r"W: expected a matrix .* m ≥ 1"),
    "ragged rows": ([[0.1, 0.2], [0.3]], [1, -1], "W: expected an array of real numbers"),
    "text": ([["0.1", "0.2"]], [1], "W: expected an array of real numbers"),
    "complex": (GOOD * 1j, SIGNS, "W: expected an array of real numbers, got complex128 values"),
    "truth values": (GOOD > 0, SIGNS, "W: expected an array of real numbers, got bool values"),
    "nothing": (None, SIGNS, "W: expected a matrix"),
    "too few signs": (GOOD, SIGNS[:3], r"sign: expected one of -1, 1 for each of 4 rows, got .* \(3,\)"),
    "too many signs": (GOOD[:3], SIGNS, r"sign: expected one of -1, 1 for each of 3 rows, got .* \(4,\)"),
    "a column of signs": (GOOD, SIGNS[:, None], "sign: expected one of -1, 1 for each of 4 rows"),
    "signs ±2": (GOOD, 2 * SIGNS, "sign: expected one of -1, 1 for each row of W, got 2.0"),
    "a sign 0": (GOOD, 0 * SIGNS, "sign: expected one of -1, 1 for each row of W, got 0.0"),
    "signs in words": (GOOD, ["plus"] * 4, "sign: expected an array of real numbers"),
}


@pytest.mark.parametrize("solve", WAYS)
@pytest.mark.parametrize(("W", "sign", "sentence"), BAD.values(), ids=list(BAD))
def test_bad_weights_and_signs_are_named(
    solve: Callable[[Any, Any], object], W: Any, sign: Any, sentence: str
) -> None:
    with pytest.raises(InputError, match=f"^{sentence}"):
        solve(W, sign)


@pytest.mark.parametrize("solve", WAYS)
def test_lists_are_as_good_as_arrays(solve: Callable[[Any, Any], Any]) -> None:
    array, lists = solve(GOOD, SIGNS), solve(GOOD.tolist(), SIGNS.tolist())
    assert array.times == lists.times
    assert array.predictions == lists.predictions


def test_components_outside_the_data_plane_do_not_count() -> None:
    W = np.array([[0.25, -0.5, np.nan]])
    weights, signs = checked_network(W, [1.0])
    assert (weights[0, :2].tolist(), signs.tolist(), signs.dtype) == ([0.25, -0.5], [1], np.int8)

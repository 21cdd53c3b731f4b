"""Claim: a network's times are enclosed from its exact binary weights, with the order of its events proved."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

import reduced
from reduced.numbers import decimal_string
from reduced.solve.network import network_flow

pytest.importorskip("flint")

from reduced.solve.enclosure import EnclosedRun, Enclosure, enclosure_network

DATA = Path(__file__).parent / "data"
DIGITS = 25


def network(m: int, seed: int, kappa1: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """Return a random network of m neurons in three dimensions, half of them positive."""
    W = np.random.default_rng(seed).normal(size=(m, 3))
    W *= kappa1 / np.sqrt(m) / np.linalg.norm(W, axis=1, keepdims=True)
    return W, np.where(np.arange(m) % 2 == 0, 1, -1)


def contains(enclosed: Enclosure, reference: str, trusted: int) -> bool:
    exact = Decimal(reference)
    slack = abs(exact).scaleb(1 - trusted)
    return abs(Decimal(enclosed.mid) - exact) <= Decimal(enclosed.rad or 0) + slack


def check_against_flow(W: np.ndarray, sign: np.ndarray, problem: reduced.Problem) -> EnclosedRun:
    """Compare the enclosures with the flow solved to twice the digits."""
    found = enclosure_network(W, sign, problem, DIGITS)
    run = network_flow(W, sign, problem, 2 * DIGITS)
    assert found.times.keys() == run.times.keys()
    for name, t in run.times.items():
        enclosed = found.times[name]
        if enclosed is None or t is None:
            assert enclosed is t
            continue
        assert contains(enclosed, decimal_string(t, 2 * DIGITS), 2 * DIGITS)
        assert (
            0 < Decimal(enclosed.rad or 0) < Decimal(enclosed.mid).scaleb(-DIGITS) * 5 or enclosed.mid == "0"
        )
    for name, pair in run.predictions.items():
        for enclosed, f in zip(found.predictions[name], pair, strict=True):
            assert contains(enclosed, decimal_string(f, 2 * DIGITS), 2 * DIGITS)
    return found


@pytest.mark.parametrize("index", [0, 1])
def test_the_reference_networks_are_contained(index: int) -> None:
    reference = json.loads((DATA / f"network_public{index}.json").read_text())
    with np.load(DATA / f"network_public{index}.npz") as archive:
        W, sign = archive["W"], archive["sign"]
    problem = reduced.problem(reference["p"], reference["delta"], kappa2=reference["kappa2"])
    found = enclosure_network(W, sign, problem, DIGITS)
    for name, t in reference["times"].items():
        enclosed = found.times[name]
        assert enclosed is not None
        assert contains(enclosed, t, reference["digits_trusted"] - 1)
    for name in ("T_II", "T_III"):
        for enclosed, f in zip(found.predictions[name], reference["predictions"][name], strict=True):
            assert contains(enclosed, f, reference["digits_trusted"] - 1)


@pytest.mark.parametrize("seed", range(6))
def test_random_networks_contain_the_flow_at_twice_the_digits(seed: int) -> None:
    W, sign = network(10, seed, kappa1=0.5)
    check_against_flow(W, sign, reduced.problem(4, ["pi/15", "1.2", "0.05"][seed % 3]))


def test_equal_neurons_move_as_one_and_neighbours_in_the_last_bit_do_not() -> None:
    W, sign = network(8, 3)
    problem = reduced.problem()
    doubled, signs = np.vstack([W, W[:1], W[:1]]), np.append(sign, [sign[0], sign[0]])
    together = check_against_flow(doubled, signs, problem)
    doubled[8, 0] = np.nextafter(doubled[8, 0], 1)
    apart = check_against_flow(doubled, signs, problem)
    assert apart.events > together.events


def test_a_tie_of_different_neurons_is_decided_by_their_formulas() -> None:
    # at Δ = 2 atan(1/2) rows (w₁, w₂) have v = −(w₁ + 2w₂)/√5: the first two die together, at v = 0
    W = np.array([[-3.0, 1.0], [-5.0, 2.0], [1.0, -2.0], [-1.0, -3.0]]) / 64
    sign = np.array([1, 1, 1, -1])
    problem = reduced.problem(4, "2*atan(1/2)")
    check_against_flow(W, sign, problem)
    deaths = [event.time for event in network_flow(W, sign, problem, DIGITS).events if event.kind == "die"]
    assert deaths[0] == deaths[1]


def test_mirrored_neurons_start_from_a_network_that_is_exactly_0() -> None:
    W, sign = network(5, 2)
    found = check_against_flow(np.vstack([W, W]), np.append(sign, -sign), reduced.problem())
    assert found.predictions["start"] == (Enclosure("0", "0"), Enclosure("0", "0"))


def test_another_loss_is_refused() -> None:
    W, sign = network(4, 0)
    with pytest.raises(reduced.InputError, match="closed form"):
        enclosure_network(W, sign, reduced.problem(loss="logistic"))

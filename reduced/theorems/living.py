"""Living sets from the raw initial weights: against the flow, over many seeds, under both initial laws."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

import fullnet
from reduced.crosscheck.fates import DIES, JOINS_MINUS, JOINS_PLUS, Fates, predicted_fates
from reduced.maxmargin.network import Mask, as_float
from reduced.records import Problem
from reduced.theorems.counts import BOUND_MINUS, BOUND_PLUS, Signs, wilson

_SETTLED = 1e4
"""A flow time by which every neuron that dies in Phase I has died."""


@dataclass(frozen=True)
class LivingCheck:
    """How well the rule predicts the living sets at one κ₁κ₂.

    ``wrong`` of ``neurons`` end otherwise than the κ₁ → 0 rule says; ``borderline``: those whose fate by the
    rule is not the same at every force ratio that Phase I went through; ``wrong_outside``: wrong ones that
    were not borderline; ``exact`` of ``networks`` have no wrong neuron.
    """

    product: float
    networks: int
    exact: int
    neurons: int
    wrong: int
    borderline: int
    wrong_outside: int


@dataclass(frozen=True)
class SeededCounts:
    """Living counts over seeds by the rule: sample means of |K±|/m, and how often the bounds hold.

    ``plus_in_bounds`` and ``minus_in_bounds``: seeds with S1(i), S2(i), each with its Wilson interval.
    """

    seeds: int
    mean_plus: float
    mean_minus: float
    plus_in_bounds: int
    minus_in_bounds: int
    plus_interval: tuple[float, float]
    minus_interval: tuple[float, float]


def living_by_rule(network: fullnet.Network, problem: Problem) -> tuple[Mask, Mask]:
    """Return the masks (m,) of K₊ and K₋ that the raw weights predict as κ₁κ₂ → 0.

    Arguments: network, the initial one; problem (p, Δ). Source: Lem C.3–C.10, with the border derived here.
    """
    p = as_float(problem.p, "p")
    fate = _fates(network, problem, (1 / p, 1 / p)).fate
    return fate == JOINS_PLUS, fate == JOINS_MINUS


def living_check(
    networks: Sequence[fullnet.Network],
    problem: Problem,
    kappa1: float,
    on_network: Callable[[str], None] | None = None,
) -> LivingCheck:
    """Compare the rule with the flow of many networks, their directions scaled to one κ₁.

    Arguments: networks; problem (p, Δ, κ₂); kappa1 > 0; on_network, told in words before each flow. Returns a
    LivingCheck. The flow depends on κ₁ and κ₂ through κ₁κ₂ only, up to the unit of time. Derived here.
    """
    p = as_float(problem.p, "p")
    counts = []
    for number, network in enumerate(networks):
        if on_network is not None:
            on_network(f"κ₁ = {kappa1:g}, network {number + 1} of {len(networks)}")
        scaled = fullnet.given_network(network.W * (kappa1 / network.kappa1), network.sign, network.kappa2)
        data = fullnet.two_point(p, as_float(problem.delta, "delta"), network.W.shape[1])
        flow = fullnet.gradient_flow(scaled, data, _SETTLED)
        settled = fullnet.phase_times(flow).times["last_phase_one_event"] or 0.0
        ratios = np.exp(flow.at(np.linspace(0.0, settled, 65)).sum(axis=1)) / p
        rule = _fates(scaled, problem, (1 / p, 1 / p)).fate
        unsure = _fates(scaled, problem, (float(ratios.min()), float(ratios.max()))).borderline
        found = np.where(~flow.living, DIES, np.where(network.sign > 0, JOINS_PLUS, JOINS_MINUS))
        wrong = rule != found
        counts.append((wrong.sum(), unsure.sum(), (wrong & ~unsure).sum(), len(wrong)))
    wrong, borderline, outside, neurons = (int(x) for x in np.sum(counts, axis=0))
    exact = sum(int(one[0]) == 0 for one in counts)
    product = kappa1 * networks[0].kappa2
    return LivingCheck(product, len(counts), exact, neurons, wrong, borderline, outside)


def _fates(network: fullnet.Network, problem: Problem, ratios: tuple[float, float]) -> Fates:
    delta = as_float(problem.delta, "delta")
    points = fullnet.two_point(as_float(problem.p, "p"), delta, network.W.shape[1]).X
    u, v = (network.W @ x for x in points)
    return predicted_fates(u, v, network.sign, delta, ratios)


def seeded_counts(
    problem: Problem,
    m: int = 100,
    dim: int = 20,
    seeds: int = 1000,
    law: str = "sphere",
    signs: Signs | str = Signs.HALF,
) -> SeededCounts:
    """Count the living neurons of many draws by the rule (no flow).

    Arguments: problem (p, Δ); m, dim, law: as for a drawn network; seeds 0 … seeds − 1; signs, half and half
    or fair coins (drawn from a stream of their own). Returns SeededCounts. Source: Thm 4.1, S1(i) and S2(i).
    """
    found = []
    for seed in range(seeds):
        network = fullnet.initial_network(m, dim, 1.0, 1.0, seed, law)
        if Signs(signs) is Signs.COIN:
            coins = np.random.default_rng([seed, 1]).integers(0, 2, m) * 2.0 - 1.0
            network = fullnet.given_network(network.W, coins, 1.0)
        plus, minus = living_by_rule(network, problem)
        found.append((int(plus.sum()), int(minus.sum())))
    counts = np.array(found)
    in_plus = sum(BOUND_PLUS.contains(int(n), m) for n in counts[:, 0])
    in_minus = sum(BOUND_MINUS.contains(int(n), m) for n in counts[:, 1])
    mean = counts.mean(axis=0) / m
    return SeededCounts(
        seeds,
        float(mean[0]),
        float(mean[1]),
        in_plus,
        in_minus,
        wilson(in_plus, seeds),
        wilson(in_minus, seeds),
    )


def gaussian_norm_spread(dim: int) -> float:
    """Return the relative standard deviation of ‖b_k(0)‖ under N(0, κ₁²I/(md)).

    Arguments: dim, the dimension d. It is √(d/E² − 1) with E = E‖N(0, I)‖ in dimension d, about 1/√(2d).
    Derived here.
    """
    mean = math.sqrt(2) * math.exp(math.lgamma((dim + 1) / 2) - math.lgamma(dim / 2))
    return math.sqrt(dim / mean**2 - 1)

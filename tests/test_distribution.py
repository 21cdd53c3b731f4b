"""Claim: the law of the times over initialisation is exact, heavy-tailed as said, and that of drawn networks."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest

import fullnet
import reduced
from reduced import InputError
from reduced.theorems import count_law, living_by_rule
from reduced.theorems.distribution import LEVELS, distribution

PROBLEM = reduced.problem()
C = math.cos(math.pi / 15)


def kolmogorov(samples: list[float], law: object) -> float:
    """Return the largest distance between the distribution function of samples (ln T) and a law's."""
    log_times = np.sort(samples)
    finite = np.unique(log_times[np.isfinite(log_times)])
    empirical = 1 - np.searchsorted(log_times, finite + 1e-9, side="right") / len(log_times)
    exactly = np.array([law.beyond(t + 1e-9) for t in finite])
    return float(np.abs(empirical - exactly).max())


@pytest.mark.parametrize("signs", ["half", "coin"])
def test_every_pair_of_counts_enters_with_its_probability(signs: str) -> None:
    """Against the sum over all pairs written out, the times one by one from the exact engine."""
    m = 6
    table = count_law(PROBLEM, signs).joint(m)
    never = never_plat = 0.0
    times = []
    for i, j in product(range(m + 1), repeat=2):
        if i + j > m or not table[i, j]:
            continue
        problem = reduced.problem(alpha_plus=f"{i}/{m}", alpha_minus=f"{j}/{m}")
        found = reduced.timeline(problem, reduced.start(), 15).times
        never += table[i, j] * (found["T_II"] == "inf")
        never_plat += table[i, j] * (found["T_plat"] == "inf")
        times.append((float(found["T_II"]), table[i, j]))
    laws = distribution(PROBLEM, m, signs).laws
    assert laws["T_II"].never == pytest.approx(never, rel=1e-12)
    assert laws["T_plat"].never == pytest.approx(never_plat, rel=1e-12)
    for time, _ in times:
        if time < math.inf:
            below = sum(chance for other, chance in times if other <= time * (1 + 1e-12))
            assert 1 - laws["T_II"].beyond(math.log(time) + 1e-11) == pytest.approx(below, abs=1e-12)
    assert sum(laws["T_III"].probabilities) == pytest.approx(1, abs=1e-12)


def test_the_mass_at_infinity_is_that_of_the_regimes() -> None:
    for signs, m in product(("half", "coin"), (20, 100)):
        found, regimes = distribution(PROBLEM, m, signs).laws, count_law(PROBLEM, signs).regimes(m)
        lone = count_law(PROBLEM, signs).joint(m)
        no_minus = lone[1:, 0].sum()  # without K₋ the share of K₊ still falls: T_II comes, T_plat does not
        assert found["T_II"].never == pytest.approx(
            regimes[reduced.Regime.TWO_PHASE] + regimes[None] - no_minus, rel=1e-9
        )
        assert found["T_plat"].never == pytest.approx(regimes[None], rel=1e-6, abs=1e-15)
        assert found["T_III"].never == pytest.approx(1 - regimes[reduced.Regime.FOUR_PHASE], rel=1e-9)


def test_the_second_phase_has_a_tail_heavier_than_any_power() -> None:
    """Quantiles explode and the local exponent runs to 0, while T_plat has no tail to speak of."""
    laws = distribution(PROBLEM, 100).laws
    exponents = [x for x in laws["T_II"].tail_exponents(LEVELS) if x is not None]
    assert exponents[-1] < 0.1
    assert exponents[2:] == sorted(exponents[2:], reverse=True)
    assert all(x > 1 for x in laws["T_plat"].tail_exponents(LEVELS) if x is not None)
    assert laws["T_II"].log_quantile(0.975) - laws["T_II"].log_quantile(0.5) > 15
    assert laws["T_II"].log_quantile(0.99) == math.inf


def test_the_logarithm_of_the_second_time_diverges_as_said_at_the_regime_s_edge() -> None:
    """ln T_II (1/c − α) → ln(pc)/c, what makes P(t < T_II < ∞) fall like 1/ln t."""
    from reduced.solve.doubles import plateau_times

    for gap, allowed in ((1e-3, 0.05), (1e-5, 1e-3), (1e-7, 1e-5)):
        found = plateau_times(4.0, math.pi / 15, 0.2, 0.2 * (1 / C - gap))
        assert found.log_T_II * gap == pytest.approx(distribution(PROBLEM, 10).log_scale, rel=allowed)


def test_draws_of_weights_follow_the_law() -> None:
    m, samples = 30, []
    for seed in range(400):
        network = fullnet.initial_network(m, 5, 1e-3, 1.0, seed)
        plus, minus = living_by_rule(network, PROBLEM)
        samples.append((plus.sum() / m, minus.sum() / m))
    from reduced.solve.doubles import plateau_map

    alphas = np.array(samples)
    times = plateau_map(4.0, math.pi / 15, alphas[:, 0], alphas[:, 1])
    for name, law in distribution(PROBLEM, m).laws.items():
        # Kolmogorov's bound at one in a thousand
        assert kolmogorov(times[f"log_{name}"], law) < 1.95 / math.sqrt(len(samples)), name


@pytest.mark.slow
def test_trained_networks_follow_the_law() -> None:
    """Fifty whole flows from tiny weights: their own T_plat and T_II against the law, and against their counts."""
    from reduced.solve import network_flow_double
    from reduced.solve.doubles import plateau_times

    laws, found = distribution(PROBLEM, 100).laws, {"T_plat": [], "T_II": []}
    for seed in range(50):
        network = fullnet.initial_network(100, 20, 1e-7, 1.0, seed)
        run = network_flow_double(network.W, network.sign, PROBLEM)
        plus, minus = living_by_rule(network, PROBLEM)
        collapsed = plateau_times(4.0, math.pi / 15, plus.sum() / 100, minus.sum() / 100)
        for name, logs in found.items():
            time = math.inf if run.times[name] is None else float(run.times[name])
            logs.append(math.log(time))
            assert time == pytest.approx(getattr(collapsed, name), rel=1e-4), (seed, name)
    for name, logs in found.items():
        assert kolmogorov(logs, laws[name]) < 1.95 / math.sqrt(50), name


def test_the_command_prints_quantiles_and_sensitivities(run_cli: Callable) -> None:
    ended = run_cli(
        "plateau",
        "--sensitivities",
        "--distribution",
        "--m",
        "30",
        "--signs",
        "coin",
        "--json",
        "--digits",
        "12",
    )
    record, law = ended.record, distribution(PROBLEM, 30, "coin")
    assert (record["distribution"]["m"], record["distribution"]["signs"]) == (30, "coin")
    for name in ("T_plat", "T_II", "T_III"):
        shown = record["distribution"][name]
        assert float(shown["never"]) == pytest.approx(law.laws[name].never, rel=1e-11)
        assert math.log(float(shown["quantiles"]["0.5"])) == pytest.approx(
            law.laws[name].log_quantile(0.5), rel=1e-9
        )
        assert record["sensitivity"][name]["condition"]["kappa2"] == "-2"
    shown = run_cli("plateau", "--sensitivities", "--distribution", "--digits", "12").out
    assert "x/T ∂T/∂x" in shown
    assert "quantile 0.5" in shown
    assert not {"sensitivity", "distribution"} & set(run_cli("plateau", "--json", "--digits", "5").record)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["--distribution", "--m", "0"], "m"),
        (["--distribution", "--m", "100000"], "m"),
        (["--distribution", "--signs", "odd"], "signs"),
        (["--distribution", "--loss", "logistic", "--delta", "0.3"], "loss"),
        (["--sensitivities", "--loss", "logistic", "--delta", "0.3"], "loss"),
    ],
)
def test_bad_input_is_one_line(run_cli: Callable, words: list[str], name: str) -> None:
    ended = run_cli("plateau", *words)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"reduced: {name}: expected ")


def test_levels_are_probabilities() -> None:
    with pytest.raises(InputError, match=r"^level: "):
        distribution(PROBLEM, 4).laws["T_II"].log_quantile(1.0)


def exact_never(m: int, name: str) -> Fraction:
    """P(T = ∞) with half and half signs, summed in rationals; the living fractions are rounded to doubles."""
    law = count_law(PROBLEM)
    shares = [2 * Fraction(x) for x in (law.alpha_plus, law.alpha_minus)]
    plus, minus = (
        [comb(m // 2, k) * x**k * (1 - x) ** (m // 2 - k) for k in range(m // 2 + 1)] for x in shares
    )
    if name == "T_plat":
        return plus[0] + minus[0] - plus[0] * minus[0]
    beyond = [sum(minus[j:], Fraction(0)) for j in range(m // 2 + 2)]
    return plus[0] + sum(
        (plus[i] * beyond[min(math.ceil(i / C), m // 2 + 1)] for i in range(1, m // 2 + 1)), Fraction(0)
    )


@pytest.mark.parametrize(("m", "name"), [(100, "T_II"), (200, "T_plat"), (200, "T_II"), (400, "T_plat")])
def test_rare_infinities_keep_their_digits(run_cli: Callable, m: int, name: str) -> None:
    shown = run_cli("plateau", "--distribution", "--m", str(m), "--json").record["distribution"][name][
        "never"
    ]
    expected = exact_never(m, name)
    assert abs(Fraction(shown) / expected - 1) < Fraction(1, 10**11)
    assert len(shown.partition("e")[0].replace(".", "").lstrip("0")) <= 12


def test_any_second_layer_and_any_angle() -> None:
    """Times go like 1/κ₂², and T_plat Δ² has a limit as Δ → 0."""
    tiny = distribution(reduced.problem(kappa2="1e-400"), 20).laws["T_II"]
    plain = distribution(PROBLEM, 20).laws["T_II"]
    assert tiny.log_quantile(0.5) - plain.log_quantile(0.5) == pytest.approx(800 * math.log(10), rel=1e-14)
    assert tiny.never == plain.never
    for delta in ("1e-8", "1e-60"):
        law = distribution(reduced.problem(delta=delta), 20).laws["T_plat"]
        scaled = law.log_times[np.isfinite(law.log_times)] + 2 * math.log(float(delta))
        # 2 (1+p) (1 − p^{−1/2}) / (α₊ + α₋), the smallest at α₊ + α₋ = 1
        assert scaled[0] == pytest.approx(math.log(5), rel=1e-12)
        assert 0 < law.never < 0.1


@pytest.mark.parametrize(
    "words", [["--p", "1e300"], ["--delta", "pi/2-1e-30", "--p", "1e31"], ["--delta", "1e-90"]]
)
def test_what_doubles_cannot_hold_is_one_line(run_cli: Callable, words: list[str]) -> None:
    ended = run_cli("plateau", "--distribution", *words)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("reduced: p, delta: expected ")

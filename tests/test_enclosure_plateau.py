"""Claim: a prepared plateau gives the enclosure of the whole timeline, by the short way where Phase II decides."""

from __future__ import annotations

import random
from decimal import Decimal, localcontext

import pytest

import reduced

pytest.importorskip("flint")

from reduced.solve.enclosure import Enclosure, PreparedPlateau, enclosure_timeline, plateau


def agree(first: Enclosure, second: Enclosure) -> bool:
    """Tell whether two enclosures of one number overlap and are equally fine."""
    if first.rad is None or second.rad is None:
        return first == second
    with localcontext(prec=400):
        apart = abs(Decimal(first.mid) - Decimal(second.mid))
        return apart <= Decimal(first.rad) + Decimal(second.rad)


def test_random_starts_agree_with_the_whole_timeline() -> None:
    rng = random.Random(11)
    for _ in range(12):
        p, minus = round(rng.uniform(1.5, 12), 3), round(rng.uniform(0.02, 0.4), 3)
        problem = reduced.problem(str(p), rng.choice(["pi/15", "0.01", "0.6"]), "0.3", str(minus))
        digits = rng.choice([20, 50, 120])
        prepared = PreparedPlateau(problem, digits)
        for _ in range(6):
            f_plus, share, negative = (Decimal(rng.randrange(-50, 150)).scaleb(-2) for _ in range(3))
            share, negative = max(share, Decimal(0)), min(negative, Decimal(0))
            start = reduced.start(f_plus, share + negative, negative)
            whole = enclosure_timeline(problem, start, digits)
            assert agree(prepared.enclose(start), Enclosure(whole.times["T_plat"], whole.radius["T_plat"]))


@pytest.mark.parametrize("state", [("0", "0"), ("3/4", "3/5"), ("1/2", "1/10")])
def test_phase_two_alone_decides_ordinary_plateaus(
    monkeypatch: pytest.MonkeyPatch, state: tuple[str, str]
) -> None:
    problem = reduced.problem(alpha_plus="0.23", alpha_minus="0.13")
    start = reduced.start(*state)
    whole = enclosure_timeline(problem, start, 60)
    monkeypatch.delattr(plateau, "enclosure_timeline")
    found = PreparedPlateau(problem, 60).enclose(start)
    assert agree(found, Enclosure(whole.times["T_plat"], whole.radius["T_plat"]))
    assert 0 < Decimal(found.rad or 0) < Decimal(found.mid).scaleb(-60) * 5


@pytest.mark.parametrize(
    ("state", "alpha_minus"),
    [(("3", "3", "0"), "0.13"), (("3", "-1", "-1"), "0.13"), (("0", "0", "0"), "0")],
)
def test_other_starts_go_the_long_way(
    monkeypatch: pytest.MonkeyPatch, state: tuple[str, str, str], alpha_minus: str
) -> None:
    problem = reduced.problem(alpha_plus="0.23", alpha_minus=alpha_minus)
    start = reduced.start(*state)
    whole = enclosure_timeline(problem, start, 30)
    expected = Enclosure(whole.times["T_plat"], whole.radius["T_plat"])
    assert PreparedPlateau(problem, 30).enclose(start) == expected
    monkeypatch.delattr(plateau, "enclosure_timeline")
    with pytest.raises(NameError):
        PreparedPlateau(problem, 30).enclose(start)

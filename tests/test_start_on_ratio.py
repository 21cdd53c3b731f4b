"""Claim: a start exactly on r = c or r = 1/c is the limit of the starts beside it, whichever way r goes."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from reduced import problem, start, taylor_timeline, timeline
from reduced.records import Timeline

NEAR = 1e-20
METHODS = ["exact", "taylor", *(["enclosure"] if find_spec("flint") else [])]


def _solved(alphas: tuple[str, str], total: str, share: str, f_minus: str, method: str) -> Timeline:
    """Solve from f₊ + f₋ = total, so that r = e^total/4 at Δ = π/3, where c = 1/2."""
    given = problem(4, "pi/3", *alphas)
    state = start(f"{total} - ({f_minus})", f_minus, share)
    if method == "enclosure":
        from reduced.solve.enclosure import enclosure_timeline

        return enclosure_timeline(given, state, 15)
    return (timeline if method == "exact" else taylor_timeline)(given, state, 15)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("total", ["log(2)", "log(8)"], ids=["r = c", "r = 1/c"])
@pytest.mark.parametrize(
    "alphas", [("1/4", "1/20"), ("1/4", "1/5"), ("1/20", "1/4")], ids=["rise", "turn", "fall"]
)
@pytest.mark.parametrize(
    ("share", "f_minus"), [("-0.2", "-0.2"), ("-0.2", "0.1")], ids=["on kink", "off kink"]
)
def test_the_start_itself_is_between_its_neighbours(
    alphas: tuple[str, str], total: str, share: str, f_minus: str, method: str
) -> None:
    below, on_it, above = (
        _solved(alphas, total + shift, share, f_minus, method) for shift in ("-1e-20", "", "+1e-20")
    )
    for name in ("T_plat", "T_II", "T_III"):
        times = [float(found.times[name]) for found in (below, on_it, above)]
        finite = [t for t in times if t != float("inf")]
        assert len(finite) in (0, 3)
        # 10⁻²⁰ in f moves no time by more than some multiple of it
        assert max(finite, default=0) - min(finite, default=0) <= 1e-9 * max(finite, default=0) + 1e3 * NEAR


def test_a_start_on_r_equals_1_over_c_that_rises_is_in_phase_iv_at_once() -> None:
    for method in METHODS:
        found = _solved(("1/4", "1/20"), "log(8)", "-1", "-1", method)
        assert found.times == {"T_plat": "0", "T_II": "0", "T_III": "0"}
        assert found.outcome == "already"

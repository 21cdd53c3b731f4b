"""Claim: the leading laws follow from the slow motion along P = Q, derived for either loss, logistic included."""

from __future__ import annotations

import pytest
import sympy as sp

import reduced
from reduced.derive import EXP, LOGISTIC, Loss, small_angle_law
from reduced.derive.slow_motion import E, slow_motion
from reduced.derive.symbols import Delta, DerivationError, alpha_minus, alpha_plus, kappa2, p
from reduced.numbers import exact

ALPHAS = {
    alpha_plus: sp.Rational(1, 4),
    alpha_minus: sp.Rational(3, 20),
    kappa2: 1,
    p: 4,
    Delta: sp.Rational(1, 10),
}


def slow_law(loss: Loss, name: str, start: reduced.Start, guess: float) -> sp.Expr:
    """Return the law of a time from the derived slow motion, its two ends found as roots."""
    motion = slow_motion(loss)
    kept, negative = (start.f_plus - start.f_minus).sympy(), start.f_minus_negative.sympy()
    begin = sp.nsolve((motion.difference - kept).subs(ALPHAS), E, 0.5, prec=30)
    negative -= motion.negative_share * (motion.difference - kept)
    share = -sp.log(E) - negative
    end = 1 if name == "T_plat" else sp.nsolve(share.subs(ALPHAS), E, guess, prec=30)
    return ((motion.duration.subs(E, end) - motion.duration.subs(E, begin)) / Delta**2).subs(ALPHAS).evalf(25)


@pytest.mark.parametrize("loss", ["exp", "logistic"])
@pytest.mark.parametrize("name", ["T_plat", "T_II"])
@pytest.mark.parametrize("state", [(0, 0, 0), ("1/5", "3/10", "-1/10")], ids=["zero", "general"])
def test_the_laws_used_are_the_derived_ones(loss: str, name: str, state: tuple[object, ...]) -> None:
    problem, start = reduced.problem(4, "1/10", "1/4", "3/20", loss=loss), reduced.start(*state)
    derived = slow_law({"exp": EXP, "logistic": LOGISTIC}[loss], name, start, 8.0)
    used = exact(getattr(reduced.asymptotic(problem, start, 25), name)).sympy()
    assert abs(derived / used - 1) < 1e-20


def test_for_exponential_loss_it_is_the_law_of_the_closed_form() -> None:
    law = small_angle_law("T_II")
    at = ALPHAS | dict.fromkeys(law.free_symbols - set(ALPHAS), 0)
    assert abs(law.subs(at).evalf(25) / slow_law(EXP, "T_II", reduced.start(), 8.0) - 1) < 1e-20


@pytest.mark.parametrize("state", [(0, 0, 0), ("1/5", "3/10", "-1/10")], ids=["zero", "general"])
def test_logistic_times_by_taylor_series_approach_the_laws_like_delta_squared(
    state: tuple[object, ...],
) -> None:
    start, gaps = reduced.start(*state), []
    for delta in ("1/5", "1/10"):
        problem = reduced.problem(4, delta, "1/4", "3/20", loss="logistic")
        times, laws = (
            reduced.taylor_timeline(problem, start, 10).times,
            reduced.asymptotic(problem, start, 15),
        )
        gaps.append([float(times[name]) / float(getattr(laws, name)) - 1 for name in ("T_plat", "T_II")])
    for coarse, fine, left in zip(*gaps, (8e-5, 3e-3), strict=True):
        assert 3 < coarse / fine < 6
        assert abs(4 * fine - coarse) / 3 < left


@pytest.mark.slow
def test_at_smaller_angles_the_extrapolated_laws_agree_to_five_digits() -> None:
    ratios = []
    for delta in ("1/20", "3/100"):
        problem = reduced.problem(4, delta, "1/4", "3/20", loss="logistic")
        times = reduced.taylor_timeline(problem, reduced.start(), 10).times
        laws = reduced.asymptotic(problem, reduced.start(), 15)
        ratios.append([float(times[name]) / float(getattr(laws, name)) for name in ("T_plat", "T_II")])
    for coarse, fine in zip(*ratios, strict=True):
        assert (25 * fine - 9 * coarse) / 16 == pytest.approx(1, abs=4e-5)


def test_a_loss_without_one_elementary_slow_curve_is_refused() -> None:
    z = sp.Symbol("z", real=True)
    steep = Loss(sp.Lambda(z, sp.exp(-z) + sp.exp(-3 * z)))
    with pytest.raises(DerivationError, match="curve"):
        slow_motion(steep)

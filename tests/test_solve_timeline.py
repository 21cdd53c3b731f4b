"""The collapsed timeline is right in every digit, in every regime and at every boundary between them."""

import json
from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from reduced import InputError, Outcome, Regime, problem, start, timeline
from reduced.solve.promise import MAX_DIGITS, private_context
from reduced.solve.timeline import collapsed_flow, moments

DATA = Path(__file__).parent / "data"
PAPER = {"p": 4, "delta": "pi/15", "alpha_plus": "1/4", "alpha_minus": "3/20"}


def solve(digits=30, f=(0, 0, 0), **arguments):
    return timeline(problem(**arguments), start(*f), digits)


def ulp_apart(text, reference, digits):
    """Return |text − reference| in units of the last of ``digits`` places of the reference."""
    with localcontext() as local:
        local.prec, local.Emax, local.Emin = digits + 50, MAX_EMAX, MIN_EMIN
        value, want = Decimal(text), Decimal(reference)
        return abs(value - want).scaleb(digits - 1 - want.adjusted())


def rounded(text, digits):
    with localcontext() as local:
        local.prec, local.Emax, local.Emin = digits, MAX_EMAX, MIN_EMIN
        return +Decimal(text)


# --- reference values ---------------------------------------------------------------------------------------------


def test_forty_digits_of_the_paper_s_setting():
    reference = json.loads((DATA / "reduced_public.json").read_text())["pub"]
    values = reference["values"]
    result = solve(40, **reference["parameters"])
    assert result.regime is Regime(values["regime"])
    assert result.outcome is Outcome.FINISHED
    shown = [result.times[name] for name in ("T_plat", "T_II", "T_III")] + [
        result.predictions["T_plat"][0],
        *result.predictions["T_II"],
        *result.predictions["T_III"],
    ]
    wanted = [values[name] for name in ("T_plat", "T_II", "T_III", "f_plus_at_T_plat")]
    wanted += values["f_at_T_II"] + values["f_at_T_III"]
    for text, reference_text in zip(shown, wanted, strict=True):
        assert ulp_apart(text, reference_text, 40) <= 1
    assert result.predictions["T_plat"][1] == "0"


def test_two_hundred_digits_from_another_start():
    reference = json.loads((DATA / "plateau_200_digits.json").read_text())
    names = ("p", "delta", "kappa2", "alpha_plus", "alpha_minus")
    f = (reference["f_plus"], reference["f_minus"], 0)
    result = solve(200, f, **{name: reference[name] for name in names})
    figures = len(reference["T_plat"].replace(".", ""))
    assert ulp_apart(result.times["T_plat"], reference["T_plat"], figures) <= 1


@pytest.mark.parametrize(
    ("alpha_minus", "regime", "T_II"),
    [
        (0.19, Regime.FOUR_PHASE, "36113130093.299981304"),
        (0.2, Regime.THREE_PHASE, "1.9334345398216657663e29"),
        (0.25, Regime.TWO_PHASE, "inf"),
    ],
)
def test_the_doubles_of_the_theory_s_example(alpha_minus, regime, T_II):
    """A Python float is its binary value: these digits belong to the doubles 0.2 and 0.19."""
    result = solve(20, alpha_plus=0.2, alpha_minus=alpha_minus)
    assert result.regime is regime
    assert Decimal(result.times["T_II"]) == Decimal(T_II)


def test_an_event_after_the_age_of_anything():
    result = solve(20, alpha_plus="0.2", alpha_minus="0.2044")
    assert result.regime is Regime.THREE_PHASE
    assert rounded(result.times["T_II"], 2) == Decimal("3.4e1780")


# --- precision ----------------------------------------------------------------------------------------------------

CASES = {
    "four-phase": PAPER,
    "three-phase": {"alpha_plus": "0.2", "alpha_minus": "0.2"},
    "two-phase": {"alpha_plus": "0.2", "alpha_minus": "0.25"},
    "wide angle": {"p": 50, "delta": "1.4", "alpha_plus": "0.3", "alpha_minus": "0.01"},
    "small angle": {"delta": "1e-4", "alpha_plus": "1/4", "alpha_minus": "1/8"},
    "many positive points": {"p": 10**6, "delta": "1e-4", "alpha_plus": "1/4", "alpha_minus": "1/8"},
    "barely more positive points": {
        "p": "1.00001",
        "delta": "1e-4",
        "alpha_plus": "1/4",
        "alpha_minus": "1/8",
    },
    "nearly never": {"alpha_plus": "1/4", "alpha_minus": "cos(pi/15)/4 - 1e-60"},
}


def all_numbers(result):
    pairs = [pair or () for pair in result.predictions.values()]
    return [*result.times.values(), *(f for pair in pairs for f in pair)]


@pytest.mark.parametrize("arguments", CASES.values(), ids=list(CASES))
def test_thirty_digits_are_the_rounding_of_sixty(arguments):
    coarse, fine = solve(30, **arguments), solve(60, **arguments)
    for short, long in zip(all_numbers(coarse), all_numbers(fine), strict=True):
        assert rounded(short, 30) == rounded(long, 30)


def test_a_thousand_digits_are_the_rounding_of_more():
    coarse, fine = solve(1000, **PAPER), solve(1100, **PAPER)
    for short, long in zip(all_numbers(coarse), all_numbers(fine), strict=True):
        assert rounded(short, 1000) == rounded(long, 1000)


@pytest.mark.parametrize("digits", [0, -1, 1.5, True, "30", MAX_DIGITS + 1])
def test_digits_must_be_a_count(digits):
    with pytest.raises(InputError, match=rf"^digits: expected an integer from 1 to {MAX_DIGITS}"):
        solve(digits)


# --- regimes and outcomes -----------------------------------------------------------------------------------------


def test_regimes_are_decided_exactly_at_their_boundaries():
    at = solve(alpha_plus="1/4", alpha_minus="cos(pi/15)/4")
    assert (at.regime, at.times["T_III"]) == (Regime.THREE_PHASE, "inf")
    below = solve(alpha_plus="1/4", alpha_minus="cos(pi/15)/4 - 1e-60")
    assert below.regime is Regime.FOUR_PHASE
    assert Decimal("1e60") < Decimal(below.times["T_III"]) < Decimal("1e90")
    at = solve(alpha_plus="cos(pi/15)/4", alpha_minus="1/4")
    assert (at.regime, at.times["T_II"], at.times["T_III"]) == (Regime.TWO_PHASE, "inf", "inf")
    below = solve(alpha_plus="cos(pi/15)/4 + 1e-40", alpha_minus="1/4")
    assert below.regime is Regime.THREE_PHASE
    assert below.times["T_II"] != "inf"


def test_the_plateau_vanishes_exactly_at_its_boundary():
    """From f = 0 ḟ₋ ∝ α₊(pc − 1) − α₋s²; when it is a tiny ε the plateau lasts −2 ḟ₋/f̈₋ to first order."""
    share = "(4*cos(1.3) - 1)/sin(1.3)^2/8"
    at = solve(p=4, delta="1.3", alpha_plus="1/8", alpha_minus=share)
    assert (at.times["T_plat"], at.outcome) == ("0", Outcome.NO_PLATEAU)
    beyond = solve(p=4, delta="1.3", alpha_plus="1/8", alpha_minus=share + "+1e-50")
    assert (beyond.times["T_plat"], beyond.outcome) == ("0", Outcome.NO_PLATEAU)
    given_problem = problem(4, "1.3", "1/8", share + "-1e-50")
    before = timeline(given_problem, start())
    ctx = private_context(100)
    plus, minus = given_problem.alpha_plus.evaluate(ctx), given_problem.alpha_minus.evaluate(ctx)
    c, s2 = ctx.cos(ctx.mpf("1.3")), ctx.sin(ctx.mpf("1.3")) ** 2
    P, Q = ctx.mpf(4) / 5, ctx.mpf(1) / 5
    f_plus, f_minus = plus * P - plus * c * Q, plus * c * P - (plus + minus * s2) * Q
    bend = -plus * c * P * f_plus - (plus + minus * s2) * Q * f_minus
    assert ctx.mpf(before.times["T_plat"]) / (-2 * f_minus / bend) == pytest.approx(1, rel=1e-15)
    assert before.outcome is Outcome.FINISHED


@pytest.mark.parametrize(("alpha_plus", "alpha_minus"), [("1/4", 0), (0, "1/4"), (0, 0)])
def test_without_one_sign_the_plateau_is_infinite(alpha_plus, alpha_minus):
    result = solve(alpha_plus=alpha_plus, alpha_minus=alpha_minus)
    assert result.outcome is Outcome.PLATEAU_INFINITE
    assert result.regime is None
    assert (result.times["T_plat"], result.times["T_III"]) == ("inf", "inf")
    assert (result.times["T_II"] == "inf") == (alpha_plus == 0)


def test_without_negative_neurons_f_minus_falls_to_exactly_zero():
    """K₊ alone: ḟ₋ = α₊(cP − Q), ḟ₊ = α₊(P − cQ), so f₋ returns to 0; a plain integrator agrees."""
    result = solve(alpha_plus="1/4", alpha_minus=0)
    c = np.cos(np.pi / 15)

    def rates(t, f):
        P, Q = 0.8 * np.exp(-f[0]), 0.2 * np.exp(f[1])
        return [0.25 * (P - c * Q), 0.25 * (c * P - Q)]

    T = float(result.times["T_II"])
    end = solve_ivp(rates, (0, T), [0, 0], "DOP853", rtol=1e-13, atol=1e-15).y[:, -1]
    assert end == pytest.approx([float(result.predictions["T_II"][0]), 0], abs=1e-10)
    assert result.predictions["T_II"][1] == "0"


@pytest.mark.parametrize(
    ("f", "passed"),
    [
        ((1, "-1/2", "-1/2"), {"T_plat": True, "T_II": False, "T_III": False}),
        ((3, "-1/2", "-1/2"), {"T_plat": True, "T_II": True, "T_III": True}),
        ((10, -8, -8), {"T_plat": True, "T_II": True, "T_III": True}),
        ((100, "-98.61", "-98.61"), {"T_plat": True, "T_II": True, "T_III": False}),
    ],
)
def test_events_already_past_are_at_zero(f, passed):
    result = solve(**PAPER, f=f)
    assert {name: time == "0" for name, time in result.times.items()} == passed
    assert result.outcome is Outcome.ALREADY
    for name in (name for name, past in passed.items() if past):
        assert [Fraction(x) for x in result.predictions[name]] == [Fraction(f[0]), Fraction(f[1])]


def test_states_no_network_can_be_in_are_refused():
    with pytest.raises(InputError, match=r"^f_minus_negative: expected 0"):
        solve(alpha_plus="1/4", alpha_minus=0, f=(0, 0, -1))
    with pytest.raises(InputError, match=r"^f_plus: expected no share"):
        solve(alpha_plus=0, alpha_minus="1/4", f=(1, 0, 0))
    with pytest.raises(InputError, match=r"^method: expected taylor"):
        solve(**PAPER, loss="logistic")


def test_a_positive_group_on_its_kink_beyond_the_ratio_dies():
    """f₊ = 0 with r > 1/c: x₊ pushes K₊ off at once, and f₊ stays exactly 0 once K₋ is back on its kink."""
    result = solve(**PAPER, f=(0, 10, -10))
    assert result.outcome is Outcome.PLATEAU_INFINITE


# --- the solution by substitution, and against a plain integrator -------------------------------------------------


def reduced_rates(problem_numbers, phase):
    """Return (A, B, C, D) and the rates of f₋⁽⁺⁾ on (P, −Q) by hand (theory §3)."""
    c, s2, plus, minus = problem_numbers
    if phase == "II":
        return (plus, plus * c, plus * c, plus + minus * s2), (plus * c, plus)
    if phase == "III":
        return (plus * s2, 0, 0, minus * s2), (0, 0)
    return (plus * s2 + minus, minus * c, minus * c, minus), (0, 0)


def integrate(p, delta, plus, minus, kappa2=1.0, f=(0.0, 0.0, 0.0), far=1e12):
    """Solve the three phases with DOP853 in log-time, switching where a phase ends; a Newton step refines times."""
    numbers = (np.cos(delta), np.sin(delta) ** 2, plus, minus)
    c = numbers[0]
    k = kappa2**2

    def rates(phase):
        (A, B, C, D), (E, F) = reduced_rates(numbers, phase)

        def derivative(tau, y):
            scale = k * np.exp(tau)
            P, Q = p / (1 + p) * np.exp(-y[0]), 1 / (1 + p) * np.exp(y[1])
            return scale * np.array([A * P - B * Q, C * P - D * Q, E * P - F * Q])

        return derivative

    def gap_to_reactivation(y):
        return y[0] + y[1] - np.log(p) + np.log(c)

    ends = {"II": lambda y: y[2], "III": gap_to_reactivation}
    slopes = {"II": lambda y, dy: dy[2], "III": lambda y, dy: dy[0] + dy[1]}
    found, at = {}, {}
    tau, y = np.log(1e-9), np.array([f[0], f[1], f[1] - f[2]], dtype=float)

    def run(phase, tau, y, function, slope, direction):
        event = lambda tau, y: function(y)  # noqa: E731
        event.terminal, event.direction = True, direction
        derivative = rates(phase)
        options = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-14}
        solution = solve_ivp(derivative, (tau, np.log(far)), y, events=event, **options)
        if solution.status != 1:
            return None
        near = solution.t_events[0][0]
        y = solve_ivp(derivative, (tau, near), y, **options).y[:, -1]
        dy = derivative(near, y)
        step = -function(y) / slope(y, dy)
        return near + step, y + step * dy

    plateau = run("II", tau, y, lambda y: y[1], lambda y, dy: dy[1], -1)
    if plateau is not None:
        found["T_plat"], at["T_plat"] = np.exp(plateau[0]), plateau[1]
    for phase, name, direction in (("II", "T_II", -1), ("III", "T_III", 1)):
        # a start with f₋⁽⁺⁾ = 0 leaves zero first; begin the search a moment later
        if phase == "II":
            later = np.log(1e-3)
            y = solve_ivp(rates("II"), (tau, later), y, method="DOP853", rtol=1e-13, atol=1e-16).y[:, -1]
            tau = later
        step = run(phase, tau, y, ends[phase], slopes[phase], direction)
        if step is None:
            break
        tau, y = step
        found[name], at[name] = np.exp(tau), y.copy()
    return found, at


@pytest.mark.parametrize(
    ("p", "delta", "plus", "minus", "kappa2", "f"),
    [
        (4, 0.25, 0.25, 0.125, 1, (0, 0, 0)),
        (4, 0.25, 0.25, 0.125, 2, (0, 0, 0)),
        (2, 0.5, 0.3, 0.2, 1, (0.25, 0.125, 0)),
        (30, 0.75, 0.125, 0.0625, 0.5, (0.5, 0.25, -0.125)),
        (4, 0.25, 0.25, 0.125, 1, (1.25, 0.146, 0)),
        (3, 0.5, 0.25, 0.25, 1, (0, 0, 0)),
        (3, 0.5, 0.25, 0.375, 1, (0, 0, 0)),
    ],
)
def test_against_a_plain_integrator(p, delta, plus, minus, kappa2, f):
    result = solve(20, f, p=p, delta=delta, alpha_plus=plus, alpha_minus=minus, kappa2=kappa2)
    found, at = integrate(p, delta, plus, minus, kappa2, f)
    assert {name for name, time in result.times.items() if Decimal(time) < Decimal("1e12")} == set(found)
    for name, time in found.items():
        assert time == pytest.approx(float(result.times[name]), rel=1e-8), name
        assert at[name][:2] == pytest.approx([float(x) for x in result.predictions[name]], abs=1e-8), name


@pytest.mark.parametrize("arguments", [CASES["four-phase"], CASES["three-phase"], CASES["small angle"]])
def test_predictions_solve_the_ode_of_their_phase(arguments):
    """Finite differences at 80 digits against theory §3's table, at times inside every phase."""
    given_problem = problem(**arguments)
    ctx = private_context(100)
    flow = collapsed_flow(ctx, given_problem, start())
    ends = [time for time in moments(flow).times.values() if time < ctx.inf]
    inside = [ends[1] / 7, ends[1] * ctx.mpf("0.9"), 3 * ends[-1]]
    phases = ["II", "II", "III" if len(ends) == 2 else "IV"]
    if len(ends) == 3:
        inside.append((ends[1] + ends[2]) / 2)
        phases.append("III")
    delta = given_problem.delta.evaluate(ctx)
    numbers = (
        ctx.cos(delta),
        ctx.sin(delta) ** 2,
        given_problem.alpha_plus.evaluate(ctx),
        given_problem.alpha_minus.evaluate(ctx),
    )
    p = given_problem.p.evaluate(ctx)
    for t, phase in zip(inside, phases, strict=True):
        (A, B, C, D), _ = reduced_rates(numbers, phase)
        f, step = flow.predictions(t), t * ctx.mpf("1e-25")
        ahead, behind = flow.predictions(t + step), flow.predictions(t - step)
        P, Q = p / (1 + p) * ctx.exp(-f[0]), ctx.exp(f[1]) / (1 + p)
        for i, rate in enumerate((A * P - B * Q, C * P - D * Q)):
            assert abs((ahead[i] - behind[i]) / (2 * step) / rate - 1) < ctx.mpf("1e-35"), (phase, i)


# --- starts -------------------------------------------------------------------------------------------------------


def test_a_start_on_the_fixed_ratio_moves_along_it():
    """There f₊ + f₋ is constant and P = P₀/(1 + (B/h − A/g) g P₀ t …): f₋ = 0 and the integrator agree."""
    fixed = "log(4/(1 + 3/5*(1 - cos(pi/15))))"
    result = solve(30, (fixed, 0, 0), **PAPER)
    assert result.outcome is not Outcome.PHASES_OVERLAP
    level = np.log(4 / (1 + 0.6 * (1 - np.cos(np.pi / 15))))
    assert Decimal(result.predictions["T_II"][0]) + Decimal(result.predictions["T_II"][1]) == pytest.approx(
        Decimal(level), abs=Decimal("1e-14")
    )


def test_a_start_beyond_the_ratio_of_reactivation():
    """r₀ = e^{3/2}/4 > 1/c: K₋ is active on x₊ as well until its u has come back to 0; then Phase II."""
    result = solve(20, (1, "1/2", 0), **PAPER)
    c = np.cos(np.pi / 15)

    def both_active(t, y):
        P, Q = 0.8 * np.exp(-y[0]), 0.2 * np.exp(y[1])
        return [0.4 * (P - c * Q), 0.4 * (c * P - Q), 0.15 * (P - c * Q), 0.25 * (c * P - Q)]

    def back_on_kink(t, y):
        return y[2] if t > 1e-6 else -1.0

    back_on_kink.terminal = True
    back_on_kink.direction = 1
    options = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-15}
    first = solve_ivp(both_active, (0, 100), [1, 0.5, 0, 0.5], events=back_on_kink, **options)
    t, y = first.t_events[0][0], first.y_events[0][0]
    found, _ = integrate(4, np.pi / 15, 0.25, 0.15, f=(y[0], y[1], y[1] - y[3]))
    assert t > 1
    for name, time in found.items():
        assert t + time == pytest.approx(float(result.times[name]), rel=1e-8), name


@pytest.mark.parametrize(
    "f", [(100, 100, 0), (1000, 3, -1), (5000, 5000, 0), (0, 20000, -20000), (-9000, 0, 0)]
)
def test_starts_far_off_are_solved_or_named(f):
    coarse, fine = solve(20, f, **PAPER), solve(40, f, **PAPER)
    for short, long in zip(all_numbers(coarse), all_numbers(fine), strict=True):
        assert rounded(short, 20) == rounded(long, 20)


# --- laws ---------------------------------------------------------------------------------------------------------


def test_times_scale_with_the_inverse_square_of_kappa2():
    one, other = solve(30, **PAPER), solve(30, **PAPER, kappa2="3/7")
    for name, time in one.times.items():
        assert abs(Fraction(other.times[name]) / (Fraction(time) * 49 / 9) - 1) < Fraction(2, 10**29)
        assert other.predictions[name] == one.predictions[name]


def test_small_angle_laws_with_errors_falling_like_the_square():
    """Theory §6, p = 4, α± = 1/4, 0.15, start f = 0: constants and the next terms −0.1226 and −595.400."""
    p, alpha, total = 4, 0.6, 0.4
    ctx = private_context(40)
    scale = 2 * (1 + p) / ctx.mpf(total)
    plateau = scale * (1 - ctx.mpf(p) ** -0.5)
    second = scale * (ctx.mpf(p) ** (ctx.mpf(alpha) / (1 - ctx.mpf(alpha))) - ctx.mpf(p) ** -0.5)
    last = (
        ctx.mpf(p) ** (1 / (1 - ctx.mpf(alpha))) * (1 + p) * (1 + ctx.mpf(alpha)) / (2 * p * ctx.mpf("0.1"))
    )
    gaps = []
    for delta in ("1e-2", "1e-3", "1e-4"):
        result = solve(40, p=4, delta=delta, alpha_plus="1/4", alpha_minus="3/20")
        T = {name: ctx.mpf(time) for name, time in result.times.items()}
        square = ctx.mpf(delta) ** 2
        gaps.append([T["T_plat"] * square / plateau - 1, T["T_II"] * square / second - 1])
        gaps[-1].append((T["T_III"] - T["T_II"]) / last - 1)
    for before, after in pairwise(gaps):
        for coarse, fine in zip(before, after, strict=True):
            assert coarse / fine == pytest.approx(100, rel=0.01)
    assert T["T_plat"] - plateau / square == pytest.approx(-0.1226, abs=6e-5)
    assert T["T_II"] - second / square == pytest.approx(-595.400, abs=6e-4)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(
    p=st.fractions(min_value="11/10", max_value=1000, max_denominator=100),
    delta=st.fractions(min_value="1/50", max_value="3/2", max_denominator=100),
    plus=st.fractions(min_value="1/20", max_value="1/2", max_denominator=100),
    minus=st.fractions(min_value="1/20", max_value="1/2", max_denominator=100),
)
@example(Fraction(4), Fraction(1, 5), Fraction(1, 4), Fraction(3, 20))
def test_what_holds_in_every_case(p, delta, plus, minus):
    assume(p * Fraction(float(np.cos(float(delta)))) > Fraction(101, 100))
    given_problem = problem(p, delta, plus, minus)
    ctx = private_context(60)
    flow = collapsed_flow(ctx, given_problem, start())
    found = moments(flow)
    T = found.times
    c, s2 = ctx.cos(given_problem.delta.evaluate(ctx)), ctx.sin(given_problem.delta.evaluate(ctx)) ** 2
    ratio = given_problem.p.evaluate(ctx)
    assert T["T_plat"] < ctx.inf
    assert T["T_II"] <= T["T_III"]
    alpha = given_problem.alpha_minus.evaluate(ctx) / given_problem.alpha_plus.evaluate(ctx)
    assert (T["T_plat"] == 0) == (ratio * c <= 1 + alpha * s2)
    assert (T["T_II"] == ctx.inf) == (alpha >= 1 / c)
    assert (T["T_III"] == ctx.inf) == (alpha >= c)
    if T["T_II"] < ctx.inf:
        # K₋ has no share of its own to give back: where K₊'s share is 0, f₋ is at most 0
        assert found.predictions["T_II"][1] < 0
        assert T["T_plat"] < T["T_II"]
    if T["T_III"] < ctx.inf:
        f = found.predictions["T_III"]
        assert abs(ctx.exp(f[0] + f[1]) / ratio * c - 1) < ctx.mpf("1e-35")
    plateau = flow.predictions(T["T_plat"])
    assert abs(plateau[1]) < ctx.mpf("1e-40")
    first = flow.segments[0].block
    q = first.path_of_time(T["T_plat"]) if T["T_plat"] else ctx.one
    S, R, r0 = first.S(q), first.R(q), first.Q0 / first.P0
    g, h = first.A + first.C, first.B + first.D
    assert abs(h * r0 * ctx.expm1(g * S) / (g * ctx.expm1(h * R)) - 1) < ctx.mpf("1e-40")


def test_the_global_precision_is_left_alone():
    before = mpmath.mp.prec
    solve(100, **PAPER)
    assert mpmath.mp.prec == before

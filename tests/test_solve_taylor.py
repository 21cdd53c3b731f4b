"""Taylor series give the closed form's digits, and the logistic loss its own, checked without either."""

import json
import random
import re
from collections import Counter
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from reduced import InputError, Loss, Outcome, Regime, predict, problem, start, taylor_timeline, timeline
from reduced.errors import BudgetExceeded
from reduced.solve import taylor
from reduced.solve.promise import private_context
from reduced.solve.taylor import TaylorSeries
from reduced.solve.timeline import collapsed_flow

DATA = Path(__file__).parent / "data"
PAPER = {"p": 4, "delta": "pi/15", "alpha_plus": "1/4", "alpha_minus": "3/20"}


def cases(count, seed):
    """Draw settings over all three regimes, with times that a time-stepping method can reach."""
    chance = random.Random(seed)
    drawn = []
    while len(drawn) < count:
        delta = round(chance.uniform(0.25, 1.2), 3)
        plus = round(chance.uniform(0.1, 0.3), 3)
        c = float(np.cos(delta))
        low, high = [(0.2 * c, 0.85 * c), (c, 0.5 * (c + 1)), (1 / c, 2)][len(drawn) % 3]
        alpha = chance.uniform(low, high)
        p = round(chance.uniform(1.2, 6) / c, 3)
        values = {"p": p, "delta": delta, "alpha_plus": plus, "alpha_minus": round(alpha * plus, 4)}
        drawn.append({name: str(value) for name, value in values.items()})
    return drawn


def compare(arguments, digits):
    given = problem(**arguments)
    closed, stepped = timeline(given, start(), digits), taylor_timeline(given, start(), digits)
    assert closed.times == stepped.times
    assert closed.predictions == stepped.predictions
    assert (closed.regime, closed.outcome) == (stepped.regime, stepped.outcome)
    assert (closed.method, stepped.method) == ("exact", "taylor")
    return closed.regime


def test_twenty_digits_equal_the_closed_form_in_every_regime():
    assert {compare(arguments, 20) for arguments in cases(6, seed=1)} == set(Regime)


@pytest.mark.slow
@pytest.mark.parametrize("arguments", cases(9, seed=2), ids=str)
def test_fifty_digits_equal_the_closed_form(arguments):
    compare(arguments, 50)


@pytest.mark.parametrize("f", [(1, "-1/2", "-1/2"), ("1.25", "0.146", 0), (3, "-1/2", "-1/2"), (0, 10, -10)])
def test_other_starts_equal_the_closed_form(f):
    given, state = problem(4, "1/2", "1/4", "1/8"), start(*f)
    closed, stepped = timeline(given, state, 15), taylor_timeline(given, state, 15)
    assert closed.times == stepped.times
    assert closed.outcome is stepped.outcome


def logistic(digits):
    return taylor_timeline(problem(**PAPER, loss="logistic"), start(), digits)


@pytest.fixture(scope="module")
def twenty():
    return logistic(20)


def test_logistic_reference(twenty):
    values = json.loads((DATA / "logistic_public.json").read_text())["values"]
    for name in ("T_plat", "T_II", "T_III"):
        assert float(twenty.times[name]) == pytest.approx(values[name], rel=1e-10)
    for name, pair in (("T_II", values["f_II"]), ("T_III", values["f_III"])):
        assert [float(x) for x in twenty.predictions[name]] == pytest.approx(pair, rel=1e-10)
    assert twenty.outcome is Outcome.FINISHED


def test_logistic_against_a_plain_integrator(twenty):
    """DOP853 in log-time through Phases II and III, rates from theory §3 with g(z) = 1/(1 + e^z)."""
    c, s2 = np.cos(np.pi / 15), np.sin(np.pi / 15) ** 2

    def forces(y):
        return 0.8 / (1 + np.exp(y[0])), 0.2 / (1 + np.exp(-y[1]))

    def second(tau, y):
        P, Q = forces(y)
        rates = [0.25 * (P - c * Q), 0.25 * (c * P - Q) - 0.15 * s2 * Q, 0.25 * (c * P - Q)]
        return np.exp(tau) * np.array(rates)

    def third(tau, y):
        P, Q = forces(y)
        return np.exp(tau) * s2 * np.array([0.25 * P, -0.15 * Q, 0])

    def reactivation(y):
        P, Q = forces(y)
        return c * Q - P

    options = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-15}

    def reach(rates, begin, y, near, value, width=1e-6):
        """Integrate to a time near an event and take one secant step onto it."""
        y = solve_ivp(rates, (begin, near), y, **options).y[:, -1]
        rate = rates(near, y)
        slope = (value(y + width * rate) - value(y - width * rate)) / (2 * width)
        step = -value(y) / slope
        return near + step, y + step * rate

    times = {name: float(time) for name, time in twenty.times.items()}
    begin, rest = np.log(1e-9), [0.0, 0.0, 0.0]
    # the starting guesses are off by 1e-6 relative: the corrections, not the guesses, make the result
    near = {name: np.log(time * (1 + 1e-6)) for name, time in times.items()}
    plateau, _ = reach(second, begin, rest, near["T_plat"], lambda y: y[1])
    end, y = reach(second, begin, rest, near["T_II"], lambda y: y[2])
    last, _ = reach(third, end, y, near["T_III"], reactivation)
    assert np.exp(plateau) == pytest.approx(times["T_plat"], rel=1e-9)
    assert np.exp(end) == pytest.approx(times["T_II"], rel=1e-9)
    assert np.exp(last) == pytest.approx(times["T_III"], rel=1e-9)


def test_logistic_by_substitution():
    given = problem(**PAPER, loss="logistic")
    ctx = private_context(40)
    flow = collapsed_flow(ctx, given, start(), TaylorSeries(Loss.LOGISTIC))
    c = ctx.cos(ctx.pi / 15)
    for t in (ctx.mpf("0.5"), ctx.mpf(700), ctx.mpf(3000)):
        f, step = flow.predictions(t), t * ctx.mpf("1e-10")
        ahead, behind = flow.predictions(t + step), flow.predictions(t - step)
        P, Q = ctx.mpf("0.8") / (1 + ctx.exp(f[0])), ctx.mpf("0.2") / (1 + ctx.exp(-f[1]))
        rates = (P - c * Q) / 4, (c * P - Q) / 4 - ctx.mpf("0.15") * (1 - c**2) * Q
        for i, rate in enumerate(rates):
            assert abs((ahead[i] - behind[i]) / (2 * step) / rate - 1) < ctx.mpf("1e-15")


def test_two_precisions_and_orders_agree(twenty):
    """Twelve digits are a run with fewer terms and longer steps."""
    coarse = logistic(12)
    for name, time in coarse.times.items():
        assert abs(Decimal(time) / Decimal(twenty.times[name]) - 1) < Decimal("6e-12")


def test_cross_entropy_is_the_logistic_loss():
    given = problem(4, "1/2", "1/4", "1/8", loss="cross-entropy")
    assert given == problem(4, "1/2", "1/4", "1/8", loss="logistic")
    assert taylor_timeline(given, start(), 10).outcome is Outcome.FINISHED


def test_the_two_logit_network_has_the_logistic_loss():
    """Cross-entropy of the logits (z, 0) for class 1 is log(1 + e^{−z}); its force is FORCE_LAW's g."""
    ctx = private_context(30)
    for z in (ctx.mpf("-3.5"), ctx.mpf("0.25"), ctx.mpf(7)):
        force = -ctx.diff(lambda x: -x + ctx.log(ctx.exp(x) + ctx.exp(0)), z)
        P, Q = TaylorSeries(Loss.LOGISTIC).forces(ctx, (ctx.one, ctx.one), (z, -z))
        assert abs(P - force) < ctx.mpf("1e-15")
        assert P == Q


def test_the_closed_form_refuses_the_logistic_loss():
    with pytest.raises(InputError, match="method: expected taylor: loss logistic has no closed form"):
        timeline(problem(loss="logistic"), start())


def test_a_plateau_beyond_the_budget_is_named(monkeypatch):
    monkeypatch.setattr(taylor, "MAX_STEPS", 40)
    with pytest.raises(BudgetExceeded, match="more than 40 Taylor steps"):
        taylor_timeline(problem(4, "1/1000", "1/4", "1/8"), start(), 10)


@pytest.fixture
def steps_made(monkeypatch):
    """Count the Taylor steps made; the list has one entry for each."""
    made = []
    whole = taylor.TaylorBlock._next_step

    def counted(block):
        made.append(block)
        return whole(block)

    monkeypatch.setattr(taylor.TaylorBlock, "_next_step", counted)
    return made


@pytest.mark.parametrize(
    ("loss", "way_out"),
    [("exp", "methods exact and enclosure"), ("logistic", "a wider angle or earlier times")],
)
def test_a_plateau_out_of_reach_is_refused_after_a_few_hundred_steps(loss, way_out, steps_made):
    with pytest.raises(BudgetExceeded, match=rf"more than 10000 .* at delta = 1/1000: .*{way_out}"):
        taylor_timeline(problem(4, "1/1000", "1/4", "1/8", loss=loss), start(), 10)
    assert len(steps_made) < 1500


@pytest.mark.parametrize("loss", ["exp", "logistic"])
def test_a_time_out_of_reach_is_refused_after_a_few_hundred_steps(loss, steps_made):
    with pytest.raises(BudgetExceeded, match=r"more than 10000 .* at delta = pi/15: "):
        predict(problem(**PAPER, loss=loss), start(), "1e10000", 10, "taylor")
    assert len(steps_made) < 1500


def test_late_times_take_few_steps_and_equal_the_closed_form(steps_made):
    """Where every force fades like 1/t each step multiplies the time by a factor."""
    given = problem(**PAPER)
    stepped, closed = (predict(given, start(), "1e200", 12, method)[0] for method in ("taylor", "exact"))
    assert (stepped.f_plus, stepped.f_minus, stepped.loss) == (closed.f_plus, closed.f_minus, closed.loss)
    assert len(steps_made) < 2 * 2 * 200 * np.log(10)


@pytest.mark.parametrize("at", ["1e100", "1e200"])
def test_the_forecast_of_the_steps_to_a_time_is_right(at, monkeypatch, steps_made):
    given = problem(**PAPER, loss="logistic")
    predict(given, start(), at, 10, "taylor")
    needed = Counter(map(id, steps_made)).most_common(1)[0][1]
    monkeypatch.setattr(taylor, "_DOUBT", 0)
    with pytest.raises(BudgetExceeded) as caught:
        predict(given, start(), at, 10, "taylor")
    assert _foreseen(caught) == pytest.approx(needed, rel=0.1)


def test_the_forecast_of_the_steps_to_an_event_is_right(monkeypatch, steps_made):
    given = problem(4, "1/60", "1/4", "1/8")
    with monkeypatch.context() as patched:
        patched.setattr(taylor, "_DOUBT", 0)
        with pytest.raises(BudgetExceeded) as caught:
            taylor_timeline(given, start(), 10)
    steps_made.clear()
    taylor_timeline(given, start(), 10)
    assert _foreseen(caught) == pytest.approx(Counter(map(id, steps_made)).most_common(1)[0][1], rel=0.3)


def _foreseen(caught):
    return float(re.search(r"\(about ([^)]+)\)", str(caught.value))[1])

"""The whole network's flow is right in every digit asked, with its events, ties, ridges and degenerate networks."""

import json
from collections import Counter
from pathlib import Path

import mpmath
import numpy as np
import pytest

import fullnet
from reduced import InputError, Outcome, network_flow, problem
from reduced.solve.flow import DEAD, Geometry, NotUnique, Particle, exact_flow
from reduced.solve.network import TIMES

DATA = Path(__file__).parent / "data"
PAPER = problem()


def initial(m, dim=5, kappa1=0.1, seed=0, **options):
    return fullnet.initial_network(m, dim, kappa1, 1.0, seed, **options)


def solve(net, digits=20, **options):
    return network_flow(net.W, net.sign, PAPER, digits, **options)


@pytest.fixture(scope="module", params=["network_public0", "network_public1"])
def reference_run(request):
    reference = json.loads((DATA / f"{request.param}.json").read_text())
    net = fullnet.load_network(DATA / f"{request.param}.npz", 1.0)
    return reference, net, solve(net, 30)


def agrees(value, text, digits=25):
    with mpmath.workdps(50):
        return abs(mpmath.mpf(value) / mpmath.mpf(text) - 1) < mpmath.mpf(10) ** -digits


def test_every_reference_time_to_25_digits(reference_run):
    reference, _, run = reference_run
    for name, text in reference["times"].items():
        assert agrees(run.times[name], text), name
    assert agrees(run.times["last_phase_one_event"], reference["last_phase_one_event"])
    assert run.outcome is Outcome.FINISHED


def test_every_reference_prediction_to_25_digits(reference_run):
    reference, _, run = reference_run
    pairs = {
        "start": reference["f_at_start"],
        "last_phase_one_event": reference["f_at_last_phase_one_event"],
        **reference["predictions"],
    }
    for name, pair in pairs.items():
        for value, text in zip(run.predictions[name], pair, strict=True):
            assert agrees(value, text), name


def test_living_sets_and_who_goes_first(reference_run):
    reference, net, run = reference_run
    assert len(run.positive) == reference["living"]["positive"]
    assert len(run.negative) == reference["living"]["negative"]
    assert sorted(run.positive + run.negative + run.dead) == list(range(len(net.sign)))
    first = next(event for event in run.events if event.time == run.times["T_II"])
    assert first.neuron == reference["first_neuron_to_deactivate"]


def test_the_number_of_events(reference_run):
    """Events at one time are one; the passages of r through c and 1/c count (1/c is the joint reactivation)."""
    reference, _, run = reference_run
    moments = {event.time for event in run.events} | {t for t, _, _ in run.flow.ratio_events}
    assert len(moments) == reference["events_in_all"]
    together = [event.neuron for event in run.events if event.time == run.times["T_III"]]
    assert sorted(together) == sorted(run.negative)


def test_every_event_sits_on_its_kink(reference_run):
    _, _, run = reference_run
    ctx = run.flow.ctx
    for event in run.events:
        index, q = run.flow.locate(event.time)
        size = max(abs(x) for x in run.flow.particle(event.neuron, index, q)[1:])
        assert abs(event.residual) <= size * ctx.mpf("1e-28")
    times = [event.time for event in run.events]
    assert times == sorted(times)


def test_the_plateau_on_record(reference_run):
    _, _, run = reference_run
    (plateau,) = (p for p in run.plateaus if p[1] is not None and p[1] == run.times["T_plat"])
    assert agrees(plateau[2], "0.8")


def test_thirty_digits_are_the_rounding_of_sixty(reference_run):
    _, net, run = reference_run
    fine = solve(net, 60)
    assert [e.neuron for e in fine.events] == [e.neuron for e in run.events]
    for short, long in zip(run.numbers(), fine.numbers(), strict=True):
        assert short == long == 0 or agrees(short, long, 30)


def test_predictions_are_the_sum_over_the_neurons(reference_run):
    """f± from the closed form equals Σ aₖ σ(⟨wₖ, x±⟩) with every neuron's own (u, v)."""
    _, net, run = reference_run
    flow, ctx = run.flow, run.flow.ctx
    for t in (ctx.mpf("0.01"), ctx.mpf(5), ctx.mpf(2000), ctx.mpf(9500), ctx.mpf("1e20")):
        index, q = flow.locate(t)
        states = [flow.particle(k, index, q) for k in range(len(net.sign))]
        for point, value in enumerate(flow.predictions(t)):
            terms = (int(s) * max(state[1 + point], 0) for s, state in zip(net.sign, states, strict=True))
            assert abs(flow.geometry.scale * ctx.fsum(terms) - value) < ctx.mpf("1e-27") * (1 + abs(value))


def test_equal_neurons_move_together():
    net = initial(20, seed=4)
    run = network_flow(np.vstack([net.W, net.W]), np.hstack([net.sign, net.sign]), PAPER, 20)
    moments = {}
    for event in run.events:
        moments.setdefault((event.time, event.kind, event.before, event.after), []).append(event.neuron % 20)
    for twins in moments.values():
        assert set(Counter(twins).values()) == {2}
    assert len(run.positive) % 2 == len(run.negative) % 2 == 0


def test_the_dead_stay_dead():
    net = initial(40, seed=2)
    run = solve(net)
    died = {}
    for event in run.events:
        assert event.neuron not in died, "an event after death"
        if event.after == DEAD:
            died[event.neuron] = event.time
    data = fullnet.two_point(4, np.pi / 15, 5)
    born_dead = set(np.flatnonzero(np.all(net.W @ data.X.T < 0, axis=1)).tolist())
    assert set(run.dead) == set(died) | born_dead
    assert born_dead
    assert died


def ridge_geometry(ctx):
    c = ctx.cos(ctx.pi / 15)
    return Geometry(c, 1 - c**2, ctx.mpf("0.8"), ctx.mpf("0.2"), ctx.mpf("0.25"))


@pytest.mark.parametrize(("sign", "u", "v", "f"), [(1, 0, 1, 0), (-1, 1, 0, 1)])
def test_a_start_on_a_repelling_ridge_needs_a_choice(sign, u, v, f):
    """Positive neurons at r < 1/c are pushed off u = 0 both ways, negative ones at r > c off v = 0 (a·y > 0)."""
    ctx = mpmath.mp.clone()
    particles = [Particle(0, sign, 1, ctx.mpf(u), ctx.mpf(v))]

    def flow(ridge):
        return exact_flow(ctx, ridge_geometry(ctx), particles, (ctx.mpf(f), ctx.mpf(f)), ctx.mpf(1), ridge)

    with pytest.raises(NotUnique, match="repelling ridge"):
        flow(None)
    starts = {ridge: flow(ridge).stays[0][0].pattern for ridge in ("active", "inactive", "slide")}
    wanted = {1: ("++", "-+", "0+"), -1: ("++", "+-", "+0")}[sign]
    assert starts == dict(zip(("active", "inactive", "slide"), wanted, strict=True))


@pytest.mark.parametrize(("sign", "u", "v", "pattern"), [(-1, 0, 1, "0+"), (1, 1, 0, "++")])
def test_a_start_in_a_valley_is_decided_by_the_fields(sign, u, v, pattern):
    """At r = 1/4: K₋ slides on u = 0 (r ≤ 1/c); on v = 0 a positive neuron is pushed across, for r < c."""
    ctx = mpmath.mp.clone()
    particles = [Particle(0, sign, 1, ctx.mpf(u), ctx.mpf(v))]
    flow = exact_flow(ctx, ridge_geometry(ctx), particles, (ctx.zero, ctx.zero), ctx.mpf("0.1"))
    assert flow.stays[0][0].pattern == pattern


def test_weights_outside_the_data_plane_sit_on_both_kinks():
    W = np.array([[0.0, 0.0, 1.0], [0.1, -0.2, 0.0]])
    with pytest.raises(NotUnique, match="origin"):
        network_flow(W, [1, 1], PAPER)
    assert network_flow(W, [1, 1], PAPER, ridge="inactive").dead == (0,)
    assert network_flow(W, [1, 1], PAPER, ridge="active").dead == ()


def test_one_neuron():
    alone = network_flow(np.array([[0.125, -0.5]]), [1], PAPER, 25)
    assert (alone.positive, alone.negative, alone.dead) == ((0,), (), ())
    assert alone.times["T_plat"] is None
    assert alone.predictions["T_II"][1] == 0 or agrees(1 + alone.predictions["T_II"][1], "1")


def test_nobody_alive():
    net = np.array([[0.0, 1.0], [0.125, 2.0]])
    run = network_flow(net, [1, -1], PAPER)
    assert run.dead == (0, 1)
    assert all(time is None for time in run.times.values())
    assert run.flow.predictions(run.flow.ctx.mpf(10) ** 30) == (0, 0)
    assert run.events == ()


def test_until_cuts_the_log_and_changes_nothing_before(reference_run):
    _, net, run = reference_run
    cut = solve(net, 20, until=100)
    kept = [event for event in run.events if event.time <= 100]
    assert [(e.neuron, e.before, e.after) for e in cut.events] == [
        (e.neuron, e.before, e.after) for e in kept
    ]
    assert cut.times["T_II"] is cut.times["T_III"] is None
    assert agrees(cut.times["T_r_equals_c"], run.times["T_r_equals_c"], 20)


def test_a_budget_of_events_is_a_named_outcome():
    run = solve(initial(40), max_events=5)
    whole = solve(initial(40))
    assert run.outcome is Outcome.BUDGET
    assert 5 <= len(run.events) < 10
    for event, other in zip(run.events, whole.events, strict=False):
        assert (event.neuron, event.after) == (other.neuron, other.after)
        assert agrees(event.time, other.time, 20)
    assert run.times["T_plat"] is None


@pytest.mark.parametrize("kappa1", [1e-8, 1e-3, 1.0])
def test_other_scales_at_two_precisions(kappa1):
    net = initial(20, kappa1=kappa1, seed=1)
    coarse, fine = solve(net, 20), solve(net, 40)
    for short, long in zip(coarse.numbers(), fine.numbers(), strict=True):
        assert (short is None) == (long is None)
        assert short is None or short == long == 0 or agrees(short, long, 20)
    assert [coarse.times[name] is None for name in TIMES] == [False] * 6


def test_small_initial_weights_lead_to_the_living_sets_of_the_theory():
    """K₊ = {ς = +1, u > 0}, K₋ = {ς = −1, v > 0, v(p − c) > u(pc − 1)} as κ₁κ₂ → 0 (theory §6)."""
    net = initial(60, dim=8, kappa1=1e-8, seed=3)
    run = solve(net)
    u, v = (net.W @ x for x in fullnet.two_point(4, np.pi / 15, 8).X)
    c = np.cos(np.pi / 15)
    plus = (net.sign > 0) & (u > 0)
    minus = (net.sign < 0) & (v > 0) & (v * (4 - c) > u * (4 * c - 1))
    assert list(run.positive) == np.flatnonzero(plus).tolist()
    assert list(run.negative) == np.flatnonzero(minus).tolist()


def test_what_is_not_solved_is_refused():
    net = initial(4)
    with pytest.raises(InputError, match=r"^method: expected ode"):
        network_flow(net.W, net.sign, problem(loss="logistic"))
    with pytest.raises(InputError, match=r"^digits: expected an integer"):
        solve(net, 0)
    with pytest.raises(InputError, match=r"^until: expected"):
        solve(net, until="soon")


def test_the_reference_is_met_at_the_asked_digits_only():
    assert agrees("1.0000000000000000000000001", "1", 24)
    assert not agrees("1.0000000000000000000000001", "1", 26)

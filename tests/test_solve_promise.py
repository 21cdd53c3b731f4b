"""The promise of digits holds in threads and worker processes, byte for byte, and is refused rather than broken."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import mpmath
import pytest

from reduced import InputError, predict, problem, start, timeline
from reduced.solve.promise import MAX_DIGITS, check_digits, keep_promise, private_context

JOBS = [(digits, alpha) for digits in (5, 30, 90) for alpha in ("3/20", "cos(pi/15)/4", "0.3")]


def answer(job):
    digits, alpha = job
    given = problem(4, "pi/15", "1/4", alpha)
    line = timeline(given, start(), digits)
    return line.times, line.predictions, predict(given, start(), ["12.5", "1e400"], digits)


@pytest.fixture(scope="module")
def serial():
    return [answer(job) for job in JOBS]


def test_eight_threads_give_the_same_bytes(serial):
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(answer, JOBS)) == serial


def test_two_worker_processes_give_the_same_bytes(serial):
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        lines = list(pool.map(timeline, *zip(*map(arguments, JOBS), strict=True)))
    assert [(line.times, line.predictions) for line in lines] == [answer[:2] for answer in serial]


def arguments(job):
    digits, alpha = job
    return problem(4, "pi/15", "1/4", alpha), start(), digits


@pytest.mark.parametrize("precision", [15, 400])
def test_the_global_precision_is_neither_used_nor_changed(serial, precision):
    with mpmath.workdps(precision):
        before = mpmath.mp.prec
        assert answer(JOBS[0]) == serial[0]
        assert mpmath.mp.prec == before


def test_enough_precision_is_found_for_a_cancelling_computation():
    def cancel(ctx):
        return 1 - ctx.cos(ctx.mpf(10) ** -18)

    value = keep_promise(cancel, lambda x: [x], 30)
    assert abs(value * 2 * value.context.mpf(10) ** 36 - 1) < value.context.mpf("1e-30")


def test_an_unstable_computation_is_refused():
    with pytest.raises(ArithmeticError, match="no working precision gave 5 stable digits"):
        keep_promise(lambda ctx: ctx.mpf(ctx.prec), lambda x: [x], 5)
    with pytest.raises(ArithmeticError):
        keep_promise(lambda ctx: [ctx.one] * ctx.prec, lambda x: x, 5)


def test_an_attempt_that_cannot_be_made_calls_for_a_higher_precision():
    def compute(ctx):
        if ctx.dps < 60:
            raise ZeroDivisionError("a difference vanished")
        return [ctx.one / 3]

    assert keep_promise(compute, lambda x: x, 10)[0].context.dps >= 60


def test_why_no_attempt_could_be_made_is_told():
    with pytest.raises(ArithmeticError, match="no working precision gave 7 stable digits") as caught:
        keep_promise(lambda ctx: ctx.one / ctx.zero, lambda x: [x], 7)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_agreement_of_none_infinity_and_zero():
    assert keep_promise(lambda ctx: [None, ctx.inf, ctx.zero], lambda x: x, 10)[0] is None


@pytest.mark.parametrize("digits", [1, 30, MAX_DIGITS])
def test_counts_of_digits_pass(digits):
    assert check_digits(digits) == digits


@pytest.mark.parametrize("digits", [0, -3, MAX_DIGITS + 1, 2.0, "30", None, True, float("nan")])
def test_everything_else_is_refused(digits):
    with pytest.raises(InputError, match=r"^digits: expected an integer from 1 to "):
        check_digits(digits)


def test_private_contexts_are_separate():
    first, second = private_context(20), private_context(200)
    assert first is not second
    assert (first.dps, second.dps) == (20, 200)
    assert mpmath.mp not in (first, second)

"""Claim: threads and worker processes give byte-identical enclosures, and python-flint's precision is restored."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

import reduced

pytest.importorskip("flint")

import flint

from reduced.solve.enclosure import enclosure_timeline
from reduced.solve.enclosure.ball import ONE, ZERO, working_precision

DIGITS = [10, 300, 25, 120, 60, 15, 200, 40]


def test_threads_give_the_bytes_of_serial_runs() -> None:
    problem, start = reduced.problem(alpha_plus="0.23", alpha_minus="0.13"), reduced.start("3/4", "3/5")

    def text(digits: int) -> str:
        return repr(vars(enclosure_timeline(problem, start, digits)))

    serial = [text(digits) for digits in DIGITS]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(text, DIGITS * 3)) == serial * 3


@pytest.mark.slow
def test_spawned_processes_give_the_bytes_of_serial_runs() -> None:
    problem, start = reduced.problem(alpha_plus="0.23", alpha_minus="0.13"), reduced.start("3/4", "3/5")
    jobs = [(problem, start, digits) for digits in DIGITS]
    serial = [repr(vars(enclosure_timeline(*job))) for job in jobs]
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
        parallel = [pool.submit(enclosure_timeline, *job) for job in jobs]
        assert [repr(vars(future.result())) for future in parallel] == serial


def test_the_precision_of_the_process_comes_back_even_after_errors() -> None:
    before = flint.ctx.prec
    enclosure_timeline(reduced.problem(), reduced.start(), 40)
    assert flint.ctx.prec == before
    with pytest.raises(ZeroDivisionError), working_precision(before + 100):
        _ = ONE / ZERO
    assert flint.ctx.prec == before


def test_without_python_flint_one_line_says_how_to_install_it() -> None:
    script = (
        "import sys; sys.modules['flint'] = None\n"
        "from reduced.errors import MissingExtra\n"
        "try:\n    import reduced.solve.enclosure\n"
        "except MissingExtra as why:\n    print(why)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout == 'enclosures need python-flint: pip install "reduced-dynamics[certified]"\n'

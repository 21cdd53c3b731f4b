"""Claim: eight threads and four spawned workers at mixed digits give what one process gives, byte for byte."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType

import mpmath
import pytest


@pytest.fixture(scope="module")
def jobs() -> Iterator[ModuleType]:
    """The module of jobs, importable here and, through the inherited path, in spawned workers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parent)
        yield import_module("determinism_jobs")
    del sys.modules["determinism_jobs"]


@pytest.fixture(scope="module")
def serial(jobs: ModuleType) -> dict[tuple[str, int], str]:
    return {job: jobs.answer(job) for job in jobs.JOBS}


def test_eight_threads(jobs: ModuleType, serial: dict[tuple[str, int], str]) -> None:
    mixed = random.Random(1).sample(jobs.JOBS, len(jobs.JOBS))
    before = mpmath.mp.prec
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(jobs.answer, mixed)) == [serial[job] for job in mixed]
    assert mpmath.mp.prec == before


def test_four_spawned_workers(jobs: ModuleType, serial: dict[tuple[str, int], str]) -> None:
    mixed = random.Random(2).sample(jobs.JOBS, len(jobs.JOBS))
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(jobs.answer, mixed, chunksize=3)) == [serial[job] for job in mixed]


def test_the_answers_compared_have_the_digits_asked(serial: dict[tuple[str, int], str]) -> None:
    few, many = (serial["timeline", digits] for digits in (9, 120))
    (start,) = set(re.findall(r"T_plat: '(\d{3}\.\d{6})'", few))
    assert re.search(rf"T_plat: '{re.escape(start[:-1])}\d{{112,}}'", many)
    assert len(serial["network", 120]) > len(serial["network", 9]) + 1000

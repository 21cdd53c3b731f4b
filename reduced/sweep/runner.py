"""The sweep itself: claim a point, have it computed, write its row; again until every point has one."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import dataclass
from pathlib import Path

from reduced.errors import InputError
from reduced.records import Outcome
from reduced.sweep.compute import compute, sentence, versions
from reduced.sweep.points import Point, Row
from reduced.sweep.store import Store
from reduced.sweep.workers import LOST, Workers, cluster_workers, local_workers

_BEAT_SECONDS = 5.0
_POLL_SECONDS = 0.5
_IN_FLIGHT_PER_WORKER = 2
_DEATHS_OF_A_CULPRIT = 2


@dataclass(frozen=True)
class Progress:
    """How far a sweep is: points in all, with a row, with a row that is an error, computed by this run."""

    points: int
    finished: int
    failed: int
    computed: int


@dataclass(frozen=True)
class Report:
    """How a sweep ended, with its counts; ``outcome`` finished once every point has a row, else budget."""

    progress: Progress
    outcome: Outcome
    seconds: float


def run(
    points: Sequence[Point],
    path: str | Path,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    budget: float | None = None,
    retry_failed: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> Report:
    """Compute the points that have no row in the file yet.

    Arguments: points, from :func:`reduced.sweep.grid`; path of the SQLite file, made when missing; workers,
    processes on this machine (default: one per processor); scheduler, the address of a Dask scheduler whose
    workers are used instead; budget, seconds of wall time; retry_failed computes again what ended in an
    error; on_progress, told after every row. A point that fails becomes a row with its error. Killed at any
    moment, the file stays sound and the same call goes on from there; other sweeps may use the file at the
    same time. Returns a Report. Raises InputError, MissingExtra (a scheduler without Dask), WorkersLost.
    """
    if scheduler is not None and workers is not None:
        raise InputError("workers", workers, "no value with scheduler, whose workers are used")
    began = time.monotonic()
    deadline = None if budget is None else began + budget
    with Store(path) as store:
        store.beat()
        if retry_failed:
            store.forget(points)
        sweep = _Sweep(store, points, on_progress or (lambda _: None))
        if sweep.waiting:
            crew = local_workers(workers) if scheduler is None else cluster_workers(scheduler)
            try:
                sweep.go(crew, deadline)
            finally:
                crew.stop()
        progress = sweep.progress()
    ended = Outcome.FINISHED if progress.finished == progress.points else Outcome.BUDGET
    return Report(progress, ended, time.monotonic() - began)


class _Sweep:
    """The points on their way: waiting, elsewhere (claimed by another sweep), suspects, in flight."""

    def __init__(self, store: Store, points: Sequence[Point], tell: Callable[[Progress], None]) -> None:
        self.store, self.tell = store, tell
        unique = dict.fromkeys(points)
        rows = store.finished()
        self.total = len(unique)
        self.waiting = deque(point for point in unique if point.key not in rows)
        self.elsewhere: deque[Point] = deque()
        self.suspects: deque[Point] = deque()
        self.flying: dict[Future[Row], Point] = {}
        self.finished = self.total - len(self.waiting)
        self.failed = sum(rows.get(point.key, False) for point in unique)
        self.computed = 0
        self.deaths: Counter[Point] = Counter()
        self.beaten = time.monotonic()

    def progress(self) -> Progress:
        """Return the counts."""
        return Progress(self.total, self.finished, self.failed, self.computed)

    def go(self, crew: Workers, deadline: float | None) -> None:
        """Work until every point has a row or the deadline is past."""
        self.tell(self.progress())
        while self.waiting or self.elsewhere or self.suspects or self.flying:
            left = _POLL_SECONDS if deadline is None else min(_POLL_SECONDS, deadline - time.monotonic())
            if left <= 0:
                return
            self._keep_alive()
            self._fill(crew)
            if self.flying:
                done, _ = wait(self.flying, left, FIRST_COMPLETED)
                self._collect(done, crew)
            else:
                time.sleep(left)

    def _keep_alive(self) -> None:
        if time.monotonic() - self.beaten > _BEAT_SECONDS:
            self.store.beat()
            self.beaten = time.monotonic()

    def _fill(self, crew: Workers) -> None:
        """Hand out points: a suspect goes alone, others keep every worker busy."""
        if self.suspects:
            if not self.flying:
                self._submit(crew, self.suspects.popleft())
            return
        room = _IN_FLIGHT_PER_WORKER * crew.capacity()
        while self.waiting and len(self.flying) < room:
            point = self.waiting.popleft()
            if self.store.claim(point):
                self._submit(crew, point)
            elif (failed := self.store.failed(point)) is None:
                self.elsewhere.append(point)
            else:
                self._count(failed)
        if not self.waiting and not self.flying:
            self.store.beat()  # drops the claims of sweeps that died
            self.waiting, self.elsewhere = self.elsewhere, deque()

    def _submit(self, crew: Workers, point: Point) -> None:
        try:
            future = crew.submit(compute, point.key)
        except BrokenExecutor as why:
            future = Future()
            future.set_exception(why)
        self.flying[future] = point

    def _collect(self, done: set[Future[Row]], crew: Workers) -> None:
        """Write the rows that came back; where workers died, try what they had again, one point at a time."""
        alone = len(self.flying) == 1
        lost = self._write(done)
        if not lost:
            return
        crew.restart()
        lost += self._write(set(self.flying))  # a pool that broke has ended all its futures
        for point in lost:
            self.deaths[point] += alone
            if self.deaths[point] < _DEATHS_OF_A_CULPRIT:
                self.suspects.append(point)
            else:
                self._finish(Row(point.key, {}, "the worker process died on this point", versions(), 0.0))

    def _write(self, done: set[Future[Row]]) -> list[Point]:
        """Write the rows of ended futures and return the points that came to nothing."""
        lost = []
        for future in done:
            point = self.flying.pop(future)
            try:
                row = future.result()
            except LOST:
                lost.append(point)
                continue
            except Exception as why:  # the worker could not even say what went wrong
                row = Row(point.key, {}, sentence(why), versions(), 0.0)
            self._finish(row)
        return lost

    def _finish(self, row: Row) -> None:
        self.store.finish(row)
        self.computed += 1
        self._count(row.error is not None)

    def _count(self, failed: bool) -> None:
        self.finished += 1
        self.failed += failed
        self.tell(self.progress())

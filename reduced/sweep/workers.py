"""Who computes: worker processes on this machine, or those of a Dask cluster; one interface for both.

Both hand out ``concurrent.futures`` futures. Local workers end with the process that started them, however
that one ends: each watches a pipe whose other end only the parent holds.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, Protocol

from reduced.errors import InputError, MissingExtra

_START_SECONDS = 120.0
_CONNECT_SECONDS = 15
_ASK_SECONDS = 5.0
_MAX_WORKERS = 1024


class WorkersLost(RuntimeError):
    """The workers cannot be had, or cannot be had again."""


class Workers(Protocol):
    """What a sweep needs of its workers."""

    def submit(self, task: Callable[[str], Any], key: str) -> Future[Any]:
        """Start a task on some worker."""

    def capacity(self) -> int:
        """Return how many tasks run at once."""

    def restart(self) -> None:
        """Replace workers that died. Raises WorkersLost."""

    def stop(self) -> None:
        """End at once; tasks under way are given up."""


def local_workers(count: int | None) -> Workers:
    """Start worker processes (None: one per processor this process may use). Raises InputError."""
    if count is None:
        count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not 1 <= count <= _MAX_WORKERS:
        raise InputError("workers", count, f"an integer from 1 to {_MAX_WORKERS}")
    return _LocalWorkers(count)


class _LocalWorkers:
    def __init__(self, count: int) -> None:
        self._count = count
        self._start()

    def _start(self) -> None:
        context = get_context("spawn")
        watched, self._lifeline = context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(self._count, context, _initialise, (watched,))
        with _deaf_to_interrupts():
            first = self._pool.submit(os.getpid)
        try:
            first.result(_START_SECONDS)
        except (BrokenProcessPool, FutureTimeout):
            self.stop()
            raise WorkersLost(
                "worker processes do not start; a script that sweeps must do so under if __name__ == '__main__':"
            ) from None

    def submit(self, task: Callable[[str], Any], key: str) -> Future[Any]:
        return self._pool.submit(task, key)

    def capacity(self) -> int:
        return self._count

    def restart(self) -> None:
        self.stop()
        self._start()

    def stop(self) -> None:
        self._lifeline.close()
        self._pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C, and let the processes started meanwhile do so from their first instruction on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _initialise(watched: Connection) -> None:
    """Prepare a worker: Ctrl-C is for the parent, one thread is enough, and no life without the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # counts because NumPy is imported later, by the first task
    threading.Thread(target=_end_with, args=(watched,), daemon=True).start()


def _end_with(watched: Connection) -> None:
    watched.poll(None)
    os._exit(1)


def cluster_workers(address: str) -> Workers:
    """Use the workers of a running Dask scheduler, such as ``tcp://host:8786``.

    Raises MissingExtra without Dask, InputError when nothing answers at the address or no worker comes.
    """
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise MissingExtra('a scheduler needs Dask: pip install "reduced-dynamics[cluster]"') from None
    try:
        client = distributed.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as why:
        expected = f"the address of a running Dask scheduler ({' '.join(str(why).split()) or 'no answer'})"
        raise InputError("scheduler", address, expected) from None
    try:
        return _ClusterWorkers(client, address)
    except BaseException:
        client.close()
        raise


class _ClusterWorkers:
    def __init__(self, client: Any, address: str) -> None:
        self._client = client
        self._executor = client.get_executor(pure=False)
        self._capacity, self._asked = 1, -_ASK_SECONDS
        try:
            client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
        except TimeoutError:
            raise InputError("scheduler", address, "a scheduler with at least one worker") from None

    def submit(self, task: Callable[[str], Any], key: str) -> Future[Any]:
        future: Future[Any] = self._executor.submit(task, key)
        return future

    def capacity(self) -> int:
        if time.monotonic() - self._asked > _ASK_SECONDS:
            self._capacity = max(1, sum(self._client.ncores().values()))
            self._asked = time.monotonic()
        return self._capacity

    def restart(self) -> None:
        raise WorkersLost("the cluster gave its tasks up")

    def stop(self) -> None:
        self._executor.shutdown(wait=False)
        self._client.close()


LOST = (BrokenProcessPool, CancelledError)
"""What a future raises when its worker, or the whole cluster, went away under it."""

"""A bound on wall time for computations that cannot be asked to stop."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

# The alarm is repeated: one that comes inside a destructor, or a callback of a weak reference or of the garbage
# collector, would only be reported there, and is left to the next.
_REPEAT_SECONDS = 0.5


class BudgetExceeded(Exception):
    """The wall time allowed is used up."""


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raise BudgetExceeded inside the block once it has run for ``seconds`` (None: no bound).

    Works in the main thread where the system has interval timers; elsewhere there is no bound.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if seconds is None or not in_main or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(_: int, frame: FrameType | None) -> None:
        if frame is None or not _is_swallowing(frame):
            raise BudgetExceeded

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, _REPEAT_SECONDS)
    try:
        yield
    finally:
        _disarm(previous)


def _is_swallowing(frame: FrameType) -> bool:
    """Return whether Python would swallow what is raised here."""
    if frame.f_globals.get("__name__") in ("weakref", "_weakrefset"):
        return True
    collecting = {getattr(callback, "__code__", None) for callback in gc.callbacks}
    outer: FrameType | None = frame
    while outer is not None:
        if outer.f_code.co_name == "__del__" or outer.f_code in collecting:
            return True
        outer = outer.f_back
    return False


def _disarm(previous: Any) -> None:
    """Stop the alarm for good, also when it goes off while being stopped."""
    while True:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, previous)
        except BudgetExceeded:
            continue
        return

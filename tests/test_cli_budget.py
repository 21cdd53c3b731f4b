"""Claim: a budget's alarm is raised where it can be caught, never where Python would swallow it."""

import gc
import signal
import weakref

import pytest

from reduced.cli import budget
from reduced.cli.budget import BudgetExceeded, time_limit


class Thing:
    """Something that a weak reference can point to."""


def forget_for_ever() -> None:
    """Let weakly held things die without end: most of the time is spent in the callbacks of their references."""
    while True:
        known, things = weakref.WeakSet(), [Thing() for _ in range(200)]
        for thing in things:
            known.add(thing)
        del things, thing


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no interval timers here")
@pytest.mark.filterwarnings("error")
def test_the_alarm_is_not_swallowed_by_callbacks_of_weak_references(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "_REPEAT_SECONDS", 0.01)
    for _ in range(8):
        with pytest.raises(BudgetExceeded), time_limit(0.02):
            forget_for_ever()


def busy() -> int:
    """Take some time in a frame of its own."""
    return sum(range(2000))


class Dying:
    """Something that takes its time to go."""

    def __del__(self) -> None:
        """Be busy, in another frame."""
        busy()


def collect_for_ever() -> None:
    """Let things die, and the garbage be collected, without end."""
    while True:
        Dying()
        gc.collect(0)
        for _ in range(4):
            busy()


def on_collection(_: str, __: dict[str, int]) -> None:
    """Be busy around a collection, in another frame."""
    busy()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no interval timers here")
@pytest.mark.filterwarnings("error")
def test_the_alarm_is_not_swallowed_by_destructors_and_collections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "_REPEAT_SECONDS", 0.01)
    gc.callbacks.append(on_collection)
    try:
        for _ in range(8):
            with pytest.raises(BudgetExceeded), time_limit(0.02):
                collect_for_ever()
    finally:
        gc.callbacks.remove(on_collection)

"""Claim: a budget's alarm is raised where it can be caught, never inside a callback that would swallow it."""

import signal
import weakref

import pytest

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
def test_the_alarm_is_not_swallowed_by_callbacks_of_weak_references() -> None:
    for _ in range(8):
        with pytest.raises(BudgetExceeded), time_limit(0.02):
            forget_for_ever()

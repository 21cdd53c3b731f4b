"""The pace of what long work does on the side: tell how far it is, save what it has."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

BETWEEN_REPORTS = 0.1
BETWEEN_SAVINGS = 5.0

# The part of the time that may be spent on the side: one in so many.
_SHARE = 20


@dataclass(eq=False)
class Pace:
    """Something to be done every so many seconds; rarer where it would take more than a twentieth of the time."""

    seconds: float
    _last: float = field(default_factory=time.monotonic, init=False)
    _pause: float = field(init=False)

    def __post_init__(self) -> None:
        """Wait for the first time as long as it was said."""
        self._pause = self.seconds

    def turn(self, work: Callable[[], object]) -> None:
        """Do the work if it is time to."""
        now = time.monotonic()
        if now - self._last > self._pause:
            work()
            self._last = time.monotonic()
            self._pause = max(self.seconds, _SHARE * (self._last - now))

"""The command line: parse, call one public function, print.

Only this module is imported before :func:`main` runs, so that Ctrl-C ends quietly while the rest is imported.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

__all__ = ["main"]

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Arguments: arguments, the words after the program's name (default: those of this process).
    Returns the exit code: 0 done or agrees, 1 disagrees, 2 bad input (one line on stderr), 3 budget
    exceeded, 130 interrupted.
    """
    with _leaving_at_once():
        from reduced.cli.app import run
    return run(arguments)


@contextmanager
def _leaving_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process here: raised inside an import, it may come out as another error."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(*_: Any) -> None:
        os.write(2, b"reduced: interrupted\n")
        os._exit(INTERRUPTED)

    previous = signal.signal(signal.SIGINT, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)

"""The command line: parse, call one public function, print.

Only this module, which imports next to nothing, is imported before :func:`main` runs, so that Ctrl-C ends quietly
while the rest is imported.
"""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["main"]

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Arguments: arguments, the words after the program's name (default: those of this process).
    Returns the exit code: 0 done or agrees, 1 disagrees, 2 bad input (one line on stderr), 3 budget
    exceeded, 130 interrupted.
    """
    try:
        # raised inside an import, an interruption may come out as another error
        previous = signal.signal(signal.SIGINT, _leave_at_once)
    except ValueError:  # outside the main thread, which alone hears signals
        previous = None
    try:
        from reduced.cli.app import run
    finally:
        if previous is not None:
            signal.signal(signal.SIGINT, previous)
    return run(arguments)


def _leave_at_once(*_: Any) -> None:
    os.write(2, b"reduced: interrupted\n")
    os._exit(INTERRUPTED)

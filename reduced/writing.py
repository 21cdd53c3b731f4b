"""Files on their way out: each appears whole under its name, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reduced.errors import InputError


@contextmanager
def written_whole(target: Path, argument: str = "path") -> Iterator[Path]:
    """Hand out a temporary name beside a file and move it there at the end, or remove it if that fails.

    Arguments: target; argument, the name by which errors call it. Raises InputError when the file cannot be
    written.
    """
    temporary = target.with_name(f".{target.stem}.{os.getpid()}{target.suffix}")
    try:
        yield temporary
        temporary.replace(target)
    except OSError as why:
        raise cannot_write(target, argument, why) from None
    finally:
        temporary.unlink(missing_ok=True)


def in_new_folder(target: Path, argument: str = "path") -> Path:
    """Return a file's path after making its folder where that is missing. Raises InputError."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as why:
        raise cannot_write(target, argument, why) from None
    return target


def cannot_write(target: Path, argument: str, why: OSError) -> InputError:
    """Return the error for a file that cannot be written."""
    reason = why.strerror or type(why).__name__
    return InputError(argument, str(target), f"a file that can be written ({reason})")

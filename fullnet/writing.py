"""Files on their way out: each appears whole under its name, or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from fullnet.errors import FileError


@contextmanager
def written_whole(path: str | Path, argument: str = "out") -> Iterator[BinaryIO]:
    """Hand out a stream to a file of another name, moved to path when the block ends well, removed if not.

    Arguments: path; argument, the name by which errors call the file. Raises InputError where the file cannot
    be written.
    """
    # two processes may write to one path: each writes a file of its own, and the last one moved stays
    part = Path(f"{path}.{os.getpid()}.part")
    try:
        with part.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
    except OSError as why:
        raise _cannot_write(path, argument, why.strerror) from None
    finally:
        part.unlink(missing_ok=True)


def require_writable(path: str | Path, argument: str = "out") -> None:
    """Raise InputError now where writing the file would fail later for want of a folder or of permission.

    Arguments: path; argument, the name by which the error calls the file.
    """
    place = Path(path)
    if place.is_dir():
        raise FileError(argument, path, "expected a file that can be written, got a directory")
    if not place.parent.is_dir():
        raise _cannot_write(path, argument, os.strerror(errno.ENOENT))
    if not os.access(place.parent, os.W_OK):
        raise _cannot_write(path, argument, os.strerror(errno.EACCES))


def _cannot_write(path: str | Path, argument: str, why: str | None) -> FileError:
    return FileError(argument, path, f"expected a file that can be written, got {why or 'an error'}")

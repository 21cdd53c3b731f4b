"""Files from outside: arrays and tables read whole, or one sentence with the file and what in it is wrong."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np

from fullnet.errors import ContentError, FileError, InputError

_NAMED = 8

# What NumPy and zipfile raise, between them, for archives that are cut, damaged or of another kind.
_DAMAGED = (
    ValueError,
    EOFError,
    BadZipFile,
    zlib.error,
    NotImplementedError,
    RuntimeError,
    KeyError,
    struct.error,
)


@contextmanager
def inside(path: str | Path, argument: str) -> Iterator[None]:
    """Say of whatever the block finds wrong in a file, or in reading it, which file and whose it was.

    Raises FileError for an InputError, an OSError or a MemoryError of the block.
    """
    try:
        yield
    except FileError:
        raise
    except InputError as why:
        raise FileError(argument, path, str(why)) from None
    except ValueError as why:
        raise FileError(argument, repr(path), f"expected a usable path, got one with {why}") from None
    except FileNotFoundError:
        raise FileError(argument, path, "expected an existing file, got none") from None
    except IsADirectoryError:
        raise FileError(argument, path, "expected a file, got a directory") from None
    except OSError as why:
        got = why.strerror or type(why).__name__
        raise FileError(argument, path, f"expected a readable file, got {got}") from None
    except MemoryError:
        raise FileError(argument, path, "expected arrays that fit into memory, got larger ones") from None


def read_arrays(path: str | Path, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Any]:
    """Read arrays of an .npz archive by name; others in it are left unread, and pickled ones refused.

    Raises InputError, OSError or MemoryError, which :func:`inside` puts into one sentence.
    """
    with Path(path).open("rb") as stream:
        try:
            archive = np.load(stream, allow_pickle=False)
        except _DAMAGED:
            archive = None
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise ContentError(_kind(archive), "a whole .npz archive")
        missing = [name for name in required if name not in archive.files]
        if missing:
            raise ContentError(
                listed(archive.files) or "an empty archive", f"an array {missing[0]!r} in the archive"
            )
        wanted = [*required, *(name for name in optional if name in archive.files)]
        return {name: _array(archive, name) for name in wanted}


def require_format(path: str | Path, wanted: str, what: str) -> None:
    """Raise InputError for an archive whose array ``format`` says another word than the one wanted."""
    found = read_arrays(path, (), ("format",))
    if found and str(found["format"]) != wanted:
        raise ContentError(f"format {found['format']}", f"{what} of format {wanted}")


def listed(names: Iterable[str]) -> str:
    """Return names in order, the first few of many."""
    names = sorted(names)
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")


def _kind(loaded: Any) -> str:
    return "something else, or a part of one" if loaded is None else "a single array"


def _array(archive: Any, name: str) -> Any:
    try:
        return archive[name]
    except _DAMAGED as why:
        got = "pickled objects" if "allow_pickle" in str(why) else "a damaged one"
        raise InputError(name, got, "an array of plain numbers") from None


def unread_arrays(path: str | Path, known: Sequence[str]) -> list[str]:
    """Return the names of the arrays of an .npz archive that nobody asks for; none where it cannot be read."""
    try:
        with ZipFile(path) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist()]
    except (OSError, ValueError, BadZipFile):  # whoever reads the arrays says what is wrong
        return []
    return sorted(set(names) - set(known))

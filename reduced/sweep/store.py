"""The file of a sweep: one SQLite database, written row by row, shared by any number of sweeps at once.

A sweep claims points before it computes them, and a claim counts while the sweep that made it is alive: its
process exists, and has said so within :data:`STALE_SECONDS`. Finished rows are never changed.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from reduced.errors import InputError
from reduced.sweep.points import Point, Row, canonical

STALE_SECONDS = 60.0
_BUSY_SECONDS = 60.0
_MARK = 0x52445357  # "RDSW": tells a sweep's file from any other database
_FORMAT = 1
_SCHEMA = """
CREATE TABLE rows (
    config TEXT PRIMARY KEY,    -- the resolved configuration, canonical JSON
    compute TEXT NOT NULL,
    seed INTEGER,               -- null without a network
    digits INTEGER NOT NULL,
    result TEXT NOT NULL,       -- JSON: decimal strings, counts, words
    error TEXT,                 -- null unless the point failed
    versions TEXT NOT NULL,     -- JSON: versions of the packages that computed it
    seconds REAL NOT NULL,
    finished TEXT NOT NULL      -- UTC
);
CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    beat REAL NOT NULL          -- seconds since 1970 when the sweep was last heard of
);
CREATE TABLE claims (config TEXT PRIMARY KEY, run INTEGER NOT NULL);
"""


class Store:
    """One sweep's access to the file. Use as a context manager; leaving it gives its claims back."""

    def __init__(self, path: str | Path) -> None:
        """Open the file, or make it. Raises InputError when it is something else or cannot be written."""
        self.path = Path(path)
        self._db = _connect(self.path, create=True)
        host = (socket.gethostname(), os.getpid(), time.time())
        with self._transaction():
            self._run = self._db.execute(
                "INSERT INTO runs (host, pid, beat) VALUES (?, ?, ?)", host
            ).lastrowid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._transaction():
            self._db.execute("DELETE FROM claims WHERE run = ?", (self._run,))
            self._db.execute("DELETE FROM runs WHERE id = ?", (self._run,))
        self._db.close()

    def finished(self) -> dict[str, bool]:
        """Return the keys of all finished rows, each with whether it failed."""
        return {
            key: bool(failed)
            for key, failed in self._db.execute("SELECT config, error IS NOT NULL FROM rows")
        }

    def failed(self, point: Point) -> bool | None:
        """Tell whether a point's row is an error; None while there is no row."""
        found = self._db.execute(
            "SELECT error IS NOT NULL FROM rows WHERE config = ?", (point.key,)
        ).fetchone()
        return None if found is None else bool(found[0])

    def forget(self, points: Iterable[Point]) -> None:
        """Remove the rows of points that failed, so that they are computed again."""
        with self._transaction():
            self._db.executemany(
                "DELETE FROM rows WHERE config = ? AND error IS NOT NULL", [(point.key,) for point in points]
            )

    def claim(self, point: Point) -> bool:
        """Claim a point; False when it has a row or another sweep is at it."""
        with self._transaction():
            if self.failed(point) is not None:
                return False
            self._db.execute("INSERT OR IGNORE INTO claims VALUES (?, ?)", (point.key, self._run))
            owner = self._db.execute("SELECT run FROM claims WHERE config = ?", (point.key,)).fetchone()[0]
        return bool(owner == self._run)

    def finish(self, row: Row) -> None:
        """Write a row and end its claim; a row that is already there stays."""
        config = row.config
        with self._transaction():
            self._db.execute(
                "INSERT OR IGNORE INTO rows VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    row.key,
                    config["compute"],
                    config.get("seed"),
                    config["digits"],
                    canonical(row.result),
                    row.error,
                    canonical(row.versions),
                    row.seconds,
                    datetime.now(UTC).isoformat(timespec="milliseconds"),
                ),
            )
            self._db.execute("DELETE FROM claims WHERE config = ?", (row.key,))

    def beat(self) -> None:
        """Say that this sweep is alive, and drop the claims of those that are not."""
        with self._transaction():
            self._db.execute(
                "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?)",
                (self._run, socket.gethostname(), os.getpid(), time.time()),
            )
            for run, host, pid, beat in self._db.execute("SELECT * FROM runs").fetchall():
                if run != self._run and not _alive(host, pid, beat):
                    self._db.execute("DELETE FROM claims WHERE run = ?", (run,))
                    self._db.execute("DELETE FROM runs WHERE id = ?", (run,))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")


def read_rows(path: str | Path) -> list[Row]:
    """Return the finished rows of a sweep's file, sorted by configuration (also while a sweep is writing).

    Arguments: path of the SQLite file. Raises InputError when the file is no sweep's.
    """
    import json

    db = _connect(Path(path), create=False)
    try:
        found = db.execute(
            "SELECT config, result, error, versions, seconds FROM rows ORDER BY config"
        ).fetchall()
    finally:
        db.close()
    return [
        Row(key, json.loads(result), error, json.loads(versions), seconds)
        for key, result, error, versions, seconds in found
    ]


def _alive(host: str, pid: int, beat: float) -> bool:
    """Tell whether a sweep lives: it has been heard of lately and, on this machine, its process exists."""
    if time.time() - beat > STALE_SECONDS:
        return False
    return host != socket.gethostname() or _exists(pid)


def _exists(pid: int) -> bool:
    if os.name != "posix":
        return True  # elsewhere signal 0 is not a question
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _connect(path: Path, *, create: bool) -> sqlite3.Connection:
    name = f"{'out' if create else 'file'}: {path}"
    if not create and not path.is_file():
        raise InputError(name, "none", "the file of a sweep")
    try:
        db = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    except sqlite3.Error as why:
        raise InputError(name, why, "a file that can be opened") from None
    try:
        _prepare(db, create)
    except sqlite3.Error as why:
        db.close()
        raise InputError(name, why, "the file of a sweep, or a new one") from None
    if db.execute("PRAGMA application_id").fetchone()[0] != _MARK:
        db.close()
        raise InputError(name, "another file", "the file of a sweep, or a new one")
    return db


def _prepare(db: sqlite3.Connection, create: bool) -> None:
    """Set the connection up; make the tables in an empty file."""
    if create:
        _write_ahead(db)
    db.execute("PRAGMA synchronous = NORMAL")
    if not create:
        return
    db.execute("BEGIN IMMEDIATE")
    mark = db.execute("PRAGMA application_id").fetchone()[0]
    if mark == 0 and not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        for statement in _SCHEMA.split(";\n"):
            db.execute(statement)
        db.execute(f"PRAGMA application_id = {_MARK}")
        db.execute(f"PRAGMA user_version = {_FORMAT}")
    db.execute("COMMIT")


def _write_ahead(db: sqlite3.Connection) -> None:
    """Switch a sweep's or an empty file to write-ahead logging (two that do it at once must not fail)."""
    mark = db.execute("PRAGMA application_id").fetchone()[0]
    if mark != _MARK and db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        return
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as why:
            if why.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.05)

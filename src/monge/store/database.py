"""SQLite as the store uses it: what its errors mean, how a file is opened by many at once, when it is set aside."""

from __future__ import annotations

import random
import shutil
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

FILE = "monge-cache.sqlite"
LAYOUT = 0  # the file's PRAGMA user_version: another one is another version's file
LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
    key BLOB PRIMARY KEY, kind TEXT NOT NULL, sum BLOB NOT NULL, used INTEGER NOT NULL, value BLOB NOT NULL
)
"""
_COLUMNS = {"key", "kind", "sum", "used", "value"}
_FULL = "the disk is full"
_REASONS = {
    sqlite3.SQLITE_READONLY: "it cannot be written (read-only)",
    sqlite3.SQLITE_PERM: "it cannot be written (no permission)",
    sqlite3.SQLITE_CANTOPEN: "it cannot be written (no permission, or read-only)",
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_ERROR: f"its {FILE} was written by another version of monge and is left as it is",
}


class AnotherLayout(sqlite3.OperationalError):
    """The file was laid out by another version."""

    sqlite_errorcode = sqlite3.SQLITE_ERROR


def reason(error: sqlite3.DatabaseError, directory: Path) -> str:
    """Why nothing can be written, in words."""
    with suppress(OSError):  # a directory that is gone is not full
        if shutil.disk_usage(directory).free < 1 << 16:
            return _FULL
    return _REASONS.get(code(error), f"it fails ({error})")


def code(error: sqlite3.DatabaseError) -> int:
    """SQLite's primary result code."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def connected(path: Path, wait: float) -> sqlite3.Connection:
    """A connection that can write, with the table made where it is not there yet.

    Turning a new file to a write-ahead log answers "locked" at once where another process does the same: try again.
    """
    db = sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)
    deadline = time.monotonic() + wait
    while True:
        try:
            _check_layout(db)
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=NORMAL")
            db.execute(_SCHEMA)
        except sqlite3.DatabaseError as error:
            if code(error) not in LOCKED or time.monotonic() >= deadline:
                db.close()
                raise
            time.sleep(random.uniform(0.002, 0.02))  # noqa: S311
        else:
            return db


def reader(path: Path) -> sqlite3.Connection | None:
    """A connection that only reads, where none can write; without a log beside it the file is read as it lies."""
    log = path.with_name(path.name + "-wal")
    whole = not log.exists() or log.stat().st_size == 0
    for mode in ("mode=ro", "mode=ro&immutable=1") if whole else ("mode=ro",):
        db = None
        try:
            where = f"file:{quote(str(path.resolve()))}?{mode}"
            db = sqlite3.connect(where, uri=True, isolation_level=None, check_same_thread=False)
            _check_layout(db)
            db.execute("SELECT key FROM entries LIMIT 0")
        except sqlite3.DatabaseError:  # this way of reading is not there: what the store holds is as good as absent
            if db is not None:
                db.close()
        else:
            return db
    return None


def _check_layout(db: sqlite3.Connection) -> None:
    columns = {name for _, name, *_ in db.execute("PRAGMA table_info(entries)")}
    if db.execute("PRAGMA user_version").fetchone() != (LAYOUT,) or columns not in (set(), _COLUMNS):
        raise AnotherLayout


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All or nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # some errors roll back by themselves
            with suppress(sqlite3.Error):  # the error under way says more
                db.execute("ROLLBACK")
        raise


def aside(path: Path) -> Path:
    """Where a damaged file goes."""
    return path.with_suffix(".damaged")


def set_aside(path: Path) -> bool:
    """Rename a damaged file, unless another process has done so and begun anew; whether it was renamed."""
    with _locked_directory(path.parent):
        if not _is_damaged(path):
            return False
        path.replace(aside(path))
        unlink(path)
    return True


def _is_damaged(path: Path) -> bool:
    db = sqlite3.connect(path, isolation_level=None)
    try:
        return bool(db.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",))
    except sqlite3.DatabaseError as error:
        return code(error) in DAMAGED
    finally:
        db.close()


@contextmanager
def _locked_directory(directory: Path) -> Iterator[None]:
    """One process at a time (where the system has such locks)."""
    if sys.platform == "win32":
        yield
        return
    import fcntl
    import os

    handle = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def unlink(path: Path) -> None:
    """Remove a file and what SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)

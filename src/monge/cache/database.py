"""Open SQLite files that processes share, explain errors, replace damaged files."""

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
    key BLOB PRIMARY KEY, kind TEXT NOT NULL, sum BLOB NOT NULL, used INTEGER NOT NULL, value BLOB
    NOT NULL
)
"""
_COLUMNS = {"key", "kind", "sum", "used", "value"}
_FULL = "the disk is full"
_REASONS = {
    sqlite3.SQLITE_READONLY: "it cannot be written (read-only)",
    sqlite3.SQLITE_PERM: "it cannot be written (no permission)",
    sqlite3.SQLITE_CANTOPEN: "it cannot be written (no permission, or read-only)",
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_ERROR: f"its {FILE} was written by another version of monge and is left as it "
    "is",
}


class AnotherLayout(sqlite3.OperationalError):
    """The file has the table layout of another version."""

    sqlite_errorcode = sqlite3.SQLITE_ERROR


def describe_error(error: sqlite3.DatabaseError, directory: Path) -> str:
    """Return a phrase that says why nothing can be written."""
    with suppress(OSError):  # a directory that is gone is not full
        if shutil.disk_usage(directory).free < 1 << 16:
            return _FULL
    return _REASONS.get(result_code(error), f"it fails ({error})")


def result_code(error: sqlite3.DatabaseError) -> int:
    """Return SQLite's primary result code."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def connect(path: Path, wait: float) -> sqlite3.Connection:
    """Open a connection that can write, and create the table where it does not exist yet.

    Switching a new file to a write-ahead log fails with "locked" while another process does the
    same, so retry.
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
            if result_code(error) not in LOCKED or time.monotonic() >= deadline:
                db.close()
                raise
            time.sleep(random.uniform(0.002, 0.02))  # noqa: S311
        else:
            return db


def connect_read_only(path: Path) -> sqlite3.Connection | None:
    """Open a file that cannot be written; None where it cannot be read either."""
    log = path.with_name(path.name + "-wal")
    without_log = not log.exists() or log.stat().st_size == 0
    for mode in ("mode=ro", "mode=ro&immutable=1") if without_log else ("mode=ro",):
        db = None
        try:
            uri = f"file:{quote(str(path.resolve()))}?{mode}"
            db = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
            _check_layout(db)
            db.execute("SELECT key FROM entries LIMIT 0")
        except (
            sqlite3.DatabaseError
        ):  # the file cannot be read this way; if no way works, its entries count as absent
            if db is not None:
                db.close()
        else:
            return db
    return None


def _check_layout(db: sqlite3.Connection) -> None:
    columns = {name for _, name, *_ in db.execute("PRAGMA table_info(entries)")}
    if db.execute("PRAGMA user_version").fetchone() != (LAYOUT,) or columns not in (
        set(),
        _COLUMNS,
    ):
        raise AnotherLayout


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Run a block as one transaction: commit it, or roll it back on an error."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # some errors roll back by themselves
            with suppress(sqlite3.Error):  # the error under way says more
                db.execute("ROLLBACK")
        raise


def damaged_path(path: Path) -> Path:
    """Return the path that a damaged file is renamed to."""
    return path.with_suffix(".damaged")


def set_aside(path: Path) -> bool:
    """Rename a damaged file unless another process has done so; return whether renamed."""
    with _locked_directory(path.parent):
        if not _is_damaged(path):
            return False
        path.replace(damaged_path(path))
        remove_files(path)
    return True


def _is_damaged(path: Path) -> bool:
    db = sqlite3.connect(path, isolation_level=None)
    try:
        return bool(db.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",))
    except sqlite3.DatabaseError as error:
        return result_code(error) in DAMAGED
    finally:
        db.close()


@contextmanager
def _locked_directory(directory: Path) -> Iterator[None]:
    """Hold an exclusive lock on a directory (where the system has such locks)."""
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


def remove_files(path: Path) -> None:
    """Remove a file and what SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)

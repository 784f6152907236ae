"""Vectors, scores and run journals on disk: checksummed, bounded, shared by processes.

One SQLite file in a directory. An entry is a key (16 bytes of a hash of everything the value
depends on: full digests and an epoch), bytes, and a checksum of both; an entry with a wrong
checksum counts as absent.

A store never stops a run: entries that cannot be read count as absent, entries that cannot be
written are not kept, and one sentence (in `Store.troubles` and as a `NotKept` warning) says so.
States of the file:

    read-only, full disk     read as far as it can be; nothing more is kept
    locked by another        entries wait in memory;
                             they are written as soon as the lock is gone, at the latest on
                             closing, which waits `patience` seconds for it
    another version's        left as it is, neither read nor written
    damaged                  set aside as `monge-cache.damaged` and begun anew, if SQLite calls it
                             malformed
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from threading import RLock
from typing import Any, Self

from monge.cache import database
from monge.cache.database import FILE
from monge.errors import NotKept, UsageError

LIMIT = 8 * 2**30
"""The bytes that a cache may take, unless MONGE_CACHE_LIMIT says otherwise."""
LIMIT_VARIABLE = "MONGE_CACHE_LIMIT"
_SIZE = re.compile(r"(\d+(?:\.\d+)?) *([KMGT]?)i?B?", re.IGNORECASE)
PATIENCE = 60.0  # seconds that closing waits for another process' lock
VECTORS = "vectors"
_WAIT = 5.0  # seconds that reading or writing waits for a lock, once
_WAITING_BYTES = 64 * 2**20  # of entries that wait for a lock
_SHARE = (
    4  # a run writes vectors up to the limit / _SHARE: of more, none would last until the next run
)
_CHUNK = 500
_INSERT = "INSERT OR REPLACE INTO entries (key, kind, sum, used, value) VALUES (?, ?, ?, ?, ?)"
_COUNT = (
    "SELECT kind, COUNT(*), SUM(LENGTH(value)) FROM entries WHERE kind != 'probe' GROUP BY kind"
)
_BUSY = "another process keeps it locked"
_Row = tuple[bytes, str, bytes, int, bytes]


@dataclass(frozen=True)
class Info:
    """The contents of a store: entries and bytes per kind, and the bytes that it may take."""

    path: Path
    entries: Mapping[str, int]
    size: Mapping[str, int]
    limit: int


def cache_limit() -> int:
    """Return the bytes that a cache may take: those of MONGE_CACHE_LIMIT, such as 500MB or 2G."""
    text = os.environ.get(LIMIT_VARIABLE, "").strip()
    if not text:
        return LIMIT
    match = _SIZE.fullmatch(text)
    if match is None or float(match[1]) <= 0:
        raise UsageError(f"{LIMIT_VARIABLE} takes a size such as 500MB or 2GB, got {text!r}")
    power = " KMGT".index(match[2].upper() or " ")
    return int(float(match[1]) * 1024**power)


def key_of(*parts: object) -> bytes:
    """Return the key of a value that depends on these parts."""
    hasher = blake2b(digest_size=16)
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
        hasher.update(len(data).to_bytes(8, "little") + data)
    return hasher.digest()


@contextmanager
def opened(cache: Store | str | Path | None) -> Iterator[Store | None]:
    """Yield the given store, or open and close that of a directory; None stays None."""
    if cache is None or isinstance(cache, Store):
        yield cache
    else:
        with Store(cache) as store:
            yield store


class Store:
    """Values by key in a directory; a context manager, closed by whoever opened it.

    `vectors` says whether encoder outputs are kept too: they are large, and the journal of a run
    does not need them. `troubles` are the sentences about entries that are not kept.
    """

    def __init__(
        self,
        directory: str | Path,
        *,
        limit: int | None = None,
        vectors: bool = True,
        patience: float = PATIENCE,
    ) -> None:
        self.path = Path(directory) / FILE
        self._limit = cache_limit() if limit is None else limit
        self.vectors = vectors
        self._patience = patience
        self.troubles: list[str] = []
        self._db: sqlite3.Connection | None = None
        self._refused = self._reported = (
            ""  # why nothing can be written, and the last reason that was reported
        )
        self._wait = min(_WAIT, patience)  # 0 after a lock that was waited for in vain
        self._waiting: dict[bytes, _Row] = {}
        self._dropped = 0  # entries that waited in vain
        self._vector_bytes = 0  # written by this run
        self._was_undamaged = False  # whether a file that seemed damaged turned out to be intact
        self._lock = RLock()
        try:
            Path(directory).mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise UsageError(
                f"cache {directory}: cannot be made a directory ({error.strerror})"
            ) from None
        except OSError as error:
            self._refused = f"it cannot be made ({error.strerror})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the stored values of those keys that have an undamaged entry."""
        with self._lock:
            values = {key: self._waiting[key][-1] for key in keys if key in self._waiting}
            for start in range(0, len(keys), _CHUNK):
                chunk = keys[start : start + _CHUNK]
                marks = ",".join("?" * len(chunk))
                query = f"SELECT key, value, sum FROM entries WHERE key IN ({marks})"  # noqa: S608
                rows = self._read(query, chunk)
                values.update(
                    {key: value for key, value, check in rows if check == _checksum(key, value)}
                )
        return values

    def put(self, kind: str, values: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep values; a full store drops vectors before scores, the oldest first."""
        if kind == VECTORS and self._vector_bytes > self._limit // _SHARE:
            return
        rows = [_row(kind, key, value) for key, value in values]
        if not rows:
            return
        with self._lock:
            self._vector_bytes += sum(len(row[-1]) for row in rows) if kind == VECTORS else 0
            self._waiting.update((row[0], row) for row in rows)
            self._write(self._wait)
            if self._refused != self._reported:
                self._warn(f"{self._refused}: nothing more is kept")
            elif sum(len(row[-1]) for row in self._waiting.values()) > _WAITING_BYTES:
                self._drop_waiting()

    def refusal(self) -> str:
        """Write a test entry; return why nothing can be kept ('' if it can), without warning."""
        with self._lock:
            probe = _row("probe", key_of("probe"), b"")
            self._waiting[probe[0]] = probe
            self._write(self._wait)
            locked = self._waiting.pop(probe[0], None) is not None
            self._reported = self._refused
            return self._refused or (_BUSY if locked else "")

    def info(self) -> Info:
        """Return the number of entries and bytes per kind; raises where they cannot be read."""
        if not self.path.exists():
            return Info(self.path, {}, {}, self._limit)
        with self._lock:
            rows = self._read(_COUNT)
            if self._db is None and self.path.exists():  # it may just have been set aside
                raise UsageError(f"cache {self.path.parent}: {self._refused or _BUSY}")
        return Info(
            self.path,
            {kind: count for kind, count, _ in rows},
            {kind: size for kind, _, size in rows},
            self._limit,
        )

    def clear(self) -> None:
        """Delete all entries."""
        with self._lock:
            self._waiting.clear()
            self._disconnect()
            try:
                database.remove_files(self.path)
            except OSError as error:
                raise UsageError(
                    f"cache {self.path.parent}: cannot be emptied ({error.strerror})"
                ) from None

    def close(self) -> None:
        """Write the entries that wait for a lock, and close the file."""
        with self._lock:
            if self._waiting:
                self._write(self._patience)
            self._drop_waiting()
            if self._dropped:
                self._warn(f"{_BUSY}: {self._dropped} new entries are not kept")
            self._disconnect()

    def _read(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        try:
            db = self._open(self._wait)
            return [] if db is None else db.execute(query, tuple(values)).fetchall()
        except sqlite3.DatabaseError as error:
            self._handle_error(error)
            return []

    def _write(self, wait: float) -> None:
        """Write waiting entries in one transaction; they wait on while the file is locked."""
        try:
            db = self._open(wait)
            if db is None or self._refused:
                self._waiting.clear()
                return
            with database.transaction(db):
                db.executemany(_INSERT, list(self._waiting.values()))
                self._evict(db)
        except sqlite3.DatabaseError as error:
            self._handle_error(error)
        else:
            self._waiting.clear()
            self._wait = min(_WAIT, self._patience)

    def _open(self, wait: float) -> sqlite3.Connection | None:
        """Return a connection that writes if possible, else only reads; None if neither."""
        if self._db is None and not self._refused:
            try:
                self._db = database.connect(self.path, wait)
            except sqlite3.DatabaseError as error:
                if database.result_code(error) in (*database.LOCKED, *database.DAMAGED):
                    raise
                self._handle_error(error)
                if not isinstance(error, database.AnotherLayout):
                    self._db = database.connect_read_only(self.path)
        if self._db is not None:
            self._db.execute(f"PRAGMA busy_timeout={round(1000 * wait)}")
        return self._db

    def _handle_error(self, error: sqlite3.DatabaseError) -> None:
        """React to an error: stop waiting for the lock, replace a damaged file, or stop writing."""
        if database.result_code(error) in database.LOCKED:
            self._wait = 0.0
        elif database.result_code(error) in database.DAMAGED and not self._refused:
            self._replace_damaged()
        else:
            self._waiting.clear()
            self._refused = self._refused or database.describe_error(error, self.path.parent)

    def _replace_damaged(self) -> None:
        """Set a damaged file aside once; open an intact one, replaced meanwhile, again."""
        self._disconnect()
        try:
            anew = database.set_aside(self.path)
        except OSError as error:
            self._refused = f"its {FILE} is damaged and cannot be set aside ({error.strerror})"
            return
        if anew:
            self._warn(
                f"its {FILE} was damaged: it is set aside as "
                f"{database.damaged_path(self.path).name} and begun anew"
            )
        elif self._was_undamaged:
            self._refused = f"its {FILE} is damaged"
        self._was_undamaged = True

    def _drop_waiting(self) -> None:
        """Drop the entries that wait for a lock; `close` reports how many."""
        self._dropped += len(self._waiting)
        self._waiting.clear()

    def _warn(self, sentence: str) -> None:
        message = f"cache {self.path.parent}: {sentence}"
        if message not in self.troubles:
            self.troubles.append(message)
            warnings.warn(message, NotKept, stacklevel=3)

    def _disconnect(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def _evict(self, db: sqlite3.Connection) -> None:
        (size,) = db.execute(
            "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        ).fetchone()
        (free,) = db.execute(
            "SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size"
        ).fetchone()
        if size - free <= self._limit:
            return
        (number,) = db.execute("SELECT COUNT(*) FROM entries").fetchone()
        share = max(number // 5, 1)
        oldest = "SELECT key FROM entries ORDER BY kind != ?, used LIMIT ?"
        db.execute(f"DELETE FROM entries WHERE key IN ({oldest})", (VECTORS, share))  # noqa: S608


def _row(kind: str, key: bytes, value: bytes) -> _Row:
    return key, kind, _checksum(key, value), time.time_ns(), value


def _checksum(key: bytes, value: bytes) -> bytes:
    return blake2b(value, key=key, digest_size=8).digest()

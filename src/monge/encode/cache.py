"""A store on disk of what took long to compute: checksummed, bounded, safe for several processes. No pickle.

One SQLite file a directory, in WAL mode. An entry is a key (16 bytes of a hash of everything the value
depends on), bytes, and a checksum of both; an entry whose checksum does not fit is as good as absent.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from monge.errors import UsageError

FILE = "monge-cache.sqlite"
LIMIT = 8 * 2**30  # bytes of values
VECTORS = "vectors"
_SHARE = 4  # a run writes vectors up to the limit / _SHARE: of more, none would last until the next run
_CHUNK = 500
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
    key BLOB PRIMARY KEY, kind TEXT NOT NULL, sum BLOB NOT NULL, used INTEGER NOT NULL, value BLOB NOT NULL
);
"""
_INSERT = "INSERT OR REPLACE INTO entries (key, kind, sum, used, value) VALUES (?, ?, ?, ?, ?)"


def key_of(*parts: object) -> bytes:
    """The key of a value that depends on these parts."""
    hasher = blake2b(digest_size=16)
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
        hasher.update(len(data).to_bytes(8, "little") + data)
    return hasher.digest()


def _sum(key: bytes, value: bytes) -> bytes:
    return blake2b(value, key=key, digest_size=8).digest()


@dataclass(frozen=True)
class Info:
    """What a store holds: entries and bytes of each kind."""

    path: Path
    entries: Mapping[str, int]
    size: Mapping[str, int]


class Store:
    """Values by key in a directory; a store that cannot be written is read, and otherwise does nothing.

    `vectors` says whether encoder outputs are kept too: they are large, and the journal of a run does without.
    """

    def __init__(self, directory: str | Path, *, limit: int = LIMIT, vectors: bool = True) -> None:
        self.path, self._limit, self.vectors = Path(directory) / FILE, limit, vectors
        self.hits = self.misses = self._written = 0
        self._db: sqlite3.Connection | None = None
        self._writable = True
        try:
            Path(directory).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cache {directory}: cannot be made a directory ({error.strerror})") from None

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values of the keys that are there and whole."""
        found: dict[bytes, bytes] = {}
        for start in range(0, len(keys), _CHUNK):
            chunk = keys[start : start + _CHUNK]
            marks = ",".join("?" * len(chunk))
            rows = self._read(f"SELECT key, value, sum FROM entries WHERE key IN ({marks})", chunk)  # noqa: S608
            found.update({key: value for key, value, check in rows if check == _sum(key, value)})
        self.hits += len(found)
        self.misses += len(keys) - len(found)
        return found

    def put(self, kind: str, values: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep values; when the store is full, vectors go before scores, the least recently written first."""
        if kind == VECTORS and self._written > self._limit // _SHARE:
            return
        now = time.time_ns()
        rows = [(key, kind, _sum(key, value), now, value) for key, value in values]
        self._written += sum(len(row[-1]) for row in rows) if kind == VECTORS else 0
        with self._writing() as db:
            if db is not None:
                db.executemany(_INSERT, rows)
                self._shrink(db)

    def info(self) -> Info:
        """Entries and bytes by kind."""
        rows = self._read("SELECT kind, COUNT(*), SUM(LENGTH(value)) FROM entries GROUP BY kind", ())
        counted = [(str(kind), int(count), int(size)) for kind, count, size in rows]
        return Info(self.path, {k: n for k, n, _ in counted}, {k: s for k, _, s in counted})

    def clear(self) -> None:
        """Drop everything."""
        self.close()
        for suffix in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of the file."""
        if self._db is not None:
            self._db.close()
            self._db = None

    def _shrink(self, db: sqlite3.Connection) -> None:
        (size,) = db.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchone()
        (free,) = db.execute(
            "SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size"
        ).fetchone()
        if size - free <= self._limit:
            return
        (number,) = db.execute("SELECT COUNT(*) FROM entries").fetchone()
        share = max(number // 5, 1)
        oldest = "SELECT key FROM entries ORDER BY kind != ?, used LIMIT ?"
        db.execute(f"DELETE FROM entries WHERE key IN ({oldest})", (VECTORS, share))  # noqa: S608

    def _open(self) -> sqlite3.Connection | None:
        if self._db is None:
            try:
                self._db = self._connected()
            except sqlite3.DatabaseError:  # a damaged file is set aside and begun anew
                self._db = self._anew()
        return self._db

    def _connected(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=60, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=NORMAL")
            db.executescript(_SCHEMA)
        except sqlite3.OperationalError as error:
            if "readonly" not in str(error) and "locked" not in str(error):
                db.close()
                raise
            self._writable = "readonly" not in str(error)
        except sqlite3.DatabaseError:
            db.close()
            raise
        return db

    def _anew(self) -> sqlite3.Connection | None:
        try:
            self.path.replace(self.path.with_suffix(".damaged"))
            for suffix in ("-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
            return self._connected()
        except (OSError, sqlite3.Error):
            self._writable = False
            return None

    def _read(self, query: str, values: Sequence[object]) -> list[tuple[bytes, bytes, bytes]]:
        db = self._open()
        if db is None:
            return []
        try:
            return db.execute(query, tuple(values)).fetchall()
        except sqlite3.DatabaseError:
            self.close()
            self._db = self._anew() if self._writable else None
            return []

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection | None]:
        """A transaction, or None where the store cannot be written (read-only, full, damaged)."""
        db = self._open() if self._writable else None
        if db is None:
            yield None
            return
        try:
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.execute("COMMIT")
        except sqlite3.Error:
            self._writable = False
            if db.in_transaction:
                db.execute("ROLLBACK")

"""A word-vector file as arrays that words are looked up in.

    vectors   float32 [n, d]       starts   int64 [n + 1], where each word begins in `words`
    words     uint8, UTF-8         hashes   uint64 [n], sorted; order int64 [n], their words

Without a cache directory the arrays live in memory. With one they are written to `CACHE/vectors/…`,
once, and opened by memory map from then on. Their key is made of the size, both time stamps and the
first and last 64 kB of the source, so that a changed file is converted again. The time of the last
change of status cannot be set back by a program.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections import deque
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
import numpy.typing as npt

from monge.cache.arrays import load_arrays, write_arrays
from monge.encoders import digests
from monge.encoders.vectorfile import HEAD, Matrix, read_chunks, recognise
from monge.errors import ModelError, NotKept

VERSION = 2


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about a vector file."""

    dimension: int
    words: int
    digest: str


@dataclass(frozen=True, slots=True)
class Arrays:
    """The arrays of a file, in memory or mapped."""

    facts: Facts
    vectors: npt.NDArray[np.float32]
    words: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]
    hashes: npt.NDArray[np.uint64]
    order: npt.NDArray[np.int64]


_NAMES = tuple(field.name for field in fields(Arrays) if field.name != "facts")


def word_hash(word: bytes) -> int:
    """Return a 64-bit hash of a word."""
    return int.from_bytes(hashlib.blake2b(word, digest_size=8).digest(), "little")


def open_arrays(path: Path, cache: Path | None) -> Arrays:
    """Return the arrays of a vector file: memory-mapped from the cache, or converted (and cached if
    there is one).
    """
    try:
        key = _key(path)
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from error
    if cache is None:
        return _convert(path)
    directory = (
        cache / "vectors" / hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:16] / key
    )
    if (stored := _load_stored(directory)) is not None:
        return stored
    converted = _convert(path)
    try:
        write_arrays(
            directory, asdict(converted.facts), {name: getattr(converted, name) for name in _NAMES}
        )
    except OSError as error:
        message = f"cache {cache}: the vectors of {path} are not kept ({error.strerror or error})"
        warnings.warn(message, NotKept, stacklevel=2)
    return _load_stored(directory) or converted


def _key(path: Path) -> str:
    status = path.stat()
    hasher = hashlib.sha256(
        f"{VERSION} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} ".encode()
    )
    with path.open("rb") as stream:
        hasher.update(stream.read(HEAD))
        stream.seek(max(0, status.st_size - HEAD))
        hasher.update(stream.read(HEAD))
    return hasher.hexdigest()[:32]


def _load_stored(directory: Path) -> Arrays | None:
    """Load the arrays of a directory; None where they are missing or inconsistent."""
    contents = load_arrays(directory, _NAMES)
    if contents is None:
        return None
    try:
        stored = Arrays(Facts(**contents[0]), **contents[1])
    except TypeError:
        return None
    n = stored.facts.words
    rows = {len(stored.vectors), len(stored.hashes), len(stored.order), len(stored.starts) - 1}
    is_consistent = (
        rows == {n}
        and stored.vectors.shape[1] == stored.facts.dimension
        and stored.starts[-1] == len(stored.words)
    )
    return stored if is_consistent else None


def _convert(path: Path) -> Arrays:
    layout = recognise(path)
    names: list[bytes] = []
    parts: deque[Matrix] = deque()
    for words, rows in read_chunks(path, layout):
        good = [_is_word(word) for word in words]
        names += [word for word, keep in zip(words, good, strict=True) if keep]
        parts.append(rows if all(good) else rows[np.array(good)])
    if not names:
        raise ModelError(f"{path}: no word with a vector")
    hashes = np.array([word_hash(name) for name in names], dtype=np.uint64)
    order = np.argsort(hashes, kind="stable")
    facts = Facts(layout.dimension, len(names), digests.of_file(path))
    starts = np.cumsum([0, *map(len, names)], dtype=np.int64)
    letters = np.frombuffer(b"".join(names), dtype=np.uint8)
    return Arrays(facts, _concatenate(parts, len(names)), letters, starts, hashes[order], order)


def _concatenate(parts: deque[Matrix], rows: int) -> Matrix:
    """Copy all rows into one matrix; each part is released as soon as it is copied."""
    matrix = np.empty((rows, parts[0].shape[1]), dtype=np.float32)
    at = 0
    while parts:
        part = parts.popleft()
        matrix[at : at + len(part)] = part
        at += len(part)
    return matrix


def _is_word(name: bytes) -> bool:
    try:
        name.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return bool(name)

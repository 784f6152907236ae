"""A word-vector file converted once into arrays that open by memory map.

    <file>.monge/<key>/     or, where that cannot be written, <cache>/vectors/<hash of the path>/<key>/
        vectors.npy   float32 [n, d]       starts.npy   int64 [n + 1], where each word begins in words.npy
        words.npy     uint8, UTF-8         hashes.npy   uint64 [n], sorted; order.npy int64 [n], their words
        facts.json    layout, counts and the sha256 of the source

The key is made of the size, the time stamp and the first and last 64 kB of the source, so that a changed file is
converted again. The directory gets its name only when it is whole.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from monge.encode.vectorfile import HEAD, Layout, chunks, recognise
from monge.errors import ModelError

VERSION = 1


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known about a converted file. `skipped` words were empty or not UTF-8; `repeated` ones stand twice."""

    kind: str
    dimension: int
    words: int
    skipped: int
    repeated: int
    digest: str


@dataclass(frozen=True, slots=True)
class Arrays:
    """The memory-mapped arrays of a converted file."""

    facts: Facts
    vectors: npt.NDArray[np.float32]
    words: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]
    hashes: npt.NDArray[np.uint64]
    order: npt.NDArray[np.int64]


def word_hash(word: bytes) -> int:
    """64 bits of a word."""
    return int.from_bytes(hashlib.blake2b(word, digest_size=8).digest(), "little")


def arrays(path: Path, cache: Path | None) -> Arrays:
    """The arrays of a vector file, converted now if they are not there yet."""
    try:
        key = _key(path)
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from error
    homes = _homes(path, cache)
    for home in homes:
        found = _load(home / key)
        if found is not None:
            return found
    refusals = []
    for home in homes:
        try:
            home.mkdir(parents=True, exist_ok=True)
            building = home / f".building-{os.getpid()}-{secrets.token_hex(4)}"
            building.mkdir()
        except OSError as error:
            refusals.append(f"{home} ({error.strerror})")
            continue
        return _convert_into(path, home, key, building)
    raise ModelError(f"{path}: the converted vectors can be written nowhere: {', '.join(refusals)}; give a cache")


def _homes(path: Path, cache: Path | None) -> list[Path]:
    if cache is None:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "monge"
    name = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:16]
    return [path.with_name(path.name + ".monge"), cache / "vectors" / name]


def _key(path: Path) -> str:
    status = path.stat()
    seen = hashlib.sha256(f"{VERSION} {status.st_size} {status.st_mtime_ns} ".encode())
    with path.open("rb") as stream:
        seen.update(stream.read(HEAD))
        stream.seek(max(0, status.st_size - HEAD))
        seen.update(stream.read(HEAD))
    return seen.hexdigest()[:32]


def _load(directory: Path) -> Arrays | None:
    """The arrays of a directory; None where it is missing, damaged or of another version."""
    try:
        facts = Facts(**json.loads((directory / "facts.json").read_text(encoding="utf-8")))
        names = ("vectors", "words", "starts", "hashes", "order")
        mapped = {name: np.load(directory / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in names}
    except (OSError, ValueError, TypeError):
        return None
    rows = {name: len(mapped[name]) for name in ("vectors", "hashes", "order")}
    whole = set(rows.values()) == {facts.words} and mapped["vectors"].shape[1] == facts.dimension
    if not whole or len(mapped["starts"]) != facts.words + 1 or mapped["starts"][-1] != len(mapped["words"]):
        return None
    return Arrays(facts, **mapped)


def _convert_into(path: Path, home: Path, key: str, building: Path) -> Arrays:
    target = home / key
    try:
        _convert(path, recognise(path), building)
        if target.exists() and _load(target) is None:
            shutil.rmtree(target)
        if not target.exists():  # else another process was faster, and its arrays are the same
            building.rename(target)
        _tidy(home, key)
        found = _load(target)
    except OSError as error:
        raise ModelError(f"{path}: conversion into {home} failed: {error.strerror or error}") from error
    finally:
        shutil.rmtree(building, ignore_errors=True)
        with suppress(OSError):  # goes only where nothing is in it
            home.rmdir()
    if found is None:
        raise ModelError(f"{target}: converted vectors cannot be read back")
    return found


def _tidy(home: Path, key: str) -> None:
    """Remove the arrays of an older source, and what a conversion that was killed a day ago left."""
    for old in home.iterdir():
        left = old.name.startswith(".building-") and old.stat().st_mtime < time.time() - 86400
        if left or (old.name != key and not old.name.startswith(".")):
            shutil.rmtree(old, ignore_errors=True)


def _convert(path: Path, layout: Layout, directory: Path) -> None:
    kept: list[int] = []
    hashes: list[int] = []
    skipped = 0
    with (directory / "vectors.npy").open("wb") as vectors, (directory / "words.npy").open("wb") as words:
        _header(vectors, "<f4", (0, layout.dimension))
        _header(words, "|u1", (0,))
        for names, rows in chunks(path, layout):
            good = [_is_word(name) for name in names]
            chosen = [name for name, keep in zip(names, good, strict=True) if keep]
            skipped += len(names) - len(chosen)
            vectors.write(np.ascontiguousarray(rows[np.array(good)], dtype="<f4").data)
            words.write(b"".join(chosen))
            kept += map(len, chosen)
            hashes += map(word_hash, chosen)
        if not kept:
            raise ModelError(f"{path}: no word with a vector")
        _header(vectors, "<f4", (len(kept), layout.dimension))
        _header(words, "|u1", (sum(kept),))
    table = np.array(hashes, dtype=np.uint64)
    order = np.argsort(table, kind="stable")
    np.save(directory / "starts.npy", np.concatenate([[0], np.cumsum(kept)]).astype(np.int64))
    np.save(directory / "hashes.npy", table[order])
    np.save(directory / "order.npy", order.astype(np.int64))
    repeated = int((np.diff(table[order]) == 0).sum())
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    facts = Facts(layout.kind, layout.dimension, len(kept), skipped, repeated, digest)
    (directory / "facts.json").write_text(json.dumps(asdict(facts)), encoding="utf-8")


def _is_word(name: bytes) -> bool:
    try:
        name.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return bool(name)


def _header(stream: IO[bytes], kind: str, shape: tuple[int, ...]) -> None:
    """Write a .npy header at the start. numpy leaves room in it for the first axis to grow, so it keeps its length."""
    stream.seek(0)
    np.lib.format.write_array_header_1_0(stream, {"descr": kind, "fortran_order": False, "shape": shape})

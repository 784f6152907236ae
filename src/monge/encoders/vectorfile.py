"""Readers of published word-vector files, recognised from their content.

    word2vec binary      header "N D";
                         per word: bytes, a space, D little-endian float32, maybe a newline
    word2vec text, .vec  header "N D"; per line: word and D numbers
    GloVe text           no header; per line: word (which may hold spaces) and D numbers

Numbers are separated by single spaces. Words that are empty or not UTF-8 are skipped (Google News
has some); every other fault is a ModelError that names the file and the line, or the word. `.gz` is
read as it is.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

import numpy as np
import numpy.typing as npt

from monge.errors import ModelError

Matrix = npt.NDArray[np.float32]
Chunk = tuple[list[bytes], Matrix]  # words, vectors [n, d]

CHUNK = 1 << 22
HEAD = 1 << 16
_HEADER = re.compile(rb"[ \t]*(\d+)[ \t]+(\d+)[ \t]*\r?\n")


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a file: `words` is the count its header promises, None without a header."""

    kind: str
    dimension: int
    words: int | None
    offset: int


@contextmanager
def open_vectors(path: Path) -> Iterator[IO[bytes]]:
    """Open the bytes of a file, decompressed where it is gzip."""
    with path.open("rb") as stream:
        packed = stream.read(2) == b"\x1f\x8b"
    with cast("IO[bytes]", gzip.open(path)) if packed else path.open("rb") as stream:
        try:
            yield stream
        except EOFError as error:
            raise ModelError(f"{path}: truncated gzip file") from error
        except (gzip.BadGzipFile, zlib.error) as error:
            raise ModelError(f"{path}: damaged gzip file: {error}") from error


def recognise(path: Path) -> Layout:
    """Recognise the layout of a file from its first 64 kB."""
    with open_vectors(path) as stream:
        head = stream.read(HEAD)
    if not head:
        raise ModelError(f"{path}: empty file, not word vectors")
    header = _HEADER.match(head)
    if header is None:
        dimension = _guess_dimension(head, complete=len(head) < HEAD)
        if dimension is None:
            raise ModelError(
                f"{path}: not word vectors (known: word2vec binary and text, GloVe, fastText .vec)"
            )
        return Layout("glove", dimension, None, 0)
    words, dimension = int(header[1]), int(header[2])
    if not words or not dimension:
        raise ModelError(
            f"{path}: line 1: a header of {words} words in {dimension} dimensions holds nothing"
        )
    rest = head[header.end() :]
    kind = "text" if _guess_dimension(rest, complete=len(head) < HEAD) is not None else "binary"
    return Layout(kind, dimension, words, header.end())


def _guess_dimension(head: bytes, *, complete: bool) -> int | None:
    """Return how many numbers the first lines end with (the most common count); None where they are
    not text.
    """
    lines = [line for line in head.split(b"\n")[:11] if line.strip()]
    if len(lines) > 1 and not (complete and head.endswith(b"\n")):
        lines.pop()
    counts = Counter(_count_trailing_numbers(line) for line in lines[:10])
    usual = counts.most_common(1)[0][0] if counts else 0
    return usual or None


def _count_trailing_numbers(line: bytes) -> int:
    fields = line.rstrip(b" \r").split(b" ")[1:]
    return (
        len(fields)
        if fields and _is_number(fields[-1]) and _is_number(fields[len(fields) // 2])
        else 0
    )


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def read_chunks(path: Path, layout: Layout) -> Iterator[Chunk]:
    """Yield the words and vectors of a file, a few megabytes at a time."""
    with open_vectors(path) as stream:
        stream.seek(layout.offset)
        reader = _read_binary_chunks if layout.kind == "binary" else _read_text_chunks
        yield from reader(path, layout, stream)


def _read_text_chunks(path: Path, layout: Layout, stream: IO[bytes]) -> Iterator[Chunk]:
    line, total = (1, 0) if layout.offset else (0, 0)
    while lines := stream.readlines(CHUNK):
        try:
            words, vectors = _parse_lines(lines, layout.dimension)
        except ValueError:
            words, vectors = _parse_lines_one_by_one(path, layout, lines, line)
        _check_finite(vectors, f"{path}: line", line)
        line, total = line + len(lines), total + len(words)
        yield words, vectors
    if layout.words is not None and total != layout.words:
        fault = "truncated: " if total < layout.words else ""
        raise ModelError(
            f"{path}: {fault}the header promises {layout.words} words, the file holds {total}"
        )


def _parse_lines(lines: list[bytes], dimension: int) -> Chunk:
    """Parse lines fast: each must be a word without spaces and exactly `dimension` numbers."""
    words, numbers = [], []
    for line in lines:
        word, _, rest = line.rstrip(b" \r\n").partition(b" ")
        if rest.count(b" ") != dimension - 1:
            raise ValueError
        words.append(word)
        numbers.append(rest)
    text = b" ".join(numbers)
    if b"\t" in text:
        raise ValueError
    return words, _to_float32(np.fromstring(text, sep=" ")).reshape(len(lines), dimension)


def _parse_lines_one_by_one(path: Path, layout: Layout, lines: list[bytes], before: int) -> Chunk:
    """Parse lines slowly: allow spaces in words, and name the line that is wrong."""
    words, rows = [], []
    for number, line in enumerate(lines, start=before + 1):
        fields = line.rstrip(b" \r\n").rsplit(b" ", layout.dimension)
        if len(fields) != layout.dimension + 1:
            fault = "truncated: " if not line.endswith(b"\n") else ""
            problem = f"{len(fields) - 1} numbers, expected {layout.dimension}"
            raise ModelError(f"{path}: line {number}: {fault}{problem}")
        bad = next((field for field in fields[1:] if not _is_number(field)), None)
        if bad is not None:
            excerpt = bad[:20].decode("utf-8", "replace")
            raise ModelError(
                f"{path}: line {number}: {excerpt!r} is not a number (expected {layout.dimension} "
                f"of them)"
            )
        if b" " in fields[0] and _is_number(fields[0].rpartition(b" ")[2]):
            raise ModelError(
                f"{path}: line {number}: more than the expected {layout.dimension} numbers"
            )
        words.append(fields[0])
        rows.append([float(field) for field in fields[1:]])
    return words, _to_float32(np.array(rows, dtype=np.float64))


def _read_binary_chunks(path: Path, layout: Layout, stream: IO[bytes]) -> Iterator[Chunk]:
    width, total, buffer = 4 * layout.dimension, layout.words or 0, b""
    done, ended = 0, False
    while done < total:
        words: list[bytes] = []
        rows, at = [], 0
        while done + len(words) < total:
            space = buffer.find(b" ", at)
            if space < 0 or space + 1 + width > len(buffer):
                break
            words.append(buffer[at:space].lstrip(b"\n"))
            rows.append(buffer[space + 1 : space + 1 + width])
            at = space + 1 + width
        if words:
            vectors = np.frombuffer(b"".join(rows), dtype="<f4").reshape(
                len(words), layout.dimension
            )
            _check_finite(vectors, f"{path}: word", done)
            done += len(words)
            yield words, vectors
        elif ended or len(buffer) > CHUNK + width:
            raise ModelError(
                f"{path}: truncated or damaged: the header promises {total} words, word {done + 1} "
                f"is cut"
            )
        more = stream.read(CHUNK)
        buffer, ended = buffer[at:] + more, not more
    if (buffer + stream.read(CHUNK)).strip(b"\n"):
        raise ModelError(f"{path}: more data than the {total} words that the header promises")


def _to_float32(values: npt.NDArray[np.float64]) -> Matrix:
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def _check_finite(vectors: Matrix, place: str, before: int) -> None:
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        raise ModelError(f"{place} {before + int(np.argmin(finite)) + 1}: NaN or infinite number")

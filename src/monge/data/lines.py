"""Lines of text from files: UTF-8 only, split on newline only, every fault named by file and line.

`-` is standard input; `.gz` and `.xz` are read as they are. U+2028, U+0085 and form feed do not end a line.
"""

from __future__ import annotations

import gzip
import lzma
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import IO, cast

from monge.errors import Unreadable

StrPath = str | os.PathLike[str]

STDIN = "-"
_DAMAGE = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)
_SAVE = "save a spreadsheet as CSV or TSV, a document as plain text (UTF-8)"
_MAGIC = {
    b"\x1f\x8b": ("gzip data", "name it *.gz and it is read as it is"),
    b"\xfd7zXZ": ("xz data", "name it *.xz and it is read as it is"),
    b"PK\x03\x04": ("zip data (or an office file, which is zip inside)", f"unpack it first; {_SAVE}"),
    b"\xd0\xcf\x11\xe0": ("an old office file", _SAVE),
    b"%PDF": ("PDF", _SAVE),
    b"PAR1": ("Parquet", "name it *.parquet and give it as a table"),
}
"""The first bytes of what is no text: what it is, and what to do."""


class TextFile:
    """The lines of a file, read anew at every iteration, so that a million lines can stream.

    Standard input and pipes can be read only once: their lines are kept after the first reading.
    A file without any line is an error.
    """

    def __init__(self, path: StrPath, *, errors: str = "strict") -> None:
        """Nothing is read yet. `errors="surrogateescape"` leaves bytes that are not UTF-8 to `check_text`."""
        self.path, self._errors = os.fspath(path), errors
        self._kept: list[str] | None = None
        self._count: int | None = None

    def __repr__(self) -> str:
        """The call that makes it."""
        return f"TextFile({self.path!r})"

    @property
    def name(self) -> str:
        """What messages call the file."""
        return shown(self.path)

    def __iter__(self) -> Iterator[str]:
        """The lines, without their newline."""
        if self._kept is None and not _can_reopen(self.path):
            self._kept = list(_decoded(self.path, self._errors))
        return iter(self._kept) if self._kept is not None else self._counting()

    def count(self) -> int:
        """The number of lines; reads the file unless that is known."""
        if self._count is None:
            self._count = sum(1 for _ in self)
        return self._count

    def _counting(self) -> Iterator[str]:
        number = 0
        for number, line in enumerate(_decoded(self.path, self._errors), 1):  # noqa: B007
            yield line
        self._count = number


def read_lines(path: StrPath) -> list[str]:
    """All lines of a text file."""
    return list(TextFile(path))


def check_text(text: object, where: str) -> str:
    """The text itself, if it is one that can be encoded; `where` names it in the error otherwise."""
    if not isinstance(text, str):
        raise Unreadable(f"{where}: expected a text (str), got {_described(text)}")
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            code = ord(text[error.start])
            byte = f" (byte 0x{code - 0xDC00:02x}, not UTF-8)" if 0xDC80 <= code <= 0xDCFF else ""
            raise Unreadable(
                f"{where}: lone surrogate U+{code:04X}{byte} at character {error.start + 1}; "
                "accepted is text that can be written as UTF-8"
            ) from None
    return text


def shown(path: StrPath) -> str:
    """How messages name a path."""
    return "standard input" if os.fspath(path) == STDIN else os.fspath(path)


def is_there(path: StrPath, *, folder: bool = False) -> bool:
    """Whether something, or a directory, goes by the name; what no name can be (too long) is not there."""
    try:
        return Path(path).is_dir() if folder else Path(path).exists()
    except OSError:
        return False


@contextmanager
def open_bytes(path: StrPath) -> Iterator[IO[bytes]]:
    """The uncompressed bytes of a file or of standard input; OS and compression errors become `Unreadable`."""
    name = shown(path)
    try:
        if name == "standard input":
            yield _stdin()
            return
        with _opened(os.fspath(path)) as stream:
            yield stream
    except _DAMAGE as error:
        kind = "xz" if os.fspath(path).endswith(".xz") else "gzip"
        raise Unreadable(f"{name}: truncated or damaged {kind} data ({error or type(error).__name__})") from None
    except OSError as error:
        raise Unreadable(_os_message(name, error)) from None


def _opened(path: str) -> IO[bytes]:
    if path.endswith(".gz"):
        return cast("IO[bytes]", gzip.open(path, "rb"))
    if path.endswith(".xz"):
        return cast("IO[bytes]", lzma.open(path, "rb"))
    return Path(path).open("rb")


def _stdin() -> IO[bytes]:
    if sys.stdin is None or sys.stdin.closed:
        raise Unreadable("standard input is closed; give a file, or pipe text in")
    return sys.stdin.buffer


def _can_reopen(path: str) -> bool:
    try:
        return path != STDIN and (Path(path).is_file() or not Path(path).exists())
    except OSError:  # opening it will say what is wrong
        return True


def _decoded(path: str, errors: str) -> Iterator[str]:
    """Lines without their newline, decoded strictly; at least one."""
    name, number = shown(path), 0
    with open_bytes(path) as stream:
        for number, raw in enumerate(stream, 1):
            if number == 1:
                raw = _without_mark(raw, name)
            yield _text(raw.removesuffix(b"\n").removesuffix(b"\r"), name, number, errors)
    if number == 0:
        raise Unreadable(f"{name} is empty; expected at least one line")


def _without_mark(first: bytes, name: str) -> bytes:
    """The first line without its byte order mark; refuses what is plainly not UTF-8 text."""
    if first.startswith((b"\xff\xfe", b"\xfe\xff")) or _alternates(first[:200]):
        raise Unreadable(f"{name} looks like UTF-16; accepted is UTF-8 (iconv -f UTF-16 -t UTF-8 converts it)")
    for magic, (kind, advice) in _MAGIC.items():
        if first.startswith(magic):
            raise Unreadable(f"{name} looks like {kind}, not text; {advice}")
    if first[:200].count(0) > len(first[:200]) // 10:
        raise Unreadable(f"{name} is not text: it has NUL bytes; accepted is UTF-8, a text a line")
    return first.removeprefix(b"\xef\xbb\xbf")


def _alternates(sample: bytes) -> bool:
    """Whether most bytes at even, or at odd, places alone are NUL: UTF-16 of western text without a mark."""
    half = len(sample) // 2
    fewer, more = sorted((sample[0::2].count(0), sample[1::2].count(0)))
    return half >= 2 and more >= 0.7 * half and fewer <= 0.2 * half


def _text(raw: bytes, name: str, number: int, errors: str) -> str:
    try:
        return raw.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        raise Unreadable(
            f"{name}:{number}: not UTF-8: byte 0x{raw[error.start]:02x} at position {error.start + 1} of the line "
            "(a Latin-1 file? iconv -f LATIN1 -t UTF-8 converts it)"
        ) from None


def _os_message(name: str, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{name}: no such file{_nearest(name)}"
    if isinstance(error, IsADirectoryError):
        return f"{name} is a directory; expected a file"
    if isinstance(error, PermissionError):
        return f"{name}: no permission to read it"
    return f"{name}: cannot be read ({error.strerror or error})"


def _nearest(name: str) -> str:
    path = Path(name)
    if not path.parent.is_dir():
        return f" (nor is there a directory {path.parent})"
    try:
        near = get_close_matches(path.name, [one.name for one in path.parent.iterdir()], n=1)
    except OSError:
        return ""
    return f"; did you mean {path.parent / near[0]}?" if near else ""


def _described(value: object) -> str:
    """What was received instead of a text, briefly."""
    if value is None:
        return "None"
    short = repr(value)
    return f"{type(value).__name__} {short if len(short) <= 40 else short[:37] + '...'}"

"""Lines of text from files: UTF-8 only, split on newline only, every fault named by file and line.

`-` is standard input; `.gz` and `.xz` are read as they are. U+2028, U+0085 and form feed do not end
a line.
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
    b"PK\x03\x04": (
        "zip data (or an office file, which is zip inside)",
        f"unpack it first; {_SAVE}",
    ),
    b"\xd0\xcf\x11\xe0": ("an old office file", _SAVE),
    b"%PDF": ("PDF", _SAVE),
    b"PAR1": ("Parquet", "name it *.parquet and give it as a table"),
}
"""First bytes of files that are not text -> what the file is, and advice."""


class TextFile:
    """The lines of a file, read anew at every iteration, so that a million lines can stream.

    Standard input and pipes can be read only once: their lines are kept after the first reading.
    A file without any line is an error.
    """

    def __init__(self, path: StrPath, *, errors: str = "strict") -> None:
        """Read nothing yet; "surrogateescape" leaves bad bytes to `check_text`."""
        self.path, self._errors = os.fspath(path), errors
        self._kept: list[str] | None = None

    def __repr__(self) -> str:
        """The call that makes it."""
        return f"TextFile({self.path!r})"

    @property
    def name(self) -> str:
        """The name of the file in messages."""
        return shown(self.path)

    def __iter__(self) -> Iterator[str]:
        """The lines, without their newline."""
        is_pipe = is_there(self.path) and not Path(self.path).is_file()
        if self._kept is None and (self.path == STDIN or is_pipe):
            self._kept = list(_decode_lines(self.path, self._errors))
        return _decode_lines(self.path, self._errors) if self._kept is None else iter(self._kept)


def read_lines(path: StrPath) -> list[str]:
    """Read all lines of a text file."""
    return list(TextFile(path))


def check_text(text: object, location: str) -> str:
    """Return the text if it can be encoded as UTF-8; `location` names it in the error otherwise."""
    if not isinstance(text, str):
        raise Unreadable(f"{location}: expected a text (str), got {_describe_value(text)}")
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            code = ord(text[error.start])
            byte = f" (byte 0x{code - 0xDC00:02x}, not UTF-8)" if 0xDC80 <= code <= 0xDCFF else ""
            raise Unreadable(
                f"{location}: lone surrogate U+{code:04X}{byte} at character {error.start + 1}; "
                "accepted is text that can be written as UTF-8"
            ) from None
    return text


def shown(path: StrPath) -> str:
    """Return the name of a path for messages."""
    return "standard input" if os.fspath(path) == STDIN else os.fspath(path)


def is_there(path: StrPath, *, folder: bool = False) -> bool:
    """Return whether a path (or directory) exists; False for a name that is too long."""
    try:
        return Path(path).is_dir() if folder else Path(path).exists()
    except OSError:
        return False


@contextmanager
def open_bytes(path: StrPath) -> Iterator[IO[bytes]]:
    """Open uncompressed bytes of a file or standard input; failures become `Unreadable`."""
    name = shown(path)
    try:
        if name == "standard input":
            yield _open_stdin()
            return
        with _open_file(os.fspath(path)) as stream:
            yield stream
    except _DAMAGE as error:
        kind = "xz" if os.fspath(path).endswith(".xz") else "gzip"
        raise Unreadable(
            f"{name}: truncated or damaged {kind} data ({error or type(error).__name__})"
        ) from None
    except OSError as error:
        raise Unreadable(_describe_os_error(name, error)) from None


def _open_file(path: str) -> IO[bytes]:
    if path.endswith(".gz"):
        return cast("IO[bytes]", gzip.open(path, "rb"))
    if path.endswith(".xz"):
        return cast("IO[bytes]", lzma.open(path, "rb"))
    return Path(path).open("rb")


def _open_stdin() -> IO[bytes]:
    if sys.stdin is None or sys.stdin.closed:
        raise Unreadable("standard input is closed; give a file, or pipe text in")
    return sys.stdin.buffer


def _decode_lines(path: str, errors: str) -> Iterator[str]:
    """Yield the lines without newline, decoded strictly; raises where there is none."""
    name, number = shown(path), 0
    with open_bytes(path) as stream:
        for number, raw in enumerate(stream, 1):
            if number == 1:
                raw = _strip_byte_order_mark(raw, name)
            raw = raw.removesuffix(b"\n").removesuffix(b"\r")
            try:
                line = raw.decode("utf-8", errors)
            except UnicodeDecodeError as error:
                raise Unreadable(
                    f"{name}:{number}: not UTF-8: byte 0x{raw[error.start]:02x} at position "
                    f"{error.start + 1} of the line (a Latin-1 file? iconv -f LATIN1 -t UTF-8 "
                    "converts it)"
                ) from None
            yield line
    if number == 0:
        raise Unreadable(f"{name} is empty; expected at least one line")


def _strip_byte_order_mark(first: bytes, name: str) -> bytes:
    """Return the first line without its byte order mark; raise if clearly not UTF-8."""
    sample, half = first[:200], len(first[:200]) // 2
    fewer, more = sorted((sample[0::2].count(0), sample[1::2].count(0)))
    is_half_nul = half >= 2 and more >= 0.7 * half and fewer <= 0.2 * half  # western UTF-16
    if first.startswith((b"\xff\xfe", b"\xfe\xff")) or is_half_nul:
        raise Unreadable(
            f"{name} looks like UTF-16; accepted is UTF-8 (iconv -f UTF-16 -t UTF-8 converts it)"
        )
    for magic, (kind, advice) in _MAGIC.items():
        if first.startswith(magic):
            raise Unreadable(f"{name} looks like {kind}, not text; {advice}")
    if sample.count(0) > len(sample) // 10:
        raise Unreadable(
            f"{name} is not text: it has NUL bytes; accepted is UTF-8, one text per line"
        )
    return first.removeprefix(b"\xef\xbb\xbf")


def describe_missing(name: str) -> str:
    """Return that there is no such file, and the nearest name beside it."""
    return f"{name}: no such file{_suggest_nearest(name)}"


def _describe_os_error(name: str, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return describe_missing(name)
    if isinstance(error, IsADirectoryError):
        return f"{name} is a directory; expected a file"
    if isinstance(error, PermissionError):
        return f"{name}: no permission to read it"
    return f"{name}: cannot be read ({error.strerror or error})"


def _suggest_nearest(name: str) -> str:
    path = Path(name)
    if not path.parent.is_dir():
        return f" (nor is there a directory {path.parent})"
    try:
        near = get_close_matches(
            path.name, [sibling.name for sibling in path.parent.iterdir()], n=1
        )
    except OSError:
        return ""
    return f"; did you mean {path.parent / near[0]}?" if near else ""


def _describe_value(value: object) -> str:
    """Describe briefly what was received instead of a text."""
    if value is None:
        return "None"
    short = repr(value)
    return f"{type(value).__name__} {short if len(short) <= 40 else short[:37] + '...'}"

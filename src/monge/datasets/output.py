"""Writing results atomically, to files that are known to be writable before work starts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from monge.errors import UsageError


def check_writable(path: str | Path) -> None:
    """Raise where a file could not be written at `path`; nothing is written or changed."""
    target = Path(path)
    if target.is_dir():
        raise UsageError(f"{target}: cannot be written, it is a directory")
    folder = target.parent
    if not folder.is_dir():
        raise UsageError(f"{target}: cannot be written, there is no directory {folder}")
    if not os.access(folder, os.W_OK) or (target.exists() and not os.access(target, os.W_OK)):
        raise UsageError(f"{target}: cannot be written, permission denied")


def write_text(path: str | Path, text: str | Iterable[str]) -> None:
    """Write a file atomically from a text or its pieces: readers see the old or the new."""
    pieces = [text] if isinstance(text, str) else text
    with (
        whole_file(path) as place,
        place.open("w", encoding="utf-8", errors="surrogateescape", newline="\n") as file,
    ):
        file.writelines(pieces)


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path that replaces `path` on success and is removed on failure.

    An existing device or pipe cannot be replaced, so its own path is yielded.
    """
    target = Path(path)
    check_writable(target)
    if target.exists() and not target.is_file():
        yield target
        return
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        os.close(handle)
        try:
            yield Path(name)
            Path(name).chmod(0o666 & ~_umask())
            Path(name).replace(target)
        finally:
            Path(name).unlink(missing_ok=True)  # there is none unless something went wrong
    except OSError as error:
        raise UsageError(f"{target}: cannot be written ({error.strerror})") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

"""Stopword lists, shipped or from a file; they change scores, so signatures name them."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from monge.errors import UnknownName, Unreadable


def names() -> list[str]:
    """Return the names of the lists that ship with the package."""
    return sorted(
        entry.name.removesuffix(".txt")
        for entry in files(__name__).iterdir()
        if entry.name.endswith(".txt")
    )


@cache
def _shipped(name: str) -> str:
    return (files(__name__) / f"{name}.txt").read_text("utf-8")


def load(name: str) -> frozenset[str]:
    """Load the words of a list: `none`, a shipped name, or a file of words on lines or in rows."""
    if name == "none":
        return frozenset()
    if name in names():
        text = _shipped(name)
    elif Path(name).is_file():
        try:
            text = Path(name).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise Unreadable(f"{name}: not a readable UTF-8 stopword list ({error})") from None
    else:
        raise UnknownName("stopword list", name, ["none", *names()], "(a shipped name, or a file)")
    words = frozenset(
        word.lower()
        for line in text.splitlines()
        if not line.startswith("#")
        for word in line.split()
    )
    if not words:
        raise Unreadable(f"{name}: the stopword list has no words")
    return words


def digest(name: str) -> str:
    """Return the first 8 hex digits of the sha256 of the sorted words; '' for `none`."""
    words = load(name)
    return sha256("\n".join(sorted(words)).encode()).hexdigest()[:8] if words else ""

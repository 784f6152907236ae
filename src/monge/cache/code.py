"""Hash the code that computes scores: part of cache keys, so older results are not used."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.resources.abc import Traversable
from unicodedata import unidata_version

COMPUTING = ("types", "transport", "metrics", "text", "encoders", "scoring")
"""The packages of monge whose code decides what a vector or a score is."""
LIBRARIES = (
    "torch",
    "numpy",
    "tokenizers",
    "transformers",
    "POT",
    "sacrebleu",
    "rouge-score",
    "nltk",
)
"""The libraries that compute for them; a missing one counts as missing."""


@cache
def code_digest() -> str:
    """Hash the code of vectors and scores, and the versions of its libraries and of Unicode."""
    hasher = blake2b(digest_size=16)
    for package in COMPUTING:
        for path, data in _sources(files(f"monge.{package}"), package):
            hasher.update(f"{path} {len(data)} ".encode() + data)
    hasher.update(f"unicode={unidata_version} ".encode())
    for library in LIBRARIES:
        hasher.update(f"{library}={_version(library)} ".encode())
    return hasher.hexdigest()


def _sources(folder: Traversable, path: str) -> list[tuple[str, bytes]]:
    """Read the Python files of a package and its subpackages, in name order."""
    sources: list[tuple[str, bytes]] = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".py"):
            sources.append((f"{path}/{entry.name}", entry.read_bytes()))
        elif entry.is_dir() and entry.name != "__pycache__":
            sources += _sources(entry, f"{path}/{entry.name}")
    return sources


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "none"

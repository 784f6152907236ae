"""Which files a release holds: those of the wheel, from the source tree, and those of the sdist.

`pyproject.toml` tells hatchling the same: all of src/monge, less what .gitignore names.
`tools/release_check.py` compares both with the archives that hatchling builds.
"""

from __future__ import annotations

import tomllib
from typing import Any

from repository import PACKAGE, ROOT

_IGNORED_FOLDERS = frozenset({"__pycache__"})
LICENCE_FILES = ("LICENSE", "NOTICE")
SDIST_FILES = (
    "CHANGELOG.md",
    "CITATION.cff",
    "LICENSE",
    "NOTICE",
    "PKG-INFO",
    "README.md",
    ".gitignore",
    "constraints.txt",
    "pyproject.toml",
)
"""Files of the sdist outside of src/monge."""


def list_package_files() -> list[str]:
    """Return the paths below src/monge that the wheel holds, sorted."""
    return sorted(
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and not _IGNORED_FOLDERS & set(path.parts) and path.suffix != ".pyc"
    )


def read_project() -> dict[str, Any]:
    """Return pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))

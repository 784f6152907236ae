"""Large arrays kept in a directory of their own and opened by memory map.

    DIRECTORY/NAME.npy     one array each
    DIRECTORY/facts.json   what is known about them

The directory gets its name only when it is whole. No pickle.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Facts = Mapping[str, Any]
Arrays = dict[str, npt.NDArray[Any]]
_BUILDING = ".building-"


def kept_arrays(directory: Path, names: Sequence[str]) -> tuple[Facts, Arrays] | None:
    """The facts and the arrays of a directory; None where one is missing or damaged."""
    try:
        facts = json.loads((directory / "facts.json").read_text("utf-8"))
        found = {name: np.load(directory / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in names}
    except (OSError, ValueError):
        return None
    return facts, found


def keep_arrays(directory: Path, facts: Facts, arrays: Arrays) -> None:
    """Write a directory, in place of an older one; what its siblings hold is outdated and goes. Raises OSError."""
    home = directory.parent
    home.mkdir(parents=True, exist_ok=True)
    building = home / f"{_BUILDING}{os.getpid()}-{secrets.token_hex(4)}"
    try:
        building.mkdir()
        for name, values in arrays.items():
            np.save(building / f"{name}.npy", values, allow_pickle=False)
        (building / "facts.json").write_text(json.dumps(facts), "utf-8")
        shutil.rmtree(directory, ignore_errors=True)
        if not directory.exists():  # else another process was faster, and its arrays are the same
            building.rename(directory)
        _tidy(directory)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _tidy(directory: Path) -> None:
    """Remove the arrays of an older source, and what a conversion that was killed a day ago left."""
    for old in directory.parent.iterdir():
        left = old.name.startswith(_BUILDING) and old.stat().st_mtime < time.time() - 86400
        if left or (old.name != directory.name and not old.name.startswith(".")):
            shutil.rmtree(old, ignore_errors=True)

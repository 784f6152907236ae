"""Large arrays kept in a directory of their own and opened by memory map.

    DIRECTORY/NAME.npy     one array each
    DIRECTORY/facts.json   facts about them

The directory gets its name only when it is complete. No pickle.
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


def load_arrays(directory: Path, names: Sequence[str]) -> tuple[Facts, Arrays] | None:
    """Load the facts and the arrays of a directory; None where one is missing or damaged."""
    try:
        facts = json.loads((directory / "facts.json").read_text("utf-8"))
        arrays = {
            name: np.load(directory / f"{name}.npy", mmap_mode="r", allow_pickle=False)
            for name in names
        }
    except (OSError, ValueError):
        return None
    return facts, arrays


def write_arrays(directory: Path, facts: Facts, arrays: Arrays) -> None:
    """Write a directory, replacing an older one; remove outdated ones. Raises OSError."""
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
        _remove_outdated(directory)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _remove_outdated(directory: Path) -> None:
    """Remove arrays of an older source, and leftovers of conversions killed a day ago."""
    for old in directory.parent.iterdir():
        abandoned = old.name.startswith(_BUILDING) and old.stat().st_mtime < time.time() - 86400
        if abandoned or (old.name != directory.name and not old.name.startswith(".")):
            shutil.rmtree(old, ignore_errors=True)

"""The request that `open_dataset` passes to a reader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from monge.datasets.catalogue import SYSTEM_NEEDS, Dataset
from monge.datasets.files import Files
from monge.errors import UnknownName, Unreadable


@dataclass(frozen=True)
class DatasetRequest:
    """One checked call of `open_dataset`: which judgements of which data set, from which files."""

    dataset: Dataset
    files: Files
    group_names: tuple[str, ...] | None
    level: str
    human: str
    text: str
    switches: Mapping[str, Any]

    @property
    def column(self) -> str:
        """The name of the human column in the file."""
        return str(self.dataset.humans[self.human].get("column", self.human))

    @property
    def layout(self) -> str:
        """Which of the data set's layouts holds the human column."""
        return str(self.dataset.humans[self.human].get("layout", ""))

    def first_path(self, role: str) -> Path:
        """Return the first file of a role; raises with the names looked for where there is none."""
        matches = self.match(role)
        if not matches:
            raise self.missing(role)
        return matches[0][0]

    def match(self, role: str) -> list[tuple[Path, dict[str, str]]]:
        """Return all files of a role."""
        return list(self.files.match(self.dataset.files[role], self.dataset.year))

    def missing(self, *roles: str) -> Unreadable:
        """Return the error for roles without a file: the names sought, where to see more."""
        dataset, folder = self.dataset, self.files.directory
        names = " or ".join(name for role in roles for name in dataset.files[role])
        of_year = "" if dataset.year is None else f" of 20{dataset.year:02d}"
        alternatives = SYSTEM_NEEDS if "systems" in roles else dataset.needs(self.human)
        needed = next(
            (alternative for alternative in alternatives if set(alternative) & set(roles)), roles
        )
        all_names = ", ".join(dataset.files[role][0] for role in needed)
        all_of_it = f"; {self.human} needs {all_names}" if len(needed) > 1 else ""
        return Unreadable(
            f"{dataset.name}: no file {names}{of_year} below {folder}{all_of_it} "
            f"(monge data {dataset.name} {folder} lists all files and which of them are there)"
        )

    def select(self, available: Iterable[str]) -> list[str]:
        """Return the requested groups (`*-en` works), all by default; raise if unknown."""
        return matching(self.group_names, available, f"{self.dataset.name} {self.dataset.groups}")


def matching(patterns: Iterable[str] | None, available: Iterable[str], kind: str) -> list[str]:
    """Return the available names that fit a pattern, all by default; raise if none fits."""
    names = list(dict.fromkeys(available))
    if patterns is None:
        return names
    fitting = {
        name: [name]
        if name in names
        else [candidate for candidate in names if fnmatchcase(candidate, name)]
        for name in patterns
    }
    for name, matches in fitting.items():
        if not matches:
            raise UnknownName(kind, name, names)
    return [name for name in names if any(name in matches for matches in fitting.values())]

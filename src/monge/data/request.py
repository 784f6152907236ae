"""What a reader is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from monge.data.catalogue import Dataset
from monge.data.files import Files
from monge.errors import UnknownName, Unreadable


@dataclass(frozen=True)
class Request:
    """One call of `open_dataset`, its words checked: which judgements of which data set, from which files."""

    dataset: Dataset
    files: Files
    wanted: tuple[str, ...] | None
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

    def one(self, role: str) -> Path:
        """The file that plays a role; an error naming what was looked for if it is not there."""
        found = self.match(role)
        if not found:
            raise self.missing(role)
        return found[0][0]

    def match(self, role: str) -> list[tuple[Path, dict[str, str]]]:
        """All files that play a role."""
        return list(self.files.match(self.dataset.files[role], self.dataset.year))

    def missing(self, *roles: str) -> Unreadable:
        """The error for roles of which no file plays one: the data set, the names looked for, and where to see more."""
        dataset, folder = self.dataset, self.files.directory
        names = " or ".join(name for role in roles for name in dataset.files[role])
        of_year = "" if dataset.year is None else f" of 20{dataset.year:02d}"
        alternatives = dataset.needs("systems" if "systems" in roles else self.human)
        needed = next((some for some in alternatives if set(some) & set(roles)), roles)
        every = ", ".join(dataset.files[role][0] for role in needed)
        all_of_it = f"; {self.human} needs {every}" if len(needed) > 1 else ""
        return Unreadable(
            f"{dataset.name}: no file {names}{of_year} below {folder}{all_of_it} "
            f"(monge data {dataset.name} {folder} lists all files and which of them are there)"
        )

    def select(self, available: Iterable[str]) -> list[str]:
        """Those of the available groups that are wanted (`*-en` works), all by default; unknown ones are errors."""
        return matching(self.wanted, available, f"{self.dataset.name} {self.dataset.groups}")


def matching(wanted: Iterable[str] | None, available: Iterable[str], kind: str) -> list[str]:
    """Those of the available names that are wanted, by name or pattern, all by default; to fit none is an error."""
    there = list(dict.fromkeys(available))
    if wanted is None:
        return there
    fitting = {name: [name] if name in there else [one for one in there if fnmatchcase(one, name)] for name in wanted}
    for name, found in fitting.items():
        if not found:
            raise UnknownName(kind, name, there)
    return [one for one in there if any(one in found for found in fitting.values())]

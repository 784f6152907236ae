"""The known data sets, the published names of their files, and which files are present."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from monge.datasets.catalogue import SYSTEM_NEEDS, Dataset, dataset_names, describe
from monge.datasets.files import Files
from monge.datasets.lines import StrPath
from monge.types.table import Cell, Sheet

OPTIONAL = ("sources",)
"""Roles of files that are read only if they exist."""
_NOTE = (
    "{…} in a name stands for what varies; files may lie at any depth below the directory, "
    "and be .gz or .xz"
)


@dataclass(frozen=True)
class FileRole:
    """A role of files: published names, human columns that need it, and files found."""

    role: str
    names: tuple[str, ...]
    used_by: tuple[str, ...]
    paths: tuple[Path, ...] | None = None

    @property
    def state(self) -> str:
        """How many files were found, or that none was."""
        return (
            "missing" if not self.paths else f"{len(self.paths)} file{'s' * (len(self.paths) > 1)}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        plain: dict[str, Any] = {
            "role": self.role,
            "names": list(self.names),
            "used_by": list(self.used_by),
        }
        return (
            plain if self.paths is None else {**plain, "found": [str(path) for path in self.paths]}
        )


@dataclass(frozen=True)
class DatasetFiles:
    """A data set: its files, and the human columns readable in a directory, if given."""

    dataset: Dataset
    file_roles: tuple[FileRole, ...]
    readable: tuple[str, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        plain = {
            name: getattr(self.dataset, name)
            for name in ("name", "title", "groups", "licence", "citation")
        }
        plain |= {"levels": list(self.dataset.levels), "humans": list(self.dataset.humans)}
        plain |= {} if self.readable is None else {"readable": list(self.readable)}
        return {**plain, "files": [file_role.to_dict() for file_role in self.file_roles]}


@dataclass(frozen=True)
class Inventory:
    """The known data sets, and the files of them in a directory."""

    datasets: tuple[DatasetFiles, ...]
    directory: Path | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        header = {} if self.directory is None else {"directory": str(self.directory)}
        return {**header, "datasets": [stock.to_dict() for stock in self.datasets]}

    def sheets(self) -> list[Sheet]:
        """Return a table of the data sets; for a single one, a table of its files."""
        if len(self.datasets) == 1:
            return [_files_sheet(self.datasets[0], self.directory)]
        return [self._overview()]

    def _overview(self) -> Sheet:
        has_directory = self.directory is not None
        head = (
            "data set",
            "what it is",
            "human columns",
            "readable here" if has_directory else "files",
        )
        rows = [
            (
                Cell(stock.dataset.name),
                Cell(stock.dataset.title),
                Cell(", ".join(stock.dataset.humans)),
                Cell(
                    ", ".join(stock.readable or ()) or "no" if has_directory else _summarise(stock)
                ),
            )
            for stock in self.datasets
        ]
        title = f"data sets in {self.directory}" if has_directory else "known data sets"
        more = f"monge data NAME {self.directory or 'DIR'} lists what is wanted and what is there"
        return Sheet(title, head, tuple(rows), (more, _NOTE), words=4)


def take_stock(names: Sequence[str] = (), directory: StrPath | None = None) -> Inventory:
    """List the files that data sets (all by default) need, and which of them a directory has.

    Raises:
        UnknownName: for a data set there is not.
        Unreadable: if there is no such directory.
    """
    files = None if directory is None else Files(directory)
    chosen = [
        describe(name) for name in names or (name for name in dataset_names() if name != "table")
    ]
    return Inventory(
        tuple(_match_files(dataset, files) for dataset in chosen),
        None if files is None else files.directory,
    )


def _match_files(dataset: Dataset, files: Files | None) -> DatasetFiles:
    needs = {human: dataset.needs(human) for human in dataset.humans}
    if "systems" in dataset.files and "system" in dataset.levels:
        needs["--level system"] = SYSTEM_NEEDS
    file_roles = []
    for role, names in dataset.files.items():
        users = tuple(
            human for human, sets in needs.items() if any(role in roles for roles in sets)
        )
        if not users and role not in OPTIONAL:
            continue
        paths = (
            None if files is None else tuple(path for path, _ in files.match(names, dataset.year))
        )
        file_roles.append(FileRole(role, names, users, paths))
    if files is None:
        return DatasetFiles(dataset, tuple(file_roles))
    found_roles = {file_role.role for file_role in file_roles if file_role.paths}
    readable = tuple(
        human
        for human, sets in needs.items()
        if any(found_roles.issuperset(roles) for roles in sets)
    )
    return DatasetFiles(dataset, tuple(file_roles), readable)


def _summarise(stock: DatasetFiles) -> str:
    names = [name for file_role in stock.file_roles for name in file_role.names[:1]]
    return ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")


def _files_sheet(stock: DatasetFiles, directory: Path | None) -> Sheet:
    has_directory = directory is not None
    head = (
        "files",
        "published names",
        "needed for",
        *(("found", "the first") if has_directory else ()),
    )
    rows = []
    for file_role in stock.file_roles:
        cells = [
            Cell(file_role.role),
            Cell(" or ".join(file_role.names)),
            Cell(", ".join(file_role.used_by) or "(read if there)"),
        ]
        if directory is not None:
            first = str(file_role.paths[0].relative_to(directory)) if file_role.paths else ""
            cells += [Cell(file_role.state), Cell(first)]
        rows.append(tuple(cells))
    dataset = stock.dataset
    notes = [f"human columns: {', '.join(dataset.humans)}; levels: {', '.join(dataset.levels)}"]
    if stock.readable is not None:
        notes.append(f"readable from {directory}: {', '.join(stock.readable) or 'none'}")
    notes += [_NOTE, f"terms: {dataset.licence}"] + [f"cite: {dataset.citation}"] * bool(
        dataset.citation
    )
    in_directory = f" in {directory}" if has_directory else ""
    return Sheet(
        f"{dataset.name}: {dataset.title}{in_directory}",
        head,
        tuple(rows),
        tuple(notes),
        words=len(head),
    )

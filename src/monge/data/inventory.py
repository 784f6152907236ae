"""Which data sets are known, which files each needs under which published names, and which of them are there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from monge.data.catalogue import Dataset, dataset_names, describe
from monge.data.files import Files
from monge.data.lines import StrPath
from monge.types.table import Cell, Sheet

OPTIONAL = ("sources",)
"""Roles of files that are read where they are there."""
_NOTE = "{…} in a name stands for what varies; files may lie at any depth below the directory, and be .gz or .xz"


@dataclass(frozen=True)
class Wanted:
    """One role of a data set's files: the published names, what needs it, and what plays it in a directory."""

    role: str
    names: tuple[str, ...]
    used_by: tuple[str, ...]
    found: tuple[Path, ...] | None = None

    @property
    def state(self) -> str:
        """How many files were found, or that none was."""
        return "missing" if not self.found else f"{len(self.found)} file{'s' * (len(self.found) > 1)}"

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        plain: dict[str, Any] = {"role": self.role, "names": list(self.names), "used_by": list(self.used_by)}
        return plain if self.found is None else {**plain, "found": [str(path) for path in self.found]}


@dataclass(frozen=True)
class Stock:
    """A data set: its files, and which human columns can be read from those in a directory (None: none was given)."""

    dataset: Dataset
    wanted: tuple[Wanted, ...]
    readable: tuple[str, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        plain = {name: getattr(self.dataset, name) for name in ("name", "title", "groups", "licence", "citation")}
        plain |= {"levels": list(self.dataset.levels), "humans": list(self.dataset.humans)}
        plain |= {} if self.readable is None else {"readable": list(self.readable)}
        return {**plain, "files": [one.to_dict() for one in self.wanted]}


@dataclass(frozen=True)
class Inventory:
    """What is known of data sets, and what a directory has of them."""

    stocks: tuple[Stock, ...]
    directory: Path | None = None

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        where = {} if self.directory is None else {"directory": str(self.directory)}
        return {**where, "datasets": [one.to_dict() for one in self.stocks]}

    def sheets(self) -> list[Sheet]:
        """A table of the data sets; of one alone, a table of its files."""
        return [_files_sheet(self.stocks[0], self.directory)] if len(self.stocks) == 1 else [self._overview()]

    def _overview(self) -> Sheet:
        there = self.directory is not None
        head = ("data set", "what it is", "human columns", "readable here" if there else "files")
        rows = [
            (
                Cell(one.dataset.name),
                Cell(one.dataset.title),
                Cell(", ".join(one.dataset.humans)),
                Cell(", ".join(one.readable or ()) or "no" if there else _summary(one)),
            )
            for one in self.stocks
        ]
        title = f"data sets in {self.directory}" if there else "known data sets"
        more = f"monge data NAME {self.directory or 'DIR'} lists what is wanted and what is there"
        return Sheet(title, head, tuple(rows), (more, _NOTE), words=4)


def take_stock(names: Sequence[str] = (), directory: StrPath | None = None) -> Inventory:
    """What the data sets named (all by default) need, and what a directory has of that.

    Raises:
        UnknownName: for a data set there is not.
        Unreadable: if there is no such directory.
    """
    files = None if directory is None else Files(directory)
    chosen = [describe(name) for name in names or (one for one in dataset_names() if one != "table")]
    return Inventory(tuple(_stock(one, files) for one in chosen), None if files is None else files.directory)


def _stock(dataset: Dataset, files: Files | None) -> Stock:
    needs = {human: dataset.needs(human) for human in dataset.humans}
    if "systems" in dataset.files and "system" in dataset.levels:
        needs["--level system"] = dataset.needs("systems")
    wanted = []
    for role, names in dataset.files.items():
        users = tuple(human for human, sets in needs.items() if any(role in some for some in sets))
        if not users and role not in OPTIONAL:
            continue
        found = None if files is None else tuple(path for path, _ in files.match(names, dataset.year))
        wanted.append(Wanted(role, names, users, found))
    if files is None:
        return Stock(dataset, tuple(wanted))
    there = {one.role for one in wanted if one.found}
    readable = tuple(human for human, sets in needs.items() if any(there.issuperset(some) for some in sets))
    return Stock(dataset, tuple(wanted), readable)


def _summary(stock: Stock) -> str:
    names = [name for one in stock.wanted for name in one.names[:1]]
    return ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")


def _files_sheet(stock: Stock, directory: Path | None) -> Sheet:
    there = directory is not None
    head = ("files", "published names", "needed for", *(("found", "the first") if there else ()))
    rows = []
    for one in stock.wanted:
        cells = [Cell(one.role), Cell(" or ".join(one.names)), Cell(", ".join(one.used_by) or "(read if there)")]
        if directory is not None:
            first = str(one.found[0].relative_to(directory)) if one.found else ""
            cells += [Cell(one.state), Cell(first)]
        rows.append(tuple(cells))
    dataset = stock.dataset
    notes = [f"human columns: {', '.join(dataset.humans)}; levels: {', '.join(dataset.levels)}"]
    if stock.readable is not None:
        notes.append(f"readable from {directory}: {', '.join(stock.readable) or 'none'}")
    notes += [_NOTE, f"terms: {dataset.licence}"] + [f"cite: {dataset.citation}"] * bool(dataset.citation)
    where = f" in {directory}" if there else ""
    return Sheet(f"{dataset.name}: {dataset.title}{where}", head, tuple(rows), tuple(notes), words=len(head))

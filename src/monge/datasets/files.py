"""Published files below a directory, found by their published names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from monge.datasets.lines import StrPath, is_there
from monge.errors import Unreadable

_YEAR = re.compile(r"(?:20|wmt|sts|tac[.-]?)(0[89]|1\d)(?!\d)", re.IGNORECASE)

_FIELDS = {"langs": "[^.]+?", "test_set": "[^.]+?"}
"""Fields of templates that hold no dot."""


class Files:
    """The files below a directory; `.gz` and `.xz` count under the name they have when unpacked."""

    def __init__(self, directory: StrPath) -> None:
        """Walks the directory once."""
        self.directory = Path(directory)
        if not is_there(directory, folder=True):
            problem = "no such directory; expected one"
            if is_there(directory):
                problem = "is a file; expected the directory"
            raise Unreadable(f"{directory}: {problem} that holds the published files")
        self._paths = sorted(self._walk(), key=lambda path: (len(path.parts), path))

    def match(
        self, templates: Iterable[str], year: int | None = None
    ) -> Iterator[tuple[Path, dict[str, str]]]:
        """Yield files whose name fits a template, with its `{…}` values; by template, then depth.

        With a `year` (two digits), files that stand in a directory of another year are passed over.
        """
        for template in templates:
            pattern = _pattern(template)
            for path in self._paths:
                matched = pattern.fullmatch(plain_name(path))
                if matched and (year is None or self.year_of(path) in (None, year)):
                    yield path, matched.groupdict()

    def one(self, templates: Iterable[str], year: int | None = None) -> Path:
        """Return the first file that fits; raises with the names looked for where there is none."""
        templates = tuple(templates)
        for path, _ in self.match(templates, year):
            return path
        raise self.missing(templates, year)

    def missing(self, templates: Iterable[str], year: int | None = None) -> Unreadable:
        """Return the error for files that do not exist."""
        of_year = "" if year is None else f" of 20{year:02d}"
        return Unreadable(
            f"not found{of_year} below {self.directory}; looked for {' or '.join(templates)}"
        )

    def year_of(self, path: Path) -> int | None:
        """Return the two-digit year in the file's name or nearest parent directory, if any."""
        own = self.directory.resolve().name
        for part in (path.name, *reversed(path.parent.relative_to(self.directory).parts), own):
            years = {int(year) for year in _YEAR.findall(part)}
            if len(years) == 1:
                return years.pop()
        return None

    def _walk(self) -> Iterator[Path]:
        for folder, _, names in os.walk(self.directory):
            for name in names:
                yield Path(folder) / name


def plain_name(path: Path) -> str:
    """Return a file's name without `.gz` or `.xz`."""
    return path.name.removesuffix(".gz").removesuffix(".xz")


@cache
def _pattern(template: str) -> re.Pattern[str]:
    pieces = re.split(r"\{(\w+)\}", template)
    fixed = [
        re.escape(piece) if index % 2 == 0 else f"(?P<{piece}>{_FIELDS.get(piece, '.+?')})"
        for index, piece in enumerate(pieces)
    ]
    return re.compile("".join(fixed))

"""What a run on a cluster reads: tables one after another, or files side by side; from anywhere pyarrow opens."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from monge.cluster.blocks import Bad, Located
from monge.data.columns import Given
from monge.data.lines import STDIN, shown
from monge.data.parallel import Parallel, read_parallel
from monge.data.rows import Rows, table_format
from monge.data.tables import Table
from monge.errors import DataError, Unreadable, UsageError
from monge.render.arrow import pyarrow


class Tables:
    """Tables one after another: their rows are those of one input.

    `note` says, once they are read, how, where their names did not tell.
    """

    def __init__(self, paths: Sequence[str], form: str | None = None, columns: Given | None = None) -> None:
        self._paths = [one for path in paths for one in _listed(path)]
        self._form, self._columns, self.note = form, columns, ""
        if not self._paths:
            raise UsageError("no table was given")

    @property
    def names(self) -> Sequence[str]:
        """What messages call the tables."""
        return [shown(path) for path in self._paths]

    @property
    def stamp(self) -> list[Any] | None:
        """Size and time of every table."""
        return stamps(self._paths)

    def located(self, bad: Bad | None) -> Iterator[Located]:
        """The segments of all tables; an id is by default the number of the segment in its system, over all of them."""
        seen: Counter[str] = Counter()
        columns_known = False

        def told(line: int, why: str) -> None:
            if bad is not None and columns_known:  # a row that is bad when columns are looked for is met again
                bad(why)

        for number, path in enumerate(self._paths):
            columns_known = False
            table = Table(Rows(path, self._form, bad=None if bad is None else told), None, self._columns)
            columns_known, self.note = True, self.note or table.note
            for row, segment in table.numbered(None if bad is None else told, seen):
                yield segment, number, row.line


class Files:
    """Files of text side by side, as `-t`, `-r` and `-s` name them."""

    note = ""

    def __init__(self, hypotheses: Sequence[str], references: Sequence[str], source: str | None) -> None:
        self._given = hypotheses, references, source

    @property
    def _every(self) -> list[str]:
        hypotheses, references, source = self._given
        return [*hypotheses, *references, *([] if source is None else [source])]

    @property
    def names(self) -> Sequence[str]:
        """The files of the hypotheses: a line is named by the first of them."""
        return [shown(self._every[0])]

    @property
    def stamp(self) -> list[Any] | None:
        """Size and time of every file."""
        return stamps(self._every)

    def located(self, bad: Bad | None) -> Iterator[Located]:
        """The segments, by line then by system."""
        told = None if bad is None else lambda line, why: bad(why)
        files: Parallel = read_parallel(*self._given, errors="strict" if bad is None else "surrogateescape")
        for line, segment in files.numbered(told):
            yield segment, 0, line


def stamps(paths: Sequence[str]) -> list[Any] | None:
    """Name, size and time of files; None where one of them is a stream."""
    found = []
    for path in paths:
        if not Path(path).is_file():
            return None
        facts = Path(path).stat()
        found.append([str(Path(path).resolve()), facts.st_size, facts.st_mtime_ns])
    return found


def _listed(path: str) -> list[str]:
    """A table, or the tables of a directory by name."""
    if path in ("", STDIN) or not Path(path).is_dir():
        return [path]
    found = sorted(str(one) for one in Path(path).iterdir() if one.is_file() and not one.name.startswith((".", "_")))
    if not found:
        raise Unreadable(f"{path} is a directory without a file in it; expected the parts of a table")
    for one in found:
        table_format(one)
    return found


@contextmanager
def beside(output: Path) -> Iterator[Path]:
    """A directory for copies of an input, beside the output; it goes when the run ends."""
    into = Path(f"{output}.input")
    try:
        yield into
    finally:
        shutil.rmtree(into, ignore_errors=True)


def fetched(path: str, into: Path) -> str:
    """A local copy of what is at an address such as s3://bucket/name, a file or a directory; itself if it is a path."""
    if "://" not in path:
        return path
    pyarrow()
    from pyarrow import fs

    try:
        system, inside = fs.FileSystem.from_uri(path)
        target = into / sha256(path.encode()).hexdigest()[:8] / Path(inside).name  # others may have the same name
        target.parent.mkdir(parents=True, exist_ok=True)
        if system.get_file_info(inside).type == fs.FileType.Directory:
            target.mkdir(exist_ok=True)
        fs.copy_files(inside, str(target), source_filesystem=system, destination_filesystem=fs.LocalFileSystem())
    except (OSError, ValueError) as error:
        raise Unreadable(f"{path}: cannot be read ({' '.join(str(error).split())[:200]})") from None
    return str(target)


def from_arrow(data: Any, into: Path) -> str:
    """A Parquet file with the rows of a pyarrow table or a Ray data set, in their order."""
    arrow, parquet = pyarrow()
    into.mkdir(parents=True, exist_ok=True)
    target = into / "rows.parquet"
    if isinstance(data, arrow.Table):
        parquet.write_table(data, target)
        return str(target)
    writer = None
    for batch in data.iter_batches(batch_size=None, batch_format="pyarrow"):
        if batch.num_rows:
            writer = writer or parquet.ParquetWriter(target, batch.schema)
            writer.write_table(batch)
    if writer is None:
        raise DataError("there is nothing to score: the data set has no rows")
    writer.close()
    return str(target)

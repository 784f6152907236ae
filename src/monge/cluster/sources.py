"""The input of a cluster run: tables or parallel files, from any pyarrow address."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from monge.cluster.blocks import BadRowHandler, LocatedSegment
from monge.datasets.columns import Given
from monge.datasets.lines import STDIN, shown
from monge.datasets.parallel import Parallel, read_parallel
from monge.datasets.rows import Rows, table_format
from monge.datasets.tables import Table
from monge.errors import DataError, Unreadable, UsageError
from monge.render.arrow import pyarrow


class Tables:
    """Tables whose rows, one table after another, are one input.

    `note` says, after reading, how a table was read if its name did not tell its format.
    """

    def __init__(
        self, paths: Sequence[str], form: str | None = None, columns: Given | None = None
    ) -> None:
        self._paths = [table_path for path in paths for table_path in _table_paths(path)]
        self._form, self._columns, self.note = form, columns, ""
        if not self._paths:
            raise UsageError("no table was given; expected one or more")

    @property
    def names(self) -> Sequence[str]:
        """Names of the tables, as messages show them."""
        return [shown(path) for path in self._paths]

    @property
    def stamp(self) -> list[Any] | None:
        """Name, size and time of every table."""
        return stamps(self._paths)

    def read_located(self, bad: BadRowHandler | None) -> Iterator[LocatedSegment]:
        """Yield the segments of all tables; default ids are numbers within systems."""
        segment_counts: Counter[str] = Counter()
        columns_known = False

        def report_bad(line: int, why: str) -> None:
            # a row that is bad while columns are found is read again
            if bad is not None and columns_known:
                bad(why)

        for number, path in enumerate(self._paths):
            columns_known = False
            table = Table(
                Rows(path, self._form, bad=None if bad is None else report_bad), None, self._columns
            )
            columns_known, self.note = True, self.note or table.note
            for row, segment in table.numbered(None if bad is None else report_bad, segment_counts):
                yield segment, number, row.line


class ParallelFiles:
    """Parallel text files, as `-t`, `-r` and `-s` name them."""

    note = ""

    def __init__(
        self, hypotheses: Sequence[str], references: Sequence[str], source: str | None
    ) -> None:
        self._paths = hypotheses, references, source

    @property
    def _all_paths(self) -> list[str]:
        hypotheses, references, source = self._paths
        return [*hypotheses, *references, *([] if source is None else [source])]

    @property
    def names(self) -> Sequence[str]:
        """The first file of hypotheses: messages name lines of it."""
        return [shown(self._all_paths[0])]

    @property
    def stamp(self) -> list[Any] | None:
        """Name, size and time of every file."""
        return stamps(self._all_paths)

    def read_located(self, bad: BadRowHandler | None) -> Iterator[LocatedSegment]:
        """Yield the segments, by line, then by system."""
        report_bad = None if bad is None else lambda line, why: bad(why)
        files: Parallel = read_parallel(
            *self._paths, errors="strict" if bad is None else "surrogateescape"
        )
        for line, segment in files.numbered(report_bad):
            yield segment, 0, line


def stamps(paths: Sequence[str]) -> list[Any] | None:
    """Return name, size and time of files; None if one of them is a stream."""
    file_stamps = []
    for path in paths:
        if not Path(path).is_file():
            return None
        facts = Path(path).stat()
        file_stamps.append([str(Path(path).resolve()), facts.st_size, facts.st_mtime_ns])
    return file_stamps


def _table_paths(path: str) -> list[str]:
    """Return the path of a table, or the paths of the tables in a directory, sorted by name."""
    if path in ("", STDIN) or not Path(path).is_dir():
        return [path]
    tables = sorted(
        str(table)
        for table in Path(path).iterdir()
        if table.is_file() and not table.name.startswith((".", "_"))
    )
    if not tables:
        raise Unreadable(
            f"{path} is a directory without a file in it; expected the parts of a table"
        )
    for table in tables:
        table_format(table)
    return tables


@contextmanager
def beside(output: Path) -> Iterator[Path]:
    """Yield a directory beside the output for copies of the input; it is removed at the end."""
    copy_folder = Path(f"{output}.input")
    try:
        yield copy_folder
    finally:
        shutil.rmtree(copy_folder, ignore_errors=True)


def fetched(path: str, copy_folder: Path) -> str:
    """Copy what is at an address such as s3://bucket/name; return a local path as it is."""
    if "://" not in path:
        return path
    pyarrow()
    from pyarrow import fs

    try:
        system, remote_path = fs.FileSystem.from_uri(path)
        # others may have the same name
        target = copy_folder / sha256(path.encode()).hexdigest()[:8] / Path(remote_path).name
        target.parent.mkdir(parents=True, exist_ok=True)
        if system.get_file_info(remote_path).type == fs.FileType.Directory:
            target.mkdir(exist_ok=True)
        fs.copy_files(
            remote_path,
            str(target),
            source_filesystem=system,
            destination_filesystem=fs.LocalFileSystem(),
        )
    except (OSError, ValueError) as error:
        raise Unreadable(f"{path}: cannot be read ({' '.join(str(error).split())[:200]})") from None
    return str(target)


def from_arrow(data: Any, copy_folder: Path) -> str:
    """Write the rows of a pyarrow table or Ray data set to Parquet; return the path."""
    arrow, parquet = pyarrow()
    copy_folder.mkdir(parents=True, exist_ok=True)
    target = copy_folder / "rows.parquet"
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

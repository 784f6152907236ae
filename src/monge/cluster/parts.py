"""The scores of a block as a file: a row a segment and metric, in the order of the input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from monge.errors import InvalidSetting
from monge.render.arrow import arrow_columns, pyarrow, segment_schema
from monge.render.checks import checked
from monge.render.records import tsv_line
from monge.render.results import part_names, segment_line, text_fields, tsv_head, tsv_row
from monge.types import Result, Segment

FORMATS = ("parquet", "jsonl", "tsv")


def check_format(form: str, *, texts: bool) -> None:
    """Raise where parts cannot be written so."""
    if form not in FORMATS:
        raise InvalidSetting(f"--engine ray writes parts as {', '.join(FORMATS)}, got {form!r}")
    if texts and form == "tsv":
        raise InvalidSetting("--engine ray writes texts beside scores as parquet or jsonl, not as tsv")


@dataclass(frozen=True)
class Scored:
    """The scores of a block: results of every system and metric, and of each system the places of its rows."""

    results: Sequence[Result]
    places: Mapping[str, Sequence[int]]
    segments: Sequence[Segment]

    @property
    def names(self) -> list[str]:
        """The parts that any of the metrics has."""
        return list(part_names(checked(self.results))) if self.results else []

    def rows(self, *, texts: bool) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Metric, system and JSON row of every score, segment by segment."""
        found: list[list[tuple[Result, int]]] = [[] for _ in self.segments]
        for result in self.results:
            for i, place in enumerate(self.places[result.system]):
                found[place].append((result, i))
        for segment, mine in zip(self.segments, found, strict=True):
            for result, i in mine:
                row = {**result.segment(i), **(text_fields(segment) if texts else {})}
                yield result.metric, result.system, row

    def table(self, *, texts: bool) -> Any:
        """The same rows as a table of Arrow, made column by column."""
        arrow, _ = pyarrow()
        schema = segment_schema(self.names, texts=texts)
        if not self.results:
            return schema.empty_table()
        places = np.concatenate([np.asarray(self.places[one.system], dtype=np.int64) for one in self.results])
        plain = segment_schema(self.names, texts=False)
        tables = [arrow.Table.from_pydict(arrow_columns(one, self.names), schema=plain) for one in self.results]
        order = np.argsort(places, kind="stable")
        found = arrow.concat_tables(tables).take(order)
        if texts:
            each = [text_fields(self.segments[place]) for place in places[order].tolist()]
            for field in list(schema)[len(found.schema) :]:
                found = found.append_column(field, arrow.array([one.get(field.name) for one in each], field.type))
        return found


def write_part(place: Path, form: str, scored: Scored, *, texts: bool) -> None:
    """Write the scores of a block in a format of `FORMATS`."""
    if form == "parquet":
        _, parquet = pyarrow()
        parquet.write_table(scored.table(texts=texts), place)
        return
    names, rows = scored.names, scored.rows(texts=texts)
    with place.open("w", encoding="utf-8", newline="\n") as file:
        if form == "jsonl":
            file.writelines(
                segment_line({"metric": metric, "system": system}, row) + "\n" for metric, system, row in rows
            )
        else:
            file.write(tsv_line(tsv_head(names)))
            file.writelines(tsv_line(tsv_row(*one, names)) for one in rows)


def join_parts(parts: Sequence[Path], target: Path, form: str) -> None:
    """All parts as one file, one after another."""
    if form == "parquet":
        _join_tables(parts, target)
        return
    head = _longest_head(parts) if form == "tsv" else b""
    with target.open("wb") as file:
        file.write(head)
        for part in parts:
            with part.open("rb") as one:
                if form == "tsv":
                    one.readline()  # the header stands once
                while piece := one.read(1 << 20):
                    file.write(piece)


def _join_tables(parts: Sequence[Path], target: Path) -> None:
    """Join parts in Parquet; one without rows, whose columns are not known, gives none."""
    _, parquet = pyarrow()
    sizes = [parquet.read_metadata(part).num_rows for part in parts]
    filled = [part for part, rows in zip(parts, sizes, strict=True) if rows] or list(parts[:1])
    writer = None
    for part in filled:
        table = parquet.read_table(part)
        writer = writer or parquet.ParquetWriter(target, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def _longest_head(parts: Sequence[Path]) -> bytes:
    """The header of the parts: that of a part without rows lacks columns."""
    heads = []
    for part in parts:
        with part.open("rb") as one:
            heads.append(one.readline())
    return max(heads, key=len, default=b"")

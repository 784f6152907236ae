"""Write the scores of a block to a file: one row per segment and metric, in input order."""

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
from monge.render.result_records import part_names, segment_line, text_fields, tsv_head, tsv_row
from monge.types import Result, Segment

FORMATS = ("parquet", "jsonl", "tsv")


def check_format(form: str, *, texts: bool) -> None:
    """Raise if parts cannot be written in this format."""
    if form not in FORMATS:
        raise InvalidSetting(f"--engine ray writes parts as {', '.join(FORMATS)}, got {form!r}")
    if texts and form == "tsv":
        raise InvalidSetting(
            "--engine ray writes texts beside scores as parquet or jsonl, not as tsv"
        )


@dataclass(frozen=True)
class BlockScores:
    """The scores of a block: results per system and metric, and each system's row places."""

    results: Sequence[Result]
    places: Mapping[str, Sequence[int]]
    segments: Sequence[Segment]

    @property
    def names(self) -> list[str]:
        """The names of the parts (precision, recall …) that any of the metrics has."""
        return list(part_names(checked(self.results))) if self.results else []

    def rows(self, *, texts: bool) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Yield metric, system and JSON row of every score, segment by segment."""
        scores_of_rows: list[list[tuple[Result, int]]] = [[] for _ in self.segments]
        for result in self.results:
            for i, place in enumerate(self.places[result.system]):
                scores_of_rows[place].append((result, i))
        for segment, row_scores in zip(self.segments, scores_of_rows, strict=True):
            for result, i in row_scores:
                row = {**result.segment(i), **(text_fields(segment) if texts else {})}
                yield result.metric, result.system, row

    def table(self, *, texts: bool) -> Any:
        """Return the same rows as an Arrow table, made column by column."""
        arrow, _ = pyarrow()
        schema = segment_schema(self.names, texts=texts)
        if not self.results:
            return schema.empty_table()
        places = np.concatenate(
            [np.asarray(self.places[result.system], dtype=np.int64) for result in self.results]
        )
        plain = segment_schema(self.names, texts=False)
        tables = [
            arrow.Table.from_pydict(arrow_columns(result, self.names), schema=plain)
            for result in self.results
        ]
        order = np.argsort(places, kind="stable")
        table = arrow.concat_tables(tables).take(order)
        if texts:
            text_rows = [text_fields(self.segments[place]) for place in places[order].tolist()]
            for field in list(schema)[len(table.schema) :]:
                table = table.append_column(
                    field, arrow.array([row.get(field.name) for row in text_rows], field.type)
                )
        return table


def write_part(place: Path, form: str, scored: BlockScores, *, texts: bool) -> None:
    """Write the scores of a block in a format of `FORMATS`."""
    if form == "parquet":
        _, parquet = pyarrow()
        parquet.write_table(scored.table(texts=texts), place)
        return
    names, rows = scored.names, scored.rows(texts=texts)
    with place.open("w", encoding="utf-8", newline="\n") as file:
        if form == "jsonl":
            file.writelines(
                segment_line({"metric": metric, "system": system}, row) + "\n"
                for metric, system, row in rows
            )
        else:
            file.write(tsv_line(tsv_head(names)))
            file.writelines(tsv_line(tsv_row(*row, names)) for row in rows)


def join_parts(parts: Sequence[Path], target: Path, form: str) -> None:
    """Join all parts to one file, in order."""
    if form == "parquet":
        _join_tables(parts, target)
        return
    head = _longest_head(parts) if form == "tsv" else b""
    with target.open("wb") as file:
        file.write(head)
        for part in parts:
            with part.open("rb") as source:
                if form == "tsv":
                    source.readline()  # the header is written once
                while piece := source.read(1 << 20):
                    file.write(piece)


def _join_tables(parts: Sequence[Path], target: Path) -> None:
    """Join parts in Parquet; parts without rows, whose columns are unknown, are skipped."""
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
    """Return the longest header of the parts: that of a part without rows lacks columns."""
    heads = []
    for part in parts:
        with part.open("rb") as file:
            heads.append(file.readline())
    return max(heads, key=len, default=b"")

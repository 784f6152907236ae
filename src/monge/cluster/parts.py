"""The scores of a block as a file: a row a segment and metric, in the order of the input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from monge.errors import InvalidSetting
from monge.render.arrow import arrow_row, pyarrow, segment_schema
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


def rows_of(
    results: Sequence[Result], places: Mapping[str, Sequence[int]], segments: Sequence[Segment], *, texts: bool
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Metric, system and JSON row of every score, segment by segment; places: where those of each system stand."""
    found: list[list[tuple[Result, int]]] = [[] for _ in segments]
    for result in results:
        for i, place in enumerate(places[result.system]):
            found[place].append((result, i))
    for segment, mine in zip(segments, found, strict=True):
        for result, i in mine:
            row = {**result.segment(i), **(text_fields(segment) if texts else {})}
            yield result.metric, result.system, row


def write_part(
    place: Path,
    form: str,
    results: Sequence[Result],
    rows: Iterator[tuple[str, str, dict[str, Any]]],
    *,
    texts: bool,
) -> None:
    """Write the rows of results in a format of `FORMATS`."""
    names = part_names(checked(results)) if results else []
    if form == "parquet":
        arrow, parquet = pyarrow()
        schema = segment_schema(names, texts=texts)
        table = arrow.Table.from_pylist([arrow_row(*one, names) for one in rows], schema=schema)
        parquet.write_table(table, place)
        return
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
        _, parquet = pyarrow()
        writer = None
        for part in parts:
            table = parquet.read_table(part)
            writer = writer or parquet.ParquetWriter(target, table.schema)
            writer.write_table(table)
        if writer is not None:
            writer.close()
        return
    with target.open("wb") as file:
        for number, part in enumerate(parts):
            with part.open("rb") as one:
                if form == "tsv" and number:
                    one.readline()  # the header stands once
                while piece := one.read(1 << 20):
                    file.write(piece)

"""Segments as a Parquet file, one row per segment; results stand in the metadata of the file."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from monge.datasets.output import whole_file
from monge.errors import UsageError
from monge.render.arrow import arrow_rows, pyarrow, segment_schema
from monge.render.checks import checked, dumps
from monge.render.result_records import Texts, part_names
from monge.types import Result
from monge.types.result import SCHEMA

ROWS = 20_000  # of a row group: what is in memory at a time


def check_parquet(output: str | None) -> None:
    """Raise where no Parquet file could be written, before anything is scored."""
    if output is None:
        raise UsageError("--format parquet writes a file, not a stream: give -o FILE.parquet")
    pyarrow()


def write_parquet(
    results: Sequence[Result], output: str, *, version: str, texts: Texts | None = None
) -> None:
    """Write every segment of every result.

    Columns: those of `segment_schema`, a part being null where a metric lacks it. The key `monge`
    of the file's metadata has the version and the results as JSON.
    """
    arrow, parquet = pyarrow()
    names = part_names(checked(results))
    heads = [result.to_dict(segments=False) for result in results]
    about = dumps({"monge": version, "schema": SCHEMA, "results": heads})
    schema = segment_schema(names, texts=texts is not None, metadata={"monge": about})
    rows = arrow_rows(results, names, texts)
    with whole_file(output) as place, parquet.ParquetWriter(str(place), schema) as file:
        while block := list(islice(rows, ROWS)):
            file.write_table(arrow.Table.from_pylist(block, schema=schema))

"""Segments as a Parquet file: a row a segment, the results with their signatures in the metadata of the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from monge.data.output import whole_file
from monge.errors import MissingExtra, UsageError
from monge.render.checks import checked, dumps
from monge.render.results import Texts, part_names, segment_rows
from monge.types import Result
from monge.types.result import place_of

ROWS = 20_000  # of a row group: what is in memory at a time


def check_parquet(output: str | None) -> None:
    """Raise where no Parquet file could be written, before anything is scored."""
    if output is None:
        raise UsageError("--format parquet writes a file, not a stream: give -o FILE.parquet")
    _pyarrow()


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("writing Parquet", "parquet") from None
    return pyarrow, parquet


def write_parquet(results: Sequence[Result], output: str, *, version: str, texts: Texts | None = None) -> None:
    """Write every segment of every result.

    Columns: metric, system, id, score, the parts (null where a metric lacks one), best_reference (from 1; null where
    no single one counted), flags and, if given, hypothesis, references, source. The key `monge` of the file's metadata
    has the version and the results as JSON.
    """
    pyarrow, parquet = _pyarrow()
    names = part_names(checked(results))
    listed = pyarrow.list_(pyarrow.string())
    columns = [*((name, pyarrow.string()) for name in ("metric", "system", "id"))]
    columns += [(name, pyarrow.float64()) for name in ("score", *names)]
    columns += [("best_reference", pyarrow.int32()), ("flags", listed)]
    if texts is not None:
        columns += [("hypothesis", pyarrow.string()), ("references", listed), ("source", pyarrow.string())]
    about = dumps({"monge": version, "results": [one.to_dict(segments=False) for one in results]})
    schema = pyarrow.schema(columns, metadata={"monge": about})
    rows = _rows(results, names, texts)
    with whole_file(output) as place, parquet.ParquetWriter(str(place), schema) as file:
        while block := list(islice(rows, ROWS)):
            file.write_table(pyarrow.Table.from_pylist(block, schema=schema))


def _rows(results: Iterable[Result], names: Sequence[str], texts: Texts | None) -> Iterator[dict[str, Any]]:
    for result in results:
        for row in segment_rows(result, texts):
            parts, best = row.pop("parts"), place_of(row.pop("reference"))
            yield {
                "metric": result.metric,
                "system": result.system,
                **{name: parts.get(name) for name in names},
                "best_reference": best,
                **row,
            }

"""Segments as Arrow tables: a row a segment and metric; pyarrow is needed only when one is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from monge.errors import MissingExtra
from monge.render.result_records import Texts, segment_rows
from monge.types import Result
from monge.types.result import place_of


def pyarrow() -> tuple[Any, Any]:
    """Return the library and its reader and writer of Parquet; raises where it is not installed."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("writing Parquet", "parquet") from None
    return pyarrow, parquet


def segment_schema(
    parts: Sequence[str], *, texts: bool, metadata: dict[str, str] | None = None
) -> Any:
    """Columns metric, system, id, score, parts, best_reference (from 1), flags, and texts."""
    arrow, _ = pyarrow()
    string_list = arrow.list_(arrow.string())
    columns = [*((name, arrow.string()) for name in ("metric", "system", "id"))]
    columns += [(name, arrow.float64()) for name in ("score", *parts)]
    columns += [("best_reference", arrow.int32()), ("flags", string_list)]
    if texts:
        columns += [
            ("hypothesis", arrow.string()),
            ("references", string_list),
            ("source", arrow.string()),
        ]
    return arrow.schema(columns, metadata=metadata)


def arrow_row(
    metric: str, system: str, row: dict[str, Any], parts: Sequence[str]
) -> dict[str, Any]:
    """Return a segment's JSON row as a row of the table; parts that it lacks are null."""
    rest = {name: value for name, value in row.items() if name != "parts"}
    own = {name: row["parts"].get(name) for name in parts}
    return {
        "metric": metric,
        "system": system,
        **own,
        **rest,
    }


def arrow_columns(result: Result, parts: Sequence[str]) -> dict[str, Any]:
    """Return the columns of the table, without texts, for all segments of a result."""
    nothing = [None] * result.n
    columns: dict[str, Any] = {
        "metric": [result.metric] * result.n,
        "system": [result.system] * result.n,
    }
    columns |= {"id": result.ids, "score": result.segments}
    columns |= {name: result.parts.get(name, nothing) for name in parts}
    return {
        **columns,
        "best_reference": list(map(place_of, result.references)),
        "flags": list(map(list, result.flags)),
    }


def arrow_rows(
    results: Iterable[Result], parts: Sequence[str], texts: Texts | None
) -> Iterator[dict[str, Any]]:
    """Yield the rows of every segment of every result."""
    for result in results:
        for row in segment_rows(result, texts):
            yield arrow_row(result.metric, result.system, row, parts)

"""Results for programs: JSON, JSON Lines and tab-separated values, with all digits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from monge.render.checks import checked, dumps
from monge.render.records import tsv_line
from monge.types import Result, Segment
from monge.types.result import SCHEMA

Texts = Callable[[str], Iterable[Segment]]
"""The segments of a system, in the order of its scores."""
TEXT_COLUMNS = ("hypothesis", "references", "source")


def segment_rows(result: Result, texts: Texts | None = None) -> Iterator[dict[str, Any]]:
    """Yield the rows of a result's segments, with their texts if these are given."""
    if texts is None:
        yield from (result.segment(index) for index in range(result.n))
        return
    for index, segment in zip(range(result.n), texts(result.system), strict=True):
        yield {**result.segment(index), **text_fields(segment)}


def text_fields(segment: Segment) -> dict[str, Any]:
    """Return the texts of a segment, as its row has them."""
    return {
        "hypothesis": segment.hypothesis,
        "references": list(segment.references),
        "source": segment.source,
    }


def show_place(place: int | None) -> str:
    """Return the number of a reference as a text; nothing where no single reference counted."""
    return "" if place is None else str(place)


def results_json(
    results: Sequence[Result], *, version: str, segments: bool = False, texts: Texts | None = None
) -> Iterator[str]:
    """Yield one JSON object in pieces: the version of monge and every result, in order."""
    heads = [dumps(result.to_dict(segments=False)) for result in checked(results)]
    document = {"monge": version, "schema": SCHEMA, "results": []}
    before = dumps(document).removesuffix("]}")
    for result, head in zip(results, heads, strict=True):
        yield before
        yield from _with_segments(head, segment_rows(result, texts)) if segments else [head]
        before = ", "
    yield "]}\n"


def _with_segments(head: str, rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a result's JSON with its segments behind the rest, one by one."""
    before = head.removesuffix("}") + ', "segments": ['
    for row in rows:
        yield before + dumps(row)
        before = ", "
    yield "]}"


def results_jsonl(results: Sequence[Result], texts: Texts | None = None) -> Iterator[str]:
    """Yield lines of JSON without newlines: one line per segment, then one for its result.

    `type` is "segment" or "result"; a segment's line names its metric and system, so lines can be
    sorted, sampled and joined on their own.
    """
    for result in checked(results):
        name = {"metric": result.metric, "system": result.system}
        for row in segment_rows(result, texts):
            yield segment_line(name, row)
        yield result_line(result)


def segment_line(name: Mapping[str, str], row: Mapping[str, Any]) -> str:
    """Return the line of a segment: its metric and system, then the row."""
    return dumps({"type": "segment", **name, **row})


def result_line(result: Result) -> str:
    """Return the line of a result."""
    return dumps({"type": "result", **result.to_dict(segments=False)})


def results_tsv(
    results: Sequence[Result], *, segments: bool = False, texts: Texts | None = None
) -> Iterator[str]:
    r"""Return tab-separated values under a header, numbers in full; \t, \n, \\ are escapes.

    One row a result, or with `segments` one row a segment. A part that a metric does not have is
    empty. Texts stand under the names that `monge score TABLE` reads: hypothesis, reference (or
    reference_1, reference_2 …), source.
    """
    rows = _segment_rows(checked(results), texts) if segments else _result_rows(checked(results))
    yield from map(tsv_line, rows)


def part_names(results: Sequence[Result]) -> list[str]:
    """Return the parts that any of the results has, in order."""
    return list(dict.fromkeys(name for result in results for name in result.parts))


def _result_rows(results: Sequence[Result]) -> Iterator[list[str]]:
    names = part_names(results)
    yield ["metric", "system", "score", "low", "high", *names, "higher_is_better", "n", "signature"]
    for result in results:
        row = result.to_dict(segments=False)
        low, high = result.interval or (None, None)
        numbers = [result.score, low, high, *(row["parts"].get(name) for name in names)]
        better = str(result.higher_is_better).lower()
        yield [
            result.metric,
            result.system,
            *map(_full, numbers),
            better,
            str(result.n),
            row["signature"],
        ]


def _segment_rows(results: Sequence[Result], texts: Texts | None) -> Iterator[list[str]]:
    names, most = part_names(results), 0
    if texts is not None:
        systems = dict.fromkeys(result.system for result in results)
        most = max(len(segment.references) for system in systems for segment in texts(system))
    numbered = [f"reference_{k + 1}" for k in range(most)] if most > 1 else ["reference"]
    text_columns = [] if texts is None else ["hypothesis", *numbered, "source"]
    yield [*tsv_head(names), *text_columns]
    for result in results:
        for row in segment_rows(result, texts):
            last = []
            if texts is not None:
                references = row["references"] + [""] * (len(numbered) - len(row["references"]))
                last = [row["hypothesis"], *references, row["source"] or ""]
            yield [*tsv_row(result.metric, result.system, row, names), *last]


def tsv_head(parts: Sequence[str]) -> list[str]:
    """Return the header above the rows of segments."""
    return ["metric", "system", "id", "score", *parts, "best_reference", "flags"]


def tsv_row(metric: str, system: str, row: Mapping[str, Any], parts: Sequence[str]) -> list[str]:
    """Return the values of a segment's row, under `tsv_head`."""
    numbers = [row["score"], *(row["parts"].get(name) for name in parts)]
    return [
        metric,
        system,
        row["id"],
        *map(_full, numbers),
        show_place(row["best_reference"]),
        ",".join(row["flags"]),
    ]


def _full(value: float | None) -> str:
    """Return a number with all its digits, or nothing."""
    return "" if value is None else repr(float(value))

"""Results as strings: the formats of `monge score`, and the table that names them.

Every format ends with one newline and never holds NaN or infinity. Formats that hold segments come piece by piece,
so that a million of them need not be in memory as text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from monge.errors import UnknownName
from monge.render.checks import checked, dumps
from monge.render.results_page import results_html
from monge.render.results_text import results_latex, results_text
from monge.types import Result

__all__ = [
    "FORMATS",
    "render_results",
    "results_html",
    "results_json",
    "results_jsonl",
    "results_latex",
    "results_text",
    "results_tsv",
]

_TSV = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def results_json(results: Sequence[Result], *, version: str, segments: bool = False) -> Iterator[str]:
    """One JSON object, in pieces: the version of monge and every result, in order."""
    heads = [dumps(result.to_dict(segments=False)) for result in checked(results)]
    before = dumps({"monge": version, "results": []}).removesuffix("]}")
    for result, head in zip(results, heads, strict=True):
        yield before
        yield from _with_segments(head, result) if segments else [head]
        before = ", "
    yield "]}\n"


def _with_segments(head: str, result: Result) -> Iterator[str]:
    """A result's JSON with its segments behind the rest, one by one."""
    before = head.removesuffix("}") + ', "segments": ['
    for index in range(result.n):
        yield before + dumps(result.segment(index))
        before = ", "
    yield "]}"


def results_jsonl(results: Sequence[Result]) -> Iterator[str]:
    """Lines of JSON without their newlines: a line a segment, then one for its result.

    `type` is "segment" or "result"; a segment's line names its metric and system, so lines can be
    sorted, sampled and joined on their own.
    """
    for result in checked(results):
        name = {"metric": result.metric, "system": result.system}
        for index in range(result.n):
            yield segment_line(name, result.segment(index))
        yield result_line(result)


def segment_line(name: Mapping[str, str], row: Mapping[str, Any]) -> str:
    """The line of a segment: its metric and system, then the row."""
    return dumps({"type": "segment", **name, **row})


def result_line(result: Result) -> str:
    """The line of a result."""
    return dumps({"type": "result", **result.to_dict(segments=False)})


def results_tsv(results: Sequence[Result], *, segments: bool = False) -> Iterator[str]:
    r"""Lines of values between tabs, under a header, numbers in full; \t, \n and \\ stand for what would break them.

    One row a result, or with `segments` one row a segment. A part that a metric does not have is empty.
    """
    names = list(dict.fromkeys(name for result in checked(results) for name in result.parts))
    rows = _segment_rows(results, names) if segments else _result_rows(results, names)
    yield from ("\t".join(cell.translate(_TSV) for cell in row) + "\n" for row in rows)


def _result_rows(results: Sequence[Result], names: Sequence[str]) -> Iterator[list[str]]:
    yield ["metric", "system", "score", "low", "high", *names, "higher_is_better", "n", "signature"]
    for result in results:
        row = result.to_dict(segments=False)
        low, high = result.interval or (None, None)
        numbers = [result.score, low, high, *(row["parts"].get(name) for name in names)]
        better = str(result.higher_is_better).lower()
        yield [result.metric, result.system, *map(_cell, numbers), better, str(result.n), row["signature"]]


def _segment_rows(results: Sequence[Result], names: Sequence[str]) -> Iterator[list[str]]:
    yield ["metric", "system", "id", "score", *names, "reference", "flags"]
    for result in results:
        for index in range(result.n):
            row = result.segment(index)
            numbers = [row["score"], *(row["parts"].get(name) for name in names)]
            last = [str(row["reference"]), ",".join(row["flags"])]
            yield [result.metric, result.system, row["id"], *map(_cell, numbers), *last]


def _cell(value: float | None) -> str:
    return "" if value is None else repr(float(value))


Formatter = Callable[[Sequence[Result], str, bool], Iterable[str]]

FORMATS: Mapping[str, Formatter] = MappingProxyType(
    {
        "text": lambda results, _, segments: [results_text(results, segments=segments)],
        "json": lambda results, version, segments: results_json(results, version=version, segments=segments),
        "jsonl": lambda results, _, __: (line + "\n" for line in results_jsonl(results)),
        "tsv": lambda results, _, segments: results_tsv(results, segments=segments),
        "latex": lambda results, _, __: [results_latex(results)],
        "html": lambda results, _, segments: [results_html(results, segments=segments)],
    }
)


def render_results(results: Sequence[Result], form: str, *, version: str, segments: bool = False) -> Iterable[str]:
    """The results in a named format, in pieces to be written one after another.

    Args:
        results: what to show.
        form: a name of `FORMATS`.
        version: of monge, for the formats that carry it.
        segments: whether to show segments too; `jsonl` always does, `latex` never.
    """
    if form not in FORMATS:
        raise UnknownName("format", form, FORMATS)
    return FORMATS[form](checked(results), version, segments)

"""Results as strings: the formats of `monge score`, and the table that names them.

Every format ends with one newline and never holds NaN or infinity. Formats that hold segments come piece by piece,
so that a million of them need not be in memory as text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from monge.errors import UnknownName
from monge.render.cells import number, span
from monge.render.checks import checked, dumps
from monge.render.table import sheets_fragment, sheets_html, sheets_latex, sheets_text
from monge.types import Result
from monge.types.table import Cell, Sheet

_TSV = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def results_text(
    results: Sequence[Result], *, segments: bool = False, width: int | None = None, colour: bool = False
) -> str:
    """A table for people: a row a metric and system, then those of segments, signatures, and what was unusual.

    A table wider than the terminal's `width` loses parts, then the interval, then the ends of long names; signatures
    stay whole. `colour` is in ANSI styles.
    """
    return sheets_text(_sheets(results, segments), remarks=_remarks(results), width=width, colour=colour)


def results_html(results: Sequence[Result], *, segments: bool = False) -> str:
    """A page with the table of results, the signatures, what was unusual and, if asked, every segment."""
    systems = len({result.system for result in results})
    metrics = ", ".join(dict.fromkeys(result.metric for result in results))
    title = f"{metrics}: {systems} system{'s' * (systems != 1)}"
    return sheets_html(_sheets(results, segments), title=title, remarks=_remarks(results))


def results_fragment(results: Sequence[Result]) -> str:
    """The table of results, the signatures and what was unusual, to stand inside another page: a notebook."""
    return sheets_fragment(_sheets(results, segments=False), remarks=_remarks(results))


def results_latex(results: Sequence[Result]) -> str:
    """A booktabs table, systems by metrics, best in bold, with the signatures under it and as comments."""
    columns = _by_metric(checked(results))
    marks = [_marks(column) for column in columns]
    rows = []
    for system in dict.fromkeys(result.system for result in results):
        row = [Cell(system or "--")]
        for column, mine in zip(columns, marks, strict=True):
            k = next((k for k, result in enumerate(column) if result.system == system), None)
            row.append(Cell("--") if k is None else Cell(number(column[k].score), _interval(column[k]), mine[k]))
        rows.append(tuple(row))
    head = ("System", *(_name(column[0]) for column in columns))
    sheet = Sheet("", head, tuple(rows), signatures=tuple(str(result.signature) for result in results))
    return sheets_latex([sheet], remarks=_remarks(results))


def _sheets(results: Sequence[Result], segments: bool) -> list[Sheet]:
    """A table for every set of parts that metrics have, then one of segments for every result."""
    by_parts: dict[tuple[str, ...], list[tuple[Cell, ...]]] = {}
    for column in _by_metric(checked(results)):
        for result, mark in zip(column, _marks(column), strict=True):
            parts = [Cell(number(float(values.mean()))) for values in result.parts.values()]
            score = Cell(number(result.score), mark=mark)
            row = Cell(_name(result)), Cell(result.system), score, Cell(_interval(result)), *parts, Cell(str(result.n))
            by_parts.setdefault(tuple(result.parts), []).append(row)
    signatures = tuple(str(result.signature) for result in results)
    sheets = [
        Sheet("", ("metric", "system", "score", "interval", *parts, "n"), tuple(rows), signatures=signatures, words=2,
              spare=tuple(range(3, 4 + len(parts))), grouped=True)
        for parts, rows in by_parts.items()
    ]  # fmt: skip
    return [*sheets, *(_segments(result) for result in results)] if segments else sheets


def _segments(result: Result) -> Sheet:
    several, flagged = bool(result.references.any()), any(result.flags)
    rows = []
    for index in range(result.n):
        one = result.segment(index)
        numbers = [Cell(number(value)) for value in (one["score"], *one["parts"].values())]
        last = Cell(str(one["reference"]) if several else ""), Cell(", ".join(one["flags"]) if flagged else "")
        rows.append((Cell(one["id"]), *numbers, *last))
    head = ("id", "score", *result.parts, "reference", "flags")
    title = " · ".join(name for name in (result.metric, result.system) if name)
    return Sheet(title, head, tuple(rows), words_behind=1, folded=True)


def _by_metric(results: Sequence[Result]) -> list[list[Result]]:
    """The results by metric, in order of appearance; a metric that scored a system twice stands twice."""
    seen: Counter[tuple[str, str]] = Counter()
    groups: dict[tuple[str, bool, int], list[Result]] = {}
    for result in results:
        cell = (result.metric, result.system)
        groups.setdefault((result.metric, result.higher_is_better, seen[cell]), []).append(result)
        seen[cell] += 1
    return list(groups.values())


def _marks(column: Sequence[Result]) -> list[str]:
    """Every system equal to the best as shown is best; one alone is not contested."""
    if len(column) == 1:
        return ["only"]
    pick = max if column[0].higher_is_better else min
    top = number(pick(result.score for result in column))
    return ["best" if number(result.score) == top else "" for result in column]


def _name(result: Result) -> str:
    return f"{result.metric} {'↑' if result.higher_is_better else '↓'}"


def _interval(result: Result) -> str:
    low, high = result.interval or (None, None)
    return span(low, high, 4)


def _remarks(results: Sequence[Result]) -> list[str]:
    """One line for every kind of truncation or flag of a system, with the metrics that met it."""
    found: dict[tuple[str, str], list[str]] = {}
    for result in results:
        flagged = result.run.get("flagged") or Counter(flag for flags in result.flags for flag in flags)
        for name, count in {"truncated": result.run.get("truncated", 0), **flagged}.items():
            if count:
                found.setdefault((result.system, f"{count} {name}"), []).append(result.metric)
    return [
        f"{system + ': ' if system else ''}{what} ({', '.join(dict.fromkeys(metrics))})"
        for (system, what), metrics in found.items()
    ]


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
        yield [result.metric, result.system, *map(_full, numbers), better, str(result.n), row["signature"]]


def _segment_rows(results: Sequence[Result], names: Sequence[str]) -> Iterator[list[str]]:
    yield ["metric", "system", "id", "score", *names, "reference", "flags"]
    for result in results:
        for index in range(result.n):
            row = result.segment(index)
            numbers = [row["score"], *(row["parts"].get(name) for name in names)]
            last = [str(row["reference"]), ",".join(row["flags"])]
            yield [result.metric, result.system, row["id"], *map(_full, numbers), *last]


def _full(value: float | None) -> str:
    """A number with all its digits, or nothing."""
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
    """The results in a format of `FORMATS`, in pieces to be written one after another.

    `version` is that of monge, for the formats that carry it; of `segments`, jsonl always shows them, latex never.
    """
    if form not in FORMATS:
        raise UnknownName("format", form, FORMATS)
    return FORMATS[form](checked(results), version, segments)

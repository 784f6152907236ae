"""Results as strings: the formats of `monge score`, and the table that names them.

Every format ends with one newline and never holds NaN or infinity. Formats that hold segments come
piece by piece, so that a million of them need not be in memory as text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from monge.errors import UnknownName
from monge.render.cells import (
    MOST_DIGITS,
    decimals,
    listed,
    number,
    span,
    supported_digits,
)
from monge.render.checks import checked
from monge.render.result_records import (
    TEXT_COLUMNS,
    Texts,
    results_json,
    results_jsonl,
    results_tsv,
    segment_rows,
    show_place,
)
from monge.render.table import sheets_latex, sheets_markdown, sheets_text
from monge.render.table_page import html_sheet, sheets_fragment, sheets_html
from monge.types import Result
from monge.types.exact import mean
from monge.types.flags import FlagKind, describe_flag, has_kind
from monge.types.system_names import short_names
from monge.types.table import Cell, Sheet, Span

_NAMED = 3
_UNTESTED = (
    "the best score; whether it is more than chance is not tested here: monge compare tests it"
)


@dataclass(frozen=True)
class View:
    """What is shown of results: segments, texts, and how a signature is written for people.

    `version` is that of monge, for the formats that carry it, `date` the day of the run, for pages.
    """

    version: str = ""
    segments: bool = False
    texts: Texts | None = None
    signed: Callable[[str], str] = str
    date: str = ""


USUAL = View()


def results_text(
    results: Sequence[Result],
    *,
    segments: bool = False,
    width: int | None = None,
    colour: bool = False,
    view: View = USUAL,
) -> str:
    """Return a table for people: metrics and systems, segments, signatures, unusual things.

    No line but a signature is longer than the terminal's `width`. `colour` is in ANSI styles.
    `segments` is short for a view with them.
    """
    view = replace(view, segments=view.segments or segments)
    return sheets_text(
        _sheets(results, view),
        remarks=_remarks(results),
        width=width,
        colour=colour,
        signed=view.signed,
    )


def results_html(results: Sequence[Result], *, segments: bool = False, view: View = USUAL) -> str:
    """Return a page: results best first, remarks, signatures and, if asked, segments."""
    view = replace(view, segments=view.segments or segments)
    sheets = _sheets(results, view, on_page=True)
    return sheets_html(
        sheets, title=_title(results, view), remarks=_remarks(results), signed=view.signed
    )


def _title(results: Sequence[Result], view: View) -> str:
    """Systems, metrics and the day."""
    systems = list(short_names(result.system for result in results if result.system).values())
    metrics = listed(list(dict.fromkeys(result.metric for result in results)))
    system_names = listed(systems) if 0 < len(systems) <= _NAMED else f"{len(systems)} systems"
    title = f"{system_names} by {metrics}" if systems else metrics
    return f"{title}, {view.date}" if view.date else title


def results_fragment(results: Sequence[Result]) -> str:
    """Return results, signatures and remarks for another page: a notebook."""
    sheets = _sheets(results, USUAL, on_page=True)
    return sheets_fragment(sheets, title=_title(results, USUAL), remarks=_remarks(results))


def results_content(results: Sequence[Result]) -> str:
    """Return the tables of results alone, for a page that has their style."""
    sheets = _sheets(results, USUAL, on_page=True)
    plain = [
        tuple(tuple(replace(cell, mark="") for cell in row) for row in sheet.rows)
        for sheet in sheets
    ]
    return "\n".join(
        html_sheet(replace(sheet, rows=rows, untested=""))
        for sheet, rows in zip(sheets, plain, strict=True)
    )


def results_markdown(results: Sequence[Result], view: View = USUAL) -> str:
    """Return the tables of results and, if asked, of segments, for a document."""
    return sheets_markdown(_sheets(results, view), remarks=_remarks(results), signed=view.signed)


def results_latex(results: Sequence[Result], view: View = USUAL) -> str:
    """Return a booktabs table, systems by metrics, best in bold, with signatures below."""
    columns = _by_metric(checked(results))
    marks = [_marks(column) for column in columns]
    rows, names = [], short_names(result.system for result in results)
    for system in dict.fromkeys(result.system for column in columns for result in column):
        row = [Cell(names[system] or "--")]
        for column, column_marks in zip(columns, marks, strict=True):
            k = next((k for k, result in enumerate(column) if result.system == system), None)
            digits = supported_digits(result.interval for result in column)
            texts_shown = (
                ()
                if k is None
                else (
                    decimals(column[k].score, digits),
                    _interval(column[k], digits),
                    column_marks[k],
                )
            )
            row.append(Cell(*texts_shown) if texts_shown else Cell("--"))
        rows.append(tuple(row))
    head = ("System", *(_name(column[0]) for column in columns))
    untested = (
        _UNTESTED if any(mark == "best" for column_marks in marks for mark in column_marks) else ""
    )
    signatures = tuple(str(result.signature) for result in results)
    sheet = Sheet("", head, tuple(rows), signatures=signatures, untested=untested)
    return sheets_latex([sheet], remarks=_remarks(results), signed=view.signed)


def _sheets(results: Sequence[Result], view: View, *, on_page: bool = False) -> list[Sheet]:
    """Return the tables of scores, then one of segments for every result.

    There is one table per set of parts that metrics have; `on_page` one per metric, whose intervals
    share a scale.
    """
    tables: dict[tuple[str, ...], list[tuple[Cell, ...]]] = {}
    heads: dict[tuple[str, ...], tuple[str, tuple[str, ...]]] = {}
    names = short_names(result.system for result in results)
    for place, column in enumerate(_by_metric(checked(results))):
        digits = supported_digits(result.interval for result in column)
        for result, mark in zip(column, _marks(column), strict=True):
            key = (str(place),) if on_page else tuple(result.parts)
            heads[key] = _name(result) if on_page else "", tuple(result.parts)
            tables.setdefault(key, []).append(_row(result, mark, names[result.system], digits))
    signatures = tuple(str(result.signature) for result in results)
    sheets = []
    for key, (title, parts) in heads.items():
        head = ("metric", "system", "score", "interval", *parts, "n")
        sheet = Sheet("", head, tuple(tables[key]), signatures=signatures, words=2, grouped=True)
        sheets.append(
            replace(sheet.columns(list(range(1, len(head)))), title=title) if on_page else sheet
        )
    marked = [
        k
        for k, sheet in enumerate(sheets)
        if any(cell.mark == "best" for row in sheet.rows for cell in row)
    ]
    if marked:  # said once, under the last table that has the mark
        sheets[marked[-1]] = replace(sheets[marked[-1]], untested=_UNTESTED)
    if view.segments:
        return [*sheets, *(_segments(result, view.texts) for result in results)]
    return sheets


def _row(result: Result, mark: str, name: str, digits: int) -> tuple[Cell, ...]:
    """Metric, system, score, interval, parts and the number of segments of a result."""
    values = [mean(values) for values in result.parts.values()]
    parts = [Cell(decimals(value, MOST_DIGITS), short=decimals(value, digits)) for value in values]
    score = Cell(
        decimals(result.score, MOST_DIGITS), mark=mark, short=decimals(result.score, digits)
    )
    interval = Cell("")
    if result.interval is not None:
        ends = Span(result.interval[0], result.score, result.interval[1])
        interval = Cell(_interval(result), span=ends, short=_interval(result, digits))
    return (
        Cell(_name(result)),
        Cell(result.system, short=name),
        score,
        interval,
        *parts,
        Cell(str(result.n)),
    )


def _segments(result: Result, texts: Texts | None) -> Sheet:
    several, flagged = bool((result.references != 0).any()), any(result.flags)
    rows = []
    for segment_row in segment_rows(result, texts):
        numbers = [
            Cell(number(value)) for value in (segment_row["score"], *segment_row["parts"].values())
        ]
        best = Cell(show_place(segment_row["best_reference"]) if several else "")
        words = [", ".join(segment_row["flags"]) if flagged else ""]
        words += (
            [
                segment_row["hypothesis"],
                " | ".join(segment_row["references"]),
                segment_row["source"] or "",
            ]
            if texts
            else []
        )
        rows.append((Cell(segment_row["id"]), *numbers, best, *map(Cell, words)))
    text_columns = TEXT_COLUMNS if texts else ()
    head = ("id", "score", *result.parts, "best_reference", "flags", *text_columns)
    title = " · ".join(name for name in (result.metric, result.system) if name)
    return Sheet(
        title,
        head,
        tuple(rows),
        words_behind=1 + len(text_columns),
        texts=len(text_columns),
        folded=True,
    )


def _by_metric(results: Sequence[Result]) -> list[list[Result]]:
    """Return the results by metric, in order; a metric that scored a system twice appears twice.

    Systems stand from best to worst by the first metric, in the same order under every metric.
    """
    counts: Counter[tuple[str, str]] = Counter()
    groups: dict[tuple[str, bool, int], list[Result]] = {}
    for result in results:
        cell = (result.metric, result.system)
        groups.setdefault((result.metric, result.higher_is_better, counts[cell]), []).append(result)
        counts[cell] += 1
    columns = list(groups.values())
    first = sorted(
        columns[0] if columns else [],
        key=lambda result: -result.score if result.higher_is_better else result.score,
    )
    places = {result.system: place for place, result in enumerate(first)}
    return [
        sorted(column, key=lambda result: places.get(result.system, len(places)))
        for column in columns
    ]


def _marks(column: Sequence[Result]) -> list[str]:
    """Return every system equal to the best as shown is best; one alone is not contested."""
    if len(column) == 1:
        return ["only"]
    pick = max if column[0].higher_is_better else min
    digits = supported_digits(result.interval for result in column)
    top = decimals(pick(result.score for result in column), digits)
    return ["best" if decimals(result.score, digits) == top else "" for result in column]


def _name(result: Result) -> str:
    return f"{result.metric} {'↑' if result.higher_is_better else '↓'}"


def _interval(result: Result, digits: int = 4) -> str:
    low, high = result.interval or (None, None)
    return span(low, high, digits)


def _remarks(results: Sequence[Result]) -> list[str]:
    """Return a line per kind of truncation or flag of a system, naming the metrics."""
    by_remark: dict[tuple[str, str], list[str]] = {}
    for result in results:
        flagged = result.run.get("flagged") or Counter(
            flag for flags in result.flags for flag in flags
        )
        flag_counts = {
            describe_flag(name).lower().rstrip("."): count for name, count in flagged.items()
        }
        truncated = result.run.get("truncated", 0)
        if truncated and not has_kind(flagged, FlagKind.TRUNCATED):
            flag_counts["a text was longer than the model reads, and was cut"] = truncated
        for flag, count in flag_counts.items():
            if count:
                by_remark.setdefault((result.system, f"{count} × {flag}"), []).append(result.metric)
    names = short_names(result.system for result in results)
    return [
        f"{names[system] + ': ' if system else ''}{flag} ({', '.join(dict.fromkeys(metrics))})"
        for (system, flag), metrics in by_remark.items()
    ]


Formatter = Callable[[Sequence[Result], View], Iterable[str]]

FORMATS: Mapping[str, Formatter] = MappingProxyType(
    {
        "text": lambda results, view: [results_text(results, view=view)],
        "json": lambda results, view: results_json(
            results, version=view.version, segments=view.segments, texts=view.texts
        ),
        "jsonl": lambda results, view: (line + "\n" for line in results_jsonl(results, view.texts)),
        "tsv": lambda results, view: results_tsv(results, segments=view.segments, texts=view.texts),
        "markdown": lambda results, view: [results_markdown(results, view)],
        "latex": lambda results, view: [results_latex(results, view)],
        "html": lambda results, view: [results_html(results, view=view)],
    }
)


def render_results(
    results: Sequence[Result],
    form: str,
    *,
    version: str = "",
    segments: bool = False,
    view: View = USUAL,
) -> Iterable[str]:
    """Return the results in a format of `FORMATS`, in pieces to be written one after another.

    `version` and `segments` are short for a view with them; jsonl always shows segments, latex
    never.
    """
    if form not in FORMATS:
        raise UnknownName("format", form, FORMATS)
    view = replace(view, version=version or view.version, segments=segments or view.segments)
    return FORMATS[form](checked(results), view)

"""Results as a self-contained HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from monge.render.checks import checked
from monge.render.page import fragment, html_table, page, safe
from monge.render.ranking import Row, notes, number, part_means, signatures, tables
from monge.types import Result

_STYLE = """
.monge .best { font-weight: 700; color: var(--good); }
.monge ul { list-style: none; padding: 0; margin: .25rem 0; }
.monge li { margin: .25rem 0; }
"""


def results_html(results: Sequence[Result], *, segments: bool = False) -> str:
    """A page with the table of results, the signatures, what was unusual and, if asked, every segment."""
    checked(results)
    systems = dict.fromkeys(result.system for result in results)
    metrics = dict.fromkeys(result.metric for result in results)
    title = f"{', '.join(metrics)}: {_count(len(systems), 'system')}"
    content = [f"<h1>{safe(title)}</h1>"]
    content += [_table(parts, rows) for parts, rows in tables(results)]
    if any(row.best for _, rows in tables(results) for row in rows):
        content.append('<p class="soft"><small>Bold: the best system by that metric.</small></p>')
    content.append("<h2>Signatures</h2>\n" + _listing(f"<code>{safe(line)}</code>" for line in signatures(results)))
    if found := notes(results):
        content.append("<h2>Unusual segments</h2>\n" + _listing(safe(line) for line in found))
    if segments:
        content += ["<h2>Segments</h2>", *(_segments(result) for result in results)]
    return page(f"monge: {title}", fragment("\n".join(content), _STYLE))


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


def _listing(items: Iterator[str]) -> str:
    return "<ul>\n" + "\n".join(f"<li>{item}</li>" for item in items) + "\n</ul>"


def _table(parts: Sequence[str], rows: Sequence[Row]) -> str:
    interval = any(row.interval for row in rows)
    numbers = ["score", *(["interval"] if interval else []), *parts, "n"]
    head = [("metric", ""), ("system", ""), *((name, "number") for name in numbers)]
    return html_table(head, (_cells(row, parts, interval) for row in rows), caption="scores")


def _cells(row: Row, parts: Sequence[str], interval: bool) -> Iterator[str]:
    result, means = row.result, part_means(row.result)
    direction = "higher is better" if result.higher_is_better else "lower is better"
    yield f'{safe(result.metric)} <span class="soft" title="{direction}">{row.arrow}</span>'
    yield f"<bdi>{safe(result.system)}</bdi>"
    yield f'<span class="best">{row.score}</span>' if row.best else row.score
    if interval:
        yield f'<span class="soft">{row.interval}</span>'
    yield from (number(means[part]) for part in parts)
    yield str(result.n)


def _segments(result: Result) -> str:
    name = " · ".join(text for text in (result.metric, result.system) if text)
    head = [("id", ""), *((text, "number") for text in ("score", *result.parts, "reference")), ("flags", "")]
    rows = (_segment_cells(result, index) for index in range(result.n))
    summary = f"{safe(name)} <span class='soft'>({_count(result.n, 'segment')})</span>"
    return f"<details>\n<summary>{summary}</summary>\n{html_table(head, rows, caption=name)}\n</details>"


def _segment_cells(result: Result, index: int) -> Iterator[str]:
    segment = result.segment(index)
    yield f"<bdi>{safe(segment['id'])}</bdi>"
    yield from (number(value) for value in (segment["score"], *segment["parts"].values()))
    yield str(segment["reference"])
    yield safe(", ".join(segment["flags"]))

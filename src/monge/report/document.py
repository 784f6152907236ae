"""A report as one HTML file that needs nothing else, and as a summary in Markdown or LaTeX."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from monge.errors import UnknownName
from monge.render.cells import listed
from monge.render.charts import CHART_STYLE
from monge.render.components import asset, joined
from monge.render.page import fragment, html_signatures, page, safe
from monge.render.table import TABLE_STYLE, html_sheet, render_sheets
from monge.report.compact import packed
from monge.report.material import HUMAN, Material
from monge.report.people import human
from monge.report.sections import Section, sections
from monge.types.flags import describe_flag
from monge.types.table import Cell, Sheet

REPORT_FORMATS = ("html", "markdown", "latex")
_ORDERS = {
    "input": "place in the input",
    "score": "score of the system",
    "difference": "system minus other system",
    "spread": "best minus worst",
    "disagreement": "disagreement of the metrics",
    "human": "human score of the system",
}
_MARKED = (
    " Orange marks what hurt: the stronger a word is marked, the more of the score it lost by the chosen metric. "
    "“Plan” shows which words were matched with which, and at what cost."
)


def render_report(material: Material, form: str, *, version: str, signed: Callable[[str], str] = str) -> str:
    """The report in a format of `REPORT_FORMATS`; `version` is that of monge, `signed` writes signatures for people."""
    if form not in REPORT_FORMATS:
        raise UnknownName("format", form, REPORT_FORMATS)
    parts = [*sections(material), *([human(material)] if material.human is not None else [])]
    if form == "html":
        return _html(material, parts, version, signed)
    about = Sheet("What was compared", ("", ""), tuple((Cell(a), Cell(b)) for a, b in _facts(material)), words=2)
    chosen = [part for part in parts if part.brief]
    sheets = [about]
    for part in chosen:
        first, *rest = part.sheets
        sheets += [replace(first, title=f"{part.title}: {first.title}", said=part.said), *rest]
    return render_sheets(sheets, form, signed=signed)


def _facts(material: Material) -> list[tuple[str, str]]:
    """What was compared, in words."""
    flagged = {flag for row in material.results for one in row for flags in one.flags for flag in flags}
    found = [
        ("systems", ", ".join(material.systems)),
        ("metrics", ", ".join(material.metrics)),
        ("segments", f"{material.items} of each system"),
    ]
    if material.date:
        found.append(("date", material.date))
    if material.human is not None:
        judged, every = int(np.isfinite(material.human).sum()), material.human.size
        named = "" if material.human_name == HUMAN else f"{material.human_name}, for "
        found.append((HUMAN, f"{named}{judged if judged < every else 'all'} of {every} outputs"))
    return [*found, *([("unusual", " ".join(describe_flag(flag) for flag in sorted(flagged)))] if flagged else [])]


def _title(material: Material) -> str:
    if material.title:
        return material.title
    count = len(material.systems)
    named = listed(material.systems) if count <= 3 else f"{count} systems"
    metrics = listed(material.metrics) if len(material.metrics) <= 4 else f"{len(material.metrics)} metrics"
    return f"{named} by {metrics}"


def _html(material: Material, parts: list[Section], version: str, signed: Callable[[str], str]) -> str:
    title = _title(material)
    lead = material.comparison.told or [
        f"{material.standings[0].name_cell(material.systems[0]).short}: {material.items} segments."
    ]
    facts = "".join(
        f'<tr><th scope="row">{safe(a)}</th><td class="words">{safe(b)}</td></tr>' for a, b in _facts(material)
    )
    links = [*((part.key, part.title) for part in parts), ("segments", "Segments"), ("made", "How it was made")]
    content = [
        f"<h1>{safe(title)}</h1>",
        *(f'<p class="lead">{safe(line)}</p>' for line in lead),
        '<nav class="parts" aria-label="Parts">' + "".join(f'<a href="#{key}">{safe(name)}</a>' for key, name in links),
        "</nav>",
        '<div class="scroll" tabindex="0" role="region" aria-label="What was compared">'
        f"<table><tbody>{facts}</tbody></table></div>",
        *(_section(part) for part in parts),
        _browser(material),
        _made(material, version, signed),
    ]
    style = TABLE_STYLE + CHART_STYLE + asset("plan.css") + asset("report.css")
    body = fragment("\n".join(content), style)
    script = joined("dom.js", "plan.js", "report.js", "copy.js")
    data = f'<script type="text/plain" id="data">{packed(payload(material))}</script>\n'
    return page(f"monge: {title}", f"{body}{data}<script>{script}</script>\n")


def _section(part: Section) -> str:
    said = "\n".join(f"<p>{safe(line)}</p>" for line in part.said)
    if part.key == "ranking":  # what is found stands at the top already
        said = f'<p class="soft"><small>{safe(part.said[-1])}</small></p>'
    tables = "\n".join(f"<div>{_titled(sheet)}</div>" for sheet in part.sheets)
    charts = f'<div class="charts">{"".join(part.charts)}</div>' if part.charts else ""
    rest = "\n".join(_titled(sheet) for sheet in part.folded)
    more = f"<details>\n<summary>{safe(part.more)}</summary>\n{rest}\n</details>" if part.folded else ""
    return (
        f'<section id="{part.key}" aria-labelledby="{part.key}-title">'
        f'<h2 id="{part.key}-title">{safe(part.title)}</h2>\n'
        f'{said}\n{charts}\n<div class="tables">{tables}</div>\n{more}</section>'
    )


def _titled(sheet: Sheet) -> str:
    heading = f"<h3>{safe(sheet.title)}</h3>\n" if sheet.title and not sheet.folded else ""
    return heading + html_sheet(replace(sheet, folded=False, signatures=()), title=False)


def _options(names: list[tuple[str, str]], chosen: str = "") -> str:
    return "".join(
        f'<option value="{safe(value)}"{" selected" if value == chosen else ""}>{safe(name)}</option>'
        for value, name in names
    )


def _browser(material: Material) -> str:
    """The controls of the segments; they show when the script runs."""
    systems = [(str(k), name) for k, name in enumerate(material.systems)]
    metrics = [(str(k), name) for k, name in enumerate(material.metrics)]
    first, second = material.order[0], material.order[min(1, len(material.order) - 1)]
    absent = {"human"} if material.human is None else set()
    absent |= {"difference", "spread"} if len(systems) == 1 else set()
    absent |= {"disagreement"} if len(metrics) == 1 else set()
    orders = [(key, name) for key, name in _ORDERS.items() if key not in absent]
    flagged = any(flags for row in material.results for one in row for flags in one.flags)
    filters = [("all", "all segments")]
    if len(systems) > 1:
        filters += [("better", "where the system is better"), ("worse", "where the system is worse")]
    filters += [("flagged", "where something was unusual")] * flagged
    judged = material.human is None or bool(np.isfinite(material.human).all())
    filters += [("judged", f"with {material.human_name}")] * (not judged)
    filters += [("plans", "with a plan")] * (0 < len(material.explained) < material.items)
    notes = "".join(f'<p class="soft">{safe(line)}</p>' for line in material.notes)
    selects = [
        ("filter", "Show", _options(filters)),
        ("order", "Sort by", _options(orders, "spread" if len(systems) > 1 else "score")),
        ("metric", "Metric", _options(metrics)),
        ("system", "System", _options(systems, str(first))),
        ("other", "Other system", _options(systems, str(second))),
    ]
    selects = selects if len(systems) > 1 else selects[:-2]
    controls = "\n".join(
        f'<label for="{key}">{label}<select id="{key}">{inside}</select></label>' for key, label, inside in selects
    )
    checked = " checked" if len(systems) > 1 else ""
    marked = _MARKED if material.explained else ""
    return (
        '<section id="segments" aria-labelledby="segments-title"><h2 id="segments-title">Segments</h2>\n'
        f"<p>Every segment with the output of {'all systems' if len(systems) > 1 else 'the system'}.{marked}</p>\n"
        f'{notes}\n<p id="told" role="status" class="soft"></p>\n'
        "<noscript><p>Showing the segments needs JavaScript. The tables above do not.</p></noscript>\n"
        '<div id="browser" hidden>\n<div class="row controls">\n'
        '<label for="search">Search<input id="search" type="search" autocomplete="off"></label>\n'
        f"{controls}\n"
        f'<label class="check"><input type="checkbox" id="descending"{checked}> largest first</label>\n</div>\n'
        '<div id="items"></div>\n<div class="row"><button type="button" id="previous">Previous</button>'
        '<span id="place" class="soft" role="status"></span><button type="button" id="next">Next</button></div>\n'
        "</div>\n</section>"
    )


def _made(material: Material, version: str, signed: Callable[[str], str]) -> str:
    lines = list(dict.fromkeys(str(one.signature) for row in material.results for one in row))
    side = "REFERENCES" if material.referenced else "SOURCE"
    return (
        '<section id="made" aria-labelledby="made-title"><h2 id="made-title">How it was made</h2>\n'
        "<p>A signature names everything that a score depends on: metric, settings, model, corpus statistics and "
        "version.</p>\n"
        f"{html_signatures([(line, signed(line)) for line in lines])}\n"
        f"<p>This command computes the scores again. Put the name of your file for {side}.</p>\n"
        f'<p><code class="copy">{safe(command_of(material, signed))}</code></p>\n'
        f"<footer>Made by monge {safe(version)}. This file loads nothing from elsewhere.</footer></section>"
    )


def command_of(material: Material, signed: Callable[[str], str]) -> str:
    """The command that gives the same scores again."""
    texts = " ".join(f"-t {shlex.quote(name)}" for name in material.systems)
    side = "-r REFERENCES" if material.referenced else "-s SOURCE"
    lines = dict.fromkeys(str(row[0].signature) for row in material.results)
    return f"monge score {texts} {side} --ci {' '.join(f'--signature {shlex.quote(signed(line))}' for line in lines)}"


def _human(score: float) -> float | None:
    """A human score as the script reads it; None where there is none."""
    return round(score, 4) if score == score else None


def payload(material: Material) -> dict[str, Any]:
    """What the script of the page shows of the segments."""
    first = material.segments[0]
    sources = [one.source for one in first]
    flags: dict[str, list[str]] = {}
    for row in material.results:
        for s, result in enumerate(row):
            for item, names in enumerate(result.flags):
                for name in names:
                    mine = flags.setdefault(f"{s},{item}", [])
                    mine += [describe_flag(name)] if describe_flag(name) not in mine else []
    plans = material.plan_names
    won = [[one.references.clip(0).tolist() for one in row] for row in material.results]
    return {
        "systems": list(material.systems),
        "metrics": [
            {"name": name, "higher": material.results[k][0].higher_is_better, "plans": list(plans.get(name, ()))}
            for k, name in enumerate(material.metrics)
        ],
        "order": material.order,
        "ids": [one.id for one in first],
        "references": [list(one.references) for one in first],
        "sources": [one or "" for one in sources] if any(one is not None for one in sources) else None,
        "hypotheses": [[one.hypothesis for one in rows] for rows in material.segments],
        "scores": [[[round(float(x) * 10_000) for x in one.segments] for one in row] for row in material.results],
        "against": [rows if any(any(one) for one in rows) else None for rows in won],
        "flags": flags,
        "human": None if material.human is None else [[_human(float(x)) for x in row] for row in material.human],
        "human_name": "human score" if material.human_name == HUMAN else material.human_name,  # of one output
        "explained": list(material.explained),
        "plans": material.plans,
    }

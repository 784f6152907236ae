"""A report as one HTML file that needs nothing else, and as a summary in Markdown or LaTeX."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from monge.errors import UnknownName
from monge.render.cells import listed, with_minus
from monge.render.charts import CHART_STYLE
from monge.render.components import asset, joined
from monge.render.page import fragment, html_signatures, page, safe
from monge.render.table import render_sheets
from monge.render.table_page import TABLE_STYLE, html_sheet
from monge.report.browser import browser_of
from monge.report.compact import packed
from monge.report.material import HUMAN, Material, described_flags
from monge.report.people import human
from monge.report.sections import Section, sections
from monge.types.flags import describe_flag
from monge.types.table import Cell, Sheet

REPORT_FORMATS = ("html", "markdown", "latex")


def render_report(
    material: Material, form: str, *, version: str, signed: Callable[[str], str] = str
) -> str:
    """Render the report in a format of `REPORT_FORMATS`; `signed` writes signatures for people."""
    if form not in REPORT_FORMATS:
        raise UnknownName("format", form, REPORT_FORMATS)
    if form == "html":
        return report_page(material, report_content(material, version=version, signed=signed))
    parts = _parts(material)
    about = Sheet(
        "What was compared",
        ("", ""),
        tuple((Cell(a), Cell(b)) for a, b in _facts(material)),
        words=2,
    )
    chosen = [part for part in parts if part.brief]
    sheets = [about]
    for part in chosen:
        first, *rest = part.sheets
        sheets += [replace(first, title=f"{part.title}: {first.title}", said=part.said), *rest]
    left_out = [part.title.lower() for part in parts if not part.brief]
    if left_out:
        note = f"Left out of this format, in the HTML report: {listed(left_out)}."
        sheets[-1] = replace(sheets[-1], notes=(*sheets[-1].notes, note))
    return render_sheets(sheets, form, signed=signed)


def _parts(material: Material) -> list[Section]:
    return [*sections(material), *([human(material)] if material.human is not None else [])]


def _facts(material: Material) -> list[tuple[str, str]]:
    """Return facts about the comparison: (name, text)."""
    flagged = {
        flag
        for row in material.results
        for result in row
        for flags in result.flags
        for flag in flags
    }
    facts = [
        ("systems", ", ".join(material.names)),
        ("metrics", ", ".join(material.metrics)),
        ("segments", f"{material.items} of each system"),
    ]
    if material.date:
        facts.append(("date", material.date))
    if material.human is not None:
        judged_count, output_count = int(np.isfinite(material.human).sum()), material.human.size
        column_name = "" if material.human_name == HUMAN else f"{material.human_name}, for "
        facts.append(
            (
                HUMAN,
                f"{column_name}{judged_count if judged_count < output_count else 'all'} of "
                f"{output_count} outputs",
            )
        )
    return [
        *facts,
        *(
            [("unusual", " ".join(describe_flag(flag) for flag in sorted(flagged)))]
            if flagged
            else []
        ),
    ]


def _title(material: Material) -> str:
    if material.title:
        return material.title
    count = len(material.systems)
    system_names = listed(material.names) if count <= 3 else f"{count} systems"
    metrics = (
        listed(material.metrics)
        if len(material.metrics) <= 4
        else f"{len(material.metrics)} metrics"
    )
    return f"{system_names} by {metrics}"


def report_content(material: Material, *, version: str, signed: Callable[[str], str] = str) -> str:
    """Return a report without title, style, script and segments, for the service's page."""
    parts = _parts(material)
    lead = material.comparison.told or [_told_alone(material)]
    links = [
        *((part.key, part.title) for part in parts),
        ("segments", "Segments"),
        ("made", "How it was made"),
    ]
    content = [
        *(f'<p class="lead">{safe(line)}</p>' for line in lead),
        '<nav class="parts" aria-label="Parts">'
        + "".join(f'<a href="#{key}">{safe(name)}</a>' for key, name in links),
        "</nav>",
        *(_section(part) for part in parts),
        browser_of(material).html(),
        _made(material, version, signed),
    ]
    return "\n".join(content)


def _told_alone(material: Material) -> str:
    """Return the scores of a system that is compared with no other, in words."""
    scores = [
        f"{name} {with_minus(cell.short)} {with_minus(cell.short_detail)}"
        for name, cell in ((standings.label, standings.cell(0)) for standings in material.standings)
    ]
    return (
        f"{material.names[0][:1].upper()}{material.names[0][1:]}: {listed(scores)} on "
        f"{material.items} segments."
    )


def report_style() -> str:
    """Return the style of what `report_content` gives, beside that of every page."""
    return TABLE_STYLE + CHART_STYLE + asset("plan.css") + asset("report.css")


def report_page(material: Material, content: str) -> str:
    """Return the document around a report: its title, style, script and segments."""
    title = _title(material)
    end = "<footer>This file loads nothing from elsewhere.</footer>"
    body = fragment(f"<h1>{safe(title)}</h1>\n{content}\n{end}", report_style())
    script = joined("dom.js", "plan.js", "segments.js", "report.js", "copy.js", "print.js")
    data = f'<script type="text/plain" id="data">{packed(payload(material))}</script>\n'
    return page(f"monge: {title}", f"{body}{data}<script>{script}</script>\n")


def _section(part: Section) -> str:
    sentences = "\n".join(f"<p>{safe(line)}</p>" for line in part.said)
    if part.key == "ranking":  # what is found stands at the top already
        sentences = f'<p class="soft"><small>{safe(part.said[-1])}</small></p>'
    tables = "\n".join(f"<div>{_titled(sheet)}</div>" for sheet in part.sheets)
    charts = f'<div class="charts">{"".join(part.charts)}</div>' if part.charts else ""
    rest = "\n".join(_titled(sheet) for sheet in part.folded)
    more = ""
    if part.folded:
        more = f"<details>\n<summary>{safe(part.more)}</summary>\n{rest}\n</details>"
    return (
        f'<section id="{part.key}" aria-labelledby="{part.key}-title">'
        f'<h2 id="{part.key}-title">{safe(part.title)}</h2>\n'
        f'{sentences}\n{charts}\n<div class="tables">{tables}</div>\n{more}</section>'
    )


def _titled(sheet: Sheet) -> str:
    heading = f"<h3>{safe(sheet.title)}</h3>\n" if sheet.title and not sheet.folded else ""
    return heading + html_sheet(replace(sheet, folded=False, signatures=()), title=False)


def _made(material: Material, version: str, signed: Callable[[str], str]) -> str:
    lines = list(dict.fromkeys(str(result.signature) for row in material.results for result in row))
    side = "REFERENCES" if material.referenced else "SOURCE"
    facts = "".join(
        f'<tr><th scope="row">{safe(a)}</th><td class="words">{safe(b)}</td></tr>'
        for a, b in _facts(material)
    )
    return (
        '<section id="made" aria-labelledby="made-title"><h2 id="made-title">How it was made</h2>\n'
        '<div class="scroll" tabindex="0" role="region" aria-label="What was compared">'
        f"<table><tbody>{facts}</tbody></table></div>\n"
        "<p>A signature names everything that a score depends on: metric, settings, model, corpus "
        "statistics and "
        "version.</p>\n"
        f"{html_signatures([(line, signed(line)) for line in lines])}\n"
        f"<p>This command computes the scores again. Put the name of your file for {side}.</p>\n"
        f'<p><code class="copy">{safe(command_of(material, signed))}</code></p>\n'
        f"<p>Made by monge {safe(version)}.</p></section>"
    )


def command_of(material: Material, signed: Callable[[str], str]) -> str:
    """Return the command that gives the same scores again."""
    texts = " ".join(f"-t {shlex.quote(name)}" for name in material.systems)
    side = "-r REFERENCES" if material.referenced else "-s SOURCE"
    lines = dict.fromkeys(str(row[0].signature) for row in material.results)
    return (
        f"monge score {texts} {side} --ci "
        f"{' '.join(f'--signature {shlex.quote(signed(line))}' for line in lines)}"
    )


def _human(score: float) -> float | None:
    """Return a human score as the script reads it; None where there is none."""
    return round(score, 4) if score == score else None


def payload(material: Material) -> dict[str, Any]:
    """Return the data of the segments for the script of the page."""
    first = material.segments[0]
    sources = [segment.source for segment in first]
    won = [[result.references.clip(0).tolist() for result in row] for row in material.results]
    return {
        **browser_of(material).description,
        "ids": [segment.id for segment in first],
        "references": [list(segment.references) for segment in first],
        "sources": [source or "" for source in sources]
        if any(source is not None for source in sources)
        else None,
        "hypotheses": [[segment.hypothesis for segment in rows] for rows in material.segments],
        "scores": [
            [[round(float(x) * 10_000) for x in result.segments] for result in row]
            for row in material.results
        ],
        "against": [rows if any(any(winners) for winners in rows) else None for rows in won],
        "flags": {
            f"{s},{item}": flags for (s, item), flags in described_flags(material.results).items()
        },
        "human": None
        if material.human is None
        else [[_human(float(x)) for x in row] for row in material.human],
        "explained": list(material.explained),
        "plans": material.plans,
    }

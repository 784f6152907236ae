"""Tables of a study as strings: one sheet of marked cells, for a terminal, a paper, a page and a document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from monge.render.cells import printable, styled, table
from monge.render.latex import breakable, latex
from monge.render.markdown import markdown, markdown_table
from monge.render.page import fragment, html_table, page, safe

STUDY_FORMATS = ("text", "json", "latex", "html", "markdown")
"""The formats of a study's tables."""
MARKS = {"best": "*", "tied": "~"}
DASH = "–"
_STYLE = """
.monge .best { font-weight: 700; }
.monge .tied { text-decoration: underline; }
.monge li { margin: .25rem 0; }
""".lstrip()


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a place: a text, a smaller one under it, and `best`, `tied` or no mark."""

    text: str
    detail: str = ""
    mark: str = ""


@dataclass(frozen=True)
class Sheet:
    """A table with a title, lines under it, and the signatures of what is in it.

    The first `words` columns hold words, the others numbers; `tied` says what that mark means, and by which test.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    signatures: tuple[str, ...] = field(default=())
    words: int = 1
    tied: str = ""

    def turned(self) -> Sheet:
        """Rows for columns; only the first column holds words."""
        columns = list(zip(*self.rows, strict=True))
        names = tuple(cell.text for cell in columns[0])
        rows = tuple((Cell(name), *column) for name, column in zip(self.head[1:], columns[1:], strict=True))
        return replace(self, head=("", *names), rows=rows)


def decimals(value: float, digits: int = 3) -> str:
    """A number as tables print it, without a negative zero."""
    return f"{round(float(value), digits) + 0.0:.{digits}f}"


def span(low: float | None, high: float | None, digits: int = 3) -> str:
    """An interval, or nothing."""
    return "" if low is None or high is None else f"[{decimals(low, digits)}, {decimals(high, digits)}]"


def sheets_text(sheets: Sequence[Sheet], *, colour: bool = False) -> str:
    """Tables for a terminal: details stand on a line of their own, marks behind the number."""
    blocks = []
    for sheet in sheets:
        lines = table(_lines(sheet), _align(sheet))
        blocks.append([styled(printable(sheet.title), "bold", colour), styled(lines[0], "dim", colour), *lines[1:]])
        notes = _legend(sheet, "* best, ~")
        blocks += [[printable(line) for line in notes]] if notes else []
    signatures = dict.fromkeys(line for sheet in sheets for line in sheet.signatures)
    tail = [f"{styled('signature', 'dim', colour)}  {printable(line)}" for line in signatures]
    return "\n\n".join("\n".join(block) for block in [*blocks, *([tail] if tail else [])]) + "\n"


def _legend(sheet: Sheet, marks: str) -> list[str]:
    return [*([f"{marks} {sheet.tied}"] if sheet.tied else []), *sheet.notes]


def _align(sheet: Sheet) -> str:
    return "l" * sheet.words + "r" * (len(sheet.head) - sheet.words)


def _lines(sheet: Sheet) -> list[list[str]]:
    marked = any(cell.mark for row in sheet.rows for cell in row)
    detailed = any(cell.detail for row in sheet.rows for cell in row)
    pad = " " if marked else ""
    lines = [[printable(name) + (pad if k >= sheet.words else "") for k, name in enumerate(sheet.head)]]
    for row in sheet.rows:
        lines.append(
            [
                printable(cell.text) + (MARKS.get(cell.mark, pad) if k >= sheet.words else "")
                for k, cell in enumerate(row)
            ]
        )
        if detailed:
            lines.append([printable(cell.detail) for cell in row])
    return lines


def sheets_latex(sheets: Sequence[Sheet]) -> str:
    """Booktabs tables: best in bold, tied underlined, signatures under them and as comments."""
    return "\n".join(_latex_table(sheet) for sheet in sheets)


def _latex_table(sheet: Sheet) -> str:
    body = [" & ".join(_latex_cell(cell) for cell in row) + r" \\" for row in sheet.rows]
    lines = dict.fromkeys(sheet.signatures)
    return "\n".join(
        [
            *(f"% {' '.join(printable(line).split())}" for line in lines),
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{latex(sheet.title)}}}",
            rf"\begin{{tabular}}{{{_align(sheet)}}}",
            r"\toprule",
            " & ".join(latex(name) for name in sheet.head) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\par\smallskip",
            *(rf"{{\footnotesize {latex(line)}\par}}" for line in _legend(sheet, "bold: best; underlined:")),
            *(rf"{{\scriptsize\ttfamily {breakable(line)}\par}}" for line in lines),
            r"\end{table}",
            "",
        ]
    )


def _latex_cell(cell: Cell) -> str:
    text = latex(cell.text)
    text = {"best": rf"\textbf{{{text}}}", "tied": rf"\underline{{{text}}}"}.get(cell.mark, text)
    return rf"{text} {{\scriptsize {latex(cell.detail)}}}" if cell.detail else text


def sheets_html(sheets: Sequence[Sheet]) -> str:
    """A page with every table, its notes and the signatures."""
    content = []
    for sheet in sheets:
        head = [(name, "number" if k >= sheet.words else "") for k, name in enumerate(sheet.head)]
        rows = [[_html_cell(cell) for cell in row] for row in sheet.rows]
        content += [f"<h1>{safe(sheet.title)}</h1>", html_table(head, rows, caption=sheet.title)]
        content += [
            f'<p class="soft"><small>{safe(line)}</small></p>' for line in _legend(sheet, "bold: best; underlined:")
        ]
    signatures = dict.fromkeys(line for sheet in sheets for line in sheet.signatures)
    if signatures:
        items = "\n".join(f"<li><code>{safe(line)}</code></li>" for line in signatures)
        content.append(f"<h2>Signatures</h2>\n<ul>\n{items}\n</ul>")
    return page(f"monge: {sheets[0].title}", fragment("\n".join(content), _STYLE))


def _html_cell(cell: Cell) -> str:
    text = f'<span class="{cell.mark}">{safe(cell.text)}</span>' if cell.mark else f"<bdi>{safe(cell.text)}</bdi>"
    return f'{text}<br><small class="soft">{safe(cell.detail)}</small>' if cell.detail else text


def sheets_markdown(sheets: Sequence[Sheet]) -> str:
    """Tables for a document: best in bold, tied underlined, details behind the numbers, signatures folded away."""
    blocks = []
    for sheet in sheets:
        rows = [[_markdown_cell(cell, words=k < sheet.words) for k, cell in enumerate(row)] for row in sheet.rows]
        head = [markdown(name) for name in sheet.head]
        blocks.append([f"**{markdown(sheet.title)}**", "", *markdown_table(head, rows, words=sheet.words)])
        blocks += [[markdown(line)] for line in _legend(sheet, "bold: best; underlined:")]
    signatures = dict.fromkeys(printable(line) for sheet in sheets for line in sheet.signatures)
    if signatures:
        blocks.append(["<details><summary>Signatures</summary>", "", "```", *signatures, "```", "", "</details>"])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _markdown_cell(cell: Cell, *, words: bool) -> str:
    text = f"`{printable(cell.text)}`" if words and "`" not in cell.text else markdown(cell.text)
    text = {"best": f"**{text}**", "tied": f"<u>{text}</u>"}.get(cell.mark, text)
    return f"{text} <small>{markdown(cell.detail)}</small>" if cell.detail else text


SHEET_FORMATS: Mapping[str, Callable[[Sequence[Sheet]], str]] = MappingProxyType(
    {"text": sheets_text, "latex": sheets_latex, "html": sheets_html, "markdown": sheets_markdown}
)

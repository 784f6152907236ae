"""Results for a terminal and for a paper: an aligned table, a LaTeX table."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from monge.render.cells import GAP, display_width, printable, styled, table
from monge.render.checks import checked
from monge.render.latex import breakable, latex
from monge.render.ranking import Row, notes, number, part_means, ranked, signatures, tables
from monge.types import Result


def results_text(
    results: Sequence[Result], *, segments: bool = False, width: int | None = None, colour: bool = False
) -> str:
    """A table for people: a row a system and metric, then signatures, then what was unusual.

    Args:
        results: what to show; rows come metric by metric.
        segments: whether to add a table of segments for every result.
        width: columns of the terminal; wider tables lose parts, then the interval, then the ends of long names.
            Signatures stay whole.
        colour: whether to use ANSI styles.
    """
    checked(results)
    blocks = [_table(parts, rows, width, colour) for parts, rows in tables(results)]
    if segments:
        blocks += [_segments(result, width, colour) for result in results]
    tail = [f"{styled('signature', 'dim', colour)}  {printable(line)}" for line in signatures(results)]
    tail += [f"{styled('note', 'bad', colour)}       {printable(line)}" for line in notes(results)]
    return "\n\n".join("\n".join(block) for block in [*blocks, tail]) + "\n"


def _table(parts: Sequence[str], rows: Sequence[Row], width: int | None, colour: bool) -> list[str]:
    head = ["metric", "system", "score", "interval", *map(printable, parts), "n"]
    cells = [head, *(_cells(row, parts, colour) for row in rows)]
    for index in range(len(cells) - 1, 1, -1):
        if cells[index][0] == cells[index - 1][0]:
            cells[index][0] = ""
    keep = [column for column in range(len(head)) if any(row[column] for row in cells[1:])]
    spare = [column for column in keep if 3 <= column < len(head) - 1]
    left_out: list[str] = []
    while spare and _width(cells, keep) > (width or inf):
        left_out.insert(0, head[spare[-1]])
        keep.remove(spare.pop())
    align = "".join("l" if column < 2 else "r" for column in keep)
    lines = table([[row[column] for column in keep] for row in cells], align, width=width)
    more = [styled(f"({', '.join(left_out)}: no room)", "dim", colour)] if left_out else []
    return [styled(lines[0], "dim", colour), *lines[1:], *more]


def _width(cells: Sequence[Sequence[str]], keep: Sequence[int]) -> int:
    return sum(max(display_width(row[column]) for row in cells) + len(GAP) for column in keep) - len(GAP)


def _cells(row: Row, parts: Sequence[str], colour: bool) -> list[str]:
    result, means = row.result, part_means(row.result)
    mark = ("*" if row.best else " ") if row.contested else ""
    return [
        f"{printable(result.metric)} {row.arrow}",
        printable(result.system),
        styled(row.score + mark, "bold", colour and (row.best or not row.contested)),
        row.interval,
        *(number(means[part]) for part in parts),
        str(result.n),
    ]


def _segments(result: Result, width: int | None, colour: bool) -> list[str]:
    title = " · ".join(printable(name) for name in (result.metric, result.system) if name)
    rows = [["id", "score", *map(printable, result.parts), "reference", "flags"]]
    for index in range(result.n):
        segment = result.segment(index)
        shown = (number(value) for value in (segment["score"], *segment["parts"].values()))
        flags = printable(", ".join(segment["flags"]))
        rows.append([printable(segment["id"]), *shown, str(segment["reference"]), flags])
    keep = list(range(len(rows[0])))
    if not any(result.flags):
        keep.remove(len(rows[0]) - 1)
    if not result.references.any():
        keep.remove(len(rows[0]) - 2)
    align = "".join("l" if column in (0, len(rows[0]) - 1) else "r" for column in keep)
    lines = table([[row[column] for column in keep] for row in rows], align, width=width)
    return [styled(title, "bold", colour), styled(lines[0], "dim", colour), *lines[1:]]


def results_latex(results: Sequence[Result]) -> str:
    """A booktabs table, systems by metrics, best in bold, with the signatures under it and as comments."""
    columns = ranked(checked(results))
    systems = list(dict.fromkeys(result.system for result in results))
    head = " & ".join(f"{latex(rows[0].result.metric)} ${_ARROWS[rows[0].arrow]}$" for rows in columns)
    body = [
        " & ".join([latex(system) or "--", *(_latex_cell(rows, system) for rows in columns)]) + r" \\"
        for system in systems
    ]
    lines = signatures(results)
    return "\n".join(
        [
            *(f"% {' '.join(printable(line).split())}" for line in lines),
            *(f"% note: {printable(line)}" for line in notes(results)),
            r"\begin{table}",
            r"\centering",
            rf"\begin{{tabular}}{{l{'r' * len(columns)}}}",
            r"\toprule",
            rf"System & {head} \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\par\smallskip",
            *(rf"{{\footnotesize\ttfamily {breakable(line)}\par}}" for line in lines),
            r"\end{table}",
            "",
        ]
    )


_ARROWS = {"↑": r"\uparrow", "↓": r"\downarrow"}


def _latex_cell(rows: Sequence[Row], system: str) -> str:
    row = next((row for row in rows if row.result.system == system), None)
    if row is None:
        return "--"
    score = rf"\textbf{{{row.score}}}" if row.best else row.score
    return rf"{score} {{\scriptsize {row.interval}}}" if row.interval else score

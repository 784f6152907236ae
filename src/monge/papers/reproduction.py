"""A published table beside ours: its record, its JSON form, and that as text or Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from monge.papers.claims import Verdict
from monge.papers.tables import Entry, PublishedRow, PublishedTable
from monge.render.cells import DASH, decimals, fold, pad
from monge.render.checks import dumps
from monge.render.markup import markdown, markdown_table
from monge.render.table import render_sheets, text_lines
from monge.types.table import Cell, Sheet

JsonRecord = Mapping[str, Any]
AT_ONCE = 4
"""Columns of a table that stand beside one another in a terminal."""
HEAD = (
    "table",
    "in the paper",
    "rows",
    "figures",
    "illegible",
    "computed",
    "why not, or what it needs",
)


@dataclass(frozen=True)
class TableReading:
    """A table under one reading of the data: one row of entries per row of the table."""

    name: str
    entries: Mapping[tuple[str, str], tuple[Entry, ...]]
    verdict: Verdict
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Reproduction:
    """A published table beside ours, with our model and the condition this makes it."""

    table: PublishedTable
    model: str
    condition: str
    readings: tuple[TableReading, ...]
    signatures: Mapping[str, str]
    seed: int
    resamples: int
    layers: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form: plain numbers, None where there is none."""
        table = self.table
        return {
            "table": table.name,
            **{name: getattr(table, name) for name in ("paper", "citation", "number", "caption")},
            **{name: getattr(self, name) for name in ("model", "condition", "seed", "resamples")},
            **({"layers": self.layers} if self.layers else {}),
            "columns": [str(column) for column in (*table.columns, *table.beside)],
            "readings": [
                {
                    "reading": reading.name,
                    "rows": [
                        _row(line, reading.entries[line.block, line.label]) for line in table.rows
                    ],
                    "verdict": reading.verdict.to_dict(),
                    "notes": list(reading.notes),
                }
                for reading in self.readings
            ],
            "signatures": dict(self.signatures),
        }


def _row(line: PublishedRow, entries: Sequence[Entry]) -> dict[str, Any]:
    why = next((entry.why for entry in entries if entry.why), "")
    return {
        **{name: getattr(line, name) for name in ("label", "block", "model")},
        "metric": line.metric_for("") if line.metric else None,
        "note": line.note,
        "reported": ["illegible" if entry.illegible else entry.reported for entry in entries],
        "ours": [entry.ours for entry in entries],
        "difference": [entry.difference for entry in entries],
        "why": [entry.why for entry in entries] if why else [],
    }


def render_reproductions(
    reproductions: Sequence[JsonRecord], form: str, *, version: str, width: int | None = None
) -> str:
    """Render recomputed tables in one of `STUDY_FORMATS`, text within `width`."""
    if form == "json":
        return dumps({"monge": version, "results": list(reproductions)}) + "\n"
    if form == "text":
        return "\n".join(reproduction_text(table, width) for table in reproductions)
    if form == "markdown":
        return "\n".join(reproduction_markdown(table) for table in reproductions)
    return render_sheets(
        [sheet for table in reproductions for sheet in reproduction_sheets(table)], form
    )


def render_tables(
    rows: Sequence[JsonRecord], form: str, *, version: str, width: int | None = None
) -> str:
    """Render the list of tables in one of `STUDY_FORMATS`, text within `width`."""
    if form == "json":
        return dumps({"monge": version, "tables": list(rows)}) + "\n"
    if form == "text":
        return "\n".join(text_lines(_tables_sheet(rows), width=width)) + "\n"
    return (
        tables_markdown(rows) if form == "markdown" else render_sheets([_tables_sheet(rows)], form)
    )


def reproduction_sheets(reproduction: JsonRecord) -> list[Sheet]:
    """Return the tables of every reading; gaps and verdict stand under the last."""
    sheets: list[Sheet] = []
    for reading in reproduction["readings"]:
        reading_name = f", {reading['reading']}" if reading["reading"] else ""
        title = (
            f"{reproduction['table']}: {reproduction['paper']}, {reproduction['number']} "
            f"({reproduction['condition']}{reading_name})"
        )
        reading_sheets = [
            replace(sheet, title=title)
            for sheet in _grids(reproduction["columns"], reading["rows"])
        ]
        notes = [
            *_list_reasons(reading["rows"], reproduction["columns"]),
            *reading["notes"],
            *_verdict_lines(reading["verdict"], reproduction),
        ]
        reading_sheets[-1] = replace(
            reading_sheets[-1], notes=tuple(" ".join(line.split()) for line in notes)
        )
        sheets += reading_sheets
    signatures = tuple(dict.fromkeys(reproduction["signatures"].values()))
    return [*sheets[:-1], replace(sheets[-1], signatures=signatures)]


def reproduction_text(reproduction: JsonRecord, width: int | None = None) -> str:
    """Return reported, our and difference figures, verdicts, and reasons for gaps."""
    lines = [
        f"{reproduction['table']}: {reproduction['paper']}, {reproduction['number']} "
        f"({reproduction['citation']})",
        reproduction["caption"],
        f"model: {reproduction['model'] or 'none'}   condition: {reproduction['condition']}",
        *([_describe_layers(reproduction).strip()] if reproduction.get("layers") else []),
    ]
    for reading in reproduction["readings"]:
        if reading["reading"]:
            lines += ["", f"== {reading['reading']} =="]
        for sheet in _grids(reproduction["columns"], reading["rows"]):
            lines += ["", *text_lines(sheet, width=width)]
        lines += ["", *_list_reasons(reading["rows"], reproduction["columns"])]
        lines += [f"note: {note}" for note in reading["notes"]]
        lines += _verdict_lines(reading["verdict"], reproduction)
    folded = lines if width is None else [part for line in lines for part in fold(line, width)]
    return "\n".join(line.rstrip() for line in folded) + "\n"


def reproduction_markdown(reproduction: JsonRecord) -> str:
    """Render ours with the reported figures in brackets, the verdict and the claims."""
    lines = [
        f"**{markdown(reproduction['table'])}**: {markdown(reproduction['paper'])}, "
        f"{markdown(reproduction['number'])}. "
        f"{markdown(reproduction['caption'])} Condition: {markdown(reproduction['condition'])}."
        + _describe_layers(reproduction)
    ]
    for reading in reproduction["readings"]:
        if reading["reading"]:
            lines += ["", f"*{markdown(reading['reading'])}*"]
        lines += _computed_markdown(reading["rows"], reproduction["columns"])
        reasons = _list_reasons(reading["rows"], reproduction["columns"])
        lines += ["", *(f"- {markdown(line)}" for line in reasons)]
        lines += [f"- note: {markdown(note)}" for note in reading["notes"]]
        verdict = _verdict_lines(reading["verdict"], reproduction)[1:4]
        lines += [f"- {markdown(' '.join(line.split()))}" for line in verdict]
        if reading["verdict"]["claims"]:
            lines += ["", *_claims_markdown(reading["verdict"]["claims"])]
    return "\n".join(lines) + "\n"


def _describe_layers(reproduction: JsonRecord) -> str:
    """Return which layers were requested for all metrics, or an empty text."""
    return f" Layers: {reproduction['layers']}." if reproduction.get("layers") else ""


def _computed_markdown(rows: Sequence[JsonRecord], columns: Sequence[str]) -> list[str]:
    """Return the table of the rows and columns that have figures of ours, if there are any."""
    computed = [row for row in rows if any(value is not None for value in row["ours"])]
    if not computed:
        return []
    places = [k for k in range(len(columns)) if any(row["ours"][k] is not None for row in computed)]
    head = ["ours (reported)", *(markdown(_shorten_column(columns[k])) for k in places)]
    cells = [[markdown(_label(row)), *(_format_both(row, k) for k in places)] for row in computed]
    return ["", *markdown_table(head, cells)]


def _format_both(row: JsonRecord, k: int) -> str:
    """Return our figure, and the reported one in brackets."""
    reported = row["reported"][k] if k < len(row["reported"]) else None
    return f"{_format_number(row['ours'][k])} ({_format_number(reported)})"


def _claims_markdown(claims: Sequence[JsonRecord]) -> list[str]:
    rows = []
    for claim in claims:
        reported = (
            ", ".join(
                _format_number(lead, signed=True) for lead in claim["reported"] if lead is not None
            )
            or "illegible"
        )
        blocks = f" ({', '.join(claim['blocks'])})" if any(claim["blocks"]) else ""
        figures = ["", "", ""]
        if claim["ours"] is not None:
            figures = [
                markdown(" − ".join(claim["pair"])),
                f"{claim['ours']:+.3f}",
                markdown(_format_bounds(claim)),
            ]
        rows.append(
            [
                markdown(claim["says"] + blocks),
                figures[0],
                reported,
                *figures[1:],
                _claim_word(claim),
            ]
        )
    return markdown_table(["claim", "margin", "reported", "ours", "95 %", ""], rows, words=2)


def tables_markdown(rows: Sequence[JsonRecord]) -> str:
    """Return the list of tables for a document."""
    body = [[markdown(text) for text in _list_cells(row)] for row in rows]
    return "\n".join(markdown_table(HEAD, body, words=2)) + "\n"


def _tables_sheet(rows: Sequence[JsonRecord]) -> Sheet:
    body = tuple(tuple(Cell(text) for text in _list_cells(row)) for row in rows)
    return Sheet("", HEAD, body, words=2, words_behind=1)


def _list_cells(table: JsonRecord) -> list[str]:
    counts = [str(table[name]) for name in ("rows", "figures", "illegible", "computable")]
    return [table["table"], f"{table['paper']} {table['number']}", *counts, table["why"]]


def _shorten_column(name: str) -> str:
    dataset, human, statistic, group = name.split(" ", 3)
    dataset = (
        dataset if "+" not in dataset else f"{dataset.split('+')[0]}..{dataset.split('+')[-1][-2:]}"
    )
    if dataset == "pair":
        return group
    return f"{dataset} {human} {statistic} {group}"


def _format_number(value: Any, *, signed: bool = False) -> str:
    if value is None:
        return DASH
    if isinstance(value, str):
        return value
    return ("+" if signed and round(value, 3) >= 0 else "") + decimals(value)


def _grids(names: Sequence[str], rows: Sequence[JsonRecord]) -> list[Sheet]:
    """Return the table a few columns at a time, each as reported, ours and difference."""
    sheets = []
    for start in range(0, len(names), AT_ONCE):
        columns = range(start, min(start + AT_ONCE, len(names)))
        body = []
        for row in rows:
            cells = [Cell(_label(row))]
            for k in columns:
                reported = row["reported"][k] if k < len(row["reported"]) else None
                difference = row["difference"][k]
                cells += [Cell(_format_number(reported)), Cell(_format_number(row["ours"][k]))]
                cells.append(
                    Cell("" if difference is None else _format_number(difference, signed=True))
                )
            body.append(tuple(cells))
        over = (("", 1), *((_shorten_column(names[k]), 3) for k in columns))
        sheets.append(
            Sheet("", ("", *("reported", "ours", "diff") * len(columns)), tuple(body), over=over)
        )
    return sheets


def _label(row: JsonRecord) -> str:
    return f"{row['block']}: {row['label']}" if row["block"] else str(row["label"])


def _list_reasons(rows: Sequence[JsonRecord], columns: Sequence[str]) -> list[str]:
    """List why figures of ours are missing: each reason once, with its rows and columns."""
    by_reason: dict[str, dict[str, list[int]]] = {}
    for row in rows:
        for k, why in enumerate(row["why"]):
            if why:
                by_reason.setdefault(why, {}).setdefault(_label(row), []).append(k)
    lines = []
    for why, columns_by_row in by_reason.items():
        column_sets = [set(numbers) for numbers in columns_by_row.values()]
        shared = set.union(*column_sets)
        of = ""
        if len(shared) != len(columns):
            of = f" [{', '.join(_shorten_column(columns[k]) for k in sorted(shared))}]"
        names = (
            f"all {len(rows)} rows"
            if len(columns_by_row) == len(rows)
            else ", ".join(columns_by_row)
        )
        lines.append(f"not computed: {names}{of}: {why}")
    return lines


def _verdict_lines(verdict: JsonRecord, reproduction: JsonRecord) -> list[str]:
    value, finding, conclusion = verdict["value"], verdict["finding"], verdict["conclusion"]
    lines = [
        f"verdict ({reproduction['condition']})",
        f"  value       {value['word']}: {value['held']} of {value['of']} figures within .01",
        f"  finding     {finding['word']}: {finding['held']} of {finding['of']} pairs of rows in "
        "the published order",
        f"  conclusion  {conclusion['word']}: {conclusion['held']} of {conclusion['of']} claims",
    ]
    return lines + [f"    {_format_claim(claim)}" for claim in verdict["claims"]]


def _format_claim(claim: JsonRecord) -> str:
    blocks = [block or "all" for block in claim["blocks"]]
    reported = ", ".join(
        f"{_format_number(lead, signed=True)}{f' ({block})' if len(blocks) > 1 else ''}"
        for lead, block in zip(claim["reported"], blocks, strict=True)
        if lead is not None
    )
    if claim["ours"] is None:
        return f"not tested  {claim['says']}; reported {reported or 'illegible'}"
    bounds = f" {_format_bounds(claim)}".rstrip()
    rows = " - ".join(claim["pair"])
    block_text = f" ({blocks[0]})" if len(blocks) == 1 and blocks[0] != "all" else ""
    return (
        f"{pad(_claim_word(claim), 6)} {claim['says']}{block_text}: {rows} "
        f"{claim['ours']:+.3f}{bounds}; reported {reported or 'illegible'}"
    )


def _claim_word(claim: JsonRecord) -> str:
    """Return whether a claim holds on ours, with "?" where the interval is undecided."""
    if claim["ours"] is None:
        return "not tested"
    return ("holds" if claim["holds"] else "fails") + ("?" if claim["sure"] is False else "")


def _format_bounds(claim: JsonRecord) -> str:
    return f"[{claim['low']:+.3f}, {claim['high']:+.3f}]" if claim["low"] is not None else ""

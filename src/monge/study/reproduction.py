"""A published table beside ours: what `study.reproduce` found, and its JSON form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from monge.study.tables import Cell, Line, Table
from monge.study.verdict import Verdict


@dataclass(frozen=True)
class Reading:
    """A table computed under one reading of the data: a row of cells a line of the table, beside included."""

    name: str
    cells: Mapping[tuple[str, str], tuple[Cell, ...]]
    verdict: Verdict
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Reproduction:
    """A published table beside ours, with the model that was used and the condition this makes it."""

    table: Table
    model: str
    condition: str
    readings: tuple[Reading, ...]
    signatures: Mapping[str, str]
    seed: int
    resamples: int


def reproduction_to_dict(found: Reproduction) -> dict[str, Any]:
    """The JSON form: plain numbers, None where there is none."""
    table = found.table

    def row(line: Line, cells: Sequence[Cell]) -> dict[str, Any]:
        why = next((cell.why for cell in cells if cell.why), "")
        return {
            "label": line.label,
            "block": line.block,
            "model": line.model,
            "metric": line.metric_for("") if line.metric else None,
            "note": line.note,
            "reported": ["illegible" if cell.illegible else cell.reported for cell in cells],
            "ours": [cell.ours for cell in cells],
            "difference": [
                None if cell.ours is None or cell.reported is None else cell.ours - cell.reported for cell in cells
            ],
            "why": [cell.why for cell in cells] if why else [],
        }

    return {
        "table": table.name,
        "paper": table.paper,
        "citation": table.citation,
        "number": table.number,
        "caption": table.caption,
        "model": found.model,
        "condition": found.condition,
        "seed": found.seed,
        "resamples": found.resamples,
        "columns": [str(column) for column in (*table.columns, *table.beside)],
        "readings": [
            {
                "reading": reading.name,
                "rows": [row(line, reading.cells[line.block, line.label]) for line in table.rows],
                "verdict": reading.verdict.to_dict(),
                "notes": list(reading.notes),
            }
            for reading in found.readings
        ],
        "signatures": dict(found.signatures),
    }

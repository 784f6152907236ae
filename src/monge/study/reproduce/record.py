"""A published table beside ours: what `study.reproduce` found, and its JSON form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from monge.study.reproduce.tables import Entry, PublishedRow, PublishedTable
from monge.study.reproduce.verdict import Verdict


@dataclass(frozen=True)
class Reading:
    """A table computed under one reading of the data: a row of entries a row of the table, beside included."""

    name: str
    entries: Mapping[tuple[str, str], tuple[Entry, ...]]
    verdict: Verdict
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Reproduction:
    """A published table beside ours, with the model that was used and the condition this makes it."""

    table: PublishedTable
    model: str
    condition: str
    readings: tuple[Reading, ...]
    signatures: Mapping[str, str]
    seed: int
    resamples: int

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: plain numbers, None where there is none."""
        table = self.table
        return {
            "table": table.name,
            "paper": table.paper,
            "citation": table.citation,
            "number": table.number,
            "caption": table.caption,
            "model": self.model,
            "condition": self.condition,
            "seed": self.seed,
            "resamples": self.resamples,
            "columns": [str(column) for column in (*table.columns, *table.beside)],
            "readings": [
                {
                    "reading": reading.name,
                    "rows": [_row(line, reading.entries[line.block, line.label]) for line in table.rows],
                    "verdict": reading.verdict.to_dict(),
                    "notes": list(reading.notes),
                }
                for reading in self.readings
            ],
            "signatures": dict(self.signatures),
        }


def _row(line: PublishedRow, entries: Sequence[Entry]) -> dict[str, Any]:
    why = next((one.why for one in entries if one.why), "")
    return {
        "label": line.label,
        "block": line.block,
        "model": line.model,
        "metric": line.metric_for("") if line.metric else None,
        "note": line.note,
        "reported": ["illegible" if one.illegible else one.reported for one in entries],
        "ours": [one.ours for one in entries],
        "difference": [
            None if one.ours is None or one.reported is None else one.ours - one.reported for one in entries
        ],
        "why": [one.why for one in entries] if why else [],
    }

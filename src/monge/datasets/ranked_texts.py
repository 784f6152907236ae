"""Relative rankings as JSON lines: the texts of a judgement stand in its own line.

SRC-TGT.jsonl: {"id": …, "source": …, "reference": …, "better": …, "worse": …}
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from monge.datasets.judged import DatasetReading, Group
from monge.datasets.language_pairs import split_pair
from monge.datasets.lines import check_text
from monge.datasets.request import DatasetRequest
from monge.datasets.rows import Row, Rows
from monge.errors import Unreadable
from monge.types import Segment

ROLE = "ranked_texts"
FIELDS = ("source", "reference", "better", "worse")


def find_ranked_texts(request: DatasetRequest) -> dict[str, Path]:
    """Return the file of each language pair; other JSON lines are passed over by their names."""
    if ROLE not in request.dataset.files:
        return {}
    return {
        fields["pair"]: path
        for path, fields in reversed(request.match(ROLE))
        if split_pair(fields["pair"]) is not None
    }


def read_ranked_texts(request: DatasetRequest, paths: dict[str, Path]) -> DatasetReading:
    """Read the rankings of each pair; all outputs of a source text are of one item."""
    reading = DatasetReading()
    for pair in request.select(sorted(paths)):
        reading.groups[pair] = _read_pair(paths[pair])
    return reading


def _read_pair(path: Path) -> Group:
    """Return the distinct outputs, and the pairs of them that were ranked."""
    rows = Rows(path, "jsonl")
    items: dict[str, str] = {}
    places: dict[Segment, int] = {}
    lines: dict[str, int] = {}
    indices = []
    for row in rows:
        source, reference, better, worse = (_read_text(rows, row, name) for name in FIELDS)
        judgement = str(rows.field(row, "id"))
        if lines.setdefault(judgement, row.line) != row.line:
            raise Unreadable(
                f"{rows.where(row, 'id')}: {judgement!r} stands in line {lines[judgement]} already"
            )
        if better == worse:
            raise Unreadable(f"{rows.where(row, 'worse')}: the better and the worse text are equal")
        item = items.setdefault(source, str(len(items) + 1))
        indices.append(
            tuple(
                places.setdefault(Segment(item, text, (reference,), source), len(places))
                for text in (better, worse)
            )
        )
    if not indices:
        raise Unreadable(f"{rows.name}: no rows")
    return Group(tuple(places), rankings=np.array(indices, dtype=np.int64))


def _read_text(rows: Rows, row: Row, name: str) -> str:
    location = rows.where(row, name)
    text = check_text(rows.field(row, name), location)
    if name in ("source", "reference") and not text.strip():
        raise Unreadable(f"{location}: is empty; every row needs it")
    return text

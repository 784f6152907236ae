"""GermEval 2020 task 3: source texts with a reference summary and nine judged candidates each.

A table with named columns, in one of two forms:

    source  reference  candidate  score                           a row per candidate
    source  reference  candidate1  score1 … candidate9  score9    a row per source

Names are those of `datasets.columns`; scores are from 0 to 1.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from monge.datasets.columns import ROLES, Columns, assign_columns
from monge.datasets.judged import DatasetReading, scored
from monge.datasets.lines import check_text
from monge.datasets.request import DatasetRequest
from monge.datasets.rows import Row, Rows, missing_column
from monge.errors import Unreadable
from monge.types import Segment

CANDIDATES = 9
"""How many summaries of a source text were judged."""
_NUMBERED = re.compile(r"(.*?)[ _-]?(\d+)")
_ROLES = ("source", "hypothesis", "reference", "human")


class CandidateColumns(NamedTuple):
    """The columns of a candidate's text and score, and the label of what wrote it."""

    text: str
    score: str
    label: str


class _Item(NamedTuple):
    """A source text: its number, its reference, and the line in which it first stands."""

    number: str
    reference: str
    line: int


def read_germeval(request: DatasetRequest) -> DatasetReading:
    """Read the judged candidates; those of one source text are one item."""
    rows, reading = Rows(request.first_path("summaries")), DatasetReading()
    columns, numbered = _find_columns(rows)
    items: dict[str, _Item] = {}
    segments: list[Segment] = []
    scores: list[float] = []
    counts: Counter[str] = Counter()
    for row in rows:
        source, reference = (
            _text(rows, row, columns.get(role)) for role in ("source", "reference")
        )
        item = items.setdefault(source, _Item(str(len(items) + 1), reference, row.line))
        if item.reference != reference:
            raise Unreadable(
                f"{rows.where(row)}: another reference than in line {item.line}, of the same "
                "source text"
            )
        for candidate in _candidates(row, columns, numbered):
            if row.fields[candidate.score] is None or not str(row.fields[candidate.score]).strip():
                reading.excluded["no human score"] += 1
                continue
            scores.append(_score(rows, row, candidate.score))
            counts[item.number] += 1
            label = candidate.label or str(counts[item.number])
            place = rows.where(row, candidate.text)
            text = check_text(rows.field(row, candidate.text), place)
            segments.append(Segment(item.number, text, (reference,), source, label))
    _check_distinct(segments, rows.name)
    reading.warnings += [
        f"source text {item.number}: {counts[item.number]} judged candidates, "
        f"{CANDIDATES} were published"
        for item in items.values()
        if counts[item.number] != CANDIDATES
    ]
    reading.groups[request.dataset.name] = scored(segments, scores)
    return reading


def _find_columns(rows: Rows) -> tuple[Columns, dict[str, CandidateColumns]]:
    """Return the columns by role, and those of numbered candidates; raise where one is missing."""
    names = rows.columns()
    numbered = _pair_numbered(names, rows)
    used = {name for candidate in numbered.values() for name in candidate[:2]}
    needed = [role for role in _ROLES if not numbered or role in ("source", "reference")]
    columns = assign_columns(
        [name for name in names if name not in used], [*needed, "system"], {}, rows.name
    )
    for role in needed:
        if not columns.get(role):
            advice = "; docs/input.md shows the two layouts"
            raise missing_column(rows.name, role, names, advice)
    return columns, numbered


def _pair_numbered(names: Sequence[str], rows: Rows) -> dict[str, CandidateColumns]:
    """Return the columns of candidate and score by their number; raise where one lacks."""
    by_role: dict[str, dict[str, str]] = {"hypothesis": {}, "human": {}}
    for name in names:
        match = _NUMBERED.fullmatch(name.strip().lower())
        for role, columns in by_role.items():
            stems = {stem for tier in ROLES[role] for stem in tier}
            if match is not None and re.sub(r"[ -]+", "_", match[1]) in stems:
                columns[str(int(match[2]))] = name
    texts, scores = by_role["hypothesis"], by_role["human"]
    if not texts or not scores:
        return {}
    alone = sorted(texts.keys() ^ scores.keys(), key=int)
    if alone:
        lacking = "candidate" if alone[0] in scores else "score"
        raise Unreadable(
            f"{rows.name}: number {alone[0]} has no {lacking} (columns: {', '.join(names)})"
        )
    return {
        number: CandidateColumns(texts[number], scores[number], number)
        for number in sorted(texts, key=int)
    }


def _candidates(
    row: Row, columns: Columns, numbered: Mapping[str, CandidateColumns]
) -> Sequence[CandidateColumns]:
    """Return the columns of the candidates of a row."""
    if numbered:
        return list(numbered.values())
    system = str(row.fields.get(columns.get("system")) or "").strip()
    return [CandidateColumns(columns.get("hypothesis"), columns.get("human"), system)]


def _text(rows: Rows, row: Row, column: str) -> str:
    text = check_text(rows.field(row, column), rows.where(row, column))
    if not text.strip():
        raise Unreadable(f"{rows.where(row, column)}: is empty")
    return text


def _score(rows: Rows, row: Row, column: str) -> float:
    score = rows.number(row, column)
    if not 0 <= score <= 1:
        raise Unreadable(f"{rows.where(row, column)}: expected a score from 0 to 1, got {score:g}")
    return score


def _check_distinct(segments: Sequence[Segment], name: str) -> None:
    """Raise where a system has two summaries of one source text."""
    first: set[tuple[str, str]] = set()
    for segment in segments:
        key = segment.id, segment.system
        if key in first:
            raise Unreadable(
                f"{name}: source text {segment.id} has two summaries of {segment.system}; expected "
                "one"
            )
        first.add(key)

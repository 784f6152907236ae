"""MLQE-PE: source, translation and human scores, without references; and a user's own table."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from monge.data.columns import TEXTS, Given
from monge.data.judged import Group, Reading, scored
from monge.data.lines import check_text, is_there
from monge.data.request import Request, matching
from monge.data.rows import Rows, table_format
from monge.data.tables import Against, Table
from monge.errors import InvalidSetting, UnknownName, Unreadable
from monge.types import Array, Segment

HUMAN = "human"
_MODEL_WORDS = ("model", "logprob", "log_prob", "likelihood")


def read_mlqe(request: Request) -> Reading:
    """One split of MLQE-PE, grouped by language pair; hypotheses meet their source."""
    split = str(request.switches["split"])
    found: dict[str, Path] = {}
    splits: set[str] = set()
    for path, fields in request.match("scores"):
        splits.add(fields["split"])
        if fields["split"] == split or (split == "test" and fields["split"] == "test20"):
            found.setdefault(f"{fields['langs'][:2]}-{fields['langs'][2:]}", path)
    if not splits:
        raise request.missing("scores")
    if not found:
        raise UnknownName("mlqe-pe split", split, splits)
    reading = Reading()
    for pair in request.select(sorted(found)):
        reading.groups[pair] = _mlqe_pair(found[pair], request)
    return reading


def _mlqe_pair(path: Path, request: Request) -> Group:
    columns, rows = request.dataset.columns, Rows(path, "tsv")
    segments: list[Segment] = []
    scores: list[float] = []
    model: list[float] = []
    for row in rows:
        known = next((name for name in columns["id"].split("|") if name in row.fields), columns["id"])
        segments.append(
            Segment(
                str(rows.field(row, known)),
                rows.field(row, columns["hypothesis"]),
                (),
                rows.field(row, columns["source"]),
            )
        )
        scores.append(rows.number(row, request.column))
        model.append(rows.number(row, columns["model"]))
    return scored(segments, scores, model_scores=np.array(model, dtype=np.float64))


def table_file(path: Path) -> Path:
    """The table itself: the file given, or the only table in the directory given."""
    if not is_there(path, folder=True):
        return path
    found = sorted(one for one in path.iterdir() if one.is_file() and _is_table(one))
    if len(found) != 1:
        names = ", ".join(one.name for one in found[:5]) or "none"
        raise Unreadable(
            f"{path}: expected one table (.tsv .csv .jsonl .json .parquet), found {len(found)} ({names}); name one"
        )
    return found[0]


def _is_table(path: Path) -> bool:
    try:
        table_format(path)
    except (InvalidSetting, Unreadable):
        return False
    return True


_MISSING = ("nan", "na", "n/a", "null", "none")
"""How tables write that there is no human score; pandas writes nan."""


def read_table_judged(
    path: Path, human: str, against: str | None, wanted: tuple[str, ...] | None, given: Given
) -> Reading:
    """A table with columns for the texts, their system, id and group, and a human column, by group."""
    known = {"human": human, **given} if human != HUMAN else given
    source: Against | None = "source" if against == "source" else None
    table = Table(Rows(table_file(path)), source, known, (*TEXTS, "group", HUMAN))
    rows, reading, column = table.rows, Reading(), table.columns.get(HUMAN)
    if not column:
        raise table.missing(HUMAN)
    reading.warnings += [table.note] if table.note else []
    gathered: dict[str, tuple[list[Segment], list[float], list[object]]] = {}
    model: str | None = None
    for row, segment in table.numbered():
        model = model or _model_column(row.fields, column)
        value = rows.field(row, column)
        if value in (None, "") or value != value or str(value).strip().lower() in _MISSING:
            reading.excluded["no human score"] += 1
            continue
        name = row.fields.get(table.columns.get("group"))
        group = "all" if name is None else check_text(str(name), rows.where(row, "group"))
        segments, scores, likelihoods = gathered.setdefault(group, ([], [], []))
        segments.append(segment)
        scores.append(rows.number(row, column))
        likelihoods.append(row.fields.get(model or ""))
    if not gathered:
        raise Unreadable(f"{rows.name}: no row has a value in the human column {column!r}")
    for name in matching(wanted, gathered, "group"):
        segments, scores, likelihoods = gathered[name]
        reading.groups[name] = scored(segments, scores, model_scores=_numbers(likelihoods))
    return reading


def _model_column(names: dict[str, object], human: str) -> str | None:
    """The column that by its name holds the model's own scores: the human one itself if it is so named."""
    found = [name for name in names if any(word in name.lower() for word in _MODEL_WORDS)]
    return human if human in found else next(iter(found), None)


def _numbers(values: list[object]) -> Array | None:
    try:
        numbers = np.array([float(str(value)) for value in values], dtype=np.float64)
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None

"""MLQE-PE: source, translation and human scores, without references; and a user's own table."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from monge.datasets.columns import TEXTS, Given
from monge.datasets.frames import FrameRows, is_frame
from monge.datasets.judged import DatasetReading, Group, scored
from monge.datasets.lines import StrPath, check_text, is_there
from monge.datasets.request import DatasetRequest, matching
from monge.datasets.rows import Rows, table_format
from monge.datasets.tables import Against, Table
from monge.errors import InvalidSetting, UnknownName, Unreadable
from monge.types import Array, Segment

HUMAN = "human"
_MODEL_WORDS = ("model", "logprob", "log_prob", "likelihood")


def read_mlqe(request: DatasetRequest) -> DatasetReading:
    """Read one split of MLQE-PE by language pair; hypotheses are judged against the source."""
    split = str(request.switches["split"])
    paths: dict[str, Path] = {}
    splits: set[str] = set()
    for path, fields in request.match("scores"):
        splits.add(fields["split"])
        if fields["split"] == split or (split == "test" and fields["split"] == "test20"):
            paths.setdefault(f"{fields['langs'][:2]}-{fields['langs'][2:]}", path)
    if not splits:
        raise request.missing("scores")
    if not paths:
        raise UnknownName("mlqe-pe split", split, splits)
    reading = DatasetReading()
    for pair in request.select(sorted(paths)):
        reading.groups[pair] = _read_mlqe_pair(paths[pair], request)
    return reading


def _read_mlqe_pair(path: Path, request: DatasetRequest) -> Group:
    columns, rows = request.dataset.columns, Rows(path, "tsv")
    segments: list[Segment] = []
    scores: list[float] = []
    model: list[float] = []
    for row in rows:
        id_column = next(
            (name for name in columns["id"].split("|") if name in row.fields), columns["id"]
        )
        segments.append(
            Segment(
                str(rows.field(row, id_column)),
                rows.field(row, columns["hypothesis"]),
                (),
                rows.field(row, columns["source"]),
            )
        )
        scores.append(rows.number(row, request.column))
        model.append(rows.number(row, columns["model"]))
    return scored(segments, scores, model_scores=np.array(model, dtype=np.float64))


def find_table(path: Path) -> Path:
    """Return the table file: the file given, or the only table in the directory given."""
    if not is_there(path, folder=True):
        return path
    tables = sorted(file for file in path.iterdir() if file.is_file() and _is_table(file))
    if len(tables) != 1:
        names = ", ".join(table.name for table in tables[:5]) or "none"
        raise Unreadable(
            f"{path}: expected one table (.tsv .csv .jsonl .json .parquet), found {len(tables)} "
            f"({names}); name one"
        )
    return tables[0]


def _is_table(path: Path) -> bool:
    try:
        table_format(path)
    except (InvalidSetting, Unreadable):
        return False
    return True


_MISSING = ("nan", "na", "n/a", "null", "none")
"""How tables write that there is no human score; pandas writes nan."""


def read_table_judged(
    path: StrPath | object,
    human: str,
    against: str | None,
    group_names: tuple[str, ...] | None,
    columns: Given,
) -> DatasetReading:
    """Read a table with columns for texts, system, id, group and a human score, by group."""
    columns_by_role = {"human": human, **columns} if human != HUMAN else columns
    source: Against | None = "source" if against == "source" else None
    read_rows = FrameRows(path) if is_frame(path) else Rows(find_table(Path(str(path))))
    table = Table(read_rows, source, columns_by_role, (*TEXTS, "group", HUMAN))
    rows, reading, column = table.rows, DatasetReading(), table.columns.get(HUMAN)
    if not column:
        raise table.missing(HUMAN)
    reading.warnings += [table.note] if table.note else []
    gathered: dict[str, tuple[list[Segment], list[float], list[object]]] = {}
    model: str | None = None
    for row, segment in table.numbered():
        model = model or _find_model_column(row.fields, column)
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
    for name in matching(group_names, gathered, "group"):
        segments, scores, likelihoods = gathered[name]
        reading.groups[name] = scored(segments, scores, model_scores=_to_numbers(likelihoods))
    return reading


def _find_model_column(names: dict[str, object], human: str) -> str | None:
    """Return the column named as the model's own scores; the human column has priority."""
    candidates = [name for name in names if any(word in name.lower() for word in _MODEL_WORDS)]
    return human if human in candidates else next(iter(candidates), None)


def _to_numbers(values: list[object]) -> Array | None:
    try:
        numbers = np.array([float(str(value)) for value in values], dtype=np.float64)
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None

"""Pairs of sentences with a label or a grade, read from files of pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from monge.datasets.lines import TextFile
from monge.errors import DataError
from monge.types import Array

LABELS = ("entailment", "neutral", "contradiction")
LABEL_SETS = (LABELS, ("entailment", "not_entailment"), ("1", "0"))
"""Sets of labels that need no declaration: of NLI, of NLI with two labels, of paraphrases."""
PARAPHRASE = ("paraphrase", "other")
"""The two labels that a threshold makes of grades."""
_SICK = "sentence_A", "sentence_B"
_SICK_LABEL, _SICK_GRADE = "entailment", "relatedness"


@dataclass(frozen=True)
class Labelled:
    """Pairs of sentences with a number: a paraphrase's grade, or an index of `classes`."""

    name: str
    pairs: tuple[tuple[str, str], ...]
    values: Array
    licence: str = ""
    classes: tuple[str, ...] = LABELS

    def __len__(self) -> int:
        return len(self.pairs)

    def select(self, places: Sequence[int]) -> Labelled:
        """Return the pairs at some places."""
        return replace(
            self, pairs=tuple(self.pairs[k] for k in places), values=self.values[list(places)]
        )


class _Row(NamedTuple):
    """A line of a file of pairs: its number, both sentences, and the label as it stands."""

    number: int
    first: str
    second: str
    label: str


def read_labelled(path: str | Path, grades: Mapping[float, float] | None = None) -> Labelled:
    """Read lines `first TAB second TAB label` (after an id in Opusparcus), or a table of SICK.

    A label is one of a set in `LABEL_SETS` (SICK: the column entailment_*), or with `grades` one
    of those (SICK: the column relatedness_*).
    """
    if grades is None:
        return read_classes(path)
    values = {f"{grade:g}": value for grade, value in grades.items()}
    return _label(path, _read_rows(path, _SICK_GRADE), values.get, f"labels: {', '.join(values)}")


def read_classes(path: str | Path, classes: Sequence[str] = ()) -> Labelled:
    """Read pairs with labels: of the given classes, or of the set in `LABEL_SETS` that fits."""
    rows = _read_rows(path, _SICK_LABEL)
    sets = [tuple(classes)] if classes else list(LABEL_SETS)
    for row in rows:
        fitting = [labels for labels in sets if _plain(row.label) in labels]
        if not fitting:
            accepted = " or ".join(", ".join(labels) for labels in sets)
            hint = "" if classes else "; others are declared by labels=A/B or labels=A/B/C"
            raise DataError(
                f"{path}, line {row.number}: label {row.label!r}; labels: {accepted}{hint}"
            )
        sets = fitting
    values = {name: float(k) for k, name in enumerate(sets[0])}
    labelled = _label(path, rows, values.get, "")
    if len(set(labelled.values.tolist())) < 2:
        raise DataError(
            f"{path}: every one of its {len(rows)} pairs has the label {rows[0].label!r}: there is "
            "nothing to tell apart"
        )
    return replace(labelled, classes=sets[0])


def read_graded(path: str | Path, low: float, high: float) -> Labelled:
    """Read pairs with grades from `low` to `high`, brought to 0..1."""

    def to_unit(text: str) -> float | None:
        grade = _number(text)
        return None if grade is None or not low <= grade <= high else (grade - low) / (high - low)

    accepted = f"grades lie between {low:g} and {high:g}"
    return _label(path, _read_rows(path, _SICK_GRADE), to_unit, accepted)


def read_paraphrases(path: str | Path, least: float) -> Labelled:
    """Read pairs with grades; those graded `least` or more are paraphrases, the others are not."""
    rows = _read_rows(path, _SICK_GRADE)
    grades = _label(path, rows, _number, "grades are numbers")
    return split_by_grade(grades, least)


def split_by_grade(graded: Labelled, least: float) -> Labelled:
    """Return pairs whose label is whether their grade is `least` or more."""
    values = (graded.values < least).astype(float)
    if len(set(values.tolist())) < 2:
        raise DataError(
            f"{graded.name}: its grades from {graded.values.min():g} to {graded.values.max():g} "
            f"lie on one side of paraphrase_from={least:g}: choose a number between them"
        )
    return replace(graded, values=values, classes=PARAPHRASE)


def _label(
    path: str | Path, rows: Sequence[_Row], value_of: Callable[[str], float | None], accepted: str
) -> Labelled:
    """Return the pairs with the value of each label; raise for the first label without."""
    values = []
    for row in rows:
        value = value_of(_plain(row.label))
        if value is None:
            raise DataError(f"{path}, line {row.number}: label {row.label!r}; {accepted}")
        values.append(value)
    pairs = tuple((row.first, row.second) for row in rows)
    return Labelled(Path(path).name, pairs, np.array(values))


def _read_rows(path: str | Path, sick_column: str) -> list[_Row]:
    """Read the lines of a file of pairs; `sick_column` begins the name of SICK's label column."""
    rows: list[_Row] = []
    columns: list[int] | None = None
    for number, line in enumerate(TextFile(path), start=1):
        cells = line.split("\t")
        if number == 1 and _SICK[0] in cells:
            columns = _sick_columns(path, cells, sick_column)
            continue
        if not (len(cells) > max(columns) if columns else len(cells) in (3, 4)):
            raise DataError(
                f"{path}, line {number}: {len(cells)} column(s), wanted two sentences and a label, "
                "tabs between"
            )
        rows.append(_Row(number, *([cells[k] for k in columns] if columns else cells[-3:])))
    if not rows:
        raise DataError(f"{path}: no pairs of sentences")
    return rows


def _sick_columns(path: str | Path, header: list[str], start: str) -> list[int]:
    """Return the columns of both sentences and the label in a table of SICK."""
    label = next((k for k, cell in enumerate(header) if cell.startswith(start)), None)
    if label is None or _SICK[1] not in header:
        raise DataError(
            f"{path}, line 1: no columns {_SICK[1]} and {start}_… (columns: {', '.join(header)})"
        )
    return [*(header.index(name) for name in _SICK), label]


def _number(text: str) -> float | None:
    """Return a finite number, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def _plain(label: str) -> str:
    """Return a label in lower case, a number in its shortest form."""
    value = _number(label)
    return label.strip().lower() if value is None else f"{value:g}"

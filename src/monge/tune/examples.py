"""What there is to learn from: judged segments with standardised scores, better and worse ones, labelled pairs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from monge.data import Judged, open_dataset
from monge.data.lines import TextFile
from monge.errors import DataError, InvalidSetting
from monge.types import Array, Segment

Places = npt.NDArray[np.int64]
LABELS = ("entailment", "neutral", "contradiction")


@dataclass(frozen=True)
class Examples:
    """Segments to learn from: `targets` [n] one each, or `better` [p, 2] places of a better and a worse one.

    `groups` [n] says where each belongs; agreement is the mean over groups. `unit` [n] is the cosine that each grade
    stands for, where that was asked for.
    """

    name: str
    rows: tuple[Segment, ...]
    groups: tuple[str, ...]
    targets: Array | None = None
    better: Places | None = None
    unit: Array | None = None
    licence: str = ""

    def __len__(self) -> int:
        return len(self.rows) if self.better is None else len(self.better)

    def of(self, places: Sequence[int]) -> Examples:
        """Some of the judgements; of rankings, with the segments they are about."""
        if self.better is None:
            assert self.targets is not None
            return replace(
                self,
                rows=tuple(self.rows[k] for k in places),
                groups=tuple(self.groups[k] for k in places),
                targets=self.targets[list(places)],
                unit=None if self.unit is None else self.unit[list(places)],
            )
        chosen = self.better[list(places)]
        used, index = np.unique(chosen, return_inverse=True)
        return replace(
            self,
            rows=tuple(self.rows[k] for k in used),
            groups=tuple(self.groups[k] for k in used),
            better=index.reshape(chosen.shape).astype(np.int64),
        )


def judged_examples(
    name: str,
    data: str | Path,
    pairs: Sequence[str] | None = None,
    *,
    cosines: Mapping[float, float] | None = None,
    **options: str | int | bool,
) -> Examples:
    """The judgements of a published data set, or of several joined by +; scores are standardised by group.

    `cosines`: what cosine each grade stands for, with an empty table by the ends of the scale; nothing where no cosine
    is learned. `options`: human column, version of the text, switches of the data sets.
    """
    opened = [open_dataset(one, data, pairs=pairs, **options) for one in name.split("+")]  # type: ignore[arg-type]
    kinds = {one.kind for one in opened}
    if len(kinds) > 1 or "systems" in kinds:
        raise InvalidSetting(f"{name}: judgements of kinds {', '.join(sorted(kinds))} cannot be learned from together")
    found = [_examples(one, group, cosines) for one in opened for group in one.groups]
    rows = tuple(row for one in found for row in one.rows)
    groups = tuple(group for one in found for group in one.groups)
    licence = "; ".join(dict.fromkeys(one.licence for one in opened if one.licence))
    if kinds == {"scores"}:
        targets = np.concatenate([one.targets for one in found if one.targets is not None])
        unit = None if cosines is None else np.concatenate([one.unit for one in found if one.unit is not None])
        return Examples(name, rows, groups, targets=targets, unit=unit, licence=licence)
    starts = np.cumsum([0, *(len(one.rows) for one in found)])
    better = [one.better + start for one, start in zip(found, starts, strict=False) if one.better is not None]
    return Examples(name, rows, groups, better=np.concatenate(better), licence=licence)


def _examples(judged: Judged, name: str, cosines: Mapping[float, float] | None) -> Examples:
    group, label = judged.groups[name], f"{judged.dataset}/{name}"
    if not all(row.references for row in group.segments):
        raise InvalidSetting(
            f"{label} has no references, only sources: tuning learns from outputs that were judged beside a reference, "
            "such as those of wmt15, wmt16, stsb or a table with a column reference"
        )
    groups = (label,) * len(group.segments)
    if group.scores is None:
        return Examples(label, group.segments, groups, better=group.rankings)
    return Examples(
        label,
        group.segments,
        groups,
        targets=standardised(group.scores * judged.direction, label),
        unit=None if cosines is None else _cosines(judged, group.scores, cosines, label),
    )


def _cosines(judged: Judged, scores: Array, cosines: Mapping[float, float], label: str) -> Array:
    """The cosine that each human score stands for: by a table, or 0 for the worst end of the scale and 1 for the best.

    The scale is the declared one; where none was, 0 to 1 if it holds all scores, else their own range.
    """
    if cosines:
        return graded(scores, cosines, label)
    low, high = judged.human_range
    every = np.concatenate([one.scores for one in judged.groups.values() if one.scores is not None])
    if every.min() < low or every.max() > high:
        if judged.human_range != (0.0, 1.0) or judged.switches["human_range"]:
            raise DataError(
                f"{label}: human scores from {every.min():g} to {every.max():g} lie outside the declared range "
                f"{low:g}/{high:g}: declare the range they have (human_range=LOW/HIGH)"
            )
        low, high = float(every.min()), float(every.max())
    unit: Array = (scores - low) / (high - low)
    return unit if judged.direction > 0 else 1 - unit


def standardised(scores: Array, name: str) -> Array:
    """(x - mean) / deviation; scores that are all the same teach nothing."""
    values = np.asarray(scores, dtype=np.float64)
    spread = float(values.std())
    if not np.isfinite(values).all() or spread < 1e-9:
        raise DataError(
            f"{name}: its {len(values)} human scores are {'not all numbers' if spread >= 1e-9 else 'all the same'}: "
            "is this the right column (--human)?"
        )
    found: Array = (values - values.mean()) / spread
    return found


@dataclass(frozen=True)
class Labelled:
    """Pairs of sentences with a number each: the grade of a paraphrase, or the index of a label in `LABELS`."""

    name: str
    pairs: tuple[tuple[str, str], ...]
    values: Array
    licence: str = ""

    def __len__(self) -> int:
        return len(self.pairs)

    def of(self, places: Sequence[int]) -> Labelled:
        """Some of the pairs."""
        return replace(self, pairs=tuple(self.pairs[k] for k in places), values=self.values[list(places)])


def content_digest(lesson: Examples | Labelled) -> str:
    """A digest of every text and number that is learned from, so that other data is told from the same data moved."""
    digest = hashlib.sha256(type(lesson).__name__.encode())
    arrays: list[Array | Places | None]
    if isinstance(lesson, Labelled):
        arrays, texts = [lesson.values], [list(pair) for pair in lesson.pairs]
    else:
        arrays = [lesson.targets, lesson.better, lesson.unit]
        texts = [[row.hypothesis, *row.references, row.source or ""] for row in lesson.rows]
        digest.update(json.dumps(lesson.groups).encode())
    for some in texts:
        digest.update(json.dumps(some).encode())
    for values in arrays:
        digest.update(b"none" if values is None else values.dtype.str.encode() + values.tobytes())
    return digest.hexdigest()


def graded(values: Array, grades: Mapping[float, float], name: str) -> Array:
    """What each grade stands for by a table."""
    wrong = next((value for value in values.tolist() if value not in grades), None)
    if wrong is not None:
        raise DataError(f"{name}: grade {wrong:g}; grades: {', '.join(f'{one:g}' for one in grades)}")
    return np.array([grades[value] for value in values.tolist()])


def read_labelled(path: str | Path, grades: Mapping[float, float] | None = None) -> Labelled:
    """Lines `first TAB second TAB label`, as Opusparcus has them with an id before, or a table of SICK.

    A label is one of `LABELS` (SICK: columns sentence_A, sentence_B, entailment_*), or with `grades` one of those.
    """
    known = (
        {f"{grade:g}": value for grade, value in grades.items()}
        if grades is not None
        else {name: float(k) for k, name in enumerate(LABELS)}
    )
    pairs, values = [], []
    where: tuple[int, int, int] | None = None
    for number, line in enumerate(TextFile(path), start=1):
        cells = line.split("\t")
        if number == 1 and "sentence_A" in cells:
            judged = next((k for k, cell in enumerate(cells) if cell.startswith("entailment")), None)
            if judged is None:
                raise DataError(f"{path}, line 1: no column entailment_judgment (columns: {', '.join(cells)})")
            where = cells.index("sentence_A"), cells.index("sentence_B"), judged
            continue
        if where is None and len(cells) not in (3, 4):
            raise DataError(
                f"{path}, line {number}: {len(cells)} column(s), wanted two sentences and a label, tabs between"
            )
        first, second, label = (cells[k] for k in where) if where else cells[-3:]
        plain = _plain(label)
        if plain not in known:
            raise DataError(f"{path}, line {number}: label {label!r}; labels: {', '.join(known)}")
        pairs.append((first, second))
        values.append(known[plain])
    if not pairs:
        raise DataError(f"{path}: no pairs of sentences")
    return Labelled(Path(path).name, tuple(pairs), np.array(values))


def _plain(label: str) -> str:
    """A label as it is compared: lower case, a number in its shortest form."""
    try:
        return f"{float(label):g}"
    except ValueError:
        return label.strip().lower()

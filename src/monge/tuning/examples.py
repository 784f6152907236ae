"""Training data: judged segments, standardised, and rankings of segments."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from monge.datasets import Judged, open_dataset
from monge.errors import DataError, InvalidSetting
from monge.scoring.windows import REFERENCES, with_side
from monge.tuning.labelled import Labelled
from monge.types import Array, Segment

Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Examples:
    """Judged segments: `targets` [n], or `better` [p, 2], places of a better and a worse segment.

    `groups` [n] is the group of each segment; agreement is the mean over groups. `unit` [n] is the
    cosine of each grade, if cosines are learned; `raw` [n] are human scores as published, larger
    better, if these are learned; `margins` [p] are how much better each better segment is, where
    that is known.
    """

    name: str
    rows: tuple[Segment, ...]
    groups: tuple[str, ...]
    targets: Array | None = None
    better: Places | None = None
    unit: Array | None = None
    licence: str = ""
    raw: Array | None = None
    margins: Array | None = None

    def __len__(self) -> int:
        return len(self.rows) if self.better is None else len(self.better)

    def select(self, places: Sequence[int]) -> Examples:
        """Return the judgements at some places; for rankings, with the segments they compare."""
        if self.better is None:
            assert self.targets is not None
            return replace(
                self,
                rows=tuple(self.rows[k] for k in places),
                groups=tuple(self.groups[k] for k in places),
                targets=self.targets[list(places)],
                unit=None if self.unit is None else self.unit[list(places)],
                raw=None if self.raw is None else self.raw[list(places)],
            )
        chosen = self.better[list(places)]
        used, index = np.unique(chosen, return_inverse=True)
        return replace(
            self,
            rows=tuple(self.rows[k] for k in used),
            groups=tuple(self.groups[k] for k in used),
            better=index.reshape(chosen.shape).astype(np.int64),
            margins=None if self.margins is None else self.margins[list(places)],
        )


def judged_examples(
    name: str,
    data: str | Path,
    pairs: Sequence[str] | None = None,
    *,
    cosines: Mapping[float, float] | None = None,
    raw: bool = False,
    against: str = REFERENCES,
    **options: str | int | bool,
) -> Examples:
    """Read the judgements of a data set, or several joined by +, standardised by group.

    `cosines`: the cosine of each grade; an empty table maps the ends of the scale to 0 and 1; None
    if no cosine is learned. `raw`: keep human scores as published too. `against`: the side that
    outputs are compared with; the source replaces the references. `options`: human column, version
    of the text, switches of the data sets.
    """
    datasets = [
        open_dataset(dataset_name, data, pairs=pairs, **options)  # type: ignore[arg-type]
        for dataset_name in name.split("+")
    ]
    kinds = {dataset.kind for dataset in datasets}
    if len(kinds) > 1 or "systems" in kinds:
        raise InvalidSetting(
            f"{name}: judgements of kinds {', '.join(sorted(kinds))} cannot be learned from "
            "together"
        )
    by_group = [
        compare_with(_group_examples(dataset, group, cosines, against, raw=raw), against)
        for dataset in datasets
        for group in dataset.groups
    ]
    licence = "; ".join(dict.fromkeys(dataset.licence for dataset in datasets if dataset.licence))
    return replace(_join_groups(name, by_group), licence=licence)


def _join_groups(name: str, by_group: Sequence[Examples]) -> Examples:
    """Join the examples of groups, all of which have scores, or all of which have rankings."""
    rows = tuple(row for examples in by_group for row in examples.rows)
    groups = tuple(group for examples in by_group for group in examples.groups)
    starts = np.cumsum([0, *(len(examples.rows) for examples in by_group)])
    targets = [examples.targets for examples in by_group if examples.targets is not None]
    unit = [examples.unit for examples in by_group if examples.unit is not None]
    raw = [examples.raw for examples in by_group if examples.raw is not None]
    better = [
        examples.better + start
        for examples, start in zip(by_group, starts, strict=False)
        if examples.better is not None
    ]
    return Examples(
        name,
        rows,
        groups,
        targets=np.concatenate(targets) if targets else None,
        unit=np.concatenate(unit) if unit else None,
        better=np.concatenate(better) if better else None,
        raw=np.concatenate(raw) if raw else None,
    )


def compare_with(examples: Examples, against: str) -> Examples:
    """Return the examples with the texts of a side in place of the references."""
    if against == REFERENCES:
        return examples
    return replace(examples, rows=tuple(with_side(row, against) for row in examples.rows))


def _group_examples(
    dataset: Judged,
    name: str,
    cosines: Mapping[float, float] | None,
    against: str,
    *,
    raw: bool,
) -> Examples:
    group, label = dataset.groups[name], f"{dataset.dataset}/{name}"
    if not all(with_side(row, against).references for row in group.segments):
        raise InvalidSetting(_describe_missing_side(label, against))
    groups = (label,) * len(group.segments)
    if group.scores is None:
        return Examples(label, group.segments, groups, better=group.rankings)
    return Examples(
        label,
        group.segments,
        groups,
        targets=standardise(group.scores * dataset.direction, label),
        unit=None if cosines is None else _cosines(dataset, group.scores, cosines, label),
        raw=group.scores * dataset.direction if raw else None,
    )


def _describe_missing_side(label: str, against: str) -> str:
    """Return the message for judgements of outputs without the side that the metric reads."""
    if against == REFERENCES:
        return (
            f"{label} has no references, only sources: this metric compares with references; tune "
            "a metric that compares with the source (yisi-2, xmoverscore, --set against=source), "
            "or learn from wmt15, wmt16, stsb or a table with a column reference"
        )
    return (
        f"{label} has outputs without a source, and this metric compares with the source: learn "
        "from mlqe-pe, wmt15, wmt16 or a table with a column source"
    )


def _cosines(dataset: Judged, scores: Array, cosines: Mapping[float, float], label: str) -> Array:
    """Return each human score's cosine: by a table, or from 0 (worst end) to 1 (best end).

    The scale is the declared one; without one it is 0 to 1 if all scores lie in it, else the range
    of the scores.
    """
    if cosines:
        return look_up_grades(scores, cosines, label)
    low, high = dataset.human_range
    all_scores = np.concatenate(
        [group.scores for group in dataset.groups.values() if group.scores is not None]
    )
    if all_scores.min() < low or all_scores.max() > high:
        if dataset.human_range != (0.0, 1.0) or dataset.switches["human_range"]:
            raise DataError(
                f"{label}: human scores from {all_scores.min():g} to {all_scores.max():g} lie "
                f"outside the declared range {low:g}/{high:g}: declare the range they have "
                "(human_range=LOW/HIGH)"
            )
        low, high = float(all_scores.min()), float(all_scores.max())
    unit: Array = (scores - low) / (high - low)
    return unit if dataset.direction > 0 else 1 - unit


def standardise(scores: Array, name: str) -> Array:
    """Return (x - mean) / standard deviation; raise if all scores are the same."""
    values = np.asarray(scores, dtype=np.float64)
    spread = float(values.std())
    if not np.isfinite(values).all() or spread < 1e-9:
        raise DataError(
            f"{name}: its {len(values)} human scores are "
            f"{'not all numbers' if spread >= 1e-9 else 'all the same'}: "
            "is this the right column (--human)?"
        )
    z_scores: Array = (values - values.mean()) / spread
    return z_scores


def content_digest(lesson: Examples | Labelled) -> str:
    """Return a digest of a lesson's texts and numbers, whatever its files' paths."""
    digest = hashlib.sha256(type(lesson).__name__.encode())
    arrays: list[Array | Places | None]
    if isinstance(lesson, Labelled):
        arrays, texts = [lesson.values], [list(pair) for pair in lesson.pairs]
    else:
        arrays = [lesson.targets, lesson.better, lesson.unit]
        arrays += [values for values in (lesson.raw, lesson.margins) if values is not None]
        texts = [[row.hypothesis, *row.references, row.source or ""] for row in lesson.rows]
        digest.update(json.dumps(lesson.groups).encode())
    for item_texts in texts:
        digest.update(json.dumps(item_texts).encode())
    for values in arrays:
        digest.update(b"none" if values is None else values.dtype.str.encode() + values.tobytes())
    return digest.hexdigest()


def look_up_grades(values: Array, grades: Mapping[float, float], name: str) -> Array:
    """Return the value of each grade in a table; raise for a grade that is not in it."""
    wrong = next((value for value in values.tolist() if value not in grades), None)
    if wrong is not None:
        raise DataError(
            f"{name}: grade {wrong:g}; grades: {', '.join(f'{grade:g}' for grade in grades)}"
        )
    return np.array([grades[value] for value in values.tolist()])

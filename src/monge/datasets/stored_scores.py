"""Scores of metrics that are stored beside a test set of mt-metrics-eval.

metric-scores/SRC-TGT/METRIC-REFERENCE.LEVEL.score, LEVEL seg or sys: system and score per line, in
order of segments; REFERENCE is `src` for a metric that reads the source alone. Higher is better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import blake2b
from pathlib import Path

import numpy as np

from monge.datasets.mtme import find_test_set, read_scores
from monge.errors import Misaligned, UnknownName, Unreadable
from monge.types import Array, Segment

SOURCE = "src"


@dataclass(frozen=True)
class StoredMetric:
    """A metric with stored scores of a language pair; `files` by level."""

    name: str
    reference: str
    files: Mapping[str, Path]

    def scores_of(
        self, rows: Sequence[Segment], *, has_all_rows: bool = True
    ) -> tuple[Array, dict[str, float], str]:
        """Return the scores of segments [n] and of their systems, and a digest of the files.

        Rows are numbered by their id, from 1. A system without a stored score of its own, or of
        which rows are only a part (`has_all_rows` is false), has the mean of its segments.

        Raises:
            Misaligned: If a segment has no score.
        """
        path = self.files["seg"]
        by_system = read_scores(path)
        values = np.empty(len(rows))
        for k, row in enumerate(rows):
            scores = by_system.get(row.system, ())
            score = scores[int(row.id) - 1] if int(row.id) <= len(scores) else None
            if score is None:
                raise Misaligned(f"{path}: no score of {row.system}, segment {row.id}")
            values[k] = score
        systems = dict.fromkeys(row.system for row in rows)
        stored = read_scores(self.files["sys"]) if has_all_rows and "sys" in self.files else {}
        means = {
            system: float(np.mean(values[[row.system == system for row in rows]]))
            for system in systems
        }
        of_systems = {
            system: first
            if (first := next(iter(stored.get(system, ())), None)) is not None
            else means[system]
            for system in systems
        }
        content = b"".join(self.files[level].read_bytes() for level in sorted(self.files))
        return values, of_systems, blake2b(content, digest_size=4).hexdigest()


def find_stored(
    directory: Path, test_set: str, pair: str, reference: str, patterns: Sequence[str]
) -> list[StoredMetric]:
    """Return the stored metrics that compare with the reference in use, or with the source.

    `reference` is empty for the first by name. `patterns` are names of metrics, or patterns such
    as `*`.

    Raises:
        Unreadable: If the test set has no stored scores of the pair.
        UnknownName: If no stored metric fits a pattern.
    """
    root = find_test_set(directory, test_set)
    folder = root / "metric-scores" / pair
    metrics = _list_metrics(folder)
    if not metrics:
        raise Unreadable(f"{folder}: no stored scores; expected METRIC-REFERENCE.seg.score")
    used = {reference or _first_reference(root, pair), SOURCE}
    fitting = [metric for metric in metrics if metric.reference in used]
    if not fitting:
        references = ", ".join(sorted({metric.reference for metric in metrics}))
        raise Unreadable(
            f"{folder}: no stored metric compares with {' or '.join(sorted(used))}; there are "
            f"scores with {references}"
        )
    names = list(dict.fromkeys(metric.name for metric in fitting))
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise UnknownName(f"{pair} stored metric", pattern, names)
    return [
        metric
        for metric in fitting
        if any(fnmatchcase(metric.name, pattern) for pattern in patterns)
    ]


def _first_reference(root: Path, pair: str) -> str:
    """Return the name of the first reference of a language pair; empty if there is none."""
    names = [path.name.split(".")[-2] for path in (root / "references").glob(f"{pair}.*")]
    return min(names, default="")


def _list_metrics(folder: Path) -> list[StoredMetric]:
    """Return the metrics of a folder that have scores of segments."""
    files: dict[tuple[str, str], dict[str, Path]] = {}
    for path in sorted(folder.glob("*.score")):
        full, _, level = path.name.removesuffix(".score").rpartition(".")
        name, dash, reference = full.rpartition("-")
        if dash and level in ("seg", "sys"):
            files.setdefault((name, reference), {})[level] = path
    return [
        StoredMetric(name, reference, levels)
        for (name, reference), levels in files.items()
        if "seg" in levels
    ]

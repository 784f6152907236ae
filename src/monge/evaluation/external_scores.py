"""Scores from a file instead of one of our metrics; tables and tests treat them alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from monge.datasets import Judged
from monge.datasets.segment_scores import GivenScores
from monge.errors import UsageError
from monge.evaluation.variant_scores import RowScores, VariantScores
from monge.metrics.signature import quoted
from monge.types import Array, Segment, Signature

NO_SCORES: Sequence[GivenScores] = ()


@dataclass(frozen=True)
class Outside:
    """Scores from a file in the place of a variant, under the name that the user gave them."""

    name: str

    @property
    def label(self) -> str:
        """The same name."""
        return self.name


def check_distinct_names(score_files: Sequence[GivenScores], labels: Sequence[str]) -> None:
    """Raise if scores of a file have the name of a metric of the run."""
    duplicate = next(
        (score_file.name for score_file in score_files if score_file.name in labels), None
    )
    if duplicate is not None:
        raise UsageError(
            f"--scores {duplicate}=… has the name of a metric of this run; give it another name"
        )


def signature_of(given_scores: GivenScores, digest: str) -> Signature:
    """Return `scores:NAME#DIGEST`, the digest of the used scores with system and id."""
    return Signature((("scores", f"{quoted(given_scores.name)}#{digest}"),))


def judged_scores(given_scores: GivenScores, dataset: Judged) -> VariantScores:
    """Return a file's scores on every group of a data set; systems get segment means."""
    groups = {name: group.segments for name, group in dataset.groups.items()}
    scores, digest = given_scores.of(groups)
    signature = signature_of(given_scores, digest)
    return VariantScores(
        Outside(given_scores.name),
        {
            name: RowScores(
                scores[name],
                average_systems(rows, scores[name]),
                signature,
                given_scores.higher_is_better,
            )
            for name, rows in groups.items()
        },
    )


def average_systems(rows: Sequence[Segment], scores: Array) -> dict[str, float]:
    """Return the mean score of each system's segments."""
    by_system: dict[str, list[float]] = {}
    for row, score in zip(rows, scores.tolist(), strict=True):
        by_system.setdefault(row.system, []).append(score)
    return {system: float(np.mean(system_scores)) for system, system_scores in by_system.items()}


def scores_by_system(
    given_scores: GivenScores, rows: Sequence[Segment], by_system: Mapping[str, Sequence[Segment]]
) -> tuple[Array, str]:
    """Return the scores [systems, items] of systems with the same items, and their signature."""
    scores, digest = given_scores.of({"": rows})
    places = {(row.system, row.id): k for k, row in enumerate(rows)}
    order = [
        [places[row.system, row.id] for row in system_rows] for system_rows in by_system.values()
    ]
    return scores[""][np.array(order)], str(signature_of(given_scores, digest))

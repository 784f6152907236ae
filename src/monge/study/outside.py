"""Scores that come from a file instead of a metric of ours: they take part in tables and tests as a metric does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from monge.data import Judged
from monge.data.segment_scores import GivenScores
from monge.errors import UsageError
from monge.spec.signature import quoted
from monge.study.book import RowScores, Scores
from monge.types import Array, Segment, Signature

NO_SCORES: Sequence[GivenScores] = ()


@dataclass(frozen=True)
class Outside:
    """What stands where a variant would: the name that the user gave the scores."""

    name: str

    @property
    def label(self) -> str:
        """The same name."""
        return self.name


def check_apart(given: Sequence[GivenScores], labels: Sequence[str]) -> None:
    """Raise where scores of a file have the name of a metric of the run."""
    twice = next((one.name for one in given if one.name in labels), None)
    if twice is not None:
        raise UsageError(f"--scores {twice}=… has the name of a metric of this run; give it another name")


def signature_of(given: GivenScores, digest: str) -> Signature:
    """`scores:NAME#DIGEST`: the digest is that of the scores that were used, each with its system and id."""
    return Signature((("scores", f"{quoted(given.name)}#{digest}"),))


def judged_scores(given: GivenScores, judged: Judged) -> Scores:
    """The scores of a file on every group of a data set; a system's is the mean of its segments'."""
    groups = {name: group.segments for name, group in judged.groups.items()}
    found, digest = given.of(groups)
    signature = signature_of(given, digest)
    return Scores(
        Outside(given.name),
        {
            name: RowScores(found[name], _means(rows, found[name]), signature, given.higher_is_better)
            for name, rows in groups.items()
        },
    )


def _means(rows: Sequence[Segment], scores: Array) -> dict[str, float]:
    by_system: dict[str, list[float]] = {}
    for row, score in zip(rows, scores.tolist(), strict=True):
        by_system.setdefault(row.system, []).append(score)
    return {system: float(np.mean(some)) for system, some in by_system.items()}


def scores_by_system(
    given: GivenScores, rows: Sequence[Segment], by_system: Mapping[str, Sequence[Segment]]
) -> tuple[Array, str]:
    """The scores [systems, items] of systems that have the same items, and their signature; `rows` as they came."""
    found, digest = given.of({"": rows})
    places = {(row.system, row.id): k for k, row in enumerate(rows)}
    order = [[places[row.system, row.id] for row in mine] for mine in by_system.values()]
    return found[""][np.array(order)], str(signature_of(given, digest))

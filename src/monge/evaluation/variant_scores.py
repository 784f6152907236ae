"""Scores of variants on judged rows and groups, and how they are joined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Protocol

import numpy as np

from monge.datasets import Group, Judged
from monge.types import Array, Signature


@dataclass(frozen=True)
class RowScores:
    """The scores of some rows by one variant.

    `segments` [n] in the order of the rows, `systems` the score of each system: the metric's corpus
    score where it has one, else the mean; `flagged` counts the fallbacks that were taken, `work`
    what the pass cost.
    """

    segments: Array
    systems: Mapping[str, float]
    signature: Signature
    higher_is_better: bool
    flagged: Mapping[str, int] = field(default_factory=dict)
    work: Mapping[str, int] = field(default_factory=dict)


class Named(Protocol):
    """The name and the label of a variant, or of scores from a file."""

    @property
    def label(self) -> str:
        """What tells it from others in a table."""

    @property
    def name(self) -> str:
        """NAME or NAME@PROFILE."""


@dataclass(frozen=True)
class VariantScores:
    """One variant, or the scores that a file gives, on every group of a data set."""

    variant: Named
    groups: Mapping[str, RowScores]

    @property
    def label(self) -> str:
        """What the variant is called."""
        return self.variant.label

    @property
    def signature(self) -> str:
        """One signature for all groups."""
        return str(
            join_signatures(
                {name: row_scores.signature for name, row_scores in self.groups.items()}
            )
        )

    @property
    def higher_is_better(self) -> bool:
        """The direction of the scores."""
        return next(iter(self.groups.values())).higher_is_better

    @property
    def flagged(self) -> dict[str, int]:
        """The fallbacks that were taken, counted over all groups."""
        return sum_counts(row_scores.flagged for row_scores in self.groups.values())

    @property
    def work(self) -> dict[str, int]:
        """What the passes that made the scores cost."""
        return sum_counts(row_scores.work for row_scores in self.groups.values())

    def signed(self, name: str, group: Group, *, by_segment: bool = False) -> Array:
        """Return the scores to compare with the human judgements of a group, higher for better.

        They are the scores of systems if systems are judged, or the mean over segments of each
        document if documents are, unless `by_segment` asks for those of
        segments.
        """
        row_scores = self.groups[name]
        values = row_scores.segments
        if group.systems is not None and not by_segment:
            values = np.array(
                [row_scores.systems[system] for system in group.systems], dtype=np.float64
            )
        elif group.unit_of is not None:
            values = np.bincount(group.unit_of, weights=values) / np.bincount(group.unit_of)
        return values if row_scores.higher_is_better else -values


def join_scores(pools: Sequence[tuple[Judged, Sequence[VariantScores]]]) -> list[VariantScores]:
    """Return the scores of several data sets under the names of `task.joined`."""
    if len(pools) == 1:
        return list(pools[0][1])
    return [
        replace(
            variant_scores,
            groups={
                f"{dataset.dataset}/{name}": v
                for dataset, dataset_scores in pools
                for name, v in dataset_scores[k].groups.items()
            },
        )
        for k, variant_scores in enumerate(pools[0][1])
    ]


def sum_counts(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the sums of counts by name."""
    total: Counter[str] = Counter()
    for group_counts in counts:
        total.update(group_counts)
    return dict(total)


def join_signatures(signatures: Mapping[str, Signature]) -> Signature:
    """Return one signature for several that differ in their statistics (one fit per group).

    `stats:idf=each.1a2b3c4d` reads: fitted from each group's own texts, 1a2b3c4d names all the fits
    together.
    """
    first = next(iter(signatures.values()))
    if all(signature == first for signature in signatures.values()):
        return first
    fields = []
    for key, value in first.fields:
        field_values = {name: signature.get(key) for name, signature in signatures.items()}
        if key == "stats" and len(set(field_values.values())) > 1:
            kinds = [part.partition("=")[0] for part in value.split(",")]
            digest = blake2b(repr(sorted(field_values.items())).encode(), digest_size=4).hexdigest()
            fields.append((key, ",".join(f"{kind}=each.{digest}" for kind in kinds)))
        else:
            fields.append((key, value if len(set(field_values.values())) == 1 else "var"))
    return Signature(tuple(fields))

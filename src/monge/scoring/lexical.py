"""Metrics of words and characters in a run: no model, no vectors, the same `Result`. Imports no torch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from monge.spec.lexical import LexicalSpec
from monge.spec.rules import Bounds
from monge.spec.signature import sign_lexical
from monge.text import lexical
from monge.types import CorpusStats, Result, Segment


@dataclass(frozen=True)
class Lexical:
    """A lexical metric ready to score. It takes nothing from other texts that could be fitted beforehand."""

    spec: LexicalSpec

    @property
    def name(self) -> str:
        """The name in the table."""
        return self.spec.name

    @property
    def bounds(self) -> Bounds:
        """The range of its scores."""
        return self.spec.preset.bounds

    @property
    def counted_sides(self) -> tuple[str, ...]:
        """No side is counted for idf."""
        return ()

    @property
    def summed_sides(self) -> tuple[str, ...]:
        """No side is summed for a mean."""
        return ()

    def check_stats(self, stats: CorpusStats) -> None:
        """Statistics of other metrics do not matter here."""

    def score(self, system: str, rows: Sequence[Segment]) -> Result:
        """The result of one system: segments as given, and the score that the library gives the corpus."""
        found = lexical.score(self.spec, [row.hypothesis for row in rows], [row.references for row in rows])
        flags = tuple(_flags(row) for row in rows)
        flagged = Counter(flag for each in flags for flag in each)
        return Result(
            metric=self.name,
            system=system,
            score=found.corpus,
            segments=found.segments,
            parts=found.parts,
            ids=tuple(row.id for row in rows),
            higher_is_better=self.bounds.higher_is_better,
            signature=sign_lexical(self.spec, found.signature),
            references=np.array([0 if len(row.references) == 1 else -1 for row in rows], dtype=np.int64),
            flags=flags,
            run={"truncated": 0, "flagged": dict(sorted(flagged.items()))},
            pooled=found.pooled,
        )


def _flags(row: Segment) -> tuple[str, ...]:
    empty = ("empty-hypothesis",) if not row.hypothesis.strip() else ()
    return (*empty, "empty-reference") if any(not text.strip() for text in row.references) else empty

"""Metrics of words and characters: no model, no vectors, the same `Result`. Imports no torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from monge.errors import UsageError
from monge.scoring.scorer import Column, Scores, StatsBySystem, flagged
from monge.spec.lexical import LexicalSpec
from monge.spec.rules import Bounds
from monge.spec.signature import sign_lexical
from monge.text import lexical
from monge.types import Array, CorpusStats, Explanation, Pooled, Result, Segment, Signature
from monge.types.exact import mean
from monge.types.text import is_blank

if TYPE_CHECKING:
    from monge.scoring.windows import Window

WHOLE_CORPUS = ("cider",)
"""Metrics whose scores depend on all segments of a system: the idf of CIDEr comes from their references."""
_PROBE = ["a b c d", "e f g h"]


@dataclass(frozen=True)
class LexicalMetric:
    """A lexical metric ready to score. It takes nothing from other texts that could be fitted beforehand."""

    spec: LexicalSpec
    fits: tuple[str, ...] = ()
    reads: bool = False

    @property
    def name(self) -> str:
        """The name in the table."""
        return self.spec.name

    @property
    def bounds(self) -> Bounds:
        """The range of its scores."""
        return self.spec.bounds

    @property
    def against(self) -> str:
        """What it compares hypotheses with: references, or source."""
        return self.spec.against

    def facing(self, side: str) -> LexicalMetric:
        """The metric with hypotheses compared with another side."""
        return self if side == self.against else replace(self, spec=self.spec.facing(side))

    @property
    def block(self) -> int:
        """Each segment by itself, or all of a system."""
        return 0 if self.name in WHOLE_CORPUS else 1

    @property
    def members(self) -> Mapping[str, LexicalMetric]:
        """It scores windows itself."""
        return {"": self}

    @property
    def idf_corpora(self) -> tuple[str, ...]:
        """It weighs by no corpus that could be given."""
        return ()

    def with_idf_corpus(self, corpus: str) -> LexicalMetric:
        """Itself: it weighs by no corpus that could be given."""
        return self

    def check_stats(self, stats: CorpusStats) -> None:
        """Statistics of other metrics do not matter here."""

    @cached_property
    def _probed(self) -> lexical.LexicalScores:
        """What the library says of itself, and how it pools counts, found on two texts."""
        return lexical.score(self.spec, _PROBE, [[one] for one in _PROBE])

    @property
    def pool(self) -> Callable[[Array], Array] | None:
        """How summed counts [..., k] of segments make the score of a corpus [...]; None where that is a mean."""
        return None if self._probed.pooled is None else self._probed.pooled.of

    def signed(self, stats: CorpusStats, references: str = "1") -> Signature | None:
        """Its signature; None where the library signs what it takes from the corpus."""
        return (
            None
            if self.block == 0
            else sign_lexical(self.spec, lexical.format_signature(self._probed.facts, references))
        )

    def fingerprint(self, stats: CorpusStats) -> str:
        """Its settings, and the library with its version."""
        return repr((self.name, sorted(self.spec.written().items()), sorted(self._probed.facts.items(), key=str)))

    def score(self, window: Window, stats: StatsBySystem) -> Scores:
        """Scores of the segments; `sums` are the number of references, and the counts that the library pools."""
        rows = window.rows
        references = [[row.references[place] for place in row.worded_references] for row in rows]
        found = lexical.score(self.spec, [row.hypothesis for row in rows], references)
        many = np.array([[len(some)] for some in references], dtype=np.float64)
        counts = [] if found.pooled is None else [found.pooled.statistics]
        return Scores(
            {"score": found.segments, **found.parts},
            np.where(many[:, 0] == 1, 0, -1).astype(np.int64),
            [_flags(row) for row in rows],
            np.concatenate([many, *counts], axis=1),
            found.facts if self.block == 0 else {},
        )

    def result(self, columns: Mapping[str, Column], stats: CorpusStats) -> Result:
        """The result of a system: segments as the library scores them, and the score that it gives the corpus."""
        column = columns[""]
        sums, segments = column.scores.sums, column.scores.parts["score"]
        assert sums is not None
        pooled = None if self.pool is None else Pooled(sums[:, 1:], self.pool)
        facts = {**self._probed.facts, **column.scores.facts}
        return Result(
            metric=self.name,
            system=column.system,
            score=mean(segments) if pooled is None else float(pooled.of(pooled.statistics.sum(0))),
            segments=segments,
            parts={name: values for name, values in column.scores.parts.items() if name != "score"},
            ids=column.ids,
            higher_is_better=self.bounds.higher_is_better,
            signature=sign_lexical(self.spec, lexical.format_signature(facts, column.references)),
            references=column.scores.winners,
            flags=tuple(column.scores.flags),
            run=flagged(column.scores.flags),
            pooled=pooled,
        )

    def explained(self, segment: Segment, stats: CorpusStats | None) -> Explanation:
        """It moves nothing."""
        raise UsageError(f"{self.name} compares words, not vectors: there is nothing to explain")


def _flags(row: Segment) -> tuple[str, ...]:
    empty = ("empty-hypothesis",) if is_blank(row.hypothesis) else ()
    return (*empty, "empty-reference") if any(map(is_blank, row.references)) else empty

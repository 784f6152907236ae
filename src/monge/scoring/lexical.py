"""Lexical metrics (of words and characters), which need no model and no vectors. This module does
not import torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from monge.errors import UsageError
from monge.metrics.lexical import LexicalSpec
from monge.metrics.rules import Bounds
from monge.metrics.signature import sign_lexical
from monge.scoring.result_buffer import count_flags
from monge.scoring.scorer import ScoreColumn, Scores, StatsBySystem
from monge.text import lexical
from monge.types import Array, CorpusStats, Explanation, Pooled, Result, Segment, Signature
from monge.types.exact import mean
from monge.types.flags import Flag, FlagKind, FlagSide
from monge.types.text import is_blank

if TYPE_CHECKING:
    from monge.scoring.windows import Window

_PROBE = ["a b c d", "e f g h"]


@dataclass(frozen=True)
class LexicalMetric:
    """A lexical metric that is ready to score. It needs no statistics that could be fitted
    beforehand.
    """

    spec: LexicalSpec
    fits: tuple[str, ...] = ()
    vector_metric: None = None
    reads_source: bool = False

    @property
    def name(self) -> str:
        """The name of the metric."""
        return self.spec.name

    @property
    def bounds(self) -> Bounds:
        """The range of its scores."""
        return self.spec.bounds

    @property
    def against(self) -> str:
        """The side that hypotheses are compared with: references, or source."""
        return self.spec.against

    def with_side(self, side: str) -> LexicalMetric:
        """Return the metric with hypotheses compared with another side."""
        return self if side == self.against else replace(self, spec=self.spec.with_side(side))

    @property
    def block(self) -> int:
        """1 where each segment is scored by itself, 0 where all segments of a system are scored
        together.
        """
        return 0 if "neighbours" in self.spec.preset.lacks else 1

    @property
    def members(self) -> Mapping[str, LexicalMetric]:
        """The metric itself under the name '': it scores windows without members."""
        return {"": self}

    @property
    def idf_corpora(self) -> tuple[str, ...]:
        """No corpora: lexical metrics weigh by no corpus that a user can choose."""
        return ()

    def with_idf_corpus(self, corpus: str) -> LexicalMetric:
        """Return the metric itself: it weighs by no corpus that a user can choose."""
        return self

    def check_stats(self, stats: CorpusStats) -> None:
        """Accept any statistics: a lexical metric uses none."""

    @cached_property
    def _probe(self) -> lexical.LexicalScores:
        """The scores of two sample texts, for the library's description of itself and its pooling
        of counts.
        """
        return lexical.score(self.spec, _PROBE, [[text] for text in _PROBE])

    @property
    def pool(self) -> Callable[[Array], Array] | None:
        """The function from summed counts [..., k] to corpus scores [...]; None where a corpus
        score is a mean.
        """
        return None if self._probe.pooled is None else self._probe.pooled.of

    def signed(self, stats: CorpusStats, references: str = "1") -> Signature | None:
        """Return its signature; None where the signature of the library depends on the corpus."""
        return (
            None
            if self.block == 0
            else sign_lexical(self.spec, lexical.format_signature(self._probe.facts, references))
        )

    def fingerprint(self, stats: CorpusStats) -> str:
        """Return the cache key of scores: the settings, and the library with its version."""
        return repr(
            (
                self.name,
                sorted(self.spec.written().items()),
                sorted(self._probe.facts.items(), key=str),
            )
        )

    def score(self, window: Window, stats: StatsBySystem) -> Scores:
        """Score the segments; `sums` are the numbers of references, and the counts that the library
        pools.
        """
        rows = window.rows
        references = [[row.references[place] for place in row.worded_references] for row in rows]
        scored = lexical.score(self.spec, [row.hypothesis for row in rows], references)
        reference_counts = np.array([[len(worded)] for worded in references], dtype=np.float64)
        counts = [] if scored.pooled is None else [scored.pooled.statistics]
        return Scores(
            {"score": scored.segments, **scored.parts},
            np.where(reference_counts[:, 0] == 1, 0, -1).astype(np.int64),
            [flag_empty_texts(row) for row in rows],
            np.concatenate([reference_counts, *counts], axis=1),
            scored.facts if self.block == 0 else {},
        )

    def result(self, columns: Mapping[str, ScoreColumn], stats: CorpusStats) -> Result:
        """Return the result of a system: the library's scores of the segments, and its score of the
        corpus.
        """
        column = columns[""]
        sums, segments = column.scores.sums, column.scores.parts["score"]
        assert sums is not None
        pooled = None if self.pool is None else Pooled(sums[:, 1:], self.pool)
        facts = {**self._probe.facts, **column.scores.facts}
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
            run=count_flags(column.scores.flags),
            pooled=pooled,
        )

    def explain(self, segment: Segment, stats: CorpusStats | None) -> Explanation:
        """Raise UsageError: a lexical metric has no plan."""
        raise UsageError(f"{self.name} compares words, not vectors: there is nothing to explain")


def flag_empty_texts(row: Segment) -> tuple[Flag, ...]:
    """Return a flag for each side of a segment that has an empty text."""
    conditions = (
        (FlagSide.HYPOTHESIS, is_blank(row.hypothesis)),
        (FlagSide.REFERENCE, any(map(is_blank, row.references))),
    )
    return tuple(Flag(FlagKind.EMPTY, side) for side, holds in conditions if holds)

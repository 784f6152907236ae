"""Lexical baselines: one table of metrics that compare words and characters, not vectors.

    bleu sentbleu chrf chrf++ ter    sacrebleu                 0..100 (ter: 0..)
    rouge1 rouge2 rougeL             rouge-score               0..1
    meteor                           `text.meteor`             0..1
    cider                            `text.cider` (CIDEr-D)    0..10

Scales and corpus scores are those that people quote: corpus BLEU, chrF and TER pool counts over segments, the others
are means of segments. Segments of `bleu` are sentence BLEU with the same smoothing and effective order. An empty
hypothesis with an empty reference gets the metric's best score, an empty one against text its worst, as declared in
the table; corpus scores that pool counts stay the library's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from monge.errors import InvalidSetting, Misaligned, UsageError
from monge.spec import lexical as rows
from monge.text import lexical_own as own
from monge.text import lexical_wrapped as wrapped
from monge.text.lexical_base import Scored

Array = npt.NDArray[np.float64]
Options = Mapping[str, Any]


@dataclass(frozen=True)
class LexicalScores:
    """Scores in input order, the corpus score, the signature of what was computed, and further segment numbers."""

    segments: Array
    corpus: float
    signature: str
    parts: Mapping[str, Array]


@dataclass(frozen=True)
class LexicalMetric:
    """A metric of the table. `limits` are the lowest and highest score; `options` the settings with their values."""

    name: str
    higher_is_better: bool
    limits: tuple[float, float]
    best: float
    worst: float
    options: Options
    scorer: Callable[[Sequence[str], Sequence[Sequence[str]], Options], Scored]

    def with_options(self, **changes: Any) -> LexicalMetric:
        """The metric with other settings; only those it has."""
        for name, value in changes.items():
            if name not in self.options:
                known = ", ".join(self.options) or "none"
                raise InvalidSetting(f"{self.name} has no option {name!r} (options: {known})")
            usual = self.options[name]
            number = isinstance(usual, float) and isinstance(value, int) and not isinstance(value, bool)
            if not (usual is None or number or type(value) is type(usual)):
                raise InvalidSetting(f"{self.name}: {name} takes a {type(usual).__name__}, got {value!r}")
        return replace(self, options=MappingProxyType({**self.options, **changes}))

    def score(self, hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> LexicalScores:
        """Score each hypothesis against its list of references."""
        _check(hypotheses, references)
        scored = self.scorer(hypotheses, references, self.options)
        empty = np.array([not one.strip() for one in hypotheses], dtype=bool)
        blank = np.array([[not one.strip() for one in some].count(True) for some in references])
        every = np.array([len(some) for some in references])
        segments = np.asarray(scored.segments, dtype=np.float64)
        segments = np.where(empty & (blank > 0), self.best, segments)
        segments = np.where((empty & (blank == 0)) | (~empty & (blank == every)), self.worst, segments)
        corpus = scored.corpus if scored.corpus is not None else float(segments.mean())
        parts = {name: np.asarray(values, dtype=np.float64) for name, values in scored.parts.items()}
        return LexicalScores(segments, corpus, scored.signature, parts)


def _check(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    if isinstance(hypotheses, str) or isinstance(references, str):
        raise UsageError("hypotheses and references must be lists, got a string")
    if not hypotheses:
        raise UsageError("there is nothing to score: no hypotheses")
    if len(hypotheses) != len(references):
        raise Misaligned(f"{len(hypotheses)} hypotheses but {len(references)} lists of references")
    for number, some in enumerate(references, start=1):
        if isinstance(some, str) or not some:
            raise UsageError(f"segment {number}: references must be a list with at least one text, got {some!r}")


_SCORERS: Mapping[str, Callable[[Sequence[str], Sequence[Sequence[str]], Options], Scored]] = {
    "bleu": wrapped.bleu,
    "sentbleu": wrapped.sentence_bleu,
    "chrf": wrapped.chrf,
    "chrf++": wrapped.chrf,
    "ter": wrapped.ter,
    **{name: wrapped.rouge(name) for name in ("rouge1", "rouge2", "rougeL")},
    "meteor": own.meteor,
    "cider": own.cider,
}
LEXICAL: dict[str, LexicalMetric] = {
    name: LexicalMetric(
        name, row.higher_is_better, row.limits, row.best, row.worst, MappingProxyType(dict(row.options)), _SCORERS[name]
    )
    for name, row in rows.LEXICAL.items()
}

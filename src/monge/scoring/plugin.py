"""Metrics of users that are functions: they are called, what they return is checked, and a fault of
theirs ends that metric alone. This module does not import torch.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from monge.errors import PluginError, UsageError
from monge.metrics.plugins import PluginSpec, RegisteredMetric, describe_exception
from monge.metrics.rules import Bounds
from monge.metrics.signature import sign_plugin
from monge.scoring.lexical import flag_empty_texts
from monge.scoring.result_buffer import count_flags
from monge.scoring.scorer import ScoreColumn, Scores, StatsBySystem
from monge.types import Array, CorpusStats, Explanation, Pooled, Result, Segment, Signature
from monge.types.exact import mean

if TYPE_CHECKING:
    from monge.scoring.windows import Window

REPEATED = 4
"""The number of pairs that are scored a second time, to see that the scores stay the same."""
TOLERANCE = 1e-3
"""How much two scores of a pair may differ, in units of the score or of 1: batches of a neural
network move the last digits.
"""


@dataclass(frozen=True)
class PluginPair:
    """What a plugin is called with for one score: a hypothesis, a reference or all of them, and the
    source; `segment` is the id, for messages.
    """

    segment: str
    hypothesis: str
    reference: str | list[str]
    source: str | None

    @property
    def place(self) -> str:
        """The segment, as messages name it."""
        return f"segment {self.segment}"


@dataclass(frozen=True)
class PluginMetric:
    """A user's metric that is ready to score. It needs no statistics."""

    spec: PluginSpec
    fits: tuple[str, ...] = ()
    vector_metric: None = None
    widths: list[int] = field(default_factory=list, compare=False, repr=False)
    """How many counts a pair has (0 where the metric does not count); empty until some scores were
    computed a second time and were the same.
    """

    @property
    def registered(self) -> RegisteredMetric:
        """The plugin: its function and what was declared of it."""
        return self.spec.registered

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

    @property
    def reads_source(self) -> bool:
        """Whether it takes the source besides the references."""
        return "source" in self.registered.texts and self.against == "references"

    def with_side(self, side: str) -> PluginMetric:
        """Return the metric itself; raise for the side that it does not take."""
        if side != self.against:
            option = "-r FILE" if self.against == "references" else "-s FILE"
            raise UsageError(f"plugin {self.name} takes the {self.against}: give them ({option})")
        return self

    @property
    def block(self) -> int:
        """1 where each segment has a score of its own, 0 where all of a system are scored at
        once.
        """
        return 0 if self.registered.plugin.together else 1

    @property
    def members(self) -> Mapping[str, PluginMetric]:
        """The metric itself under the name '': it scores windows without members."""
        return {"": self}

    @property
    def idf_corpora(self) -> tuple[str, ...]:
        """No corpora: a plugin weighs by no corpus that a user can choose."""
        return ()

    def with_idf_corpus(self, corpus: str) -> PluginMetric:
        """Return the metric itself: it weighs by no corpus that a user can choose."""
        return self

    def check_stats(self, stats: CorpusStats) -> None:
        """Accept any statistics: a plugin uses none."""

    def signed(self, stats: CorpusStats, references: str = "1") -> Signature | None:
        """Return its signature."""
        return sign_plugin(self.spec, references)

    def fingerprint(self, stats: CorpusStats) -> str:
        """Return the cache key of scores: the plugin with its version and its whole digest."""
        return repr((self.registered.identity, self.registered.digest))

    def score(self, window: Window, stats: StatsBySystem) -> Scores:
        """Score the segments; where the plugin is at fault, return no scores but the failure."""
        try:
            return self._score(window.rows)
        except PluginError as error:
            return Scores({}, np.zeros(0, dtype=np.int64), (), failure=error)

    def _score(self, rows: Sequence[Segment]) -> Scores:
        pairs = [self._pairs(row) for row in rows]
        flat = [pair for row_pairs in pairs for pair in row_pairs]
        values, counts = self._call(flat)
        self._check_repeated(flat, values, 0 if counts is None else counts.shape[1])
        starts = np.cumsum([0, *(len(row_pairs) for row_pairs in pairs)])
        scores, winners = np.empty(len(rows)), np.empty(len(rows), dtype=np.int64)
        for k, own in enumerate(np.split(values, starts[1:-1])):
            scores[k], winners[k] = self._combine(own)
        sums = np.array([[len(row.references)] for row in rows], dtype=np.float64)
        if counts is not None:
            sums = np.hstack([sums, counts[starts[:-1] + winners.clip(min=0)]])
        return Scores({"score": scores}, winners, [flag_empty_texts(row) for row in rows], sums)

    def _pairs(self, row: Segment) -> list[PluginPair]:
        """Return what the plugin is called with for a segment: once, or once per reference."""
        if self.reads_source and row.source is None:
            raise UsageError(
                f"plugin {self.name} takes the source too, and segment {row.id} has none (-s FILE)"
            )
        rule = self.registered.plugin.references
        texts = [row.references[place] for place in row.worded_references]
        lists: list[Any] = [texts] if rule == "all" else texts[:1] if rule == "first" else texts
        return [PluginPair(row.id, row.hypothesis, text, row.source) for text in lists]

    def _combine(self, values: Array) -> tuple[float, int]:
        """Return the score of a segment, and the index of the reference that gave it or -1."""
        if len(values) == 1:
            return float(values[0]), 0 if self.registered.plugin.references != "all" else -1
        if self.registered.plugin.references == "mean":
            return mean(values), -1
        best = int(np.argmax(values) if self.bounds.higher_is_better else np.argmin(values))
        return float(values[best]), best

    def _call(self, pairs: Sequence[PluginPair]) -> tuple[Array, Array | None]:
        """Return a score per pair, and the counts [pairs, k] of a metric of counts; raise
        PluginError where the plugin does not give them.
        """
        registered = self.registered
        columns = [self._column(text, pairs) for text in registered.texts]
        if not registered.by_pair:
            return self._read(self._guard(registered.call, columns, ""), pairs), None
        answers = [
            self._guard(registered.call, texts, f" ({pair.place})")
            for pair, texts in zip(pairs, zip(*columns, strict=True), strict=True)
        ]
        if not registered.counts:
            return self._read(answers, pairs), None
        counts = read_counts(self.name, answers, [pair.place for pair in pairs])
        scores = [
            self._score_counts(row, pair.place) for row, pair in zip(counts, pairs, strict=True)
        ]
        return np.array(scores), counts

    def _score_counts(self, counts: Array, place: str) -> float:
        """Return the score of summed counts [k]; raise PluginError where it is no score."""
        answer = self._guard(
            self.registered.plugin.implementation.score, [counts.tolist()], f" ({place})"
        )
        return self._read_score(answer, place)

    @property
    def pool(self) -> Callable[[Array], Array] | None:
        """The function from summed counts [..., k] to scores [...]; None where a system's score is
        the mean of its segments.
        """
        return self._score_sums if self.registered.counts else None

    def _score_sums(self, sums: Array) -> Array:
        """Return the scores [...] of summed counts [..., k]."""
        rows = sums.reshape(-1, sums.shape[-1])
        scores = [self._score_counts(row, "summed counts") for row in rows]
        return np.array(scores).reshape(sums.shape[:-1])

    def _column(self, text: str, pairs: Sequence[PluginPair]) -> list[Any]:
        """Return the texts of all pairs for a parameter; where it compares with the source, the
        source stands in the place of the references.
        """
        if text == "hypothesis":
            return [pair.hypothesis for pair in pairs]
        if text == "reference" or self.against == "source":
            return [pair.reference for pair in pairs]
        return [pair.source for pair in pairs]

    def _guard(self, call: Callable[..., Any], arguments: Sequence[Any], place: str) -> Any:
        """Call a function of the plugin; what it prints goes to standard error."""
        try:
            with redirect_stdout(sys.stderr):
                return call(*arguments)
        except (Exception, SystemExit) as error:
            why = f"it raised {describe_exception(error)}{place}"
            raise PluginError(self.name, why) from error

    def _read(self, answer: Any, pairs: Sequence[PluginPair]) -> Array:
        """Return the scores that the plugin returned; raise where they are no scores."""
        count = len(pairs)
        if isinstance(answer, str | bytes | Mapping) or not hasattr(answer, "__len__"):
            raise self._refuse(
                f"it returned {_describe(answer)}, expected a list of {count} numbers"
            )
        if len(answer) != count:
            raise self._refuse(f"it returned {len(answer)} scores for {count} pairs of texts")
        scores = [
            self._read_score(value, pair.place) for value, pair in zip(answer, pairs, strict=True)
        ]
        return np.array(scores, dtype=np.float64)

    def _read_score(self, answer: Any, place: str) -> float:
        """Return what the plugin returned as a score; raise where it is none."""
        value = read_number(answer)
        if value is None:
            raise self._refuse(f"it returned {_describe(answer)} for {place}, expected a number")
        low, high = self.bounds.low, self.bounds.high
        if not np.isfinite(value):
            raise self._refuse(f"it returned {value} for {place}, which is not a score")
        slack = 1e-6 * max(1.0, *(abs(end) for end in (low, high) if np.isfinite(end)), 0.0)
        if not low - slack <= value <= high + slack:
            raise self._refuse(
                f"it returned {value:g} for {place}, outside of its declared range "
                f"{low:g} to {high:g}"
            )
        return value

    def _refuse(self, why: str) -> PluginError:
        return PluginError(self.name, why)

    def _check_repeated(self, pairs: Sequence[PluginPair], values: Array, width: int) -> None:
        """Score some pairs a second time, once; raise where a score changes between calls, or the
        number of counts between windows.
        """
        if self.widths and width != self.widths[0]:
            place = pairs[0].place
            raise self._refuse(
                f"it has {width} counts of {place} and {self.widths[0]} of an earlier segment"
            )
        if self.widths:
            return
        again = pairs if self.block == 0 else pairs[:REPEATED]
        for pair, first, second in zip(again, values, self._call(again)[0], strict=False):
            if abs(first - second) > TOLERANCE * max(1.0, abs(first)):
                raise self._refuse(
                    f"its scores change between calls: {pair.place} got {first:g}, then "
                    f"{second:g} (scores that depend on all segments of a system need "
                    "together=True)"
                )
        self.widths.append(width)

    def result(self, columns: Mapping[str, ScoreColumn], stats: CorpusStats) -> Result:
        """Return the result of a system: the scores of its segments, and their mean or the score of
        their summed counts.
        """
        column = columns[""]
        sums, segments = column.scores.sums, column.scores.parts["score"]
        assert sums is not None
        pooled = None if self.pool is None else Pooled(sums[:, 1:], self.pool)
        return Result(
            metric=self.name,
            system=column.system,
            score=mean(segments) if pooled is None else float(pooled.of(pooled.statistics.sum(0))),
            segments=segments,
            parts={},
            ids=column.ids,
            higher_is_better=self.bounds.higher_is_better,
            signature=sign_plugin(self.spec, column.references),
            references=column.scores.winners,
            flags=tuple(column.scores.flags),
            run=count_flags(column.scores.flags),
            pooled=pooled,
        )

    def explain(self, segment: Segment, stats: CorpusStats | None) -> Explanation:
        """Raise UsageError: a plugin has no plan."""
        raise UsageError(f"{self.name} is a plugin without a plan: there is nothing to explain")


def read_counts(name: str, answers: Sequence[Any], places: Sequence[str]) -> Array:
    """Return the counts [pairs, k] that a plugin returned; raise PluginError for anything else."""
    counts: list[list[float]] = []
    for answer, place in zip(answers, places, strict=True):
        is_list = hasattr(answer, "__len__") and not isinstance(answer, str | bytes | Mapping)
        numbers = [read_number(value) for value in answer] if is_list else []
        finite = [value for value in numbers if value is not None and np.isfinite(value)]
        if not numbers or len(finite) < len(numbers):
            why = f"it counted {_describe(answer)} in {place}, expected a list of finite numbers"
            raise PluginError(name, why)
        if counts and len(finite) != len(counts[0]):
            why = f"it has {len(finite)} counts of {place} and {len(counts[0])} of {places[0]}"
            raise PluginError(name, why)
        counts.append(finite)
    return np.array(counts, dtype=np.float64)


def read_number(value: Any) -> float | None:
    """Return a value as a number; None where it is none."""
    if not isinstance(value, str | bytes):
        with suppress(TypeError, ValueError):
            return float(value)
    return None


def _describe(value: Any) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 60 else f'{text[:57]}…'}"

"""Small requests, scored in one go: their texts in one window, their problems in shared batches.

Each is answered as a run of its own (`monge.scoring.run`): the scores of a segment do not depend on its neighbours, so
only they are computed together. A request whose scores depend on more, for example on statistics fitted from its
texts, is no small request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from monge import api
from monge.errors import MongeError
from monge.scoring.run import ScoringRun, ShardContext, Watch
from monge.scoring.scan import scan_input
from monge.scoring.scorer import Scores
from monge.scoring.suitable import watched
from monge.scoring.windows import REFERENCES, Window, distinct
from monge.spec.labels import labels
from monge.types import CorpusStats, Result, Segment

if TYPE_CHECKING:
    from monge.scoring.encoding import Encoding
    from monge.scoring.transport import TransportMetric

FEW, SHORT = 16, 8_000
"""Segments of a small request, and characters of them, at the most."""


@dataclass(frozen=True, eq=False)
class Brief:
    """A small request: its metrics and segments, and what is made of its results."""

    metrics: Sequence[api.Metric]
    rows: Sequence[Segment]
    answer: Callable[[list[Result]], bytes]

    @property
    def scorers(self) -> list[TransportMetric]:
        """Its metrics, which all compare vectors."""
        return [cast("TransportMetric", one.scorer) for one in self.metrics]

    @property
    def texts(self) -> list[str]:
        """Its distinct texts."""
        return distinct(self.rows)


def is_brief(metrics: Sequence[api.Metric], rows: Sequence[Segment]) -> bool:
    """Whether a request is small, and its scores are functions of its segments and the settings alone."""
    if len(rows) > FEW or not all(row.references for row in rows) or not all(map(_of_segments, metrics)):
        return False
    return sum(len(text) for row in rows for text in (row.hypothesis, *row.references)) <= SHORT


def _of_segments(metric: api.Metric) -> bool:
    """Whether a metric compares vectors with references and takes nothing from other texts."""
    one = metric.scorer.members.get("")  # of a blend none stands there
    if one is None or not one.reads or one.block != 1:
        return False
    mine = cast("TransportMetric", one)
    asks = mine.fits or mine.needs_given or mine.language_model is not None or mine.spec.scale.name == "human"
    return mine.against == REFERENCES and not asks


def answered(briefs: Sequence[Brief], encoding: Encoding) -> list[bytes | MongeError]:
    """The answers of small requests that ask for the same metrics; what is wrong with one is its answer."""
    rows = [row for one in briefs for row in one.rows]
    window = Window(rows, encoding)
    scorers = briefs[0].scorers
    plain = [CorpusStats(one.reader.key) for one in scorers]
    systems = dict.fromkeys(row.system for row in rows)
    scores = [one.score(window, dict.fromkeys(systems, stats)) for one, stats in zip(scorers, plain, strict=True)]
    found, start = list[bytes | MongeError](), 0
    for one in briefs:
        places = range(start, start + len(one.rows))
        found.append(_answer(one, [each.at(places) for each in scores], plain, encoding))
        start += len(one.rows)
    return found


def _answer(
    one: Brief, scores: Sequence[Scores], plain: Sequence[CorpusStats], encoding: Encoding
) -> bytes | MongeError:
    """The answer of a run whose windows have been scored."""
    looked = scan_input(one.rows)
    shard = ShardContext(looked, [dict.fromkeys(looked.systems, stats) for stats in plain], [one.rows], encoding)
    try:
        run = ScoringRun(one.scorers, one.rows, score=lambda metrics, stats, window: list(scores), shard=shard)
        results = watched(run, None, Watch())
        names = labels((metric.name, metric.asked) for metric in one.metrics)
        return one.answer([replace(each, metric=names[k % len(names)]) for k, each in enumerate(results)])
    except MongeError as error:
        return error

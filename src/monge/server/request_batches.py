"""Small requests, scored in one go: their texts in one window, their problems in shared batches.

Each is answered as a run of its own (`monge.scoring.run`): the scores of a segment do not depend on
its neighbours, so only they are computed together. A request whose scores depend on more, for
example on statistics fitted from its texts, is no small request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from monge import api
from monge.errors import MongeError
from monge.metrics.labels import labels
from monge.scoring.run import ScoringRun, ShardContext
from monge.scoring.scorer import Scores
from monge.scoring.text_checks import check_first_segments, warn_unknown
from monge.scoring.windows import REFERENCES, Window, distinct
from monge.types import CorpusStats, Result, Segment
from monge.types.text import scan_input

if TYPE_CHECKING:
    from monge.scoring.encoding import Encoding
    from monge.scoring.transport import TransportMetric

FEW, SHORT = 16, 8_000
"""The most segments of a small request, and characters of them."""


@dataclass(frozen=True, eq=False)
class SmallRequest:
    """A small request: its metrics and segments, and the function that writes its answer."""

    metrics: Sequence[api.Metric]
    rows: Sequence[Segment]
    answer: Callable[[list[Result]], bytes]

    @property
    def scorers(self) -> list[TransportMetric]:
        """Its metrics, which all compare vectors."""
        from monge.scoring.transport import TransportMetric

        scorers = [metric.scorer for metric in self.metrics]
        return [scorer for scorer in scorers if isinstance(scorer, TransportMetric)]

    @property
    def texts(self) -> list[str]:
        """Its distinct texts."""
        return distinct(self.rows)


def is_small_request(metrics: Sequence[api.Metric], rows: Sequence[Segment]) -> bool:
    """Return whether a request is small and its scores depend on nothing else."""
    if (
        len(rows) > FEW
        or not all(row.references for row in rows)
        or not all(map(_uses_own_texts_only, metrics))
    ):
        return False
    return sum(len(text) for row in rows for text in (row.hypothesis, *row.references)) <= SHORT


def _uses_own_texts_only(metric: api.Metric) -> bool:
    """Return whether a metric compares vectors with references and fits nothing."""
    scorer = metric.scorer.members.get("")  # of a blend none stands there
    vector_metric = None if scorer is None else scorer.vector_metric
    if vector_metric is None or vector_metric.block != 1:
        return False
    uses_other_texts = vector_metric.needs.takes_any or vector_metric.language_model is not None
    return vector_metric.against == REFERENCES and not uses_other_texts


def answer_requests(
    requests: Sequence[SmallRequest], encoding: Encoding
) -> list[bytes | MongeError]:
    """Answer small requests for the same metrics; a failed request has its error as its answer."""
    rows = [row for request in requests for row in request.rows]
    window = Window(rows, encoding)
    scorers = requests[0].scorers
    plain = [CorpusStats(scorer.reader.key) for scorer in scorers]
    systems = dict.fromkeys(row.system for row in rows)
    scores = [
        scorer.score(window, dict.fromkeys(systems, stats))
        for scorer, stats in zip(scorers, plain, strict=True)
    ]
    answers, start = list[bytes | MongeError](), 0
    for request in requests:
        places = range(start, start + len(request.rows))
        answers.append(
            _answer(
                request, [metric_scores.at(places) for metric_scores in scores], plain, encoding
            )
        )
        start += len(request.rows)
    return answers


def _answer(
    request: SmallRequest,
    scores: Sequence[Scores],
    plain: Sequence[CorpusStats],
    encoding: Encoding,
) -> bytes | MongeError:
    """Return the answer of a request whose segments have been scored."""
    summary = scan_input(request.rows)
    shard = ShardContext(
        summary,
        [dict.fromkeys(summary.systems, stats) for stats in plain],
        [request.rows],
        encoding,
    )
    try:
        run = ScoringRun(
            request.scorers,
            request.rows,
            score=lambda metrics, stats, window: list(scores),
            shard=shard,
        )
        check_first_segments(run.metrics, run.summary, run.cut)
        results = run.results()
        if run.unknown_texts:
            warn_unknown(run.metrics, results, run.unknown_texts)
        names = labels((metric.name, metric.asked) for metric in request.metrics)
        return request.answer(
            [replace(result, metric=names[k % len(names)]) for k, result in enumerate(results)]
        )
    except MongeError as error:
        return error

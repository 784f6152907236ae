"""Calls that load a metric and use it once: score, fit, explain; and show, which loads no model."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Unpack, overload

from monge.api.metric import DEFAULT_METRIC, Metric, load, warn_flags
from monge.api.notebook import NotebookExplanation, NotebookResult, Results
from monge.api.options import Options, check_stats
from monge.api.usable import score_usable
from monge.datasets.lists import segments_of
from monge.errors import UsageError
from monge.scoring.scorer import Corpora
from monge.types import CorpusStats, Result, Segment

Texts = Iterable[str]
References = Iterable[str] | Iterable[Sequence[str]]


@overload
def score(
    hypotheses: Texts,
    references: References | None = None,
    *,
    metric: str = DEFAULT_METRIC,
    sources: Texts | None = None,
    stats: CorpusStats | None = None,
    idf_corpus: Texts | None = None,
    **options: Unpack[Options],
) -> NotebookResult: ...
@overload
def score(
    hypotheses: Texts,
    references: References | None = None,
    *,
    metric: list[str] | tuple[str, ...],
    sources: Texts | None = None,
    stats: CorpusStats | None = None,
    idf_corpus: Texts | None = None,
    **options: Unpack[Options],
) -> Results: ...
def score(
    hypotheses: Texts,
    references: References | None = None,
    *,
    metric: str | list[str] | tuple[str, ...] = DEFAULT_METRIC,
    sources: Texts | None = None,
    stats: CorpusStats | None = None,
    idf_corpus: Texts | None = None,
    **options: Unpack[Options],
) -> NotebookResult | Results:
    """Score hypotheses against references, with one metric or several.

    Args:
        hypotheses: Texts to judge: a list, a pandas or polars column, any iterable of str.
        references: One text or a list of texts per hypothesis; without them the sources take their
            place.
        metric: A name (`twmd`, `bertscore@release`, `twmd[layers=4]`), or a list of names: one
            encoding pass for all.
        sources: Source texts, for metrics that compare with the source.
        stats: Corpus statistics of `monge.fit` or `monge.load_stats`.
        idf_corpus: Texts to fit idf from, instead of the references.
        options: model, layers, precision, device, lang, settings, online, cache: as `monge.load`
            takes them.

    Returns:
        A result, or for a list of names the results by label; plugins that cannot score are left
        out of those, with a warning.
    """
    segments = segments_of(hypotheses, references, sources)
    check_stats(stats)
    names = [metric] if isinstance(metric, str) else _metric_names(metric)
    loaded = [load(name, **options) for name in names]
    corpora = Corpora(stats, idf=idf_corpus)
    results = _score_and_warn(loaded, segments, corpora, options.get("cache"))
    notebook_results = [NotebookResult(**vars(result)) for result in results]
    return (
        notebook_results[0]
        if isinstance(metric, str)
        else Results((result.metric, result) for result in notebook_results)
    )


def _score_and_warn(
    metrics: Sequence[Metric], segments: list[Segment], corpora: Corpora, cache: str | Path | None
) -> list[Result]:
    """Return the results of the metrics that can score; warn of plugins that cannot, and of
    flagged texts.
    """
    results, _ = score_usable(metrics, segments, corpora=corpora, cache=cache)
    warn_flags(results)
    return results


def fit(
    references: Texts, *, metric: str = DEFAULT_METRIC, **options: Unpack[Options]
) -> CorpusStats:
    """Fit corpus statistics on texts for a metric; `options` are those of `load`."""
    return load(metric, **options).fit(references)


def explain(
    hypothesis: str,
    reference: str | Sequence[str],
    *,
    metric: str = DEFAULT_METRIC,
    stats: CorpusStats | None = None,
    **options: Unpack[Options],
) -> NotebookExplanation:
    """Explain the score of a pair, with the best of several references; `options` are those of
    `load`.
    """
    return load(metric, **options).explain(hypothesis, reference, stats=stats)


def show(
    metric: str | None = None, *, settings: Sequence[str] = (), lang: str | None = None
) -> None:
    """Print every setting of a metric and the range of its scores; without a name, every metric."""
    from monge.metrics.catalogue import described, listed
    from monge.render.table import render_study

    sheets = listed(plugins=True) if metric is None else described(metric, tuple(settings), lang)
    sys.stdout.write(render_study(sheets, "text", version=""))


def _metric_names(metrics: object) -> list[str]:
    """Check a list of metric names and return it."""
    if not isinstance(metrics, Sequence) or isinstance(metrics, bytes):
        raise UsageError(
            f"metric: expected a name or a list of names, got {type(metrics).__name__}"
        )
    if not metrics:
        raise UsageError("metric: the list of names is empty")
    return list(metrics)

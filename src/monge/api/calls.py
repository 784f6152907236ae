"""Calls that load a metric and use it once: score, fit, explain; and show, which loads nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Unpack, overload

from monge.api.metric import DEFAULT_METRIC, load, score_segments, warn_flags
from monge.api.options import Options, check_stats
from monge.api.shown import NotebookExplanation, NotebookResult, Results
from monge.data.lists import segments_of
from monge.errors import UsageError
from monge.scoring.scorer import Corpora
from monge.types import CorpusStats

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
        references: One text or a list of texts a hypothesis; without them the sources stand in their place.
        metric: A name (`twmd`, `bertscore@release`, `twmd[layers=4]`), or a list of names: one encoding pass for all.
        sources: Source texts, for metrics that compare with the source.
        stats: Corpus statistics of `monge.fit` or `monge.load_stats`.
        idf_corpus: Texts to fit idf from, instead of the references.
        options: model, layers, precision, device, lang, settings, online, cache: as `monge.load` takes them.

    Returns:
        A result, or for a list of names their results by label.
    """
    segments = segments_of(hypotheses, references, sources)
    check_stats(stats)
    names = [metric] if isinstance(metric, str) else _names(metric)
    loaded = [load(name, **options) for name in names]
    corpora = Corpora(stats, idf=idf_corpus)
    results = score_segments(loaded, segments, corpora=corpora, cache=options.get("cache"))
    warn_flags(results)
    found = [NotebookResult.of(one) for one in results]
    return found[0] if isinstance(metric, str) else Results((one.metric, one) for one in found)


def fit(references: Texts, *, metric: str = DEFAULT_METRIC, **options: Unpack[Options]) -> CorpusStats:
    """Corpus statistics of texts for a metric; `options` are those of `load`."""
    return load(metric, **options).fit(references)


def explain(
    hypothesis: str,
    reference: str | Sequence[str],
    *,
    metric: str = DEFAULT_METRIC,
    stats: CorpusStats | None = None,
    **options: Unpack[Options],
) -> NotebookExplanation:
    """Why a pair gets its score, of several references with the best; `options` are those of `load`."""
    return load(metric, **options).explain(hypothesis, reference, stats=stats)


def show(metric: str | None = None, *, settings: Sequence[str] = (), lang: str | None = None) -> None:
    """Print every setting of a metric and the range of its scores; without a name, every metric."""
    from monge.render.table import render_study
    from monge.spec.catalogue import described, listed

    found = listed() if metric is None else described(metric, tuple(settings), lang)
    sys.stdout.write(render_study(found, "text", version=""))


def _names(given: object) -> list[str]:
    """The names of several metrics."""
    if not isinstance(given, Sequence) or isinstance(given, bytes):
        raise UsageError(f"metric: expected a name or a list of names, got {type(given).__name__}")
    if not given:
        raise UsageError("metric: the list of names is empty")
    return list(given)

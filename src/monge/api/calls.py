"""Calls that load a metric and use it once: score, fit, explain; and show, which loads no model."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Unpack, cast, overload

from monge.api.metric import load, warn_flags, with_intervals
from monge.api.notebook import NotebookExplanation, NotebookResult, Results
from monge.api.options import Options, check_stats
from monge.api.progress import Progress, report_progress
from monge.api.usable import score_usable
from monge.datasets.lists import segments_of
from monge.errors import UsageError
from monge.metrics.default import DEFAULT_METRIC
from monge.scoring.run import Watch
from monge.scoring.scorer import Corpora
from monge.types import CorpusStats

Texts = Iterable[str]
References = Iterable[str] | Iterable[Sequence[str]]


class ScoreOptions(Options, total=False):
    """The options of `Options`, and of a call that scores once.

    sources: source texts; stats: statistics of `monge.fit`; idf_corpus: texts to fit idf from; ci:
    add intervals; progress: True for a line on standard error, or a function of a number.
    """

    sources: Texts | None
    stats: CorpusStats | None
    idf_corpus: Texts | None
    ci: bool
    progress: Progress


@overload
def score(
    hypotheses: Texts,
    references: References | None = None,
    metric: str = DEFAULT_METRIC,
    *,
    metrics: None = None,
    **options: Unpack[ScoreOptions],
) -> NotebookResult: ...
@overload
def score(
    hypotheses: Texts,
    references: References | None = None,
    metric: list[str] | tuple[str, ...] = ...,
    *,
    metrics: None = None,
    **options: Unpack[ScoreOptions],
) -> Results: ...
@overload
def score(
    hypotheses: Texts,
    references: References | None = None,
    *,
    metrics: str | Sequence[str],
    **options: Unpack[ScoreOptions],
) -> Results: ...
def score(
    hypotheses: Texts,
    references: References | None = None,
    metric: str | list[str] | tuple[str, ...] = DEFAULT_METRIC,
    *,
    metrics: str | Sequence[str] | None = None,
    **options: Unpack[ScoreOptions],
) -> NotebookResult | Results:
    """Score hypotheses against references, with one metric or several.

    Args:
        hypotheses: Texts to judge: a list, a pandas or polars column, any iterable of str.
        references: One text or a list of texts per hypothesis; without them the sources take their
            place.
        metric: A name (`twmd`, `bertscore@release`, `twmd[layers=4]`), or a list of names: one
            encoding pass for all.
        metrics: The same, in place of `metric`; the answer is then always one result per name.
        options: sources: source texts, for metrics that compare with the source. stats: corpus
            statistics of `monge.fit` or `monge.load_stats`. idf_corpus: texts to fit idf from,
            instead of the references. ci: True adds a 95 % bootstrap interval over segments.
            progress: True for a line on standard error, or a function that is called with the
            number of segments scored since its last call. model, layers, precision, device, lang,
            settings, online, cache: as `monge.load` takes them.

    Returns:
        A result, or for a list of names the results by label; plugins that cannot score are left
        out of those, with a warning.

    Examples:
        >>> result = monge.score(["The cat sat."], ["A cat sat."], "chrf")
        >>> round(result.score, 2), result.segments.shape
        (74.06, (1,))
        >>> monge.score(["The cat sat."], ["A cat sat."], metrics=["chrf", "ter"])
        <chrf: 74.0606, ter: 33.3333>
    """
    sources, stats = options.pop("sources", None), options.pop("stats", None)
    idf_corpus, progress = options.pop("idf_corpus", None), options.pop("progress", None)
    with_interval = options.pop("ci", False)
    segments = segments_of(hypotheses, references, sources)
    check_stats(stats)
    requested = metric if metrics is None else metrics
    names = _metric_names([metrics] if isinstance(metrics, str) else requested)
    loaded = [load(name, **cast(Options, options)) for name in names]
    corpora = Corpora(stats, idf=idf_corpus)
    with report_progress(progress, len(segments)) as advance:
        results, _ = score_usable(
            loaded, segments, corpora=corpora, cache=options.get("cache"), watch=Watch(advance)
        )
    warn_flags(results)
    results = with_intervals(results) if with_interval else results
    notebook_results = [NotebookResult(**vars(result)) for result in results]
    if isinstance(requested, str) and metrics is None:
        return notebook_results[0]
    return Results((result.metric, result) for result in notebook_results)


def fit(
    references: Texts, *, metric: str = DEFAULT_METRIC, **options: Unpack[Options]
) -> CorpusStats:
    """Fit corpus statistics on texts for a metric; `options` are those of `load`.

    Examples:
        >>> stats = monge.fit(["the cat", "the dog"], metric="moverscore")
        >>> monge.score(["the cat"], ["a cat"], "moverscore", stats=stats).n
        1
    """
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

    Examples:
        >>> explanation = monge.explain("The cat sat.", "A cat sat.", metric="bertscore")
        >>> explanation
        <explanation by bertscore: 0.9306, 4 x 4 units, 8 moves>
    """
    return load(metric, **options).explain(hypothesis, reference, stats=stats)


def show(name: str | None = None, *, settings: Sequence[str] = (), lang: str | None = None) -> None:
    """Print every setting of a metric and the range of its scores, or the card of a model.

    Without a name, list every metric.

    Examples:
        >>> monge.show("chrf")  # doctest: +ELLIPSIS
        setting        value
        metric         chrf
        ...
    """
    from monge.api.descriptions import describe
    from monge.metrics.catalogue import listed
    from monge.render.table import render_study

    sheets = listed(plugins=True) if name is None else describe(name, settings, lang)
    sys.stdout.write(render_study(sheets, "text", version=""))


def _metric_names(metrics: object) -> list[str]:
    """Check a name or a list of names of metrics and return a list."""
    if isinstance(metrics, str):
        return [metrics]
    if not isinstance(metrics, Sequence) or isinstance(metrics, bytes):
        raise UsageError(
            f"metric: expected a name or a list of names, got {type(metrics).__name__}"
        )
    if not metrics:
        raise UsageError("metric: the list of names is empty")
    return list(metrics)

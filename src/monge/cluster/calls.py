"""`score_dataset`: score a data set with the workers of Ray."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from monge import api
from monge.api.options import check_options, check_stats
from monge.cluster.engine import Engine, connect
from monge.cluster.job import Recipe
from monge.cluster.request import SUFFIXES, ClusterRequest, Outcome
from monge.cluster.score import score
from monge.cluster.sources import Tables, beside, fetched, from_arrow
from monge.errors import UsageError
from monge.metrics.presets import resolve
from monge.types import CorpusStats


def score_dataset(
    data: Any,
    metric: str | Sequence[str] = api.DEFAULT_METRIC,
    *,
    output: str | Path,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    stats: CorpusStats | None = None,
    idf_corpus: Iterable[str] | None = None,
    ci: bool = False,
    bad_rows: str = "fail",
    engine: Engine = Engine(),  # noqa: B008 - frozen
    **options: Unpack[api.Options],
) -> Outcome:
    """Score a data set with the workers of Ray; the scores are those of `monge.score`.

    Args:
        data: A `ray.data.Dataset`, a `pyarrow.Table`, or the name of a table or of its directory.
        metric: A name, or several.
        output: A directory for parts, or one .parquet, .jsonl or .tsv file, that all workers see.
            Parts of the same run that are already there are not computed again.
        columns: The columns of hypothesis, reference, source, system or id, if named otherwise.
        stats: Corpus statistics of `monge.fit` or `monge.load_stats`.
        idf_corpus: Texts to fit idf from, instead of the references.
        ci: Whether results have a bootstrap interval.
        bad_rows: `fail`, or `count` to leave out rows that cannot be read or scored, and list them.
        engine: The address of a Ray cluster, the number of workers, and the threads per worker.
        options: model, layers, precision, device, lang, settings, online: as in `monge.load`.

    Examples:
        >>> import pyarrow
        >>> table = pyarrow.table({"hypothesis": ["a cat"], "reference": ["a cat"]})
        >>> outcome = monge.score_dataset(table, "chrf", output="scores")
        >>> outcome.results[0]["score"]
        100.0
    """
    recipe = _make_recipe([metric] if isinstance(metric, str) else metric, stats, options)
    recipe = replace(recipe, idf=idf_corpus is not None)
    if bad_rows not in ("fail", "count"):
        raise UsageError(f"bad_rows: expected 'fail' or 'count', got {bad_rows!r}")
    form, seed = SUFFIXES.get(Path(output).suffix, "parquet"), 12345 if ci else None
    request = ClusterRequest(output, form, seed=seed, tolerant=bad_rows == "count")
    with connect(engine), beside(request.folder.path) as copies:
        is_path = isinstance(data, str | Path)
        path = fetched(str(data), copies) if is_path else from_arrow(data, copies)
        tables, corpora = Tables([path], columns=columns), api.Corpora(stats, idf=idf_corpus)
        return score(tables, recipe, request, corpora=corpora, engine=engine)


def _make_recipe(names: Sequence[str], stats: CorpusStats | None, options: api.Options) -> Recipe:
    """Check the names and options of a call; return the recipe of its metrics."""
    for name in names:
        check_options({"metric": name, **options})
    check_stats(stats)
    lang = options.get("lang")
    return Recipe(
        [resolve(name, api.changes_of(options), lang) for name in names],
        model=str(options.get("model", "auto")),
        lang=lang,
        device=options.get("device", "auto"),
        online=options.get("online", False),
        stats=stats,
    )

"""`score_dataset`: score a data set with the workers of Ray."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    interval: bool = False,
    bad_rows: str = "fail",
    engine: Engine = Engine(),  # noqa: B008 - frozen
    **options: Unpack[api.Options],
) -> Outcome:
    """Score a data set with the workers of Ray; the scores are those of `monge.score`.

    Args:
        data: A `ray.data.Dataset`, a `pyarrow.Table`, or the name of a table or of a directory with
            its parts.
        metric: A name, or several.
        output: A directory for parts in Parquet, or one file ending in .parquet, .jsonl or .tsv.
            Every worker must have access to it. Parts of the same run that are already there are
            not computed again.
        columns: The column names of hypothesis, reference, source, system or id, where they are not
            the usual ones.
        stats: Corpus statistics of `monge.fit` or `monge.load_stats`.
        idf_corpus: Texts to fit idf from, instead of the references.
        interval: Whether results have a bootstrap interval.
        bad_rows: `fail`, or `count` to leave out rows that cannot be read or scored, and list them.
        engine: The address of a Ray cluster, the number of workers, and the threads per worker.
        options: model, layers, precision, device, lang, settings, online: as `monge.load` takes
            them.

    Returns:
        The results, in the form of the JSON output, and the paths of the parts.
    """
    names = [metric] if isinstance(metric, str) else list(metric)
    for name in names:
        check_options({"metric": name, **options})
    check_stats(stats)
    if bad_rows not in ("fail", "count"):
        raise UsageError(f"bad_rows: expected 'fail' or 'count', got {bad_rows!r}")
    form = SUFFIXES.get(Path(output).suffix, "parquet")
    request = ClusterRequest(
        output, form, seed=12345 if interval else None, tolerant=bad_rows == "count"
    )
    model_options = {"model": str(options.get("model", "auto")), "lang": options.get("lang")}
    runtime_options = {
        "device": options.get("device", "auto"),
        "online": options.get("online", False),
    }
    metrics = [resolve(name, api.changes_of(options), options.get("lang")) for name in names]
    recipe = Recipe(
        metrics,
        **model_options,  # type: ignore[arg-type]
        **runtime_options,  # type: ignore[arg-type]
        stats=stats,
        idf=idf_corpus is not None,
    )
    with connect(engine), beside(request.folder.path) as copy_folder:
        path = (
            fetched(str(data), copy_folder)
            if isinstance(data, str | Path)
            else from_arrow(data, copy_folder)
        )
        tables, corpora = Tables([path], columns=columns), api.Corpora(stats, idf=idf_corpus)
        return score(tables, recipe, request, corpora=corpora, engine=engine)

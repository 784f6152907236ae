"""The score book: scores of variants on judged texts, from one pass, computed once, shared.

Statistics (idf, means) are fitted per group, except where groups are topics with a few references
each: there the whole data set is the corpus. At segment level the judged outputs of a group are one
system, so that a metric which fits the hypothesis side fits it from the group; at system level each
system is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np

from monge import api
from monge.cache import opened
from monge.datasets import Judged, describe
from monge.evaluation.variant_scores import RowScores, VariantScores, join_signatures, sum_counts
from monge.evaluation.variants import Variant
from monge.types import Result, Segment, Signature

Corpora = Mapping[str, Iterable[str]]
Progress = Callable[[int], None]
Rows = tuple[Segment, ...]
RemoteScorer = Callable[
    [Sequence[tuple[Sequence[api.Metric], Rows, Corpora]]], Iterator[tuple[int, list[Result]]]
]
"""Scores passes (metrics, rows, corpora) elsewhere; yields finished passes' numbers and results."""
TOPICS = ("topic",)
"""Kinds of groups that have too few texts to fit statistics from."""


@dataclass(frozen=True)
class Run:
    """How a study runs: the cache directory, and the functions that are told of its progress.

    `progress` is called with the number of segments done, `opened` with what was read, before
    anything is scored. `elsewhere` scores passes other than here, by workers of a cluster; nothing
    is kept of them.
    """

    cache: str | Path | None = None
    progress: Progress | None = None
    opened: Callable[[Sequence[Judged]], None] | None = None
    elsewhere: RemoteScorer | None = None

    def tell(self, datasets: Sequence[Judged]) -> None:
        """Call `opened` with the data sets that were read."""
        if self.opened is not None:
            self.opened(datasets)


QUIET = Run()


class ScoreBook:
    """The scores of a study: a metric scores the same texts only once.

    A context manager, so that its cache is closed at the end.
    """

    def __init__(self, run: Run = QUIET) -> None:
        self._run, self._closing = run, ExitStack()
        self._store = self._closing.enter_context(opened(run.cache))
        self._pages: dict[tuple[Rows, int], RowScores] = {}
        self._variants: dict[int, Variant] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    def scores(
        self, variants: Sequence[Variant], dataset: Judged, *, corpora: Corpora | None = None
    ) -> list[VariantScores]:
        """Score the data set by every variant; `corpora` are idf corpora by name."""
        by_variant: list[dict[str, RowScores]] = [{} for _ in variants]
        parts = [
            (part, tuple(row for group_rows in part.values() for row in group_rows))
            for part in _corpus_groups(dataset)
        ]
        if self._run.elsewhere is not None:
            self._score_remotely(
                self._run.elsewhere, variants, [rows for _, rows in parts], corpora
            )
        for part, rows in parts:
            for by_group, page in zip(
                by_variant, self.of_rows(variants, rows, corpora=corpora), strict=True
            ):
                by_group.update(
                    _split_by_group(page, part) if len(part) > 1 else {next(iter(part)): page}
                )
        return [
            VariantScores(variant, {name: by_group[name] for name in dataset.groups})
            for variant, by_group in zip(variants, by_variant, strict=True)
        ]

    def of_rows(
        self, variants: Sequence[Variant], rows: Rows, *, corpora: Corpora | None = None
    ) -> list[RowScores]:
        """Return the scores of rows by every variant; those of vectors share one encoding pass."""
        missing = [variant for variant in variants if (rows, id(variant.metric)) not in self._pages]
        passes = [
            variants_in_pass
            for spread in (False, True)
            if (variants_in_pass := [variant for variant in missing if variant.spread is spread])
        ]
        idf_corpora = api.Corpora(files=corpora or {})
        for variants_in_pass in passes:
            texts = _texts_of_pass(variants_in_pass, rows)
            progress = _scale_progress(self._run.progress, len(rows), len(passes) * len(texts))
            metrics, watch = [variant.metric for variant in variants_in_pass], api.Watch(progress)
            try:
                results = api.score_segments(
                    metrics, texts, cache=self._store, corpora=idf_corpora, watch=watch
                )
            except api.BrokenMetrics as error:
                usable = [variants_in_pass[k] for k in error.scored]
                self._keep(usable, rows, texts, error.results)
                raise
            self._keep(variants_in_pass, rows, texts, results)
        return [self._pages[rows, id(variant.metric)] for variant in variants]

    def _keep(
        self, variants: Sequence[Variant], rows: Rows, texts: Rows, results: Sequence[Result]
    ) -> None:
        """Keep the results of a pass over `texts`, the rows or one row per reference of them."""
        pages = self._read_results(variants, texts, results)
        if variants[0].spread:
            pages = [_mean_over_references(page, rows) for page in pages]
        for variant, page in zip(variants, pages, strict=True):
            self._variants[id(variant.metric)] = variant  # an id must not outlive its metric
            self._pages[rows, id(variant.metric)] = page

    def _score_remotely(
        self,
        remote_scorer: RemoteScorer,
        variants: Sequence[Variant],
        row_groups: Sequence[Rows],
        corpora: Corpora | None,
    ) -> None:
        """Score what is missing remotely, one pass per rows and shared encoder."""
        passes = [
            (variants_in_pass, rows, _texts_of_pass(variants_in_pass, rows))
            for rows in row_groups
            for variants_in_pass in self._missing_by_encoder(variants, rows)
        ]
        requests = [
            ([variant.metric for variant in variants_in_pass], texts, corpora or {})
            for variants_in_pass, _, texts in passes
        ]
        share = len(passes) // max(len(row_groups), 1)
        for number, results in remote_scorer(requests) if requests else ():
            variants_in_pass, rows, texts = passes[number]
            self._keep(variants_in_pass, rows, texts, results)
            if self._run.progress is not None:
                self._run.progress(len(rows) // max(share, 1))

    def _missing_by_encoder(
        self, variants: Sequence[Variant], rows: Rows
    ) -> Iterable[list[Variant]]:
        """Return the variants without scores of these rows, grouped by the encoder they share."""
        shared: dict[tuple[object, ...], list[Variant]] = {}
        for variant in variants:
            if (rows, id(variant.metric)) not in self._pages:
                members = variant.metric.scorer.members.values()
                readers = tuple(getattr(member, "reader", None) for member in members)
                shared.setdefault((variant.spread, *readers), []).append(variant)
        return shared.values()

    def _read_results(
        self, variants: Sequence[Variant], rows: Rows, results: Sequence[Result]
    ) -> list[RowScores]:
        """Return the results of a pass as the scores of its rows."""
        places = _index_systems(rows)
        row_scores = []
        for k in range(len(variants)):
            variant_results = results[k :: len(variants)]
            segments = np.empty(len(rows), dtype=np.float64)
            for result in variant_results:
                segments[places[result.system]] = result.segments
            row_scores.append(
                RowScores(
                    segments,
                    {result.system: result.score for result in variant_results},
                    join_signatures(
                        {result.system: result.signature for result in variant_results}
                    ),
                    variant_results[0].higher_is_better,
                    sum_counts(result.run.get("flagged", {}) for result in variant_results),
                    variant_results[0].work,
                )
            )
        return row_scores


def _texts_of_pass(variants: Sequence[Variant], rows: Rows) -> Rows:
    """Return the rows that a pass scores: one per reference, if its variants average over them."""
    return _split_references(rows) if variants[0].spread else rows


def _split_references(rows: Rows) -> Rows:
    """Return one row per reference of every row."""
    return tuple(
        replace(row, references=references) for row in rows for references in _list_references(row)
    )


def _list_references(row: Segment) -> list[tuple[str, ...]]:
    """Return the references of a row one by one; a row with only a source stays as it is."""
    return [(reference,) for reference in row.references] or [()]


def _mean_over_references(page: RowScores, rows: Rows) -> RowScores:
    """Return the mean over references of each row, from scores of `_split_references(rows)`."""
    owners = np.repeat(np.arange(len(rows)), [len(_list_references(row)) for row in rows])
    segments = np.bincount(owners, weights=page.segments) / np.bincount(owners)
    systems = {
        system: float(segments[places].mean()) for system, places in _index_systems(rows).items()
    }
    signature = Signature((*page.signature.fields, ("references", "mean")))
    return replace(page, segments=segments, systems=systems, signature=signature)


def _scale_progress(progress: Progress | None, rows: int, steps: int) -> Progress | None:
    """Return a progress function that turns steps into rows: there may be more steps than rows."""
    if progress is None:
        return None
    done = 0

    def step(count: int) -> None:
        nonlocal done
        before, done = done, done + count
        progress(done * rows // steps - before * rows // steps)

    return step


def rows_of(dataset: Judged) -> dict[str, Rows]:
    """Return every group's segments as scored: without references if the source is judged."""
    keep = dataset.kind == "systems"

    def row(segment: Segment) -> Segment:
        references = segment.references if dataset.against == "references" else ()
        return replace(segment, references=references, system=segment.system if keep else "")

    return {
        name: tuple(row(segment) for segment in group.segments)
        for name, group in dataset.groups.items()
    }


def _corpus_groups(dataset: Judged) -> Iterator[dict[str, Rows]]:
    """Yield the groups whose texts make one corpus: each alone, or all if they are topics."""
    rows = rows_of(dataset)
    if describe(dataset.dataset).groups in TOPICS:
        yield rows
    else:
        yield from ({name: group_rows} for name, group_rows in rows.items())


def _index_systems(rows: Sequence[Segment]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for index, row in enumerate(rows):
        places.setdefault(row.system, []).append(index)
    return places


def _split_by_group(page: RowScores, groups: Mapping[str, Rows]) -> dict[str, RowScores]:
    """Split the scores of one pass by group; a system's score is its segments' mean there.

    What the pass cost, and the fallbacks taken in it, stand with the first group.
    """
    by_group, start = {}, 0
    for name, rows in groups.items():
        segments = page.segments[start : start + len(rows)]
        systems = {
            system: float(segments[places].mean())
            for system, places in _index_systems(rows).items()
        }
        by_group[name] = replace(page, segments=segments, systems=systems)
        if start:
            by_group[name] = replace(by_group[name], flagged={}, work={})
        start += len(rows)
    return by_group

"""Compare systems: scores with intervals, paired tests of every two, clusters of equals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from monge import api
from monge.errors import InvalidSetting, Misaligned, UsageError
from monge.stats import PairwiseTests, bootstrap_means, clusters, pairwise_tests
from monge.study import metrics as asking
from monge.study.agreement import interval
from monge.study.comparison import Comparison, Standings, SystemScore, Versus
from monge.study.pooled import Pooled, pooled, pooled_tests
from monge.study.resampling import USUAL, Resampling
from monge.types import Array, Result, Segment

Test = Literal["bootstrap", "permutation"]
TESTS: tuple[Test, ...] = ("bootstrap", "permutation")
MEAN_OF_SEGMENTS, CORPUS = "mean of segments", "corpus score"


def compare(
    systems: Mapping[str, Iterable[str]],
    references: Iterable[str] | Iterable[Sequence[str]] | None = None,
    metrics: Sequence[str] = ("twmd",),
    *,
    sources: Iterable[str] | None = None,
    settings: Sequence[str] = (),
    lang: str | None = None,
    model: str = "auto",
    device: str = "auto",
    online: bool = False,
    test: Test = "bootstrap",
    resampling: Resampling = USUAL,
    cache: str | Path | None = None,
) -> Comparison:
    """Compare the outputs of systems for the same items.

    Args:
        systems: Name of a system -> its hypotheses, all for the same items.
        references: One text or a list of texts an item; without them the sources stand in their place.
        metrics: NAME, NAME@PROFILE, 'NAME[axis.field=value]', or a lexical metric.
        sources: Source texts.
        settings: AXIS=VALUE changes for every metric.
        lang: Target language, for metrics that declare something by language.
        model: Name or directory of the encoder.
        device: Where it runs.
        online: Whether a named model may be fetched.
        test: Whose corrected p-values make the clusters.
        resampling: Resamples, confidence, alpha and seed.
        cache: A directory that keeps vectors and scores.
    """
    references = list(references) if references is not None else None
    sources = list(sources) if sources is not None else None
    rows = [
        replace(row, system=name)
        for name, texts in systems.items()
        for row in api.segments_of(texts, references, sources)
    ]
    where = asking.Where(model, device, online)
    asked = asking.ask(metrics, changes=settings, lang=lang, where=where)
    return compare_segments(asked, rows, test=test, resampling=resampling, cache=cache)


def compare_segments(
    asked: Sequence[asking.Asked],
    rows: Iterable[Segment],
    *,
    test: Test = "bootstrap",
    resampling: Resampling = USUAL,
    cache: str | Path | None = None,
    progress: Callable[[int], None] | None = None,
) -> Comparison:
    """Compare the systems named in re-iterable segments; every system must have the same items."""
    if test not in TESTS:
        raise InvalidSetting(f"test takes bootstrap, permutation, got {test!r}")
    by_system = _aligned(rows)
    results = api.score_segments(
        [one.metric for one in asked],
        [row for some in by_system.values() for row in some],
        progress=progress,
        cache=cache,
    )
    standings = []
    for k, one in enumerate(asked):
        mine = results[k :: len(asked)]
        counts = pooled(one.metric, list(by_system.values()))
        standings.append(_standings(one, mine, counts, test, resampling))
    return Comparison(
        tuple(standings), resampling.seed, resampling.resamples, resampling.confidence, resampling.alpha, test
    )


def _aligned(rows: Iterable[Segment]) -> dict[str, list[Segment]]:
    """The segments of every system, in the order of the first system's items."""
    found: dict[str, dict[str, Segment]] = {}
    for row in rows:
        mine = found.setdefault(row.system, {})
        if row.id in mine:
            raise Misaligned(f"{row.system or 'the system'}: item {row.id} stands twice")
        mine[row.id] = row
    if len(found) < 2:
        raise UsageError(
            "a comparison needs two systems or more: give several -t FILE, or a table with a system column"
        )
    first, *others = found
    for other in others:
        missing = found[first].keys() ^ found[other].keys()
        if missing:
            raise Misaligned(
                f"{first} and {other} have different items, e.g. {sorted(missing)[0]!r}: nothing is paired"
            )
    return {system: [mine[item] for item in found[first]] for system, mine in found.items()}


def _standings(
    asked: asking.Asked, results: Sequence[Result], counts: Pooled | None, test: Test, resampling: Resampling
) -> Standings:
    names = [one.system for one in results]
    if counts is None:
        systems, pairs = compare_scores(
            names,
            np.stack([one.segments for one in results]),
            higher_is_better=asked.higher_is_better,
            test=test,
            resampling=resampling,
        )
    else:
        systems, pairs = _compare_pooled(names, counts, asked.higher_is_better, test, resampling)
    return Standings(
        metric=asked.name,
        label=asked.label,
        signature=str(results[0].signature),
        higher_is_better=asked.higher_is_better,
        n=results[0].n,
        of=MEAN_OF_SEGMENTS if counts is None else CORPUS,
        systems=systems,
        pairs=pairs,
    )


def compare_scores(
    names: Sequence[str],
    scores: npt.ArrayLike,
    *,
    higher_is_better: bool = True,
    test: Test = "bootstrap",
    resampling: Resampling = USUAL,
) -> tuple[tuple[SystemScore, ...], tuple[Versus, ...]]:
    """The statistics alone: scores [systems, segments] -> each system's mean, interval and cluster, and all pairs."""
    values = np.asarray(scores, dtype=np.float64)
    tests = {
        method: pairwise_tests(values, method=method, resamples=resampling.resamples, seed=resampling.seed)
        for method in TESTS
    }
    found = bootstrap_means(values, level=resampling.confidence, resamples=resampling.resamples, seed=resampling.seed)
    bounds = [(one.low, one.high) for one in found]
    return _gathered(names, values.mean(axis=1), bounds, tests, higher_is_better, test, resampling)


def _compare_pooled(
    names: Sequence[str], counts: Pooled, higher_is_better: bool, test: Test, resampling: Resampling
) -> tuple[tuple[SystemScore, ...], tuple[Versus, ...]]:
    values = counts.scores(counts.counts.sum(axis=1))
    drawn = counts.resampled(resamples=resampling.resamples, seed=resampling.seed)
    tests = {
        method: pooled_tests(
            counts, values, method=method, resamples=resampling.resamples, seed=resampling.seed, drawn=drawn
        )
        for method in TESTS
    }
    bounds = [interval(row, resampling.confidence) or (float(row.min()), float(row.max())) for row in drawn]
    return _gathered(names, values, bounds, tests, higher_is_better, test, resampling)


def _gathered(
    names: Sequence[str],
    values: Array,
    bounds: Sequence[tuple[float, float]],
    tests: Mapping[Test, PairwiseTests],
    higher_is_better: bool,
    test: Test,
    resampling: Resampling,
) -> tuple[tuple[SystemScore, ...], tuple[Versus, ...]]:
    boot, perm = tests["bootstrap"], tests["permutation"]
    chosen = boot if test == "bootstrap" else perm
    ranks = clusters(values, chosen.corrected, alpha=resampling.alpha, higher_is_better=higher_is_better)
    systems = tuple(
        SystemScore(name, float(value), low, high, int(rank))
        for name, value, (low, high), rank in zip(names, values, bounds, ranks, strict=True)
    )
    pairs = tuple(
        Versus(
            names[i],
            names[j],
            float(boot.differences[i, j]),
            float(boot.p_values[i, j]),
            float(boot.corrected[i, j]),
            float(perm.p_values[i, j]),
            float(perm.corrected[i, j]),
        )
        for i, j in combinations(range(len(names)), 2)
    )
    return systems, pairs

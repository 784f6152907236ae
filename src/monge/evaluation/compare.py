"""Compare systems: scores with intervals, paired tests of every two, clusters of equals."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from monge import api
from monge.datasets.segment_scores import GivenScores
from monge.errors import Flagged, InvalidSetting, Misaligned, UsageError
from monge.evaluation.agreement import AUTO, USUAL, Resampling
from monge.evaluation.comparison import Comparison, Standings, SystemScore, Versus
from monge.evaluation.external_scores import NO_SCORES, check_distinct_names, scores_by_system
from monge.evaluation.score_book import QUIET, Run
from monge.evaluation.variants import Variant
from monge.stats import (
    Interval,
    OfSums,
    PairwiseTests,
    bootstrap_means,
    clusters,
    interval_of,
    pairwise_tests,
    pooled_tests,
    resampled_scores,
)
from monge.text.language import guess_language
from monge.types import Array, Result, Segment

TESTS = ("bootstrap", "permutation")
MEAN_OF_SEGMENTS, CORPUS = "mean of segments", "corpus score"


def compare_segments(
    variants: Sequence[Variant],
    rows: Iterable[Segment],
    *,
    scores: Sequence[GivenScores] = NO_SCORES,
    resampling: Resampling = USUAL,
    run: Run = QUIET,
    common: bool = False,
) -> Comparison:
    """Compare the systems named in segments; every system must have the same items.

    `scores` from files take part as metrics do, behind those of the variants. With `common`, items
    that not all systems have are left out.
    """
    check_distinct_names(scores, [variant.label for variant in variants])
    came = keep_common_items(rows) if common else list(rows)
    by_system = aligned(came)
    resampling = replace(
        resampling, test=_choose_test(resampling, len(came) // len(by_system))
    ).enough(len(by_system))
    outside = [
        _rank_by_given_scores(given_scores, came, by_system, resampling) for given_scores in scores
    ]
    language = guess_language(row.hypothesis for row in came[:GUESSED_FROM]) or ""
    if not variants:
        return Comparison(tuple(outside), resampling, language)
    aligned_rows = [row for system_rows in by_system.values() for row in system_rows]
    metrics = [variant.metric for variant in variants]
    results, scored = api.score_usable(
        metrics, aligned_rows, cache=run.cache, watch=api.Watch(run.progress)
    )
    comparison = compare_results(
        [(variants[k].name, variants[k].label) for k in scored], results, resampling=resampling
    )
    return replace(comparison, standings=(*comparison.standings, *outside), language=language)


def compare_results(
    metrics: Sequence[tuple[str, str]], results: Sequence[Result], *, resampling: Resampling = USUAL
) -> Comparison:
    """Compare systems by results on `aligned` segments; `metrics` are (name, label) pairs."""
    resampling = replace(resampling, test=_choose_test(resampling, results[0].n)).enough(
        len(results) // len(metrics)
    )
    standings = tuple(
        _rank_systems(metric, results[k :: len(metrics)], resampling)
        for k, metric in enumerate(metrics)
    )
    return Comparison(standings, resampling)


def _rank_by_given_scores(
    given_scores: GivenScores,
    rows: Sequence[Segment],
    by_system: Mapping[str, Sequence[Segment]],
    resampling: Resampling,
) -> Standings:
    """Compare the systems by the scores of a file."""
    scores, signature = scores_by_system(given_scores, rows, by_system)
    higher = given_scores.higher_is_better
    systems, pairs = compare_scores(
        list(by_system), scores, higher_is_better=higher, resampling=resampling
    )
    n = scores.shape[1]
    return Standings(
        given_scores.name, given_scores.name, signature, higher, n, MEAN_OF_SEGMENTS, systems, pairs
    )


GUESSED_FROM = 1000
"""The language of the outputs is guessed from so many of them."""
FEW = 30
"""Fewer segments than this are compared by permutation: the bootstrap would reject too often."""


def _choose_test(resampling: Resampling, n: int) -> str:
    """Return the test of a comparison on n segments."""
    usual = "bootstrap" if n >= FEW else "permutation"
    test = usual if resampling.test == AUTO else resampling.test
    if test not in TESTS:
        raise InvalidSetting(f"test takes bootstrap, permutation, got {test!r}")
    return test


def aligned(rows: Iterable[Segment]) -> dict[str, list[Segment]]:
    """Return every system's segments in the order of the first; all must have the same items."""
    rows_by_system: dict[str, dict[str, Segment]] = {}
    for row in rows:
        rows_by_item = rows_by_system.setdefault(row.system, {})
        if row.id in rows_by_item:
            raise Misaligned(
                f"{row.system or 'the system'}: item {row.id} stands twice; in a table, say what "
                "tells items and systems apart: --columns id=COLUMN,system=COLUMN"
            )
        rows_by_item[row.id] = row
    if len(rows_by_system) < 2:
        raise UsageError(
            "a comparison needs two systems or more: give several -t FILE, or a table with a "
            "system column"
        )
    first, *rest = rows_by_system
    for system in rest:
        missing = rows_by_system[first].keys() ^ rows_by_system[system].keys()
        if missing:
            raise Misaligned(
                f"{first} and {system} have different items, e.g. {sorted(missing)[0]!r}; compare "
                "the items that all systems have: --common"
            )
    return {
        system: [rows_by_item[item] for item in rows_by_system[first]]
        for system, rows_by_item in rows_by_system.items()
    }


def keep_common_items(rows: Iterable[Segment]) -> list[Segment]:
    """Return the segments of items that all systems have; warn of how many others there are."""
    all_rows = list(rows)
    systems = {row.system for row in all_rows}
    systems_by_item: dict[str, set[str]] = {}
    for row in all_rows:
        systems_by_item.setdefault(row.id, set()).add(row.system)
    common_items = {item for item, names in systems_by_item.items() if names == systems}
    if not common_items:
        raise Misaligned(f"no item is common to all {len(systems)} systems: nothing is paired")
    if len(common_items) < len(systems_by_item):
        warnings.warn(
            f"{len(systems_by_item) - len(common_items)} of {len(systems_by_item)} items are left "
            "out, because not all systems have them",
            Flagged,
            stacklevel=3,
        )
    return [row for row in all_rows if row.id in common_items]


def _rank_systems(
    metric: tuple[str, str], results: Sequence[Result], resampling: Resampling
) -> Standings:
    """Compare the systems by one metric, from segment scores or pooled counts."""
    names, higher = [result.system for result in results], results[0].higher_is_better
    pooled = [result.pooled for result in results if result.pooled is not None]
    if not pooled:
        scores = np.stack([result.segments for result in results])
        systems, pairs = compare_scores(
            names, scores, higher_is_better=higher, resampling=resampling
        )
    else:
        counts = np.stack([pool.statistics for pool in pooled])
        systems, pairs = compare_pooled(
            names, counts, pooled[0].of, higher_is_better=higher, resampling=resampling
        )
    return Standings(
        metric=metric[0],
        label=metric[1],
        signature=str(results[0].signature),
        higher_is_better=higher,
        n=results[0].n,
        of=CORPUS if pooled else MEAN_OF_SEGMENTS,
        systems=systems,
        pairs=pairs,
    )


SystemsAndPairs = tuple[tuple[SystemScore, ...], tuple[Versus, ...]]
"""Each system's score, interval and cluster, and all pairs."""


def compare_scores(
    names: Sequence[str],
    scores: npt.ArrayLike,
    *,
    higher_is_better: bool = True,
    resampling: Resampling = USUAL,
) -> SystemsAndPairs:
    """Compare systems by the means of their scores [systems, segments]."""
    values = np.asarray(scores, dtype=np.float64)
    how = {"resamples": resampling.resamples, "seed": resampling.seed}
    tests = (
        pairwise_tests(values, method="bootstrap", **how),
        pairwise_tests(values, method="permutation", **how),
    )
    apart = [values[i] - values[j] for i, j in combinations(range(len(names)), 2)]
    # one set of resamples
    intervals = bootstrap_means(np.stack([*values, *apart]), level=resampling.confidence, **how)
    return _combine_intervals(names, intervals, tests, higher_is_better, resampling)


def compare_pooled(
    names: Sequence[str],
    counts: Array,
    of: OfSums,
    *,
    higher_is_better: bool = True,
    resampling: Resampling = USUAL,
) -> SystemsAndPairs:
    """Compare corpus scores of counts [systems, segments, k]; `of` maps sums to scores."""
    how = {"resamples": resampling.resamples, "seed": resampling.seed}
    tests = (
        pooled_tests(counts, of, method="bootstrap", **how),
        pooled_tests(counts, of, method="permutation", **how),
    )
    resampled, values = resampled_scores(counts, of, **how), of(counts.sum(axis=1)).tolist()
    pairs = list(combinations(range(len(names)), 2))
    valued_draws = [
        *zip(values, resampled, strict=True),
        *((values[i] - values[j], resampled[i] - resampled[j]) for i, j in pairs),
    ]
    intervals = [interval_of(value, draws, resampling.confidence) for value, draws in valued_draws]
    return _combine_intervals(names, intervals, tests, higher_is_better, resampling)


def _combine_intervals(
    names: Sequence[str],
    intervals: Sequence[Interval],
    tests: tuple[PairwiseTests, PairwiseTests],
    higher_is_better: bool,
    resampling: Resampling,
) -> SystemsAndPairs:
    """Combine intervals (of systems, then of pairs) and tests into scores and pairs."""
    boot, perm = tests
    chosen = perm if resampling.test == "permutation" else boot
    rows, gaps = intervals[: len(names)], intervals[len(names) :]
    values = np.array([interval.value for interval in rows])
    ranks = clusters(
        values, chosen.corrected, alpha=resampling.alpha, higher_is_better=higher_is_better
    )
    systems = tuple(
        SystemScore(name, interval.value, interval.low, interval.high, int(rank))
        for name, interval, rank in zip(names, rows, ranks, strict=True)
    )
    pairs = tuple(
        Versus(
            names[i],
            names[j],
            float(boot.differences[i, j]),
            gap.low,
            gap.high,
            *(
                float(p_matrix[i, j])
                for p_matrix in (boot.p_values, boot.corrected, perm.p_values, perm.corrected)
            ),
        )
        for (i, j), gap in zip(combinations(range(len(names)), 2), gaps, strict=True)
    )
    return systems, pairs


def one_system(result: Result, resampling: Resampling = USUAL) -> Standings:
    """Return the standing of a system that is compared with no other: its score and interval."""
    how = {"resamples": resampling.resamples, "seed": resampling.seed}
    if result.pooled is None:
        interval = bootstrap_means(result.segments[None], level=resampling.confidence, **how)[0]
    else:
        draws = resampled_scores(result.pooled.statistics[None], result.pooled.of, **how)[0]
        interval = interval_of(result.score, draws, resampling.confidence)
    alone = (SystemScore(result.system, result.score, interval.low, interval.high, 1),)
    of = CORPUS if result.pooled else MEAN_OF_SEGMENTS
    signature = str(result.signature)
    return Standings(
        result.metric, result.metric, signature, result.higher_is_better, result.n, of, alone, ()
    )

"""Compare systems: scores with intervals, paired tests of every two, clusters of equals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from monge import api
from monge.datasets.segment_scores import GivenScores
from monge.errors import InvalidSetting, Misaligned, UsageError
from monge.evaluation.agreement import AUTO, USUAL, Resampling
from monge.evaluation.external_scores import NO_SCORES, check_distinct_names, scores_by_system
from monge.evaluation.notebook import StudyResult
from monge.evaluation.score_book import QUIET, Run
from monge.evaluation.variants import DEFAULT_MODEL, Setup, Variant, load_variants
from monge.render.cells import DASH, decimals, number, p_value, short_names, span, supported_digits
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
from monge.types import Array, Result, Segment
from monge.types.table import Cell, Sheet, Span

TESTS = ("bootstrap", "permutation")
DOTS = "filled dot: the difference is more than chance; hollow dot: it may be chance"
MEAN_OF_SEGMENTS, CORPUS = "mean of segments", "corpus score"


@dataclass(frozen=True, slots=True)
class SystemScore:
    """A system's score with its interval; cluster 1 is the best and its statistical ties."""

    system: str
    score: float
    low: float
    high: float
    cluster: int


@dataclass(frozen=True, slots=True)
class Versus:
    """first - second with its interval, and two-sided p-values of both tests, plain and Holm's."""

    first: str
    second: str
    difference: float
    low: float
    high: float
    bootstrap: float
    bootstrap_holm: float
    permutation: float
    permutation_holm: float


@dataclass(frozen=True)
class Standings:
    """All systems by one metric; `of` is what is compared: segment means or corpus scores."""

    metric: str
    label: str
    signature: str
    higher_is_better: bool
    n: int
    of: str
    systems: tuple[SystemScore, ...]
    pairs: tuple[Versus, ...]

    @property
    def ranked(self) -> list[int]:
        """The places of the systems, the best first."""
        sign = -1 if self.higher_is_better else 1
        return sorted(range(len(self.systems)), key=lambda k: sign * self.systems[k].score)

    def cell(self, index: int) -> Cell:
        """Return a system's score as a cell, marked best if alone in the first cluster."""
        system_score, pick = self.systems[index], max if self.higher_is_better else min
        best = system_score.score == pick(system.score for system in self.systems)
        alone = sum(system.cluster == 1 for system in self.systems) == 1
        mark = "best" if best and alone else "tied" * (system_score.cluster == 1)
        digits = self.digits
        short = (
            decimals(system_score.score, digits),
            span(system_score.low, system_score.high, digits),
        )
        return Cell(
            number(system_score.score),
            span(system_score.low, system_score.high, 4),
            mark,
            None,
            *short,
        )

    @property
    def digits(self) -> int:
        """The decimals that the intervals of the systems support."""
        return supported_digits((system.low, system.high) for system in self.systems)

    def difference_cell(self, pair: Versus) -> Cell:
        """Return the difference of two systems."""
        return Cell(
            number(pair.difference), short=decimals(pair.difference, self.difference_digits)
        )

    @property
    def difference_digits(self) -> int:
        """The decimals that the intervals of all differences support."""
        return supported_digits((pair.low, pair.high) for pair in self.pairs)

    def name_cell(self, system: str) -> Cell:
        """Return the name of a system, which people read without the ending of a file."""
        return Cell(
            system, short=short_names(system_score.system for system_score in self.systems)[system]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            **{
                name: getattr(self, name)
                for name in ("metric", "signature", "higher_is_better", "n", "of")
            },
            **({"label": self.label} if self.label != self.metric else {}),
            "systems": [asdict(system) for system in self.systems],
            "pairs": [
                {
                    **{
                        name: getattr(pair, name)
                        for name in ("first", "second", "difference", "low", "high")
                    },
                    "bootstrap": {"p": pair.bootstrap, "holm": pair.bootstrap_holm},
                    "permutation": {"p": pair.permutation, "holm": pair.permutation_holm},
                }
                for pair in self.pairs
            ],
        }


@dataclass(frozen=True)
class Comparison(StudyResult):
    """Systems by metrics, in clusters by Holm-corrected p-values of `resampling.test`."""

    standings: tuple[Standings, ...]
    resampling: Resampling

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        how = {
            name: getattr(self.resampling, name)
            for name in ("seed", "resamples", "confidence", "alpha", "test")
        }
        return {
            "results": [standings.to_dict() for standings in self.standings],
            "study": {**how, "correction": "Holm"},
        }

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield one row per metric and system: score, interval, cluster."""
        for standings in self.standings:
            yield from (
                {"metric": standings.label, **asdict(system)} for system in standings.systems
            )

    def sheets(self) -> list[Sheet]:
        """Return a table of all systems, and per metric a table of all pairs of systems."""
        return [
            self._systems_sheet(),
            *(self._pairs_sheet(standings) for standings in self.standings),
        ]

    def better(self, standings: Standings, pair: Versus) -> str:
        """Return the system that is significantly better, or nothing."""
        p = pair.permutation_holm if self.resampling.test == "permutation" else pair.bootstrap_holm
        if p > self.resampling.alpha:
            return ""
        return pair.first if (pair.difference > 0) == standings.higher_is_better else pair.second

    @property
    def verdict(self) -> list[str]:
        """Which systems are best, and which cannot be told apart, in plain words."""
        from monge.evaluation.verdict import verdict

        return verdict(self)

    @property
    def told(self) -> list[str]:
        """The verdict with the short names of systems that tables show."""
        from monge.evaluation.verdict import verdict

        return verdict(self, short_names(system.system for system in self.standings[0].systems))

    def p_shown(self, value: float, *, plain: float) -> str:
        """Format a p-value; `plain`, before correction, bounds what draws can show."""
        least = 1 / (self.resampling.resamples + 1)
        return p_value(value, bound=plain <= least * (1 + 1e-9))

    def p_cells(self, pair: Versus) -> list[Cell]:
        """Return the p-values of both tests, each plain and corrected."""
        tested = (pair.bootstrap, pair.bootstrap_holm), (pair.permutation, pair.permutation_holm)
        return [
            Cell(number(p), short=self.p_shown(p, plain=both[0])) for both in tested for p in both
        ]

    def _systems_sheet(self) -> Sheet:
        head = ["system"]
        for standings in self.standings:
            head += [
                f"{standings.label} {'↑' if standings.higher_is_better else '↓'}",
                "interval",
                "cluster",
            ]
        rows = []
        for k in self.standings[0].ranked:
            row = [self.standings[0].name_cell(self.standings[0].systems[k].system)]
            for standings in self.standings:
                system_score = standings.systems[k]
                interval = Cell(
                    "", span=Span(system_score.low, system_score.score, system_score.high)
                )
                row += [standings.cell(k), interval, Cell(str(system_score.cluster))]
            rows.append(tuple(row))
        measured = "; ".join(
            f"{standings.label}: {standings.of}, n = {standings.n}" for standings in self.standings
        )
        test = (
            f"paired {self.resampling.test}, two-sided, Holm over all pairs, p > "
            f"{self.resampling.alpha:g}"
        )
        return Sheet(
            f"{len(rows)} systems",
            tuple(head),
            tuple(rows),
            (measured, self.resampling.note),
            tuple(standings.signature for standings in self.standings),
            tied=f"among those that cannot be told apart from the best ({test})",
            said=tuple(self.told),
        )

    def _pairs_sheet(self, standings: Standings) -> Sheet:
        rows = []
        for pair in standings.pairs:
            better = self.better(standings, pair)
            names = [
                standings.name_cell(name) if name else Cell(DASH)
                for name in (pair.first, pair.second, better)
            ]
            interval = Cell("", span=Span(pair.low, pair.difference, pair.high, sure=bool(better)))
            rows.append((*names, standings.difference_cell(pair), interval, *self.p_cells(pair)))
        head = (
            "first",
            "second",
            "better",
            "difference",
            "interval",
            "p bootstrap",
            "Holm",
            "p permutation",
            "Holm",
        )
        return Sheet(
            f"{standings.label}: every two systems",
            head,
            tuple(rows),
            words=3,
            zero=True,
            dots=DOTS,
        )


def compare(
    systems: Mapping[str, Iterable[str]],
    references: Iterable[str] | Iterable[Sequence[str]] | None = None,
    metrics: Sequence[str] = ("twmd",),
    *,
    sources: Iterable[str] | None = None,
    setup: Setup = DEFAULT_MODEL,
    resampling: Resampling = USUAL,
    run: Run = QUIET,
) -> Comparison:
    """Compare the outputs of systems for the same items.

    Args: systems: Name of a system -> its hypotheses, all for the same items. references: One text
        or a list of texts an item; without them the sources stand in their place. metrics: NAME,
        NAME@PROFILE, 'NAME[axis.field=value]', or a lexical metric. sources: Source texts. setup:
        Settings, language and model that all metrics share. resampling: Resamples, confidence,
        alpha, seed, and the test whose p-values make the clusters: bootstrap or
            permutation (auto: permutation below 30 segments, exact where there are few).
        run: The cache, and whom to tell.
    """
    if not isinstance(systems, Mapping):
        raise UsageError(f"systems: expected {{name: hypotheses}}, got {type(systems).__name__}")
    references = list(references) if references is not None else None
    sources = list(sources) if sources is not None else None
    rows = [
        replace(row, system=name)
        for name, texts in systems.items()
        for row in api.segments_of(texts, references, sources)
    ]
    return compare_segments(load_variants(metrics, setup), rows, resampling=resampling, run=run)


def compare_segments(
    variants: Sequence[Variant],
    rows: Iterable[Segment],
    *,
    scores: Sequence[GivenScores] = NO_SCORES,
    resampling: Resampling = USUAL,
    run: Run = QUIET,
) -> Comparison:
    """Compare the systems named in segments; every system must have the same items.

    `scores` from files take part as metrics do, behind those of the variants.
    """
    check_distinct_names(scores, [variant.label for variant in variants])
    came = list(rows)
    by_system = aligned(came)
    resampling = replace(
        resampling, test=_choose_test(resampling, len(came) // len(by_system))
    ).enough(len(by_system))
    outside = [
        _rank_by_given_scores(given_scores, came, by_system, resampling) for given_scores in scores
    ]
    if not variants:
        return Comparison(tuple(outside), resampling)
    aligned_rows = [row for system_rows in by_system.values() for row in system_rows]
    metrics = [variant.metric for variant in variants]
    results = api.score_segments(
        metrics, aligned_rows, cache=run.cache, watch=api.Watch(run.progress)
    )
    comparison = compare_results(
        [(variant.name, variant.label) for variant in variants], results, resampling=resampling
    )
    return replace(comparison, standings=(*comparison.standings, *outside))


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
                f"{first} and {system} have different items, e.g. {sorted(missing)[0]!r}: nothing "
                f"is paired"
            )
    return {
        system: [rows_by_item[item] for item in rows_by_system[first]]
        for system, rows_by_item in rows_by_system.items()
    }


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
    intervals = bootstrap_means(
        np.stack([*values, *apart]), level=resampling.confidence, **how
    )  # one set of resamples
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

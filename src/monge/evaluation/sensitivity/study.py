"""Measure how preprocessing moves a result: settings, their spread, and whether it is noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from monge.datasets import Judged
from monge.errors import InvalidSetting
from monge.evaluation.agreement import USUAL, Resampling
from monge.evaluation.score_book import QUIET, Run, ScoreBook
from monge.evaluation.sensitivity.effects import Effect, crossing, effect
from monge.evaluation.sensitivity.factors import AGGREGATION, NONE, Factor, factors, list_of
from monge.evaluation.sensitivity.points import (
    Point,
    PointScores,
    PointTable,
    crossed,
    point_table,
    points_of,
    score_points,
)
from monge.evaluation.sensitivity.record import Sensitivity, StopwordList
from monge.evaluation.task import Task, languages
from monge.evaluation.variants import DEFAULT_MODEL, Setup, check_names
from monge.text import stopwords

MOST = 512
"""The most points per metric of a full crossing."""


@dataclass(frozen=True)
class Design:
    """What is varied, and how its spread is measured.

    `factors` has `stopwords,idf` (usual settings), `layers=4,5,6` or
    `idf=off,references,random:4x2000,FILE`, and joint factors `subwords+punctuation`. `cross` adds
    the full crossing of all of them with the aggregation (`transport=onesided,exact` unless given),
    and shares of variance. `ddof` is that of the CV.
    """

    factors: Sequence[str] = ()
    cross: bool = False
    ddof: int = 0

    def __post_init__(self) -> None:
        if self.ddof not in (0, 1):
            raise InvalidSetting(f"ddof must be 0 (population) or 1 (sample), got {self.ddof}")


USUAL_DESIGN = Design()


def sensitivity(
    task: Task,
    metrics: Sequence[str],
    design: Design = USUAL_DESIGN,
    *,
    setup: Setup = DEFAULT_MODEL,
    resampling: Resampling = USUAL,
    run: Run = QUIET,
) -> Sensitivity:
    """Measure the agreement of metrics with people under every setting of some factors."""
    check_names(metrics, setup)
    dataset, spoken, tried = _open(task, design, setup.lang, resampling.seed)
    statistic = task.statistics(dataset)[0]
    run.tell([dataset])
    crossed_factors = _crossed_factors(tried) if design.cross else ()
    crossed_metrics = metrics if design.cross else ()
    tested, points = _list_points(metrics, tried, crossed_factors)
    scores = _score(points, dataset, tried, setup, run, resampling.seed)
    table = point_table(dataset, scores, statistic, tested, resampling)
    return Sensitivity(
        dataset=dataset.dataset,
        text=dataset.text,
        level=dataset.level,
        human=dataset.human,
        statistic=statistic,
        groups={name: dataset.groups[name].n for name in table.table.columns},
        factors=tried,
        effects=_measure_effects(metrics, tried, scores, table, design, resampling),
        crossings=tuple(crossing(name, crossed_factors, table) for name in crossed_metrics),
        signatures={name: scores.signatures(Point(name)) for name in metrics},
        lists=_stopword_lists(tried, spoken),
        corpora=scores.corpora,
        work=dict(scores.work),
        settings=scores.distinct,
        ddof=design.ddof,
        resampling=resampling,
        segments={name: len(dataset.groups[name].segments) for name in table.table.columns},
        sample=task.sample,
        warnings=(*dataset.warnings, *table.table.notes),
    )


def _open(
    task: Task, design: Design, language: str | None, seed: int
) -> tuple[Judged, list[str], tuple[Factor, ...]]:
    """Return the judgements, the languages of their texts, and the factors to try on them."""
    (dataset,) = task.open(seed)
    spoken = list(languages(dataset, language))
    return dataset, spoken, factors(design.factors, spoken)


def _measure_effects(
    metrics: Sequence[str],
    tried: Sequence[Factor],
    scores: PointScores,
    table: PointTable,
    design: Design,
    resampling: Resampling,
) -> tuple[Effect, ...]:
    """Return the effect of every factor on every metric."""
    return tuple(
        effect(name, factor, scores, table, ddof=design.ddof, confidence=resampling.confidence)
        for factor in tried
        for name in metrics
    )


def _list_points(
    metrics: Sequence[str], tried: Sequence[Factor], crossed_factors: Sequence[Factor]
) -> tuple[list[Point], list[Point]]:
    """Return the points whose differences are tested, and all points, those of a crossing too."""
    tested = [Point(name) for name in metrics]
    tested += [point for name in metrics for factor in tried for point in points_of(name, factor)]
    full = [
        point for name in metrics if crossed_factors for point in crossed(name, crossed_factors)
    ]
    return tested, list(dict.fromkeys([*tested, *full]))


def _score(
    points: Sequence[Point],
    dataset: Judged,
    tried: Sequence[Factor],
    setup: Setup,
    run: Run,
    seed: int,
) -> PointScores:
    """Score the data set at every point, with random corpora if a factor draws them."""
    draw = next((factor.draw for factor in tried if factor.draw is not None), None)
    with ScoreBook(run) as book:
        return score_points(points, dataset, setup, book, draw, seed)


def _crossed_factors(tried: Sequence[Factor]) -> tuple[Factor, ...]:
    """Return the single factors of a full crossing, the aggregation among them."""
    single_factors = [factor for factor in tried if len(factor.parts) == 1]
    for factor in tried:
        names = [factor.name for factor in single_factors]
        split = [factor.split(setting) for setting in factor.settings]
        single_factors += [
            Factor(part, tuple(dict.fromkeys(s[part] for s in split)))
            for part in factor.parts
            if part not in names
        ]
    if all(factor.name != AGGREGATION for factor in single_factors):
        single_factors.append(factors([AGGREGATION], ["en"])[0])
    if len(single_factors) < 2:
        raise InvalidSetting("--cross needs a factor other than transport")
    size = prod(len(factor.settings) for factor in single_factors)
    if size > MOST:
        sizes = " x ".join(f"{factor.name} {len(factor.settings)}" for factor in single_factors)
        raise InvalidSetting(
            f"--cross: {sizes} are {size} settings a metric, at most {MOST}; name fewer settings"
        )
    return tuple(single_factors)


def _stopword_lists(tried: Sequence[Factor], spoken: Sequence[str]) -> tuple[StopwordList, ...]:
    chosen: list[str] = []
    for factor in tried:
        for setting in factor.settings:
            words = factor.split(setting).get("stopwords", NONE)
            chosen += [list_of(words, language) for language in spoken if words != NONE]
    return tuple(
        StopwordList(name, len(stopwords.load(name)), stopwords.digest(name))
        for name in dict.fromkeys(chosen)
    )

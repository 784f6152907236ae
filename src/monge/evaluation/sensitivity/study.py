"""Measure how preprocessing moves a result: settings, their spread, and whether it is noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from monge.errors import InvalidSetting
from monge.evaluation.agreement import USUAL, Resampling
from monge.evaluation.score_book import QUIET, Run, ScoreBook
from monge.evaluation.sensitivity.effects import crossing, effect
from monge.evaluation.sensitivity.factors import AGGREGATION, NONE, Factor, factors, list_of
from monge.evaluation.sensitivity.points import Point, crossed, point_table, points_of, score_points
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
    (dataset,) = task.open(resampling.seed)
    spoken = list(languages(dataset, setup.lang))
    tried = factors(design.factors, spoken)
    statistic = task.statistics(dataset)[0]
    run.tell([dataset])
    crossed_factors = _crossed_factors(tried) if design.cross else ()
    tested = [Point(name) for name in metrics]
    tested += [point for name in metrics for factor in tried for point in points_of(name, factor)]
    full = (
        [point for name in metrics for point in crossed(name, crossed_factors)]
        if design.cross
        else []
    )
    draw = next((factor.draw for factor in tried if factor.draw is not None), None)
    points = list(dict.fromkeys([*tested, *full]))
    with ScoreBook(run) as book:
        scores = score_points(points, dataset, setup, book, draw, resampling.seed)
    table = point_table(dataset, scores, statistic, tested, resampling)
    return Sensitivity(
        dataset=dataset.dataset,
        text=dataset.text,
        level=dataset.level,
        human=dataset.human,
        statistic=statistic,
        groups={name: dataset.groups[name].n for name in table.table.columns},
        factors=tried,
        effects=tuple(
            effect(name, factor, scores, table, ddof=design.ddof, confidence=resampling.confidence)
            for factor in tried
            for name in metrics
        ),
        crossings=tuple(crossing(name, crossed_factors, table) for name in metrics)
        if design.cross
        else (),
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

"""How much does preprocessing move a result? Settings of factors, their spread, and whether the best is noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from monge.errors import InvalidSetting
from monge.study.agreement import USUAL, Resampling
from monge.study.book import QUIET, Run, ScoreBook
from monge.study.sensitivity.effects import crossing, effect
from monge.study.sensitivity.factors import AGGREGATION, NONE, Factor, factors, list_of
from monge.study.sensitivity.points import Point, crossed, point_table, points_of, score_points
from monge.study.sensitivity.record import Sensitivity, StopwordList
from monge.study.task import Task, languages
from monge.study.variants import DEFAULT_MODEL, Setup, check_names
from monge.text import stopwords

MOST = 512
"""The most points a metric of a full crossing."""


@dataclass(frozen=True)
class Design:
    """What is varied, and how its spread is measured.

    `factors` has `stopwords,idf` (usual settings), `layers=4,5,6` or `idf=off,references,random:4x2000,FILE`, and joint
    factors `subwords+punctuation`. `cross` adds the full crossing of all of them with the aggregation
    (`transport=onesided,exact` unless given), and shares of variance. `ddof` is that of the CV.
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
    """The agreement of metrics with people under every setting of some factors, all from one encoding pass a group."""
    check_names(metrics, setup)
    (judged,) = task.open(resampling.seed)
    spoken = list(languages(judged, setup.lang))
    tried = factors(design.factors, spoken)
    statistic = task.statistics(judged)[0]
    run.tell([judged])
    single = _crossed_factors(tried) if design.cross else ()
    tested = [Point(name) for name in metrics]
    tested += [point for name in metrics for one in tried for point in points_of(name, one)]
    full = [point for name in metrics for point in crossed(name, single)] if design.cross else []
    draw = next((one.draw for one in tried if one.draw is not None), None)
    every = list(dict.fromkeys([*tested, *full]))
    with ScoreBook(run) as book:
        scores = score_points(every, judged, setup, book, draw, resampling.seed)
    table = point_table(judged, scores, statistic, tested, resampling)
    return Sensitivity(
        dataset=judged.dataset,
        text=judged.text,
        level=judged.level,
        human=judged.human,
        statistic=statistic,
        groups={name: judged.groups[name].n for name in table.table.columns},
        factors=tried,
        effects=tuple(
            effect(name, one, scores, table, ddof=design.ddof, confidence=resampling.confidence)
            for one in tried
            for name in metrics
        ),
        crossings=tuple(crossing(name, single, table) for name in metrics) if design.cross else (),
        signatures={name: scores.signatures(Point(name)) for name in metrics},
        lists=_lists(tried, spoken),
        corpora=scores.corpora,
        work=dict(scores.work),
        settings=scores.distinct,
        ddof=design.ddof,
        resampling=resampling,
        segments={name: len(judged.groups[name].segments) for name in table.table.columns},
        sample=task.sample,
        warnings=(*judged.warnings, *table.table.notes),
    )


def _crossed_factors(tried: Sequence[Factor]) -> tuple[Factor, ...]:
    """The factors of a full crossing: single ones (a joint one is taken apart), the aggregation among them."""
    single = [one for one in tried if len(one.parts) == 1]
    for one in tried:
        known = [other.name for other in single]
        split = [one.split(setting) for setting in one.settings]
        single += [
            Factor(part, tuple(dict.fromkeys(s[part] for s in split))) for part in one.parts if part not in known
        ]
    if all(one.name != AGGREGATION for one in single):
        single.append(factors([AGGREGATION], ["en"])[0])
    if len(single) < 2:
        raise InvalidSetting("--cross needs a factor other than transport")
    size = prod(len(one.settings) for one in single)
    if size > MOST:
        each = " x ".join(f"{one.name} {len(one.settings)}" for one in single)
        raise InvalidSetting(f"--cross: {each} are {size} settings a metric, at most {MOST}; name fewer settings")
    return tuple(single)


def _lists(tried: Sequence[Factor], spoken: Sequence[str]) -> tuple[StopwordList, ...]:
    chosen: list[str] = []
    for one in tried:
        for setting in one.settings:
            words = one.split(setting).get("stopwords", NONE)
            chosen += [list_of(words, language) for language in spoken if words != NONE]
    return tuple(
        StopwordList(name, len(stopwords.load(name)), stopwords.digest(name)) for name in dict.fromkeys(chosen)
    )

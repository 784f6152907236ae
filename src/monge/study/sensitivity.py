"""How much does preprocessing move a result? Settings of factors, their spread, and whether the best is noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from monge.data import Judged, open_dataset
from monge.data.lines import StrPath
from monge.errors import InvalidSetting
from monge.study import metrics as asking
from monge.study.agreement import named
from monge.study.effects import Crossing, Effect, crossed, crossing, effect, points_of, tabled
from monge.study.factors import AGGREGATION, NONE, Factor, factors, list_of
from monge.study.moved import verdict
from monge.study.points import Corpus, Point, Run, Scores, languages, score_points
from monge.study.resampling import USUAL, Resampling
from monge.study.subset import sampled
from monge.text import stopwords

MOST = 512
"""The most points a metric of a full crossing."""


@dataclass(frozen=True)
class StopwordList:
    """A list that was used: how many words, and their hash."""

    name: str
    words: int
    digest: str


@dataclass(frozen=True)
class Sensitivity:
    """An effect a factor and metric, a crossing a metric where it was asked for, and what was used for them.

    `groups` counts judgements, `segments` the texts behind them; `sample` is the number of source segments a group
    that were drawn, where not all were taken. `signatures` are those of the metrics as asked for; `work` counts what
    the encoding passes cost.
    """

    dataset: str
    text: str
    level: str
    human: str
    statistic: str
    groups: dict[str, int]
    factors: tuple[Factor, ...]
    effects: tuple[Effect, ...]
    crossings: tuple[Crossing, ...]
    signatures: dict[str, tuple[str, ...]]
    lists: tuple[StopwordList, ...]
    corpora: tuple[Corpus, ...]
    work: dict[str, int]
    settings: int
    ddof: int
    resampling: Resampling
    segments: dict[str, int]
    sample: int | None = None
    warnings: tuple[str, ...] = ()

    @property
    def metrics(self) -> list[str]:
        """The metrics as asked for."""
        return list(self.signatures)

    @property
    def verdict(self) -> list[str]:
        """What was found in plain words, a sentence a factor and one a crossing."""
        return verdict(self.effects, self.crossings, self.statistic)

    def of(self, factor: str) -> list[Effect]:
        """The effects of a factor, a metric each."""
        return [one for one in self.effects if one.factor == factor]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Sensitivity:
        """The study whose JSON form this is."""
        plain = {name: data[name] for name in ("dataset", "text", "level", "human", "statistic", "work", "settings")}
        return cls(
            **plain,
            groups=dict(data["groups"]),
            factors=tuple(Factor(name, tuple(each)) for name, each in data["factors"].items()),
            effects=tuple(Effect.from_dict(one) for one in data["effects"]),
            crossings=tuple(Crossing.from_dict(one) for one in data["crossings"]),
            signatures={name: tuple(lines) for name, lines in data["signatures"].items()},
            lists=tuple(StopwordList(**one) for one in data["stopwords"]),
            corpora=tuple(Corpus(**one) for one in data["corpora"]),
            ddof=data["ddof"],
            resampling=Resampling(data["resamples"], data["confidence"], seed=data["seed"]),
            segments=dict(data["segments"]),
            sample=data["sample"],
            warnings=tuple(data["warnings"]),
        )

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "dataset": self.dataset,
            "text": self.text,
            "level": self.level,
            "human": self.human,
            "statistic": self.statistic,
            "groups": self.groups,
            "segments": self.segments,
            "sample": self.sample,
            "ddof": self.ddof,
            "seed": self.resampling.seed,
            "resamples": self.resampling.resamples,
            "confidence": self.resampling.confidence,
            "factors": {one.name: list(one.settings) for one in self.factors},
            "stopwords": [vars(one) for one in self.lists],
            "corpora": [vars(one) for one in self.corpora],
            "settings": self.settings,
            "work": self.work,
            "signatures": {name: list(lines) for name, lines in self.signatures.items()},
            "effects": [one.to_dict() for one in self.effects],
            "crossings": [one.to_dict() for one in self.crossings],
            "verdict": " ".join(self.verdict),
            "warnings": list(self.warnings),
        }


def sensitivity(
    dataset: str,
    data: StrPath,
    metrics: Sequence[str],
    factor: Sequence[str] = (),
    *,
    cross: bool = False,
    pairs: Sequence[str] | None = None,
    level: str = "segment",
    human: str | None = None,
    statistic: str | None = None,
    text: str = "raw",
    settings: Sequence[str] = (),
    lang: str | None = None,
    model: str = "auto",
    device: str = "auto",
    online: bool = False,
    ddof: int = 0,
    sample: int | None = None,
    resampling: Resampling = USUAL,
    cache: str | Path | None = None,
    progress: Callable[[int], None] | None = None,
    opened: Callable[[Sequence[Judged]], None] | None = None,
) -> Sensitivity:
    """The agreement of metrics with people under every setting of some factors, all from one encoding pass a group.

    `factor` has `stopwords,idf` (usual settings), `layers=4,5,6` or `idf=off,references,random:4x2000,FILE`, and joint
    factors `subwords+punctuation`. `cross` adds the full crossing of all of them with the aggregation
    (`transport=onesided,exact` unless given), and shares of variance. `ddof` is that of the CV. `sample` takes so many
    source segments of each group, drawn with the seed, instead of all.
    """
    if ddof not in (0, 1):
        raise InvalidSetting(f"ddof must be 0 (population) or 1 (sample), got {ddof}")
    asking.check(metrics, changes=settings, lang=lang)
    judged = open_dataset(dataset, data, pairs=pairs, level=level, human=human, text=text)
    judged = judged if sample is None else sampled(judged, sample, resampling.seed)
    spoken = list(languages(judged, lang))
    tried = factors(factor, spoken)
    wanted = named(statistic or judged.statistic, judged.kind)
    if opened is not None:
        opened([judged])
    design = _design(tried) if cross else ()
    tested = [Point(name) for name in metrics] + [
        point for name in metrics for one in tried for point in points_of(name, one)
    ]
    full = [point for name in metrics for point in crossed(name, design)] if cross else []
    draw = next((one.draw for one in tried if one.draw is not None), None)
    where = asking.Where(model, device, online)
    run = Run(tuple(settings), lang, where, draw, resampling.seed, cache, progress)
    scores, drawn, work = score_points(list(dict.fromkeys([*tested, *full])), judged, run)
    tables = tabled(judged, scores, wanted, tested, resampling)
    return Sensitivity(
        dataset=judged.dataset,
        text=judged.text,
        level=judged.level,
        human=judged.human,
        statistic=wanted,
        groups={name: judged.groups[name].n for name in tables.values},
        factors=tried,
        effects=tuple(
            effect(name, one, scores, tables, ddof=ddof, confidence=resampling.confidence)
            for one in tried
            for name in metrics
        ),
        crossings=tuple(crossing(name, design, tables) for name in metrics) if cross else (),
        signatures={name: scores[Point(name)].signatures for name in metrics},
        lists=_lists(tried, spoken),
        corpora=tuple(drawn),
        work=work,
        settings=_distinct(scores),
        ddof=ddof,
        resampling=resampling,
        segments={name: len(judged.groups[name].segments) for name in tables.values},
        sample=sample,
        warnings=(*judged.warnings, *tables.notes),
    )


def _design(tried: Sequence[Factor]) -> tuple[Factor, ...]:
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


def _distinct(scores: Scores) -> int:
    """How many different metrics were scored."""
    return len({tuple(id(part) for part in seen.parts) for seen in scores.values()})

"""What a sensitivity study found: effects, crossings and what was used for them; its JSON form and its tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from monge.render.cells import DASH, dashed, decimals, span
from monge.study.agreement import Resampling
from monge.study.sensitivity.effects import Crossing, Effect
from monge.study.sensitivity.factors import Factor, shown
from monge.study.sensitivity.points import Corpus
from monge.study.sensitivity.spread import Spread
from monge.study.sensitivity.verdict import verdict
from monge.types.table import Cell, Sheet


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

    def sheets(self) -> list[Sheet]:
        """What moved most, a table a factor, and the shares of a full crossing."""
        found = [_summary(self), *(_factor(self, one.name) for one in self.factors)]
        return [*found, _shares(self), _groups(self)] if self.crossings else found

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


def _deviation(found: Sensitivity) -> str:
    return f"ddof {found.ddof} ({'population' if found.ddof == 0 else 'sample'})"


def _sample(found: Sensitivity) -> str:
    if found.sample is None:
        return ""
    return f", a sample of {found.sample} source segments each (seed {found.resampling.seed})"


def _summary(found: Sensitivity) -> Sheet:
    """Mean CV of every factor and metric, RD of the worst against the best under it; the verdict below."""
    names = [one.name for one in found.factors]
    effects = {(one.factor, one.metric): one for one in found.effects}
    rows = []
    for metric in found.metrics:
        mine = [effects[name, metric] for name in names]
        rows.append((Cell(metric), *(Cell(dashed(one.cv), f"RD {dashed(one.rd)}") for one in mine)))
    work = ", ".join(f"{value:,} {name}" for name, value in found.work.items())
    notes = [
        *found.verdict,
        f"{sum(found.groups.values())} judgements of {sum(found.segments.values())} texts in {len(found.groups)} "
        f"group(s){_sample(found)}; {found.settings} settings from one encoding pass a group ({work})",
        *(f"stopword list {Path(one.name).name}: {one.words} words, #{one.digest}" for one in found.lists),
        *(f"idf corpus {one.name} ({one.language}): {one.texts} texts, #{one.digest}" for one in found.corpora),
        f"CV: {_deviation(found)}, {DASH} where the mean is 0 or less; RD: worst against best setting; both in %, mean "
        f"over groups; beyond noise: the {found.resampling.confidence:.0%} interval of the difference leaves 0 out "
        f"(paired bootstrap, {found.resampling.resamples} resamples, seed {found.resampling.seed})",
    ]
    return Sheet(
        f"{found.dataset} ({found.text} text), {found.statistic} with {found.human}, {found.level} level: "
        "CV in % over the settings of each factor",
        ("metric", *names),
        tuple(rows),
        tuple(notes),
        tuple(line for lines in found.signatures.values() for line in lines),
    )


def _factor(found: Sensitivity, name: str) -> Sheet:
    """A row a metric and setting; under them how far apart they are, and the lead of the best."""
    groups = list(found.groups)
    rows: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    for one in found.of(name):
        rows += _levels(one, groups)
        rows += _spreads(one, groups)
        for level in one.levels:
            if level.flagged:
                counted = ", ".join(f"{count} {flag}" for flag, count in level.flagged.items())
                notes.append(f"{one.metric}, {shown(level.setting)}: {counted}")
    bests = {
        one.metric: Counter(shown(spread.best) for spread in one.spreads.values()).most_common()
        for one in found.of(name)
    }
    for metric, counts in bests.items():
        notes.append(f"best with {metric}: " + ", ".join(f"{setting} in {count}" for setting, count in counts))
    return Sheet(
        f"{name}: {found.statistic} by setting",
        ("metric", "setting", *groups, "mean"),
        tuple(rows),
        tuple(notes),
        words=2,
        tied=f"best, but its lead over the runner-up is no more than noise; CV and RD in %, {_deviation(found)}",
    )


def _levels(one: Effect, groups: Sequence[str]) -> list[tuple[Cell, ...]]:
    rows = []
    for level in one.levels:
        label = shown(level.setting) + (" (default)" if level.default else "")
        cells = [_value(level.values[name], level.setting, one.spreads[name]) for name in groups]
        rows.append((Cell(one.metric), Cell(label), *cells, _value(level.mean, level.setting, one.mean)))
    return rows


def _value(value: float, setting: str, spread: Spread) -> Cell:
    mark = ("best" if spread.lead.sign > 0 else "tied") if setting == spread.best else ""
    return Cell(decimals(value), "", mark)


def _spreads(one: Effect, groups: Sequence[str]) -> list[tuple[Cell, ...]]:
    spreads = [one.spreads[name] for name in groups]

    def row(label: str, cells: Sequence[str]) -> tuple[Cell, ...]:
        return Cell(""), Cell(label), *(Cell(cell) for cell in cells)

    rows = [row("CV", [*(dashed(each.cv) for each in spreads), dashed(one.cv)])]
    if one.cv_corpora is not None:
        rows.append(row("CV of corpora", [*(dashed(each.cv_corpora) for each in spreads), dashed(one.cv_corpora)]))
    rows.append(row("RD worst, best", [*(dashed(each.rd) for each in spreads), dashed(one.rd)]))
    rows.append(row("range", [dashed(each.range, 3) for each in (*spreads, one.mean)]))
    leads = [each.lead for each in (*spreads, one.mean)]
    rows.append(row("lead of best", [dashed(lead.difference, 3) for lead in leads]))
    rows.append(row("", [span(lead.low, lead.high) for lead in leads]))
    return rows


def _shares(found: Sensitivity) -> Sheet:
    names = list(found.crossings[0].settings)
    rows = []
    for one in found.crossings:
        values = [one.shares.get(name) for name in names]
        cells = [dashed(None if value is None else 100 * value, 1) for value in [*values, one.residual]]
        rows.append((Cell(one.metric), *(Cell(cell) for cell in cells)))
    settings = "; ".join(
        f"{name}: {', '.join(shown(one) for one in each)}" for name, each in found.crossings[0].settings.items()
    )
    return Sheet(
        f"full crossing: share of the variance of {found.statistic} in %, mean over groups",
        ("metric", *names, "interactions"),
        tuple(rows),
        (f"settings: {settings}",),
    )


def _groups(found: Sensitivity) -> Sheet:
    names = list(found.crossings[0].settings)
    rows = []
    for one in found.crossings:
        for group, shares in one.groups.items():
            values = (
                [*(shares.shares[name] for name in names), shares.residual] if shares else [None] * (len(names) + 1)
            )
            cells = [Cell(dashed(None if value is None else 100 * value, 1)) for value in values]
            rows.append((Cell(one.metric), Cell(group), *cells, Cell(" ".join(shown(s) for s in one.best[group]))))
    head = ("metric", "group", *names, "interactions", "best setting")
    return Sheet("full crossing by group", head, tuple(rows), words=2)

"""What a sensitivity study found: effects, crossings and what was used for them; its JSON form and its tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from monge.render.cells import DASH, dashed, decimals, span
from monge.study.agreement import Resampling
from monge.study.sensitivity.effects import EQUAL, Contrast, Crossing, Effect, Spread, mean_of
from monge.study.sensitivity.factors import AGGREGATION, Factor, shown
from monge.study.sensitivity.points import Corpus
from monge.types.table import Cell, Sheet, Span

_SAME = ("dataset", "text", "level", "human", "statistic")
"""What was asked, under the same names in the JSON form."""


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
        found = [
            _moved(self),
            _summary(self),
            _bests_table(self),
            *(_by_setting(self, one.name) for one in self.factors),
        ]
        return [*found, _shares(self), _groups(self)] if self.crossings else found

    def of(self, factor: str) -> list[Effect]:
        """The effects of a factor, a metric each."""
        return [one for one in self.effects if one.factor == factor]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Sensitivity:
        """The study whose JSON form this is."""
        same = (*_SAME, "groups", "segments", "sample", "ddof", "work", "settings")
        return cls(
            **{name: data[name] for name in same},
            factors=tuple(Factor(name, tuple(each)) for name, each in data["factors"].items()),
            effects=tuple(Effect.from_dict(one) for one in data["effects"]),
            crossings=tuple(Crossing.from_dict(one) for one in data["crossings"]),
            signatures={name: tuple(lines) for name, lines in data["signatures"].items()},
            lists=tuple(StopwordList(**one) for one in data["stopwords"]),
            corpora=tuple(Corpus(**one) for one in data["corpora"]),
            resampling=Resampling(data["resamples"], data["confidence"], seed=data["seed"]),
            warnings=tuple(data["warnings"]),
        )

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        how = {name: getattr(self.resampling, name) for name in ("seed", "resamples", "confidence")}
        return {
            **{name: getattr(self, name) for name in (*_SAME, "groups", "segments", "sample", "ddof")},
            **how,
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


def _moved(found: Sensitivity) -> Sheet:
    """What was found in plain words, then the factors, the one that moves most first: mean CV, drawn from 0."""
    moved = {one.name: mean_of([effect.cv for effect in found.of(one.name)]) for one in found.factors}
    order = sorted(moved, key=lambda name: -(moved[name] or 0.0))
    rows = []
    for name in order:
        row = [Cell(name)]
        for one in found.of(name):
            drawn = None if one.cv is None else Span(0.0, one.cv, one.cv)
            row += [Cell(dashed(one.cv)), Cell("", span=drawn)]
        rows.append(tuple(row))
    head = ["factor"]
    for metric in found.metrics:
        head += [metric, ""]
    title = f"How much preprocessing moves {found.statistic} with {found.human}: CV in %, mean over groups"
    first, *rest = found.verdict
    return Sheet(title, tuple(head), tuple(rows), tuple(rest), said=(first,), zero=True)


def _bests_table(found: Sensitivity) -> Sheet:
    """In how many groups each setting is the best, a row a metric and factor."""
    rows = []
    for factor in found.factors:
        for one in found.of(factor.name):
            counts = Counter(shown(spread.best) for spread in one.spreads.values()).most_common()
            told = ", ".join(f"{setting} (in {count} of {len(one.spreads)})" for setting, count in counts)
            rows.append((Cell(factor.name), Cell(one.metric), Cell(told)))
    head = ("factor", "metric", "best setting (in how many groups)")
    return Sheet("Which setting is best", head, tuple(rows), words=3, grouped=True)


def _summary(found: Sensitivity) -> Sheet:
    """Mean CV of every factor and metric, RD of the worst against the best under it."""
    names = [one.name for one in found.factors]
    effects = {(one.factor, one.metric): one for one in found.effects}
    rows = []
    for metric in found.metrics:
        mine = [effects[name, metric] for name in names]
        rows.append((Cell(metric), *(Cell(dashed(one.cv), f"RD {dashed(one.rd)}") for one in mine)))
    work = ", ".join(f"{value:,} {name}" for name, value in found.work.items())
    notes = [
        f"{sum(found.groups.values())} judgements of {sum(found.segments.values())} texts in {len(found.groups)} "
        f"group{'s' * (len(found.groups) != 1)}{_sample(found)}; {found.settings} settings from one encoding pass a "
        f"group ({work})",
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


def _by_setting(found: Sensitivity, name: str) -> Sheet:
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
    for one in found.of(name):
        counts = Counter(shown(spread.best) for spread in one.spreads.values()).most_common()
        notes.append(f"best with {one.metric}: " + ", ".join(f"{setting} in {count}" for setting, count in counts))
    return Sheet(
        f"{name}: {found.statistic} by setting",
        ("metric", "setting", *groups, "mean"),
        tuple(rows),
        tuple(notes),
        words=2,
        folded=True,
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
    rows.append(row("its interval", [span(lead.low, lead.high) for lead in leads]))
    return rows


def _shares(found: Sensitivity) -> Sheet:
    names = list(found.crossings[0].settings)
    rows = [
        (Cell(one.metric), *map(_percent, [*(one.shares.get(name) for name in names), one.residual]))
        for one in found.crossings
    ]
    settings = "; ".join(
        f"{name}: {', '.join(shown(one) for one in each)}" for name, each in found.crossings[0].settings.items()
    )
    return Sheet(
        f"full crossing: share of the variance of {found.statistic} in %, mean over groups",
        ("metric", *names, "interactions"),
        tuple(rows),
        (f"settings: {settings}",),
    )


def _percent(share: float | None) -> Cell:
    return Cell(dashed(None if share is None else 100 * share, 1))


def _groups(found: Sensitivity) -> Sheet:
    names = list(found.crossings[0].settings)
    rows = []
    for one in found.crossings:
        for group, shares in one.groups.items():
            values = [*shares.shares.values(), shares.residual] if shares else [None] * (len(names) + 1)
            best = " ".join(shown(setting) for setting in one.best[group])
            rows.append((Cell(one.metric), Cell(group), *map(_percent, values), Cell(best)))
    head = ("metric", "group", *names, "interactions", "best setting")
    return Sheet("full crossing by group", head, tuple(rows), words=2, folded=True)


def verdict(effects: Sequence[Effect], crossings: Sequence[Crossing], statistic: str) -> list[str]:
    """What orders the factors, then a paragraph a factor, and one a crossing."""
    names = list(dict.fromkeys(one.factor for one in effects))
    lines = [_order(names, effects)] if len(names) > 1 else []
    lines += [_factor(name, [one for one in effects if one.factor == name], statistic) for name in names]
    return [*lines, *(_crossed(one, statistic) for one in crossings)]


def percent(value: float | None, digits: int = 2) -> str:
    """A percentage as sentences print it."""
    return "undefined" if value is None else f"{round(value, digits) + 0.0:.{digits}f} %"


def contrasts(effect: Effect) -> list[Contrast]:
    """Every other setting against the default, in every group."""
    others = [level.versus for level in effect.levels if not level.default]
    return [one for versus in others for name, one in versus.items() if name in effect.spreads]


def _factor(name: str, effects: Sequence[Effect], statistic: str) -> str:
    mean = mean_of([one.cv for one in effects])
    by_metric = ", ".join(f"{one.metric} {percent(one.cv)}" for one in effects)
    each = [(spread.cv, group, one.metric) for one in effects for group, spread in one.spreads.items()]
    known = [(cv, group, metric) for cv, group, metric in each if cv is not None]
    text = f"{name}: its settings move {statistic} by {percent(mean)} on average"
    text += f" ({by_metric})" if len(effects) > 1 else ""
    if len({group for _, group, _ in each}) > 1 and known:
        most, group, metric = max(known)
        where = f" with {metric}" if len(effects) > 1 else ""
        text += f", most on {group}{where} ({percent(most)})"
    if len(known) < len(each):
        text += f", CV undefined in {len(each) - len(known)} of {len(each)} cases"
    return f"{text}. {_directions(effects)}. {_bests(effects)}."


def _directions(effects: Sequence[Effect]) -> str:
    found = [one for effect in effects for one in contrasts(effect)]
    worse = [one for one in found if one.difference < -EQUAL]
    better = [one for one in found if one.difference > EQUAL]
    sure = sum(one.sign < 0 for one in worse), sum(one.sign > 0 for one in better)
    if not worse and not better:
        return "No setting differs from the default"
    if sum(sure) == 0:
        return f"No other setting differs from the default by more than noise ({len(found)} comparisons)"
    return (
        f"Of {len(found)} comparisons of another setting with the default, {len(worse)} are for the worse ({sure[0]} "
        f"beyond noise) and {len(better)} for the better ({sure[1]} beyond noise)"
    )


def _bests(effects: Sequence[Effect]) -> str:
    cases = [(spread, effect.default.setting) for effect in effects for spread in effect.spreads.values()]
    own = sum(spread.best == default for spread, default in cases)
    sure = sum(spread.lead.sign > 0 for spread, _ in cases)
    if len(cases) == 1:
        best = "the default" if own else f"“{shown(cases[0][0].best)}”"
        return f"Best is {best}, {'ahead of the next by' if sure else 'but ahead of the next by no'} more than noise"
    return (
        f"The default comes out best in {own} of {len(cases)} cases (a metric and a group each); the best is ahead of "
        f"the next by more than noise in {sure}"
    )


def _order(names: Sequence[str], effects: Sequence[Effect]) -> str:
    moved = {name: mean_of([one.cv for one in effects if one.factor == name]) for name in names}
    known = sorted(((cv, name) for name, cv in moved.items() if cv is not None), reverse=True)
    listed = ", then ".join(f"{name} ({percent(cv)})" for cv, name in known)
    return f"What moves it most: {listed}." if known else "No factor has a defined CV."


def _crossed(one: Crossing, statistic: str) -> str:
    if not one.shares:
        return f"Full crossing, {one.metric}: nothing varies."
    size = prod(len(settings) for settings in one.settings.values())
    ranked = sorted(one.shares.items(), key=lambda item: -item[1])
    shares = ", ".join(f"{name} {percent(100 * share, 1)}" for name, share in ranked)
    text = (
        f"Full crossing, {one.metric}: of the variance of {statistic} over {size} settings the main effects explain "
        f"{shares}; interactions {percent(100 * one.residual, 1)}"
    )
    if AGGREGATION in one.shares:
        more, cases = one.heavier()
        rest = sum(one.shares.values()) - one.shares[AGGREGATION]
        text += (
            f"; preprocessing ({percent(100 * rest, 1)}) outweighs the aggregation "
            f"({percent(100 * one.shares[AGGREGATION], 1)}) in {more} of {cases} groups"
        )
    return text + "."

"""The result of a sensitivity study: effects, crossings and inputs, as JSON and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from monge.evaluation.agreement import Resampling
from monge.evaluation.sensitivity.effects import Crossing, Effect, Spread, mean_of
from monge.evaluation.sensitivity.factors import Factor, shown
from monge.evaluation.sensitivity.findings import verdict
from monge.evaluation.sensitivity.points import DrawnCorpus
from monge.render.cells import DASH, dashed, number_cell, span
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
    """The effects per factor and metric, the crossings if requested, and the data used.

    `groups` counts judgements, `segments` the texts behind them; `sample` is the number of source
    segments a group that were drawn, where not all were taken. `signatures` are those of the
    metrics as asked for; `work` counts what the encoding passes cost.
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
    corpora: tuple[DrawnCorpus, ...]
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
        """The findings in sentences, one per factor and one per crossing."""
        return verdict(self.effects, self.crossings, self.statistic)

    def sheets(self) -> list[Sheet]:
        """Return the factors by effect, one table per factor, and the shares of a full crossing."""
        sheets = [
            _factors_sheet(self),
            _summary_sheet(self),
            _bests_sheet(self),
            *(_settings_sheet(self, factor.name) for factor in self.factors),
        ]
        return [*sheets, _shares_sheet(self), _groups_sheet(self)] if self.crossings else sheets

    def of(self, factor: str) -> list[Effect]:
        """Return the effects of a factor, one per metric."""
        return [effect for effect in self.effects if effect.factor == factor]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Sensitivity:
        """Return the study whose JSON form this is."""
        same = (*_SAME, "groups", "segments", "sample", "ddof", "work", "settings")
        return cls(
            **{name: data[name] for name in same},
            factors=tuple(
                Factor(name, tuple(settings)) for name, settings in data["factors"].items()
            ),
            effects=tuple(Effect.from_dict(record) for record in data["effects"]),
            crossings=tuple(Crossing.from_dict(record) for record in data["crossings"]),
            signatures={name: tuple(lines) for name, lines in data["signatures"].items()},
            lists=tuple(StopwordList(**record) for record in data["stopwords"]),
            corpora=tuple(DrawnCorpus(**record) for record in data["corpora"]),
            resampling=Resampling(data["resamples"], data["confidence"], seed=data["seed"]),
            warnings=tuple(data["warnings"]),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        how = {name: getattr(self.resampling, name) for name in ("seed", "resamples", "confidence")}
        return {
            **{
                name: getattr(self, name)
                for name in (*_SAME, "groups", "segments", "sample", "ddof")
            },
            **how,
            "factors": {factor.name: list(factor.settings) for factor in self.factors},
            "stopwords": [vars(stopword_list) for stopword_list in self.lists],
            "corpora": [vars(corpus) for corpus in self.corpora],
            "settings": self.settings,
            "work": self.work,
            "signatures": {name: list(lines) for name, lines in self.signatures.items()},
            "effects": [effect.to_dict() for effect in self.effects],
            "crossings": [crossing.to_dict() for crossing in self.crossings],
            "verdict": " ".join(self.verdict),
            "warnings": list(self.warnings),
        }


def _name_deviation(sensitivity: Sensitivity) -> str:
    return f"ddof {sensitivity.ddof} ({'population' if sensitivity.ddof == 0 else 'sample'})"


def _describe_sample(sensitivity: Sensitivity) -> str:
    if sensitivity.sample is None:
        return ""
    return (
        f", a sample of {sensitivity.sample} source segments each (seed "
        f"{sensitivity.resampling.seed})"
    )


def _factors_sheet(sensitivity: Sensitivity) -> Sheet:
    """Return the verdict and the factors by mean CV, the largest first."""
    moved = {
        factor.name: mean_of([effect.cv for effect in sensitivity.of(factor.name)])
        for factor in sensitivity.factors
    }
    order = sorted(moved, key=lambda name: -(moved[name] or 0.0))
    rows = []
    for name in order:
        row = [Cell(name)]
        for effect in sensitivity.of(name):
            interval = None if effect.cv is None else Span(0.0, effect.cv, effect.cv)
            row += [Cell(dashed(effect.cv)), Cell("", span=interval)]
        rows.append(tuple(row))
    head = ["factor"]
    for metric in sensitivity.metrics:
        head += [metric, ""]
    title = (
        f"How much preprocessing moves {sensitivity.statistic} with {sensitivity.human}: CV "
        "in %, mean over groups"
    )
    first, *rest = sensitivity.verdict
    return Sheet(title, tuple(head), tuple(rows), tuple(rest), said=(first,), zero=True)


def _bests_sheet(sensitivity: Sensitivity) -> Sheet:
    """Return in how many groups each setting is the best, one row per metric and factor."""
    rows = []
    for factor in sensitivity.factors:
        for effect in sensitivity.of(factor.name):
            counts = Counter(shown(spread.best) for spread in effect.spreads.values()).most_common()
            bests = ", ".join(
                f"{setting} (in {count} of {len(effect.spreads)})" for setting, count in counts
            )
            rows.append((Cell(factor.name), Cell(effect.metric), Cell(bests)))
    head = ("factor", "metric", "best setting (in how many groups)")
    return Sheet("Which setting is best", head, tuple(rows), words=3, grouped=True)


def _summary_sheet(sensitivity: Sensitivity) -> Sheet:
    """Return each factor's mean CV per metric, and RD of the worst against the best."""
    names = [factor.name for factor in sensitivity.factors]
    effects = {(effect.factor, effect.metric): effect for effect in sensitivity.effects}
    rows = []
    for metric in sensitivity.metrics:
        metric_effects = [effects[name, metric] for name in names]
        cells = (Cell(dashed(effect.cv), f"RD {dashed(effect.rd)}") for effect in metric_effects)
        rows.append((Cell(metric), *cells))
    return Sheet(
        f"{sensitivity.dataset} ({sensitivity.text} text), {sensitivity.statistic} with "
        f"{sensitivity.human}, {sensitivity.level} level: CV in % over the settings of each factor",
        ("metric", *names),
        tuple(rows),
        tuple(_summary_notes(sensitivity)),
        tuple(line for lines in sensitivity.signatures.values() for line in lines),
    )


def _summary_notes(sensitivity: Sensitivity) -> list[str]:
    """Return what was judged, which lists and corpora were used, and what the figures are."""
    work = ", ".join(f"{value:,} {name}" for name, value in sensitivity.work.items())
    return [
        f"{sum(sensitivity.groups.values())} judgements of {sum(sensitivity.segments.values())} "
        f"texts in {len(sensitivity.groups)} "
        f"group{'s' * (len(sensitivity.groups) != 1)}{_describe_sample(sensitivity)}; "
        f"{sensitivity.settings} settings from one encoding pass a group ({work})",
        *(
            f"stopword list {Path(stopword_list.name).name}: {stopword_list.words} words, "
            f"#{stopword_list.digest}"
            for stopword_list in sensitivity.lists
        ),
        *(
            f"idf corpus {corpus.name} ({corpus.language}): {corpus.texts} texts, #{corpus.digest}"
            for corpus in sensitivity.corpora
        ),
        f"CV: {_name_deviation(sensitivity)}, {DASH} where the mean is 0 or less; RD: worst "
        "against best setting; both in %, mean over groups; beyond noise: the "
        f"{sensitivity.resampling.confidence:.0%} interval of the difference leaves 0 out (paired "
        f"bootstrap, {sensitivity.resampling.resamples} resamples, seed "
        f"{sensitivity.resampling.seed})",
    ]


def _settings_sheet(sensitivity: Sensitivity, name: str) -> Sheet:
    """Return one row per metric and setting, then their spread and the lead of the best."""
    groups = list(sensitivity.groups)
    rows: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    for effect in sensitivity.of(name):
        rows += _level_rows(effect, groups)
        rows += _spread_rows(effect, groups)
        for level in effect.levels:
            if level.flagged:
                flags = ", ".join(f"{count} {flag}" for flag, count in level.flagged.items())
                notes.append(f"{effect.metric}, {shown(level.setting)}: {flags}")
    for effect in sensitivity.of(name):
        counts = Counter(shown(spread.best) for spread in effect.spreads.values()).most_common()
        notes.append(
            f"best with {effect.metric}: "
            + ", ".join(f"{setting} in {count}" for setting, count in counts)
        )
    return Sheet(
        f"{name}: {sensitivity.statistic} by setting",
        ("metric", "setting", *groups, "mean"),
        tuple(rows),
        tuple(notes),
        words=2,
        folded=True,
        tied="best, but its lead over the runner-up is no more than noise; "
        f"CV and RD in %, {_name_deviation(sensitivity)}",
    )


def _level_rows(effect: Effect, groups: Sequence[str]) -> list[tuple[Cell, ...]]:
    rows = []
    for level in effect.levels:
        label = shown(level.setting) + (" (default)" if level.default else "")
        cells = [
            _value_cell(level.values[name], level.setting, effect.spreads[name]) for name in groups
        ]
        rows.append(
            (
                Cell(effect.metric),
                Cell(label),
                *cells,
                _value_cell(level.mean, level.setting, effect.mean),
            )
        )
    return rows


def _value_cell(value: float, setting: str, spread: Spread) -> Cell:
    mark = ("best" if spread.lead.sign > 0 else "tied") if setting == spread.best else ""
    return number_cell(value, digits=3, mark=mark)


def _spread_rows(effect: Effect, groups: Sequence[str]) -> list[tuple[Cell, ...]]:
    spreads = [effect.spreads[name] for name in groups]

    def row(label: str, cells: Sequence[str]) -> tuple[Cell, ...]:
        return Cell(""), Cell(label), *(Cell(cell) for cell in cells)

    rows = [row("CV", [*(dashed(spread.cv) for spread in spreads), dashed(effect.cv)])]
    if effect.cv_corpora is not None:
        rows.append(
            row(
                "CV of corpora",
                [*(dashed(spread.cv_corpora) for spread in spreads), dashed(effect.cv_corpora)],
            )
        )
    rows.append(
        row("RD worst, best", [*(dashed(spread.rd) for spread in spreads), dashed(effect.rd)])
    )
    rows.append(row("range", [dashed(spread.range, 3) for spread in (*spreads, effect.mean)]))
    leads = [spread.lead for spread in (*spreads, effect.mean)]
    rows.append(row("lead of best", [dashed(lead.difference, 3) for lead in leads]))
    rows.append(row("its interval", [span(lead.low, lead.high) for lead in leads]))
    return rows


def _shares_sheet(sensitivity: Sensitivity) -> Sheet:
    names = list(sensitivity.crossings[0].settings)
    rows = [
        (
            Cell(crossing.metric),
            *map(
                _percent_cell, [*(crossing.shares.get(name) for name in names), crossing.residual]
            ),
        )
        for crossing in sensitivity.crossings
    ]
    settings = "; ".join(
        f"{name}: {', '.join(shown(setting) for setting in values)}"
        for name, values in sensitivity.crossings[0].settings.items()
    )
    return Sheet(
        f"full crossing: share of the variance of {sensitivity.statistic} in %, mean over groups",
        ("metric", *names, "interactions"),
        tuple(rows),
        (f"settings: {settings}",),
    )


def _percent_cell(share: float | None) -> Cell:
    return Cell(dashed(None if share is None else 100 * share, 1))


def _groups_sheet(sensitivity: Sensitivity) -> Sheet:
    names = list(sensitivity.crossings[0].settings)
    rows = []
    for crossing in sensitivity.crossings:
        for group, shares in crossing.groups.items():
            values = (
                [*shares.shares.values(), shares.residual] if shares else [None] * (len(names) + 1)
            )
            best = " ".join(shown(setting) for setting in crossing.best[group])
            rows.append(
                (Cell(crossing.metric), Cell(group), *map(_percent_cell, values), Cell(best))
            )
    head = ("metric", "group", *names, "interactions", "best setting")
    return Sheet("full crossing by group", head, tuple(rows), words=2, folded=True)

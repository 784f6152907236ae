"""A sensitivity study as a string: what moved most, a table a factor, and the shares of a full crossing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from monge.errors import UnknownName
from monge.render.checks import dumps
from monge.render.sheets import DASH, SHEET_FORMATS, STUDY_FORMATS, Cell, Sheet, decimals, sheets_text, span

if TYPE_CHECKING:
    from monge.study.effects import Effect
    from monge.study.sensitivity import Sensitivity
    from monge.study.spread import Spread


def render_sensitivity(found: Sensitivity, form: str, *, version: str, colour: bool = False) -> str:
    """The study in a format of `STUDY_FORMATS`."""
    if form not in STUDY_FORMATS:
        raise UnknownName("format", form, STUDY_FORMATS)
    if form == "json":
        return dumps({"monge": version, "sensitivity": found.to_dict()}) + "\n"
    sheets = [_summary(found), *(_factor(found, one.name) for one in found.factors)]
    if found.crossings:
        sheets += [_shares(found), _groups(found)]
    return sheets_text(sheets, colour=colour) if form == "text" else SHEET_FORMATS[form](sheets)


def _number(value: float | None, digits: int = 2) -> str:
    return DASH if value is None else decimals(value, digits)


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
        rows.append((Cell(metric), *(Cell(_number(one.cv), f"RD {_number(one.rd)}") for one in mine)))
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
                notes.append(f"{one.metric}, {_shown(level.setting)}: {counted}")
    bests = {
        one.metric: Counter(_shown(spread.best) for spread in one.spreads.values()).most_common()
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


def _shown(setting: str) -> str:
    return Path(setting).name if "/" in setting else setting


def _levels(one: Effect, groups: Sequence[str]) -> list[tuple[Cell, ...]]:
    rows = []
    for level in one.levels:
        label = _shown(level.setting) + (" (default)" if level.default else "")
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

    rows = [row("CV", [*(_number(each.cv) for each in spreads), _number(one.cv)])]
    if one.cv_corpora is not None:
        rows.append(row("CV of corpora", [*(_number(each.cv_corpora) for each in spreads), _number(one.cv_corpora)]))
    rows.append(row("RD worst, best", [*(_number(each.rd) for each in spreads), _number(one.rd)]))
    rows.append(row("range", [_number(each.range, 3) for each in (*spreads, one.mean)]))
    leads = [each.lead for each in (*spreads, one.mean)]
    rows.append(row("lead of best", [_number(lead.difference, 3) for lead in leads]))
    rows.append(row("", [span(lead.low, lead.high) for lead in leads]))
    return rows


def _shares(found: Sensitivity) -> Sheet:
    names = list(found.crossings[0].settings)
    rows = []
    for one in found.crossings:
        values = [one.shares.get(name) for name in names]
        cells = [_number(None if value is None else 100 * value, 1) for value in [*values, one.residual]]
        rows.append((Cell(one.metric), *(Cell(cell) for cell in cells)))
    settings = "; ".join(
        f"{name}: {', '.join(_shown(one) for one in each)}" for name, each in found.crossings[0].settings.items()
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
            cells = [Cell(_number(None if value is None else 100 * value, 1)) for value in values]
            rows.append((Cell(one.metric), Cell(group), *cells, Cell(" ".join(_shown(s) for s in one.best[group]))))
    head = ("metric", "group", *names, "interactions", "best setting")
    return Sheet("full crossing by group", head, tuple(rows), words=2)

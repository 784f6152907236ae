"""The parts of a report as data: what each says, its tables, its charts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from monge.evaluation.comparison import DOTS
from monge.render.cells import dashed, decimals, listed, number, span
from monge.render.charts import Hill, density, histogram, ridges
from monge.report.material import Material
from monge.stats import UndefinedError, pearson
from monge.types import Array
from monge.types.flags import describe_flag
from monge.types.table import Cell, Sheet, Span

BUCKETS = 4
LISTED = 10
MOST_PAIRS = 12
MOST_MATRIX = 25
MOST_ACROSS = 6
"""Systems beside each other in a table; more stand below each other."""


@dataclass(frozen=True)
class Section:
    """A part of a report: its name in the page, a title, sentences, tables and charts (HTML).

    `brief`: the tables that a summary for a paper has; `folded` ones stand behind a click on
    `more`.
    """

    key: str
    title: str
    said: tuple[str, ...] = ()
    sheets: tuple[Sheet, ...] = ()
    folded: tuple[Sheet, ...] = ()
    more: str = ""
    charts: tuple[str, ...] = field(default=(), repr=False)
    brief: bool = True


def sections(material: Material) -> list[Section]:
    """Return all parts about scores that the material allows, in order."""
    several = len(material.systems) > 1
    parts = [ranking(material)]
    if several:
        parts += [differences(material), wins(material)]
    parts.append(distributions(material))
    if len(material.metrics) > 1:
        parts.append(metrics_apart(material))
    parts.append(buckets(material))
    return parts


def _arrow(material: Material, k: int) -> str:
    return f"{material.metrics[k]} {'↑' if material.standings[k].higher_is_better else '↓'}"


def _others(material: Material) -> str:
    """What is behind a click where the first metric alone is shown."""
    return f"The same by {listed(material.metrics[1:])}" if len(material.metrics) > 1 else ""


def directed(material: Material, k: int) -> str:
    """Return the name of a metric on an axis on which higher is better."""
    return f"{'' if material.standings[k].higher_is_better else '−'}{material.metrics[k]}"


def ranking(material: Material) -> Section:
    """Return a table a metric: systems, best first, with score, interval and cluster."""
    sheets = []
    several = len(material.systems) > 1
    for k, standings in enumerate(material.standings):
        rows = []
        for s in standings.ranked:
            system_score = standings.systems[s]
            score = standings.cell(s)
            interval_cell = Cell(
                "",
                score.detail,
                span=Span(system_score.low, system_score.score, system_score.high),
                short_detail=score.short_detail,
            )
            score_cell = Cell(score.text, mark=score.mark if several else "", short=score.short)
            words = standings.name_cell(system_score.system), score_cell, interval_cell
            rows.append((*words, *([Cell(str(system_score.cluster))] if several else [])))
        head = ("system", "score", "interval", *(["cluster"] if several else []))
        title = (
            f"{_arrow(material, k)}, {standings.of.removesuffix(' of segments')} of "
            f"{standings.n} segments"
        )
        sheets.append(Sheet(title, head, tuple(rows), signatures=(standings.signature,)))
    resampling = material.comparison.resampling
    note = resampling.note[:1].upper() + resampling.note[1:]
    how = (
        "Bold: the best system. Underlined: several systems share the first place. Systems with "
        f"the same cluster number cannot be told apart (paired {resampling.test}, two-sided, "
        f"corrected by Holm over all pairs, level {resampling.alpha:g}). {note}."
    )
    sentences = (*material.comparison.told, how if several else f"{note}.")
    return Section("ranking", "Ranking" if several else "Scores", sentences, tuple(sheets))


def differences(material: Material) -> Section:
    """Return every two systems: difference with interval, and whether it is more than chance."""
    sheets = []
    for k, standings in enumerate(material.standings):
        rows = []
        for pair in standings.pairs:
            better = material.comparison.better(standings, pair)
            sure = Span(pair.low, pair.difference, pair.high, sure=bool(better))
            interval_cell = Cell(
                "", span(pair.low, pair.high, standings.difference_digits), span=sure
            )
            p = material.comparison.p_cells(pair)[
                3 if material.comparison.resampling.test == "permutation" else 1
            ]
            both = [standings.name_cell(name).short for name in (pair.first, pair.second)]
            names = (
                Cell(" − ".join(both)),
                standings.name_cell(better) if better else Cell("neither"),
            )
            rows.append((*names, standings.difference_cell(pair), interval_cell, p))
        head = ("difference of", "better", "difference", "interval", "p (Holm)")
        sheets.append(Sheet(_arrow(material, k), head, tuple(rows), words=2, zero=True))
    sentences = (f"{DOTS[:1].upper()}{DOTS[1:]}.",)
    first = 1 if len(sheets[0].rows) <= MOST_PAIRS else 0
    more = (
        _others(material)
        if first
        else f"All {len(sheets[0].rows)} differences by {listed(material.metrics)}"
    )
    parts = tuple(sheets[:first]), tuple(sheets[first:])
    return Section("differences", "Differences", sentences, *parts, more=more, brief=False)


def wins(material: Material) -> Section:
    """Count how often the system of a row is better, equal and worse than that of a column."""
    order = material.order[:MOST_MATRIX]
    sheets = []
    for k in range(len(material.metrics)):
        rounded = np.round(material.better[k], 4)
        rows = []
        for s in order:
            cells = [Cell(material.names[s])]
            for t in order:
                more = int((rounded[s] > rounded[t]).sum())
                less = int((rounded[s] < rounded[t]).sum())
                text = "" if s == t else f"{more} / {material.items - more - less} / {less}"
                cells.append(Cell(text, mark="best" if more > less and s != t else ""))
            rows.append(tuple(cells))
        sheets.append(
            Sheet(_arrow(material, k), ("system", *(material.names[t] for t in order)), tuple(rows))
        )
    sentences = (
        "In how many segments the system of the row is better / equal / worse than the system of "
        "the column (equal: to four decimals). Bold: better more often than worse.",
    )
    parts = tuple(sheets[:1]), tuple(sheets[1:])
    return Section(
        "wins", "Wins, ties and losses", sentences, *parts, more=_others(material), brief=False
    )


def distributions(material: Material) -> Section:
    """Return the distribution of the scores of each system."""
    charts, rows = [], []
    for k, name in enumerate(material.metrics):
        scores, digits = material.scores[k], material.standings[k].digits
        low, high = float(scores.min()), float(scores.max())
        high = high if high > low else low + 1e-9
        hills = []
        for s in material.order:
            mean = float(scores[s].mean())
            hills.append(Hill(material.names[s], histogram(scores[s], low, high), mean))
            five = np.quantile(scores[s], [0.0, 0.25, 0.5, 0.75, 1.0])
            cells = [Cell(number(value), short=decimals(value, digits)) for value in (*five, mean)]
            rows.append((Cell(name), Cell(material.systems[s], short=material.names[s]), *cells))
        charts.append(ridges(_arrow(material, k), hills, low, high))
    quantiles = ("lowest", "first quarter", "median", "third quarter", "highest")
    head = ("metric", "system", *quantiles, "mean")
    table = Sheet("The same as numbers", head, tuple(rows), words=2, folded=True, grouped=True)
    sentences = (
        "How many segments have which score. The upright line is the mean of the segments.",
    )
    return Section(
        "distributions",
        "Distributions",
        sentences,
        folded=(table,),
        more=table.title,
        charts=tuple(charts),
        brief=False,
    )


def metrics_apart(material: Material) -> Section:
    """Return the agreement of the metrics on segments, and the segments they disagree on most."""
    names, count = material.metrics, len(material.metrics)
    flat = material.better.reshape(count, -1)
    agreements = {(i, j): agreement(flat[i], flat[j]) for i in range(count) for j in range(count)}
    rows = tuple(
        (Cell(names[i]), *(Cell(dashed(agreements[i, j], 3)) for j in range(count)))
        for i in range(count)
    )
    pairs = list(combinations(range(count), 2))
    charts = [
        density(
            f"r = {dashed(agreements[i, j], 2)}", flat[i], flat[j],
            (directed(material, i), directed(material, j)),
        )
        for i, j in pairs[:MOST_PAIRS]
    ]  # fmt: skip
    defined = [(value, i, j) for i, j in pairs if (value := agreements[i, j]) is not None]
    sentences = []
    if defined:
        value, i, j = min(defined)
        least = "agree least " if len(defined) > 1 else "agree "
        sentences = [f"{names[i]} and {names[j]} {least}(r = {decimals(value, 2)})."]
    sentences.append(
        "Each square holds outputs of systems: the stronger its colour, the more of them have "
        "these two scores."
    )
    title = (
        "Correlation of segment scores (Pearson's r; scores where lower is better are turned round)"
    )
    matrix = Sheet(title, ("", *names), rows)
    return Section(
        "metrics",
        "Metric against metric",
        tuple(sentences),
        (matrix, _disagreements(material)),
        charts=tuple(charts),
    )


def _disagreements(material: Material) -> Sheet:
    """Return the outputs that metrics rank most differently."""
    rows = []
    for systems, i in _disagreed(material):
        s = systems[0]
        row, ranks = material.segments[s][i], material.ranks[:, s, i]
        high, low = int(ranks.argmax()), int(ranks.argmin())
        scores_text = (
            f"{material.metrics[high]} ranks it above {ranks[high]:.0%} of all outputs, "
            f"{material.metrics[low]} above {ranks[low]:.0%}"
        )
        against = row.references[0] if row.references else (row.source or "")
        who = ", ".join(material.names[system] for system in systems)
        rows.append(
            tuple(Cell(text) for text in (row.id, who, scores_text, row.hypothesis, against))
        )
    head = (
        "segment",
        "system",
        "how the metrics rank it",
        "output",
        "reference" if material.referenced else "source",
    )
    return Sheet("Outputs on which the metrics disagree most", head, tuple(rows), words=5, texts=3)


def _disagreed(material: Material) -> list[tuple[list[int], int]]:
    """Return the segments that metrics rank most differently: their systems and item."""
    by_item: dict[int, list[int]] = {}
    for at in np.argsort(-material.disagreement, axis=None, kind="stable").tolist():
        s, i = divmod(at, material.items)
        if i not in by_item and len(by_item) < LISTED:
            hypothesis = material.segments[s][i].hypothesis
            by_item[i] = [
                k for k, rows in enumerate(material.segments) if rows[i].hypothesis == hypothesis
            ]
    return [(systems, i) for i, systems in by_item.items()]


def agreement(first: Array, second: Array) -> float | None:
    """Return Pearson's r, or None if it is undefined."""
    try:
        return pearson(first, second)
    except UndefinedError:
        return None


def buckets(material: Material) -> Section:
    """Return scores by reference length, mean score and flags, a table per metric and division."""
    flagged = _by_flags(material)
    sheets = [
        [_part_sheet(material, k, *division) for division in _divisions(material, k, flagged)]
        for k in range(len(material.metrics))
    ]
    sentences = [
        "The score of each system in parts of the data, computed as in the ranking: corpus metrics "
        "(BLEU, chrF, TER) are pooled over the segments of a part, others are means. Bold: the "
        "best in a part."
    ]
    if not flagged:
        sentences.append("No segment was flagged as unusual (empty, cut, or unknown to the model).")
    return Section(
        "buckets",
        "Where the systems differ" if len(material.systems) > 1 else "Parts of the data",
        tuple(sentences),
        tuple(sheets[0]),
        tuple(sheet for metric_sheets in sheets[1:] for sheet in metric_sheets),
        more=_others(material),
        brief=False,
    )


def _divisions(material: Material, k: int, flagged: Parts) -> list[tuple[str, str, Parts]]:
    """Return title, kind and parts of each way to divide the segments for metric k."""
    side = "reference" if material.referenced else "source"
    unit, lengths = _by_length(material)
    mean = "mean score of the systems"
    divisions = [
        (f"by length of the {side}", f"{unit} in the {side}", lengths),
        (f"by the {mean}", mean, _by_score(material, k)),
    ]
    divisions = [division for division in divisions if len(division[2]) > 1]
    if flagged:
        divisions.append(("where something was unusual", "what was unusual", flagged))
    return divisions


def _part_sheet(material: Material, k: int, title: str, kind: str, parts: Parts) -> Sheet:
    """Return the scores of all systems by metric k in each part; many systems become rows."""
    rows = tuple(
        (Cell(name), Cell(str(len(at))), *_scores_of_part(material, k, at)) for name, at in parts
    )
    head = (kind, "segments", *(material.names[s] for s in material.order))
    sheet = Sheet(f"{_arrow(material, k)} {title}", head, rows)
    if len(material.systems) <= MOST_ACROSS:
        return sheet
    return replace(sheet.turned(), head=(kind, *(name for name, _ in parts)))


def _scores_of_part(material: Material, k: int, at: Sequence[int]) -> list[Cell]:
    """Return every system's score by metric k on some segments, pooled if it pools."""
    values = []
    for s in material.order:
        pooled = material.results[k][s].pooled
        plain = material.scores[k, s][list(at)].mean()
        values.append(
            float(plain if pooled is None else pooled.of(pooled.statistics[list(at)].sum(axis=0)))
        )
    pick = max if material.standings[k].higher_is_better else min
    digits = material.standings[k].digits
    short_texts = [decimals(value, digits) for value in values]
    best = decimals(pick(values), digits)
    return [
        Cell(number(value), mark="best" if short == best and len(values) > 1 else "", short=short)
        for value, short in zip(values, short_texts, strict=True)
    ]


Parts = list[tuple[str, list[int]]]


def _by_length(material: Material) -> tuple[str, Parts]:
    """Divide by length in words, or in characters where most texts have no spaces."""
    texts = [
        segment.references[0] if segment.references else segment.source or ""
        for segment in material.segments[0]
    ]
    spaced = 2 * sum(" " in text.strip() for text in texts) >= len(texts)
    lengths = np.array([len(text.split()) if spaced else len(text) for text in texts])
    parts = _quarters(
        lengths, lambda low, high: f"{low:.0f} to {high:.0f}" if high > low else f"{low:.0f}"
    )
    return "words" if spaced else "characters", parts


def _by_score(material: Material, k: int) -> Parts:
    """Divide by mean score over systems: one system's own score would favour or harm it."""
    digits = material.standings[k].digits
    name_range = lambda low, high: f"{decimals(low, digits)} to {decimals(high, digits)}"  # noqa: E731
    return _quarters(material.scores[k].mean(axis=0), name_range)


def _quarters(values: Array, name_range: Callable[[float, float], str]) -> Parts:
    """Divide items into parts of about equal size by a value; equal values stay together."""
    edges = np.unique(np.quantile(values, np.linspace(0, 1, BUCKETS + 1)[1:-1], method="lower"))
    parts = np.searchsorted(edges, values, "left")
    quarters: Parts = []
    for part in np.unique(parts):
        at = np.flatnonzero(parts == part)
        label = name_range(float(values[at].min()), float(values[at].max()))
        quarters.append((label, at.tolist()))
    return quarters


def _by_flags(material: Material) -> Parts:
    by_flag: dict[str, dict[int, None]] = {}
    for row in material.results:
        for result in row:
            for item, flags in enumerate(result.flags):
                for flag in flags:
                    by_flag.setdefault(flag, {})[item] = None
    return [(describe_flag(flag).rstrip("."), list(at)) for flag, at in sorted(by_flag.items())]

"""The parts of a report as data: what each says, its tables, its charts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from monge.render.cells import decimals, number, span
from monge.render.charts import Hill, both, density, histogram, ridges, steps
from monge.render.drawing import plain_flag
from monge.report.material import Material
from monge.stats import UndefinedError, bootstrap_means, pearson
from monge.stats.correlation import kendall
from monge.types import Array
from monge.types.table import Cell, Sheet, Span

BUCKETS = 4
LISTED = 10
MOST_PAIRS = 12
MOST_MATRIX = 25


@dataclass(frozen=True)
class Section:
    """A part of a report: its name in the page, a title, sentences, tables and charts (HTML).

    `brief`: the tables that a summary for a paper has; `folded` ones stand behind a click.
    """

    key: str
    title: str
    said: tuple[str, ...] = ()
    sheets: tuple[Sheet, ...] = ()
    folded: tuple[Sheet, ...] = ()
    charts: tuple[str, ...] = field(default=(), repr=False)
    brief: bool = True


def sections(material: Material) -> list[Section]:
    """All parts that the material allows, in order."""
    several = len(material.systems) > 1
    found = [ranking(material)]
    if several:
        found += [differences(material), wins(material)]
    found.append(distributions(material))
    if len(material.metrics) > 1:
        found.append(metrics_apart(material))
    found.append(buckets(material))
    if material.human is not None:
        found.append(human(material))
    return found


def _arrow(material: Material, k: int) -> str:
    return f"{material.metrics[k]} {'↑' if material.standings[k].higher_is_better else '↓'}"


def _directed(material: Material, k: int) -> str:
    """The name of a metric on an axis on which higher is better."""
    return f"{'' if material.standings[k].higher_is_better else '−'}{material.metrics[k]}"


def ranking(material: Material) -> Section:
    """A table a metric: systems, best first, with score, interval and cluster."""
    sheets = []
    several = len(material.systems) > 1
    for k, one in enumerate(material.standings):
        rows = []
        for s in one.ranked:
            mine = one.systems[s]
            score = one.cell(s) if several else Cell(number(mine.score))
            drawn = Cell("", span(mine.low, mine.high, 4), span=Span(mine.low, mine.score, mine.high))
            words = Cell(mine.system), Cell(score.text, mark=score.mark), drawn
            rows.append((*words, *([Cell(str(mine.cluster))] if several else [])))
        head = ("system", "score", "interval", *(["cluster"] if several else []))
        sheets.append(Sheet(f"{_arrow(material, k)}, {one.of}", head, tuple(rows), signatures=(one.signature,)))
    resampling = material.comparison.resampling
    note = resampling.note[:1].upper() + resampling.note[1:]
    how = (
        f"Bold: best; underlined: cannot be told from the best. Systems of one cluster cannot be told apart (paired "
        f"{resampling.test}, two-sided, Holm over all pairs, level {resampling.alpha:g}). {note}."
    )
    said = (*material.comparison.verdict, how if several else f"{note}.")
    return Section("ranking", "Ranking" if several else "Scores", said, tuple(sheets))


def differences(material: Material) -> Section:
    """Every two systems: difference with interval, and whether it is more than chance."""
    sheets = []
    for k, one in enumerate(material.standings):
        rows = []
        for pair in one.pairs:
            better = material.comparison.better(one, pair)
            sure = Span(pair.low, pair.difference, pair.high, sure=bool(better))
            drawn = Cell("", span(pair.low, pair.high, 4), span=sure)
            p = pair.permutation_holm if material.comparison.resampling.test == "permutation" else pair.bootstrap_holm
            names = Cell(f"{pair.first} − {pair.second}"), Cell(better or "neither")
            rows.append((*names, Cell(decimals(pair.difference, 4)), drawn, Cell(number(p))))
        head = ("difference of", "better", "difference", "interval", "p (Holm)")
        sheets.append(Sheet(_arrow(material, k), head, tuple(rows), words=2, zero=True))
    said = ("A filled dot is a difference that is more than chance; a hollow one is not.",)
    first = 1 if len(sheets[0].rows) <= MOST_PAIRS else 0
    return Section("differences", "Differences", said, tuple(sheets[:first]), tuple(sheets[first:]), brief=False)


def wins(material: Material) -> Section:
    """How often the system of a row is better, equal and worse than that of a column."""
    order = material.order[:MOST_MATRIX]
    sheets = []
    for k in range(len(material.metrics)):
        shown = np.round(material.better[k], 4)
        rows = []
        for s in order:
            cells = [Cell(material.systems[s])]
            for t in order:
                more, less = int((shown[s] > shown[t]).sum()), int((shown[s] < shown[t]).sum())
                text = "" if s == t else f"{more} / {material.items - more - less} / {less}"
                cells.append(Cell(text, mark="best" if more > less and s != t else ""))
            rows.append(tuple(cells))
        sheets.append(
            Sheet(_arrow(material, k), ("better / equal / worse", *(material.systems[t] for t in order)), tuple(rows))
        )
    said = (
        "Segments in which the system of the row is better / equal / worse than that of the column (equal: to four "
        "decimals). Bold: better more often than worse.",
    )
    return Section("wins", "Wins, ties and losses", said, tuple(sheets[:1]), tuple(sheets[1:]), brief=False)


def distributions(material: Material) -> Section:
    """How the scores of each system spread."""
    charts, rows = [], []
    for k, name in enumerate(material.metrics):
        low, high = float(material.scores[k].min()), float(material.scores[k].max())
        high = high if high > low else low + 1e-9
        hills = [
            Hill(material.systems[s], histogram(material.scores[k, s], low, high), float(material.scores[k, s].mean()))
            for s in material.order
        ]
        charts.append(ridges(name, hills, low, high))
        for s in material.order:
            values = material.scores[k, s]
            five = np.quantile(values, [0.0, 0.25, 0.5, 0.75, 1.0])
            cells = [Cell(number(one)) for one in (*five, float(values.mean()))]
            rows.append((Cell(name), Cell(material.systems[s]), *cells))
    head = ("metric", "system", "least", "quarter", "middle", "three quarters", "most", "mean")
    table = Sheet("The same as numbers", head, tuple(rows), words=2, folded=True, grouped=True)
    said = ("How many segments have which score; the line is the mean.",)
    return Section("distributions", "Distributions", said, folded=(table,), charts=tuple(charts), brief=False)


def metrics_apart(material: Material) -> Section:
    """How well the metrics agree on segments, and the segments on which they do not."""
    count = len(material.metrics)
    flat = material.better.reshape(count, -1)
    rows: list[tuple[Cell, ...]] = []
    charts: list[str] = []
    lowest = 2.0, "", ""
    for i in range(count):
        cells = [Cell(material.metrics[i])]
        for j in range(count):
            value = _agreement(flat[i], flat[j])
            cells.append(Cell("–" if value is None else decimals(value, 3)))
            if i < j:
                if len(charts) < MOST_PAIRS:
                    names = _directed(material, i), _directed(material, j)
                    r = "–" if value is None else decimals(value, 2)
                    told = f"{material.metrics[i]}, {material.metrics[j]}: r = {r}"
                    charts.append(density(told, flat[i], flat[j], names))
                if value is not None and value < lowest[0]:
                    lowest = value, material.metrics[i], material.metrics[j]
        rows.append(tuple(cells))
    matrix = Sheet("Pearson's r of segment scores, higher for better", ("", *material.metrics), tuple(rows))
    said = [f"{lowest[1]} and {lowest[2]} agree least (r = {decimals(lowest[0], 2)})."] if lowest[1] else []
    said.append(
        "Squares: the darker, the more segments. A segment's disagreement is how far apart the metrics rank it."
    )
    listed = []
    for systems, i in _disagreed(material):
        s = systems[0]
        row, ranks = material.segments[s][i], material.ranks[:, s, i]
        high, low = int(ranks.argmax()), int(ranks.argmin())
        told = (
            f"{material.metrics[high]} puts it above {ranks[high]:.0%} of all, {material.metrics[low]} {ranks[low]:.0%}"
        )
        words = row.hypothesis, row.references[0] if row.references else (row.source or "")
        texts = (
            row.id,
            ", ".join(material.systems[one] for one in systems),
            decimals(material.disagreement[s, i], 2),
            told,
            *words,
        )
        listed.append(tuple(Cell(one) for one in texts))
    head = ("item", "system", "apart", "how they rank it", "hypothesis", "reference")
    table = Sheet("Segments on which the metrics disagree most", head, tuple(listed), words=2, words_behind=3, texts=3)
    return Section("metrics", "Metric against metric", tuple(said), (matrix, table), charts=tuple(charts))


def _disagreed(material: Material) -> list[tuple[list[int], int]]:
    """The outputs that metrics rank most differently: systems that said the same, and the item."""
    found: dict[tuple[int, str], list[int]] = {}
    for at in np.argsort(-material.disagreement, axis=None, kind="stable").tolist():
        s, i = divmod(at, material.items)
        key = i, material.segments[s][i].hypothesis
        if key not in found and len(found) == LISTED:
            break
        found.setdefault(key, []).append(s)
    return [(systems, i) for (i, _), systems in found.items()]


def _agreement(one: Array, other: Array) -> float | None:
    try:
        return pearson(one, other)
    except UndefinedError:
        return None


def buckets(material: Material) -> Section:
    """Scores by reference length, by the score of the best system, and by flags: a table a metric and division."""
    sheets: list[Sheet] = []
    later: list[Sheet] = []
    for k in range(len(material.metrics)):
        divided = [
            ("by length of the reference, in words", _by_length(material)),
            (f"by the score of {material.systems[material.order[0]]}", _by_best(material, k)),
            ("by flags", _by_flags(material)),
        ]
        for title, parts in divided:
            parts = [(name, at) for name, at in parts if len(at)]
            if (len(parts) < 2 and not title.endswith("flags")) or not parts:
                continue
            rows = tuple(
                (
                    Cell(name),
                    Cell(str(len(at))),
                    *_means(material, k, at),
                )
                for name, at in parts
            )
            head = ("segments", "n", *(material.systems[s] for s in material.order))
            sheet = Sheet(f"{_arrow(material, k)} {title}", head, rows)
            (sheets if k == 0 else later).append(sheet)
    said = (
        "Means of the segment scores of each system in parts of the data; bold: best. Where the parts are made by the "
        "scores of one system, that system looks worse than it is in its lowest part and better in its highest.",
    )
    return Section("buckets", "Where the systems differ", said, tuple(sheets), tuple(later), brief=False)


def _means(material: Material, k: int, at: Sequence[int]) -> list[Cell]:
    values = [float(material.scores[k, s][list(at)].mean()) for s in material.order]
    pick = max if material.standings[k].higher_is_better else min
    best = number(pick(values))
    return [Cell(number(one), mark="best" if number(one) == best and len(values) > 1 else "") for one in values]


Parts = list[tuple[str, list[int]]]


def _by_length(material: Material) -> Parts:
    lengths = np.array(
        [_words(one.references[0] if one.references else one.source or "") for one in material.segments[0]]
    )
    return _quarters(lengths, lambda low, high: f"{low:.0f} to {high:.0f}" if high > low else f"{low:.0f}")


def _words(text: str) -> int:
    """Words of a text; characters where it has no spaces between them."""
    words = text.split()
    return len(words) if len(words) > 1 or len(text) < 12 else len(text)


def _by_best(material: Material, k: int) -> Parts:
    return _quarters(material.scores[k, material.order[0]], lambda low, high: f"{number(low)} to {number(high)}")


def _quarters(values: Array, named: Callable[[float, float], str]) -> Parts:
    """Items in parts of about equal size by a value; equal values are not parted."""
    edges = np.unique(np.quantile(values, np.linspace(0, 1, BUCKETS + 1)[1:-1], method="lower"))
    parts = np.searchsorted(edges, values, "left")
    found: Parts = []
    for part in np.unique(parts):
        at = np.flatnonzero(parts == part)
        label = named(float(values[at].min()), float(values[at].max()))
        found.append((label, at.tolist()))
    return found


def _by_flags(material: Material) -> Parts:
    found: dict[str, dict[int, None]] = {}
    for row in material.results:
        for result in row:
            for item, flags in enumerate(result.flags):
                for flag in flags:
                    found.setdefault(flag, {})[item] = None
    return [(plain_flag(flag).rstrip("."), list(at)) for flag, at in sorted(found.items())]


def human(material: Material) -> Section:
    """Metrics against human scores: agreement, a chart each, and what people said by parts of the metric's scores."""
    assert material.human is not None
    sign = 1.0 if material.human_higher else -1.0
    people = material.human.reshape(-1) * sign
    rows, charts = [], []
    for k, name in enumerate(material.metrics):
        mine = material.better[k].reshape(-1)
        values = [_agreement(mine, people), _tau(mine, people)]
        rows.append((Cell(name), *(Cell("–" if one is None else decimals(one, 3)) for one in values)))
        told = "–" if values[0] is None else decimals(values[0], 2)
        names = _directed(material, k), material.human_name if material.human_higher else f"−{material.human_name}"
        every = density(f"{name}, r = {told}", mine, people, names)
        charts.append(both(every, steps(f"{name}, calibration", calibration(mine, people), names)))
    sheet = Sheet(f"Agreement with {material.human_name}", ("metric", "pearson", "kendall"), tuple(rows))
    said = (
        f"{people.size} segments of {len(material.systems)} systems, pooled. Calibration: the mean of "
        f"{material.human_name} in tenths of a metric's scores, with 95 % intervals; it should rise evenly.",
    )
    means = [(material.systems[s], float(material.human[s].mean())) for s in range(len(material.systems))]
    means.sort(key=lambda one: -sign * one[1])
    table = Sheet(
        f"Mean of {material.human_name}", ("system", "mean"), tuple((Cell(n), Cell(number(v))) for n, v in means)
    )
    return Section("human", f"Against {material.human_name}", said, (sheet, table), charts=tuple(charts))


def _tau(one: Array, other: Array) -> float | None:
    try:
        return float(kendall(one, other))
    except UndefinedError:
        return None


def calibration(metric: Array, people: Array, parts: int = 10) -> list[tuple[float, float, float, float]]:
    """The mean metric score, and the mean human score with its interval, in equal parts by metric score."""
    order = np.argsort(metric, kind="stable")
    found = []
    for at in np.array_split(order, max(min(parts, len(order) // 5), 1)):
        if len(at) < 2:  # one alone has no interval
            alone = float(people[at].mean())
            found.append((float(metric[at].mean()), alone, alone, alone))
            continue
        means = bootstrap_means(people[at][None], level=0.95, resamples=500, seed=12345)[0]
        found.append((float(metric[at].mean()), means.value, means.low, means.high))
    return found

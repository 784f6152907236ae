"""The part of a report that sets metrics against what people said."""

from __future__ import annotations

import numpy as np

from monge.render.cells import DASH, dashed, decimals, number, span, supported_digits
from monge.render.charts import both, density, steps
from monge.report.material import Material
from monge.report.sections import Section, agreement, directed
from monge.stats import Interval, UndefinedError, bootstrap_means, percentiles
from monge.stats.correlation import kendall
from monge.stats.draws import draw_counts
from monge.types import Array
from monge.types.table import Cell, Sheet, Span


def human(material: Material) -> Section:
    """Metrics against human scores: agreement, a chart each, and what people said by parts of the metric's scores."""
    assert material.human is not None
    sign = 1.0 if material.human_higher else -1.0
    known = np.isfinite(material.human)
    people = material.human[known] * sign
    rows, charts = [], []
    for k, name in enumerate(material.metrics):
        mine = material.better[k][known]
        values = [agreement(mine, people), _tau(mine, people)]
        r, tau = (Cell(dashed(one, 3)) for one in values)
        rows.append((Cell(name), r, _sure(material, known, mine, people, values[0]), tau))
        names = directed(material, k), material.human_name if material.human_higher else f"−{material.human_name}"
        every = density(f"{name}, r = {dashed(values[0])}", mine, people, names)
        charts.append(both(every, steps(f"{name}, calibration", calibration(mine, people), names)))
    head = ("metric", "Pearson's r", "interval of r", "Kendall's tau")
    sheet = Sheet(f"Agreement with {material.human_name}", head, tuple(rows))
    systems = f"{len(material.systems)} systems" if len(material.systems) > 1 else "one system"
    count = f"{people.size}" if known.all() else f"{people.size} of the {known.size}"
    those = "" if known.all() else ", those that people judged,"
    said = [
        f"{count} outputs of {systems}{those} together. Left of each pair: every output; the stronger a square's "
        "colour, the more of them. Right, calibration: the outputs in equal parts from low to high score, "
        f"and the mean of {material.human_name} in each part with its 95% interval. With a good metric the line rises "
        "all the way.",
    ]
    if len(material.metrics) > 1:
        said.append(
            "Where the intervals of r overlap much, the order of the metrics may be chance; monge evaluate tests it."
        )
    if len(material.systems) > 1 and not (known == known[0]).all():
        said.append("Systems were judged on different segments: a higher mean can come from easier segments.")
    shown = sheet, _means_of_people(material, known, sign)
    return Section("human", f"Against {material.human_name}", tuple(said), shown, charts=tuple(charts))


def _sure(material: Material, known: Array, metric: Array, people: Array, r: float | None) -> Cell:
    """The interval of Pearson's r, over resamples of the segments: outputs of one segment are drawn together."""
    how = material.comparison.resampling
    if r is None:
        return Cell("–")
    x, y = ((one - one.mean()) / one.std() for one in (metric, people))
    by_item = np.zeros((material.items, 6))
    np.add.at(by_item, np.nonzero(known)[1], np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1))
    counts = draw_counts(np.arange(material.items), resamples=how.resamples, seed=how.seed)
    n, sx, sy, xx, yy, xy = (counts.T @ by_item).T
    with np.errstate(invalid="ignore", divide="ignore"):  # a resample in which all scores are equal has no r
        drawn = (n * xy - sx * sy) / np.sqrt((n * xx - sx**2) * (n * yy - sy**2))
    ends = percentiles(np.where(np.isfinite(drawn), drawn, np.nan), how.confidence)
    return Cell("–") if ends is None else Cell("", span(*ends, 3), span=Span(ends[0], r, ends[1]))


def _means_of_people(material: Material, known: Array, sign: float) -> Sheet:
    """The mean human score of each system over the outputs that have one, with its interval, best first."""
    assert material.human is not None
    how = material.comparison.resampling
    means: dict[int, Interval] = {}
    for k, mine in enumerate(known):
        if mine.any():
            scores = material.human[k][mine][None]
            means[k] = bootstrap_means(scores, level=how.confidence, resamples=how.resamples, seed=how.seed)[0]
    order = sorted(range(len(known)), key=lambda k: (k not in means, -sign * means[k].value if k in means else 0.0))
    digits = supported_digits((one.low, one.high) for one in means.values())
    some = not known.all()
    rows = []
    for k in order:
        name = Cell(material.systems[k], short=material.names[k])
        count = [Cell(str(known[k].sum()))] if some else []
        shown = [Cell(DASH), Cell("")]
        if k in means:
            mean = means[k]
            drawn = Span(mean.low, mean.value, mean.high)
            shown = [
                Cell(number(mean.value), short=decimals(mean.value, digits)),
                Cell("", span(mean.low, mean.high, 4), span=drawn, short_detail=span(mean.low, mean.high, digits)),
            ]
        rows.append((name, *count, *shown))
    head = ("system", *(["outputs judged"] if some else []), "mean", "interval")
    return Sheet(f"Mean of {material.human_name}", head, tuple(rows))


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

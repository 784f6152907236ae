"""The part of a report that sets metrics against what people said."""

from __future__ import annotations

from collections.abc import Iterator

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

MOST_PARTS = 10
"""The most parts of equal size that calibration divides outputs into."""


def human(material: Material) -> Section:
    """Return the section on human scores: agreement, scatter and calibration charts."""
    assert material.human is not None
    sign = 1.0 if material.human_higher else -1.0
    has_score = np.isfinite(material.human)
    people = material.human[has_score] * sign
    name_of_people = material.human_name if material.human_higher else f"−{material.human_name}"
    rows, charts = [], []
    for k, name in enumerate(material.metrics):
        metric_scores = material.better[k][has_score]
        r, tau = agreement(metric_scores, people), _tau(metric_scores, people)
        interval = _sure(material, has_score, metric_scores, people, r)
        rows.append((Cell(name), Cell(dashed(r, 3)), interval, Cell(dashed(tau, 3))))
        names = directed(material, k), name_of_people
        scatter_chart = density(f"{name}, r = {dashed(r)}", metric_scores, people, names)
        parts = calibration(metric_scores, people)
        charts.append(both(scatter_chart, steps(f"{name}, calibration", parts, names)))
    head = ("metric", "Pearson's r", "interval of r", "Kendall's tau")
    sheet = Sheet(f"Agreement with {material.human_name}", head, tuple(rows))
    return Section(
        "human",
        f"Against {material.human_name}",
        tuple(_explain_charts(material, has_score)),
        (sheet, _means_of_people(material, has_score, sign)),
        charts=tuple(charts),
    )


def _explain_charts(material: Material, has_score: Array) -> Iterator[str]:
    """Yield what the charts show and what to mind; `has_score` [systems, items]."""
    systems = f"{len(material.systems)} systems" if len(material.systems) > 1 else "one system"
    outputs = int(has_score.sum())
    count = f"{outputs}" if has_score.all() else f"{outputs} of the {has_score.size}"
    those = "" if has_score.all() else ", those that people judged,"
    yield (
        f"{count} outputs of {systems}{those} together. Left of each pair: every output; the "
        "stronger a square's colour, the more of them. Right, calibration: the outputs in equal "
        f"parts from low to high score, and the mean of {material.human_name} in each part with "
        "its 95% interval. With a good metric the line rises all the way."
    )
    if len(material.metrics) > 1:
        yield (
            "Where the intervals of r overlap much, the order of the metrics may be chance; monge "
            "evaluate tests it."
        )
    if len(material.systems) > 1 and not (has_score == has_score[0]).all():
        yield (
            "Systems were judged on different segments: a higher mean can come from easier "
            "segments."
        )


def _sure(
    material: Material, has_score: Array, metric: Array, people: Array, r: float | None
) -> Cell:
    """Return the interval of Pearson's r, resampling segments with all their outputs."""
    how = material.comparison.resampling
    if r is None:
        return Cell("–")
    x, y = ((scores - scores.mean()) / scores.std() for scores in (metric, people))
    by_item = np.zeros((material.items, 6))
    np.add.at(
        by_item,
        np.nonzero(has_score)[1],
        np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1),
    )
    counts = draw_counts(np.arange(material.items), resamples=how.resamples, seed=how.seed)
    n, sx, sy, xx, yy, xy = (counts.T @ by_item).T
    # a resample in which all scores are equal has no r
    with np.errstate(invalid="ignore", divide="ignore"):
        draws = (n * xy - sx * sy) / np.sqrt((n * xx - sx**2) * (n * yy - sy**2))
    ends = percentiles(np.where(np.isfinite(draws), draws, np.nan), how.confidence)
    return Cell("–") if ends is None else Cell("", span(*ends, 3), span=Span(ends[0], r, ends[1]))


def _means_of_people(material: Material, has_score: Array, sign: float) -> Sheet:
    """Return each system's mean human score where judged, with its interval, best first."""
    assert material.human is not None
    how = material.comparison.resampling
    means: dict[int, Interval] = {}
    for k, is_judged in enumerate(has_score):
        if is_judged.any():
            scores = material.human[k][is_judged][None]
            means[k] = bootstrap_means(
                scores, level=how.confidence, resamples=how.resamples, seed=how.seed
            )[0]
    order = sorted(
        range(len(has_score)),
        key=lambda k: (k not in means, -sign * means[k].value if k in means else 0.0),
    )
    digits = supported_digits((mean.low, mean.high) for mean in means.values())
    is_partial = not has_score.all()
    rows = []
    for k in order:
        name = Cell(material.systems[k], short=material.names[k])
        count = [Cell(str(has_score[k].sum()))] if is_partial else []
        cells = [Cell(DASH), Cell("")]
        if k in means:
            mean = means[k]
            interval = Span(mean.low, mean.value, mean.high)
            cells = [
                Cell(number(mean.value), short=decimals(mean.value, digits)),
                Cell(
                    "",
                    span(mean.low, mean.high, 4),
                    span=interval,
                    short_detail=span(mean.low, mean.high, digits),
                ),
            ]
        rows.append((name, *count, *cells))
    head = ("system", *(["outputs judged"] if is_partial else []), "mean", "interval")
    return Sheet(f"Mean of {material.human_name}", head, tuple(rows))


def _tau(first: Array, second: Array) -> float | None:
    try:
        return float(kendall(first, second))
    except UndefinedError:
        return None


def calibration(metric: Array, people: Array) -> list[tuple[float, float, float, float]]:
    """Return mean metric and human scores, with interval, in equal parts by metric score."""
    order = np.argsort(metric, kind="stable")
    points = []
    for at in np.array_split(order, max(min(MOST_PARTS, len(order) // 5), 1)):
        if len(at) < 2:  # one alone has no interval
            alone = float(people[at].mean())
            points.append((float(metric[at].mean()), alone, alone, alone))
            continue
        means = bootstrap_means(people[at][None], level=0.95, resamples=500, seed=12345)[0]
        points.append((float(metric[at].mean()), means.value, means.low, means.high))
    return points

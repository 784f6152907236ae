"""Figures of an evaluation: distributions, correlations of metrics, scatter, bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from monge.datasets import Judged
from monge.evaluation.evaluation_result import Agreement, Evaluation, directed, figure_digits
from monge.evaluation.variant_scores import VariantScores
from monge.render.charts import both, density, steps
from monge.render.figures import dots
from monge.render.page import safe
from monge.render.palette import BLUE, INK, ORANGE, SERIES, SOFT
from monge.report.canvas import blank, figure, grid
from monge.report.people import calibration
from monge.stats import UndefinedError, higher_is_better, pearson
from monge.types import Array

SHARE = 1 / 3
"""The lowest- and the highest-rated share of a group that are set against each other."""
MOST_POINTS = 4000


def evaluation_figures(evaluation: Evaluation, directory: Path, *, form: str = "svg") -> list[Path]:
    """Draw the figures that the data allow into a directory; return the files."""
    written = []
    several = len(evaluation.pools) > 1
    for dataset, scored in evaluation.pools:
        stem = f"{dataset.dataset}-{_stem(dataset.judgement)}" if several else dataset.dataset
        if dataset.kind == "scores":
            written.append(
                distributions(dataset, scored, directory / f"{stem}-distributions.{form}")
            )
            written.append(scatter(dataset, scored, directory / f"{stem}-scatter.{form}"))
        if len(scored) > 1:
            written.append(heat_map(dataset, scored, directory / f"{stem}-metrics.{form}"))
    for table in evaluation.tables:
        stem = f"{table[0].dataset}-{_stem(table[0].judgement)}-{table[0].statistic}"
        written.append(bars(table, directory / f"{stem}-bars.{form}"))
    return written


def agreement_dots(evaluation: Evaluation) -> list[str]:
    """Draw a figure per table: the mean of every metric with its interval, best first."""
    charts = []
    for table in evaluation.tables:
        sign = -1 if higher_is_better(table[0].statistic) else 1
        ranked = sorted(table, key=lambda agreement: sign * agreement.mean.value)
        spans = [(agreement, agreement.mean.span) for agreement in ranked]
        digits = figure_digits(agreement.mean for agreement in table)
        rows = [
            (agreement.label, agreement.mean.with_interval(digits), span)
            for agreement, span in spans
            if span is not None
        ]
        if not rows:
            continue
        mean = "mean " * (len(table[0].groups) > 1)
        title = (
            f"Agreement with {table[0].judgement}: {mean}{directed(table[0].statistic)}, "
            f"{table[0].level} level"
        )
        hollow = "; hollow: significantly worse than the best" if len(table) > 1 else ""
        charts.append(dots(title, rows, f"{directed(table[0].statistic)}{hollow}"))
    return charts


def evaluation_charts(evaluation: Evaluation) -> list[str]:
    """Draw the charts of an evaluation: every metric against human scores, and its calibration.

    Standardised in each group and pooled.
    """
    charts = []
    for dataset, scored in evaluation.pools:
        if dataset.kind != "scores":
            continue
        human, metrics = _pooled(dataset, scored)
        charts.append(
            f"<p>Each metric against {safe(dataset.judgement)}. Both are standardised in their "
            "group: 0 is the mean, 1 is a standard deviation above it, higher is better. Left of "
            "each pair: every text; the stronger a square, the more of them. Right, calibration: "
            "the texts in equal parts from low to high score, and the mean judgement in each part "
            "with its 95% interval. With a good metric the line rises all the way.</p>"
        )
        for variant_scores, values in zip(scored, metrics, strict=True):
            names = variant_scores.label, dataset.judgement
            scatter_chart = density(
                f"{variant_scores.label} and {dataset.judgement}", values, human, names
            )
            title = f"{variant_scores.label}, calibration"
            charts.append(both(scatter_chart, steps(title, calibration(values, human), names)))
    return charts


def _stem(judgement: str) -> str:
    """Return a human column and its reading as part of a file's name."""
    return judgement.replace(", ", "-").replace("/", "-")


def _standardised(values: Array) -> Array:
    spread = float(values.std())
    return np.asarray((values - values.mean()) / (spread or 1.0))


def _pooled(dataset: Judged, scored: Sequence[VariantScores]) -> tuple[Array, list[Array]]:
    """Return human and metric scores, higher for better, standardised by group and pooled."""
    human: list[Array] = []
    metrics: list[list[Array]] = [[] for _ in scored]
    for name, group in dataset.groups.items():
        if group.scores is None:
            continue
        human.append(_standardised(group.scores * dataset.direction))
        for variant_scores, column in zip(scored, metrics, strict=True):
            column.append(_standardised(variant_scores.signed(name, group)))
    return np.concatenate(human), [np.concatenate(column) for column in metrics]


def distributions(dataset: Judged, scored: Sequence[VariantScores], path: Path) -> Path:
    """Draw the scores of the segments that people rated lowest and highest."""
    human, metrics = _pooled(dataset, scored)
    low, high = human <= np.quantile(human, SHARE), human >= np.quantile(human, 1 - SHARE)
    rows, columns = grid(len(scored))
    with figure(
        path, width=2.6 * columns, height=2.1 * rows + 0.4, rows=rows, columns=columns
    ) as axes:
        for panel, variant_scores, values in zip(
            blank(axes, len(scored)), scored, metrics, strict=True
        ):
            first, last = np.quantile(values, [0.005, 0.995])
            edges = np.linspace(float(first), float(last), 31)
            for chosen, colour, label in ((low, ORANGE, "rated low"), (high, BLUE, "rated high")):
                panel.hist(
                    values[chosen],
                    edges,
                    density=True,
                    histtype="stepfilled",
                    alpha=0.35,
                    color=colour,
                )
                panel.hist(
                    values[chosen], edges, density=True, histtype="step", color=colour, label=label
                )
                panel.axvline(
                    float(values[chosen].mean()), color=colour, linewidth=1, linestyle=":"
                )
            panel.set_title(variant_scores.label)
            panel.set_yticks([])
            panel.set_xlabel("score (standardised)")
        axes[0, 0].legend(fontsize=7)
    return path


def scatter(dataset: Judged, scored: Sequence[VariantScores], path: Path) -> Path:
    """Draw metric against human score, one point per segment, with the least-squares line."""
    human, metrics = _pooled(dataset, scored)
    step = max(1, -(-len(human) // MOST_POINTS))
    rows, columns = grid(len(scored))
    with figure(path, width=2.6 * columns, height=2.5 * rows, rows=rows, columns=columns) as axes:
        for panel, variant_scores, values in zip(
            blank(axes, len(scored)), scored, metrics, strict=True
        ):
            panel.scatter(
                human[::step],
                values[::step],
                s=4,
                color=BLUE,
                alpha=0.3,
                linewidths=0,
                rasterized=True,
            )
            r = float(
                (human @ values) / np.sqrt((human @ human) * max(float(values @ values), 1e-300))
            )
            ends = np.array([human.min(), human.max()])
            panel.plot(ends, r * ends, color=ORANGE, linewidth=1.2)
            panel.set_title(f"{variant_scores.label}  r = {r:.3f}")
            panel.set_xlabel(f"{dataset.human} (standardised)")
        axes[0, 0].set_ylabel("score (standardised)")
    return path


def heat_map(dataset: Judged, scored: Sequence[VariantScores], path: Path) -> Path:
    """Draw Pearson's r between metrics on segments, and with people (mean over groups)."""
    names, matrix = correlate(dataset, scored)
    size = 1.6 + 0.62 * len(names)
    with figure(path, width=size + 0.8, height=size) as axes:
        panel = axes[0, 0]
        panel.imshow(matrix, vmin=0, vmax=1, cmap="Blues")
        panel.set_xticks(range(len(names)), names, rotation=40, ha="right")
        panel.set_yticks(range(len(names)), names)
        panel.spines[:].set_visible(False)
        panel.tick_params(length=0)
        for (i, j), value in np.ndenumerate(matrix):
            panel.text(
                j,
                i,
                f"{value:.2f}",
                ha="center",
                va="center",
                color="white" if value > 0.6 else INK,
                fontsize=8,
            )
        panel.set_title(f"{dataset.dataset}: correlation of metrics")
    return path


def correlate(dataset: Judged, scored: Sequence[VariantScores]) -> tuple[list[str], Array]:
    """Return names and Pearson's r [m, m] between them, the mean over groups.

    The first row is that of people where they scored every segment; better is higher for all.
    """
    by_group = [
        {
            name: row_scores.segments * (1.0 if variant_scores.higher_is_better else -1.0)
            for name, row_scores in variant_scores.groups.items()
        }
        for variant_scores in scored
    ]
    names = [variant_scores.label for variant_scores in scored]
    human = {
        name: dataset.direction * group.scores
        for name, group in dataset.groups.items()
        if group.scores is not None and group.units is None
    }
    if len(human) == len(dataset.groups):
        names, by_group = ["people", *names], [human, *by_group]
    matrix = np.eye(len(names))
    for i, first in enumerate(by_group):
        for j, second in enumerate(by_group[:i]):
            matrix[i, j] = matrix[j, i] = _mean_pearson(first, second)
    return names, matrix


def _mean_pearson(first: Mapping[str, Array], second: Mapping[str, Array]) -> float:
    correlations = []
    for name, values in first.items():
        try:
            correlations.append(pearson(values, second[name]))
        except UndefinedError:
            continue
    return float(np.mean(correlations)) if correlations else 0.0


def bars(table: Sequence[Agreement], path: Path) -> Path:
    """Draw the mean of every metric with its interval; the best and its ties in full colour."""
    with figure(path, width=1.6 + 0.9 * len(table), height=3.0) as axes:
        panel = axes[0, 0]
        for place, agreement in enumerate(table):
            mean = agreement.mean
            panel.bar(
                place, mean.value, color=SERIES[0], alpha=0.9 if mean.mark else 0.45, width=0.65
            )
            if mean.low is not None and mean.high is not None:
                reach = [[max(mean.value - mean.low, 0)], [max(mean.high - mean.value, 0)]]
                panel.errorbar(place, mean.value, yerr=reach, color=INK, capsize=3, linewidth=1)
        panel.set_xticks(
            range(len(table)), [agreement.label for agreement in table], rotation=30, ha="right"
        )
        panel.set_ylabel(directed(table[0].statistic))
        panel.axhline(0, color=SOFT, linewidth=0.8)
        panel.set_title(f"{table[0].dataset}: agreement with {table[0].judgement}")
    return path

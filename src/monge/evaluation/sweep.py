"""Try a setting at many values: choose on development data, report on other test data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from monge.datasets import Judged
from monge.errors import UsageError
from monge.evaluation.agreement import USUAL, Resampling
from monge.evaluation.evaluate import assess
from monge.evaluation.evaluation_result import Agreement, directed, figure_digits, worse_than_best
from monge.evaluation.score_book import QUIET, Run, ScoreBook
from monge.evaluation.task import Task, joined
from monge.evaluation.variant_scores import VariantScores, join_scores
from monge.evaluation.variants import (
    DEFAULT_MODEL,
    Setup,
    Variant,
    Variation,
    check_names,
    grid,
    load_variants,
    variation,
)
from monge.metrics.presets import split_name
from monge.render.cells import decimals, listed
from monge.stats import higher_is_better
from monge.types.table import Cell, Sheet

TIES_NAMED = 4
"""So many values that cannot be told apart from the best are named."""


@dataclass(frozen=True)
class Curve:
    """One metric at every point on development data, the chosen point, and its test result."""

    metric: str
    points: tuple[Agreement, ...]
    chosen: int
    test: Agreement | None = None


@dataclass(frozen=True)
class Sweep:
    """One curve per metric over `TARGET=VALUE` points; `together` has the best mean of all."""

    variations: tuple[Variation, ...]
    points: tuple[tuple[str, ...], ...]
    curves: tuple[Curve, ...]
    development: str
    test: str | None
    resampling: Resampling
    warnings: tuple[str, ...] = ()

    @property
    def means(self) -> list[float]:
        """The mean over metrics of the agreement at every point."""
        return [
            sum(curve.points[k].mean.value for curve in self.curves) / len(self.curves)
            for k in range(len(self.points))
        ]

    @property
    def together(self) -> int:
        """The point that serves all metrics best."""
        return _best(self.means, self.curves[0].points[0].statistic)

    def named(self, index: int) -> str:
        """Return a point as people read it: the values alone where one thing varies."""
        changes = self.points[index]
        return changes[0].partition("=")[2] if len(changes) == 1 else ", ".join(changes)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "vary": {variation.target: list(variation.values) for variation in self.variations},
            "development": self.development,
            "test": self.test,
            "seed": self.resampling.seed,
            "resamples": self.resampling.resamples,
            "together": {
                "point": list(self.points[self.together]),
                "mean": self.means[self.together],
            },
            "curves": [
                {
                    "metric": curve.metric,
                    "chosen": list(self.points[curve.chosen]),
                    "points": [
                        {"point": list(point), **agreement.to_dict()}
                        for point, agreement in zip(self.points, curve.points, strict=True)
                    ],
                    "test": curve.test.to_dict() if curve.test is not None else None,
                }
                for curve in self.curves
            ],
            "warnings": list(self.warnings),
        }

    def sheets(self) -> list[Sheet]:
        """Return the chosen values with their scores on the test data, then a curve per metric."""
        return [self._chosen_sheet(), *(self._curve_sheet(curve) for curve in self.curves)]

    @property
    def verdict(self) -> list[str]:
        """Sentences on each metric's best value, its ties, and its result on test data."""
        targets = ""
        if len(self.variations) == 1:
            targets = ", ".join(variation.target for variation in self.variations)
        return [
            self._describe_curve(curve, f"{targets} = " if targets else "") for curve in self.curves
        ]

    def _describe_curve(self, curve: Curve, prefix: str) -> str:
        best = curve.points[curve.chosen]
        mean = best.mean.with_interval(figure_digits(agreement.mean for agreement in curve.points))
        tied = [
            self.named(k)
            for k, agreement in enumerate(curve.points)
            if agreement.mean.mark == "tied" and k != curve.chosen
        ]
        text = (
            f"{curve.metric} agrees best with people at {prefix}{self.named(curve.chosen)} on "
            f"{self.development} ({directed(best.statistic)} {mean})"
        )
        if tied:
            rest = (
                f"; {listed(tied)} cannot be told apart from it"
                if len(tied) <= TIES_NAMED
                else (
                    f"; {len(tied)} of the other {len(curve.points) - 1} values cannot be told "
                    "apart from it"
                )
            )
        else:
            rest = ", and that is more than chance" if len(curve.points) > 1 else ""
        tried = ""
        if curve.test is not None:
            tried = (
                f" On {self.test} it reaches "
                f"{curve.test.mean.with_interval(figure_digits([curve.test.mean]))}."
            )
        return f"{text}{rest}.{tried}"

    def _curve_sheet(self, curve: Curve) -> Sheet:
        first = curve.points[0]
        digits = _choose_digits(curve.points)
        rows = tuple(
            (Cell(self.named(k)), *_make_cells(agreement, digits))
            for k, agreement in enumerate(curve.points)
        )
        targets = ", ".join(variation.target for variation in self.variations)
        return Sheet(
            f"{curve.metric} over {targets} on {self.development}: {directed(first.statistic)} "
            f"with {first.human}",
            (targets, *first.groups, "mean"),
            rows,
            tied=f"not significantly {worse_than_best(first.statistic)} the best (paired tests as "
            f"in evaluate, corrected over all pairs, p > {self.resampling.alpha:g})",
        )

    def _chosen_sheet(self) -> Sheet:
        tested = [curve.test for curve in self.curves if curve.test is not None]
        head = [
            "metric",
            "chosen",
            self.development,
            *([*tested[0].groups, "mean"] if tested else []),
        ]
        rows, digits = [], _choose_digits(tested)
        mean_digits = figure_digits(curve.points[curve.chosen].mean for curve in self.curves)
        for curve in self.curves:
            mean = curve.points[curve.chosen].mean
            cells = (
                Cell(curve.metric),
                Cell(self.named(curve.chosen)),
                replace(mean.cell(mean_digits), mark=""),
            )
            rows.append(
                (*cells, *(_make_cells(curve.test, digits) if curve.test is not None else ()))
            )
        notes = [
            f"intervals: bootstrap percentiles, {self.resampling.resamples} resamples, seed "
            f"{self.resampling.seed}"
        ]
        if len(self.curves) > 1:
            mean_of_all = decimals(self.means[self.together])
            how_many = "both" if len(self.curves) == 2 else f"all {len(self.curves)}"
            notes.insert(
                0, f"best for {how_many} metrics: {self.named(self.together)} (mean {mean_of_all})"
            )
        if not tested:
            notes.append("no --test data: the chosen value's score above is optimistic")
        title = f"chosen on {self.development}" + (f", tried on {self.test}" if tested else "")
        reported = tested or [curve.points[curve.chosen] for curve in self.curves]
        signatures = tuple(agreement.signature for agreement in reported)
        sentences = tuple(self.verdict)
        return Sheet(
            title, tuple(head), tuple(rows), tuple(notes), signatures, words=2, said=sentences
        )


def _choose_digits(agreements: Sequence[Agreement]) -> dict[str, int]:
    """Return the decimals of every group and of the mean."""
    groups = agreements[0].groups if agreements else ()
    digits = {
        name: figure_digits(agreement.groups[name] for agreement in agreements) for name in groups
    }
    return {**digits, "mean": figure_digits(agreement.mean for agreement in agreements)}


def _make_cells(agreement: Agreement, digits: Mapping[str, int]) -> list[Cell]:
    """Return a row of a table: groups without their intervals, the mean with it."""
    groups = (
        replace(figure.cell(digits[name]), detail="") for name, figure in agreement.groups.items()
    )
    return [*groups, agreement.mean.cell(digits["mean"])]


def sweep(
    development: Task,
    metrics: Sequence[str],
    vary: Sequence[str],
    *,
    test: Task | None = None,
    setup: Setup = DEFAULT_MODEL,
    resampling: Resampling = USUAL,
    run: Run = QUIET,
) -> Sweep:
    """Choose a point of `vary` on development data (or `wmt15+wmt16`), try it on test data."""
    variations = tuple(variation(text) for text in vary)
    points = grid(variations)
    _check_points(metrics, setup, variations, points)
    _check_disjoint(development, test)
    development_sets = _open_all(development, resampling.seed)
    held = _open_all(test, resampling.seed) if test is not None else []
    run.tell([*development_sets, *held])
    with ScoreBook(run) as book:
        requests = [(name, changes) for name in metrics for changes in points]
        dataset, scores = _score_pool(book, requests, setup, development_sets)
        curves = []
        for k, name in enumerate(metrics):
            metric_scores = scores[k * len(points) : (k + 1) * len(points)]
            curves.append(_choose_point(name, development, dataset, metric_scores, resampling))
        if test is not None:
            requests = [(curve.metric, points[curve.chosen]) for curve in curves]
            tried = _assess_first(test, *_score_pool(book, requests, setup, held), resampling)
            curves = [replace(curve, test=tried[k]) for k, curve in enumerate(curves)]
    return Sweep(
        variations,
        tuple(points),
        tuple(curves),
        dataset.dataset,
        test.dataset if test is not None else None,
        resampling,
        _list_warnings([*development_sets, *held]),
    )


def _list_warnings(datasets: Sequence[Judged]) -> tuple[str, ...]:
    """Return the warnings of all data sets, each once."""
    return tuple(dict.fromkeys(line for dataset in datasets for line in dataset.warnings))


def _with_changes(name: str, setup: Setup, changes: Sequence[str]) -> tuple[str, Setup]:
    """Return a metric and its setup with further settings.

    They join the settings in the metric's bracket, which may choose what they are fields of.
    """
    base, inner = split_name(name)
    if inner:
        return f"{base}[{','.join((inner, *changes))}]", setup
    return name, replace(setup, settings=(*setup.settings, *changes))


def _open_all(task: Task, seed: int) -> list[Judged]:
    """Open every data set of a task, which may join several."""
    return [dataset for part in task.split() for dataset in part.open(seed)]


def _choose_point(
    metric: str,
    task: Task,
    dataset: Judged,
    scores: Sequence[VariantScores],
    resampling: Resampling,
) -> Curve:
    """Return the curve of a metric over all points, with the best one chosen."""
    agreements = _assess_first(task, dataset, scores, resampling)
    values = [agreement.mean.value for agreement in agreements]
    return Curve(metric, agreements, _best(values, agreements[0].statistic))


def _assess_first(
    task: Task, dataset: Judged, scores: Sequence[VariantScores], resampling: Resampling
) -> tuple[Agreement, ...]:
    """Return the agreement of every variant by the first statistic of a task."""
    statistics = task.statistics(dataset, errors=True)[:1]
    return assess([(dataset, scores)], [statistics], resampling=resampling).agreements


def _score_pool(
    book: ScoreBook,
    requests: Sequence[tuple[str, Sequence[str]]],
    setup: Setup,
    datasets: Sequence[Judged],
) -> tuple[Judged, list[VariantScores]]:
    """Join data sets and score them by metrics with changes, each by its own rule of references."""
    scores = [
        (dataset, book.scores(_load_requests(requests, setup, dataset.references), dataset))
        for dataset in datasets
    ]
    return joined(datasets), join_scores(scores)


def _load_requests(
    requests: Sequence[tuple[str, Sequence[str]]], setup: Setup, rule: str
) -> list[Variant]:
    """Load metrics with changes; `rule` is how the data set takes several references."""
    variants = []
    for name, changes in requests:
        changed, own_setup = _with_changes(name, setup, changes)
        (variant,) = load_variants([changed], own_setup, references=rule)
        variants.append(replace(variant, label=f"{name} {', '.join(changes)}"))
    return variants


def _best(values: Sequence[float], statistic: str) -> int:
    """Return the place of the best value by a statistic."""
    sign = 1 if higher_is_better(statistic) else -1
    return max(range(len(values)), key=lambda k: sign * values[k])


def _check_points(
    metrics: Sequence[str],
    setup: Setup,
    variations: Sequence[Variation],
    points: Sequence[Sequence[str]],
) -> None:
    """Raise if a metric does not take a point, or fixes in its bracket a setting that varies."""
    for name in metrics:
        inner = split_name(name)[1]
        for varied in variations:
            if inner.startswith(f"{varied.target}=") or f",{varied.target}=" in inner:
                raise UsageError(
                    f"{name} fixes {varied.target}, which varies; leave it out of the bracket"
                )
    without_bracket = [name for name in metrics if not split_name(name)[1]]
    for changes in points:
        if without_bracket:
            check_names(without_bracket, replace(setup, settings=(*setup.settings, *changes)))
        for name in metrics:
            if name not in without_bracket:
                changed, own_setup = _with_changes(name, setup, changes)
                check_names([changed], own_setup)


def _place_of(task: Task) -> object:
    """Return the resolved path of the data, or the identity of a data frame."""
    data = task.data
    return Path(fspath(data)).resolve() if isinstance(data, str | PathLike) else id(data)


def _check_disjoint(development: Task, test: Task | None) -> None:
    """Raise if test data are development data."""
    if test is None:
        return
    is_other_directory = _place_of(test) != _place_of(development)
    for name in test.dataset.split("+"):
        if name in development.dataset.split("+") and not (name == "table" and is_other_directory):
            raise UsageError(
                f"{name} is development data: a value chosen on it must be tried on other data "
                "(--test ANOTHER)"
            )

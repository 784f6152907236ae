"""A recommendation as tables: every metric for one task, or the choice for every task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from monge.metrics.languages import LANGUAGES
from monge.recommendation.kept_results import Cost, Measured, Tuned, workloads
from monge.recommendation.recommend import DEVELOPMENT, TASKS, short
from monge.render.cells import dashed, decimals, listed
from monge.types.table import Cell, Sheet

if TYPE_CHECKING:
    from monge.recommendation.recommend import Overview, Recommendation

NOTHING = Cell(dashed(None))
COSTS = ("s / 1,000", "MB")


def recommendation_sheet(recommendation: Recommendation) -> Sheet:
    """Return a row per metric, a column per data set, development data last."""
    data, development = recommendation.data, recommendation.development
    rank = ("mean rank",) if len(data) > 1 else ()
    chosen = recommendation.choice
    models = [model for model in recommendation.tuned if recommendation.shared(model)]
    figures = [] if chosen is None else [*chosen.figures.values()]
    for model in models:
        figures += recommendation.shared(model).values()
    conclusion = "nothing is good enough" if chosen else "nothing fits"
    if recommendation.use:
        conclusion = f"use {recommendation.use}"
    task, language = recommendation.task, LANGUAGES[recommendation.lang]
    return Sheet(
        f"{task} ({language}; {TASKS[task]}): {conclusion}",
        (
            "metric",
            *(dataset.key for dataset in data),
            *rank,
            *(f"{dataset.key} (dev)" for dataset in development),
            *COSTS,
            "front",
        ),
        (
            *_metric_rows(recommendation),
            *(_tuned_row(recommendation, model) for model in models),
        ),
        said=tuple(recommendation.advice()),
        notes=(*(dataset.extent for dataset in (*data, *development)), *_notes(recommendation)),
        signatures=tuple(figure.signature for figure in figures),
        words_behind=1,
        tied="not significantly below the best of its column",
    )


def _metric_rows(recommendation: Recommendation) -> Iterator[tuple[Cell, ...]]:
    """Yield a row per metric within the budget."""
    for candidate in recommendation.candidates:
        if not candidate.affordable:
            continue
        first = candidate is recommendation.candidates[0]
        rank = Cell(f"{candidate.rank:.1f}", mark="best" if first else "")
        figures = candidate.figures
        yield (
            Cell(candidate.metric, mark=""),
            *(_agreement_cell(figures[dataset.key]) for dataset in recommendation.data),
            *((rank,) if len(recommendation.data) > 1 else ()),
            *(Cell(decimals(figures[data.key].value)) for data in recommendation.development),
            *_cost_cells(candidate.cost),
            Cell("●" if candidate.front else ""),
        )


def _tuned_row(recommendation: Recommendation, model: Tuned) -> tuple[Cell, ...]:
    """Return a tuned model on the data that it was measured on."""
    shared = recommendation.shared(model)
    figures = (
        _agreement_cell(shared[dataset.key]) if dataset.key in shared else NOTHING
        for dataset in recommendation.data
    )
    return (
        Cell(f"{model.label} (sibling)" if model.sibling else model.label),
        *figures,
        *((NOTHING,) if len(recommendation.data) > 1 else ()),
        *(NOTHING for _ in recommendation.development),
        *_cost_cells(recommendation.cost_of(model)),
        Cell(""),
    )


def _notes(recommendation: Recommendation) -> Iterator[str]:
    """Yield what the columns mean, and where the figures come from."""
    model = recommendation.data[0].model
    yield (
        f"model {model}; front: no metric ranks better for less time; intervals (95%, by "
        "source item) in JSON"
    )
    if len(recommendation.data) > 1:
        yield (
            "order: on how many data sets a metric is significantly worse than the best, then its "
            "mean rank (1 is the best); statistics differ between data sets, so values have no mean"
        )
    for data in recommendation.development:
        yield (
            f"{data.key} is development data ({DEVELOPMENT[data.key]}): it counts for nothing here"
        )
    for tuned_model in recommendation.tuned:
        if tuned_model.sibling and recommendation.shared(tuned_model):
            yield f"{tuned_model.label} (sibling): {tuned_model.caution}"
    for workload in workloads():
        if (workload["texts"], workload["model"]) == (recommendation.data[0].texts, model):
            yield (
                f"cost: {workload['pairs']:,} pairs of {workload['dataset']}, "
                f"{workload['machine']}, model loaded before"
            )


def overview_sheet(overview: Overview) -> Sheet:
    """Return a row per task with the metric to use."""
    first = overview.every[0]
    return Sheet(
        f"which metric, for {LANGUAGES[first.lang]} texts with {first.data[0].model}",
        ("task", "use", "agreement", *COSTS, "best, but not significantly better", "judged data"),
        tuple(tuple(map(Cell, _overview_row(row))) for row in overview.every),
        notes=(
            "monge recommend --task NAME shows every metric, how far to trust it, and what it was "
            "measured on",
        ),
        words=2,
        words_behind=2,
        said=(_summarise(overview),),
    )


def _overview_row(recommendation: Recommendation) -> tuple[str, ...]:
    """Return the task, what to use, its agreement and cost, the best, and the judged data."""
    chosen, best = recommendation.choice, recommendation.best
    if chosen is None or best is None:
        return (recommendation.task, "none within the budget", *[""] * 5)
    figures, cost = chosen.tested, chosen.cost
    titles = [dataset.title for dataset in recommendation.data]
    if recommendation.ahead is not None:
        figures = recommendation.shared(recommendation.ahead)
        cost = recommendation.cost_of(recommendation.ahead)
        titles = [dataset.title for dataset in recommendation.data if dataset.key in figures]
    return (
        recommendation.task,
        recommendation.use or f"nothing (best: {best.metric})",
        ", ".join(decimals(figure.value) for figure in figures.values()),
        *(cell.text for cell in _cost_cells(cost)),
        best.metric if chosen is not best and recommendation.usable else "",
        ", ".join(titles),
    )


def _summarise(overview: Overview) -> str:
    """Return a sentence on which metric to use for which tasks."""
    tasks: dict[str, list[str]] = {}
    for recommendation in overview.every:
        lacking = "good enough" if recommendation.choice is not None else "cheap enough"
        use = recommendation.use or f"no metric, because none is {lacking},"
        tasks.setdefault(use, []).append(recommendation.task)
    return f"Use {'; '.join(f'{use} for {listed(names)}' for use, names in tasks.items())}."


def _agreement_cell(figure: Measured) -> Cell:
    return Cell(decimals(figure.value), mark=figure.mark)


def _cost_cells(cost: Cost | None) -> tuple[Cell, Cell]:
    if cost is None:
        return NOTHING, NOTHING
    return Cell(short(cost.seconds)), Cell(f"{cost.megabytes:.0f}")

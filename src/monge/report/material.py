"""The data of a report: scores by metric and system, texts, tests, plans, human scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from monge import api
from monge.datasets.segment_scores import GivenScores
from monge.errors import DataError, MongeError
from monge.evaluation import Comparison, Resampling, aligned, compare_results
from monge.evaluation.agreement import USUAL
from monge.evaluation.compare import one_system
from monge.evaluation.comparison import Standings
from monge.evaluation.external_scores import scores_by_system
from monge.metrics.presets import Spec
from monge.report.compact import compact, packed
from monge.types import Array, Result, Segment, Transported
from monge.types.flags import describe_flag
from monge.types.system_names import short_names

HUMAN = "human scores"
"""What the scores of people are called where the user gave no name."""
PLANS = 15_000
"""The most plans in a report: those of the segments that tell most."""
ROOM = 2_400_000
"""Bytes that plans may take in a page; of long texts fewer plans are carried."""


@dataclass(frozen=True)
class Material:
    """Results [metrics][systems] on the same items, and the segments [systems][items] behind them.

    `human` are human scores [systems, items], NaN where people gave none. `plans` are those of
    `explained` items, [place][system][metric], as `compact` writes them; `notes` say what is not
    shown and why.
    """

    metrics: tuple[str, ...]
    systems: tuple[str, ...]
    results: tuple[tuple[Result, ...], ...]
    segments: tuple[tuple[Segment, ...], ...]
    comparison: Comparison
    human: Array | None = None
    human_name: str = ""
    human_higher: bool = True
    explained: tuple[int, ...] = ()
    plans: Sequence[Sequence[Sequence[Any]]] = ()
    notes: tuple[str, ...] = ()
    title: str = ""
    date: str = ""
    plan_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def names(self) -> list[str]:
        """The names of the systems as people read them: without the endings of files."""
        short = short_names(self.systems)
        return [short[system] or "the system" for system in self.systems]

    @property
    def referenced(self) -> bool:
        """Whether texts are compared with references, not with the source alone."""
        return bool(self.segments[0][0].references)

    @cached_property
    def scores(self) -> Array:
        """[metrics, systems, items], as they are."""
        return np.array([[result.segments for result in row] for row in self.results])

    @cached_property
    def better(self) -> Array:
        """[metrics, systems, items], larger for better."""
        signs = np.array([1.0 if row[0].higher_is_better else -1.0 for row in self.results])
        better: Array = self.scores * signs[:, None, None]
        return better

    @property
    def items(self) -> int:
        """Number of items."""
        return len(self.segments[0])

    @property
    def standings(self) -> tuple[Standings, ...]:
        """The standings of the systems, one per metric."""
        return self.comparison.standings

    @cached_property
    def order(self) -> list[int]:
        """The systems, the best by the first metric first."""
        return self.standings[0].ranked

    @cached_property
    def ranks(self) -> Array:
        """Ranks [metrics, systems, items] of a metric's scores, from 0 (worst) to 1."""
        flat = self.better.reshape(len(self.metrics), -1)
        places = np.stack([np.searchsorted(np.sort(row), row, "left") for row in flat]).astype(
            np.float64
        )
        places += np.stack([np.searchsorted(np.sort(row), row, "right") - 1 for row in flat])
        ranks: Array = (places / max(2 * (flat.shape[1] - 1), 1)).reshape(self.better.shape)
        return ranks

    @cached_property
    def disagreement(self) -> Array:
        """[systems, items]: how far the metrics are apart in rank."""
        spread: Array = self.ranks.max(0) - self.ranks.min(0)
        return spread

    @cached_property
    def difference(self) -> Array:
        """Gap of the best and worst system [items], the largest over metrics."""
        spread = self.better.std(axis=(1, 2), keepdims=True)
        differences: Array = (
            (self.better.max(1) - self.better.min(1)) / np.where(spread > 0, spread, 1.0)[:, 0]
        ).max(0)
        return differences


def gathered(
    results: Sequence[Result],
    segments: Sequence[Segment],
    *,
    resampling: Resampling = USUAL,
    human: GivenScores | None = None,
    comparison: Comparison | None = None,
) -> Material:
    """Return the material of results; raise if systems differ in items or texts are missing.

    `comparison` is that of the same results, where it has been made already.
    """
    systems = list(dict.fromkeys(result.system for result in results))
    metrics = list(dict.fromkeys(result.metric for result in results))
    by_place = _results_by_place(results, metrics, systems)
    by_system: dict[str, list[Segment]] = {}
    for row in segments:
        by_system.setdefault(row.system, []).append(row)
    rows = aligned(segments) if len(systems) > 1 else by_system
    grid = tuple(
        tuple(_ordered(by_place[metric, system], rows[system]) for system in systems)
        for metric in metrics
    )
    if comparison is None:
        comparison = _compare(metrics, grid, resampling)
    outside = None
    if human is not None:
        outside, _ = scores_by_system(human, list(segments), {name: rows[name] for name in systems})
    return Material(
        metrics=tuple(metrics),
        systems=tuple(systems),
        results=grid,
        segments=tuple(tuple(rows[name]) for name in systems),
        comparison=comparison,
        human=outside,
        human_name=human.name if human is not None else "",
        human_higher=human is None or human.higher_is_better,
    )


def _results_by_place(
    results: Sequence[Result], metrics: Sequence[str], systems: Sequence[str]
) -> dict[tuple[str, str], Result]:
    """Return the results by metric and system; raise if one is missing or stands twice."""
    by_place = {(result.metric, result.system): result for result in results}
    missing = [(m, s) for m in metrics for s in systems if (m, s) not in by_place]
    if missing or len(by_place) < len(results):
        problem = "a metric and system stands twice"
        if missing:
            problem = f"{missing[0][0]} of {missing[0][1]} is missing"
        raise DataError(f"a report needs every metric for every system once: {problem}")
    return by_place


def _compare(
    metrics: Sequence[str], grid: Sequence[Sequence[Result]], resampling: Resampling
) -> Comparison:
    """Compare the systems of results [metrics][systems], or describe the only one."""
    if len(grid[0]) == 1:
        alone = tuple(one_system(row[0], resampling) for row in grid)
        return Comparison(alone, replace(resampling, test="bootstrap"))
    by_system = [result for column in zip(*grid, strict=True) for result in column]
    return compare_results([(name, name) for name in metrics], by_system, resampling=resampling)


def described_flags(results: Sequence[Sequence[Result]]) -> dict[tuple[int, int], list[str]]:
    """Describe each output's flags by its system and item; results are [metrics][systems]."""
    by_output: dict[tuple[int, int], list[str]] = {}
    for row in results:
        for s, result in enumerate(row):
            for item, names in enumerate(result.flags):
                for description in map(describe_flag, names):
                    descriptions = by_output.setdefault((s, item), [])
                    descriptions += [description] if description not in descriptions else []
    return by_output


def _ordered(result: Result, rows: Sequence[Segment]) -> Result:
    """Return the result with its segments in the order of the rows."""
    ids = [row.id for row in rows]
    if list(result.ids) == ids:
        return result
    places = {name: k for k, name in enumerate(result.ids)}
    if len(places) != len(ids) or any(name not in places for name in ids):
        raise DataError(
            f"{result.metric} of {result.system}: its segments are not those of the texts"
        )
    order = [places[name] for name in ids]
    return replace(
        result,
        segments=result.segments[order],
        parts={name: values[order] for name, values in result.parts.items()},
        ids=tuple(ids),
        references=result.references[order],
        flags=tuple(result.flags[k] for k in order),
        pooled=None
        if result.pooled is None
        else replace(result.pooled, statistics=result.pooled.statistics[order]),
    )


Plans = Iterable[tuple[int, Transported]]
Load = Callable[[str], tuple[api.Metric, dict[str, str]]]
"""A signature -> its metric, and the digests it must meet."""


Progress = Callable[[int, int], None]
"""Is told how many plans are made, and of how many."""
FindPlans = Callable[
    [api.Metric, Sequence[Segment], Sequence[Segment], dict[str, str] | None], Plans
]
"""(metric, all segments, places to explain, expected digests) -> places with their plans."""


def _transported(
    metric: api.Metric,
    segments: Sequence[Segment],
    rows: Sequence[Segment],
    expect: dict[str, str] | None,
) -> Plans:
    expected = None if expect is None else [expect]
    return (
        (place, plan)
        for _, place, plan in api.transported_segments([metric], segments, [rows], expect=expected)
    )


def with_plans(
    material: Material,
    load: Mapping[str, api.Metric] | None,
    *,
    most: int = PLANS,
    replay: Load | None = None,
    find_plans: FindPlans = _transported,
    progress: Progress = lambda done, total: None,
    remedy: str = " (--plans N changes how many)",
) -> Material:
    """Return the material with plans of as many items as `most` allows, the telling ones first.

    `load` has the metrics by label, or `replay` finds each by its signature; a metric that cannot
    be had, or moves nothing, has no plans, and a note says why. `remedy` ends the note that not all
    items have plans.
    """
    metrics, notes = _movers(material, load, replay)
    if not metrics or most <= 0:
        return replace(material, notes=(*material.notes, *notes))
    count = min(material.items, max(most // (len(material.systems) * len(metrics)), 1))
    chosen = telling(material, count)
    plans, names, failures = _collect_plans(material, metrics, chosen, find_plans, progress)
    notes += failures
    kept_items = _fitting(material, chosen, plans)
    if len(kept_items) < material.items:
        notes.append(
            f"Words are marked and plans can be opened in {len(kept_items)} of the "
            f"{material.items} segments: those in which systems differ or metrics disagree most, "
            f"and an even sample of the rest{remedy}."
        )
    return replace(
        material,
        explained=tuple(chosen[k] for k in kept_items),
        plans=[plans[k] for k in kept_items],
        plan_names=names,
        notes=(*material.notes, *notes),
    )


def _collect_plans(
    material: Material,
    metrics: Sequence[tuple[int, api.Metric, Any]],
    chosen: Sequence[int],
    find_plans: FindPlans,
    progress: Progress,
) -> tuple[list[list[list[Any]]], dict[str, tuple[str, ...]], list[str]]:
    """Return plans [items][systems][metrics], the names of each metric's plans, and failures."""
    plans: list[list[list[Any]]] = [
        [[None] * len(material.metrics) for _ in material.systems] for _ in chosen
    ]
    names: dict[str, tuple[str, ...]] = {}
    failures = []
    segments = [row for rows in material.segments for row in rows]
    done, total = 0, len(metrics) * len(material.systems) * len(chosen)
    for k, metric, expect in metrics:
        rows = [_against(material, k, s, i) for s in range(len(material.systems)) for i in chosen]
        try:
            for place, plan in find_plans(metric, segments, rows, expect):
                system, at = divmod(place, len(chosen))
                plans[at][system][k] = compact(plan)
                names[material.metrics[k]] = tuple(plan.plans)
                done += 1
                progress(done, total)
        except MongeError as error:
            failures.append(f"{material.metrics[k]}: its plans are not shown ({error})")
    return plans, names, failures


def _movers(
    material: Material, load: Mapping[str, api.Metric] | None, replay: Load | None
) -> tuple[list[tuple[int, api.Metric, dict[str, str] | None]], list[str]]:
    """Return the metrics that move words, with place and digests, and notes on the others."""
    metrics: list[tuple[int, api.Metric, dict[str, str] | None]] = []
    notes = []
    for k, label in enumerate(material.metrics):
        line = str(material.results[k][0].signature)
        try:
            loaded, expect = (
                (load[label], None) if load is not None else (replay or api.replay)(line)
            )
        except MongeError as error:
            notes.append(f"{label}: its plans are not shown ({error})")
            continue
        if moves_words(loaded.spec) and loaded.scorer.members.get("") is not None:
            metrics.append((k, loaded, expect))
    return metrics, notes


def _fitting(material: Material, chosen: Sequence[int], plans: Sequence[Any]) -> list[int]:
    """Return which chosen items' plans fit into a page: all, or where systems differ most."""
    size = len(packed(plans))
    if size <= ROOM:
        return list(range(len(chosen)))
    count = max(int(len(chosen) * ROOM / size), 1)
    order = sorted(range(len(chosen)), key=lambda k: -float(material.difference[chosen[k]]))
    return sorted(order[:count])


def moves_words(spec: Spec) -> bool:
    """Return whether a metric of these settings moves words: neither of words alone nor a blend."""
    from monge.metrics.metric import MetricSpec

    return isinstance(spec, MetricSpec)


def _against(material: Material, k: int, system: int, item: int) -> Segment:
    """Return a segment with the reference that won alone."""
    row = material.segments[system][item]
    won = max(int(material.results[k][system].references[item]), 0)
    return replace(row, references=row.references[won : won + 1]) if row.references else row


def telling(material: Material, count: int) -> list[int]:
    """Choose items: half by system differences, a quarter by disagreement, the rest evenly."""
    if count >= material.items:
        return list(range(material.items))
    chosen: dict[int, None] = {}
    by_difference = np.argsort(-material.difference, kind="stable")
    by_disagreement = np.argsort(-material.disagreement.max(0), kind="stable")
    chosen.update(dict.fromkeys(by_difference[: count // 2].tolist()))
    chosen.update(dict.fromkeys(by_disagreement[: count // 4].tolist()))
    evenly = np.linspace(0, material.items - 1, count).round().astype(int).tolist()
    for item in [*evenly, *by_difference.tolist()]:
        if len(chosen) >= count:
            break
        chosen[item] = None
    return sorted(chosen)[:count]

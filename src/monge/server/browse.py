"""The segments of a job, page by page, as the browser of a report shows them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from threading import Lock
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from monge.report.material import described_flags
from monge.server.jobs import PLANS_FILE, Jobs
from monge.server.refusals import Refusal
from monge.types import Array, Result, Segment

SortOrder = Literal["input", "score", "difference", "spread", "disagreement"]
Filter = Literal["all", "better", "worse", "flagged", "plans"]
ItemKey = tuple[str, int]
"""The id of a segment, and how many of its system have had it before: ids need not be distinct."""


class SegmentQuery(BaseModel):
    """Which segments to show, and in which order: for a metric, a system and a second system."""

    model_config = ConfigDict(extra="forbid")

    order: SortOrder = "input"
    metric: str | None = Field(None, max_length=2000)
    system: str | None = Field(None, max_length=2000)
    other: str | None = Field(
        None, max_length=2000, description="The second system of a difference."
    )
    filter: Filter = "all"
    search: str = Field(
        "", max_length=2000, description="Words of the texts or the id, in any case."
    )
    descending: bool = False
    start: int = Field(0, ge=0, le=10_000_000)
    size: int = Field(20, ge=1, le=200)


class BrowsedJob:
    """Results, texts and plans of a job by metric, system and item; missing scores are NaN."""

    def __init__(
        self, results: list[Result], rows: Iterable[Segment], plans: dict[str, Any]
    ) -> None:
        self.metrics = list(dict.fromkeys(result.metric for result in results))
        self.systems = list(dict.fromkeys(result.system for result in results))
        by_name = {(result.metric, result.system): result for result in results}
        self.results = [
            [by_name[metric, system] for system in self.systems] for metric in self.metrics
        ]
        keys = [_item_keys(result.ids) for result in self.results[0]]
        self.items = list(dict.fromkeys(key for system_keys in keys for key in system_keys))
        self._place_of = {key: place for place, key in enumerate(self.items)}
        self._at = [np.array([self._place_of[key] for key in system_keys]) for system_keys in keys]
        self.texts = self._place_segments(rows)
        self.plans = {item: place for place, item in enumerate(plans.get("explained", ()))}
        self._plans = plans.get("plans", ())

    def _place_segments(self, rows: Iterable[Segment]) -> list[list[Segment | None]]:
        """Return the segments [systems][items]; None where a system lacks an item."""
        segments: list[list[Segment | None]] = [[None] * len(self.items) for _ in self.systems]
        occurrences: Counter[tuple[str, str]] = Counter()
        of_system = {name: k for k, name in enumerate(self.systems)}
        for row in rows:
            place = self._place_of[row.id, occurrences[row.system, row.id]]
            occurrences[row.system, row.id] += 1
            segments[of_system[row.system]][place] = row
        return segments

    @cached_property
    def scores(self) -> Array:
        """The scores [metrics, systems, items], unchanged."""
        scores = np.full((len(self.metrics), len(self.systems), len(self.items)), np.nan)
        for m, row in enumerate(self.results):
            for s, result in enumerate(row):
                scores[m, s, self._at[s]] = result.segments
        return scores

    @cached_property
    def references(self) -> list[list[dict[int, int]]]:
        """[metrics][systems]: item -> the index of the best reference, unless it is the first."""
        return [
            [
                {
                    int(at[k]): int(result.references[k])
                    for k in np.flatnonzero(result.references > 0)
                }
                for at, result in zip(self._at, row, strict=True)
            ]
            for row in self.results
        ]

    @cached_property
    def flags(self) -> dict[tuple[int, int], list[str]]:
        """Descriptions of what was unusual in an output, by (system index, item index)."""
        return {
            (s, int(self._at[s][k])): descriptions
            for (s, k), descriptions in described_flags(self.results).items()
        }

    @cached_property
    def disagreement(self) -> Array:
        """[systems, items]: the largest difference between the metrics' ranks among all outputs."""
        flat = self.scores.reshape(len(self.metrics), -1)
        scored = np.isfinite(flat[0])
        ranks = np.full_like(flat, np.nan)
        for m, row in enumerate(self.results):
            signed = flat[m, scored] * (1 if row[0].higher_is_better else -1)
            ordered = np.sort(signed)
            both = (
                np.searchsorted(ordered, signed, "left")
                + np.searchsorted(ordered, signed, "right")
                - 1
            )
            ranks[m, scored] = both / max(2 * (len(signed) - 1), 1)
        differences: Array = (ranks.max(0) - ranks.min(0)).reshape(self.scores.shape[1:])
        return differences

    def plan(self, metric: int, system: int, item: int) -> Any:
        """Return the plan of an output in the compact form of a report, or None."""
        place = self.plans.get(item)
        return None if place is None else self._plans[place][system][metric]


def _item_keys(ids: Iterable[str]) -> list[ItemKey]:
    occurrences: Counter[str] = Counter()
    keys = []
    for name in ids:
        keys.append((name, occurrences[name]))
        occurrences[name] += 1
    return keys


_loading = Lock()


@lru_cache(maxsize=4)
def _load_job(jobs: Jobs, name: str) -> BrowsedJob:
    path = jobs.get(name).folder / PLANS_FILE
    plans = json.loads(path.read_bytes()) if path.is_file() else {}
    return BrowsedJob(jobs.results(name), jobs.get(name).rows(), plans)


@dataclass(frozen=True)
class _Chosen:
    """Indices of the metric and the two systems that a query names."""

    metric: int
    system: int
    second_system: int


def page(jobs: Jobs, name: str, view: SegmentQuery) -> dict[str, Any]:
    """Return a page of segments with their texts, scores and, for the chosen metric, plans."""
    jobs.path(name, "results.json")  # raises where there is none
    with _loading:  # those who come while it is read wait for it
        job = _load_job(jobs, name)
    chosen = _choose(job, view)
    keys = _sort_keys(job, view, chosen)
    selected = np.flatnonzero(np.isfinite(keys) & _select_items(job, view, chosen))
    values = keys[selected]
    order = selected[np.argsort(-values if view.descending else values, kind="stable")]
    places = order[view.start : view.start + view.size].tolist()
    return {
        "total": len(order),
        "start": view.start,
        "metrics": job.metrics,
        "systems": job.systems,
        "order": view.order,
        "items": [_describe_item(job, item, float(keys[item]), chosen.metric) for item in places],
    }


def _choose(job: BrowsedJob, view: SegmentQuery) -> _Chosen:
    metric, system = (
        _find_place("metric", view.metric, job.metrics),
        _find_place("system", view.system, job.systems),
    )
    if view.other is None:
        return _Chosen(
            metric, system, next((k for k in range(len(job.systems)) if k != system), system)
        )
    return _Chosen(metric, system, _find_place("system", view.other, job.systems))


def _find_place(kind: str, name: str | None, names: list[str]) -> int:
    if name is None:
        return 0
    if name not in names:
        raise Refusal(
            422, f"this job has no {kind} {name[:80]!r}", None, f"{kind}s: {', '.join(names)[:400]}"
        )
    return names.index(name)


def _sort_keys(job: BrowsedJob, view: SegmentQuery, chosen: _Chosen) -> Array:
    """Return the sort key of each item, [items]; NaN for those that the order leaves out."""
    scores = job.scores[chosen.metric]
    if view.order in ("difference", "spread") and len(job.systems) < 2:
        raise Refusal(422, f"a {view.order} needs two systems", None, "this job has one")
    if view.order == "disagreement" and len(job.metrics) < 2:
        raise Refusal(422, "disagreement needs two metrics", None, "this job has one")
    keys: Array
    if view.order == "score":
        keys = scores[chosen.system]
    elif view.order == "difference":
        keys = scores[chosen.system] - scores[chosen.second_system]
    elif view.order == "spread":
        keys = scores.max(0) - scores.min(0)
    elif view.order == "disagreement":
        keys = job.disagreement[chosen.system]
    else:
        keys = np.arange(len(job.items), dtype=np.float64)
    return keys


def _select_items(job: BrowsedJob, view: SegmentQuery, chosen: _Chosen) -> Array:
    """Return which items a query shows, [items]."""
    is_selected: Array = np.ones(len(job.items), dtype=bool)
    if view.filter in ("better", "worse"):
        gap = (
            job.scores[chosen.metric, chosen.system]
            - job.scores[chosen.metric, chosen.second_system]
        )
        better = job.results[chosen.metric][0].higher_is_better == (view.filter == "better")
        is_selected = gap > 0 if better else gap < 0
    elif view.filter in ("flagged", "plans"):
        is_selected = np.zeros(len(job.items), dtype=bool)
        is_selected[
            list(job.plans) if view.filter == "plans" else [item for _, item in job.flags]
        ] = True
    if view.search:
        words = view.search.lower()
        is_selected = is_selected & np.array(
            [_contains_words(job, item, words) for item in range(len(job.items))]
        )
    return is_selected


def _contains_words(job: BrowsedJob, item: int, words: str) -> bool:
    rows = [row for texts in job.texts if (row := texts[item]) is not None]
    texts = [
        job.items[item][0],
        *rows[0].references,
        rows[0].source or "",
        *(row.hypothesis for row in rows),
    ]
    return any(words in text.lower() for text in texts)


def _describe_item(job: BrowsedJob, item: int, key: float, metric: int) -> dict[str, Any]:
    outputs, first = [], None
    for s, system in enumerate(job.systems):
        row = job.texts[s][item]
        if row is None:
            continue
        first = first or row
        outputs.append(
            {
                "system": system,
                "hypothesis": row.hypothesis,
                "scores": {
                    name: float(job.scores[m, s, item]) for m, name in enumerate(job.metrics)
                },
                "flags": job.flags.get((s, item), []),
                "reference": job.references[metric][s].get(item, 0),
                "plan": job.plan(metric, s, item),
            }
        )
    assert first is not None
    texts = {"references": list(first.references), "source": first.source}
    return {"id": job.items[item][0], "key": key, **texts, "outputs": outputs}

"""The segments of a job, a page at a time, as the browser of a report shows them (`monge.report.browser`)."""

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
from monge.types import Array, Result, Segment
from monge.web.jobs import PLANS_FILE, Jobs
from monge.web.refusals import Refusal

Order = Literal["input", "score", "difference", "spread", "disagreement"]
Filter = Literal["all", "better", "worse", "flagged", "plans"]
ItemKey = tuple[str, int]
"""The id of a segment, and how many of its system have had it before: ids need not be distinct."""


class View(BaseModel):
    """Which segments, in which order: of a metric, a system and another one; the page from `start` with `size`."""

    model_config = ConfigDict(extra="forbid")

    order: Order = "input"
    metric: str | None = Field(None, max_length=2000)
    system: str | None = Field(None, max_length=2000)
    other: str | None = Field(None, max_length=2000, description="The second system of a difference.")
    filter: Filter = "all"
    search: str = Field("", max_length=2000, description="Words of the texts or the id, in any case.")
    descending: bool = False
    start: int = Field(0, ge=0, le=10_000_000)
    size: int = Field(20, ge=1, le=200)


class BrowsedJob:
    """The results, texts and plans of a job by metric, system and item; a score is NaN where a system lacks an item."""

    def __init__(self, results: list[Result], rows: Iterable[Segment], plans: dict[str, Any]) -> None:
        self.metrics = list(dict.fromkeys(one.metric for one in results))
        self.systems = list(dict.fromkeys(one.system for one in results))
        by_name = {(one.metric, one.system): one for one in results}
        self.results = [[by_name[metric, system] for system in self.systems] for metric in self.metrics]
        keys = [_item_keys(one.ids) for one in self.results[0]]
        self.items = list(dict.fromkeys(key for mine in keys for key in mine))
        self._place_of = {key: place for place, key in enumerate(self.items)}
        self._at = [np.array([self._place_of[key] for key in mine]) for mine in keys]
        self.texts = self._gathered(rows)
        self.plans = {item: place for place, item in enumerate(plans.get("explained", ()))}
        self._plans = plans.get("plans", ())

    def _gathered(self, rows: Iterable[Segment]) -> list[list[Segment | None]]:
        """The segments [systems][items]; None where a system lacks one."""
        found: list[list[Segment | None]] = [[None] * len(self.items) for _ in self.systems]
        seen: Counter[tuple[str, str]] = Counter()
        of_system = {name: k for k, name in enumerate(self.systems)}
        for row in rows:
            place = self._place_of[row.id, seen[row.system, row.id]]
            seen[row.system, row.id] += 1
            found[of_system[row.system]][place] = row
        return found

    @cached_property
    def scores(self) -> Array:
        """[metrics, systems, items], as they are."""
        found = np.full((len(self.metrics), len(self.systems), len(self.items)), np.nan)
        for m, row in enumerate(self.results):
            for s, result in enumerate(row):
                found[m, s, self._at[s]] = result.segments
        return found

    @cached_property
    def references(self) -> list[list[dict[int, int]]]:
        """[metrics][systems]: item -> the reference that won, where it is not the first."""
        return [
            [
                {int(at[k]): int(result.references[k]) for k in np.flatnonzero(result.references > 0)}
                for at, result in zip(self._at, row, strict=True)
            ]
            for row in self.results
        ]

    @cached_property
    def flags(self) -> dict[tuple[int, int], list[str]]:
        """What was unusual in an output, by the places of its system and its item."""
        return {(s, int(self._at[s][k])): told for (s, k), told in described_flags(self.results).items()}

    @cached_property
    def disagreement(self) -> Array:
        """[systems, items]: how far the metrics are apart in rank among all outputs."""
        flat = self.scores.reshape(len(self.metrics), -1)
        known = np.isfinite(flat[0])
        ranks = np.full_like(flat, np.nan)
        for m, row in enumerate(self.results):
            signed = flat[m, known] * (1 if row[0].higher_is_better else -1)
            ordered = np.sort(signed)
            both = np.searchsorted(ordered, signed, "left") + np.searchsorted(ordered, signed, "right") - 1
            ranks[m, known] = both / max(2 * (len(signed) - 1), 1)
        found: Array = (ranks.max(0) - ranks.min(0)).reshape(self.scores.shape[1:])
        return found

    def plan(self, metric: int, system: int, item: int) -> Any:
        """The plan of an output in the few bytes of a report, or None."""
        place = self.plans.get(item)
        return None if place is None else self._plans[place][system][metric]


def _item_keys(ids: Iterable[str]) -> list[ItemKey]:
    seen: Counter[str] = Counter()
    found = []
    for name in ids:
        found.append((name, seen[name]))
        seen[name] += 1
    return found


_loading = Lock()


@lru_cache(maxsize=4)
def _browsed(jobs: Jobs, name: str) -> BrowsedJob:
    kept = jobs.get(name).folder / PLANS_FILE
    plans = json.loads(kept.read_bytes()) if kept.is_file() else {}
    return BrowsedJob(jobs.results(name), jobs.get(name).rows(), plans)


@dataclass(frozen=True)
class _Chosen:
    """The places of what a view names."""

    metric: int
    system: int
    other: int


def page(jobs: Jobs, name: str, view: View) -> dict[str, Any]:
    """A page of segments with their texts, scores and, by the chosen metric, plans."""
    jobs.path(name, "results.json")  # raises where there is none
    with _loading:  # those who come while it is read wait for it
        job = _browsed(jobs, name)
    chosen = _chosen(job, view)
    keys = _keys(job, view, chosen)
    kept = np.flatnonzero(np.isfinite(keys) & _filtered(job, view, chosen))
    values = keys[kept]
    order = kept[np.argsort(-values if view.descending else values, kind="stable")]
    places = order[view.start : view.start + view.size].tolist()
    return {
        "total": len(order),
        "start": view.start,
        "metrics": job.metrics,
        "systems": job.systems,
        "order": view.order,
        "items": [_item(job, item, float(keys[item]), chosen.metric) for item in places],
    }


def _chosen(job: BrowsedJob, view: View) -> _Chosen:
    metric, system = _place("metric", view.metric, job.metrics), _place("system", view.system, job.systems)
    if view.other is None:
        return _Chosen(metric, system, next((k for k in range(len(job.systems)) if k != system), system))
    return _Chosen(metric, system, _place("system", view.other, job.systems))


def _place(kind: str, name: str | None, known: list[str]) -> int:
    if name is None:
        return 0
    if name not in known:
        raise Refusal(422, f"this job has no {kind} {name[:80]!r}", None, f"{kind}s: {', '.join(known)[:400]}")
    return known.index(name)


def _keys(job: BrowsedJob, view: View, chosen: _Chosen) -> Array:
    """What items are sorted by, [items]; NaN for those that the order leaves out."""
    scores = job.scores[chosen.metric]
    if view.order in ("difference", "spread") and len(job.systems) < 2:
        raise Refusal(422, f"a {view.order} needs two systems", None, "this job has one")
    if view.order == "disagreement" and len(job.metrics) < 2:
        raise Refusal(422, "disagreement needs two metrics", None, "this job has one")
    found: Array
    if view.order == "score":
        found = scores[chosen.system]
    elif view.order == "difference":
        found = scores[chosen.system] - scores[chosen.other]
    elif view.order == "spread":
        found = scores.max(0) - scores.min(0)
    elif view.order == "disagreement":
        found = job.disagreement[chosen.system]
    else:
        found = np.arange(len(job.items), dtype=np.float64)
    return found


def _filtered(job: BrowsedJob, view: View, chosen: _Chosen) -> Array:
    """Which items a view shows, [items]."""
    found: Array = np.ones(len(job.items), dtype=bool)
    if view.filter in ("better", "worse"):
        gap = job.scores[chosen.metric, chosen.system] - job.scores[chosen.metric, chosen.other]
        better = job.results[chosen.metric][0].higher_is_better == (view.filter == "better")
        found = gap > 0 if better else gap < 0
    elif view.filter in ("flagged", "plans"):
        found = np.zeros(len(job.items), dtype=bool)
        found[list(job.plans) if view.filter == "plans" else [item for _, item in job.flags]] = True
    if view.search:
        words = view.search.lower()
        found = found & np.array([_holds(job, item, words) for item in range(len(job.items))])
    return found


def _holds(job: BrowsedJob, item: int, words: str) -> bool:
    rows = [row for texts in job.texts if (row := texts[item]) is not None]
    texts = [job.items[item][0], *rows[0].references, rows[0].source or "", *(row.hypothesis for row in rows)]
    return any(words in text.lower() for text in texts)


def _item(job: BrowsedJob, item: int, key: float, metric: int) -> dict[str, Any]:
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
                "scores": {name: float(job.scores[m, s, item]) for m, name in enumerate(job.metrics)},
                "flags": job.flags.get((s, item), []),
                "reference": job.references[metric][s].get(item, 0),
                "plan": job.plan(metric, s, item),
            }
        )
    assert first is not None
    texts = {"references": list(first.references), "source": first.source}
    return {"id": job.items[item][0], "key": key, **texts, "outputs": outputs}

"""The items of a job, a page at a time: by score, by the difference between two systems, by metrics that disagree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from threading import Lock
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from monge.types import Array, Result, Segment
from monge.web.jobs import Jobs
from monge.web.refusals import Refusal

BINS = 24
Order = Literal["input", "score", "difference", "disagreement"]


class View(BaseModel):
    """Which items, in which order: of a metric, a system and another one; the page from `start` with `size` items."""

    model_config = ConfigDict(extra="forbid")

    order: Order = "input"
    metric: str | None = Field(None, max_length=2000)
    system: str | None = Field(None, max_length=2000)
    other: str | None = Field(None, max_length=2000, description="For `difference`: the second system.")
    descending: bool = False
    start: int = Field(0, ge=0, le=10_000_000)
    size: int = Field(20, ge=1, le=200)


@dataclass(frozen=True)
class _Browsed:
    """The results and texts of a job, with what every page asks of them: found once, kept while it is looked at."""

    results: list[Result]
    texts: dict[tuple[str, str], Segment]

    @cached_property
    def by(self) -> dict[tuple[str, str], Result]:
        """Results by metric and system."""
        return {(one.metric, one.system): one for one in self.results}

    @cached_property
    def places(self) -> dict[str, dict[str, int]]:
        """Of each system the place of every item."""
        return {one.system: {name: k for k, name in enumerate(one.ids)} for one in self.results}

    @cached_property
    def distributions(self) -> list[dict[str, Any]]:
        """Histograms of all scores; those of a metric have the same bins, so that systems can be compared."""
        found = []
        for metric in self.metrics:
            mine = [one for one in self.results if one.metric == metric]
            ends = min(float(one.segments.min()) for one in mine), max(float(one.segments.max()) for one in mine)
            found += [_distribution(one, *ends) for one in mine]
        return found

    @cached_property
    def metrics(self) -> list[str]:
        """The metrics in their order."""
        return list(dict.fromkeys(one.metric for one in self.results))

    @cached_property
    def systems(self) -> list[str]:
        """The systems in their order."""
        return list(dict.fromkeys(one.system for one in self.results))


_loading = Lock()


@lru_cache(maxsize=4)
def _browsed(jobs: Jobs, name: str) -> _Browsed:
    return _Browsed(jobs.results(name), {(row.system, row.id): row for row in jobs.get(name).rows()})


def page(jobs: Jobs, name: str, view: View) -> dict[str, Any]:
    """A page of items with the distributions of all scores."""
    jobs.path(name, "results.json")  # raises where there is none
    with _loading:  # those who come while it is read wait for it
        job = _browsed(jobs, name)
    metric = _known("metric", view.metric, job.metrics)
    system = _known("system", view.system, job.systems)
    keys = _keys(view, job.by, metric, system, job.systems, job.metrics)
    ids = job.by[metric, system].ids
    order = np.argsort(-keys if view.descending else keys, kind="stable")
    places = order[view.start : view.start + view.size].tolist()
    return {
        "total": len(ids),
        "start": view.start,
        "metrics": job.metrics,
        "systems": job.systems,
        "order": view.order,
        "items": [_item(ids[k], float(keys[k]), job) for k in places],
        "distributions": job.distributions,
    }


def _known(kind: str, asked: str | None, known: list[str]) -> str:
    if asked is None:
        return known[0]
    if asked not in known:
        raise Refusal(422, f"this job has no {kind} {asked[:80]!r}", None, f"{kind}s: {', '.join(known)[:400]}")
    return asked


def _keys(
    view: View, by: dict[tuple[str, str], Result], metric: str, system: str, systems: list[str], metrics: list[str]
) -> Array:
    """What items are sorted by, [n]: their place, a score, a difference, or how far metrics are apart in rank."""
    mine = by[metric, system]
    if view.order == "score":
        return mine.segments
    if view.order == "difference":
        if len(systems) < 2:
            raise Refusal(422, "a difference needs two systems", None, "this job has one")
        rest = [one for one in systems if one != system]
        other = by[metric, _known("system", view.other, systems) if view.other else rest[0]]
        if other.ids != mine.ids:
            raise Refusal(422, "these systems do not have the same items", None, "sort by score")
        return mine.segments - other.segments
    if view.order == "disagreement":
        if len(metrics) < 2:
            raise Refusal(422, "disagreement needs two metrics", None, "this job has one")
        ranks = np.stack([_ranks(by[one, system]) for one in metrics])
        spread: Array = ranks.max(0) - ranks.min(0)
        return spread
    return np.arange(mine.n, dtype=np.float64)


def _ranks(result: Result) -> Array:
    """Where each item stands among all, from 0 (worst) to 1 (best)."""
    signed = result.segments if result.higher_is_better else -result.segments
    found: Array = signed.argsort(kind="stable").argsort(kind="stable") / max(result.n - 1, 1)
    return found


def _item(name: str, key: float, job: _Browsed) -> dict[str, Any]:
    first = next(job.texts[system, name] for system in job.systems if (system, name) in job.texts)
    outputs = []
    for system in job.systems:
        row, place = job.texts.get((system, name)), job.places[system].get(name)
        if row is None or place is None:
            continue
        scores = {metric: float(one.segments[place]) for (metric, owner), one in job.by.items() if owner == system}
        outputs.append({"system": system, "hypothesis": row.hypothesis, "scores": scores})
    return {"id": name, "key": key, "references": list(first.references), "source": first.source, "outputs": outputs}


def _distribution(result: Result, low: float, high: float) -> dict[str, Any]:
    """A histogram of the scores of a system, between two ends."""
    counts, edges = np.histogram(result.segments, BINS, (low, high if high > low else low + 1e-9))
    return {
        "metric": result.metric,
        "system": result.system,
        "score": result.score,
        "higher_is_better": result.higher_is_better,
        "low": float(edges[0]),
        "high": float(edges[-1]),
        "counts": counts.tolist(),
    }

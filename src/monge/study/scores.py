"""Segment scores of judged texts: every metric of a run from one encoding pass a group.

Statistics (idf, means) are fitted per group, except where groups are topics with a few references each:
there the whole data set is the corpus. At segment level the judged outputs of a group are one system,
so that a metric which fits the hypothesis side fits it from the group; at system level each system is one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path

import numpy as np

from monge import api
from monge.data import Judged, describe
from monge.store import Store
from monge.study.metrics import Asked
from monge.types import Array, Segment, Signature

Progress = Callable[[int], None]
Corpora = Mapping[str, Iterable[str]]
POOLED = ("topic",)
"""What groups are called whose texts are too few to fit statistics from."""


@dataclass(frozen=True)
class Scored:
    """One metric on every group: segment scores [n] in the order of the group's segments, and scores of systems.

    `systems` holds the score of each system of a group: the metric's corpus score where it has one, else the mean;
    `flagged` counts the fallbacks that were taken, `work` what the passes that made the scores cost.
    """

    asked: Asked
    signature: str
    groups: Mapping[str, Array]
    systems: Mapping[str, Mapping[str, float]]
    flagged: Mapping[str, int] = field(default_factory=dict)
    work: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Part:
    """The scores of some rows by one metric."""

    segments: Array
    systems: Mapping[str, float]
    signature: Signature
    flagged: Mapping[str, int] = field(default_factory=dict)
    work: Mapping[str, int] = field(default_factory=dict)


def score_judged(
    asked: Sequence[Asked],
    judged: Judged,
    *,
    progress: Progress | None = None,
    cache: str | Path | None = None,
    corpora: Corpora | None = None,
) -> list[Scored]:
    """The scores of a judged data set by every metric, in the order asked.

    `cache` is a directory that keeps them; `corpora` are idf corpora by the name that metrics give them.
    """
    groups, store = rows_of(judged), None if cache is None else Store(cache)
    pooled = describe(judged.dataset).groups in POOLED
    if pooled:
        every = [row for rows in groups.values() for row in rows]
        parts = _split(score_rows(asked, every, progress, store, corpora), groups)
    else:
        parts = {name: score_rows(asked, rows, progress, store, corpora) for name, rows in groups.items()}
    return [_gathered(one, {name: found[k] for name, found in parts.items()}) for k, one in enumerate(asked)]


def rows_of(judged: Judged) -> dict[str, list[Segment]]:
    """The segments of every group as they are scored: the source in the reference's place where there is none."""
    keep = judged.level == "system"

    def row(one: Segment) -> Segment:
        references = one.references if judged.against == "references" else (one.source or "",)
        return replace(one, references=references, system=one.system if keep else "")

    return {name: [row(one) for one in group.segments] for name, group in judged.groups.items()}


def score_rows(
    asked: Sequence[Asked],
    rows: Sequence[Segment],
    progress: Progress | None = None,
    store: Store | None = None,
    corpora: Corpora | None = None,
) -> list[Part]:
    """The scores of rows by every metric; those of vectors share one encoding pass."""
    found: dict[int, Part] = {}
    for spread in (False, True):
        chosen = [k for k, one in enumerate(asked) if one.spread is spread]
        if chosen:
            metrics = [asked[k].metric for k in chosen]
            parts = _spread(metrics, rows) if spread else _parts(metrics, rows, progress, store, corpora)
            found.update(zip(chosen, parts, strict=True))
    return [found[k] for k in range(len(asked))]


def _parts(
    metrics: Sequence[api.Metric],
    rows: Sequence[Segment],
    progress: Progress | None = None,
    store: Store | None = None,
    corpora: Corpora | None = None,
) -> list[Part]:
    results = api.score_segments(metrics, rows, progress=progress, cache=store, corpora=corpora)
    places = _places(rows)
    parts = []
    for k in range(len(metrics)):
        mine = results[k :: len(metrics)]
        segments = np.empty(len(rows), dtype=np.float64)
        for result in mine:
            segments[places[result.system]] = result.segments
        signature = _joined([one.signature for one in mine], [one.system for one in mine])
        flagged = _added(one.run.get("flagged", {}) for one in mine)
        systems = {one.system: one.score for one in mine}
        parts.append(Part(segments, systems, signature, flagged, mine[0].work))
    return parts


def _spread(metrics: Sequence[api.Metric], rows: Sequence[Segment]) -> list[Part]:
    """Every reference by itself, then the mean over the references of a row."""
    each = [replace(row, references=(reference,)) for row in rows for reference in row.references]
    owners = np.repeat(np.arange(len(rows)), [len(row.references) for row in rows])
    parts = []
    for part in _parts(metrics, each):
        segments = np.bincount(owners, weights=part.segments) / np.bincount(owners)
        systems = {system: float(segments[mine].mean()) for system, mine in _places(rows).items()}
        signature = Signature((*part.signature.fields, ("references", "mean")))
        parts.append(Part(segments, systems, signature, part.flagged, part.work))
    return parts


def _added(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """The sums of counts by name."""
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(total)


def _places(rows: Sequence[Segment]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for index, row in enumerate(rows):
        places.setdefault(row.system, []).append(index)
    return places


def _split(parts: Sequence[Part], corpora: Mapping[str, Sequence[Segment]]) -> dict[str, list[Part]]:
    """The parts of one pass over all groups, by group; a system's score is the mean of its segments there.

    What the pass cost, and the fallbacks taken in it, stand with the first group.
    """
    found, start = {}, 0
    for name, rows in corpora.items():
        places = {system: np.array(mine) + start for system, mine in _places(rows).items()}
        found[name] = [
            Part(
                part.segments[start : start + len(rows)],
                {system: float(part.segments[mine].mean()) for system, mine in places.items()},
                part.signature,
                {} if start else part.flagged,
                {} if start else part.work,
            )
            for part in parts
        ]
        start += len(rows)
    return found


def _gathered(asked: Asked, parts: Mapping[str, Part]) -> Scored:
    signature = _joined([part.signature for part in parts.values()], list(parts))
    return Scored(
        asked,
        str(signature),
        {name: part.segments for name, part in parts.items()},
        {name: part.systems for name, part in parts.items()},
        _added(part.flagged for part in parts.values()),
        _added(part.work for part in parts.values()),
    )


def _joined(signatures: Sequence[Signature], names: Sequence[str]) -> Signature:
    """One signature of several that differ in their statistics (a fit a group): a digest of all of them.

    `stats:idf=each.1a2b3c4d` reads: fitted from each group's own texts, 1a2b3c4d names all the fits together.
    """
    first = signatures[0]
    if all(one == first for one in signatures):
        return first
    joined = []
    for key, value in first.fields:
        each = [one.get(key) for one in signatures]
        if key == "stats" and len(set(each)) > 1:
            kinds = [part.partition("=")[0] for part in value.split(",")]
            digest = blake2b(repr(sorted(zip(names, each, strict=True))).encode(), digest_size=4).hexdigest()
            joined.append((key, ",".join(f"{kind}=each.{digest}" for kind in kinds)))
        else:
            joined.append((key, value if len(set(each)) == 1 else "var"))
    return Signature(tuple(joined))

"""The score book: scores of variants on judged texts, from one encoding pass, computed once and shared.

Statistics (idf, means) are fitted per group, except where groups are topics with a few references each: there the
whole data set is the corpus. At segment level the judged outputs of a group are one system, so that a metric which
fits the hypothesis side fits it from the group; at system level each system is one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Protocol, Self

import numpy as np

from monge import api
from monge.data import Group, Judged, describe
from monge.store import opened
from monge.study.variants import Variant
from monge.types import Array, Result, Segment, Signature

Corpora = Mapping[str, Iterable[str]]
Progress = Callable[[int], None]
Rows = tuple[Segment, ...]
Elsewhere = Callable[[Sequence[tuple[Sequence[api.Metric], Rows, Corpora]]], Iterator[tuple[int, list[Result]]]]
"""What scores passes, each some metrics on some rows: gives the number of each, as it is done, with its results."""
TOPICS = ("topic",)
"""What groups are called whose texts are too few to fit statistics from."""


@dataclass(frozen=True)
class Run:
    """How a study runs: the directory that keeps vectors and scores, and whom it tells.

    `progress` is called with the number of segments done, `opened` with what was read, before anything is scored.
    `elsewhere` scores passes other than here, by workers of a cluster; nothing is kept of them.
    """

    cache: str | Path | None = None
    progress: Progress | None = None
    opened: Callable[[Sequence[Judged]], None] | None = None
    elsewhere: Elsewhere | None = None

    def tell(self, every: Sequence[Judged]) -> None:
        """Say what was read."""
        if self.opened is not None:
            self.opened(every)


QUIET = Run()


@dataclass(frozen=True)
class RowScores:
    """The scores of some rows by one variant.

    `segments` [n] in the order of the rows, `systems` the score of each system: the metric's corpus score where it has
    one, else the mean; `flagged` counts the fallbacks that were taken, `work` what the pass cost.
    """

    segments: Array
    systems: Mapping[str, float]
    signature: Signature
    higher_is_better: bool
    flagged: Mapping[str, int] = field(default_factory=dict)
    work: Mapping[str, int] = field(default_factory=dict)


class Named(Protocol):
    """Whose scores they are: a variant's, or those that a file gives."""

    @property
    def label(self) -> str:
        """What tells it from others in a table."""

    @property
    def name(self) -> str:
        """NAME or NAME@PROFILE."""


@dataclass(frozen=True)
class Scores:
    """One variant, or the scores that a file gives, on every group of a data set."""

    variant: Named
    groups: Mapping[str, RowScores]

    @property
    def label(self) -> str:
        """What the variant is called."""
        return self.variant.label

    @property
    def signature(self) -> str:
        """One signature for all groups."""
        return str(_joined_signature({name: one.signature for name, one in self.groups.items()}))

    @property
    def higher_is_better(self) -> bool:
        """The direction of the scores."""
        return next(iter(self.groups.values())).higher_is_better

    @property
    def flagged(self) -> dict[str, int]:
        """The fallbacks that were taken, counted over all groups."""
        return _added(one.flagged for one in self.groups.values())

    @property
    def work(self) -> dict[str, int]:
        """What the passes that made the scores cost."""
        return _added(one.work for one in self.groups.values())

    def signed(self, name: str, group: Group, *, by_segment: bool = False) -> Array:
        """What is compared with the human judgements of a group, higher for better: scores of segments, or of systems.

        `by_segment`: those of segments, whatever is judged.
        """
        mine = self.groups[name]
        values = mine.segments
        if group.systems is not None and not by_segment:
            values = np.array([mine.systems[system] for system in group.systems], dtype=np.float64)
        return values if mine.higher_is_better else -values


class ScoreBook:
    """The scores of a study: what was asked of the same texts before is not scored again.

    A context manager, so that its cache is closed at the end.
    """

    def __init__(self, run: Run = QUIET) -> None:
        self._run, self._closing = run, ExitStack()
        self._store = self._closing.enter_context(opened(run.cache))
        self._pages: dict[tuple[Rows, int], RowScores] = {}
        self._variants: dict[int, Variant] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    def scores(self, variants: Sequence[Variant], judged: Judged, *, corpora: Corpora | None = None) -> list[Scores]:
        """The scores of every variant, in order; `corpora` are idf corpora by the name that variants give them."""
        found: list[dict[str, RowScores]] = [{} for _ in variants]
        parts = [(part, tuple(row for some in part.values() for row in some)) for part in _fitted_together(judged)]
        if self._run.elsewhere is not None:
            self._fill(self._run.elsewhere, variants, [rows for _, rows in parts], corpora)
        for part, rows in parts:
            for mine, page in zip(found, self.of_rows(variants, rows, corpora=corpora), strict=True):
                mine.update(_split(page, part) if len(part) > 1 else {next(iter(part)): page})
        return [
            Scores(variant, {name: mine[name] for name in judged.groups})
            for variant, mine in zip(variants, found, strict=True)
        ]

    def of_rows(self, variants: Sequence[Variant], rows: Rows, *, corpora: Corpora | None = None) -> list[RowScores]:
        """The scores of rows by every variant; those of vectors share one encoding pass."""
        missing = [one for one in variants if (rows, id(one.metric)) not in self._pages]
        passes = [some for spread in (False, True) if (some := [one for one in missing if one.spread is spread])]
        for some in passes:
            texts = _references_apart(rows) if some[0].spread else rows
            progress = _scaled(self._run.progress, len(rows), len(passes) * len(texts))
            pages = self._scored(some, texts, corpora, progress)
            if some[0].spread:
                pages = [_mean_over_references(page, rows) for page in pages]
            self._variants |= {id(one.metric): one for one in some}  # an id must not outlive its metric
            self._pages |= {(rows, id(one.metric)): page for one, page in zip(some, pages, strict=True)}
        return [self._pages[rows, id(one.metric)] for one in variants]

    def _scored(
        self, variants: Sequence[Variant], rows: Rows, corpora: Corpora | None, progress: Progress | None
    ) -> list[RowScores]:
        metrics = [one.metric for one in variants]
        given, watch = api.Corpora(files=corpora or {}), api.Watch(progress)
        results = api.score_segments(metrics, rows, cache=self._store, corpora=given, watch=watch)
        return self._read(variants, rows, results)

    def _fill(
        self, elsewhere: Elsewhere, variants: Sequence[Variant], every: Sequence[Rows], corpora: Corpora | None
    ) -> None:
        """Have all that is missing scored elsewhere: a pass for some rows and the metrics that share an encoder."""
        passes = []
        for rows in every:
            shared: dict[tuple[object, ...], list[Variant]] = {}
            for one in variants:
                if (rows, id(one.metric)) not in self._pages:
                    readers = tuple(getattr(member, "reader", None) for member in one.metric.scorer.members.values())
                    shared.setdefault((one.spread, *readers), []).append(one)
            passes += [(some, rows, _references_apart(rows) if some[0].spread else rows) for some in shared.values()]
        asked = [([one.metric for one in some], texts, corpora or {}) for some, _, texts in passes]
        share = len(passes) // max(len(every), 1)
        for number, results in elsewhere(asked) if asked else ():
            some, rows, texts = passes[number]
            pages = self._read(some, texts, results)
            if some[0].spread:
                pages = [_mean_over_references(page, rows) for page in pages]
            self._variants |= {id(one.metric): one for one in some}
            self._pages |= {(rows, id(one.metric)): page for one, page in zip(some, pages, strict=True)}
            if self._run.progress is not None:
                self._run.progress(len(rows) // max(share, 1))

    def _read(self, variants: Sequence[Variant], rows: Rows, results: Sequence[Result]) -> list[RowScores]:
        """The results of a pass as the scores of its rows."""
        places = _places(rows)
        found = []
        for k in range(len(variants)):
            mine = results[k :: len(variants)]
            segments = np.empty(len(rows), dtype=np.float64)
            for result in mine:
                segments[places[result.system]] = result.segments
            found.append(
                RowScores(
                    segments,
                    {one.system: one.score for one in mine},
                    _joined_signature({one.system: one.signature for one in mine}),
                    mine[0].higher_is_better,
                    _added(one.run.get("flagged", {}) for one in mine),
                    mine[0].work,
                )
            )
        return found


def _references_apart(rows: Rows) -> Rows:
    """Every reference of every row by itself."""
    return tuple(replace(row, references=some) for row in rows for some in _each(row))


def _each(row: Segment) -> list[tuple[str, ...]]:
    """The references of a row one by one; a row that has none, but a source, stays as it is."""
    return [(reference,) for reference in row.references] or [()]


def _mean_over_references(page: RowScores, rows: Rows) -> RowScores:
    """The scores of `_references_apart(rows)` as those of the rows: the mean over the references of each."""
    owners = np.repeat(np.arange(len(rows)), [len(_each(row)) for row in rows])
    segments = np.bincount(owners, weights=page.segments) / np.bincount(owners)
    systems = {system: float(segments[mine].mean()) for system, mine in _places(rows).items()}
    signature = Signature((*page.signature.fields, ("references", "mean")))
    return replace(page, segments=segments, systems=systems, signature=signature)


def _scaled(progress: Progress | None, rows: int, steps: int) -> Progress | None:
    """Progress that takes so many steps for so many rows: a pass may have more texts than rows, a run two passes."""
    if progress is None:
        return None
    done = 0

    def step(count: int) -> None:
        nonlocal done
        before, done = done, done + count
        progress(done * rows // steps - before * rows // steps)

    return step


def rows_of(judged: Judged) -> dict[str, Rows]:
    """The segments of every group as they are scored: without references where the source is what is judged."""
    keep = judged.level == "system"

    def row(one: Segment) -> Segment:
        references = one.references if judged.against == "references" else ()
        return replace(one, references=references, system=one.system if keep else "")

    return {name: tuple(row(one) for one in group.segments) for name, group in judged.groups.items()}


def _fitted_together(judged: Judged) -> Iterator[dict[str, Rows]]:
    """Groups whose texts make one corpus: each its own, or all of them where groups are topics."""
    rows = rows_of(judged)
    if describe(judged.dataset).groups in TOPICS:
        yield rows
    else:
        yield from ({name: some} for name, some in rows.items())


def _places(rows: Sequence[Segment]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for index, row in enumerate(rows):
        places.setdefault(row.system, []).append(index)
    return places


def _split(page: RowScores, groups: Mapping[str, Rows]) -> dict[str, RowScores]:
    """The scores of one pass over several groups, by group; a system's score is the mean of its segments there.

    What the pass cost, and the fallbacks taken in it, stand with the first group.
    """
    found, start = {}, 0
    for name, rows in groups.items():
        mine = page.segments[start : start + len(rows)]
        systems = {system: float(mine[places].mean()) for system, places in _places(rows).items()}
        found[name] = replace(page, segments=mine, systems=systems)
        if start:
            found[name] = replace(found[name], flagged={}, work={})
        start += len(rows)
    return found


def joined_scores(pools: Sequence[tuple[Judged, Sequence[Scores]]]) -> list[Scores]:
    """The scores of several data sets under the names of `task.joined`."""
    if len(pools) == 1:
        return list(pools[0][1])
    return [
        replace(
            one, groups={f"{judged.dataset}/{name}": v for judged, some in pools for name, v in some[k].groups.items()}
        )
        for k, one in enumerate(pools[0][1])
    ]


def _added(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """The sums of counts by name."""
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(total)


def _joined_signature(signatures: Mapping[str, Signature]) -> Signature:
    """One signature of several that differ in their statistics (a fit a group): a digest of all of them.

    `stats:idf=each.1a2b3c4d` reads: fitted from each group's own texts, 1a2b3c4d names all the fits together.
    """
    first = next(iter(signatures.values()))
    if all(one == first for one in signatures.values()):
        return first
    joined = []
    for key, value in first.fields:
        each = {name: one.get(key) for name, one in signatures.items()}
        if key == "stats" and len(set(each.values())) > 1:
            kinds = [part.partition("=")[0] for part in value.split(",")]
            digest = blake2b(repr(sorted(each.items())).encode(), digest_size=4).hexdigest()
            joined.append((key, ",".join(f"{kind}=each.{digest}" for kind in kinds)))
        else:
            joined.append((key, value if len(set(each.values())) == 1 else "var"))
    return Signature(tuple(joined))

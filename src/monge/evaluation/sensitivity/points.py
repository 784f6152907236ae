"""Metrics at points of a design: every setting of every factor, one encoding pass per group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import product
from typing import cast

import numpy as np

from monge.datasets import Judged
from monge.errors import DataError, UsageError
from monge.evaluation.agreement import (
    MEAN,
    AgreementTable,
    Resampling,
    agreement_table,
    require_defined,
)
from monge.evaluation.score_book import ScoreBook, rows_of
from monge.evaluation.sensitivity.factors import Draw, Factor, changes, random_name
from monge.evaluation.task import languages
from monge.evaluation.variant_scores import VariantScores
from monge.evaluation.variants import Setup, Variant, load_variants
from monge.metrics.metric import MetricSpec
from monge.metrics.presets import resolve
from monge.metrics.rules import check
from monge.types import Array


@dataclass(frozen=True)
class Point:
    """A metric with some factors set, as (factor, setting) pairs; with none, as requested."""

    metric: str
    settings: tuple[tuple[str, str], ...] = ()

    def changes(self, spec: MetricSpec, language: str) -> tuple[str, ...]:
        """Return the changes to the metric's own spec."""
        return tuple(
            change
            for factor, setting in self.settings
            for change in changes(factor, setting, spec, language)
        )


def points_of(metric: str, factor: Factor) -> list[Point]:
    """Return one point per setting of the factor."""
    return [Point(metric, ((factor.name, setting),)) for setting in factor.settings]


def crossed(metric: str, factors: Sequence[Factor]) -> list[Point]:
    """Return every combination of settings, the last factor changing fastest."""
    names = [factor.name for factor in factors]
    return [
        Point(metric, tuple(zip(names, combination, strict=True)))
        for combination in product(*(factor.settings for factor in factors))
    ]


@dataclass(frozen=True)
class DrawnCorpus:
    """An idf corpus that was drawn: how many texts, and a digest of them."""

    name: str
    language: str
    texts: int
    digest: str


@dataclass(frozen=True)
class PointScores:
    """The scores of every point, one per language; points with equal specs share theirs.

    `corpora` are those that were drawn, `work` is what the encoding passes cost.
    """

    by_point: Mapping[Point, tuple[VariantScores, ...]]
    corpora: tuple[DrawnCorpus, ...]
    work: Mapping[str, int]

    def specs(self, point: Point) -> list[object]:
        """Return the spec of a point in every language."""
        return [
            cast("Variant", variant_scores.variant).spec for variant_scores in self.by_point[point]
        ]

    def signatures(self, point: Point) -> tuple[str, ...]:
        """Return the distinct signatures of a point."""
        return tuple(
            dict.fromkeys(variant_scores.signature for variant_scores in self.by_point[point])
        )

    def flagged(self, point: Point) -> dict[str, int]:
        """Return the fallbacks that were taken at a point, counted over all groups."""
        total: Counter[str] = Counter()
        for variant_scores in self.by_point[point]:
            total.update(variant_scores.flagged)
        return dict(sorted(total.items()))

    @property
    def distinct(self) -> int:
        """How many different metrics were scored."""
        return len({_identity(scores) for scores in self.by_point.values()})


def _identity(scores: Sequence[VariantScores]) -> tuple[int, ...]:
    return tuple(id(variant_scores) for variant_scores in scores)


@dataclass(frozen=True)
class PointTable:
    """The agreement of points with people: an agreement table, and the row of each point in it."""

    table: AgreementTable
    places: Mapping[Point, int]

    def of(self, points: Sequence[Point], kind: str = "values") -> dict[str, Array]:
        """Return values [points] or draws [points, resamples], by group and on the mean."""
        at = [self.places[point] for point in points]
        by_group = {name: getattr(column, kind)[at] for name, column in self.table.columns.items()}
        return {
            **by_group,
            MEAN: np.asarray(
                np.tensordot(self.table.weights, np.stack(list(by_group.values())), axes=1)
            ),
        }


def point_table(
    dataset: Judged,
    scores: PointScores,
    statistic: str,
    tested: Sequence[Point],
    resampling: Resampling,
) -> PointTable:
    """Return the agreement of every point; `tested` points are resampled with shared draws."""
    rows: dict[tuple[int, ...], VariantScores] = {}
    for point in dict.fromkeys([*tested, *scores.by_point]):
        point_scores = scores.by_point[point]
        groups = {
            name: row
            for variant_scores in point_scores
            for name, row in variant_scores.groups.items()
        }
        rows.setdefault(_identity(point_scores), replace(point_scores[0], groups=groups))
    resampled_variants = len({_identity(scores.by_point[point]) for point in tested})
    table = agreement_table(
        dataset,
        list(rows.values()),
        statistic,
        resamples=resampling.resamples,
        seed=resampling.seed,
        resampled_variants=resampled_variants,
    )
    numbers = {key: k for k, key in enumerate(rows)}
    places = {
        point: numbers[_identity(point_scores)] for point, point_scores in scores.by_point.items()
    }
    return PointTable(require_defined(table, dataset), places)


def check_points(points: Sequence[Point], language: str, setup: Setup) -> None:
    """Raise if a point is invalid, before a model is loaded."""
    for point in points:
        spec = resolve(point.metric, tuple(setup.settings), setup.lang)[1]
        if not isinstance(spec, MetricSpec):
            raise UsageError(f"{point.metric} is no transport metric: it has none of these factors")
        check(spec.changed(point.changes(spec, language)))


def score_points(
    points: Sequence[Point],
    dataset: Judged,
    setup: Setup,
    book: ScoreBook,
    draw: Draw | None,
    seed: int,
) -> PointScores:
    """Score every point, equal specs once; `draw` says which random corpora its settings name."""
    by_language = languages(dataset, setup.lang)
    for language in by_language:
        check_points(points, language, setup)
    by_point: dict[Point, list[VariantScores]] = {point: [] for point in points}
    drawn_corpora: list[DrawnCorpus] = []
    work: Counter[str] = Counter()
    for language, names in by_language.items():
        language_dataset = replace(dataset, groups={name: dataset.groups[name] for name in names})
        corpora = random_corpora(language_dataset, draw, seed) if draw is not None else {}
        drawn_corpora += [
            DrawnCorpus(name, language, len(texts), _digest(texts))
            for name, texts in corpora.items()
        ]
        places, variants = _variants(points, language, dataset.references, setup)
        scores = book.scores(variants, language_dataset, corpora=corpora)
        work.update(scores[0].work)
        for point in points:
            by_point[point].append(scores[places[point]])
    return PointScores(
        {point: tuple(point_scores) for point, point_scores in by_point.items()},
        tuple(drawn_corpora),
        dict(work),
    )


def _variants(
    points: Sequence[Point], language: str, references: str, setup: Setup
) -> tuple[dict[Point, int], list[Variant]]:
    """Return the distinct variants, and which of them each point is."""
    numbers: dict[tuple[str, object], int] = {}
    variants: list[Variant] = []
    places = {}
    for point in points:
        spec = resolve(point.metric, tuple(setup.settings), setup.lang)[1]
        last = point.changes(spec, language) if isinstance(spec, MetricSpec) else ()
        (variant,) = load_variants([point.metric], setup, references=references, last=last)
        key = point.metric, variant.spec
        if key not in numbers:
            numbers[key] = len(variants)
            variants.append(variant)
        places[point] = numbers[key]
    return places, variants


def random_corpora(dataset: Judged, draw: Draw, seed: int) -> dict[str, list[str]]:
    """Return random idf corpora by name: distinct references, drawn without replacement."""
    rows = (row for group_rows in rows_of(dataset).values() for row in group_rows)
    pool = list(
        dict.fromkeys(text for row in rows for text in row.references or (row.source or "",))
    )
    size = min(draw.texts, len(pool) // 2) if draw.usual else draw.texts
    if size > len(pool) or size < 2:
        raise DataError(
            f"idf=random:{draw.corpora}x{draw.texts}: there are {len(pool)} distinct references to "
            "draw from"
        )
    corpora = {}
    for number in range(draw.corpora):
        chosen = np.random.default_rng([seed, number]).choice(len(pool), size=size, replace=False)
        corpora[random_name(number)] = [pool[index] for index in sorted(chosen.tolist())]
    return corpora


def _digest(texts: Sequence[str]) -> str:
    return blake2b("\n".join(texts).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()

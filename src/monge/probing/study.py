"""The study of `monge probe`: how the scores of good texts react to controlled errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from statistics import NormalDist
from typing import Unpack

import numpy as np
import numpy.typing as npt

from monge import api
from monge.datasets.segment_scores import GivenScores
from monge.errors import DataError, UsageError
from monge.evaluation.agreement import USUAL, Resampling
from monge.evaluation.broken_plugins import score_usable_variants
from monge.evaluation.calls import Names, StudyOptions, names_and_setup, run_of
from monge.evaluation.external_scores import NO_SCORES, check_distinct_names, signature_of
from monge.evaluation.score_book import QUIET, Run, ScoreBook
from monge.evaluation.variant_scores import RowScores
from monge.evaluation.variants import Variant, load_variants
from monge.metrics.default import DEFAULT_METRIC
from monge.probing.challenge import (
    EXAMPLE_TEXTS,
    OUTPUT_TEXTS,
    REFERENCE_TEXTS,
    SOURCE_ONLY,
    Challenge,
    example_texts,
    from_references,
    make_challenge,
)
from monge.probing.probe_result import KindReaction, MetricReaction, ProbeResult, SeverityOrder
from monge.probing.spreads import kept_spread
from monge.stats import resample_counts
from monge.types import Array, Segment

Marks = npt.NDArray[np.bool_]
TIE, LEAST = 1e-5, 1e-9
"""Scores that differ by at most this share of the larger one, or by at most `LEAST`, are a tie."""
ORDERS = (("critical", "minor"), ("critical", "major"), ("major", "minor"), ("minor", "neutral"))
"""Pairs of severities: an error of the first should cost more than one of the second."""


class ProbeOptions(StudyOptions, total=False):
    """The options of a study, and source texts."""

    sources: Iterable[str] | None


def probe(
    texts: Iterable[str] | None = None,
    references: Iterable[str] | Iterable[Sequence[str]] | None = None,
    metrics: Names = DEFAULT_METRIC,
    *,
    kinds: Sequence[str] = (),
    sample: int | None = None,
    resampling: Resampling = USUAL,
    **options: Unpack[ProbeOptions],
) -> ProbeResult:
    """Put controlled errors into good texts and measure which of them metrics see.

    Args:
        texts: Good texts; without them the references, and without these a packaged example.
        references: One text or a list of texts per good text.
        metrics: A name (`twmd`, `bertscore@release`, `twmd[layers=4]`), or a list of names.
        kinds: Names of kinds or severities; all by default.
        sample: How many of the texts to draw, not all.
        resampling: The seed of all draws; resamples and confidence of the intervals.
        options: sources: source texts; model, layers, precision, device, lang, settings, online,
            cache as `monge.load` takes them; progress.

    Examples:
        >>> probed = monge.probe(references=["It has 12 rooms."], metrics="chrf", kinds=["number"])
        >>> probed.metrics[0].label
        'chrf'
    """
    rows, origin = _read_texts(texts, references, options.pop("sources", None))
    names, setup = names_and_setup(metrics, options)
    challenge = make_challenge(
        rows,
        kinds=kinds,
        seed=resampling.seed,
        sample=sample,
        language=setup.lang,
        origin=origin,
    )
    with run_of(options) as run:
        variants = load_variants(names, setup)
        return probe_challenge(challenge, variants, resampling=resampling, run=run)


def _read_texts(
    texts: Iterable[str] | None,
    references: Iterable[str] | Iterable[Sequence[str]] | None,
    sources: Iterable[str] | None,
) -> tuple[list[Segment], str]:
    if texts is not None:
        if references is None and sources is None:
            raise UsageError("texts without references or sources: give what they are scored with")
        rows = list(api.segments_of(texts, references, sources))
        return rows, OUTPUT_TEXTS if references is not None else SOURCE_ONLY
    if references is not None:
        listed_references = [
            [entry] if isinstance(entry, str) else list(entry) for entry in references
        ]
        empty = next((k for k, entry in enumerate(listed_references, 1) if not entry), None)
        if empty is not None:
            raise UsageError(f"references: item {empty} has no reference")
        first = [entry[0] for entry in listed_references]
        return from_references(list(api.segments_of(first, listed_references, sources))), (
            REFERENCE_TEXTS
        )
    if sources is not None:
        raise UsageError("sources without texts: give good texts or references")
    return example_texts(), EXAMPLE_TEXTS


def probe_challenge(
    challenge: Challenge,
    variants: Sequence[Variant],
    *,
    scores: Sequence[GivenScores] = NO_SCORES,
    resampling: Resampling = USUAL,
    run: Run = QUIET,
) -> ProbeResult:
    """Score all texts of a challenge in one run, and measure how each metric reacts.

    `scores` from files take part as metrics do, behind those of the variants.
    """
    check_distinct_names(scores, [variant.label for variant in variants])
    scored = [
        *_score_by_variants(variants, challenge.rows, run),
        *(_read_scores(score_file, challenge.rows) for score_file in scores),
    ]
    metrics = tuple(
        measure_reaction(challenge, name, label, page, resampling) for name, label, page in scored
    )
    return ProbeResult(
        metrics,
        challenge.kinds,
        dict(challenge.left_out),
        challenge.origin,
        challenge.language,
        len(challenge.originals),
        challenge.digest,
        resampling,
    )


def _score_by_variants(
    variants: Sequence[Variant], rows: tuple[Segment, ...], run: Run
) -> list[tuple[str, str, RowScores]]:
    """Return name, label and scores of every variant, from one encoding pass."""
    if not variants:
        return []
    # one system: what is fitted on the texts must be the same for all kinds
    pooled = tuple(replace(row, system="") for row in rows)
    with ScoreBook(run) as book:
        usable, pages = score_usable_variants(variants, lambda usable: book.of_rows(usable, pooled))
    return [
        (variant.name, variant.label, page) for variant, page in zip(usable, pages, strict=True)
    ]


def _read_scores(score_file: GivenScores, rows: Sequence[Segment]) -> tuple[str, str, RowScores]:
    """Return the name and the scores of a file."""
    values, digest = score_file.of({"": rows})
    signature = signature_of(score_file, digest)
    page = RowScores(values[""], {}, signature, score_file.higher_is_better)
    return score_file.name, score_file.name, page


@dataclass(frozen=True)
class _Falls:
    """How far scores fell, higher for worse; one entry per perturbed text.

    `values` in units of the score, `above` where it fell by more than a tie, `tied` where not at
    all; `items` are the places of the originals.
    """

    values: Array
    above: Marks
    tied: Marks
    items: Array

    def of(self, places: Array) -> _Falls:
        """Return the falls at some places."""
        return _Falls(
            self.values[places], self.above[places], self.tied[places], self.items[places]
        )


def measure_reaction(
    challenge: Challenge, name: str, label: str, page: RowScores, resampling: Resampling
) -> MetricReaction:
    """Return how a metric reacts to every kind, from its scores of the rows of a challenge."""
    if not np.isfinite(page.segments).all():
        place = int(np.flatnonzero(~np.isfinite(page.segments))[0])
        row = challenge.rows[place]
        raise DataError(f"{label}: no finite score for text {row.id} of {row.system}")
    n = len(challenge.originals)
    originals, changed = page.segments[:n], page.segments[n:]
    items = np.array([text.item for text in challenge.perturbed])
    falls = (originals[items] - changed) * (1 if page.higher_is_better else -1)
    tied = _find_ties(originals[items], changed)
    all_falls = _Falls(falls, (falls > 0) & ~tied, tied, items)
    spread, spread_source = _choose_spread(page, originals, changed)
    places = _places_by(text.kind.name for text in challenge.perturbed)
    reactions = tuple(
        _react(kind.name, kind.severity, all_falls.of(places[kind.name]), spread, resampling)
        for kind in challenge.kinds
    )
    severities = _places_by(text.kind.severity for text in challenge.perturbed)
    orders = tuple(
        order
        for harsher, milder in ORDERS
        if harsher in severities and milder in severities
        for order in [_order(harsher, milder, all_falls, severities, n, resampling)]
        if order is not None
    )
    return MetricReaction(
        name,
        label,
        str(page.signature),
        page.higher_is_better,
        spread,
        spread_source,
        reactions,
        orders,
    )


def _find_ties(first: Array, second: Array) -> Marks:
    """Return where two scores are equal but for rounding."""
    limit = np.maximum(TIE * np.maximum(np.abs(first), np.abs(second)), LEAST)
    return np.asarray(np.abs(first - second) <= limit)


def _places_by(names: Iterable[str]) -> Mapping[str, Array]:
    places: dict[str, list[int]] = {}
    for k, name in enumerate(names):
        places.setdefault(name, []).append(k)
    return {name: np.array(indices) for name, indices in places.items()}


def _choose_spread(page: RowScores, originals: Array, changed: Array) -> tuple[float, str]:
    """Return the unit of falls: a kept spread, or that of the texts of the run."""
    kept_value = kept_spread(page.signature)
    if kept_value is not None:
        return kept_value
    spread = float(originals.std())
    if spread > TIE * float(np.abs(originals).max()):
        return spread, "the good texts of this run"
    return float(changed.std()) or 1.0, "the perturbed texts of this run"


def _react(
    kind: str, severity: str, falls: _Falls, spread: float, resampling: Resampling
) -> KindReaction:
    n, above = len(falls.values), int(falls.above.sum())
    low, high = wilson_interval(above, n, resampling.confidence)
    mean = float(falls.values.mean())
    return KindReaction(
        kind, severity, n, above, int(falls.tied.sum()), above / n, low, high, mean, mean / spread
    )


def wilson_interval(count: int, n: int, confidence: float) -> tuple[float, float]:
    """Return Wilson's interval of a share count/n."""
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share, weight = count / n, z * z / n
    middle = (share + weight / 2) / (1 + weight)
    half = z * sqrt(share * (1 - share) / n + weight / (4 * n)) / (1 + weight)
    return (
        0.0 if count == 0 else max(middle - half, 0.0),
        1.0 if count == n else min(middle + half, 1.0),
    )


def _order(
    harsher: str,
    milder: str,
    falls: _Falls,
    places: Mapping[str, Array],
    n: int,
    resampling: Resampling,
) -> SeverityOrder | None:
    """Return the share of (harsher, milder) pairs on the same text with the larger fall first.

    The interval resamples texts; a tie is not right.
    """
    by_item = [
        _count_pairs(harsh, mild)
        for harsh, mild in _falls_by_item(falls, places[harsher], places[milder], n)
    ]
    counts = np.array([row for row in by_item if row[2]], dtype=np.float64).reshape(-1, 3)
    if not len(counts):
        return None
    right, tied, total = counts.sum(axis=0)
    draws = [
        block @ counts[:, 0] / np.maximum(block @ counts[:, 2], 1.0)
        for block in resample_counts(
            len(counts), resamples=resampling.resamples, seed=resampling.seed
        )
    ]
    tail = (1 - resampling.confidence) / 2
    low, high = np.quantile(np.concatenate(draws), [tail, 1 - tail])
    return SeverityOrder(
        harsher,
        milder,
        int(total),
        int(right),
        int(tied),
        float(right / total),
        *(float(low), float(high)),
    )


def _falls_by_item(
    falls: _Falls, harsh: Array, mild: Array, n: int
) -> Iterator[tuple[Array, Array]]:
    """Yield per text the falls by harsher and by milder errors."""
    yield from zip(_split_by_item(falls, harsh, n), _split_by_item(falls, mild, n), strict=True)


def _split_by_item(falls: _Falls, places: Array, n: int) -> list[Array]:
    """Return the falls at some places by text."""
    order = places[np.argsort(falls.items[places], kind="stable")]
    starts = np.searchsorted(falls.items[order], np.arange(1, n))
    return np.split(falls.values[order], starts)


def _count_pairs(harsh: Array, mild: Array) -> tuple[int, int, int]:
    """Return how many pairs of a text are ordered rightly, tied, and there at all."""
    tied = _find_ties(harsh[:, None], mild[None, :])
    right = (harsh[:, None] > mild[None, :]) & ~tied
    return int(right.sum()), int(tied.sum()), tied.size

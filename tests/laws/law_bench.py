"""One place that scores: every metric of a bench in one run, each run once, whatever the number of
laws that look.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch
from law_samples import CORPUS, OWN_CORPUS
from torch import Tensor

from monge.cache import Store
from monge.encoders.batching import Vectors
from monge.encoders.protocol import Encoder
from monge.metrics.blend import BLENDS, BlendSpec, LinearSum
from monge.metrics.lexical import LEXICAL, LexicalSpec
from monge.metrics.presets import PRESETS
from monge.scoring import clouds, encoding, measure
from monge.scoring.blend import BlendMetric
from monge.scoring.fit import fit
from monge.scoring.lexical import LexicalMetric
from monge.scoring.run import ScoringRun
from monge.scoring.scorer import Corpora, Scorer
from monge.scoring.transport import TransportMetric, bind_metric
from monge.transport.barycentre import barycentre
from monge.types import CorpusStats, Result, Segment, Tokens

EVERY = (*PRESETS, *BLENDS, *LEXICAL)
SCORED: set[str] = set()
"""The metrics that benches have scored in this process."""


class Remembering:
    """An encoder that encodes every text once, alone: for laws that are not about encoding."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._hidden: dict[tuple[int, ...], list[Tensor]] = {}
        for name in (
            "name",
            "weights_digest",
            "tokenizer_digest",
            "config_digest",
            "looks_up",
            "device",
            "pooling",
            "tuning",
            "unknown",
            "precision",
            "depth",
            "longest",
            "frame",
        ):
            setattr(self, name, getattr(encoder, name))

    def tokenise(self, texts: Sequence[str], *, prefix: str = "") -> list[Tokens]:
        return self._encoder.tokenise(texts, prefix=prefix)

    def hidden(self, ids: Sequence[Sequence[int]], layers: Sequence[int]) -> list[Tensor]:
        all_layers = range(self._encoder.depth + 1)
        for pieces in ids:
            if tuple(pieces) not in self._hidden:
                self._hidden[tuple(pieces)] = self._encoder.hidden([pieces], all_layers)
        return [
            torch.cat([self._hidden[tuple(pieces)][layer] for pieces in ids]) for layer in layers
        ]


@contextmanager
def arranged(
    batch_pieces: int | None = None,
    pair_numbers: int | None = None,
    threads: int | None = None,
    step: int | None = None,
) -> Iterator[None]:
    """Other sizes of encoder batches and of batches of pairs, another number of threads.

    `step` is the number of which the padded length of a text is a multiple.
    """
    before = torch.get_num_threads()
    with pytest.MonkeyPatch.context() as patch:
        if batch_pieces is not None:
            patch.setattr(encoding, "Vectors", partial(Vectors, batch_pieces=batch_pieces))
        if pair_numbers is not None:
            patch.setattr(clouds, "PAIR_NUMBERS", pair_numbers)
        if step is not None:
            patch.setattr(clouds, "STEP", step)
            patch.setattr(measure, "STEP", step)
        try:
            torch.set_num_threads(threads or before)
            yield
        finally:
            torch.set_num_threads(before)


class RememberedBarycentres:
    """Barycentres of layers, computed once per exact input and number of threads.

    They are most of the time that a run of all metrics takes, and a pure function of their input.
    """

    def __init__(self) -> None:
        self._points: dict[tuple[object, ...], Tensor] = {}

    def __call__(self, *clouds: Tensor, start: str) -> Tensor:
        digest = sha256()
        for cloud in clouds:
            digest.update(str((cloud.shape, cloud.dtype)).encode())
            digest.update(cloud.numpy().tobytes())
        key = (digest.digest(), start, torch.get_num_threads())
        if key not in self._points:
            self._points[key] = barycentre(*clouds, start=start)
        return self._points[key].clone()


class Bench:
    """Metrics of every kind on one encoder, with statistics frozen from the sample corpus."""

    def __init__(self, encoder: Encoder, names: Sequence[str] = EVERY) -> None:
        self.encoder, self.remembering, self.names = encoder, Remembering(encoder), tuple(names)
        self._stats: dict[tuple[object, ...], CorpusStats] = {}
        self._runs: dict[tuple[object, ...], dict[str, Result]] = {}
        self._barycentres = RememberedBarycentres()

    def metrics(self, changes: Sequence[str] = (), *, raw: bool = False) -> list[Scorer]:
        """The metrics with changes; those of words have none of the axes, so changes leave them
        out.
        """
        encoder = self.encoder if raw else self.remembering
        return [
            self.metric(name, changes, encoder)
            for name in self.names
            if not (changes and name in LEXICAL)
        ]

    def metric(
        self, name: str, changes: Sequence[str] = (), encoder: Encoder | None = None
    ) -> Scorer:
        """One metric, ready to score."""
        encoder = encoder or self.remembering
        if name in LEXICAL:
            return LexicalMetric(LexicalSpec(name))
        if name in BLENDS:
            spec = BLENDS[name].spec.changed(changes)
            members = {
                member: LexicalMetric(member_spec)
                if isinstance(member_spec, LexicalSpec)
                else bind_metric(name_member(name, member, spec), member_spec, encoder)
                for member, member_spec in spec.members.items()
            }
            return BlendMetric(name, members, spec.formula)
        return bind_metric(name, PRESETS[name].spec.changed(changes), encoder)

    def stats(self, changes: tuple[str, ...] = (), *, swapped: bool = False) -> CorpusStats:
        """What the metrics of the bench need, in one.

        `swapped` is for the metrics that fit both sides only: the texts of the sides exchanged.
        """
        if (changes, swapped) not in self._stats:
            texts = (OWN_CORPUS, CORPUS) if swapped else (CORPUS, OWN_CORPUS)
            metrics = [
                metric for metric in self.metrics(changes) if two_sided(metric) or not swapped
            ]
            fitted = [fit_of(metric, *texts) for metric in metrics if metric.fits]
            counts = {side: counted for stats in fitted for side, counted in stats.counts.items()}
            sums = {space: sides for stats in fitted for space, sides in stats.sums.items()}
            ranges = {
                key: pair_range for stats in fitted for key, pair_range in stats.ranges.items()
            }
            reader = next((stats.reader for stats in fitted), "")
            self._stats[changes, swapped] = CorpusStats(reader, counts, sums, ranges)
        return self._stats[changes, swapped]

    def remembered(
        self, segments: Sequence[Segment]
    ) -> tuple[Mapping[str, Result], Mapping[str, Result]]:
        """Results of a run that fills a store, and of one that finds everything there."""
        key = ("remembered", *segments)
        if key not in self._runs:
            with TemporaryDirectory() as folder:
                for again in (0, 1):
                    with Store(folder) as store:
                        run = ScoringRun(
                            self.metrics(raw=True),
                            segments,
                            corpora=Corpora(self.stats()),
                            store=store,
                        )
                        self._runs[(*key, again)] = {
                            result.metric: result for result in run.results()
                        }
            self._runs[key] = {}
        return self._runs[(*key, 0)], self._runs[(*key, 1)]

    def run(
        self,
        segments: Sequence[Segment],
        *,
        changes: tuple[str, ...] = (),
        window: int = 1024,
        batch_pieces: int | None = None,
        pair_numbers: int | None = None,
        threads: int | None = None,
        step: int | None = None,
        swapped: bool = False,
        raw: bool = False,
        again: int = 0,
    ) -> Mapping[str, Result]:
        """Results by metric; `raw` uses the encoder itself, `again` asks for a run of its own."""
        key = (
            tuple(segments),
            changes,
            window,
            batch_pieces,
            pair_numbers,
            threads,
            step,
            swapped,
            raw,
            again,
        )
        if key not in self._runs:
            alone = (
                len(segments) == 1
            )  # no corpus for a metric that takes all segments of a system together
            metrics = [
                metric
                for metric in self.metrics(changes, raw=raw)
                if not alone or all(member.block for member in metric.members.values())
            ]
            groups = [(metrics, False)]
            if swapped:
                groups = [
                    ([metric for metric in metrics if not two_sided(metric)], False),
                    ([metric for metric in metrics if two_sided(metric)], True),
                ]
            results: list[Result] = []
            for members, exchanged in groups:
                if members:
                    stats = self.stats(changes, swapped=exchanged)
                    with (
                        arranged(batch_pieces, pair_numbers, threads, step),
                        pytest.MonkeyPatch.context() as patch,
                    ):
                        if not again:
                            patch.setattr(clouds, "barycentre", self._barycentres)
                        results += ScoringRun(
                            members, segments, corpora=Corpora(stats), window=window
                        ).results()
            SCORED.update(result.metric for result in results)
            self._runs[key] = {
                f"{result.metric}\t{result.system}".strip(): result for result in results
            }
        return self._runs[key]


def name_member(name: str, member: str, spec: BlendSpec) -> str:
    """The name of a blend's member in its own signature."""
    linear = isinstance(spec.formula, LinearSum)
    return spec.formula.terms[member].metric if linear else f"{name}.{member}"


def two_sided(metric: Scorer) -> bool:
    """Whether a metric fits statistics of the hypotheses too."""
    return isinstance(metric, TransportMetric) and metric.needs.include_hypotheses


def fit_of(metric: Scorer, references: Sequence[str], hypotheses: Sequence[str]) -> CorpusStats:
    """The statistics of a metric, fitted from texts of each side; of a blend, from pairs of
    them.
    """
    if "range" in metric.fits:
        pairs = zip(hypotheses, references, strict=True)
        rows = [
            Segment(str(k), hypothesis, (reference,))
            for k, (hypothesis, reference) in enumerate(pairs)
        ]
        return ScoringRun([metric], rows).fitted_ranges()
    assert isinstance(metric, TransportMetric)
    return fit(metric, references=references, hypotheses=hypotheses)


def numbers(result: Result) -> dict[str, np.ndarray]:
    """Score and parts of every segment."""
    return {"score": result.segments, **result.parts}


def scale(result: Result) -> float:
    """What a deviation is measured against: 1, or the largest score of a distance between free
    vectors.
    """
    return max(1.0, float(np.abs(result.segments).max()))


def deviation(result: Result, other: Result, order: Sequence[int] | None = None) -> float:
    """The largest difference of scores and parts; `order` are the places in `other` of the segments
    of `result`.
    """
    places = list(range(other.n)) if order is None else list(order)
    assert result.n == len(places)
    gaps = [
        np.abs(values - numbers(other)[name][places]).max()
        for name, values in numbers(result).items()
    ]
    assert np.isfinite(gaps).all()
    return float(max(gaps)) / scale(other)

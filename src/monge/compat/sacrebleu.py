"""The classes of sacrebleu, faster and with checks, and any metric of monge beside them.

    from sacrebleu.metrics import BLEU, CHRF, TER   ->  from monge.compat.sacrebleu import BLEU,
                                                    CHRF, TER

    for metric in [BLEU(), CHRF(), MongeMetric("twmd")]:
        print(metric.corpus_score(hypotheses, [references]), metric.get_signature())

References come as in sacrebleu, a list of streams: references[k][i] is the k-th reference of
hypothesis i. Streams of another length than the hypotheses are an error; sacrebleu cuts them to the
shortest. BLEU, CHRF and TER have the scores and signatures of sacrebleu; counts of references are
cached for the next system, and TER tries shifts in batches (`monge.text.ter`). Bootstrap intervals
(`n_bootstrap`) and sacrebleu's `PairedTest` work on all. Importing this module imports nothing else
of monge.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import sacrebleu.metrics as peer
from sacrebleu.metrics.base import Metric as SacreMetric
from sacrebleu.metrics.base import Score, Signature

from monge.compat.peers import PeerTypeError, PeerValueError, raise_as
from monge.metrics.default import DEFAULT_METRIC

if TYPE_CHECKING:
    from monge.api import Options
    from monge.types import Array, CorpusStats

__all__ = ["BLEU", "CHRF", "TER", "MongeMetric"]
Streams = Sequence[Sequence[str | None]]
DIGITS = 4


def check_streams(hypotheses: Sequence[str], streams: Streams) -> None:
    """Raise if hypotheses or streams are not lists of texts, or differ in length."""
    if (
        not isinstance(hypotheses, Sequence)
        or isinstance(hypotheses, str)
        or any(map(_is_no_stream, streams))
    ):
        raise PeerTypeError(
            "hypotheses are a list of texts, references a list of streams: [references]"
        )
    for k, text in enumerate(hypotheses):
        if not isinstance(text, str):
            raise PeerTypeError(f"hypothesis {k} is no text (str), but {type(text).__name__}")
    for k, stream in enumerate(streams):
        if len(stream) != len(hypotheses):
            raise PeerValueError(
                f"{len(hypotheses)} hypotheses, but references[{k}] has {len(stream)}: "
                "references[k][i] is the k-th reference of hypothesis i"
            )


def _is_no_stream(stream: object) -> bool:
    return isinstance(stream, str) or not isinstance(stream, Sequence)


class _NotEmpty(SacreMetric):  # type: ignore[misc]
    """A metric that raises a clear error if there is nothing to score."""

    def _check_corpus_score_args(self, hyps: Sequence[str], refs: Streams | None) -> None:
        if hyps is not None and not len(hyps):
            raise PeerValueError("there is nothing to score: no hypotheses")
        if refs is not None:
            check_streams(hyps, refs)
        super()._check_corpus_score_args(hyps, refs)

    def _check_sentence_score_args(self, hyp: str, refs: Sequence[str]) -> None:
        if refs is not None and not len(refs):
            raise PeerValueError("there is nothing to compare with: no references")
        super()._check_sentence_score_args(hyp, refs)


class _Checked(_NotEmpty):
    """A metric of sacrebleu that checks the lengths of streams and caches reference counts."""

    num_refs: int
    _counted_references: tuple[list[tuple[str | None, ...]], list[Any], int] | None = None

    def _cache_references(self, references: Streams) -> list[Any]:
        streams = [tuple(stream) for stream in references]
        if self._counted_references is None or self._counted_references[0] != streams:
            reference_info = super()._cache_references(references)
            self._counted_references = streams, reference_info, self.num_refs
        _, reference_info, self.num_refs = self._counted_references
        return reference_info

    def _extract_corpus_statistics(
        self, hypotheses: Sequence[str], references: Streams | None
    ) -> Any:
        streams = references or ()
        check_streams(hypotheses, streams)
        if not streams and self._ref_cache and len(self._ref_cache) != len(hypotheses):
            raise PeerValueError(
                f"{len(hypotheses)} hypotheses, but references have {len(self._ref_cache)}"
            )
        return super()._extract_corpus_statistics(hypotheses, references)


class BLEU(_Checked, peer.BLEU):  # type: ignore[misc]
    """sacrebleu's BLEU."""


class CHRF(_Checked, peer.CHRF):  # type: ignore[misc]
    """sacrebleu's chrF."""


class TER(_Checked, peer.TER):  # type: ignore[misc]
    """sacrebleu's TER, with the same edits computed faster."""

    def _compute_segment_statistics(
        self, hypothesis: str, ref_kwargs: dict[str, Any]
    ) -> list[float]:
        from monge.text.ter import segment_statistics

        return segment_statistics(hypothesis, ref_kwargs["ref_words"])


class MongeScore(Score):  # type: ignore[misc]
    """A score with its name; it is shown with four digits, and as JSON with the full signature."""

    def format(
        self,
        width: int = DIGITS,
        score_only: bool = False,
        signature: str = "",
        is_json: bool = False,
    ) -> str:
        """Return the score as text, or as JSON."""
        if not is_json:
            return str(super().format(width, score_only, signature))
        fields = {
            "name": self.name,
            "score": float(f"{self.score:.{width}f}"),
            "signature": signature,
        }
        if self._mean > 0:
            fields |= {
                "confidence_mean": round(self._mean, width),
                "confidence_var": round(self._ci, width),
            }
        return json.dumps(fields, indent=1, ensure_ascii=False)


class MongeSignature(Signature):  # type: ignore[misc]
    """monge's signature, with the seed and the number of resamples that sacrebleu adds."""

    def __init__(self, args: dict[str, Any]) -> None:
        """Store the signature; raise if the metric was not evaluated yet, as sacrebleu does."""
        if not args.get("signature"):
            raise PeerValueError(
                "the signature is known when texts were scored: evaluate the metric first"
            )
        self.line = str(args["signature"])
        self.info = {"bs": args.get("n_bootstrap"), "ar": None, "seed": args.get("seed")}

    def format(self, short: bool = False) -> str:
        """Return the full signature, or its short form."""
        from monge.metrics.signature import shortened

        added = [f"{name}:{value}" for name, value in self.info.items() if value is not None]
        return "|".join([shortened(self.line) if short else self.line, *added])


class MongeMetric(_NotEmpty):
    """A metric of monge for lists of sacrebleu metrics."""

    _SIGNATURE_TYPE = MongeSignature

    def __init__(
        self,
        metric: str = DEFAULT_METRIC,
        *,
        references: Streams | None = None,
        stats: CorpusStats | None = None,
        **options: Unpack[Options],
    ) -> None:
        """Load the metric.

        Args:
            metric: Its name, as `monge.load` takes it.
            references: Streams to score against if a call gives none.
            stats: Corpus statistics of `monge.fit`; otherwise each call fits its own.
            options: Those of `monge.load`.
        """
        from monge.api import load
        from monge.types.sums import mean_of_sums

        super().__init__()
        with raise_as(PeerValueError):
            self.loaded = load(metric, **options)
        self.name, self.higher_is_better = (
            self.loaded.name,
            self.loaded.scorer.bounds.higher_is_better,
        )
        self.signature, self.stats, self.num_refs = "", stats, 0
        self._references = references
        self._pool_statistics: Callable[[Array], Array] = mean_of_sums

    def _extract_corpus_statistics(
        self, hypotheses: Sequence[str], references: Streams | None
    ) -> list[list[float]]:
        """Return the summed numbers of each segment: its score and 1, or its counts."""
        from monge.api import Corpora, score_segments, segments_of

        streams = self._references if references is None else references
        if streams is None:
            raise RuntimeError("No references provided, neither here nor when the metric was made.")
        check_streams(hypotheses, streams)
        with raise_as(PeerValueError):
            rows = [
                [reference for reference in row if reference is not None]
                for row in zip(*streams, strict=True)
            ]
            (result,) = score_segments(
                [self.loaded], segments_of(hypotheses, rows), corpora=Corpora(self.stats)
            )
        counts = {len(row) for row in rows}
        self.num_refs = counts.pop() if len(counts) == 1 else -1
        self.signature = str(result.signature)
        if result.pooled is not None:
            self._pool_statistics = result.pooled.of
            return list(map(list, result.pooled.statistics))
        return [[score, 1.0] for score in result.segments.tolist()]

    def _aggregate_and_compute(self, stats: Sequence[Sequence[float]]) -> MongeScore:
        import numpy as np

        return self._compute_score_from_stats(np.asarray(stats, dtype=np.float64).sum(0))

    def _compute_score_from_stats(self, stats: Array) -> MongeScore:
        return MongeScore(self.name, float(self._pool_statistics(stats.astype("float64"))))

    # sacrebleu's base class needs these for metrics that score one segment after another: ours
    # score all in one pass

    def _preprocess_segment(self, sent: str) -> str:
        return sent

    def _extract_reference_info(self, refs: Sequence[str]) -> dict[str, Any]:
        raise NotImplementedError

    def _compute_segment_statistics(
        self, hypothesis: str, ref_kwargs: dict[str, Any]
    ) -> list[float]:
        raise NotImplementedError

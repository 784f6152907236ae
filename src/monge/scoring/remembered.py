"""Segment scores kept in a store: a pair under the same settings is not scored again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from monge.encode.protocol import fingerprint
from monge.scoring.pipeline import Pieces, SegmentScore, StatsOf, Windows, score_window
from monge.scoring.prepared import Prepared
from monge.spec.axes import BatchCentre
from monge.store import Store, key_of
from monge.types import Segment

KIND = "scores"
SCORING_EPOCH = 1
"""Of the code between vectors and scores: raise it with every change that moves a score, so that no older one is
remembered."""


def score_key_base(metric: Prepared, signature: str, digests: Mapping[str, str]) -> bytes:
    """Everything a pair's score depends on besides its texts: the settings, full digests, the epoch of the code.

    `signature` says the settings; its short digests are for people, so the full ones of the statistics (`digests`),
    of the models and of the stopwords stand beside it.
    """
    language_model = "" if metric.language_model is None else metric.language_model.fingerprint
    words = "\n".join(sorted(metric.stopwords))
    facts = signature, fingerprint(metric.reader.encoder), language_model, words, sorted(digests.items())
    return key_of(KIND, SCORING_EPOCH, *facts)


class Remembered:
    """Scores of `score_window`, those that the store has taken from there.

    `bases` give, for each metric, the `score_key_base` of every system. Rows that any metric misses are
    scored by the metrics that miss some; a metric centred by its batch depends on neighbours and is
    always scored.
    """

    def __init__(
        self,
        metrics: Sequence[Prepared],
        bases: Sequence[Mapping[str, bytes]],
        stats: StatsOf,
        windows: Windows,
        store: Store,
    ) -> None:
        self._metrics, self._bases, self._store = metrics, bases, store
        self._stats, self._windows = stats, windows
        self.missed = False  # until a window says so: a run that is all there has nothing to cut

    def __call__(self, rows: Sequence[Segment], pieces: Pieces | None = None) -> list[list[SegmentScore]]:
        """For each metric, the scores of the rows."""
        metrics, store = self._metrics, self._store
        keys = [[_key(base, row) for row in rows] for base in self._bases]
        found = store.get(list({key for row in keys for key in row}))
        known = [
            [None if _batched(metric) else _decoded(found.get(key)) for key in row]
            for metric, row in zip(metrics, keys, strict=True)
        ]
        lacking = [k for k, scores in enumerate(known) if any(score is None for score in scores)]
        self.missed = bool(lacking)
        if lacking:
            whole = any(_batched(metrics[k]) for k in lacking)
            wanted = [i for i in range(len(rows)) if whole or any(known[k][i] is None for k in lacking)]
            chosen, some = [metrics[k] for k in lacking], [rows[i] for i in wanted]
            fresh = score_window(chosen, some, self._stats, self._windows, pieces)
            for k, scores in zip(lacking, fresh, strict=True):
                for i, score in zip(wanted, scores, strict=True):
                    known[k][i] = score
                if not _batched(metrics[k]):
                    store.put(KIND, ((keys[k][i], _encoded(score)) for i, score in zip(wanted, scores, strict=True)))
        return [[score for score in scores if score is not None] for scores in known]


def _batched(metric: Prepared) -> bool:
    return isinstance(metric.spec.centre, BatchCentre)


def _key(base: Mapping[str, bytes], row: Segment) -> bytes:
    return key_of(base[row.system], row.hypothesis, *row.references)


def _encoded(score: SegmentScore) -> bytes:
    return json.dumps([score.parts, score.winner, score.flags], separators=(",", ":")).encode()


def _decoded(value: bytes | None) -> SegmentScore | None:
    if value is None:
        return None
    parts, winner, flags = json.loads(value)
    return SegmentScore(parts, winner, tuple(flags))

"""Segment scores kept in a store: a pair under the same signature is not scored again."""

from __future__ import annotations

import json
from collections.abc import Sequence

from monge.scoring.pipeline import Pieces, SegmentScore, StatsOf, Windows, score_window
from monge.scoring.prepared import Prepared
from monge.spec.axes import BatchCentre
from monge.store import Store, key_of
from monge.types import Segment

KIND = "scores"


class Remembered:
    """Scores of `score_window`, those that the store has taken from there.

    `signatures` give, for each metric, the signature of every system. Rows that any metric misses are
    scored by the metrics that miss some; a metric centred by its batch depends on neighbours and is
    always scored.
    """

    def __init__(
        self,
        metrics: Sequence[Prepared],
        signatures: Sequence[dict[str, str]],
        stats: StatsOf,
        windows: Windows,
        store: Store,
    ) -> None:
        self._metrics, self._signatures, self._store = metrics, signatures, store
        self._stats, self._windows = stats, windows
        self.missed = False  # until a window says so: a run that is all there has nothing to cut

    def __call__(self, rows: Sequence[Segment], pieces: Pieces | None = None) -> list[list[SegmentScore]]:
        """For each metric, the scores of the rows."""
        metrics, store = self._metrics, self._store
        keys = [[_key(signature, row) for row in rows] for signature in self._signatures]
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


def _key(signature: dict[str, str], row: Segment) -> bytes:
    return key_of(KIND, signature[row.system], row.hypothesis, *row.references)


def _encoded(score: SegmentScore) -> bytes:
    return json.dumps([score.parts, score.winner, score.flags], separators=(",", ":")).encode()


def _decoded(value: bytes | None) -> SegmentScore | None:
    if value is None:
        return None
    parts, winner, flags = json.loads(value)
    return SegmentScore(parts, winner, tuple(flags))

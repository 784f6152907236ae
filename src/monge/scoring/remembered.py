"""Segment scores kept in a store: a pair under the same signature is not scored again."""

from __future__ import annotations

import json
from collections.abc import Sequence

from monge.encode.cache import Store, key_of
from monge.scoring.pipeline import SegmentScore, StatsOf, Windows, score_window
from monge.scoring.prepared import Prepared
from monge.spec.parts import BatchCentre
from monge.types import Segment

KIND = "scores"


def score_or_recall(
    metrics: Sequence[Prepared],
    signatures: Sequence[dict[str, str]],
    rows: Sequence[Segment],
    stats: StatsOf,
    windows: Windows,
    store: Store,
) -> list[list[SegmentScore]]:
    """The scores of `score_window`, those that the store has taken from there.

    `signatures` give, for each metric, the signature of every system. Rows that any metric misses are
    scored by the metrics that miss some; a metric centred by its batch depends on neighbours and is
    always scored.
    """
    keys = [[_key(signature, row) for row in rows] for signature in signatures]
    found = store.get(list({key for row in keys for key in row}))
    known = [
        [None if isinstance(metric.spec.centre, BatchCentre) else _decoded(found.get(key)) for key in row]
        for metric, row in zip(metrics, keys, strict=True)
    ]
    lacking = [k for k, scores in enumerate(known) if any(score is None for score in scores)]
    if not lacking:
        return [[score for score in scores if score is not None] for scores in known]
    batched = any(isinstance(metrics[k].spec.centre, BatchCentre) for k in lacking)
    wanted = [i for i in range(len(rows)) if batched or any(known[k][i] is None for k in lacking)]
    fresh = score_window([metrics[k] for k in lacking], [rows[i] for i in wanted], stats, windows)
    for k, scores in zip(lacking, fresh, strict=True):
        for i, score in zip(wanted, scores, strict=True):
            known[k][i] = score
        if not isinstance(metrics[k].spec.centre, BatchCentre):
            store.put(KIND, ((keys[k][i], _encoded(score)) for i, score in zip(wanted, scores, strict=True)))
    return [[score for score in scores if score is not None] for scores in known]


def _key(signature: dict[str, str], row: Segment) -> bytes:
    return key_of(KIND, signature[row.system], row.hypothesis, *row.references)


def _encoded(score: SegmentScore) -> bytes:
    return json.dumps([score.parts, score.winner, score.flags], separators=(",", ":")).encode()


def _decoded(value: bytes | None) -> SegmentScore | None:
    if value is None:
        return None
    parts, winner, flags = json.loads(value)
    return SegmentScore(parts, winner, tuple(flags))

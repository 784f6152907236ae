"""A cache of segment scores: a pair with the same settings, weights and statistics is not scored
again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from monge.cache import Store, code_digest, key_of
from monge.scoring.scorer import Scores, ScoreWindow, StatsBySystem, WindowScorer, score_window
from monge.scoring.windows import Window
from monge.types import Segment
from monge.types.flags import FLAGS, Flag

if TYPE_CHECKING:
    from monge.scoring.encoding import Encoding, Pieces

KIND = "scores"

CachedRow = tuple[dict[str, float], int, tuple[Flag, ...], list[float] | None]


class ScoreCache:
    """Scores of windows, read from a store where it has them.

    A fingerprint per metric and system has everything that a score depends on besides its texts.
    Segments that some metric lacks are scored by all metrics that lack any. A metric whose block is
    not 1 depends on neighbouring segments and is always computed.
    """

    def __init__(
        self,
        metrics: Sequence[WindowScorer],
        stats: Sequence[StatsBySystem],
        store: Store,
        score: ScoreWindow = score_window,
    ) -> None:
        self._metrics, self._stats, self._store, self._score = metrics, stats, store, score
        self._fingerprints = [
            {
                system: metric.fingerprint(system_stats)
                for system, system_stats in metric_stats.items()
            }
            for metric, metric_stats in zip(metrics, stats, strict=True)
        ]
        self.missed = (
            False  # set by each window: a run that is fully cached has nothing to tokenise
        )

    def scores(
        self, rows: Sequence[Segment], encoding: Encoding | None, pieces: Pieces | None
    ) -> list[Scores]:
        """Return the scores of the segments for each metric."""
        metrics = self._metrics
        keys = [
            [_key(fingerprints, row, source=metric.reads_source) for row in rows]
            for metric, fingerprints in zip(metrics, self._fingerprints, strict=True)
        ]
        stored = self._store.get(list({key for row in keys for key in row}))
        cached = [
            [None if metric.block != 1 else _decode(stored.get(key)) for key in row]
            for metric, row in zip(metrics, keys, strict=True)
        ]
        lacking = [k for k, scores in enumerate(cached) if any(score is None for score in scores)]
        self.missed = bool(lacking)
        fresh: dict[int, Scores] = {}
        if lacking:
            all_rows = any(metrics[k].block != 1 for k in lacking)
            places = [
                i
                for i in range(len(rows))
                if all_rows or any(cached[k][i] is None for k in lacking)
            ]
            window = Window([rows[i] for i in places], encoding, pieces)
            computed = self._score(
                [metrics[k] for k in lacking], [self._stats[k] for k in lacking], window
            )
            for k, scores in zip(lacking, computed, strict=True):
                if scores.failure is not None:
                    fresh[k] = scores
                    continue
                if len(places) == len(rows):
                    fresh[k] = scores
                for i, score in zip(places, _split_rows(scores), strict=True):
                    cached[k][i] = score
                if metrics[k].block == 1:
                    self._store.put(KIND, ((keys[k][i], _encode(cached[k][i])) for i in places))
        return [fresh[k] if k in fresh else _merge_rows(scores) for k, scores in enumerate(cached)]


def _key(fingerprints: Mapping[str, str], row: Segment, *, source: bool) -> bytes:
    texts = (row.hypothesis, *row.references, *([f"source {row.source}"] if source else ()))
    return key_of(KIND, code_digest(), fingerprints[row.system], *texts)


def _split_rows(scores: Scores) -> list[CachedRow]:
    names = list(scores.parts)
    rows = np.stack([scores.parts[name] for name in names], axis=1).tolist()
    more = [None] * len(scores) if scores.sums is None else scores.sums.tolist()
    return [
        (dict(zip(names, row, strict=True)), int(winner), flags, sums)
        for row, winner, flags, sums in zip(rows, scores.winners, scores.flags, more, strict=True)
    ]


def _merge_rows(rows: Sequence[CachedRow | None]) -> Scores:
    cached_rows = [row for row in rows if row is not None]
    parts = {name: np.array([row[0][name] for row in cached_rows]) for name in cached_rows[0][0]}
    sums = None if cached_rows[0][3] is None else np.array([row[3] for row in cached_rows])
    return Scores(
        parts,
        np.array([row[1] for row in cached_rows], dtype=np.int64),
        [row[2] for row in cached_rows],
        sums,
    )


def _encode(row: CachedRow | None) -> bytes:
    return json.dumps(row, separators=(",", ":")).encode()


def _decode(value: bytes | None) -> CachedRow | None:
    if value is None:
        return None
    parts, winner, flags, sums = json.loads(value)
    return parts, winner, tuple(FLAGS[written] for written in flags), sums

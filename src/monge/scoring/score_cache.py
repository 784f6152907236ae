"""Segment scores kept in a store: a pair under the same settings, weights and statistics is not scored again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from monge.scoring.scorer import Scores, ScoreWindow, StatsBySystem, WindowScorer, score_window
from monge.scoring.windows import Window
from monge.store import Store, key_of
from monge.types import Segment

if TYPE_CHECKING:
    from monge.scoring.encoding import Encoding
    from monge.scoring.windows import Pieces

KIND = "scores"
EPOCH = 3
"""Raised with every change of the code that moves a score; what was kept before is then no longer found."""

Recalled = tuple[dict[str, float], int, tuple[str, ...], list[float] | None]


class ScoreCache:
    """Scores of windows, taken from a store as far as it has them.

    `fingerprints` say, for each metric and system, what a score depends on besides its texts. Segments that any metric
    lacks are scored by the metrics that lack some. A metric whose block is not 1 depends on neighbours: it is always
    scored.
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
            {system: metric.fingerprint(one) for system, one in mine.items()}
            for metric, mine in zip(metrics, stats, strict=True)
        ]
        self.missed = False  # until a window says so: a run that is all there has nothing to cut

    def scores(self, rows: Sequence[Segment], encoding: Encoding | None, pieces: Pieces | None) -> list[Scores]:
        """For each metric, the scores of the segments."""
        metrics = self._metrics
        keys = [[_key(mine, row) for row in rows] for mine in self._fingerprints]
        found = self._store.get(list({key for row in keys for key in row}))
        known = [
            [None if metric.block != 1 else _decoded(found.get(key)) for key in row]
            for metric, row in zip(metrics, keys, strict=True)
        ]
        lacking = [k for k, scores in enumerate(known) if any(score is None for score in scores)]
        self.missed = bool(lacking)
        fresh: dict[int, Scores] = {}
        if lacking:
            whole = any(metrics[k].block != 1 for k in lacking)
            wanted = [i for i in range(len(rows)) if whole or any(known[k][i] is None for k in lacking)]
            window = Window([rows[i] for i in wanted], encoding, pieces)
            made = self._score([metrics[k] for k in lacking], [self._stats[k] for k in lacking], window)
            for k, scores in zip(lacking, made, strict=True):
                if len(wanted) == len(rows):
                    fresh[k] = scores
                for i, score in zip(wanted, _each(scores), strict=True):
                    known[k][i] = score
                if metrics[k].block == 1:
                    self._store.put(KIND, ((keys[k][i], _encoded(known[k][i])) for i in wanted))
        return [fresh[k] if k in fresh else _joined(scores) for k, scores in enumerate(known)]


def _key(fingerprints: Mapping[str, str], row: Segment) -> bytes:
    return key_of(KIND, EPOCH, fingerprints[row.system], row.hypothesis, *row.references)


def _each(scores: Scores) -> list[Recalled]:
    names = list(scores.parts)
    rows = np.stack([scores.parts[name] for name in names], axis=1).tolist()
    more = [None] * len(scores) if scores.sums is None else scores.sums.tolist()
    return [
        (dict(zip(names, row, strict=True)), int(winner), flags, sums)
        for row, winner, flags, sums in zip(rows, scores.winners, scores.flags, more, strict=True)
    ]


def _joined(rows: Sequence[Recalled | None]) -> Scores:
    whole = [row for row in rows if row is not None]
    parts = {name: np.array([row[0][name] for row in whole]) for name in whole[0][0]}
    sums = None if whole[0][3] is None else np.array([row[3] for row in whole])
    return Scores(parts, np.array([row[1] for row in whole], dtype=np.int64), [row[2] for row in whole], sums)


def _encoded(row: Recalled | None) -> bytes:
    return json.dumps(row, separators=(",", ":")).encode()


def _decoded(value: bytes | None) -> Recalled | None:
    if value is None:
        return None
    parts, winner, flags, sums = json.loads(value)
    return parts, winner, tuple(flags), sums

"""Blends in a run: the results of their parts, scaled by fitted ranges and added up. Imports no torch by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import e
from typing import TYPE_CHECKING

import numpy as np

from monge.errors import DataError, StatisticsMismatch
from monge.spec.blend import BlendSpec
from monge.spec.rules import Bounds
from monge.spec.signature import sign_blend
from monge.text.idf import text_key
from monge.types import DIGEST_SPACE, Array, CorpusStats, Range, Result, Segment, Signature

if TYPE_CHECKING:
    from monge.scoring.prepared import Prepared

PAIRS = "pairs"


@dataclass(frozen=True)
class Blended:
    """A blend ready to score: its parts are bound to one encoder."""

    name: str
    members: Mapping[str, Prepared]

    @property
    def spec(self) -> BlendSpec:
        """Every setting of every part."""
        return BlendSpec({part: metric.spec for part, metric in self.members.items()})

    @property
    def bounds(self) -> Bounds:
        """Pairs within the fitted ranges score from 2 to 2e (for two parts); others may lie outside."""
        return Bounds(0.0, float("inf"), len(self.members) * e, 0.0, True)

    @property
    def counted_sides(self) -> tuple[str, ...]:
        """Its statistics are ranges over pairs of texts."""
        return (PAIRS,)

    @property
    def summed_sides(self) -> tuple[str, ...]:
        """No side is summed for a mean."""
        return ()

    def check_stats(self, stats: CorpusStats) -> None:
        """Raise where statistics hold no range for a part as it is set here, or one of a single value."""
        for part, metric in self.members.items():
            if metric.key not in stats.ranges:
                raise StatisticsMismatch(f"{self.name}: the statistics hold no range of {part} for these settings")
            _check(self.name, part, stats.ranges[metric.key])

    def ranges(self, results: Mapping[str, Result], rows: Sequence[Segment]) -> CorpusStats:
        """The range of every part over the pairs of a system that have words on both sides."""
        first = next(iter(self.members.values()))
        whole = np.array([not any(flag.startswith("empty-") for flag in flags) for flags in first_flags(results)])
        key = sum(text_key("\t".join((row.hypothesis, *row.references))) for row, keep in zip(rows, whole, strict=True)
                  if keep) % DIGEST_SPACE  # fmt: skip
        found = {}
        for part, metric in self.members.items():
            values = results[part].segments[whole]
            if not len(values):
                raise DataError(f"{self.name}: no pair with words on both sides to fit the range of {part} from")
            found[metric.key] = Range(float(values.min()), float(values.max()), len(values), key)
        return CorpusStats(first.reader.key, ranges=found)

    def combined(self, results: Mapping[str, Result], stats: CorpusStats) -> Result:
        """The blend of its parts' results."""
        self.check_stats(stats)
        first = next(iter(results.values()))
        scaled = {part: self._scaled(part, result, stats) for part, result in results.items()}
        segments = np.sum([np.exp(values) for values in scaled.values()], axis=0)
        signatures = {part: result.signature for part, result in results.items()}
        return Result(
            metric=self.name,
            system=first.system,
            score=float(segments.mean()),
            segments=segments,
            parts={part: result.segments for part, result in results.items()},
            ids=first.ids,
            higher_is_better=True,
            signature=self.signature(signatures, stats),
            references=first.references,
            flags=tuple(
                tuple(dict.fromkeys(flag for flags in each for flag in flags))
                for each in zip(*(result.flags for result in results.values()), strict=True)
            ),
            run=first.run,
        )

    def _scaled(self, part: str, result: Result, stats: CorpusStats) -> Array:
        found = stats.ranges[self.members[part].key]
        share = (result.segments - found.low) / (found.high - found.low)
        return share if result.higher_is_better else 1 - share

    def digests(self, stats: CorpusStats) -> dict[str, str]:
        """The digest of the ranges, a part each, joined by '/'."""

        def digest(one: Range) -> str:
            return blake2b(repr((one.n, one.texts, stats.reader)).encode(), digest_size=4).hexdigest()

        return {"range": "/".join(digest(stats.ranges[metric.key]) for metric in self.members.values())}

    def signature(self, parts: Mapping[str, Signature], stats: CorpusStats) -> Signature:
        """The signature of the blend with its ranges."""
        return sign_blend(self.name, parts, self.digests(stats))


def first_flags(results: Mapping[str, Result]) -> tuple[tuple[str, ...], ...]:
    """What was unusual about each segment, as the first part says."""
    return next(iter(results.values())).flags


def _check(name: str, part: str, found: Range) -> None:
    if not found.high > found.low:
        many = "1 pair" if found.n == 1 else f"{found.n} pairs that score the same"
        raise DataError(
            f"{name}: a range of {part} from {many} is a single value: score more pairs, or fit ranges on other pairs "
            f"with monge fit -m {name} -t FILE -r FILE -o STATS and give --stats STATS"
        )

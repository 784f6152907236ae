"""Blends: the scores of their members, scaled by fitted ranges and added up. Imports no torch by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from monge.errors import DataError, StatisticsMismatch, UsageError
from monge.scoring.identity import shorten_digest
from monge.scoring.scorer import Column
from monge.spec.blend import BlendSpec
from monge.spec.rules import Bounds
from monge.spec.signature import sign_blend
from monge.types import Array, CorpusStats, Explanation, Range, Result, Segment, Signature
from monge.types.exact import mean

if TYPE_CHECKING:
    from monge.scoring.transport import TransportMetric


@dataclass(frozen=True)
class BlendMetric:
    """A blend ready to score: its members are bound to one encoder.

    score = sum over members of exp(share), share = (value - low) / (high - low), or 1 - that for a distance. The
    ranges low..high are given as statistics, or fitted on the pairs of the system that is scored.
    """

    name: str
    members: Mapping[str, TransportMetric]
    fits: tuple[str, ...] = ("range",)

    @property
    def spec(self) -> BlendSpec:
        """Every setting of every member."""
        return BlendSpec({member: metric.spec for member, metric in self.members.items()})

    @property
    def bounds(self) -> Bounds:
        """The range of its scores."""
        return self.spec.bounds

    @property
    def against(self) -> str:
        """What it compares hypotheses with: references, or source."""
        return self.spec.against

    def with_side(self, side: str) -> BlendMetric:
        """The blend with hypotheses compared with another side."""
        return replace(self, members={name: one.with_side(side) for name, one in self.members.items()})

    @property
    def idf_corpora(self) -> tuple[str, ...]:
        """The corpora that its members weigh by."""
        return tuple(dict.fromkeys(one for metric in self.members.values() for one in metric.idf_corpora))

    def with_idf_corpus(self, corpus: str) -> BlendMetric:
        """The blend with every member that weighs by idf weighed by another corpus."""
        return replace(self, members={name: one.with_idf_corpus(corpus) for name, one in self.members.items()})

    def check_stats(self, stats: CorpusStats) -> None:
        """Raise where statistics hold no range for a member as it is set here, or one of a single value."""
        for member, metric in self.members.items():
            if metric.identity.pair not in stats.ranges:
                raise StatisticsMismatch(f"{self.name}: the statistics hold no range of {member} for these settings")
            _check(self.name, member, stats.ranges[metric.identity.pair])

    def whole(self, columns: Mapping[str, Column]) -> npt.NDArray[np.bool_]:
        """Which pairs of a system [n] have words on both sides."""
        flags = next(iter(columns.values())).scores.flags
        return np.array([not any(flag.startswith("empty-") for flag in each) for each in flags], dtype=np.bool_)

    def ranges(self, columns: Mapping[str, Column]) -> CorpusStats:
        """The range of every member over the pairs of a system that have words on both sides."""
        first, whole = next(iter(self.members.values())), self.whole(columns)
        found = {}
        for member, metric in self.members.items():
            column = columns[member]
            values = column.scores.parts["score"][whole]
            if not len(values):
                raise DataError(f"{self.name}: no pair with words on both sides to fit the range of {member} from")
            found[metric.identity.pair] = Range(float(values.min()), float(values.max()), len(values), column.texts)
        return CorpusStats(first.reader.key, ranges=found)

    def signed(self, stats: CorpusStats, references: str = "1") -> Signature | None:
        """Its signature with these ranges; None where they are fitted on the pairs themselves."""
        keys = [metric.identity.pair for metric in self.members.values()]
        if any(key not in stats.ranges for key in keys):
            return None
        digests = {"range": "/".join(shorten_digest(stats.digests["ranges", key]) for key in keys)}
        signatures = {}
        for member, metric in self.members.items():
            identity = metric.identity_with(stats.of_member(member))
            digests |= {f"{member}.{kind}": shorten_digest(one) for kind, one in identity.statistics.items()}
            signatures[member] = identity.sign(references)
        return sign_blend(self.name, signatures, digests)

    def result(self, columns: Mapping[str, Column], stats: CorpusStats) -> Result:
        """The result of a system from those of its members; `stats` without ranges has them fitted here."""
        stats = stats if stats.ranges else replace(stats, ranges=self.ranges(columns).ranges)
        self.check_stats(stats)
        results = {
            member: metric.result({"": columns[member]}, stats.of_member(member))
            for member, metric in self.members.items()
        }
        first = next(iter(results.values()))
        segments = np.sum([np.exp(self._share(member, one, stats)) for member, one in results.items()], axis=0)
        for k in (k for k, flags in enumerate(first.flags) if any(flag.startswith("empty-") for flag in flags)):
            segments[k] = self._of_empty(float(first.segments[k]), float(segments[k]))
        signature = self.signed(stats, next(iter(columns.values())).references)
        assert signature is not None
        return Result(
            metric=self.name,
            system=first.system,
            score=mean(segments),
            segments=segments,
            parts={member: result.segments for member, result in results.items()},
            ids=first.ids,
            higher_is_better=True,
            signature=signature,
            references=first.references,
            flags=tuple(
                tuple(dict.fromkeys(flag for flags in each for flag in flags))
                for each in zip(*(result.flags for result in results.values()), strict=True)
            ),
            run=first.run,
        )

    def _share(self, member: str, result: Result, stats: CorpusStats) -> Array:
        """Where a member's scores [n] lie in its range: 0 at the worse end, 1 at the better."""
        found = stats.ranges[self.members[member].identity.pair]
        share = (result.segments - found.low) / (found.high - found.low)
        return share if result.higher_is_better else 1 - share

    def _of_empty(self, first: float, blended: float) -> float:
        """The score of a segment with an empty text: the first member tells whether it decided the score."""
        limits = next(iter(self.members.values())).raw
        return {limits.best: self.bounds.best, limits.worst: 0.0}.get(first, blended)

    def explained(self, segment: Segment, stats: CorpusStats | None) -> Explanation:
        """It has no plan of its own."""
        made_of = " and ".join(f"{metric.spec.transport.name} transport" for metric in self.members.values())
        raise UsageError(f"{self.name} is a blend of several metrics ({made_of}): explain one of those instead")


def _check(name: str, member: str, found: Range) -> None:
    if not found.high > found.low:
        many = "1 pair" if found.n == 1 else f"{found.n} pairs that score the same"
        raise DataError(
            f"{name}: a range of {member} from {many} is a single value: score more pairs, or fit ranges on other "
            f"pairs with monge fit -m {name} -t FILE -r FILE -o STATS and give --stats STATS"
        )

"""Blends: sums of the scores of their members, scaled by fitted ranges. This module does not import
torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from monge.errors import DataError, StatisticsMismatch, UsageError
from monge.metrics.blend import BLENDS, BlendSpec
from monge.metrics.rules import Bounds
from monge.metrics.signature import sign_blend
from monge.scoring.identity import shorten_digest
from monge.scoring.scorer import ScoreColumn
from monge.types import Array, CorpusStats, Explanation, Range, Result, Segment, Signature
from monge.types.exact import mean
from monge.types.flags import FlagKind, has_kind

if TYPE_CHECKING:
    from monge.scoring.transport import TransportMetric


@dataclass(frozen=True)
class BlendMetric:
    """A blend that is ready to score; its members are bound to one encoder or to several.

    score = sum over members of exp(share), share = (value - low) / (high - low), or 1 - that for a
    distance. The ranges low..high are given as statistics, or fitted on the pairs of the system
    that is scored.
    """

    name: str
    members: Mapping[str, TransportMetric]
    fits: tuple[str, ...] = ("range",)

    @property
    def spec(self) -> BlendSpec:
        """The settings of all members."""
        return BlendSpec({member: metric.spec for member, metric in self.members.items()})

    @property
    def bounds(self) -> Bounds:
        """The range of its scores."""
        return self.spec.bounds

    @property
    def against(self) -> str:
        """The side that hypotheses are compared with: references, or source."""
        return self.spec.against

    def with_side(self, side: str) -> BlendMetric:
        """Return the blend with hypotheses compared with another side."""
        return replace(
            self, members={name: metric.with_side(side) for name, metric in self.members.items()}
        )

    @property
    def idf_corpora(self) -> tuple[str, ...]:
        """The corpora whose idf weighs the words of its members."""
        return tuple(
            dict.fromkeys(
                corpus for metric in self.members.values() for corpus in metric.idf_corpora
            )
        )

    def with_idf_corpus(self, corpus: str) -> BlendMetric:
        """Return the blend with the idf of another corpus in every member that weighs by idf."""
        return replace(
            self,
            members={name: metric.with_idf_corpus(corpus) for name, metric in self.members.items()},
        )

    def check_stats(self, stats: CorpusStats) -> None:
        """Raise where statistics have no range for a member with these settings, or a range of a
        single value.
        """
        for member, metric in self.members.items():
            if metric.identity.pair not in stats.ranges:
                raise StatisticsMismatch(
                    f"{self.name}: the statistics hold no range of {member} for these settings"
                )
            _check_range(self.name, member, stats.ranges[metric.identity.pair])

    def find_pairs_with_words(self, columns: Mapping[str, ScoreColumn]) -> npt.NDArray[np.bool_]:
        """Return a mask [n] of the pairs of a system that have words on both sides."""
        flags = next(iter(columns.values())).scores.flags
        return np.array(
            [not has_kind(segment_flags, FlagKind.EMPTY) for segment_flags in flags],
            dtype=np.bool_,
        )

    def ranges(self, columns: Mapping[str, ScoreColumn]) -> CorpusStats:
        """Return the range of every member over the pairs of a system that have words on both
        sides.
        """
        first, with_words = next(iter(self.members.values())), self.find_pairs_with_words(columns)
        ranges = {}
        for member, metric in self.members.items():
            column = columns[member]
            values = column.scores.parts["score"][with_words]
            if not len(values):
                raise DataError(
                    f"{self.name}: no pair with words on both sides to fit the range of {member} "
                    f"from"
                )
            ranges[metric.identity.pair] = Range(
                float(values.min()), float(values.max()), len(values), column.texts
            )
        return CorpusStats(first.reader.key, ranges=ranges)

    def signed(self, stats: CorpusStats, references: str = "1") -> Signature | None:
        """Return its signature with these ranges; None where they are fitted on the pairs that are
        scored.
        """
        keys = [metric.identity.pair for metric in self.members.values()]
        if any(key not in stats.ranges for key in keys):
            return None
        digests = {"range": "/".join(shorten_digest(stats.digests["ranges", key]) for key in keys)}
        signatures = {}
        for member, metric in self.members.items():
            identity = metric.identity_with(stats.of_member(member))
            digests |= {
                f"{member}.{kind}": shorten_digest(digest)
                for kind, digest in identity.statistics.items()
            }
            signatures[member] = identity.sign(references)
        return sign_blend(self.name, signatures, digests)

    def result(self, columns: Mapping[str, ScoreColumn], stats: CorpusStats) -> Result:
        """Return the result of a system from its members' columns; fit ranges where none are."""
        stats = stats if stats.ranges else replace(stats, ranges=self.ranges(columns).ranges)
        self.check_stats(stats)
        results = {
            member: metric.result({"": columns[member]}, stats.of_member(member))
            for member, metric in self.members.items()
        }
        first = next(iter(results.values()))
        segments = np.sum(
            [np.exp(self._share(member, result, stats)) for member, result in results.items()],
            axis=0,
        )
        for k, segment_flags in enumerate(first.flags):
            if not has_kind(segment_flags, FlagKind.EMPTY):
                continue
            segments[k] = self._score_empty(float(first.segments[k]), float(segments[k]))
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
            flags=_merge_flags([result.flags for result in results.values()]),
            run=first.run,
        )

    def _share(self, member: str, result: Result, stats: CorpusStats) -> Array:
        """Return the position of a member's scores [n] in its range: 0 at the worse end, 1 at the
        better.
        """
        fitted = stats.ranges[self.members[member].identity.pair]
        share = (result.segments - fitted.low) / (fitted.high - fitted.low)
        return share if result.higher_is_better else 1 - share

    def _score_empty(self, first: float, blended: float) -> float:
        """Return the score of a segment with an empty text: the best or worst where the first
        member has that too.
        """
        limits = next(iter(self.members.values())).raw
        return {limits.best: self.bounds.best, limits.worst: 0.0}.get(first, blended)

    def explain(self, segment: Segment, stats: CorpusStats | None) -> Explanation:
        """Raise UsageError: a blend has no plan of its own."""
        names = BLENDS[self.name].alone
        made_of = " or ".join(
            f"-m '{name}' --model {metric.spec.encoder.model}"
            for name, metric in zip(names, self.members.values(), strict=True)
        )
        raise UsageError(
            f"{self.name} is a blend of several metrics: explain one of those instead ({made_of})"
        )


def _merge_flags(
    flags_of_members: Sequence[Sequence[tuple[str, ...]]],
) -> tuple[tuple[str, ...], ...]:
    """Return the flags of each segment by any member, each flag once."""
    return tuple(
        tuple(dict.fromkeys(flag for flags in flags_of_segment for flag in flags))
        for flags_of_segment in zip(*flags_of_members, strict=True)
    )


def _check_range(name: str, member: str, fitted: Range) -> None:
    if not fitted.high > fitted.low:
        origin = "1 pair" if fitted.n == 1 else f"{fitted.n} pairs that score the same"
        raise DataError(
            f"{name}: a range of {member} from {origin} is a single value: score more pairs, or "
            f"fit ranges on other "
            f"pairs with monge fit -m {name} -t FILE -r FILE -o STATS and give --stats STATS"
        )

"""Blends: metrics that are a function of other metrics. This module does not import torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from monge.errors import DataError, StatisticsMismatch, UsageError
from monge.metrics.blend import BLENDS, BlendSpec, Formula, LinearSum, ShareSum, refuse_side
from monge.metrics.labels import changes_from_row
from monge.metrics.linear_signature import sign_linear_blend
from monge.metrics.metric import MetricSpec
from monge.metrics.rules import Bounds
from monge.metrics.signature import ModelIdentity, sign_blend
from monge.scoring.identity import shorten_digest
from monge.scoring.lexical import LexicalMetric
from monge.scoring.result_buffer import count_flags
from monge.scoring.scorer import ScoreColumn
from monge.types import Array, CorpusStats, Explanation, Range, Result, Segment, Signature
from monge.types.exact import mean
from monge.types.explanation import MemberShare, explain_by_members
from monge.types.flags import Flag, FlagKind, has_kind

if TYPE_CHECKING:
    from monge.scoring.transport import TransportMetric

MemberMetric: TypeAlias = "TransportMetric | LexicalMetric"


@dataclass(frozen=True)
class BlendMetric:
    """A blend that is ready to score; its members are bound to one encoder or to several.

    A blend of shares: score = sum over members of exp(share), share = (value - low) / (high - low),
    or 1 - that for a distance. The ranges low..high are given as statistics, or fitted on the pairs
    of the system that is scored. A linear blend: score = sum over members of weight * standardised
    value, with the constants of its terms.
    """

    name: str
    members: Mapping[str, MemberMetric]
    formula: Formula = field(default_factory=ShareSum)

    @property
    def fits(self) -> tuple[str, ...]:
        """The kinds of statistics that a run fits for it: ranges, or what its members need."""
        if isinstance(self.formula, ShareSum):
            return ("range",)
        return tuple(
            dict.fromkeys(kind for metric in self.members.values() for kind in metric.fits)
        )

    @property
    def transports(self) -> Mapping[str, TransportMetric]:
        """The members of a blend of shares, which are all transport metrics."""
        return cast("Mapping[str, TransportMetric]", self.members)

    @property
    def spec(self) -> BlendSpec:
        """The settings of all members, and the formula."""
        members = {member: metric.spec for member, metric in self.members.items()}
        return BlendSpec(members, self.formula)

    @property
    def bounds(self) -> Bounds:
        """The range of its scores."""
        return self.spec.bounds

    @property
    def against(self) -> str:
        """The side that hypotheses are compared with: references, or source."""
        return self.spec.against

    def with_side(self, side: str) -> BlendMetric:
        """Return the blend with hypotheses compared with another side; raise for a fitted one."""
        if isinstance(self.formula, LinearSum):
            raise UsageError(f"{self.name}: {refuse_side(side)}")
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
        single value, or where they do not fit a member of a linear blend.
        """
        if isinstance(self.formula, LinearSum):
            for member, metric in self.members.items():
                metric.check_stats(stats.of_member(member))
            return
        for member, metric in self.transports.items():
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
        first = next(iter(self.transports.values()))
        with_words, ranges = self.find_pairs_with_words(columns), {}
        for member, metric in self.transports.items():
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
        scored, or where a member's signature is known only when everything is scored.
        """
        if isinstance(self.formula, LinearSum):
            own = {
                member: metric.signed(stats.of_member(member), references)
                for member, metric in self.members.items()
            }
            signatures = {member: line for member, line in own.items() if line is not None}
            complete = len(signatures) == len(own)
            return sign_linear_blend(self.name, signatures, self.formula) if complete else None
        keys = [metric.identity.pair for metric in self.transports.values()]
        if any(key not in stats.ranges for key in keys):
            return None
        digests = {"range": "/".join(shorten_digest(stats.digests["ranges", key]) for key in keys)}
        signatures = {}
        for member, metric in self.transports.items():
            identity = metric.identity_with(stats.of_member(member))
            digests |= {
                f"{member}.{kind}": shorten_digest(digest)
                for kind, digest in identity.statistics.items()
            }
            signatures[member] = identity.sign(references)
        return sign_blend(self.name, signatures, digests)

    def result(self, columns: Mapping[str, ScoreColumn], stats: CorpusStats) -> Result:
        """Return the result of a system from its members' columns; fit ranges where none are."""
        if isinstance(self.formula, LinearSum):
            results = self._score_members(columns, stats)
            return self._add_terms(self.formula, results)
        stats = stats if stats.ranges else replace(stats, ranges=self.ranges(columns).ranges)
        self.check_stats(stats)
        results = self._score_members(columns, stats)
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

    def _score_members(
        self, columns: Mapping[str, ScoreColumn], stats: CorpusStats
    ) -> dict[str, Result]:
        """Return the result of every member."""
        return {
            member: metric.result({"": columns[member]}, stats.of_member(member))
            for member, metric in self.members.items()
        }

    def _add_terms(self, formula: LinearSum, results: Mapping[str, Result]) -> Result:
        """Return the result of a linear blend: the sum of its members' terms, by segment."""
        first = next(iter(results.values()))
        segments = np.zeros(first.n)
        for member, result in results.items():
            segments = segments + formula.terms[member].weigh(
                result.segments, higher_is_better=result.higher_is_better
            )
        flags = _merge_flags([result.flags for result in results.values()])
        run: dict[str, Any] = {}
        for result in results.values():
            run |= result.run
        winners = np.stack([result.references for result in results.values()])
        signatures = {member: result.signature for member, result in results.items()}
        return Result(
            metric=self.name,
            system=first.system,
            score=mean(segments),
            segments=segments,
            parts={member: result.segments for member, result in results.items()},
            ids=first.ids,
            higher_is_better=True,
            signature=sign_linear_blend(self.name, signatures, formula),
            references=np.where((winners == winners[0]).all(0), winners[0], -1),
            flags=flags,
            run=run | count_flags(cast("Sequence[tuple[Flag, ...]]", flags)),
        )

    def _share(self, member: str, result: Result, stats: CorpusStats) -> Array:
        """Return the position of a member's scores [n] in its range: 0 at the worse end, 1 at the
        better.
        """
        fitted = stats.ranges[self.transports[member].identity.pair]
        share = (result.segments - fitted.low) / (fitted.high - fitted.low)
        return share if result.higher_is_better else 1 - share

    def _score_empty(self, first: float, blended: float) -> float:
        """Return the score of a segment with an empty text: the best or worst where the first
        member has that too.
        """
        limits = next(iter(self.transports.values())).raw
        return {limits.best: self.bounds.best, limits.worst: 0.0}.get(first, blended)

    def explain(self, segment: Segment, stats: CorpusStats | None) -> Explanation:
        """Raise UsageError: a blend has no plan of its own.

        The score of a linear blend is explained by its members (`explain_result`).
        """
        if isinstance(self.formula, LinearSum):
            raise UsageError(f"{self.name} is a blend. {self._name_commands(self.formula)}")
        names = BLENDS[self.name].alone
        made_of = " or ".join(
            f"-m '{name}' --model {metric.spec.encoder.model}"
            for name, metric in zip(names, self.transports.values(), strict=True)
        )
        raise UsageError(
            f"{self.name} is a blend of several metrics: explain one of those instead ({made_of})"
        )

    def check_explained(self, stats: CorpusStats | None) -> None:
        """Raise where a pair alone cannot be explained, because a member needs statistics."""
        fitting = [member for member, metric in self.members.items() if metric.fits]
        if fitting and stats is None:
            raise UsageError(
                f"{self.name}: {', '.join(fitting)} takes statistics from other texts, and one "
                "pair has none: give --stats FILE (monge fit -m MEMBER writes it)"
            )

    def explain_result(self, segment: Segment, result: Result) -> Explanation:
        """Return the score of a segment by a linear blend, and what every member adds to it.

        `result` is that of a run with this segment alone.
        """
        formula = self.formula
        assert isinstance(formula, LinearSum)
        shares = []
        for member, metric in self.members.items():
            term, score = formula.terms[member], float(result.parts[member][0])
            upward = metric.bounds.higher_is_better
            standardised = term.standardise(score, higher_is_better=upward)
            contribution = term.weigh(score, higher_is_better=upward)
            shares.append(MemberShare(member, score, standardised, term.weight, contribution))
        return explain_by_members(segment, result, shares, self._name_commands(formula))

    def _name_commands(self, formula: LinearSum) -> str:
        """Return a sentence with the commands that explain a transport member by its words."""
        commands = []
        for member, metric in self.members.items():
            spec = metric.spec
            if not isinstance(spec, MetricSpec):
                continue
            name, model = formula.terms[member].metric, spec.encoder.model
            bare = replace(spec, encoder=replace(spec.encoder, model="auto"))
            changes = ",".join(changes_from_row(name, bare))
            inner = f"[{changes}]" if changes else ""
            commands.append(f"monge explain -m '{name}{inner}' --model {model}")
        if not commands:
            return "None of its members compares vectors: there are no words to explain it by."
        return f"Words and moves of a member: {'; '.join(commands)}."


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


def check_fitted_model(subject: str, model: ModelIdentity, fitted: str) -> None:
    """Raise where the model of a member is not the model that the weights were fitted with.

    `fitted` has the digests WEIGHTS-TOKENIZER-CONFIG of the fit, whole or their first digits; empty
    where none are known.
    """
    now = (model.weights, model.tokenizer, model.config)
    was = fitted.split("-") if fitted else ["", "", ""]
    for part, own, digest in zip(("weights", "tokenizer", "configuration"), now, was, strict=True):
        if not own.startswith(digest):
            raise StatisticsMismatch(
                f"{subject} was fitted with {part} {digest[:8]}, {model.name} has {own[:8]}: give "
                "that model (--set encoder.model=NAME|DIR), or fit another blend with monge tune "
                "blend"
            )

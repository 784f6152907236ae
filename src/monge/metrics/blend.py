"""Blends: metrics that are a function of other metrics, described as data.

A blend has members and a formula. `ShareSum` is the formula of SentSim:

    score = sum over members of exp(scaled),   scaled = (value - low) / (high - low), or 1 - that
                                               for a distance

where low and high are fitted on the pairs that are scored, or on a corpus of pairs: the range of
the member's scores. `LinearSum` is the formula of blends that were fitted on human scores:

    score = sum over members of weight * standardised,   standardised = (value - mean) / deviation,
                                                         or minus that for a distance

where weight, mean and deviation are constants of the blend. Its scores are in units of human z
scores, higher is better.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import e, inf, isfinite, isnan, nan
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from monge.errors import InvalidSetting, UsageError
from monge.metrics.lexical import LexicalSpec
from monge.metrics.metric import OPTIONAL, MetricSpec
from monge.metrics.rows import BERTSCORE, RAW, SBERT, WMD
from monge.metrics.rules import Bounds, bounds, check

if TYPE_CHECKING:
    from monge.types import Array

MemberSpec: TypeAlias = MetricSpec | LexicalSpec
Values = TypeVar("Values", "float", "Array")


@dataclass(frozen=True)
class ShareSum:
    """The sum of exp(share) over members, whose shares are positions in fitted ranges (SentSim)."""

    def check_change(self, change: str) -> None:
        """Raise for a change that a blend with fitted ranges does not take."""
        if "scale" in change.partition("=")[0].split("."):
            raise InvalidSetting(
                f"{change!r}: a blend scales its members by fitted ranges, by nothing else"
            )
        if "fluency" in change.partition("=")[0].split("."):
            raise InvalidSetting(
                f"{change!r}: a blend has no language model; a metric of its own has one"
            )

    def bounds(self, members: Mapping[str, MemberSpec]) -> Bounds:
        """Return the range of scores: from m to m e for m members and pairs within the ranges."""
        count = len(members)
        return Bounds(
            0.0, inf, count * e, 0.0, True, "pairs within the fitted ranges", (count, count * e)
        )


@dataclass(frozen=True)
class LinearTerm:
    """The constants of a member of a linear blend.

    metric: the name of the member's metric; mean, deviation: of its scores where the blend was
    fitted; model: the digests WEIGHTS-TOKENIZER-CONFIG of the model that gave those scores, whole
    or their first digits, empty for a lexical metric.
    """

    metric: str
    weight: float
    mean: float
    deviation: float
    model: str = ""

    def standardise(self, scores: Values, *, higher_is_better: bool) -> Values:
        """Return (score - mean) / deviation, or minus that for a distance: larger is better."""
        standardised = (scores - self.mean) / self.deviation
        return standardised if higher_is_better else -standardised

    def weigh(self, scores: Values, *, higher_is_better: bool) -> Values:
        """Return what scores of the member add to the score of the blend."""
        return self.weight * self.standardise(scores, higher_is_better=higher_is_better)

    def weigh_ends(self, ends: tuple[float, float], limits: Bounds) -> tuple[float, float]:
        """Return what two scores of the member add to the score of the blend."""
        first, second = (self.weigh(end, higher_is_better=limits.higher_is_better) for end in ends)
        return first, second


_KEPT_OPEN = ("encoder.model", "encoder.overlong", "encoder.precision", "units.stopwords")
"""What may be changed in a member of a fitted blend: where its model or a file of words is, how
overlong texts are read, and in which precision. The model must have the digests of the fit."""


@dataclass(frozen=True)
class LinearSum:
    """The weighted sum of standardised members, with the constants of each member by name."""

    terms: Mapping[str, LinearTerm]

    def check_change(self, change: str) -> None:
        """Raise for a change that would give scores which the weights were not fitted on."""
        target = change.partition("=")[0].strip()
        member, _, rest = target.partition(".")
        if (rest if member in self.terms else target) not in _KEPT_OPEN:
            raise InvalidSetting(
                f"{change!r}: the weights of this blend were fitted with the settings that its "
                f"members have; only {', '.join(_KEPT_OPEN)} can be changed (fit another blend "
                "with monge tune blend)"
            )

    def bounds(self, members: Mapping[str, MemberSpec]) -> Bounds:
        """Return the range of scores, and the sums of the members' best and worst scores."""
        low = high = best = worst = 0.0
        note = "in units of human z scores"
        usual = [0.0, 0.0]
        for name, spec in members.items():
            term, limits = self.terms[name], bounds_of_member(spec)
            if term.weight == 0:
                continue
            ends = term.weigh_ends((limits.low, limits.high), limits)
            low, high = low + min(ends), high + max(ends)
            ends = term.weigh_ends(limits.shown, limits)
            usual = [usual[0] + min(ends), usual[1] + max(ends)]
            lowest = nan if limits.worst is None else limits.worst
            ends = term.weigh_ends((lowest, limits.best), limits)
            worst, best = worst + ends[0], best + ends[1]
        worst_score = None if isnan(worst) else worst
        usual_range = (usual[0], usual[1]) if isfinite(usual[0]) and isfinite(usual[1]) else None
        return Bounds(low, high, best, worst_score, True, note, usual_range)


Formula: TypeAlias = ShareSum | LinearSum


def bounds_of_member(spec: MemberSpec) -> Bounds:
    """Return the range of the scores of a member."""
    return bounds(spec) if isinstance(spec, MetricSpec) else spec.bounds


@dataclass(frozen=True)
class BlendSpec:
    """Named members of a blend, and the formula that makes a score of theirs.

    The members share one encoder unless `MEMBER.encoder.model=NAME` gives a member its own. Members
    of a blend of shares are transport metrics; those of a linear blend may be lexical too.
    """

    members: Mapping[str, MemberSpec]
    formula: Formula = field(default_factory=ShareSum)

    @property
    def transports(self) -> dict[str, MetricSpec]:
        """The members that are transport metrics."""
        return {name: spec for name, spec in self.members.items() if isinstance(spec, MetricSpec)}

    def takes(self, change: str) -> bool:
        """Return whether a change applies to the blend."""
        try:
            self.formula.check_change(change)
        except InvalidSetting:
            return False
        return True

    def changed(self, changes: Iterable[str]) -> BlendSpec:
        """Apply changes AXIS=VALUE to every transport member, MEMBER.AXIS[.FIELD]=VALUE to one."""
        members = dict(self.members)
        for change in changes:
            first, dot, rest = change.partition(".")
            self.formula.check_change(change)
            names_member = bool(dot) and first in members
            if names_member and rest.partition("=")[0] == "against":
                raise InvalidSetting(
                    f"{change!r}: the members are compared with the same texts; set against for all"
                )
            for member in (first,) if names_member else tuple(self.transports):
                members[member] = members[member].changed([rest if names_member else change])
        for spec in members.values():
            if isinstance(spec, MetricSpec):
                check(spec)
        return replace(self, members=members)

    @property
    def bounds(self) -> Bounds:
        """The range of scores, as the formula gives it."""
        return self.formula.bounds(self.members)

    @property
    def against(self) -> str:
        """The side that all members compare hypotheses with: references or source."""
        against = next(iter(self.members.values())).against
        return against if isinstance(against, str) else against.name

    def with_side(self, side: str) -> BlendSpec:
        """Return the blend with hypotheses compared with another side."""
        if isinstance(self.formula, LinearSum):
            raise UsageError(refuse_side(side))
        return self.changed([f"against={side}"])

    def written(self) -> dict[str, str]:
        """Return all axes of all members as text; of a blend of shares the side once, and the
        encoder of the first member with those of the others that differ.
        """
        if isinstance(self.formula, LinearSum):
            return self._write_terms(self.formula)
        encoder = next(iter(self.members.values())).written()["encoder"]
        return {
            "encoder": encoder,
            "against": self.against,
            **{
                f"{name}.{axis}": text
                for name, spec in self.members.items()
                for axis, text in spec.written().items()
                if axis not in OPTIONAL and (axis, text) != ("encoder", encoder)
            },
        }

    def _write_terms(self, formula: LinearSum) -> dict[str, str]:
        """Return the constants and all settings of every member of a linear blend."""
        written = {}
        for name, spec in self.members.items():
            term = formula.terms[name]
            written[f"{name}.metric"] = term.metric
            for constant in ("weight", "mean", "deviation"):
                written[f"{name}.{constant}"] = repr(float(getattr(term, constant)))
            written |= {f"{name}.{axis}": text for axis, text in spec.written().items()}
        return written


def refuse_side(side: str) -> str:
    """Return the message for a fitted blend that would have to compare with another side."""
    return (
        "the weights of this blend were fitted on scores against references, and there are none, "
        f"only the {side}: give references (-r FILE), or take a metric that compares with sources"
    )


@dataclass(frozen=True)
class BlendPreset:
    """A named blend with its title and its paper."""

    spec: BlendSpec
    title: str
    cites: str
    alone: tuple[str, ...] = ()
    """What each member is called where it stands alone."""


_SENTSIM = "Song et al. 2021"
BLENDS: Mapping[str, BlendPreset] = {
    "sentsim": BlendPreset(
        BlendSpec({"sentence": SBERT, "words": BERTSCORE}).with_side("source"),
        "exp of scaled sentence cosine plus exp of scaled BERTScore",
        _SENTSIM,
        ("sbert", "bertscore"),
    ),
    "sentsim-wmd": BlendPreset(
        BlendSpec({"sentence": SBERT, "words": replace(WMD, normalise=RAW)}).with_side("source"),
        "exp of scaled sentence cosine plus exp of one minus scaled word mover's distance",
        _SENTSIM,
        ("sbert", "wmd[normalise=none]"),
    ),
}

"""Blends: metrics that are a function of other metrics, described as data.

    score = sum over members of exp(scaled),   scaled = (value - low) / (high - low), or 1 - that
                                               for a distance

where low and high are fitted: the range of the member's scores over a corpus of pairs (SentSim).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import e, inf

from monge.errors import InvalidSetting
from monge.metrics.metric import OPTIONAL, MetricSpec
from monge.metrics.rows import BERTSCORE, RAW, SBERT, WMD
from monge.metrics.rules import Bounds, check


@dataclass(frozen=True)
class BlendSpec:
    """Named members of a blend; each is a transport metric.

    They share one encoder unless `MEMBER.encoder.model=NAME` gives a member its own.
    """

    members: Mapping[str, MetricSpec]

    def changed(self, changes: Iterable[str]) -> BlendSpec:
        """Apply changes AXIS=VALUE to every member, MEMBER.AXIS[.FIELD]=VALUE to one."""
        members = dict(self.members)
        for change in changes:
            first, dot, rest = change.partition(".")
            if "scale" in change.partition("=")[0].split("."):
                raise InvalidSetting(
                    f"{change!r}: a blend scales its members by fitted ranges, by nothing else"
                )
            if "fluency" in change.partition("=")[0].split("."):
                raise InvalidSetting(
                    f"{change!r}: a blend has no language model; a metric of its own has one"
                )
            names_member = bool(dot) and first in members
            if names_member and rest.partition("=")[0] == "against":
                raise InvalidSetting(
                    f"{change!r}: the members are compared with the same texts; set against for all"
                )
            for member in (first,) if names_member else tuple(members):
                members[member] = members[member].changed([rest if names_member else change])
        for spec in members.values():
            check(spec)
        return replace(self, members=members)

    @property
    def bounds(self) -> Bounds:
        """The range of scores: from m to m e for m members and pairs within the fitted ranges."""
        count = len(self.members)
        return Bounds(
            0.0, inf, count * e, 0.0, True, "pairs within the fitted ranges", (count, count * e)
        )

    @property
    def against(self) -> str:
        """The side that all members compare hypotheses with: references or source."""
        return next(iter(self.members.values())).against.name

    def with_side(self, side: str) -> BlendSpec:
        """Return the blend with hypotheses compared with another side."""
        return replace(
            self,
            members={
                name: member.changed([f"against={side}"]) for name, member in self.members.items()
            },
        )

    def written(self) -> dict[str, str]:
        """Return all axes of all members as text; the side once, and the encoder of the first
        member with those of the others that differ.
        """
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

"""Corpus statistics: everything that scores take from other texts, fitted once and frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from monge.errors import StatisticsMismatch
from monge.types.sums import DocumentCounts, MatrixSum, PartSums, Range, Sum, VectorSum

VERSION = 1
"""Of the layout of a statistics file."""

_KINDS: Mapping[str, type[Sum]] = {
    "counts": DocumentCounts,
    "sums": VectorSum,
    "ranges": Range,
    "baselines": PartSums,
    "maps": MatrixSum,
}
_Path = tuple[str, ...]  # kind, key; for sums: kind, space, side


@dataclass(frozen=True)
class CorpusStats:
    """Everything that scores take from other texts, fitted once and frozen.

    counts: side -> document counts, side being `references` (used for both sides) or `hypotheses`;
    sums: space -> side -> sum of unit vectors, a space being the settings that make the vectors;
    ranges: member of a blend, as its signature without statistics -> lowest and highest score;
    baselines: metric, written the same way -> sums over random pairs;
    maps: space and kind of map -> sum of outer products of aligned words.
    `reader` identifies tokenizer, length and prefix: statistics of another reader do not fit.
    `members`: where the members of a blend take their statistics from different texts, those of each member.

    a + b are the statistics of a's texts followed by b's: both hold the same. a | b holds what either does, idf from
    one file and a baseline from another: they hold nothing in common.
    """

    reader: str
    counts: Mapping[str, DocumentCounts] = field(default_factory=dict)
    sums: Mapping[str, Mapping[str, VectorSum]] = field(default_factory=dict)
    ranges: Mapping[str, Range] = field(default_factory=dict)
    baselines: Mapping[str, PartSums] = field(default_factory=dict)
    maps: Mapping[str, MatrixSum] = field(default_factory=dict)
    members: Mapping[str, CorpusStats] = field(default_factory=dict)

    def of_member(self, name: str) -> CorpusStats:
        """Return the statistics that a member of a blend uses."""
        return self.members.get(name, self)

    @cached_property
    def digests(self) -> Mapping[_Path, str]:
        """The digest of every sum by its path: it changes with any number that a score is made of."""
        return {path: one.digest("/".join((self.reader, *path))) for path, one in self._flat().items()}

    def __add__(self, other: CorpusStats) -> CorpusStats:
        self._check_reader(other, "added")
        mine, theirs = self._flat(), other._flat()
        alone = sorted(mine.keys() ^ theirs.keys())
        if alone:
            raise StatisticsMismatch(
                f"only one of the statistics holds {_said(alone[0])}: they cannot be added (a | b unites them)"
            )
        return CorpusStats(self.reader, **_nested({path: one + theirs[path] for path, one in mine.items()}))

    def __or__(self, other: CorpusStats) -> CorpusStats:
        self._check_reader(other, "united")
        mine, theirs = self._flat(), other._flat()
        both = sorted(mine.keys() & theirs.keys())
        if both:
            raise StatisticsMismatch(
                f"both statistics hold {_said(both[0])}: which of them counts is not clear (a + b adds them up)"
            )
        return CorpusStats(self.reader, **_nested(mine | theirs))

    def _check_reader(self, other: CorpusStats, done: str) -> None:
        if self.reader != other.reader:
            raise StatisticsMismatch(
                f"statistics of different readers cannot be {done}: {self.reader!r} and {other.reader!r}"
            )

    def _flat(self) -> dict[_Path, Any]:
        """Every sum by its path."""
        found: dict[_Path, Any] = {}
        for kind in _KINDS:
            for key, one in getattr(self, kind).items():
                if kind == "sums":
                    found.update({(kind, key, side): each for side, each in one.items()})
                else:
                    found[kind, key] = one
        return found

    def held(self) -> list[str]:
        """What they hold, in words."""
        held = [f"{one.n} texts of the {side} (idf)" for side, one in self.counts.items()]
        held += [
            f"{one.count} vectors of the {side} (mean)" for each in self.sums.values() for side, one in each.items()
        ]
        held += [f"{one.n} pairs (range)" for one in self.ranges.values()]
        held += [f"{len(self.baselines)} layer(s) on {one.n} random pairs" for one in list(self.baselines.values())[:1]]
        return held + [f"maps clp and umd on {one.count} aligned words" for one in list(self.maps.values())[:1]]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, exact: integers, and floats that read back as they were."""
        plain = {path: one.to_dict() for path, one in self._flat().items()}
        return {"monge-statistics": VERSION, "reader": self.reader, **_nested(plain)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CorpusStats:
        """The inverse of `to_dict`; raises where the data are not statistics, or are none that texts can have."""
        try:
            if data["monge-statistics"] != VERSION:
                raise StatisticsMismatch(
                    f"statistics of version {data['monge-statistics']!r}; this monge reads {VERSION}"
                )
            stored = cls(str(data["reader"]), **{kind: data.get(kind, {}) for kind in _KINDS})._flat()
            found = {path: _KINDS[path[0]].from_dict(one) for path, one in stored.items()}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise StatisticsMismatch(f"not a statistics file of monge fit ({type(error).__name__}: {error})") from None
        bad = next((path for path, one in found.items() if not one.plausible), None)
        if bad is not None:
            raise StatisticsMismatch(f"not statistics of monge fit: {_said(bad)} has numbers that no texts can have")
        return cls(str(data["reader"]), **_nested(found))


def _said(path: _Path) -> str:
    return f"{path[0]} of {' of '.join(reversed(path[1:]))}"


def _nested(flat: Mapping[_Path, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {kind: {} for kind in _KINDS}
    for (*outer, last), one in flat.items():
        place = found
        for key in outer:
            place = place.setdefault(key, {})
        place[last] = one
    return found

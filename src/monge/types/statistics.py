"""Corpus statistics: everything that scores take from other texts, fitted once and frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from monge.errors import StatisticsMismatch
from monge.types.sums import DocumentCounts, MatrixSum, PartSums, Range, Sum, VectorSum

VERSION = 1
"""Version of the layout of a statistics file."""

_KINDS: Mapping[str, type[Sum]] = {
    "counts": DocumentCounts,
    "sums": VectorSum,
    "ranges": Range,
    "baselines": PartSums,
    "maps": MatrixSum,
}
_Path = tuple[str, ...]  # kind, key; for sums: kind, space, side


@dataclass(frozen=True, repr=False)
class CorpusStats:
    """Everything that scores take from other texts, fitted once and frozen.

    counts: side -> document counts, side being `references` (used for both sides) or `hypotheses`;
    sums: space -> side -> sum of unit vectors, a space being the settings that make the vectors;
    ranges: member of a blend, as its signature without statistics -> lowest and highest score;
    baselines: metric, written the same way -> sums over random pairs; maps: space and kind of map
    -> sum of outer products of aligned words. `reader` identifies tokenizer, length and prefix:
    statistics of another reader do not fit. `members`: where the members of a blend take their
    statistics from different texts, those of each member.

    a + b are the statistics of a's texts followed by b's: both hold the same. a | b holds what
    either does, idf from one file and a baseline from another: they hold nothing in common.

    Examples:
        >>> first = monge.fit(["the cat", "the dog"], metric="moverscore")
        >>> first + monge.fit(["a bird"], metric="moverscore")
        <statistics of 3 texts: 1 counts>
    """

    reader: str
    counts: Mapping[str, DocumentCounts] = field(default_factory=dict)
    sums: Mapping[str, Mapping[str, VectorSum]] = field(default_factory=dict)
    ranges: Mapping[str, Range] = field(default_factory=dict)
    baselines: Mapping[str, PartSums] = field(default_factory=dict)
    maps: Mapping[str, MatrixSum] = field(default_factory=dict)
    members: Mapping[str, CorpusStats] = field(default_factory=dict)

    def __repr__(self) -> str:
        names = ("counts", "sums", "ranges", "baselines", "maps", "members")
        held = [f"{len(getattr(self, name))} {name}" for name in names if getattr(self, name)]
        texts = next((count.n for count in self.counts.values()), 0)
        fitted = f" of {texts} texts" if texts else ""
        return f"<statistics{fitted}: {', '.join(held) or 'nothing'}>"

    def of_member(self, name: str) -> CorpusStats:
        """Return the statistics that a member of a blend uses."""
        return self.members.get(name, self)

    @cached_property
    def digests(self) -> Mapping[_Path, str]:
        """The digest of every sum by its path; it changes with any score's input."""
        return {
            path: corpus_sum.digest("/".join((self.reader, *path)))
            for path, corpus_sum in self._flatten().items()
        }

    def __add__(self, other: CorpusStats) -> CorpusStats:
        self._check_reader(other, "added")
        own_sums, other_sums = self._flatten(), other._flatten()
        alone = sorted(own_sums.keys() ^ other_sums.keys())
        if alone:
            raise StatisticsMismatch(
                f"only one of the statistics holds {_describe_path(alone[0])}: they cannot be "
                "added (a | b unites them)"
            )
        return CorpusStats(
            self.reader,
            **_nest({path: corpus_sum + other_sums[path] for path, corpus_sum in own_sums.items()}),
        )

    def __or__(self, other: CorpusStats) -> CorpusStats:
        self._check_reader(other, "united")
        own_sums, other_sums = self._flatten(), other._flatten()
        both = sorted(own_sums.keys() & other_sums.keys())
        if both:
            raise StatisticsMismatch(
                f"both statistics hold {_describe_path(both[0])}: which of them counts is not "
                "clear (a + b adds them up)"
            )
        return CorpusStats(self.reader, **_nest(own_sums | other_sums))

    def _check_reader(self, operand: CorpusStats, done: str) -> None:
        if self.reader != operand.reader:
            raise StatisticsMismatch(
                f"statistics of different readers cannot be {done}: {self.reader!r} and "
                f"{operand.reader!r}"
            )

    def _flatten(self) -> dict[_Path, Any]:
        """Return every sum by its path."""
        sums_by_path: dict[_Path, Any] = {}
        for kind in _KINDS:
            for key, entry in getattr(self, kind).items():
                if kind == "sums":
                    sums_by_path.update(
                        {(kind, key, side): vector_sum for side, vector_sum in entry.items()}
                    )
                else:
                    sums_by_path[kind, key] = entry
        return sums_by_path

    def held(self) -> list[str]:
        """Describe what the statistics hold, one phrase per entry."""
        held = [
            f"{document_counts.n} texts of the {side} (idf)"
            for side, document_counts in self.counts.items()
        ]
        held += [
            f"{vector_sum.count} vectors of the {side} (mean)"
            for sums_by_side in self.sums.values()
            for side, vector_sum in sums_by_side.items()
        ]
        held += [f"{score_range.n} pairs (range)" for score_range in self.ranges.values()]
        held += [
            f"{len(self.baselines)} layer(s) on {part_sums.n} random pairs"
            for part_sums in list(self.baselines.values())[:1]
        ]
        return held + [
            f"maps clp and umd on {matrix_sum.count} aligned words"
            for matrix_sum in list(self.maps.values())[:1]
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers that read back exactly: integers and floats."""
        plain = {path: corpus_sum.to_dict() for path, corpus_sum in self._flatten().items()}
        return {"monge-statistics": VERSION, "reader": self.reader, **_nest(plain)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CorpusStats:
        """Rebuild statistics from `to_dict`; raise for invalid data or numbers."""
        try:
            if data["monge-statistics"] != VERSION:
                raise StatisticsMismatch(
                    f"statistics of version {data['monge-statistics']!r}; this monge reads "
                    f"{VERSION}"
                )
            stored = cls(
                str(data["reader"]), **{kind: data.get(kind, {}) for kind in _KINDS}
            )._flatten()
            sums_by_path = {
                path: _KINDS[path[0]].from_dict(fields) for path, fields in stored.items()
            }
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise StatisticsMismatch(
                f"not a statistics file of monge fit ({type(error).__name__}: {error})"
            ) from None
        bad = next(
            (path for path, corpus_sum in sums_by_path.items() if not corpus_sum.is_plausible), None
        )
        if bad is not None:
            raise StatisticsMismatch(
                f"not statistics of monge fit: {_describe_path(bad)} has numbers that no texts can "
                "have"
            )
        return cls(str(data["reader"]), **_nest(sums_by_path))


def _describe_path(path: _Path) -> str:
    return f"{path[0]} of {' of '.join(reversed(path[1:]))}"


def _nest(flat: Mapping[_Path, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {kind: {} for kind in _KINDS}
    for (*outer, last), leaf in flat.items():
        place = nested
        for key in outer:
            place = place.setdefault(key, {})
        place[last] = leaf
    return nested

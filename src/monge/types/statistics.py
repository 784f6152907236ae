"""What scores take from other texts: sums that merge, frozen once fitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from monge.errors import StatisticsMismatch

Array = npt.NDArray[np.float64]
DIGEST_SPACE = 2**128


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """In how many of `n` texts each piece occurs; `texts` identifies the texts whatever their order."""

    n: int
    df: Mapping[int, int]
    texts: int

    def __add__(self, other: DocumentCounts) -> DocumentCounts:
        df = dict(self.df)
        for piece, count in other.df.items():
            df[piece] = df.get(piece, 0) + count
        return DocumentCounts(self.n + other.n, df, (self.texts + other.texts) % DIGEST_SPACE)

    @property
    def plausible(self) -> bool:
        """Whether some texts could have been counted so: a damaged file has impossible numbers."""
        return self.n >= 0 and all(0 < count <= self.n for count in self.df.values())


@dataclass(frozen=True, slots=True)
class VectorSum:
    """Sum [d] and number of the unit vectors of some texts."""

    total: Array
    count: int
    texts: int

    def __add__(self, other: VectorSum) -> VectorSum:
        return VectorSum(self.total + other.total, self.count + other.count, (self.texts + other.texts) % DIGEST_SPACE)

    @property
    def plausible(self) -> bool:
        """Whether some vectors could have been summed so."""
        return self.count >= 0 and self.total.ndim == 1 and bool(np.isfinite(self.total).all())

    @property
    def mean(self) -> Array:
        """The mean vector [d]."""
        return self.total / max(self.count, 1)


@dataclass(frozen=True, slots=True)
class MatrixSum:
    """A sum of outer products [d, d] over `count` aligned words of parallel texts."""

    total: Array
    count: int
    texts: int

    def __add__(self, other: MatrixSum) -> MatrixSum:
        return MatrixSum(self.total + other.total, self.count + other.count, (self.texts + other.texts) % DIGEST_SPACE)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MatrixSum) and self.texts == other.texts and bool(np.all(self.total == other.total))

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Range:
    """Lowest and highest score of `n` pairs; `texts` identifies the pairs whatever their order."""

    low: float
    high: float
    n: int
    texts: int

    def __add__(self, other: Range) -> Range:
        low, high = min(self.low, other.low), max(self.high, other.high)
        return Range(low, high, self.n + other.n, (self.texts + other.texts) % DIGEST_SPACE)


@dataclass(frozen=True, slots=True)
class PartSums:
    """Sums of the parts of `n` scores of random pairs, drawn with a seed from texts."""

    totals: Mapping[str, float]
    n: int
    texts: int

    def __add__(self, other: PartSums) -> PartSums:
        totals = {name: value + other.totals[name] for name, value in self.totals.items()}
        return PartSums(totals, self.n + other.n, (self.texts + other.texts) % DIGEST_SPACE)

    def mean(self, name: str) -> float:
        """The mean of a part."""
        return self.totals[name] / self.n


@dataclass(frozen=True)
class CorpusStats:
    """Everything that scores take from other texts, fitted once and frozen.

    counts: side -> document counts, side being `references` (used for both sides) or `hypotheses`;
    sums: space -> side -> sum of unit vectors, a space being the settings that make the vectors;
    ranges: part of a blend, as its signature without statistics -> lowest and highest score;
    baselines: metric, written the same way -> sums over random pairs;
    maps: space and kind of map -> sum of outer products of aligned words.
    `reader` identifies tokenizer, length and prefix: statistics of another reader do not fit.
    Statistics are sums, so they merge: fit(A) + fit(B) is fit(A followed by B).
    """

    reader: str
    counts: Mapping[str, DocumentCounts] = field(default_factory=dict)
    sums: Mapping[str, Mapping[str, VectorSum]] = field(default_factory=dict)
    ranges: Mapping[str, Range] = field(default_factory=dict)
    baselines: Mapping[str, PartSums] = field(default_factory=dict)
    maps: Mapping[str, MatrixSum] = field(default_factory=dict)

    def __add__(self, other: CorpusStats) -> CorpusStats:
        kinds = ((one.counts, one.sums, one.ranges, one.baselines, one.maps) for one in (self, other))
        if self.reader != other.reader or any(set(mine) != set(theirs) for mine, theirs in zip(*kinds, strict=True)):
            raise StatisticsMismatch(
                f"statistics of different settings cannot be added: {self.reader!r} and {other.reader!r}"
            )
        counts = {side: one + other.counts[side] for side, one in self.counts.items()}
        sums = {
            space: {side: one + other.sums[space][side] for side, one in sides.items()}
            for space, sides in self.sums.items()
        }
        ranges = {part: one + other.ranges[part] for part, one in self.ranges.items()}
        baselines = {metric: one + other.baselines[metric] for metric, one in self.baselines.items()}
        maps = {space: one + other.maps[space] for space, one in self.maps.items()}
        return CorpusStats(self.reader, counts, sums, ranges, baselines, maps)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, exact: integers, and floats that read back as they were."""
        return {
            "monge-statistics": 1,
            "reader": self.reader,
            "counts": {
                side: {"n": one.n, "texts": f"{one.texts:032x}", "df": {str(k): v for k, v in sorted(one.df.items())}}
                for side, one in self.counts.items()
            },
            "sums": {
                space: {
                    side: {"count": one.count, "texts": f"{one.texts:032x}", "total": one.total.tolist()}
                    for side, one in sides.items()
                }
                for space, sides in self.sums.items()
            },
            "ranges": {
                part: {"low": one.low, "high": one.high, "n": one.n, "texts": f"{one.texts:032x}"}
                for part, one in self.ranges.items()
            },
            "baselines": {
                metric: {"n": one.n, "texts": f"{one.texts:032x}", "totals": dict(one.totals)}
                for metric, one in self.baselines.items()
            },
            "maps": {
                space: {"count": one.count, "texts": f"{one.texts:032x}", "total": one.total.tolist()}
                for space, one in self.maps.items()
            },
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CorpusStats:
        """The inverse of `to_dict`; raises where the data are not statistics."""
        try:
            if data["monge-statistics"] != 1:
                raise StatisticsMismatch(f"statistics of version {data['monge-statistics']!r}; this monge reads 1")
            counts = {
                side: DocumentCounts(
                    int(one["n"]), {int(k): int(v) for k, v in one["df"].items()}, int(one["texts"], 16)
                )
                for side, one in data["counts"].items()
            }
            sums = {
                space: {
                    side: VectorSum(np.array(one["total"], dtype=np.float64), int(one["count"]), int(one["texts"], 16))
                    for side, one in sides.items()
                }
                for space, sides in data["sums"].items()
            }
            if not all(one.plausible for one in counts.values()) or not all(
                one.plausible for sides in sums.values() for one in sides.values()
            ):
                raise StatisticsMismatch("not statistics of monge fit: counts or sums that no texts can have")
            ranges = {
                part: Range(float(one["low"]), float(one["high"]), int(one["n"]), int(one["texts"], 16))
                for part, one in data.get("ranges", {}).items()
            }
            baselines = {
                metric: PartSums({k: float(v) for k, v in one["totals"].items()}, int(one["n"]), int(one["texts"], 16))
                for metric, one in data.get("baselines", {}).items()
            }
            maps = {
                space: MatrixSum(np.array(one["total"], dtype=np.float64), int(one["count"]), int(one["texts"], 16))
                for space, one in data.get("maps", {}).items()
            }
            return cls(str(data["reader"]), counts, sums, ranges, baselines, maps)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise StatisticsMismatch(f"not a statistics file of monge fit ({type(error).__name__}: {error})") from None

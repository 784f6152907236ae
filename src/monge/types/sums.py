"""Sums over texts, one class a kind: what corpus statistics are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
DIGEST_SPACE = 2**128


class Sum(Protocol):
    """A sum over texts. `texts` identifies them whatever their order; sums of disjoint texts add up."""

    @property
    def texts(self) -> int:
        """The keys of the texts, added modulo DIGEST_SPACE."""

    @property
    def plausible(self) -> bool:
        """Whether some texts can have this sum: a damaged file has impossible numbers."""

    def __add__(self, other: Self) -> Self:
        """The sum over the texts of both."""

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers that read back exactly, without `texts`."""

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], texts: int) -> Self:
        """The inverse of `to_dict`."""


def _joined(one: Sum, other: Sum) -> int:
    return (one.texts + other.texts) % DIGEST_SPACE


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise ValueError(f"expected a whole number, got {value!r}")
    return value


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """In how many of `n` texts each piece occurs."""

    n: int
    df: Mapping[int, int]
    texts: int

    def __add__(self, other: DocumentCounts) -> DocumentCounts:
        df = dict(self.df)
        for piece, count in other.df.items():
            df[piece] = df.get(piece, 0) + count
        return DocumentCounts(self.n + other.n, df, _joined(self, other))

    @property
    def plausible(self) -> bool:
        """No piece is in more texts than there are."""
        return self.n >= 0 and all(0 < count <= self.n for count in self.df.values())

    def to_dict(self) -> dict[str, Any]:
        """The counts, by piece in order."""
        return {"n": self.n, "df": {str(piece): count for piece, count in sorted(self.df.items())}}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], texts: int) -> DocumentCounts:
        """The inverse of `to_dict`."""
        return cls(_whole(data["n"]), {int(piece): _whole(count) for piece, count in data["df"].items()}, texts)


@dataclass(frozen=True, slots=True, eq=False)
class _ArraySum:
    """A sum of `count` arrays of one shape."""

    total: Array
    count: int
    texts: int
    dimensions: ClassVar[int]

    def __add__(self, other: Self) -> Self:
        return type(self)(self.total + other.total, self.count + other.count, _joined(self, other))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _ArraySum) or type(self) is not type(other):
            return NotImplemented
        same = (self.count, self.texts) == (other.count, other.texts)
        return same and np.array_equal(self.total, other.total)

    __hash__ = None  # type: ignore[assignment]

    @property
    def plausible(self) -> bool:
        """The numbers are finite, and the axes as many as they should be and of one length."""
        square = self.total.ndim == self.dimensions and len(set(self.total.shape)) == 1
        return self.count >= 0 and square and bool(np.isfinite(self.total).all())

    def to_dict(self) -> dict[str, Any]:
        """The sum as lists."""
        return {"count": self.count, "total": self.total.tolist()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], texts: int) -> Self:
        """The inverse of `to_dict`."""
        return cls(np.array(data["total"], dtype=np.float64), _whole(data["count"]), texts)


class VectorSum(_ArraySum):
    """Sum [d] and number of the unit vectors of some texts."""

    __slots__ = ()
    dimensions = 1

    @property
    def mean(self) -> Array:
        """The mean vector [d]."""
        return self.total / max(self.count, 1)


class MatrixSum(_ArraySum):
    """A sum of outer products [d, d] over `count` aligned words of parallel texts."""

    __slots__ = ()
    dimensions = 2


@dataclass(frozen=True, slots=True)
class Range:
    """Lowest and highest score of `n` pairs."""

    low: float
    high: float
    n: int
    texts: int

    def __add__(self, other: Range) -> Range:
        return Range(min(self.low, other.low), max(self.high, other.high), self.n + other.n, _joined(self, other))

    @property
    def plausible(self) -> bool:
        """Finite ends, the lower one first, of at least one pair."""
        return self.n > 0 and isfinite(self.low) and isfinite(self.high) and self.low <= self.high

    def to_dict(self) -> dict[str, Any]:
        """The ends and the number of pairs."""
        return {"low": self.low, "high": self.high, "n": self.n}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], texts: int) -> Range:
        """The inverse of `to_dict`."""
        return cls(float(data["low"]), float(data["high"]), _whole(data["n"]), texts)


@dataclass(frozen=True, slots=True)
class PartSums:
    """Sums of the parts of `n` scores of random pairs, drawn with a seed from texts."""

    totals: Mapping[str, float]
    n: int
    texts: int

    def __add__(self, other: PartSums) -> PartSums:
        totals = {name: value + other.totals[name] for name, value in self.totals.items()}
        return PartSums(totals, self.n + other.n, _joined(self, other))

    @property
    def plausible(self) -> bool:
        """Finite sums of at least one pair."""
        return self.n > 0 and bool(self.totals) and all(map(isfinite, self.totals.values()))

    def mean(self, name: str) -> float:
        """The mean of a part."""
        return self.totals[name] / self.n

    def to_dict(self) -> dict[str, Any]:
        """The sums and the number of pairs."""
        return {"n": self.n, "totals": dict(self.totals)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], texts: int) -> PartSums:
        """The inverse of `to_dict`."""
        return cls({name: float(value) for name, value in data["totals"].items()}, _whole(data["n"]), texts)

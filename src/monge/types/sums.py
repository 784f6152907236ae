"""Sums over texts, one class per kind, of which corpus statistics consist."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from hashlib import blake2b
from math import isfinite
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
DIGEST_SPACE = 2**128


def _read_integer(value: Any) -> int:
    if type(value) is not int:
        raise ValueError(f"expected a whole number, got {value!r}")
    return value


def _read_text_key(value: str) -> int:
    text_key = int(value, 16)
    if not 0 <= text_key < DIGEST_SPACE:
        raise ValueError(f"{value!r} is not a key of texts")
    return text_key


_READ: Mapping[str, Callable[[Any], Any]] = {
    "n": _read_integer,
    "count": _read_integer,
    "df": lambda table: {int(piece): _read_integer(count) for piece, count in table.items()},
    "total": lambda rows: np.array(rows, dtype=np.float64),
    "totals": lambda table: {name: float(value) for name, value in table.items()},
    "low": float,
    "high": float,
    "texts": _read_text_key,
}
_WRITE: Mapping[str, Callable[[Any], Any]] = {
    "df": lambda table: {str(piece): count for piece, count in sorted(table.items())},
    "total": np.ndarray.tolist,
    "totals": dict,
    "texts": "{:032x}".format,
}


class Sum(ABC):
    """A sum over texts, a dataclass of the fields above.

    `texts` identifies the texts whatever their order: their keys, added modulo DIGEST_SPACE.
    """

    __slots__ = ()
    texts: int

    @abstractmethod
    def __add__(self, other: Self) -> Self:
        """Return the sum over the texts of both."""

    @property
    @abstractmethod
    def is_plausible(self) -> bool:
        """Whether texts can have this sum; the numbers of a damaged file are often impossible."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain numbers that read back exactly."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {
            name: _WRITE[name](value) if name in _WRITE else value for name, value in values.items()
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Rebuild a sum from `to_dict`."""
        return cls(**{field.name: _READ[field.name](data[field.name]) for field in fields(cls)})  # type: ignore[arg-type]

    def _add_text_keys(self, addend: Sum) -> int:
        return (self.texts + addend.texts) % DIGEST_SPACE

    @abstractmethod
    def digest(self, context: str) -> str:
        """Hash the texts and numbers of this sum with the settings (`context`) it was made with.

        Floats get a hash of their own behind `~`, of their float32 values: the same texts give the
        same first hash on every machine, while the last bits of a float may depend on the machine.
        """


def hash_of(*facts: object) -> str:
    """Hash values that have an exact `repr`: 64 hexadecimal digits."""
    return blake2b(repr(facts).encode(), digest_size=32).hexdigest()


def _hash_of_floats(values: Any) -> str:
    rounded = np.asarray(values, dtype=np.float64).astype("<f4") + np.float32(0.0)  # -0.0 is 0.0
    return blake2b(repr(rounded.shape).encode() + rounded.tobytes(), digest_size=32).hexdigest()


@dataclass(frozen=True, slots=True)
class DocumentCounts(Sum):
    """The number of texts, out of `n`, in which each piece occurs."""

    n: int
    df: Mapping[int, int]
    texts: int

    def __add__(self, other: DocumentCounts) -> DocumentCounts:
        df = dict(self.df)
        for piece, count in other.df.items():
            df[piece] = df.get(piece, 0) + count
        return DocumentCounts(self.n + other.n, df, self._add_text_keys(other))

    @property
    def is_plausible(self) -> bool:
        """Whether no piece occurs in more texts than there are."""
        return self.n >= 0 and all(0 < count <= self.n for count in self.df.values())

    def digest(self, context: str) -> str:
        """Hash the number of texts, every count and the texts."""
        return hash_of(self.n, sorted(self.df.items()), self.texts, context)


@dataclass(frozen=True, slots=True, eq=False)
class _ArraySum(Sum):
    """A sum of `count` arrays of one shape."""

    total: Array
    count: int
    texts: int
    dimensions: ClassVar[int]

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.total + other.total, self.count + other.count, self._add_text_keys(other)
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _ArraySum) or type(self) is not type(other):
            return NotImplemented
        same = (self.count, self.texts) == (other.count, other.texts)
        return same and np.array_equal(self.total, other.total)

    __hash__ = None  # type: ignore[assignment]

    @property
    def is_plausible(self) -> bool:
        """Whether all numbers are finite and the axes have the right number and length."""
        square = self.total.ndim == self.dimensions and len(set(self.total.shape)) == 1
        return self.count >= 0 and square and bool(np.isfinite(self.total).all())

    def digest(self, context: str) -> str:
        """Hash the number of arrays and the texts; behind `~` the sum."""
        return f"{hash_of(self.count, self.texts, context)}~{_hash_of_floats(self.total)}"


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
class Range(Sum):
    """Lowest and highest score of `n` pairs."""

    low: float
    high: float
    n: int
    texts: int

    def __add__(self, other: Range) -> Range:
        return Range(
            min(self.low, other.low),
            max(self.high, other.high),
            self.n + other.n,
            self._add_text_keys(other),
        )

    @property
    def is_plausible(self) -> bool:
        """Whether there is a pair and both ends are finite, the lower one first."""
        return self.n > 0 and isfinite(self.low) and isfinite(self.high) and self.low <= self.high

    def digest(self, context: str) -> str:
        """Hash the number of pairs and their texts; behind `~` both ends."""
        return f"{hash_of(self.n, self.texts, context)}~{_hash_of_floats([self.low, self.high])}"


@dataclass(frozen=True, slots=True)
class PartSums(Sum):
    """Sums of the parts of `n` scores of random pairs, drawn with a seed from texts."""

    totals: Mapping[str, float]
    n: int
    texts: int

    def __add__(self, other: PartSums) -> PartSums:
        totals = {name: value + other.totals[name] for name, value in self.totals.items()}
        return PartSums(totals, self.n + other.n, self._add_text_keys(other))

    @property
    def is_plausible(self) -> bool:
        """Whether there is a pair and all sums are finite."""
        return self.n > 0 and bool(self.totals) and all(map(isfinite, self.totals.values()))

    def digest(self, context: str) -> str:
        """Hash the number of pairs, the names of the parts and the texts; behind `~` the sums."""
        names = sorted(self.totals)
        floats = _hash_of_floats([self.totals[name] for name in names])
        return f"{hash_of(self.n, names, self.texts, context)}~{floats}"

    def mean(self, name: str) -> float:
        """Return the mean of a part."""
        return self.totals[name] / self.n


def mean_of_sums(sums: Array) -> Array:
    """Return the mean of values from their sum and their number: [..., 2] -> [...]."""
    mean: Array = sums[..., 0] / sums[..., 1]
    return mean

"""Penalties of MQM errors by severity and category: rows of data, the first that fits counts."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from math import inf
from pathlib import Path
from typing import Any

from monge.datasets.catalogue import Dataset
from monge.datasets.lines import open_bytes
from monge.errors import Unreadable

_KEYS = ("severity", "category", "penalty")
NO_ERROR = "no-error"


@dataclass(frozen=True, slots=True)
class Weight:
    """The penalty of errors of a severity, and of a category where the pattern is not `*`."""

    severity: str
    category: str
    penalty: float

    def fits(self, severity: str, category: str) -> bool:
        """Return whether an error has this severity and category, in upper or lower case."""
        return self.severity.lower() == severity.lower() and fnmatchcase(
            category.lower(), self.category.lower()
        )


@dataclass(frozen=True)
class Weights:
    """The table of penalties, and the patterns of the categories that files may have."""

    rows: Sequence[Weight]
    categories: Sequence[str]

    def penalty(self, severity: str, category: str, location: str) -> float:
        """Return the penalty of an error; raise for an unknown severity or category."""
        lowered = category.lower()
        if not any(fnmatchcase(lowered, pattern.lower()) for pattern in self.categories):
            raise _unknown(location, "category", category, self.categories)
        for weight in self.rows:
            if weight.fits(severity, category):
                return weight.penalty
        raise _unknown(location, "severity", severity, [weight.severity for weight in self.rows])


def choose_weights(dataset: Dataset, path: str) -> Weights:
    """Return the weights of a TOML file of the user's, or those of the data set."""
    if not path:
        return Weights(_read_rows(dataset.weights, f"data set {dataset.name}"), dataset.categories)
    with open_bytes(Path(path)) as stream:
        content = stream.read()
    try:
        table = tomllib.loads(content.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Unreadable(f"{path}: not TOML ({error})") from None
    if not isinstance(table.get("weights"), list) or not table["weights"]:
        raise Unreadable(f"{path}: no [[weights]]; expected rows with {', '.join(_KEYS)}")
    categories = table.get("categories", dataset.categories)
    if not isinstance(categories, list | tuple) or not all(
        isinstance(pattern, str) for pattern in categories
    ):
        raise Unreadable(f"{path}: categories: expected a list of texts, got {categories!r}")
    return Weights(_read_rows(table["weights"], path), categories)


def _read_rows(rows: Sequence[Mapping[str, Any]], location: str) -> list[Weight]:
    weights = []
    for number, row in enumerate(rows, 1):
        row_location = f"{location}, weights {number}"
        unknown = next((key for key in row if key not in _KEYS), None)
        if unknown is not None:
            raise _unknown(row_location, "key", unknown, _KEYS)
        severity, category = row.get("severity"), row.get("category", "*")
        if not isinstance(severity, str) or not isinstance(category, str):
            raise Unreadable(f"{row_location}: severity and category must be texts, got {row}")
        penalty: Any = row.get("penalty")
        is_number = isinstance(penalty, int | float) and not isinstance(penalty, bool)
        if not is_number or not 0 <= float(penalty) < inf:
            raise Unreadable(
                f"{row_location}: expected a penalty of 0 or more, got {penalty!r} (scores are the "
                "negative sums of penalties)"
            )
        weights.append(Weight(severity, category, float(penalty)))
    return weights


def _unknown(location: str, kind: str, name: str, accepted: Sequence[str]) -> Unreadable:
    names = list(dict.fromkeys(accepted))
    near = get_close_matches(name, names, n=1, cutoff=0.5)
    guess = f"; did you mean {near[0]!r}?" if near else ""
    return Unreadable(
        f"{location}: unknown {kind} {name!r}{guess} (accepted are {', '.join(names)})"
    )

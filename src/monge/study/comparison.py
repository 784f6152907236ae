"""What a comparison of systems found: a standing a metric, and a test for every two systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class SystemScore:
    """A system's score with its interval; `cluster` 1 holds the best system and those that cannot be told from it."""

    system: str
    score: float
    low: float
    high: float
    cluster: int


@dataclass(frozen=True, slots=True)
class Versus:
    """Two systems: first - second, two-sided p-values of both tests, plain and corrected by Holm."""

    first: str
    second: str
    difference: float
    bootstrap: float
    bootstrap_holm: float
    permutation: float
    permutation_holm: float


@dataclass(frozen=True)
class Standings:
    """All systems by one metric; `of` says what is compared: the mean of segments, or a corpus score."""

    metric: str
    label: str
    signature: str
    higher_is_better: bool
    n: int
    of: str
    systems: tuple[SystemScore, ...]
    pairs: tuple[Versus, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "metric": self.metric,
            "signature": self.signature,
            "higher_is_better": self.higher_is_better,
            "n": self.n,
            "of": self.of,
            "systems": [
                {name: getattr(one, name) for name in ("system", "score", "low", "high", "cluster")}
                for one in self.systems
            ],
            "pairs": [
                {
                    "first": one.first,
                    "second": one.second,
                    "difference": one.difference,
                    "bootstrap": {"p": one.bootstrap, "holm": one.bootstrap_holm},
                    "permutation": {"p": one.permutation, "holm": one.permutation_holm},
                }
                for one in self.pairs
            ],
        }


@dataclass(frozen=True)
class Comparison:
    """Systems by metrics; clusters come from the Holm-corrected p-values of `test` at `alpha`."""

    standings: tuple[Standings, ...]
    seed: int
    resamples: int
    confidence: float
    alpha: float
    test: str

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "results": [one.to_dict() for one in self.standings],
            "study": {
                "seed": self.seed,
                "resamples": self.resamples,
                "confidence": self.confidence,
                "alpha": self.alpha,
                "test": self.test,
                "correction": "Holm",
            },
        }

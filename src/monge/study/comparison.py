"""What a comparison of systems found: a standing a metric, and a test for every two systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from monge.render.cells import DASH, number, span
from monge.study.agreement import Resampling
from monge.types.table import Cell, Sheet


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

    def cell(self, index: int) -> Cell:
        """A system's score as tables show it."""
        one, pick = self.systems[index], max if self.higher_is_better else min
        best = one.score == pick(other.score for other in self.systems)
        return Cell(number(one.score), span(one.low, one.high, 4), "best" if best else "tied" * (one.cluster == 1))

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
    """Systems by metrics; clusters come from the Holm-corrected p-values of `resampling.test` at its `alpha`."""

    standings: tuple[Standings, ...]
    resampling: Resampling

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        how = {name: getattr(self.resampling, name) for name in ("seed", "resamples", "confidence", "alpha", "test")}
        return {"results": [one.to_dict() for one in self.standings], "study": {**how, "correction": "Holm"}}

    def sheets(self) -> list[Sheet]:
        """A table of all systems, and one of every two systems a metric."""
        return [self._systems(), *(self._pairs(one) for one in self.standings)]

    def _systems(self) -> Sheet:
        head = ["system"]
        for one in self.standings:
            head += [f"{one.label} {'↑' if one.higher_is_better else '↓'}", "cluster"]
        rows = []
        for k, first in enumerate(self.standings[0].systems):
            row = [Cell(first.system)]
            for one in self.standings:
                row += [one.cell(k), Cell(str(one.systems[k].cluster))]
            rows.append(tuple(row))
        measured = "; ".join(f"{one.label}: {one.of}, n = {one.n}" for one in self.standings)
        test = f"paired {self.resampling.test}, two-sided, Holm over all pairs, p > {self.resampling.alpha:g}"
        return Sheet(
            f"{len(rows)} systems",
            tuple(head),
            tuple(rows),
            (measured, self.resampling.note),
            tuple(one.signature for one in self.standings),
            tied=f"in the best one's cluster ({test})",
        )

    def _pairs(self, one: Standings) -> Sheet:
        rows = []
        for pair in one.pairs:
            p = pair.permutation_holm if self.resampling.test == "permutation" else pair.bootstrap_holm
            better = pair.first if (pair.difference > 0) == one.higher_is_better else pair.second
            names = pair.first, pair.second, better if p <= self.resampling.alpha else DASH
            tested = pair.bootstrap, pair.bootstrap_holm, pair.permutation, pair.permutation_holm
            rows.append(tuple(Cell(text) for text in (*names, *map(number, (pair.difference, *tested)))))
        head = ("first", "second", "better", "difference", "p bootstrap", "Holm", "p permutation", "Holm")
        return Sheet(f"{one.label}: every two systems", head, tuple(rows), words=3)

"""The result of a comparison of systems: scores, pairs and clusters, their JSON form and tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from statistics import NormalDist
from typing import Any

from monge.evaluation.agreement import Resampling
from monge.evaluation.human_meaning import HumanMeaning, describe_source, find_meaning
from monge.evaluation.notebook import StudyResult
from monge.render.cells import DASH, number_cell, p_value, supported_digits
from monge.types import Signature
from monge.types.system_names import short_names
from monge.types.table import Cell, Sheet, Span

PAIR_HEAD = "first", "second", "better", "difference", "interval"
TEST_HEAD = "p bootstrap", "Holm", "p permutation", "Holm"
"""The columns of a table of all pairs, before and behind what people think."""
DOTS = "filled dot: the difference is more than chance; hollow dot: it may be chance"


@dataclass(frozen=True, slots=True)
class SystemScore:
    """A system's score with its interval; cluster 1 is the best and its statistical ties."""

    system: str
    score: float
    low: float
    high: float
    cluster: int


@dataclass(frozen=True, slots=True)
class Versus:
    """first - second with its interval, and two-sided p-values of both tests, plain and Holm's."""

    first: str
    second: str
    difference: float
    low: float
    high: float
    bootstrap: float
    bootstrap_holm: float
    permutation: float
    permutation_holm: float


@dataclass(frozen=True)
class Standings:
    """All systems by one metric; `of` is what is compared: segment means or corpus scores."""

    metric: str
    label: str
    signature: str
    higher_is_better: bool
    n: int
    of: str
    systems: tuple[SystemScore, ...]
    pairs: tuple[Versus, ...]

    @property
    def ranked(self) -> list[int]:
        """The places of the systems, the best first."""
        sign = -1 if self.higher_is_better else 1
        return sorted(range(len(self.systems)), key=lambda k: sign * self.systems[k].score)

    def cell(self, index: int) -> Cell:
        """Return a system's score as a cell, marked best if alone in the first cluster."""
        system_score, pick = self.systems[index], max if self.higher_is_better else min
        best = system_score.score == pick(system.score for system in self.systems)
        alone = sum(system.cluster == 1 for system in self.systems) == 1
        mark = "best" if best and alone else "tied" * (system_score.cluster == 1)
        ends = system_score.low, system_score.high
        return number_cell(system_score.score, *ends, digits=self.digits, mark=mark)

    @property
    def digits(self) -> int:
        """The decimals that the intervals of the systems support."""
        return supported_digits((system.low, system.high) for system in self.systems)

    def difference_cell(self, pair: Versus) -> Cell:
        """Return the difference of two systems."""
        cell = number_cell(pair.difference, digits=self.difference_digits)
        return replace(cell, ends=(pair.low, pair.high))

    @property
    def difference_digits(self) -> int:
        """The decimals that the intervals of all differences support."""
        return supported_digits((pair.low, pair.high) for pair in self.pairs)

    def name_cell(self, system: str) -> Cell:
        """Return the name of a system, which people read without the ending of a file."""
        return Cell(
            system, short=short_names(system_score.system for system_score in self.systems)[system]
        )

    def detectable(self, pair: Versus, resampling: Resampling) -> float:
        """Return the difference of two systems that would have just been significant.

        It is the standard error behind the interval times the quantile of the normal distribution
        at the level of a single pair after correction.
        """
        quantile = NormalDist().inv_cdf
        error = (pair.high - pair.low) / (2 * quantile(0.5 + resampling.confidence / 2))
        return error * quantile(1 - resampling.alpha / (2 * len(self.pairs)))

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            **{
                name: getattr(self, name)
                for name in ("metric", "signature", "higher_is_better", "n", "of")
            },
            **({"label": self.label} if self.label != self.metric else {}),
            "systems": [asdict(system) for system in self.systems],
            "pairs": [
                {
                    **{
                        name: getattr(pair, name)
                        for name in ("first", "second", "difference", "low", "high")
                    },
                    "bootstrap": {"p": pair.bootstrap, "holm": pair.bootstrap_holm},
                    "permutation": {"p": pair.permutation, "holm": pair.permutation_holm},
                }
                for pair in self.pairs
            ],
        }


@dataclass(frozen=True, repr=False)
class Comparison(StudyResult):
    """Systems by metrics, in clusters by Holm-corrected p-values of `resampling.test`.

    `language` is that of the outputs, as far as it could be guessed: it decides whether judgements
    say what a difference means to people.
    """

    standings: tuple[Standings, ...]
    resampling: Resampling
    language: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        how = {
            name: getattr(self.resampling, name)
            for name in ("seed", "resamples", "confidence", "alpha", "test")
        }
        study = {**how, "correction": "Holm"}
        if self.language:
            study |= {"language": self.language, "people": self._list_meanings()}
        return {"results": [standings.to_dict() for standings in self.standings], "study": study}

    def meaning(self, standings: Standings, pair: Versus) -> HumanMeaning | None:
        """Return how often people ranked systems this far apart the same way; None if unknown."""
        signature = Signature.parse(standings.signature)
        return find_meaning(signature, pair.difference, self.language)

    def _list_meanings(self) -> list[dict[str, Any]]:
        """Return the meaning of every pair of systems by every metric for which it is known."""
        return [
            {"metric": standings.label, "first": pair.first, "second": pair.second}
            | meaning.to_dict()
            for standings in self.standings
            for pair in standings.pairs
            if (meaning := self.meaning(standings, pair)) is not None
        ]

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield one row per metric and system: score, interval, cluster."""
        for standings in self.standings:
            yield from (
                {"metric": standings.label, **asdict(system)} for system in standings.systems
            )

    def sheets(self) -> list[Sheet]:
        """Return a table of all systems, and per metric a table of all pairs of systems."""
        return [
            self._systems_sheet(),
            *(self._pairs_sheet(standings) for standings in self.standings),
        ]

    def better(self, standings: Standings, pair: Versus) -> str:
        """Return the system that is significantly better, or nothing."""
        p = pair.permutation_holm if self.resampling.test == "permutation" else pair.bootstrap_holm
        if p > self.resampling.alpha:
            return ""
        return pair.first if (pair.difference > 0) == standings.higher_is_better else pair.second

    @property
    def verdict(self) -> list[str]:
        """Which systems are best, and which cannot be told apart, in plain words."""
        from monge.evaluation.verdict import verdict

        return verdict(self)

    @property
    def told(self) -> list[str]:
        """The verdict with the short names of systems that tables show."""
        from monge.evaluation.verdict import verdict

        return verdict(self, short_names(system.system for system in self.standings[0].systems))

    def p_shown(self, value: float, *, plain: float) -> str:
        """Format a p-value; `plain`, before correction, bounds what draws can show."""
        least = 1 / (self.resampling.resamples + 1)
        return p_value(value, bound=plain <= least * (1 + 1e-9))

    def p_cells(self, pair: Versus) -> list[Cell]:
        """Return the p-values of both tests, each plain and corrected."""
        tested = (pair.bootstrap, pair.bootstrap_holm), (pair.permutation, pair.permutation_holm)
        return [Cell(self.p_shown(p, plain=both[0]), value=p) for both in tested for p in both]

    def _systems_sheet(self) -> Sheet:
        head = ["system"]
        for standings in self.standings:
            head += [
                f"{standings.label} {'↑' if standings.higher_is_better else '↓'}",
                "interval",
                "cluster",
            ]
        rows = []
        for k in self.standings[0].ranked:
            row = [self.standings[0].name_cell(self.standings[0].systems[k].system)]
            for standings in self.standings:
                system_score = standings.systems[k]
                interval = Cell(
                    "", span=Span(system_score.low, system_score.score, system_score.high)
                )
                row += [standings.cell(k), interval, Cell(str(system_score.cluster))]
            rows.append(tuple(row))
        measured = "; ".join(
            f"{standings.label}: {standings.of}, n = {standings.n}" for standings in self.standings
        )
        test = (
            f"paired {self.resampling.test}, two-sided, Holm over all pairs, p > "
            f"{self.resampling.alpha:g}"
        )
        return Sheet(
            f"{len(rows)} systems",
            tuple(head),
            tuple(rows),
            (measured, self.resampling.note),
            tuple(standings.signature for standings in self.standings),
            tied=f"among those that cannot be told apart from the best ({test})",
            said=tuple(self.told),
        )

    def _pairs_sheet(self, standings: Standings) -> Sheet:
        meanings = {
            pair: meaning
            for pair in standings.pairs
            if (meaning := self.meaning(standings, pair)) is not None
        }
        rows = []
        for pair in standings.pairs:
            better = self.better(standings, pair)
            names = [
                standings.name_cell(name) if name else Cell(DASH)
                for name in (pair.first, pair.second, better)
            ]
            interval = Cell("", span=Span(pair.low, pair.difference, pair.high, sure=bool(better)))
            people = [Cell(meanings[pair].shown)] if meanings else []
            cells = (standings.difference_cell(pair), interval, *people, *self.p_cells(pair))
            rows.append((*names, *cells))
        first = next(iter(meanings.values()), None)
        return Sheet(
            f"{standings.label}: every two systems",
            (*PAIR_HEAD, *(["people"] if meanings else []), *TEST_HEAD),
            tuple(rows),
            describe_source(first, Signature.parse(standings.signature), self.language),
            words=3,
            zero=True,
            dots=DOTS,
        )

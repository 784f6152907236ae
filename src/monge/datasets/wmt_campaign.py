"""Files of a DA campaign, `ad-seg-scores-LP.csv`: raw and z scores, counts per segment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from monge.datasets.judged import DatasetReading
from monge.datasets.request import DatasetRequest
from monge.datasets.rows import Row, Rows

HUMAN = "HUMAN"
"""The reference translation, judged as if it were a system: never ranked, never correlated."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One row of a file of human scores: its system, its segment, its score."""

    rows: Rows
    row: Row
    system_column: str
    id_column: str
    score_column: str
    count_column: str = ""

    @property
    def system(self) -> str:
        """The system as the file names it."""
        return str(self.rows.field(self.row, self.system_column))

    @property
    def score(self) -> float:
        """The human score."""
        return self.rows.number(self.row, self.score_column)

    @property
    def judgements(self) -> int:
        """The number of judgements behind the score; 0 where the file does not tell."""
        return int(self.rows.number(self.row, self.count_column)) if self.count_column else 0

    def number(self, most: int) -> int:
        """Return the 1-based segment number, checked against the number of segments."""
        return self.rows.integer(self.row, self.id_column, most)


def read_campaign(
    request: DatasetRequest, reading: DatasetReading
) -> dict[str, Callable[[], Iterator[Judgement]]]:
    """Return a call per language pair that reads its judgements; HUMAN rows are excluded."""
    paths = {fields["pair"]: path for path, fields in reversed(request.match("campaign"))}
    if not paths:
        raise request.missing("campaign")
    return {pair: partial(_read_judgements, request, reading, path) for pair, path in paths.items()}


def _read_judgements(
    request: DatasetRequest, reading: DatasetReading, path: Path
) -> Iterator[Judgement]:
    columns, rows = request.dataset.columns, Rows(path, "space")
    score = columns["campaign_raw"] if request.layout == "rankings" else request.column
    least = int(request.switches.get("min_judgements", 1))
    for row in rows:
        judgement = Judgement(
            rows, row, columns["campaign_system"], columns["id"], score, columns["campaign_count"]
        )
        if judgement.system == HUMAN:
            reading.excluded["HUMAN rows"] += 1
        elif judgement.judgements < least:
            reading.excluded[f"fewer than {least} judgements"] += 1
        else:
            yield judgement

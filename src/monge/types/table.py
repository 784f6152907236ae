"""Tables as data, made by studies and results and drawn in every format by `monge.render`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

STUDY_FORMATS = ("text", "json", "jsonl", "tsv", "markdown", "latex", "html")
"""The formats of tables, the same for every command."""


@dataclass(frozen=True, slots=True)
class Span:
    """A value between two ends, drawn as a dot on a line; hollow if not `sure`."""

    low: float
    value: float
    high: float
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table: a text, a detail text below it, a mark, and a span that pages draw.

    `mark` is `best`, `tied` (cannot be told apart from the best), `only` (nothing to compare it
    with), or nothing. People read `short` and `short_detail` instead where these are set: fewer
    digits, a name without its file ending. Records for other programs keep `text` and `detail`, or
    have a number with all its digits: `value`, and `ends` of its interval.
    """

    text: str
    detail: str = ""
    mark: str = ""
    span: Span | None = None
    short: str = ""
    short_detail: str = ""
    value: float | None = None
    ends: tuple[float, float] | None = None

    @property
    def is_drawn(self) -> bool:
        """Whether the cell has nothing but a span, which only pages draw."""
        return self.span is not None and not self.text


@dataclass(frozen=True)
class Sheet:
    """A table with a title, lines under it, and the signatures of what is in it.

    Attributes:
        title: The title above the table.
        head: The names of the columns.
        rows: The cells, one tuple per row.
        notes: Lines below the table.
        signatures: The signatures of the metrics in the table.
        words: Number of leading columns that hold words; other columns hold numbers.
        words_behind: Number of trailing columns that hold words.
        texts: Number of trailing columns that hold whole sentences.
        tied: The meaning of the mark `tied`, with the test behind it.
        untested: The meaning of the mark `best` where there is no test.
        over: Titles above the head, each with the number of columns it spans.
        grouped: Whether a terminal shows equal names of the first column only once.
        folded: Whether a page shows the table folded.
        said: Sentences before the table that state the findings.
        zero: Whether the spans are drawn around 0.
        dots: The meaning of a filled and a hollow dot of the spans.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    words: int = 1
    words_behind: int = 0
    texts: int = 0
    tied: str = ""
    untested: str = ""
    over: tuple[tuple[str, int], ...] = ()
    grouped: bool = False
    folded: bool = False
    said: tuple[str, ...] = ()
    zero: bool = False
    dots: str = ""

    def turned(self) -> Sheet:
        """Return the table with rows and columns exchanged; only the first column holds words."""
        columns = list(zip(*self.rows, strict=True))
        names = tuple(cell.text for cell in columns[0])
        rows = tuple(
            (Cell(name), *column) for name, column in zip(self.head[1:], columns[1:], strict=True)
        )
        return replace(self, head=("", *names), rows=rows)

    def columns(self, indices: list[int]) -> Sheet:
        """Return the table with the columns at these indices."""
        wide = len(self.head)
        return replace(
            self,
            head=tuple(self.head[k] for k in indices),
            rows=tuple(tuple(row[k] for k in indices) for row in self.rows),
            words=sum(k < self.words for k in indices),
            words_behind=sum(k >= wide - self.words_behind for k in indices),
            texts=sum(k >= wide - self.texts for k in indices),
        )


class Study(Protocol):
    """The result of a study: plain data for programs, tables for people."""

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""

    def sheets(self) -> list[Sheet]:
        """Return the tables."""


@dataclass(frozen=True)
class Listing:
    """What a listing command returns: data for programs, and the same as tables for people."""

    data: Any
    tables: list[Sheet]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        record: dict[str, Any] = self.data
        return record

    def sheets(self) -> list[Sheet]:
        """Return the tables."""
        return self.tables


def facts_sheet(
    title: str, facts: dict[str, str], head: tuple[str, str] = ("setting", "value")
) -> Sheet:
    """Return a table of two columns: a name and its value."""
    return Sheet(
        title,
        head,
        tuple((Cell(name), Cell(value)) for name, value in facts.items()),
        words_behind=1,
    )

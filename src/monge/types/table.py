"""Tables as data: what studies and results hand to `monge.render`, which draws them in every format."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

STUDY_FORMATS = ("text", "json", "jsonl", "tsv", "markdown", "latex", "html")
"""The formats of tables, the same for every command."""


@dataclass(frozen=True, slots=True)
class Span:
    """A value between two ends, to be drawn as a dot on a line; a dot that is not `sure` is hollow."""

    low: float
    value: float
    high: float
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a place: a text, a smaller one under it, a mark, and what a page draws there.

    `mark` is `best`, `tied` (cannot be told apart from the best), `only` (nothing to compare it with), or nothing.
    People read `short` and `short_detail` instead where these are set: fewer digits, a name without its file ending.
    Records for other programs keep `text` and `detail`.
    """

    text: str
    detail: str = ""
    mark: str = ""
    span: Span | None = None
    short: str = ""
    short_detail: str = ""


@dataclass(frozen=True)
class Sheet:
    """A table with a title, lines under it, and the signatures of what is in it.

    The first `words` columns and the last `words_behind` hold words, the last `texts` of them sentences, the others
    numbers. `tied` says what that mark
    means, and by which test; `untested` what `best` means where no test stands behind it. `over` are titles above the
    head, each over so many columns. `grouped` shows equal names of the first column once at a terminal; a page folds
    the table away where it is `folded`. `said` are sentences that say what is found, before the table; `zero`: the
    spans of the table are drawn around 0, and `dots` says what a filled and a hollow dot of them mean.
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
        """Rows for columns; only the first column holds words."""
        columns = list(zip(*self.rows, strict=True))
        names = tuple(cell.text for cell in columns[0])
        rows = tuple((Cell(name), *column) for name, column in zip(self.head[1:], columns[1:], strict=True))
        return replace(self, head=("", *names), rows=rows)

    def columns(self, kept: list[int]) -> Sheet:
        """The table with some of its columns."""
        wide = len(self.head)
        return replace(
            self,
            head=tuple(self.head[k] for k in kept),
            rows=tuple(tuple(row[k] for k in kept) for row in self.rows),
            words=sum(k < self.words for k in kept),
            words_behind=sum(k >= wide - self.words_behind for k in kept),
            texts=sum(k >= wide - self.texts for k in kept),
        )


class Study(Protocol):
    """What a study found: plain numbers and words for machines, tables for people."""

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""

    def sheets(self) -> list[Sheet]:
        """The tables."""


@dataclass(frozen=True)
class Listing:
    """What a command looked up: plain data for machines, tables of the same for people."""

    data: Any
    tables: list[Sheet]

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        found: dict[str, Any] = self.data
        return found

    def sheets(self) -> list[Sheet]:
        """The tables."""
        return self.tables


def facts_sheet(title: str, facts: dict[str, str], head: tuple[str, str] = ("setting", "value")) -> Sheet:
    """A table of two columns: a name and what it is."""
    return Sheet(title, head, tuple((Cell(name), Cell(value)) for name, value in facts.items()), words_behind=1)

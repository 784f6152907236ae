"""Tables with only the columns that a user asks for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from monge.errors import UnknownName
from monge.types.table import Sheet, Study

_ARROW = re.compile(r"\s*[↑↓]$")


class ChosenColumns:
    """A study whose tables have only some columns, beside those of words that name the rows."""

    def __init__(self, study: Study, columns: Sequence[str]) -> None:
        """Raises where no table has a column of one of the names."""
        self._study, self._columns = study, columns
        present = {_plain(name) for sheet in study.sheets() for name in sheet.head[sheet.words :]}
        for column in columns:
            if column not in present:
                hint = f"({', '.join(sorted(filter(None, present)))})"
                raise UnknownName("column of the tables", column, present, hint)

    def sheets(self) -> list[Sheet]:
        """Return the tables that have one of the columns, with those columns."""
        chosen = (choose_columns(sheet, self._columns) for sheet in self._study.sheets())
        return [sheet for sheet in chosen if sheet is not None]

    def to_dict(self) -> dict[str, object]:
        """Return the JSON form, which always has everything."""
        return self._study.to_dict()


def choose_columns(sheet: Sheet, columns: Sequence[str]) -> Sheet | None:
    """Return a table with the columns of words and those of the names; None where there are none.

    Intervals that stand in a column of their own go with the column before them.
    """
    titles = [_plain(name) for name in sheet.head]
    measured = [
        place
        for place, title in enumerate(titles)
        if place >= sheet.words
        and (title in columns or (title == "interval" and titles[place - 1] in columns))
    ]
    if not measured:
        return None
    places = [*range(sheet.words), *measured]
    return replace(
        sheet,
        head=tuple(sheet.head[place] for place in places),
        rows=tuple(tuple(row[place] for place in places) for row in sheet.rows),
        words_behind=0,
        texts=0,
        over=(),
    )


def _plain(name: str) -> str:
    return _ARROW.sub("", name)

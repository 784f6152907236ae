"""Show the results of a study: as tables in a terminal or notebook, or as a data frame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from monge.api import frame
from monge.render.cells import clip

if TYPE_CHECKING:
    import pandas

    from monge.types.table import Sheet


class StudyResult:
    """A study that prints its tables; `records` are its figures, one dictionary per row."""

    def sheets(self) -> list[Sheet]:
        """Its tables."""
        raise NotImplementedError

    def records(self) -> Iterable[dict[str, Any]]:
        """Its figures."""
        raise NotImplementedError

    def to_frame(self) -> pandas.DataFrame:
        """Its figures as a data frame. Needs pandas."""
        return frame(list(self.records()))

    def __repr__(self) -> str:
        titles = [sheet.title for sheet in self.sheets() if sheet.title]
        return f"<{type(self).__name__}: {clip('; '.join(titles), 120)}>"

    def __str__(self) -> str:
        from monge.render.table import sheets_text

        return sheets_text(self.sheets())

    def _repr_html_(self) -> str:
        from monge.render.table_page import sheets_fragment

        return sheets_fragment(self.sheets())

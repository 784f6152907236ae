"""Results and explanations of the Python calls, which display themselves in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from monge.errors import UnknownName, UsageError
from monge.types import Explanation, Result


class NotebookExplanation(Explanation):
    """An explanation that displays itself in a notebook."""

    def _repr_html_(self) -> str:
        from monge.render import explanation_fragment

        return explanation_fragment(self, images=True)


class NotebookResult(Result):
    """A result that displays itself in a notebook and converts to a data frame."""

    def to_frame(self, library: str = "pandas") -> Any:
        """Return one row per segment (id, score, parts, best reference, flags), for pandas, polars
        or pyarrow.
        """
        return frame([self.segment(k) for k in range(self.n)], library)

    def _repr_html_(self) -> str:
        from monge.render.results import results_fragment

        return results_fragment([self])


class Results(dict[str, NotebookResult]):
    """The results of several metrics for the same texts, by label, in the order of the metrics."""

    def to_frame(self, library: str = "pandas") -> Any:
        """Return one row per segment and one column per metric as a frame of pandas, polars or
        pyarrow.
        """
        first = next(iter(self.values()))
        scores = {label: result.segments.tolist() for label, result in self.items()}
        return frame(
            [
                {"id": name, **{label: values[k] for label, values in scores.items()}}
                for k, name in enumerate(first.ids)
            ],
            library,
        )

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.values()))

    def _repr_html_(self) -> str:
        from monge.render.results import results_fragment

        return results_fragment(list(self.values()))


_FRAMES: dict[str, Callable[[Any, list[dict[str, Any]]], Any]] = {
    "pandas": lambda library, rows: library.json_normalize(rows),
    "polars": lambda library, rows: library.DataFrame(rows),
    "pyarrow": lambda library, rows: library.Table.from_pylist(rows),
}
"""Library -> function that makes a table of rows with it; the library is imported only when
used.
"""


def frame(rows: list[dict[str, Any]], library: str = "pandas") -> Any:
    """Return a data frame, or a table of pyarrow, with the rows; parts become columns."""
    if library not in _FRAMES:
        raise UnknownName("library of frames", library, _FRAMES)
    try:
        module = import_module(library)
    except ImportError:
        raise UsageError(
            f"a data frame needs {library}: pip install {library} (to_dict() gives the same "
            f"without)"
        ) from None
    flat = [
        {name: value for name, value in row.items() if name != "parts"} | row.get("parts", {})
        for row in rows
    ]
    return _FRAMES[library](module, flat)

"""What Python users are given back: results and explanations that show themselves in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from importlib import import_module
from typing import Any, TypeVar

from monge.errors import UnknownName, UsageError
from monge.types import Explanation, Result

T = TypeVar("T", bound="NotebookResult | NotebookExplanation")


def _as(kind: type[T], plain: Any) -> T:
    return kind(**{one.name: getattr(plain, one.name) for one in fields(plain)})


class NotebookExplanation(Explanation):
    """An explanation that shows itself in a notebook."""

    @classmethod
    def of(cls, plain: Explanation) -> NotebookExplanation:
        """The same explanation."""
        return _as(cls, plain)

    def _repr_html_(self) -> str:
        from monge.render import explanation_fragment

        return explanation_fragment(self, images=True)


class NotebookResult(Result):
    """A result that shows itself in a notebook and becomes a data frame."""

    @classmethod
    def of(cls, plain: Result) -> NotebookResult:
        """The same result."""
        return _as(cls, plain)

    def to_frame(self, library: str = "pandas") -> Any:
        """A row a segment: id, score, the parts, the reference that won, flags; of pandas, polars or pyarrow."""
        return frame([self.segment(k) for k in range(self.n)], library)

    def _repr_html_(self) -> str:
        from monge.render.results import results_fragment

        return results_fragment([self])


class Results(dict[str, NotebookResult]):
    """The results of several metrics for the same texts, by label, in the order asked."""

    def to_frame(self, library: str = "pandas") -> Any:
        """A row a segment, a column a metric; of pandas, polars or pyarrow."""
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
"""Library -> how a table is made of rows with it; it is imported only when asked for."""


def frame(rows: list[dict[str, Any]], library: str = "pandas") -> Any:
    """A data frame of rows, or a table of pyarrow; parts become columns."""
    if library not in _FRAMES:
        raise UnknownName("library of frames", library, _FRAMES)
    try:
        found = import_module(library)
    except ImportError:
        raise UsageError(
            f"a data frame needs {library}: pip install {library} (to_dict() gives the same without)"
        ) from None
    flat = [{name: value for name, value in row.items() if name != "parts"} | row.get("parts", {}) for row in rows]
    return _FRAMES[library](found, flat)

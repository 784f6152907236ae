"""What Python users are given back: results and explanations that show themselves in a notebook."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from monge.errors import UsageError
from monge.types import Explanation, Result

if TYPE_CHECKING:
    import pandas

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

        return explanation_fragment(self)


class NotebookResult(Result):
    """A result that shows itself in a notebook and becomes a data frame."""

    @classmethod
    def of(cls, plain: Result) -> NotebookResult:
        """The same result."""
        return _as(cls, plain)

    def to_frame(self) -> pandas.DataFrame:
        """A row a segment: id, score, the parts, the reference that won, flags. Needs pandas."""
        return frame([self.segment(k) for k in range(self.n)])

    def _repr_html_(self) -> str:
        from monge.render.results import results_fragment

        return results_fragment([self])


class Results(dict[str, NotebookResult]):
    """The results of several metrics for the same texts, by label, in the order asked."""

    def to_frame(self) -> pandas.DataFrame:
        """A row a segment, a column a metric. Needs pandas."""
        first = next(iter(self.values()))
        scores = {label: result.segments.tolist() for label, result in self.items()}
        return frame(
            [{"id": name, **{label: values[k] for label, values in scores.items()}} for k, name in enumerate(first.ids)]
        )

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.values()))

    def _repr_html_(self) -> str:
        from monge.render.results import results_fragment

        return results_fragment(list(self.values()))


def frame(rows: list[dict[str, Any]]) -> pandas.DataFrame:
    """A data frame of rows; pandas is asked for only here."""
    try:
        import pandas
    except ImportError:
        raise UsageError("a data frame needs pandas: pip install pandas (to_dict() gives the same without)") from None
    return pandas.json_normalize(rows).rename(columns=lambda name: name.removeprefix("parts."))

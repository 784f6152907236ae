"""Results and explanations of the Python calls, which display themselves in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from monge.api.plots import axes_of, plot_explanation, plot_scores
from monge.errors import InvalidSetting, UnknownName, UsageError
from monge.render.cells import clip
from monge.render.member_shares import check_has_plan
from monge.types import Explanation, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ENDINGS = {
    ".html": "html", ".svg": "svg", ".json": "json", ".tsv": "tsv", ".md": "markdown",
    ".tex": "latex", ".txt": "text", ".png": "png",
}  # fmt: skip


class NotebookExplanation(Explanation):
    """An explanation that displays itself in a notebook, and can be drawn and saved."""

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the mass that moves between words as a heat map with matplotlib."""
        check_has_plan(self, "a plot")
        return plot_explanation(self, ax)

    def save(self, path: str | Path) -> Path:
        """Write the explanation into a file, in the format of its ending.

        .html is a page, .svg and .png are heat maps; .json, .tsv, .md, .tex and .txt too.
        """
        target = Path(path)
        form = _ENDINGS.get(target.suffix.lower())
        if form is None:
            endings = ", ".join(_ENDINGS)
            raise InvalidSetting(f"save: expected a name that ends in {endings}, got {target.name}")
        if form == "png":
            figure = self.plot().get_figure(root=True)
            assert figure is not None
            figure.savefig(target)
            return target
        from monge.datasets.output import write_text
        from monge.render import render_explanation

        write_text(str(target), render_explanation(self, form))
        return target

    def _repr_html_(self) -> str:
        from monge.render import explanation_fragment

        return explanation_fragment(self, cell=True)


class NotebookResult(Result):
    """A result that displays itself in a notebook and converts to a data frame."""

    def to_frame(self, library: str = "pandas") -> Any:
        """Return one row per segment (id, score, parts, best reference, flags), for pandas, polars
        or pyarrow.
        """
        return frame([self.segment(k) for k in range(self.n)], library)

    @property
    def short_signature(self) -> str:
        """The signature in one short line, as the command prints it; it replays too."""
        from monge.metrics.signature import shortened

        return shortened(str(self.signature))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the distribution of the segments' scores with matplotlib."""
        return plot_scores(self, ax)

    def _repr_html_(self) -> str:
        from monge.render.results import results_fragment

        return results_fragment([self])


class Results(dict[str, NotebookResult]):
    """The results of several metrics for the same texts, by label, in the order of the metrics.

    Examples:
        >>> results = monge.score(["The cat sat."], ["A cat sat."], metrics=["chrf", "ter"])
        >>> list(results)
        ['chrf', 'ter']
    """

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

    def plot(self) -> list[Axes]:
        """Draw the distribution of the segments' scores, a plot per metric, with matplotlib."""
        figure = axes_of(None, height=2.4 * len(self)).figure
        figure.clear()
        places = figure.subplots(len(self), squeeze=False)[:, 0]
        return [plot_scores(result, ax) for result, ax in zip(self.values(), places, strict=True)]

    def __repr__(self) -> str:
        scores = ", ".join(f"{label}: {result.score:.4f}" for label, result in self.items())
        return f"<{clip(scores, 160)}>"

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

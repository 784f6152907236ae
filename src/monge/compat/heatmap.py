"""Draw a matrix with a word at every row and column, as bert-score and MoverScore do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from monge.errors import MissingExtra, UsageError
from monge.types import Array

Labels = tuple[Sequence[str], str]
"""The labels of an axis, and its title."""


def draw(
    values: Array, *, rows: Labels, columns: Labels, title: str, file: str = "", top: float = 1.0
) -> None:
    """Draw values [n, m], darkest at `top`, to a file of any format, or on the screen, if any."""
    try:
        from matplotlib import get_backend, pyplot
    except ImportError:
        raise MissingExtra("plot_example", "plots") from None
    figure, axes = pyplot.subplots(figsize=(max(len(columns[0]), 3), max(len(rows[0]), 3)))
    image = axes.imshow(values, cmap="Blues", vmin=0, vmax=top)
    axes.set_xticks(
        range(len(columns[0])), columns[0], rotation=45, ha="right", rotation_mode="anchor"
    )
    axes.set_yticks(range(len(rows[0])), rows[0])
    axes.set_xlabel(columns[1])
    axes.set_ylabel(rows[1])
    axes.set_title(title)
    figure.colorbar(image, ax=axes, fraction=0.03)
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            colour = "k" if value < top / 2 else "w"
            axes.text(j, i, f"{value:.3f}", ha="center", va="center", color=colour)
    figure.tight_layout()
    try:
        if file:
            figure.savefig(file, dpi=100)
        elif get_backend().lower() not in ("agg", "pdf", "ps", "svg", "template", "cairo"):
            pyplot.show()
    except (OSError, ValueError) as error:
        raise UsageError(f"{Path(file)}: the figure cannot be written ({error})") from None
    finally:
        if file:
            pyplot.close(figure)

"""What all figures share: matplotlib, loaded when needed, one style, reproducible files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from monge.errors import MissingExtra, UsageError
from monge.render.palette import INK, SOFT

LOOK = {
    "figure.dpi": 120,
    "font.size": 9,
    "font.family": "sans-serif",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.titlesize": 9,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "text.color": INK,
    "legend.frameon": False,
    "svg.hashsalt": "monge",
    "svg.fonttype": "none",
}


def check_figures(directory: str | Path) -> None:
    """Raise where figures could not be drawn or written; the directory is made."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingExtra("a figure", "plots") from error
    try:
        Path(directory).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{directory}: figures cannot be written there ({error.strerror})"
        ) from None


@contextmanager
def figure(
    path: Path, *, width: float, height: float, rows: int = 1, columns: int = 1
) -> Iterator[Any]:
    """Open a figure with axes [rows, columns] that is written to `path`, format by suffix."""
    check_figures(path.parent)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(LOOK):
        canvas = Figure(figsize=(width, height), layout="constrained")
        yield canvas.subplots(rows, columns, squeeze=False)
        still = {"Date": None} if path.suffix == ".svg" else {"Software": None}
        canvas.savefig(path, metadata=still)


def grid(count: int, most: int = 4) -> tuple[int, int]:
    """Return rows and columns that hold so many panels."""
    columns = min(count, most)
    return -(-count // columns), columns


def blank(axes: Any, used: int) -> list[Any]:
    """Return the first `used` panels; the others are emptied."""
    panels = list(axes.ravel())
    for panel in panels[used:]:
        panel.set_axis_off()
    return panels[:used]

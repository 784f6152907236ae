"""The figures of docs/sensitivity.md, from the kept studies."""

from __future__ import annotations

from pathlib import Path

from repository import DOCS, draw_picture
from sensitivity_pages.readings import Studies

from monge.report.sensitivity import bars, shares

FOLDER = DOCS / "sensitivity" / "figures"


def draw_figures(studies: Studies) -> dict[Path, str]:
    """Return the figures of the page, by path."""
    figures = {}
    for name in ("wmt17-en", "wmt17-da", "wmt17-en-systems"):
        if name in studies:
            figures[FOLDER / f"{name}-cv.svg"] = draw_picture(
                lambda path, name=name: bars(
                    studies[name], path, "CV in %", lambda effect: effect.cv
                )
            )
    for name in ("crossing-en", "crossing-out"):
        if name in studies:
            figures[FOLDER / f"{name}-shares.svg"] = draw_picture(
                lambda path, name=name: shares(studies[name], path)
            )
    return figures

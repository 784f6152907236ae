"""The figures of docs/sensitivity.md, from the kept studies."""

from __future__ import annotations

from pathlib import Path

from readings import Studies

from monge.report.sensitivity import bars, shares

FOLDER = Path(__file__).resolve().parent / "figures"


def write_figures(studies: Studies) -> list[Path]:
    """Draws what the page shows."""
    there = [name for name in ("wmt17-en", "wmt17-da", "wmt17-en-systems") if name in studies]
    written = [
        bars(studies[name], FOLDER / f"{name}-cv.svg", "CV in %", lambda one: one.cv)
        for name in there
    ]
    crossed = [name for name in ("crossing-en", "crossing-out") if name in studies]
    return written + [shares(studies[name], FOLDER / f"{name}-shares.svg") for name in crossed]

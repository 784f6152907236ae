"""Paths of this repository, and what the tools that make pages share."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DOCS, RESULTS, TEMPLATES = ROOT / "docs", ROOT / "results", ROOT / "tools" / "templates"
PACKAGE = ROOT / "src" / "monge"
ADAPTERS = ROOT / "build" / "adapters"
"""Where `make adapters` trains: not under version control."""

Pages = Mapping[Path, str]


def read_json(path: Path) -> Any:
    """Return the content of a JSON file."""
    return json.loads(path.read_text("utf-8"))


def fill_block(text: str, name: str, body: str, *, comment: str = "<!--") -> str:
    """Replace what stands between `<!-- NAME: … -->` and `<!-- end of NAME -->`."""
    begin, end = f"{comment} {re.escape(name)}: ", f"{comment} end of {re.escape(name)}"
    block = re.compile(rf"({begin}[^\n]*\n).*?(?=[ \t]*{end})", re.DOTALL)
    if not block.search(text):
        raise SystemExit(f"there is no block {name!r} to fill: {comment} {name}: …")
    return block.sub(lambda match: f"{match[1]}{body}\n", text, count=1)


def make_table(head: list[str] | tuple[str, ...], rows: Any, align: str = "---:") -> str:
    """Return a Markdown table whose first column is left-aligned and the others as `align`."""
    lines = [f"| {' | '.join(row)} |" for row in [head, *rows]]
    return "\n".join([lines[0], f"|---|{f'{align}|' * (len(head) - 1)}", *lines[1:]])


def draw_picture(draw: Callable[[Path], object]) -> str:
    """Return the SVG that `draw` writes to the path it is given."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "picture.svg"
        draw(path)
        return path.read_text("utf-8")


def write_pages(pages: Pages) -> list[Path]:
    """Write the pages whose content changed; return their paths."""
    changed = [path for path, text in pages.items() if read_or_none(path) != text]
    for path in changed:
        path.write_text(pages[path], "utf-8")
    return changed


def read_or_none(path: Path) -> str | None:
    """Return the text of a file, or None where there is none."""
    return path.read_text("utf-8") if path.is_file() else None

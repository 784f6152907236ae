"""Write docs/methods.md: what each of five papers describes, and where it is here.

python tools/make_methods.py    # from tools/methods.toml, no data and no model
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from repository import DOCS, ROOT, Pages, write_pages

SOURCE = ROOT / "tools" / "methods.toml"
PAGE = DOCS / "methods.md"
HEAD = """# What each paper describes, and where it is here

<!-- made by tools/make_methods.py from tools/methods.toml: change that, then run it -->

One row per method, setting, baseline, data set and protocol of the five papers that monge
implements. The last column has the name of the metric (`-m NAME`, in Python `monge.load(NAME)`),
the command, or the reason why something is not here. `@paper` follows the printed equations,
`@release`, `@v1` … the published code. A test tries every name, setting, data set and option on
this page. What came out of the papers' tables and claims is in
[the papers again](reproduction.md).
"""


def read_methods() -> Sequence[Mapping[str, Any]]:
    """Return the papers with their groups of rows."""
    papers: Sequence[Mapping[str, Any]] = tomllib.loads(SOURCE.read_text("utf-8"))["papers"]
    return papers


def rows() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every row with the name of its paper."""
    for paper in read_methods():
        for group in paper["groups"]:
            for row in group["rows"]:
                yield paper["name"], row


def describe_place(row: Mapping[str, Any]) -> str:
    """Return the cell that says where a row is here."""
    parts = [", ".join(f"`{_escape(name)}`" for name in row.get("metrics", ()))]
    parts += [f"`{_escape(command)}`" for command in row.get("commands", ())]
    if row.get("data"):
        parts.append(f"data sets {', '.join(f'`{name}`' for name in row['data'])}")
    if row.get("tables"):
        parts.append(f"`monge reproduce {'`, `'.join(row['tables'])}`")
    if row.get("note"):
        parts.append(_escape(row["note"]))
    if row.get("page"):
        parts.append(f"[page]({row['page']})")
    if row.get("missing"):
        parts.insert(0, f"**not here**: {_escape(row['missing'])}")
    return "; ".join(part for part in parts if part)


def _escape(text: str) -> str:
    """Return a text that may stand in a cell of a table."""
    return text.replace("|", "\\|")


def count_rows(paper: Mapping[str, Any]) -> str:
    """Return a sentence on how much of a paper is here."""
    all_rows = [row for group in paper["groups"] for row in group["rows"]]
    missing = sum("missing" in row for row in all_rows)
    return f"{len(all_rows) - missing} of {len(all_rows)} are here."


def make_pages() -> Pages:
    """Return the page."""
    lines = [HEAD]
    for paper in read_methods():
        lines.append(f"## {paper['name']}\n\n{paper['citation']}. {count_rows(paper)}\n")
        for group in paper["groups"]:
            lines.append(f"### {group['name']} of {paper['name']}\n")
            lines.append("| what | in the paper | here |\n|---|---|---|")
            lines += [
                f"| {_escape(row['what'])} | {_escape(row['where'])} | {describe_place(row)} |"
                for row in group["rows"]
            ]
            lines.append("")
    return {Path(PAGE): "\n".join(lines).rstrip() + "\n"}


if __name__ == "__main__":
    write_pages(make_pages())

"""The frame of a self-contained HTML page: no script, no outside resource, both colour schemes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from monge.render.palette import BLUE, CARD, CARD_DARK, INK, INK_DARK, LINE, LINE_DARK, SOFT, SOFT_DARK

_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"

_LIGHT = f"--ink: {INK}; --soft: {SOFT}; --line: {LINE}; --card: {CARD}; --good: {BLUE}; --warm: #c2410c;"
_DARK = f"--ink: {INK_DARK}; --soft: {SOFT_DARK}; --line: {LINE_DARK}; --card: {CARD_DARK};"
_STYLE = (
    """
.monge { LIGHT
  --good-rgb: 24 100 171; --warm-rgb: 217 72 15;
  color: var(--ink); background: var(--card); font: 16px/1.55 system-ui, "Segoe UI", "Noto Sans", sans-serif;
  padding: 2rem 2.25rem; border-radius: 12px; }
.monge h1 { font-size: 1rem; font-weight: 600; margin: 0; letter-spacing: .01em; }
.monge h2 { font-size: .8rem; font-weight: 600; color: var(--soft); margin: 2rem 0 .5rem; }
.monge table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
.monge th { color: var(--soft); font-weight: 500; text-align: left; }
.monge thead tr { border-bottom: 1px solid var(--ink); }
.monge td, .monge th { padding: .3rem 1.1rem .3rem 0; white-space: nowrap; background: none; }
.monge tbody td { border-bottom: 1px solid var(--line); }
.monge .number { text-align: right; }
.monge .soft { color: var(--soft); }
.monge .scroll { overflow-x: auto; margin: .75rem 0; }
.monge code { font: .75rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere;
  color: var(--soft); background: none; }
.monge summary { cursor: pointer; margin: .6rem 0; }
@media (prefers-color-scheme: dark) {
  .monge { DARK --good: #74c0fc; --warm: #ffa94d;
    --good-rgb: 77 171 247; --warm-rgb: 253 126 20; } }
""".strip()
    .replace("LIGHT", _LIGHT)
    .replace("DARK", _DARK)
)

_BODY_STYLE = """
:root { color-scheme: light dark; }
body { margin: 0; padding: 2rem 1rem; background: #f3f5f8; }
main { max-width: 68rem; margin: 0 auto; }
@media (prefers-color-scheme: dark) { body { background: #0f1216; } }
@media print { body { background: none; padding: 0; } }
""".strip()


def safe(text: str) -> str:
    """The text as HTML or XML character data or attribute value: escaped, illegal characters replaced."""
    return escape(_ILLEGAL.sub("\ufffd", text), quote=True)


def fragment(content: str, style: str = "") -> str:
    """Content that can stand inside another page, such as a notebook: every rule is scoped to `.monge`."""
    return f'<style>\n{_STYLE}\n{style}</style>\n<div class="monge">\n{content}\n</div>\n'


def page(title: str, body: str) -> str:
    """A whole page around a fragment."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{safe(title)}</title>\n<style>\n{_BODY_STYLE}\n</style>\n</head>\n"
        f"<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )


def html_table(head: Iterable[tuple[str, str]], rows: Iterable[Iterable[str]], *, caption: str = "") -> str:
    """A table: `head` pairs a column's title with its class ("number" or ""); cells are HTML already."""
    columns = list(head)
    titles = "".join(
        f'<th scope="col"{_class(kind)}>{safe(title)}</th>' if title else "<td></td>" for title, kind in columns
    )
    body = "\n".join(
        "<tr>"
        + "".join(f"<td{_class(kind)}>{cell}</td>" for cell, (_, kind) in zip(row, columns, strict=True))
        + "</tr>"
        for row in rows
    )
    name = f' aria-label="{safe(caption)}"' if caption else ""
    return (
        f'<div class="scroll"><table{name}>\n<thead><tr>{titles}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def html_signature(line: str, shown: str) -> str:
    """A signature as it is shown, with the long form folded under a shorter one."""
    code = f"<code>{safe(shown)}</code>"
    more = f"<details><summary>in full</summary><code>{safe(line)}</code></details>"
    return code if shown == line else code + more

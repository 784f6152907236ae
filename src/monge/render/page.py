"""The frame of a self-contained HTML page: its own style and script, nothing loaded."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from hashlib import sha256
from html import escape

from monge.render.palette import variables_css

_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_INLINE = re.compile(r"<(style|script)>(.*?)</\1>", re.S)

WIDTHS = (40, 60, 80)
"""Window widths in rem below which the cells of a wide table stand below each other."""


def _stacking(width: int | None) -> str:
    """Return the rules of tables below their width: a row's cells stand under their titles."""
    table = f".monge.monge .under-{width or 'any'}"
    rules = """
X, X tbody, X td { display: block; } X thead { display: none; } X svg.span { margin: .3rem 0; }
X tr { display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; padding: .5rem 0;
border-bottom: 1px solid var(--line); }
X td { border: 0; padding: .1rem 0; text-align: start; } X td:empty { display: none; }
X td:first-child, X td.text { flex-basis: 100%; } X td:first-child { position: static;
font-weight: 600; }
X td:not(:first-child)::before { content: attr(data-head); display: block; color: var(--soft);
font-size: .78rem;
  font-weight: 400; }""".replace("X", table)
    return rules if width is None else f"@media (max-width: {width}rem) {{{rules} }}"


STYLE = (
    variables_css(".monge")
    + """
.monge { color: var(--ink); background: var(--card);
font: 16px/1.55 system-ui, "Segoe UI", "Noto Sans", sans-serif;
  padding: 1.5rem 1.75rem; border-radius: 12px; }
.monge h1 { font-size: 1.25rem; font-weight: 650; margin: 0; }
.monge h2 { font-size: 1.05rem; font-weight: 650; margin: 1.8rem 0 .4rem; }
.monge h3 { font-size: .95rem; font-weight: 650; margin: 1.1rem 0 .3rem; }
.monge h1, .monge h2, .monge h3 { overflow-wrap: anywhere; line-height: 1.35; }
.monge > :first-child { margin-top: 0; }
.monge p { margin: .4rem 0; max-width: 62rem; } .monge p.verdict { font-size: 1.1rem; }
.monge table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }
.monge th { color: var(--soft); font-weight: 500; text-align: left; }
.monge thead tr { border-bottom: 1px solid var(--ink); }
.monge td, .monge th { padding: .3rem 1.1rem .3rem 0; white-space: nowrap; background: none;
vertical-align: top; }
.monge tbody td, .monge tbody th { border-bottom: 1px solid var(--line); }
.monge tbody th { color: inherit; }
.monge .number { text-align: right; } .monge .drawn { text-align: start; }
.monge .drawn small { display: inline-block; vertical-align: middle; margin-left: .5rem; }
.monge tr:has(.span) > * { vertical-align: middle; } .monge tfoot td { padding-top: 0; border: 0; }
.monge .drawn small.ends { display: flex; justify-content: space-between; width: 180px; margin: 0;
line-height: 1.2; }
.monge td.words { white-space: normal; overflow-wrap: break-word; min-width: 7rem; }
.monge td.text { white-space: normal; overflow-wrap: break-word; min-width: 13rem; }
.monge .soft { color: var(--soft); font-weight: 400; }
.monge .scroll { overflow-x: auto; margin: .5rem 0;  /* a shadow where there is more to scroll to */
  background: linear-gradient(to right, var(--card) 50%, transparent) left / 1.5rem 100%,
    linear-gradient(to left, var(--card) 50%, transparent) right / 1.5rem 100%,
    linear-gradient(to right, var(--line), transparent) left / .6rem 100%,
    linear-gradient(to left, var(--line), transparent) right / .6rem 100%;
  background-attachment: local, local, scroll, scroll; background-repeat: no-repeat; }
.monge .scroll td:first-child, .monge .scroll th:first-child { position: sticky; left: 0;
background: var(--card); }
.monge .scroll:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.monge code { font: .78rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace;
overflow-wrap: anywhere;
  color: var(--soft); background: none; user-select: all; }
.monge summary { cursor: pointer; margin: .6rem 0; font-weight: 600; }
.monge li summary { margin: .1rem 0; font-weight: 400; font-size: .85rem; color: var(--soft); }
.monge svg.span { display: inline-block; vertical-align: middle; }
.monge .scale path { stroke: var(--edge); stroke-width: 1; fill: none; }
.monge svg.scale { display: block; }
.monge .span line { stroke: var(--soft); stroke-width: 3; }
.monge .span line.zero { stroke: var(--edge); stroke-width: 1; }
.monge .span circle { fill: var(--accent); }
.monge .span .plain { fill: var(--card); stroke: var(--soft); stroke-width: 2; }
@media (max-width: 640px) { .monge { padding: 1rem; border-radius: 0; }
.monge h1 { font-size: 1.1rem; }
  .monge td, .monge th { padding-right: .6rem; } .monge td.words { min-width: 4rem; }
  .monge svg.span { width: 104px; height: 12px; } .monge svg.scale { height: 5px; }
  .monge .drawn small { display: block; margin: 0; } .monge .drawn small.ends { width: 104px; } }
@media print { .monge { padding: 0; color: #000; background: none; }
  .monge .scroll { overflow: visible; background: none; }
  .monge .scroll td:first-child, .monge .scroll th:first-child { position: static;
  background: none; }
  .monge details::details-content { content-visibility: visible; }
  .monge tr, .monge figure { break-inside: avoid; } .monge h2, .monge h3 { break-after: avoid; } }
/* a notebook styles tables, lists and pictures of its own accord: its dark rows would hide our ink
*/
.monge.monge table { color: inherit; table-layout: auto; margin: 0; }
.monge.monge tr:nth-child(n) { background: none; }
.monge.monge td, .monge.monge th { text-align: start; line-height: 1.55; }
.monge.monge .number { text-align: right; }
.monge.monge svg.span { max-width: none; } .monge.monge code { color: var(--soft);
background: none; padding: 0; }
.monge.monge dl, .monge.monge dt, .monge.monge dd { float: none; width: auto; }
.monge.monge dt { font-weight: 400; } .monge.monge summary { color: inherit; }
"""
    + "\n".join(_stacking(width) for width in (*WIDTHS, None))
)

_BODY_STYLE = """
:root { color-scheme: light dark; }
body { margin: 0; padding: 1.5rem 1rem; background: #f3f5f8; }
main { width: fit-content; min-width: min(50rem, 100%); max-width: min(76rem, 100%);
margin: 0 auto; }
@media screen and (prefers-color-scheme: dark) { body { background: #0f1216; } }
@media (max-width: 640px) { body { padding: 0; } }
@media print { body { background: none; padding: 0; } main { width: auto; max-width: none; } }
""".strip()


def safe(text: str) -> str:
    """Return the text escaped for HTML or XML, illegal characters replaced."""
    return escape(_ILLEGAL.sub("\ufffd", text), quote=True)


def fragment(content: str, style: str = "") -> str:
    """Return content for another page, such as a notebook's, with rules scoped to `.monge`."""
    return f'<style>\n{STYLE}\n{style}</style>\n<div class="monge">\n{content}\n</div>\n'


def page(title: str, body: str) -> str:
    """Return a whole page around fragments; its policy has the hashes of its styles and scripts.

    A browser runs and loads nothing else, and no attribute of an element sets a style or runs a
    script.
    """
    inside = (
        f"<title>{safe(title)}</title>\n<style>\n{_BODY_STYLE}\n</style>\n</head>\n"
        f"<body>\n<main>\n{body}</main>\n"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy(inside)}">\n'
        f'<meta name="viewport" content="width=device-width, '
        f'initial-scale=1">\n{inside}</body>\n</html>\n'
    )


def policy(source: str) -> str:
    """Return a page's content security policy: its own styles and scripts, nothing loaded."""
    hashes: dict[str, list[str]] = {"style": [], "script": []}
    for kind, content in _INLINE.findall(source):
        digest = f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"
        if digest not in hashes[kind]:
            hashes[kind].append(digest)
    allowed = "".join(
        f" {kind}-src {' '.join(hashes)};" for kind, hashes in hashes.items() if hashes
    )
    return f"default-src 'none';{allowed} base-uri 'none'; form-action 'none'"


def html_table(
    head: Iterable[tuple[str, str]],
    rows: Iterable[Iterable[str]],
    *,
    caption: str = "",
    narrowest: float = 0,
    foot: Sequence[str] = (),
) -> str:
    """Return a table; `head` pairs titles with classes ("number", "words", ""), cells are HTML.

    In a window that has not the `narrowest` pixels that the table needs, the cells of a row stand
    below its name, so that none is out of sight. `foot` is a last row, of the scales of what is
    drawn.
    """
    columns = list(head)
    under = _stacked_below(narrowest)
    names = [f' data-head="{safe(title)}"' if under else "" for title, _ in columns]
    titles = "".join(
        f'<th scope="col"{_class(kind)}>{safe(title)}</th>' if title else "<td></td>"
        for title, kind in columns
    )
    body = "\n".join(
        "<tr>"
        + "".join(
            f"<td{_class(kind)}{name}>{cell}</td>"
            for cell, (_, kind), name in zip(row, columns, names, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    name = safe(caption or "table")
    below = "".join(
        f"<td{_class(kind)}>{cell}</td>" for cell, (_, kind) in zip(foot, columns, strict=False)
    )
    last = f"\n<tfoot><tr>{below}</tr></tfoot>" if foot else ""
    return (
        f'<div class="scroll" tabindex="0" role="region" '
        f'aria-label="{name}"><table{_class(under)}>\n'
        f"<thead><tr>{titles}</tr></thead>\n<tbody>\n{body}\n</tbody>{last}\n</table></div>"
    )


_PHONE, _MARGINS = 330, 90
"""What a phone leaves a table, and what stands beside one in a window, in pixels."""


def _stacked_below(narrowest: float) -> str:
    """Return the class of a table this wide: the window width below which rows are stacked."""
    if narrowest <= _PHONE:
        return ""
    width = next((width for width in WIDTHS if narrowest + _MARGINS <= 16 * width), None)
    return f"stacked under-{width or 'any'}"


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def html_signatures(lines: Sequence[tuple[str, str]], title: str = "Signatures") -> str:
    """Return the short signatures, folded, each with its full form in a second fold."""
    items = []
    for line, short_line in lines:
        full = (
            f'<details><summary>in full</summary><code class="copy">{safe(line)}</code></details>'
        )
        items.append(
            "<li><code "
            f'class="copy">{safe(short_line)}</code>{full if short_line != line else ""}</li>'
        )
    count = f"{title} ({len(lines)})" if len(lines) > 1 else title
    return (
        f"<details>\n<summary>{safe(count)}</summary>\n<ul>\n"
        + "\n".join(items)
        + "\n</ul>\n</details>"
    )

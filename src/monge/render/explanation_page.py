"""An explanation as a self-contained HTML page: words with losses, arcs, the grid, moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain

from monge.render.arcs import arcs
from monge.render.cells import number
from monge.render.checks import checked_explanation
from monge.render.drawing import PLANS, named, worst_told
from monge.render.focus import focused
from monge.render.heatmap import BARS, grids
from monge.render.member_shares import member_sheets
from monge.render.page import fragment, html_signatures, html_table, page, safe
from monge.render.palette import COLOURS, picture_css, step
from monge.render.table_page import TABLE_STYLE, html_sheet
from monge.types import Explanation, Route, Side
from monge.types.explanation import SIDES
from monge.types.flags import describe_flag
from monge.types.text import BLANK

LISTED, FIRST = 60, 12
"""So many moves are listed, so many of them at once."""
CELL_UNITS, CELL_DRAWN = 20, 7
"""Units of a text that are marked in a cell of a notebook, and drawn."""
_TIP = 5
_KEY_OF_ARCS = (
    '<div class="key"><span>thicker: more mass moved</span><span>colour: its cost '
    '<span class="scale">0 <span class="ramp cost"></span> {top}</span></span></div>'
)

_STYLE = f"""
.monge .score {{ display: flex; flex-wrap: wrap; align-items: end; gap: .25rem 2rem; }}
.monge .score strong {{ font-size: 2.6rem; font-weight: 650; line-height: 1.2;
font-variant-numeric: tabular-nums; }}
.monge .score dl {{ display: flex; flex-wrap: wrap; gap: .2rem 1.6rem; margin: 0 0 .5rem; }}
.monge dt {{ font-size: .85rem; color: var(--soft); }} .monge dd {{ margin: 0;
font-variant-numeric: tabular-nums; }}
.monge .text {{ font-size: 1.2rem; line-height: 2; margin: 0; white-space: pre-wrap;
overflow-wrap: anywhere;
  position: relative; max-width: none; }}
.monge .unit {{ border-radius: 4px; padding: .1em .18em; margin: 0 -.04em; cursor: default; }}
.monge .unit:hover, .monge .unit:focus {{ outline: 2px solid var(--ink); outline-offset: 0; }}
.monge .unit:hover::after, .monge .unit:focus::after {{ content: attr(data-tip); direction: ltr;
  display: block; position: absolute; left: 0; top: 100%; margin-top: 4px; z-index: 2;
  max-width: 100%; box-sizing: border-box;
  padding: .6rem .8rem; background: var(--ink); color: var(--card); border-radius: 6px;
  white-space: pre-line;
  font-size: .85rem; line-height: 1.6; font-variant-numeric: tabular-nums; text-align: start; }}
.monge .key {{ display: flex; flex-wrap: wrap; align-items: center; gap: .2rem 1.4rem;
font-size: .9rem;
  color: var(--soft); margin: .6rem 0; }}
.monge .ramp {{ display: inline-block; width: 6rem; height: .75rem; border-radius: 3px;
vertical-align: middle; }}
.monge .scale {{ white-space: nowrap; }}
.monge .ramp.lost {{ background: linear-gradient(to right, rgb(217 72 15 / .06), rgb(217 72 15 /
.62)); }}
.monge .ramp.cost {{ background: linear-gradient(to right, var(--cheap), var(--dear)); }}
.monge .ramp.near {{ background: linear-gradient(to right, var(--t0), var(--t1), var(--t2),
var(--t3)); }}
.monge figure {{ margin: .6rem 0 0; overflow-x: auto; }}
.monge figure.arcs {{ display: flex; flex-wrap: wrap; gap: 1rem 3rem; }}
.monge h1, .monge p {{ overflow-wrap: anywhere; }}
.monge figure svg, .monge.monge figure img {{ display: block; max-width: none; }}
.monge.monge figure img.fit {{ max-width: 100%; height: auto; }}
.monge svg.lost rect {{ fill: {COLOURS["dear"][0]}; }}
@media (max-width: 640px) {{ .monge .flat {{ display: none; }} }}
@media (min-width: 641px) {{ .monge .tall {{ display: none; }} }}
{picture_css()}
"""


def explanation_html(e: Explanation, *, signed: Callable[[str], str] = str) -> str:
    """Return a page that needs nothing else: no script, no outside resource, light and dark."""
    return page(f"monge: {e.metric} {number(e.score)}", explanation_fragment(e, signed=signed))


def explanation_fragment(
    e: Explanation, *, title: str = "", signed: Callable[[str], str] = str, cell: bool = False
) -> str:
    """Return the content of `explanation_html` for another page, such as a notebook's output.

    `cell`: for the output of a notebook's cell, which stays below 100 kB: pictures are images,
    because some viewers take elements away, and of long texts only the worst units are marked and
    drawn.
    """
    checked_explanation(e)
    content = [f"<h2>{safe(title)}</h2>"] if title else []
    content += [_headline(e), *([] if e.members else [f"<p>{safe(worst_told(e))}</p>"])]
    content += [
        f'<p class="soft">{safe(line)}</p>' for line in (*e.notes, *map(describe_flag, e.flags))
    ]
    if e.members:
        tables = [html_sheet(replace(member_sheets(e)[1], notes=(), signatures=()))]
        line = str(e.signature)
        tables.append(html_signatures([(line, signed(line))], "Signature"))
        return fragment("\n".join([*content, *tables]), _STYLE + TABLE_STYLE)
    content += [*(_side(e, name, CELL_UNITS if cell else None) for name in SIDES), _key(e)]
    if e.plans and e.cost.size:
        pictures = _cell_pictures(e) if cell else _pictures(e)
        content += [pictures, *([_moves(e, FIRST if cell else LISTED)] if e.moves else [])]
    line = str(e.signature)
    content.append(html_signatures([(line, signed(line))], "Signature"))
    return fragment("\n".join(content), _STYLE)


def _headline(e: Explanation) -> str:
    direction = "higher is better" if e.higher_is_better else "lower is better"
    parts = "".join(
        f"<div><dt>{safe(name)}</dt><dd>{number(value)}</dd></div>"
        for name, value in e.parts.items()
    )
    name, settings = named(e.metric)
    more = f' <small class="soft">{safe(settings)}</small>' if settings else ""
    listed_parts = f"<dl>{parts}</dl>" if parts else ""
    return (
        f'<h1>{safe(name)} <span class="soft">({direction})</span>{more}</h1>\n'
        f'<div class="score"><strong>{number(e.score)}</strong>{listed_parts}</div>'
    )


def _side(e: Explanation, name: str, most: int | None) -> str:
    """Return a text with its units marked; with `most`, only so many that lost most."""
    side: Side = getattr(e, name)
    spans = located(side)
    routes = _routes(e, name)
    lost = e.lost(name)
    marked = set(range(len(side.units)) if most is None else (-lost).argsort()[:most].tolist())
    words = [_word(side, index, spans) for index in range(len(side.units))]
    units = [
        _unit(e, name, index, word, float(lost[index]), routes.get(index, []))
        if index in marked
        else safe(word)
        for index, word in enumerate(words)
    ]
    if spans is None:
        text = " ".join(units)
    else:
        starts, ends = [start for start, _ in spans], [0, *(end for _, end in spans)]
        between = [
            safe(side.text[a:b]) for a, b in zip(ends, [*starts, len(side.text)], strict=True)
        ]
        text = "".join(chain.from_iterable(zip(between, [*units, ""], strict=True)))
    return f'<h2>{name.capitalize()}</h2>\n<p class="text" dir="auto">{text}</p>'


def located(side: Side) -> list[tuple[int, int]] | None:
    """Return the place of each unit in its text, or None if they do not follow one another.

    An uncased model lowers its units, so letter case does not count; a blank takes no room.
    """
    text = side.text.lower() if len(side.text.lower()) == len(side.text) else side.text
    spans, at = [], 0
    for unit in side.units:
        if unit == BLANK and BLANK not in text:
            spans.append((at, at))
            continue
        start = text.find(unit.lower(), at)
        if start < 0 or not unit:
            return None
        at = start + len(unit)
        spans.append((start, at))
    return spans


def _routes(e: Explanation, name: str) -> dict[int, list[Route]]:
    """Return the routes of every unit of a side, the heaviest first."""
    by_unit: dict[int, list[Route]] = {}
    for route in e.routes:
        by_unit.setdefault(getattr(route, name), []).append(route)
    for unit_routes in by_unit.values():
        unit_routes.sort(key=lambda route: -sum(route.masses.values()))
    return by_unit


def _word(side: Side, index: int, spans: list[tuple[int, int]] | None) -> str:
    return side.units[index] if spans is None else side.text[slice(*spans[index])]


def _unit(
    e: Explanation, name: str, index: int, word: str, lost: float, routes: list[Route]
) -> str:
    if not word:
        return ""
    side: Side = getattr(e, name)
    head = f"weight {number(side.weights[index])} · lost {number(lost)}"
    lines = [head, *(_tip(e, name, route) for route in routes[:_TIP])]
    if len(routes) > _TIP:
        lines.append(f"and {len(routes) - _TIP} smaller moves")
    tip = safe("\n".join(lines))  # an attribute: where styles are taken away the text stays a text
    return (
        f'<span class="unit l{step(lost, e.most_lost)}" tabindex="0" '
        f'data-tip="{tip}">{safe(word)}</span>'
    )


def _tip(e: Explanation, name: str, route: Route) -> str:
    arrow, other_unit = ("→", e.reference.units[route.reference])
    if name == "reference":
        arrow, other_unit = ("←", e.hypothesis.units[route.hypothesis])
    return f"{arrow} {other_unit}: {_masses(route)}, cost {number(route.cost)}"


def _masses(route: Route) -> str:
    if len(route.masses) == 1:
        return f"mass {number(sum(route.masses.values()))}"
    return "mass " + ", ".join(f"{number(mass)} ({plan})" for plan, mass in route.masses.items())


def _key(e: Explanation) -> str:
    meaning = (
        "its share of the cost" if e.share_of == "cost" else "its weight minus what it matched"
    )
    ramp = f'<span class="scale">0 <span class="ramp lost"></span> {number(e.most_lost)}</span>'
    return f'<div class="key"><span>orange: what a word lost ({meaning}) {ramp}</span></div>'


def _cell_pictures(e: Explanation) -> str:
    """Return the arcs between the words of short texts, or the worst words of longer ones."""
    e, focus_note = focused(e, CELL_DRAWN, CELL_DRAWN)
    pictures = [
        arcs(e, plan).image(f"Arcs between the words of {e.metric}, {PLANS.get(plan, plan)}", "fit")
        for plan in e.plans
    ]
    note = f'<p class="soft">{safe(focus_note)}</p>\n' if focus_note else ""
    content, key = "\n".join(pictures), _KEY_OF_ARCS.format(top=number(e.cost.max()))
    head = f"<h2>Which word was matched with which</h2>\n{note}"
    return f"{head}<figure>\n{content}\n</figure>\n{key}"


def _pictures(e: Explanation) -> str:
    e, focus_note = focused(e)
    description = f"Arcs between the words of {e.metric}"
    pictures = []
    for plan in e.plans:
        flat, tall = arcs(e, plan), arcs(e, plan, tall=True)
        label = f"{description}, {PLANS.get(plan, plan)}"
        kinds = ("flat", "tall") if flat.width > tall.width else ("", "")
        pictures.append(flat.svg(label, kinds[0]) + (tall.svg(label, kinds[1]) if kinds[0] else ""))
    top = number(e.cost.max())
    description = "Closeness of every two words, and the mass moved between them"
    closeness = "\n".join(drawing.svg(description) for drawing in grids(e))
    return (
        "<h2>Which word was matched with which</h2>\n"
        + (f'<p class="soft">{safe(focus_note)}</p>\n' if focus_note else "")
        + '<figure class="arcs" tabindex="0" role="group" aria-label="arcs">\n'
        + "\n".join(pictures)
        + "\n</figure>\n"
        f"{_KEY_OF_ARCS.format(top=top)}\n"
        f"<details{'' if focus_note else ' open'}><summary>As a grid</summary>\n"
        '<figure class="arcs" tabindex="0" role="group" aria-label="grid">\n'
        f"{closeness}\n</figure>\n"
        '<div class="key"><span>stronger cell: the two words are closer <span class="ramp '
        'near"></span></span>'
        "<span>larger disc: more mass, in the colour of its "
        f"cost</span><span>{BARS}</span></div></details>"
    )


def _moves(e: Explanation, most: int) -> str:
    routes = e.routes
    routes_shown = routes[:most]
    head = [("hypothesis", ""), ("reference", ""), ("lost", "number"), ("", ""), ("cost", "number")]
    head += [(plan if len(e.plans) > 1 else "mass", "number") for plan in e.plans]
    largest = max(route.lost for route in routes_shown) or 1.0
    rows = [list(_move_cells(e, route, route.lost / largest)) for route in routes_shown]
    first = html_table(head, rows[:FIRST], caption="moves")
    more = ""
    if len(rows) > FIRST:
        lost = number(sum(route.lost for route in routes[FIRST:]))
        count = f"{len(routes) - FIRST} smaller moves, which lost {lost} together"
        limit_note = (
            f" (the largest {len(rows) - FIRST} of them)" if len(routes) > len(rows) else ""
        )
        rest = html_table(head, rows[FIRST:], caption="smaller moves")
        more = f"\n<details><summary>{count}{limit_note}</summary>\n{rest}</details>"
    heading = ""
    if len(e.plans) > 1:
        heading = (
            f'<p class="soft">Columns {safe(" and ".join(e.plans))}: how much mass was moved in '
            "each plan.</p>\n"
        )
    return f"<h2>Moves, worst first</h2>\n{heading}{first}{more}"


def _move_cells(e: Explanation, route: Route, relative: float) -> Iterator[str]:
    for word in (e.hypothesis.units[route.hypothesis], e.reference.units[route.reference]):
        yield f"<bdi>{safe(word)}</bdi>"
    yield number(route.lost)
    yield (
        '<svg class="lost" width="64" height="10" aria-hidden="true">'
        f'<rect width="{max(64 * relative, 0.5):.1f}" height="10" rx="2"/></svg>'
    )
    yield from (number(value) for value in (route.cost, *route.masses.values()))

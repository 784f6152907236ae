"""An explanation as a self-contained HTML page: words coloured by share, the picture, the moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from monge.render.cells import number
from monge.render.checks import checked_explanation
from monge.render.heatmap import explanation_svg
from monge.render.page import fragment, html_signature, html_table, page, safe
from monge.types import Explanation, Move, Side

_LISTED = 60
_TIP = 5

_STYLE = """
.monge .score { display: flex; flex-wrap: wrap; align-items: end; gap: .25rem 2rem; }
.monge .score strong { font-size: 2.6rem; font-weight: 650; line-height: 1.2; font-variant-numeric: tabular-nums; }
.monge .score dl { display: flex; gap: 1.6rem; margin: 0 0 .5rem; }
.monge dt { font-size: .8rem; color: var(--soft); } .monge dd { margin: 0; font-variant-numeric: tabular-nums; }
.monge .text { font-size: 1.2rem; line-height: 2; margin: 0; white-space: pre-wrap; overflow-wrap: anywhere;
  position: relative; }
.monge .unit { border-radius: 4px; padding: .1em .18em; margin: 0 -.04em; cursor: default;
  background: rgb(var(--rgb) / var(--a)); }
.monge .good { --rgb: var(--good-rgb); } .monge .warm { --rgb: var(--warm-rgb); }
.monge .unit:hover, .monge .unit:focus { outline: 2px solid var(--ink); outline-offset: 0; }
.monge .tip { display: none; position: absolute; left: 0; top: 100%; margin-top: 4px; z-index: 2;
  max-width: 100%; box-sizing: border-box;
  padding: .6rem .8rem; background: var(--ink); color: var(--card); border-radius: 6px; white-space: normal;
  font-size: .8rem; line-height: 1.6; font-variant-numeric: tabular-nums; text-align: start; }
.monge .unit:hover .tip, .monge .unit:focus .tip { display: block; }
.monge .tip span { display: block; }
.monge .key { display: inline-flex; align-items: center; gap: .5rem; font-size: .8rem;
  color: var(--soft); margin-top: .8rem; }
.monge .ramp { width: 7rem; height: .7rem; border-radius: 3px;
  background: linear-gradient(to right, rgb(var(--rgb) / .06), rgb(var(--rgb) / .62)); }
.monge figure { margin: 1rem 0 0; overflow-x: auto; }
.monge figure svg { display: block; max-width: 100%; height: auto; }
.monge .bar { display: inline-block; height: .6em; min-width: 1px; background: rgb(var(--rgb)); border-radius: 2px; }
"""


def explanation_html(e: Explanation, *, signed: Callable[[str], str] = str) -> str:
    """A page that needs nothing else: no script, no outside resource, light and dark."""
    return page(f"monge: {e.metric} {number(e.score)}", explanation_fragment(e, signed=signed))


def explanation_fragment(e: Explanation, *, signed: Callable[[str], str] = str) -> str:
    """The content of `explanation_html` to stand inside another page, such as a notebook's output."""
    checked_explanation(e)
    told = (f"<p>{safe(note)}</p>" for note in e.notes)
    content = [_headline(e), *told, _side(e, "hypothesis"), _side(e, "reference"), _key(e)]
    if e.flags:
        content.append(f'<p class="soft">Flags: {safe(", ".join(e.flags))}</p>')
    content.append(f"<h2>Who was moved where</h2>\n<figure>\n{explanation_svg(e)}</figure>")
    if e.moves:
        content.append(_moves(e))
    line = str(e.signature)
    content.append(f"<h2>Signature</h2>\n{html_signature(line, signed(line))}")
    return fragment("\n".join(content), _STYLE)


def _headline(e: Explanation) -> str:
    direction = "higher is better" if e.higher_is_better else "lower is better"
    parts = "".join(f"<div><dt>{safe(name)}</dt><dd>{number(value)}</dd></div>" for name, value in e.parts.items())
    return (
        f'<h1>{safe(e.metric)} <span class="soft">({direction})</span></h1>\n'
        f'<div class="score"><strong>{number(e.score)}</strong>{f"<dl>{parts}</dl>" if parts else ""}</div>'
    )


def _side(e: Explanation, name: str) -> str:
    side: Side = getattr(e, name)
    units = [_unit(e, name, index) for index in range(len(side.units))]
    spans = located(side)
    if spans is None:
        words = " ".join(units)
    else:
        starts, ends = [start for start, _ in spans], [0, *(end for _, end in spans)]
        between = [safe(side.text[a:b]) for a, b in zip(ends, [*starts, len(side.text)], strict=True)]
        words = "".join(chain.from_iterable(zip(between, [*units, ""], strict=True)))
    return f'<h2>{name.capitalize()}</h2>\n<p class="text" dir="auto">{words}</p>'


def located(side: Side) -> list[tuple[int, int]] | None:
    """Where each unit stands in its text, or None where they do not stand there one after the other.

    An uncased model lowers its units, so letter case does not count.
    """
    text = side.text.lower() if len(side.text.lower()) == len(side.text) else side.text
    spans, at = [], 0
    for unit in side.units:
        start = text.find(unit.lower(), at)
        if start < 0 or not unit:
            return None
        at = start + len(unit)
        spans.append((start, at))
    return spans


def _tone(e: Explanation) -> str:
    """Warm where a share is a burden (a cost), cool where it is a merit (a similarity)."""
    burden = "cost" in e.share_of or "distance" in e.share_of or not e.higher_is_better
    return "warm" if burden else "good"


def _range(e: Explanation) -> tuple[float, float]:
    shares = [float(share) for side in (e.hypothesis, e.reference) for share in side.shares] or [0.0]
    return min(shares), max(shares)


def _unit(e: Explanation, name: str, index: int) -> str:
    side: Side = getattr(e, name)
    low, high = _range(e)
    place = (float(side.shares[index]) - low) / (high - low) if high - low > 1e-9 else 0.5
    mine = sorted((move for move in e.moves if getattr(move, name) == index), key=lambda move: -move.mass)
    head = f"weight {number(side.weights[index])} · share {number(side.shares[index])}"
    lines = [head, *(_tip(e, name, move) for move in mine[:_TIP])]
    if len(mine) > _TIP:
        lines.append(f"and {len(mine) - _TIP} smaller moves")
    tip = "".join(f"<span>{safe(line)}</span>" for line in lines)
    word = side.units[index]
    spans = located(side)
    if spans is not None:
        word = side.text[slice(*spans[index])]
    return (
        f'<span class="unit {_tone(e)}" tabindex="0" style="--a:{0.06 + 0.56 * place:.2f}">{safe(word)}'
        f'<span class="tip" role="tooltip" dir="ltr">{tip}</span></span>'
    )


def _tip(e: Explanation, name: str, move: Move) -> str:
    arrow, other = ("→", e.reference.units[move.reference])
    if name == "reference":
        arrow, other = ("←", e.hypothesis.units[move.hypothesis])
    plan = f" ({move.plan})" if len(e.plans) > 1 else ""
    return f"{arrow} {other}: mass {number(move.mass)}, similarity {number(move.similarity)}{plan}"


def _key(e: Explanation) -> str:
    low, high = _range(e)
    ramp = f'{number(low)} <span class="ramp"></span> {number(high)}'
    return f'<div class="key {_tone(e)}">share of {safe(e.share_of)}: {ramp}</div>'


def _moves(e: Explanation) -> str:
    ordered = sorted(e.moves, key=lambda move: (-abs(move.share), -move.mass))[:_LISTED]
    several = len(e.plans) > 1
    head = [("hypothesis", ""), ("reference", ""), *([("plan", "")] if several else [])]
    head += [(name, "number") for name in ("mass", "cost", "similarity", "share")] + [("", "")]
    heaviest = max(abs(move.share) for move in ordered) or 1.0
    rows = (_move_cells(e, move, several, abs(move.share) / heaviest) for move in ordered)
    count = f"{len(ordered)} of {len(e.moves)}, " if len(e.moves) > len(ordered) else ""
    heading = f"<h2>Moves, {count}largest share of {safe(e.share_of)} first</h2>"
    return f"{heading}\n{html_table(head, rows, caption='moves')}"


def _move_cells(e: Explanation, move: Move, several: bool, relative: float) -> Iterator[str]:
    words: Sequence[str] = (e.hypothesis.units[move.hypothesis], e.reference.units[move.reference])
    yield from (f"<bdi>{safe(word)}</bdi>" for word in words)
    if several:
        yield safe(move.plan)
    yield from (number(value) for value in (move.mass, move.cost, move.similarity, move.share))
    yield f'<span class="bar {_tone(e)}" style="width:{6 * relative:.2f}rem"></span>'

"""The colours of everything that is drawn: pages, explanations and figures, in both colour schemes.

The style of an explanation is plain CSS with literal colours (no variables), so that viewers and converters other
than browsers draw the light scheme too.
"""

from __future__ import annotations

from itertools import pairwise

INK, SOFT, LINE = "#1b2430", "#5b6776", "#dde3ea"
INK_DARK, SOFT_DARK, LINE_DARK = "#e6eaf0", "#98a4b3", "#2b323c"
CARD, CARD_DARK = "#ffffff", "#171b21"
BLUE, ORANGE = "#1864ab", "#d9480f"
SERIES = (BLUE, ORANGE, "#2b8a3e", "#862e9c", "#e67700", "#0b7285", "#a61e4d", "#5f3dc4")
"""Colours of lines and bars that stand beside one another."""
LEVELS = 12

_LIGHT = ("#eef2f7", "#cfe0f1", "#8fb9de", "#4a86bf")
_DARK = ("#1f252d", "#243b53", "#2f6093", "#5c9bd6")


def tint(stops: tuple[str, ...], at: float) -> str:
    """The colour at a place in [0, 1] of a scale through equally spaced stops."""
    place = at * (len(stops) - 1)
    index = min(int(place), len(stops) - 2)
    pair = list(pairwise(stops))[index]
    low, high = (tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5)) for colour in pair)
    mixed = (round(a + (b - a) * (place - index)) for a, b in zip(low, high, strict=True))
    return "#" + "".join(f"{value:02x}" for value in mixed)


def _tints(stops: tuple[str, ...]) -> str:
    return " ".join(f".mg-t{k} {{ fill: {tint(stops, k / (LEVELS - 1))}; }}" for k in range(LEVELS))


STYLE = f"""
.mg text {{ font-family: system-ui, "Segoe UI", "Noto Sans", "Noto Sans CJK SC", Arial, sans-serif; fill: {INK}; }}
.mg .mg-soft {{ fill: {SOFT}; }} .mg .mg-name {{ font-weight: 600; }}
.mg-ground {{ fill: {CARD}; }} {_tints(_LIGHT)}
.mg-mass {{ fill: {ORANGE}; }} .mg-weight {{ fill: #d3dae2; }} .mg-moved {{ fill: {ORANGE}; }}
.mg-hit {{ fill: #000000; fill-opacity: 0; }}
.mg-move:hover .mg-hit {{ stroke: {INK}; stroke-width: 1.5; }}
@media (prefers-color-scheme: dark) {{
.mg text {{ fill: {INK_DARK}; }} .mg .mg-soft {{ fill: {SOFT_DARK}; }}
.mg-ground {{ fill: {CARD_DARK}; }} {_tints(_DARK)}
.mg-mass {{ fill: #ffb066; }} .mg-weight {{ fill: #3c4652; }} .mg-moved {{ fill: #ffb066; }}
.mg-move:hover .mg-hit {{ stroke: {INK_DARK}; }} }}
""".strip()

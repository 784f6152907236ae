"""The colours of an explanation: tints for similarity, ink for mass, in both colour schemes.

The style is plain CSS with literal colours (no variables), so that viewers and converters other than
browsers draw the light scheme too.
"""

from __future__ import annotations

from itertools import pairwise

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
.mg text {{ font-family: system-ui, "Segoe UI", "Noto Sans", "Noto Sans CJK SC", Arial, sans-serif; fill: #1b2430; }}
.mg .mg-soft {{ fill: #5b6776; }} .mg .mg-name {{ font-weight: 600; }}
.mg-ground {{ fill: #ffffff; }} {_tints(_LIGHT)}
.mg-mass {{ fill: #d9480f; }} .mg-weight {{ fill: #d3dae2; }} .mg-moved {{ fill: #d9480f; }}
.mg-hit {{ fill: #000000; fill-opacity: 0; }}
.mg-move:hover .mg-hit {{ stroke: #1b2430; stroke-width: 1.5; }}
@media (prefers-color-scheme: dark) {{
.mg text {{ fill: #e6eaf0; }} .mg .mg-soft {{ fill: #98a4b3; }}
.mg-ground {{ fill: #171b21; }} {_tints(_DARK)}
.mg-mass {{ fill: #ffb066; }} .mg-weight {{ fill: #3c4652; }} .mg-moved {{ fill: #ffb066; }}
.mg-move:hover .mg-hit {{ stroke: #e6eaf0; }} }}
""".strip()

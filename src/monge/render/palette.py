"""The colours of all that is drawn, pages, pictures and figures, in both colour schemes.

Orange means one thing: here something was lost. Blue stands for what is well and for what one can
press, grey for everything else. The two can be told apart by people who see fewer colours. Pages
use the variables of `VARIABLES`; pictures that stand alone have literal colours (`STYLE`), so that
viewers other than browsers draw them too.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

COLOURS = {
    "ink": ("#1b2430", "#e6eaf0"),
    "soft": ("#54606f", "#a3aebc"),
    "line": ("#d5dce4", "#323a45"),
    "edge": ("#7b8794", "#7b8794"),
    "card": ("#ffffff", "#171b21"),
    "ground": ("#f3f5f8", "#0f1216"),
    "accent": ("#1864ab", "#74c0fc"),
    "on-accent": ("#ffffff", "#0f1216"),
    "hurt": ("#b93a0a", "#ffb066"),
    "bad": ("#a61e4d", "#faa2c1"),
    "cheap": ("#4a86bf", "#74c0fc"),
    "dear": ("#d9480f", "#ff922b"),
    "bar": ("#d3dae2", "#3c4652"),
    "t0": ("#eef1f5", "#1f252d"),
    "t1": ("#d5dde6", "#2c3641"),
    "t2": ("#aab8c7", "#4a5a6b"),
    "t3": ("#7d8fa3", "#7b8ea3"),
}
"""Name -> its colour on a light and on a dark ground."""
HURT = (217, 72, 15), (253, 126, 20)
"""What words are marked with, in both schemes, the stronger the more they lost."""
INK, INK_DARK = COLOURS["ink"]
SOFT, SOFT_DARK = COLOURS["soft"]
LINE, LINE_DARK = COLOURS["line"]
CARD, CARD_DARK = COLOURS["card"]
BLUE, ORANGE = COLOURS["accent"][0], COLOURS["dear"][0]
SERIES = (BLUE, ORANGE, "#2b8a3e", "#862e9c", "#e67700", "#0b7285", "#a61e4d", "#5f3dc4")
"""Colours of lines and bars that stand beside one another."""
IN_LIGHT_NOTEBOOK = (
    ':is([data-jp-theme-light="true"], .vscode-light, .vscode-high-contrast-light, [theme="light"])'
)
IN_DARK_NOTEBOOK = (
    ':is([data-jp-theme-light="false"], .vscode-dark, '
    ".vscode-high-contrast:not(.vscode-high-contrast-light), "
    '[theme="dark"])'
)
"""What JupyterLab, VS Code and Colab write on the page whose theme is light or dark."""
LEVELS = 12
"""Steps of a scale of tints."""
STEPS = 10
"""Steps from a word that lost nothing (0) to one that lost most (9)."""


def strength(k: int, dark: bool = False) -> float:
    """Return the opacity of the mark of a step; the ink on it stays readable."""
    return 0.06 + (0.42 if dark else 0.56) * k / (STEPS - 1)


def variables(dark: bool) -> str:
    """Return the declarations of all colours of a scheme."""
    return " ".join(f"--{name}: {pair[dark]};" for name, pair in COLOURS.items())


def marks(dark: bool) -> str:
    """Return the declarations of the marks of lost words: `--l1` faint to `--l9` strong."""
    red, green, blue = HURT[dark]
    return " ".join(
        f"--l{k}: rgb({red} {green} {blue} / {strength(k, dark):.2f});" for k in range(1, STEPS)
    )


def schemed(light: Callable[[str], str], dark: Callable[[str], str]) -> str:
    """Return rules in both colour schemes; each function maps a selector prefix to rules.

    The theme of a notebook that the rules stand in wins over the scheme of the operating system.
    Paper is light.
    """
    return (
        f"{light('')}\n@media screen and (prefers-color-scheme: dark) {{\n{dark('')} }}\n"
        f"{light(IN_LIGHT_NOTEBOOK + ' ')}\n@media screen {{\n{dark(IN_DARK_NOTEBOOK + ' ')} }}\n"
    )


def variables_css(scope: str = ":root") -> str:
    """Return both schemes as CSS: colours and marks as variables on `scope`, and rules."""
    inner = f"{scope} " if scope != ":root" else ""
    rules = " ".join(f"{inner}.l{k} {{ background: var(--l{k}); }}" for k in range(1, STEPS))

    def declared(dark: bool, before: str) -> str:
        scheme = "dark" if dark else "light"
        return f"{before}{scope} {{ color-scheme: {scheme}; {variables(dark)} {marks(dark)} }}"

    if scope == ":root":
        media = "@media screen and (prefers-color-scheme: dark)"
        return f"{declared(False, '')}\n{media} {{\n{declared(True, '')} }}\n{rules}\n"
    return (
        schemed(lambda before: declared(False, before), lambda before: declared(True, before))
        + rules
        + "\n"
    )


def tint(stops: tuple[str, ...], at: float) -> str:
    """Return the colour at a place in [0, 1] of a scale through equally spaced stops."""
    place = at * (len(stops) - 1)
    index = min(int(place), len(stops) - 2)
    pair = list(pairwise(stops))[index]
    low, high = (tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5)) for colour in pair)
    mixed = (round(a + (b - a) * (place - index)) for a, b in zip(low, high, strict=True))
    return "#" + "".join(f"{value:02x}" for value in mixed)


def step(loss: float, most: float) -> int:
    """Return the strength, 0 to 9, of a word's mark by its loss; `most` is the largest loss."""
    return 0 if most <= 0 else min(max(round((STEPS - 1) * loss / most), 0), STEPS - 1)


def _scale(kind: str, names: tuple[str, ...], dark: bool, attribute: str = "fill") -> str:
    stops = tuple(COLOURS[name][dark] for name in names)
    return " ".join(
        f".mg-{kind}{k} {{ {attribute}: {tint(stops, k / (LEVELS - 1))}; }}" for k in range(LEVELS)
    )


def _scheme(dark: bool, inside: str = "") -> str:
    """Return the rules of pictures in a scheme, only `inside` an element if named."""
    pick = {name: pair[dark] for name, pair in COLOURS.items()}
    tints, costs = ("t0", "t1", "t2", "t3"), ("cheap", "dear")
    red, green, blue = HURT[dark]
    lost = " ".join(
        f".mg-l{k} {{ fill: rgb({red},{green},{blue}); fill-opacity: {strength(k, dark):.2f}; }}"
        for k in range(1, STEPS)
    )
    rules = (
        f".mg text {{ fill: {pick['ink']}; }} .mg .mg-soft {{ fill: {pick['soft']}; }}\n"
        f".mg-ground {{ fill: {pick['card']}; }} .mg-word {{ fill: {pick['t0']}; }}\n"
        f"{_scale('t', tints, dark)}\n{_scale('c', costs, dark)}\n"
        f"{_scale('a', costs, dark, 'stroke')}\n{lost}\n"
        f".mg-weight {{ fill: {pick['bar']}; }} .mg-moved {{ fill: {pick['soft']}; }}\n"
        f".mg-move:hover .mg-hit {{ stroke: {pick['ink']}; stroke-width: 1.5; }}"
    )
    return f"{inside}{{\n{rules} }}" if inside else rules


_SHAPES = """
.mg text { font-family: system-ui, "Segoe UI", "Noto Sans", "Noto Sans CJK SC", Arial, sans-serif; }
.mg .mg-name { font-weight: 600; } .mg .mg-arc { fill: none; stroke-linecap: round; }
.mg-hit { fill: #000000; fill-opacity: 0; }
""".strip()
STYLE = (
    f"{_SHAPES}\n{_scheme(False)}\n@media screen and (prefers-color-scheme: dark) "
    f"{{\n{_scheme(True)} }}"
)
"""The style of a picture that stands alone."""


def picture_css() -> str:
    """Return the style of pictures inside a page, which may be a notebook."""
    schemes = schemed(lambda inside: _scheme(False, inside), lambda inside: _scheme(True, inside))
    return f"{_SHAPES}\n{schemes}"

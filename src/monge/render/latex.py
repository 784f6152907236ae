"""Text as LaTeX prints it."""

from __future__ import annotations

import re

from monge.render.cells import printable

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\char34}",
    "[": "{[}",
    "*": "{*}",
}


def latex(text: str) -> str:
    """The text with every character that LaTeX would obey written so that it is printed."""
    return "".join(_LATEX.get(char, char) for char in printable(text))


def breakable(signature: str) -> str:
    """A signature that may be broken into lines between its fields."""
    return re.sub(r"(\\textbar\{\}|,)", r"\1\\allowbreak{}", latex(signature))

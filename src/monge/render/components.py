"""Style and script of the drawn components that the service and the report share."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from monge.render.palette import variables_css

_LINKS = re.compile(r"^import .*?;\n|^export (?=(?:async )?function|const|class)", re.M)


@cache
def asset(name: str) -> str:
    """Return a file of `assets/`."""
    return (files(__package__) / "assets" / name).read_text("utf-8")


@cache
def palette_css() -> str:
    """Return the colours as variables, and the style of what `plan.js` draws."""
    return variables_css() + asset("plan.css")


def joined(*names: str) -> str:
    """Join modules in order of dependency into one script without imports and exports."""
    return "(() => {\n" + "\n".join(_LINKS.sub("", asset(name)) for name in names) + "})();\n"

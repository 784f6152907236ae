"""The pages of metrics: each row of the code with what docs/metrics/notes.toml says of it, and a
picture of a pair.
"""

from __future__ import annotations

import contextlib
import io
import re
import tomllib
from html import escape
from pathlib import Path
from typing import Any

from monge.api import explain
from monge.cli.app import run
from monge.errors import MongeError
from monge.metrics.catalogue import described, listed
from monge.metrics.forms import EVERY, kind_of
from monge.render.arcs import arcs
from monge.render.drawing import document

DOCS = Path(__file__).resolve().parents[1]
METRICS = DOCS / "metrics"
MADE = "<!-- made by docs/reference/make.py from the code: change the code, then run it -->\n"
PAIR = ("The cat slept on the warm mat.", "A cat was sleeping on the mat.")


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A Markdown table; bars inside of cells are entities, which every reader of Markdown takes, in
    code too.
    """
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(map(_barred, line)) + " |" for line in lines)


def _barred(cell: str) -> str:
    code = re.sub(
        r"`([^`]*\|[^`]*)`", lambda found: f"<code>{escape(found[1], quote=False)}</code>", cell
    )
    return code.replace("|", "&#124;").replace("\n", " ")


def notes() -> dict[str, Any]:
    """What is said of metrics beside their rows."""
    return tomllib.loads((METRICS / "notes.toml").read_text("utf-8"))


def bare() -> list[str]:
    """The metrics without their profiles, in the order of the catalogue."""
    return [name for name in EVERY if "@" not in name]


def page_name(metric: str) -> str:
    """The file of a metric's page."""
    return metric.replace("+", "p") + ".md"


def metrics() -> str:
    """The table of all metrics."""
    about = listed().to_dict()
    rows = []
    for name in bare():
        one = about[name]
        low, high = one["usual"] or (one["low"], one["high"])
        span = (
            f"{'–∞' if low is None else f'{low:.4g}'} to {'∞' if high is None else f'{high:.4g}'}"
        )
        profiles = " ".join(
            f"`@{other.partition('@')[2]}`" for other in EVERY if other.startswith(f"{name}@")
        )
        rows.append(
            (
                f"[`{name}`]({page_name(name)})",
                one["title"],
                "↑" if one["higher_is_better"] else "↓",
                span,
                profiles,
                one["cites"],
            )
        )
    return (
        "\n".join(
            [
                "# Metrics\n",
                MADE,
                "The bare name is our default: the published idea with its bugs removed. `@paper` "
                "is the literal "
                "equations; the other "
                "profiles are what the authors' public code computes, warts included. Which one to "
                "take: "
                "[Which metric?](../recommend.md)\n",
                table(
                    ("metric", "what it is", "better", "range", "profiles", "published in"), rows
                ),
            ]
        )
        + "\n"
    )


def metric(name: str) -> str:
    """The page of a metric."""
    said, everything = notes()[name], notes()
    facts = described(name).to_dict()
    title, cites = facts["title"], facts["cites"]
    parts = [f"# {name}\n", MADE, f"**{title[0].upper()}{title[1:]}.** {said['words']}\n"]
    parts.append(f"```\n{said['formula'].strip()}\n```\n")
    picture = METRICS / page_name(name).replace(".md", ".svg")
    if picture.is_file():
        parts.append(
            f"![A pair explained by {name}]({picture.name})\n\n"
            f'`monge explain "{PAIR[0]}" "{PAIR[1]}" -m {name} -f svg`\n'
        )
    parts.append(f"**Origin.** {everything['origins'][cites]}\n")
    parts.append("**Good to know.**\n\n" + "\n".join(f"- {line}" for line in said["warts"]) + "\n")
    shown = [
        (f"`{key}`", f"`{value}`")
        for key, value in facts.items()
        if isinstance(value, str) and key not in ("metric", "title", "cites") and value
    ]
    best = f"{facts['best']:g}"
    low, high = facts["usual"] or (facts["low"], facts["high"])
    ends = f"{'–∞' if low is None else f'{low:.4g}'} to {'∞' if high is None else f'{high:.4g}'}"
    parts.append(
        f"**Score.** {'Higher' if facts['higher_is_better'] else 'Lower'} is better; {ends}, best "
        f"{best}.\n"
    )
    others = [other for other in EVERY if other.startswith(f"{name}@")]
    if others:
        rows = [(f"`{other}`", EVERY[other].title, _changed(name, other)) for other in others]
        parts.append(
            "## Profiles\n\n"
            + table(("profile", "what it is", "what differs from the bare name"), rows)
            + "\n"
        )
    where = (
        "settings.md" if kind_of(name) != "lexical" else "settings.md#options-of-lexical-metrics"
    )
    if shown:
        parts.append(
            f"## Settings\n\n[What each of them means](../reference/{where}).\n\n"
            + table(("setting", "value"), shown)
            + "\n"
        )
    return "\n".join(parts)


def _changed(name: str, other: str) -> str:
    one, two = described(name).to_dict(), described(other).to_dict()
    lines = []
    for axis, value in two.items():
        if (
            isinstance(value, str)
            and axis not in ("metric", "title", "cites")
            and one.get(axis) != value
        ):
            mine = set(str(one.get(axis, "")).split(","))
            lines.append(
                f"`{axis}` "
                + ", ".join(f"`{part}`" for part in value.split(",") if part not in mine)
            )
    return "; ".join(lines)


def home_picture() -> None:
    """docs/home.svg: which word of the pair was matched with which."""
    explained = explain(*PAIR, metric="bertscore")
    (DOCS / "home.svg").write_text(
        document(explained, arcs(explained, next(iter(explained.plans)))), "utf-8"
    )


def pictures() -> None:
    """The same pair explained by every metric that can be explained, and the picture of the home
    page.
    """
    home_picture()
    for name in bare():
        if described(name).to_dict().get("against") == "source":
            continue  # a pair in one language would show it at what it is not for
        target = METRICS / page_name(name).replace(".md", ".svg")
        try:
            with contextlib.redirect_stderr(io.StringIO()) as heard:
                code = run(["explain", *PAIR, "-m", name, "-f", "svg", "-o", str(target)])
        except MongeError:
            code = 2
        print(name, code, heard.getvalue().strip()[:120])  # noqa: T201

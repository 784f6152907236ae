"""The pages of metrics: each preset with its notes (metric_notes.toml) and a picture."""

from __future__ import annotations

import contextlib
import io
import re
import tomllib
from html import escape
from pathlib import Path
from typing import Any

from repository import DOCS

from monge.api import explain
from monge.cli.app import run
from monge.errors import MongeError
from monge.metrics.catalogue import described, listed
from monge.metrics.forms import EVERY, kind_of
from monge.render.arcs import arcs
from monge.render.drawing import document

METRICS, NOTES = DOCS / "metrics", Path(__file__).with_name("metric_notes.toml")
GENERATED_NOTE = (
    "<!-- made by tools/make_reference.py from the code: change the code, then run it -->\n"
)
PAIR = ("The cat slept on the warm mat.", "A cat was sleeping on the mat.")


def make_table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return a Markdown table; bars inside cells become entities, which work in code too."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(map(_escape_bars, line)) + " |" for line in lines)


def _escape_bars(cell: str) -> str:
    """Escape bars in a table cell."""
    code = re.sub(
        r"`([^`]*\|[^`]*)`", lambda match: f"<code>{escape(match[1], quote=False)}</code>", cell
    )
    return code.replace("|", "&#124;").replace("\n", " ")


def read_notes() -> dict[str, Any]:
    """Return the notes on metrics that the code does not hold."""
    return tomllib.loads(NOTES.read_text("utf-8"))


def bare_names() -> list[str]:
    """Return the metrics without their profiles, in the order of the catalogue."""
    return [name for name in EVERY if "@" not in name]


def page_name(metric: str) -> str:
    """Return the file name of a metric's page."""
    return metric.replace("+", "p") + ".md"


def make_metrics_page() -> str:
    """Return the page with the table of all metrics."""
    catalogue = listed().to_dict()
    rows = []
    for name in bare_names():
        facts = catalogue[name]
        low, high = facts["usual"] or (facts["low"], facts["high"])
        score_range = (
            f"{'–∞' if low is None else f'{low:.4g}'} to {'∞' if high is None else f'{high:.4g}'}"
        )
        profiles = " ".join(
            f"`@{profile.partition('@')[2]}`" for profile in EVERY if profile.startswith(f"{name}@")
        )
        rows.append(
            (
                f"[`{name}`]({page_name(name)})",
                facts["title"],
                "↑" if facts["higher_is_better"] else "↓",
                score_range,
                profiles,
                facts["cites"],
            )
        )
    return (
        "\n".join(
            [
                "# Metrics\n",
                GENERATED_NOTE,
                "The bare name is our default: the published idea with its bugs removed. `@paper` "
                "is the literal "
                "equations; the other "
                "profiles are what the authors' public code computes, warts included. Which one to "
                "take: [Which metric?](../recommend.md)\n",
                make_table(
                    ("metric", "what it is", "better", "range", "profiles", "published in"), rows
                ),
            ]
        )
        + "\n"
    )


def make_metric_page(name: str) -> str:
    """Return the page of a metric."""
    note, notes = read_notes()[name], read_notes()
    facts = described(name).to_dict()
    title, cites = facts["title"], facts["cites"]
    parts = [f"# {name}\n", GENERATED_NOTE, f"**{title[0].upper()}{title[1:]}.** {note['words']}\n"]
    parts.append(f"```\n{note['formula'].strip()}\n```\n")
    picture = METRICS / page_name(name).replace(".md", ".svg")
    if picture.is_file():
        parts.append(
            f"![A pair explained by {name}]({picture.name})\n\n"
            f'`monge explain "{PAIR[0]}" "{PAIR[1]}" -m {name} -f svg`\n'
        )
    parts.append(f"**Origin.** {notes['origins'][cites]}\n")
    parts.append("**Good to know.**\n\n" + "\n".join(f"- {line}" for line in note["warts"]) + "\n")
    settings = [
        (f"`{key}`", f"`{value}`")
        for key, value in facts.items()
        if isinstance(value, str) and key not in ("metric", "title", "cites") and value
    ]
    best = f"best {facts['best']:g}"
    if facts["higher_is_better"] and facts["best"] == facts["low"]:
        best = "no best value"
    low, high = facts["usual"] or (facts["low"], facts["high"])
    score_range = (
        f"{'–∞' if low is None else f'{low:.4g}'} to {'∞' if high is None else f'{high:.4g}'}"
    )
    parts.append(
        f"**Score.** {'Higher' if facts['higher_is_better'] else 'Lower'} is better; "
        f"{score_range}, {best}.\n"
    )
    profiles = [profile for profile in EVERY if profile.startswith(f"{name}@")]
    if profiles:
        rows = [
            (f"`{profile}`", EVERY[profile].title, _list_changes(name, profile))
            for profile in profiles
        ]
        parts.append(
            "## Profiles\n\n"
            + make_table(("profile", "what it is", "what differs from the bare name"), rows)
            + "\n"
        )
    target = (
        "settings.md" if kind_of(name) != "lexical" else "settings.md#options-of-lexical-metrics"
    )
    if settings:
        parts.append(
            f"## Settings\n\n[What each of them means](../reference/{target}).\n\n"
            + make_table(("setting", "value"), settings)
            + "\n"
        )
    if "more" in note:
        parts.append(note["more"].strip() + "\n")
    return "\n".join(parts)


def _list_changes(name: str, profile: str) -> str:
    """Return the settings in which a profile differs from the bare name."""
    base, changed = described(name).to_dict(), described(profile).to_dict()
    lines = []
    for axis, value in changed.items():
        if (
            isinstance(value, str)
            and axis not in ("metric", "title", "cites")
            and base.get(axis) != value
        ):
            base_parts = set(str(base.get(axis, "")).split(","))
            lines.append(
                f"`{axis}` "
                + ", ".join(f"`{part}`" for part in value.split(",") if part not in base_parts)
            )
    return "; ".join(lines)


def draw_home_picture() -> None:
    """Draw docs/home.svg: the matched words of the pair."""
    explanation = explain(*PAIR, metric="bertscore")
    (DOCS / "home.svg").write_text(
        document(explanation, arcs(explanation, next(iter(explanation.plans)))), "utf-8"
    )


def draw_pictures() -> None:
    """Draw the pair explained by every metric that can be explained, and the home picture."""
    draw_home_picture()
    for name in bare_names():
        if described(name).to_dict().get("against") == "source":
            continue  # a pair in one language would show it at what it is not for
        target = METRICS / page_name(name).replace(".md", ".svg")
        try:
            with contextlib.redirect_stderr(io.StringIO()) as messages:
                code = run(["explain", *PAIR, "-m", name, "-f", "svg", "-o", str(target)])
        except MongeError:
            code = 2
        print(name, code, messages.getvalue().strip()[:120])

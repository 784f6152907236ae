"""`monge metrics` and `monge show`: what there is, and what it is made of."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from monge.cli import options
from monge.spec.catalogue import EVERY, described, listed, row_of
from monge.spec.metric import Preset
from monge.spec.presets import bounds_of, resolve


def metrics(
    output_format: Annotated[str, typer.Option("--format", "-f", metavar="text|json", help="Output format.")] = "text",
) -> None:
    """List every metric and profile."""
    options.chosen_format(output_format, ("text", "json"))
    rows = listed()
    if output_format == "json":
        sys.stdout.write(json.dumps(rows, indent=2) + "\n")
        return
    width = max(map(len, EVERY))
    for name, one in rows.items():
        arrow = "↑" if one["higher_is_better"] else "↓"
        sys.stdout.write(f"{name:<{width}}  {arrow}  {one['title']}  [{one['cites']}]\n")


def show(
    metric: Annotated[str, typer.Argument(help="NAME, NAME@PROFILE or 'NAME[axis.field=value]'.")],
    settings: options.Set = None,
    lang: options.Lang = None,
    output_format: Annotated[str, typer.Option("--format", "-f", metavar="text|json", help="Output format.")] = "text",
) -> None:
    """Show every setting of a metric, and the range of its scores."""
    options.chosen_format(output_format, ("text", "json"))
    name, spec = resolve(metric, options.changes(settings), lang)
    if output_format == "json":
        sys.stdout.write(json.dumps(described(name, spec), indent=2) + "\n")
        return
    found, one = bounds_of(spec), row_of(name)
    facts = {"metric": name, "title": one.title, "cites": one.cites, **spec.written()}
    worst = "a point at the origin" if found.worst is None else f"{found.worst:g}"
    facts["range"] = f"{found.low:g} to {found.high:g}, {'higher' if found.higher_is_better else 'lower'} is better"
    facts["range"] += f" ({found.note})" if found.note else ""
    facts["best"], facts["empty"] = f"{found.best:g} (both texts empty as well)", f"{worst} (one text empty)"
    if isinstance(one, Preset):
        facts |= {f"--lang {language}": ", ".join(changed) for language, changed in one.languages.items()}
        facts |= {f"lacks {law}": reason for law, reason in one.lacks.items()}
    width = max(map(len, facts))
    sys.stdout.writelines(f"{key:<{width}}  {value}\n" for key, value in facts.items())

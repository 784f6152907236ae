"""`monge metrics` and `monge show`: what there is, and what it is made of."""

from __future__ import annotations

import json
import sys
from math import isfinite
from typing import Annotated, Any

import typer

from monge.cli import options
from monge.spec.blend import BLENDS, BlendPreset
from monge.spec.lexical import LEXICAL, LexicalPreset
from monge.spec.metric import Preset
from monge.spec.presets import PRESETS, bounds_of, resolve, row
from monge.spec.rules import Bounds


def metrics(
    output_format: Annotated[str, typer.Option("--format", "-f", metavar="text|json", help="Output format.")] = "text",
) -> None:
    """List every metric and profile."""
    options.chosen_format(output_format, ("text", "json"))
    every: dict[str, Preset | BlendPreset | LexicalPreset] = {**PRESETS, **BLENDS, **LEXICAL}
    if output_format == "json":
        rows = {
            name: {"title": one.title, "cites": one.cites, **_range(bounds_of(resolve(name)[1]))}
            for name, one in every.items()
        }
        sys.stdout.write(json.dumps(rows, indent=2) + "\n")
        return
    width = max(map(len, every))
    for name, one in every.items():
        arrow = "↑" if bounds_of(resolve(name)[1]).higher_is_better else "↓"
        sys.stdout.write(f"{name:<{width}}  {arrow}  {one.title}  [{one.cites}]\n")


def _row(name: str) -> Preset | BlendPreset | LexicalPreset:
    return LEXICAL.get(name) or BLENDS.get(name) or row(name)


def _range(found: Bounds) -> dict[str, Any]:
    return {
        "higher_is_better": found.higher_is_better,
        "low": found.low if isfinite(found.low) else None,
        "high": found.high if isfinite(found.high) else None,
        "usual": None if found.usual is None else list(found.usual),
        "best": found.best,
        "empty": found.worst,
    }


def show(
    metric: Annotated[str, typer.Argument(help="NAME, NAME@PROFILE or 'NAME[axis.field=value]'.")],
    settings: options.Set = None,
    lang: options.Lang = None,
    output_format: Annotated[str, typer.Option("--format", "-f", metavar="text|json", help="Output format.")] = "text",
) -> None:
    """Show every setting of a metric, and the range of its scores."""
    options.chosen_format(output_format, ("text", "json"))
    name, spec = resolve(metric, options.changes(settings), lang)
    found, one = bounds_of(spec), _row(name)
    facts = {"metric": name, "title": one.title, "cites": one.cites, **spec.written()}
    if output_format == "json":
        sys.stdout.write(json.dumps({**facts, **_range(found)}, indent=2) + "\n")
        return
    worst = "a point at the origin" if found.worst is None else f"{found.worst:g}"
    low, high = found.shown
    facts["range"] = f"{low:.4g} to {high:.4g}, {'higher' if found.higher_is_better else 'lower'} is better"
    facts["range"] += f" ({found.note})" if found.note else ""
    facts["best"], facts["empty"] = f"{found.best:g} (both texts empty as well)", f"{worst} (one text empty)"
    if not isinstance(one, BlendPreset):
        facts |= {f"--lang {language}": ", ".join(changed) for language, changed in one.languages.items()}
        facts |= {f"lacks {law}": reason for law, reason in one.lacks.items()}
    width = max(map(len, facts))
    sys.stdout.writelines(f"{key:<{width}}  {value}\n" for key, value in facts.items())

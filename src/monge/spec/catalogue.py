"""What there is, and what it is made of: every metric in a table, and every setting of one."""

from __future__ import annotations

from math import isfinite
from typing import Any

from monge.spec.blend import BLENDS, BlendPreset
from monge.spec.lexical import LEXICAL, LexicalPreset
from monge.spec.metric import Preset
from monge.spec.presets import PRESETS, bounds_of, resolve, row
from monge.spec.rules import Bounds
from monge.types.table import Cell, Listing, Sheet, facts_sheet


def listed() -> Listing:
    """Every metric and profile."""
    every: dict[str, Preset | BlendPreset | LexicalPreset] = {**PRESETS, **BLENDS, **LEXICAL}
    data = {
        name: {"title": one.title, "cites": one.cites, **_range(bounds_of(resolve(name)[1]))}
        for name, one in every.items()
    }
    rows = tuple(
        tuple(map(Cell, (name, "↑" if one["higher_is_better"] else "↓", one["title"], one["cites"])))
        for name, one in data.items()
    )
    return Listing(data, [Sheet("", ("metric", "better", "what it is", "published in"), rows, words_behind=3)])


def described(metric: str, changes: tuple[str, ...] = (), lang: str | None = None) -> Listing:
    """Every setting of a metric, and the range of its scores."""
    name, spec = resolve(metric, changes, lang)
    found, one = bounds_of(spec), LEXICAL.get(name) or BLENDS.get(name) or row(name)
    facts = {"metric": name, "title": one.title, "cites": one.cites, **spec.written()}
    data = {**facts, **_range(found)}
    worst = "a point at the origin" if found.worst is None else f"{found.worst:g}"
    low, high = found.shown
    facts["range"] = f"{low:.4g} to {high:.4g}, {'higher' if found.higher_is_better else 'lower'} is better"
    facts["range"] += f" ({found.note})" if found.note else ""
    facts["best"], facts["empty"] = f"{found.best:g} (both texts empty as well)", f"{worst} (one text empty)"
    if not isinstance(one, BlendPreset):
        facts |= {f"--lang {language}": ", ".join(changed) for language, changed in one.languages.items()}
        facts |= {f"lacks {law}": reason for law, reason in one.lacks.items()}
    return Listing(data, [facts_sheet("", facts)])


def _range(found: Bounds) -> dict[str, Any]:
    return {
        "higher_is_better": found.higher_is_better,
        "low": found.low if isfinite(found.low) else None,
        "high": found.high if isfinite(found.high) else None,
        "usual": None if found.usual is None else list(found.usual),
        "best": found.best,
        "empty": found.worst,
    }

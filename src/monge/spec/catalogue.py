"""What metrics there are, as plain data: for `monge metrics`, `monge show`, and forms that are made from the spec."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from monge.spec.axes import AXES, Choice
from monge.spec.blend import BLENDS, BlendPreset
from monge.spec.codec import LAYERS_ACCEPT, settable, show_choice
from monge.spec.fields import Kind
from monge.spec.lexical import LEXICAL, LexicalPreset
from monge.spec.metric import MetricSpec, Preset
from monge.spec.presets import PRESETS, Spec, bounds_of, resolve, row
from monge.spec.rules import Bounds
from monge.types.table import Cell, Listing, Sheet, facts_sheet

Row = Preset | BlendPreset | LexicalPreset
EVERY: Mapping[str, Row] = {**PRESETS, **BLENDS, **LEXICAL}
"""Every metric and profile by name: of vectors, blends, of words."""


def row_of(name: str) -> Row:
    """The row of a metric of any kind; an unknown name is an error that offers the nearest."""
    return LEXICAL.get(name) or BLENDS.get(name) or row(name)


def kind_of(name: str) -> str:
    """`transport`, `blend` or `lexical`."""
    return "lexical" if name in LEXICAL else "blend" if name in BLENDS else "transport"


def score_range(found: Bounds) -> dict[str, Any]:
    """The range of scores in JSON: an infinite end is null."""
    return {
        "higher_is_better": found.higher_is_better,
        "low": found.low if isfinite(found.low) else None,
        "high": found.high if isfinite(found.high) else None,
        "usual": None if found.usual is None else list(found.usual),
        "best": found.best,
        "empty": found.worst,
    }


def listed() -> Listing:
    """Every metric and profile: title, where it was published, range."""
    data = {
        name: {"title": one.title, "cites": one.cites, **score_range(bounds_of(resolve(name)[1]))}
        for name, one in EVERY.items()
    }
    rows = tuple(
        tuple(map(Cell, (name, "↑" if one["higher_is_better"] else "↓", one["title"], one["cites"])))
        for name, one in data.items()
    )
    return Listing(data, [Sheet("", ("metric", "better", "what it is", "published in"), rows, words_behind=3)])


def described(name: str, spec: Spec) -> Listing:
    """Every setting of a metric as text, and the range of its scores."""
    found, one = bounds_of(spec), row_of(name)
    facts = {"metric": name, "title": one.title, "cites": one.cites, **spec.written()}
    data = {**facts, **score_range(found)}
    worst = "a point at the origin" if found.worst is None else f"{found.worst:g}"
    low, high = found.shown
    facts["range"] = f"{low:.4g} to {high:.4g}, {'higher' if found.higher_is_better else 'lower'} is better"
    facts["range"] += f" ({found.note})" if found.note else ""
    facts["best"], facts["empty"] = f"{found.best:g} (both texts empty as well)", f"{worst} (one text empty)"
    if not isinstance(one, BlendPreset):
        facts |= {f"--lang {language}": ", ".join(changed) for language, changed in one.languages.items()}
        facts |= {f"lacks {law}": reason for law, reason in one.lacks.items()}
    return Listing(data, [facts_sheet("", facts)])


def form(name: str) -> list[dict[str, Any]]:
    """What can be set on a metric, in order: an axis with its choices and their fields, or an option of a library.

    An axis: {"axis", "chosen", "choices": {choice: [field, …]}}; a field: {"target" (as in TARGET=VALUE), "accepts",
    "options" (words to choose from, or none), "value"}. A blend has no form: its members do.
    """
    spec = resolve(name)[1]
    if isinstance(spec, MetricSpec):
        return [_axis(axis, spec.choice(axis)) for axis in AXES]
    if name not in LEXICAL:
        return []
    options = {key: (kind, spec.written()[key]) for key, (_, kind) in LEXICAL[name].options.items()}
    fields = [_field(key, kind, value) for key, (kind, value) in options.items()]
    return [{"axis": "", "chosen": "", "choices": {"": fields}}]


def _axis(axis: str, chosen: Choice) -> dict[str, Any]:
    if axis == "layers":
        only = {"target": "layers", "accepts": LAYERS_ACCEPT, "options": [], "value": show_choice(chosen)}
        return {"axis": axis, "chosen": "", "choices": {"": [only]}}
    every = {**AXES[axis], chosen.name: chosen}
    choices = {
        choice: [
            _field(f"{axis}.{key}", one.metadata["kind"], one.metadata["kind"].show(getattr(every[choice], key)))
            for key, one in settable(every[choice]).items()
        ]
        for choice in AXES[axis]
    }
    return {"axis": axis, "chosen": chosen.name, "choices": choices}


def _field(target: str, kind: Kind, value: str) -> dict[str, Any]:
    return {"target": target, "accepts": kind.accepts, "options": list(kind.options), "value": value}

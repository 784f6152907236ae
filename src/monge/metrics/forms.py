"""What can be set on a metric, as plain data: for forms that are made from the spec."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from monge.metrics.axes import AXES, Choice
from monge.metrics.blend import BLENDS, BlendPreset
from monge.metrics.codec import LAYERS_ACCEPT, settable, show_choice
from monge.metrics.lexical import LEXICAL, LexicalPreset
from monge.metrics.metric import MetricSpec, Preset
from monge.metrics.presets import PRESETS, resolve
from monge.types.settings import Kind

EVERY: Mapping[str, Preset | BlendPreset | LexicalPreset] = {**PRESETS, **BLENDS, **LEXICAL}
"""Every metric and profile by name: transport metrics, blends and lexical metrics."""


def kind_of(name: str) -> str:
    """Return the kind of a metric: `transport`, `blend` or `lexical`."""
    return "lexical" if name in LEXICAL else "blend" if name in BLENDS else "transport"


def form(name: str) -> list[dict[str, Any]]:
    """Return the settings of a metric in order: axes with choices and fields, or library options.

    An axis: {"axis", "chosen", "choices": {choice: [field, …]}}; a field: {"target" (as in
    TARGET=VALUE), "accepts", "options" (words to choose from, or none), "value"}. A blend has no
    form: its members do.
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
        only = {
            "target": "layers",
            "accepts": LAYERS_ACCEPT,
            "options": [],
            "value": show_choice(chosen),
        }
        return {"axis": axis, "chosen": "", "choices": {"": [only]}}
    choices_with_chosen = {**AXES[axis], chosen.name: chosen}
    choices = {
        choice: [
            _field(
                f"{axis}.{key}",
                field.metadata["kind"],
                field.metadata["kind"].show(getattr(choices_with_chosen[choice], key)),
            )
            for key, field in settable(choices_with_chosen[choice]).items()
        ]
        for choice in AXES[axis]
    }
    return {"axis": axis, "chosen": chosen.name, "choices": choices}


def _field(target: str, kind: Kind, value: str) -> dict[str, Any]:
    return {
        "target": target,
        "accepts": kind.accepts,
        "options": list(kind.options),
        "value": value,
    }

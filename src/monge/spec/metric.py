"""What a metric is: one choice an axis, and the preset that names it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from monge.errors import InvalidSetting, UnknownName
from monge.spec.axes import (
    AXES,
    Against,
    Choice,
    Encoder,
    Fluency,
    Ground,
    Layers,
    Normalise,
    Readout,
    References,
    Scale,
    Transport,
    Units,
)
from monge.spec.codec import read_choice, set_field, show_choice

_LAYERS, _UNITS, _BEST, _ENCODER, _RAW = Layers(), Units(), References("max"), Encoder(), Scale("raw")
_SILENT, _REFERENCES = Fluency("none"), Against("references")
OPTIONAL: Mapping[str, str] = {"fluency": "none", "against": "references"}
"""Axes that a signature names only where something else than this is chosen on them."""


@dataclass(frozen=True)
class MetricSpec:
    """A metric as data: what each axis of design §2 is set to."""

    weights: Choice
    centre: Choice
    normalise: Normalise
    ground: Ground
    transport: Transport
    readout: Readout
    layers: Layers = _LAYERS
    units: Units = _UNITS
    references: References = _BEST
    encoder: Encoder = _ENCODER
    scale: Scale = _RAW
    fluency: Fluency = _SILENT
    against: Against = _REFERENCES

    def choice(self, axis: str) -> Choice:
        """What is chosen on an axis."""
        found: Choice = getattr(self, axis)
        return found

    def changed(self, changes: Iterable[str]) -> MetricSpec:
        """The spec after `AXIS=VALUE` or `AXIS.FIELD=VALUE` changes, in order."""
        spec = self
        for change in changes:
            target, equals, value = change.partition("=")
            axis, dot, name = target.strip().partition(".")
            if not equals:
                raise InvalidSetting(f"expected AXIS=VALUE or AXIS.FIELD=VALUE, got {change!r}")
            if axis not in AXES:
                raise UnknownName("axis", axis, AXES)
            choice: Any = set_field(axis, spec.choice(axis), name, value) if dot else read_choice(axis, value)
            spec = replace(spec, **{axis: choice})
        return spec

    def written(self) -> dict[str, str]:
        """Every axis as text, in the order of the design."""
        return {axis: show_choice(self.choice(axis)) for axis in AXES}


@dataclass(frozen=True)
class Preset:
    """A metric with a name: its line in the table of presets.

    `languages` maps a target language (or 'other') to the changes it asks for; `lacks` maps a law
    that the metric does not keep to the reason; `symmetric` says that exchanging hypothesis and
    reference exchanges precision and recall and leaves the rest.
    """

    spec: MetricSpec
    title: str
    cites: str
    symmetric: bool = True
    languages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lacks: Mapping[str, str] = field(default_factory=dict)


def differences(one: MetricSpec, other: MetricSpec) -> dict[str, tuple[Any, Any]]:
    """The settings in which two specs differ: axis or axis.field -> both values as text."""
    found: dict[str, tuple[Any, Any]] = {}
    for axis in AXES:
        first, second = one.choice(axis), other.choice(axis)
        if first == second:
            continue
        if type(first) is type(second) and first.name == second.name and axis != "layers":
            for one_field in fields(first):
                pair = getattr(first, one_field.name), getattr(second, one_field.name)
                if pair[0] != pair[1]:
                    found[f"{axis}.{one_field.name}"] = pair
        else:
            found[axis] = (show_choice(first), show_choice(second))
    return found

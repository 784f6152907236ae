"""The spec of a transport metric: one choice per axis; and presets, which are named specs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from monge.errors import InvalidSetting, UnknownName
from monge.metrics.axes import (
    AXES,
    AdapterChoice,
    Against,
    Choice,
    EncoderSettings,
    Fluency,
    Ground,
    Idf,
    Layers,
    Normalise,
    Readout,
    References,
    ScoreScale,
    Surface,
    Transport,
    UnitSettings,
)
from monge.metrics.codec import read_choice, set_field, show_choice

_LAYERS = Layers()
_UNITS = UnitSettings()
_BEST = References("max")
_ENCODER = EncoderSettings()
_RAW = ScoreScale("raw")
_SILENT, _REFERENCES = Fluency("none"), Against("references")
_NO_SURFACE = Surface("none")
_NO_ADAPTER = AdapterChoice("none")
OPTIONAL: Mapping[str, str] = {
    "fluency": "none",
    "surface": "none",
    "adapter": "none",
    "against": "references",
}
"""Axes that a signature leaves out where they have these defaults."""


@dataclass(frozen=True)
class MetricSpec:
    """A transport metric as data: the choice on each axis (`metrics.axes`)."""

    weights: Choice
    centre: Choice
    normalise: Normalise
    ground: Ground
    transport: Transport
    readout: Readout
    layers: Layers = _LAYERS
    units: UnitSettings = _UNITS
    references: References = _BEST
    encoder: EncoderSettings = _ENCODER
    scale: ScoreScale = _RAW
    fluency: Fluency = _SILENT
    surface: Surface = _NO_SURFACE
    adapter: AdapterChoice = _NO_ADAPTER
    against: Against = _REFERENCES

    @cached_property
    def epsilon(self) -> float:
        """What is added to the total of weights before masses are normalised."""
        return self.weights.epsilon if isinstance(self.weights, Idf) else 0.0

    def choice(self, axis: str) -> Choice:
        """Return the choice on an axis."""
        choice: Choice = getattr(self, axis)
        return choice

    def changed(self, changes: Iterable[str]) -> MetricSpec:
        """Return the spec after `AXIS=VALUE` or `AXIS.FIELD=VALUE` changes, applied in order."""
        spec = self
        for change in changes:
            target, equals, value = change.partition("=")
            axis, dot, name = target.strip().partition(".")
            if not equals:
                raise InvalidSetting(f"expected AXIS=VALUE or AXIS.FIELD=VALUE, got {change!r}")
            if axis not in AXES:
                raise UnknownName("axis", axis, AXES)
            choice: Any = (
                set_field(axis, spec.choice(axis), name, value) if dot else read_choice(axis, value)
            )
            spec = replace(spec, **{axis: choice})
        return spec

    def written(self) -> dict[str, str]:
        """Return every axis as text, in the order of `AXES`."""
        return {axis: show_choice(getattr(self, axis)) for axis in AXES}


@dataclass(frozen=True)
class Preset:
    """A named metric: its row in the table of presets.

    `languages` maps a target language (or 'other') to the changes it needs; `lacks` maps a law
    that the metric does not keep to the reason; `symmetric` says that exchanging hypothesis and
    reference exchanges precision and recall and changes nothing else.
    """

    spec: MetricSpec
    title: str
    cites: str
    symmetric: bool = True
    languages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lacks: Mapping[str, str] = field(default_factory=dict)

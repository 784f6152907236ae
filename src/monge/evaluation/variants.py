"""Variants: the metric settings that a study compares, each under a label of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from monge import api
from monge.errors import InvalidSetting
from monge.metrics.labels import labels
from monge.metrics.metric import MetricSpec
from monge.metrics.presets import Spec, check_fitting, fitting, resolve

UNIFORM_UNITS = (
    "units.subwords=all",
    "units.punctuation=keep",
    "units.stopwords=none",
    "units.specials=drop",
    "weights=uniform",
)
"""The units that `uniform_units` gives every metric: all pieces but specials, equal weights."""
_RANGE = re.compile(r"(\d+)\.\.(\d+)")
_COMMA = re.compile(r",(?![^()]*\))")


@dataclass(frozen=True)
class Setup:
    """What all variants of a study share: AXIS=VALUE changes, language, model and device.

    Examples:
        >>> monge.Setup(settings=["layers=3"], lang="en").lang
        'en'
    """

    settings: Sequence[str] = ()
    lang: str | None = None
    model: str = "auto"
    device: str = "auto"
    online: bool = False

    def settings_of(self, name: str, names: Sequence[str]) -> tuple[str, ...]:
        """Return the changes for one metric: where there are several, those it has."""
        return fitting(name, self.settings) if len(names) > 1 else tuple(self.settings)


DEFAULT_MODEL = Setup()


@dataclass(frozen=True)
class Variant:
    """A metric with its settings and its model, under the label that tells it from the others.

    `spread`: its references are scored one by one and the mean is taken, because it has no such
    rule of its own.
    """

    label: str
    metric: api.Metric
    spread: bool = False

    @property
    def name(self) -> str:
        """NAME or NAME@PROFILE."""
        return self.metric.name

    @property
    def spec(self) -> Spec:
        """Every setting."""
        return self.metric.spec


def check_names(names: Sequence[str], setup: Setup = DEFAULT_MODEL) -> None:
    """Raise if a name or a setting is wrong, before anything is read or loaded."""
    if isinstance(names, str):
        raise InvalidSetting(f"metrics: expected a list of names, got one text: [{names!r}]")
    if not names:
        raise InvalidSetting("no metric was given; expected one or more names")
    check_fitting(names, setup.settings)
    unique_names: set[str] = set()
    for name in names:
        if name.strip() in unique_names:
            raise InvalidSetting(f"{name} was asked for twice")
        unique_names.add(name.strip())
        resolve(name, setup.settings_of(name, names), setup.lang)


def load_variants(
    names: Sequence[str],
    setup: Setup = DEFAULT_MODEL,
    *,
    references: str = "max",
    last: Sequence[str] = (),
) -> list[Variant]:
    """Load the variants of a study with their models.

    A data set that takes the mean over its `references` overrides the metric's own rule; `last` are
    changes that win over everything else a metric of vectors says, its bracket included.
    """
    check_names(names, setup)
    mean = ("references=mean",) if references == "mean" else ()
    specs: list[tuple[str, Spec]] = []
    for requested_name in names:
        name, spec = resolve(requested_name, setup.settings_of(requested_name, names), setup.lang)
        specs.append((name, spec.changed([*mean, *last]) if isinstance(spec, MetricSpec) else spec))
    variant_labels = labels(
        (requested_name, spec) for requested_name, (_, spec) in zip(names, specs, strict=True)
    )
    return [
        Variant(
            label,
            api.bind(
                name,
                spec,
                model=setup.model,
                lang=setup.lang,
                device=setup.device,
                online=setup.online,
            ),
            spread=bool(mean) and not isinstance(spec, MetricSpec),
        )
        for label, (name, spec) in zip(variant_labels, specs, strict=True)
    ]


@dataclass(frozen=True)
class Variation:
    """An axis, or a field of one, and the values it takes."""

    target: str
    values: tuple[str, ...]


def variation(text: str) -> Variation:
    """Parse `AXIS=V,V,…` or `AXIS.FIELD=V,V,…`; `1..12` is every whole number from 1 to 12."""
    target, equals, values_text = text.partition("=")
    if not equals or not target.strip():
        raise InvalidSetting(f"expected AXIS.FIELD=VALUE,VALUE,…, got {text!r}")
    values: list[str] = []
    for value in (part.strip() for part in _COMMA.split(values_text)):
        match = _RANGE.fullmatch(value)
        values += (
            [str(number) for number in range(int(match[1]), int(match[2]) + 1)]
            if match
            else [value]
        )
    unique_values = tuple(dict.fromkeys(value for value in values if value))
    if len(unique_values) < 2:
        raise InvalidSetting(f"{target}: a sweep needs two values or more, got {values_text!r}")
    return Variation(target.strip(), unique_values)


def grid(variations: Sequence[Variation]) -> list[tuple[str, ...]]:
    """Return every combination of values as changes `TARGET=VALUE`; the last changes fastest."""
    if not variations:
        raise InvalidSetting("nothing varies: give --vary AXIS.FIELD=VALUE,VALUE,…")
    targets = [variation.target for variation in variations]
    duplicate = next((name for name in targets if targets.count(name) > 1), None)
    if duplicate is not None:
        raise InvalidSetting(f"{duplicate} varies twice; give all its values at once")
    return [
        tuple(f"{target}={value}" for target, value in zip(targets, values, strict=True))
        for values in product(*(variation.values for variation in variations))
    ]

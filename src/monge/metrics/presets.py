"""Every metric by name: transport metrics (`PRESETS`), blends of them, and lexical metrics.

A name is NAME, NAME@PROFILE or NAME[changes]; `resolve` turns a name into a spec.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TypeAlias

from monge.errors import InvalidSetting, UnknownName
from monge.metrics.axes import AXES, Baseline
from monge.metrics.blend import BLENDS, BlendSpec
from monge.metrics.codec import split_changes
from monge.metrics.families import FAMILIES
from monge.metrics.languages import check_language
from monge.metrics.lexical import LEXICAL, LexicalSpec
from monge.metrics.metric import MetricSpec, Preset
from monge.metrics.rows import CORE
from monge.metrics.rules import Bounds, bounds, check

PRESETS: Mapping[str, Preset] = {**CORE, **FAMILIES}
Spec: TypeAlias = MetricSpec | LexicalSpec | BlendSpec


def find_preset(name: str) -> Preset:
    """Return the preset of NAME or NAME@PROFILE; raise UnknownName with the nearest name."""
    if name in PRESETS:
        return PRESETS[name]
    bare, at, profile = name.partition("@")
    if bare in PRESETS and at:
        profiles = [key.partition("@")[2] for key in PRESETS if key.startswith(bare + "@")]
        raise UnknownName(
            "profile",
            profile,
            profiles or ["(none)"],
            f"{bare} has: {', '.join(profiles) or 'no other'}",
        )
    raise UnknownName("metric", name, [*PRESETS, *BLENDS, *LEXICAL], "(monge metrics lists them)")


def resolve(text: str, changes: tuple[str, ...] = (), lang: str | None = None) -> tuple[str, Spec]:
    """Return the name and the spec of `NAME`, `NAME@PROFILE` or `NAME[changes]`.

    Changes are applied in this order, the last one wins: those of the language, `changes` (from
    `--set`), the bracket.
    """
    name, inner = split_name(text)
    if lang is not None:
        check_language(lang)
    if name in LEXICAL:
        return name, _resolve_lexical(name, inner, changes, lang)
    if name in BLENDS:
        return name, BLENDS[name].spec.changed([*changes, *split_changes(inner)])
    preset = find_preset(name)
    spec = preset.spec
    if lang is not None and preset.languages:
        spec = spec.changed(preset.languages.get(lang, preset.languages["other"]))
    spec = spec.changed([*changes, *split_changes(inner)])
    if spec.units.stopwords == "lang":
        if lang is None:
            raise InvalidSetting("units.stopwords=lang needs --lang")
        spec = spec.changed([f"units.stopwords={lang}"])
    if lang is not None and spec.scale == Baseline("baseline"):
        spec = spec.changed([f"scale.lang={lang}"])
    check(spec)
    return name, spec


def _resolve_lexical(
    name: str, inner: str, changes: tuple[str, ...], lang: str | None
) -> LexicalSpec:
    """Return the spec of a lexical metric; raise for a setting of vectors."""
    of_vectors = next(
        (change for change in changes if _target(change).partition(".")[0] in AXES), None
    )
    if of_vectors is not None and fitting(name, changes) != tuple(changes):
        raise InvalidSetting(
            f"{name} compares words, not vectors: it has no {_target(of_vectors)!r}"
        )
    of_language = LEXICAL[name].languages.get(lang or "", ())
    return LexicalSpec(name).changed([*of_language, *changes, *split_changes(inner)])


def fitting(text: str, changes: Iterable[str]) -> tuple[str, ...]:
    """Return the changes that apply to the metric, one of its members, or its options."""
    name = split_name(text)[0]
    if name in LEXICAL:
        return tuple(change for change in changes if _target(change) in LEXICAL[name].options)
    members = BLENDS[name].spec.members if name in BLENDS else ()
    fitting_changes = []
    for change in changes:
        first, _, rest = _target(change).partition(".")
        if (rest.partition(".")[0] if first in members else first) in AXES:
            fitting_changes.append(change)
    return tuple(fitting_changes)


def check_fitting(names: Sequence[str], changes: Iterable[str]) -> list[str]:
    """Raise if a change applies to no metric; return a note per change that fits only some."""
    notes = []
    for change in changes:
        having = [name for name in names if fitting(name, [change])]
        lacking = [name for name in names if name not in having]
        if not having and len(names) > 1:
            options = [option for name in names for option in _options(split_name(name)[0])]
            targets, target = [*AXES, *options], _target(change)
            near = [] if target in targets else get_close_matches(target, targets, n=1, cutoff=0.5)
            guess = f"; did you mean {near[0]}?" if near else ""
            raise InvalidSetting(
                f"--set {change}: none of {', '.join(names)} has {target!r}{guess}"
            )
        if having and lacking:
            notes.append(f"{change} applies to {', '.join(having)}, not to {', '.join(lacking)}")
    return notes


def _options(name: str) -> list[str]:
    return list(LEXICAL[name].options) if name in LEXICAL else []


def _target(change: str) -> str:
    """Return the target of a change: the part before the equals sign."""
    return change.partition("=")[0].strip()


def bounds_of(spec: Spec) -> Bounds:
    """Return the range of the scores of a metric of any kind."""
    return bounds(spec) if isinstance(spec, MetricSpec) else spec.bounds


def split_name(text: str) -> tuple[str, str]:
    """Split `NAME[changes]` into the name and the text in its bracket."""
    name, bracket, inner = text.strip().partition("[")
    if bracket and not inner.endswith("]"):
        raise InvalidSetting(f"{text!r}: the bracket is not closed")
    return name, inner[:-1] if bracket else ""

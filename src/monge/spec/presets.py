"""Every metric by name: presets of transport metrics (`PRESETS`), of blends of them, and of lexical ones.

A name is NAME, NAME@PROFILE or NAME[changes]; `resolve` is the one door from a name to a spec.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TypeAlias

from monge.errors import InvalidSetting, UnknownName
from monge.spec.axes import AXES, Baseline
from monge.spec.blend import BLENDS, BlendSpec
from monge.spec.codec import split_changes
from monge.spec.families import FAMILIES
from monge.spec.languages import check_language
from monge.spec.lexical import LEXICAL, LexicalSpec
from monge.spec.metric import MetricSpec, Preset
from monge.spec.rows import CORE
from monge.spec.rules import Bounds, bounds, check

PRESETS: Mapping[str, Preset] = {**CORE, **FAMILIES}
Spec: TypeAlias = MetricSpec | LexicalSpec | BlendSpec


def row(name: str) -> Preset:
    """The row of NAME or NAME@PROFILE; an unknown one is an error that offers the nearest."""
    if name in PRESETS:
        return PRESETS[name]
    bare, at, profile = name.partition("@")
    if bare in PRESETS and at:
        profiles = [key.partition("@")[2] for key in PRESETS if key.startswith(bare + "@")]
        raise UnknownName(
            "profile", profile, profiles or ["(none)"], f"{bare} has: {', '.join(profiles) or 'no other'}"
        )
    raise UnknownName("metric", name, [*PRESETS, *BLENDS, *LEXICAL], "(monge metrics lists them)")


def resolve(text: str, changes: tuple[str, ...] = (), lang: str | None = None) -> tuple[str, Spec]:
    """Name and spec of `NAME`, `NAME@PROFILE` or `NAME[changes]`, after what the language declares.

    Language first, then `changes` (from `--set`), then the bracket: the nearest wins.
    """
    name, inner = split_name(text)
    check_language(lang)
    if name in LEXICAL:
        of_vectors = next((one for one in changes if _target(one).partition(".")[0] in AXES), None)
        if of_vectors is not None and fitting(name, changes) != tuple(changes):
            raise InvalidSetting(f"{name} compares words, not vectors: it has no {_target(of_vectors)!r}")
        asked = LEXICAL[name].languages.get(lang or "", ())
        return name, LexicalSpec(name).changed([*asked, *changes, *split_changes(inner)])
    if name in BLENDS:
        return name, BLENDS[name].spec.changed([*changes, *split_changes(inner)])
    return name, _transport(name, inner, changes, lang)


def fitting(text: str, changes: Iterable[str]) -> tuple[str, ...]:
    """Those of the changes that are about something the metric has: an axis, a member's axis, a lexical option."""
    name = split_name(text)[0]
    if name in LEXICAL:
        return tuple(one for one in changes if _target(one) in LEXICAL[name].options)
    members = BLENDS[name].spec.members if name in BLENDS else ()
    found = []
    for one in changes:
        first, _, rest = _target(one).partition(".")
        if (rest.partition(".")[0] if first in members else first) in AXES:
            found.append(one)
    return tuple(found)


def check_fitting(names: Sequence[str], changes: Iterable[str]) -> list[str]:
    """Raise where a change is about something that no metric of a run has; sentences on what not all of them have."""
    notes = []
    for change in changes:
        having = [name for name in names if fitting(name, [change])]
        lacking = [name for name in names if name not in having]
        if not having and len(names) > 1:
            options = [option for name in names for option in _options(split_name(name)[0])]
            known, target = [*AXES, *options], _target(change)
            near = [] if target in known else get_close_matches(target, known, n=1, cutoff=0.5)
            guess = f"; did you mean {near[0]}?" if near else ""
            raise InvalidSetting(f"--set {change}: none of {', '.join(names)} has {target!r}{guess}")
        if having and lacking:
            notes.append(f"{change} applies to {', '.join(having)}, not to {', '.join(lacking)}")
    return notes


def _options(name: str) -> list[str]:
    return list(LEXICAL[name].options) if name in LEXICAL else []


def _target(change: str) -> str:
    """What a change is about: the part before the equals sign."""
    return change.partition("=")[0].strip()


def bounds_of(spec: Spec) -> Bounds:
    """The range of a metric's scores, whatever its kind."""
    return bounds(spec) if isinstance(spec, MetricSpec) else spec.bounds


def split_name(text: str) -> tuple[str, str]:
    """The name and what stands in its bracket."""
    name, bracket, inner = text.strip().partition("[")
    if bracket and not inner.endswith("]"):
        raise InvalidSetting(f"{text!r}: the bracket is not closed")
    return name, inner[:-1] if bracket else ""


def _transport(name: str, inner: str, changes: tuple[str, ...], lang: str | None) -> MetricSpec:
    found = row(name)
    spec = found.spec
    if lang is not None and found.languages:
        spec = spec.changed(found.languages.get(lang, found.languages["other"]))
    spec = spec.changed([*changes, *split_changes(inner)])
    if spec.units.stopwords == "lang":
        if lang is None:
            raise InvalidSetting("units.stopwords=lang needs --lang")
        spec = spec.changed([f"units.stopwords={lang}"])
    if lang is not None and spec.scale == Baseline("baseline"):
        spec = spec.changed([f"scale.lang={lang}"])
    check(spec)
    return spec

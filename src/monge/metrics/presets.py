"""Every metric by name: transport metrics (`PRESETS`), blends of them, lexical metrics, and those
of users (`metrics.plugins`).

A name is NAME, NAME@PROFILE, NAME[changes], or FILE.json of a fitted blend; `resolve` turns a name
into a spec.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import TypeAlias

from monge.errors import InvalidSetting, UnknownName, UsageError
from monge.metrics.axes import AXES, Baseline
from monge.metrics.blend import BLENDS, BlendSpec, LinearSum
from monge.metrics.blend_file import is_blend_file, read_blend
from monge.metrics.codec import split_changes
from monge.metrics.families import FAMILIES
from monge.metrics.languages import check_language
from monge.metrics.lexical import LEXICAL, LexicalSpec
from monge.metrics.metric import MetricSpec, Preset
from monge.metrics.plugins import PluginSpec, RegisteredMetric, find_plugin, plugin_names
from monge.metrics.rows import CORE
from monge.metrics.rules import Bounds, bounds, check

PRESETS: Mapping[str, Preset] = {**CORE, **FAMILIES}
Spec: TypeAlias = MetricSpec | LexicalSpec | BlendSpec | PluginSpec


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
    plugin = find_plugin(name)
    if plugin is not None:
        return preset_of_plugin(plugin)
    names = [*PRESETS, *BLENDS, *LEXICAL, *plugin_names()]
    raise UnknownName("metric", name, names, "(monge metrics lists them)")


def is_built_in(name: str) -> bool:
    """Return whether a name belongs to a metric of monge, so that no plugin can have it."""
    bare = name.partition("@")[0]
    return any(bare in table for table in (PRESETS, BLENDS, LEXICAL))


def preset_of_plugin(plugin: RegisteredMetric) -> Preset:
    """Return the preset of a user's metric that is a spec; raise where it is another thing."""
    spec, title = plugin.plugin.implementation, plugin.plugin.title
    if isinstance(spec, MetricSpec):
        check(spec)
        return Preset(spec, title or "a transport metric", plugin.plugin.cites)
    if not isinstance(spec, str):
        raise UsageError(f"plugin {plugin.name} is a function, not a transport metric")
    base, inner = split_name(spec)
    if base not in PRESETS:
        raise UnknownName(f"plugin {plugin.name}: transport metric", base, PRESETS)
    changed = PRESETS[base].spec.changed(split_changes(inner))
    check(changed)
    title = title or f"{spec} under a name of its own"
    return replace(PRESETS[base], spec=changed, title=title, cites=plugin.plugin.cites)


def _find_function(name: str) -> RegisteredMetric | None:
    """Return the user's metric of a name where it is a function, not a spec."""
    plugin = None if is_built_in(name) else find_plugin(name)
    return None if plugin is None or plugin.is_spec else plugin


def _find_blend(name: str) -> BlendSpec | None:
    """Return the blend of a name or of a file; None for another kind of metric."""
    if name in BLENDS:
        return BLENDS[name].spec
    return read_blend(name).spec if name not in PRESETS and is_blend_file(name) else None


def resolve(text: str, changes: tuple[str, ...] = (), lang: str | None = None) -> tuple[str, Spec]:
    """Return the name and the spec of `NAME`, `NAME@PROFILE`, `NAME[changes]` or `FILE.json`.

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
    if name not in PRESETS and is_blend_file(name):
        blend = read_blend(name)
        return blend.name, blend.spec.changed([*changes, *split_changes(inner)])
    if name not in PRESETS and _find_function(name) is not None:
        return name, PluginSpec(name).changed([*changes, *split_changes(inner)])
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
    blend = _find_blend(name)
    if blend is not None and isinstance(blend.formula, LinearSum):
        return tuple(change for change in changes if blend.takes(change))
    if blend is None and name not in PRESETS and _find_function(name) is not None:
        return ()
    members = () if blend is None else blend.members
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

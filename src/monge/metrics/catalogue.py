"""The table of all metrics, and the settings of one metric, for listings."""

from __future__ import annotations

from math import isfinite
from typing import Any

from monge.errors import MongeError, UsageError
from monge.metrics.blend import BLENDS, BlendPreset
from monge.metrics.blend_card import describe_blend
from monge.metrics.blend_file import is_blend_file, read_blend
from monge.metrics.lexical import LEXICAL, LexicalPreset
from monge.metrics.metric import Preset
from monge.metrics.plugins import MetricPlugin, PluginSpec, find_plugin, plugin_names
from monge.metrics.presets import PRESETS, bounds_of, find_preset, is_built_in, resolve, split_name
from monge.metrics.rules import Bounds
from monge.types.table import Cell, Listing, Sheet, facts_sheet

_ARROWS = {True: "↑", False: "↓", None: ""}


def listed(*, plugins: bool = False) -> Listing:
    """Return the listing of every metric and profile; `plugins` loads those of users too."""
    presets: dict[str, Preset | BlendPreset | LexicalPreset] = {**PRESETS, **BLENDS, **LEXICAL}
    data = {
        name: {"title": preset.title, "cites": preset.cites, **_range(bounds_of(resolve(name)[1]))}
        for name, preset in presets.items()
    }
    for name in plugin_names() if plugins else ():
        data[f"{name} (plugin)" if name in data else name] = _plugin_facts(name)
    rows = tuple(
        tuple(
            map(
                Cell,
                (name, _ARROWS[entry["higher_is_better"]], entry["title"], entry["cites"]),
            )
        )
        for name, entry in data.items()
    )
    return Listing(
        data, [Sheet("", ("metric", "better", "what it is", "published in"), rows, words_behind=3)]
    )


def described(metric: str, changes: tuple[str, ...] = (), lang: str | None = None) -> Listing:
    """Return the listing of every setting of a metric, with the range of its scores."""
    name, spec = resolve(metric, changes, lang)
    path = split_name(metric)[0]
    if path not in PRESETS and is_blend_file(path):
        return describe_blend(read_blend(path))
    facts: dict[str, Any]
    if isinstance(spec, PluginSpec):
        facts = {"metric": name, **spec.written(), **_plugin_facts(name)}
        texts = {key: str(value) for key, value in facts.items() if value not in ("", None)}
        texts["higher_is_better"] = "yes" if facts["higher_is_better"] else "no"
        return Listing(facts, [facts_sheet("", texts)])
    limits, preset = bounds_of(spec), LEXICAL.get(name) or BLENDS.get(name) or find_preset(name)
    facts = {"metric": name, "title": preset.title, "cites": preset.cites, **spec.written()}
    data = {**facts, **_range(limits)}
    worst = "a point at the origin" if limits.worst is None else f"{limits.worst:g}"
    low, high = limits.shown
    facts["range"] = (
        f"{low:.4g} to {high:.4g}, {'higher' if limits.higher_is_better else 'lower'} is better"
    )
    facts["range"] += f" ({limits.note})" if limits.note else ""
    has_best = not (limits.higher_is_better and limits.best == limits.low)
    facts["best"], facts["empty"] = (
        f"{limits.best:g} (both texts empty as well)"
        if has_best
        else f"no best value ({limits.best:g} where both texts are empty)",
        f"{worst} (one text empty)",
    )
    if not isinstance(preset, BlendPreset):
        facts |= {
            f"--lang {language}": ", ".join(changed)
            for language, changed in preset.languages.items()
        }
        facts |= {f"lacks {law}": reason for law, reason in preset.lacks.items()}
    return Listing(data, [facts_sheet("", facts)])


def _plugin_facts(name: str) -> dict[str, Any]:
    """Return the facts of a user's metric, or why it cannot be loaded."""
    try:
        if is_built_in(name):
            raise UsageError("a metric of monge has this name")
        limits, plugin = bounds_of(resolve(name)[1]), find_plugin(name)
    except MongeError as error:
        empty = dict.fromkeys(_range(Bounds(0, 1, 1, None, True)))
        return {"title": f"cannot be used: {error}", "cites": "plugin", **empty}
    about = MetricPlugin(None) if plugin is None else plugin.plugin
    title = find_preset(name).title if plugin is not None and plugin.is_spec else about.title
    facts = {"title": title or "a plugin", "cites": about.cites or "plugin", **_range(limits)}
    return {**facts, "best": facts["best"] if isfinite(limits.best) else None}


def _range(limits: Bounds) -> dict[str, Any]:
    return {
        "higher_is_better": limits.higher_is_better,
        "low": limits.low if isfinite(limits.low) else None,
        "high": limits.high if isfinite(limits.high) else None,
        "usual": None if limits.usual is None else list(limits.usual),
        "best": limits.best,
        "empty": limits.worst,
    }

"""Metrics of users by name: registered in Python, or found by entry point. Nothing is loaded before
its name is asked for.

    monge.register("word-f1", word_f1, low=0, high=1)      # in Python
    [project.entry-points."monge.metrics"]                 # in a package: for the command line too
    word-f1 = "my_package:word_f1"
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from importlib.metadata import EntryPoint, entry_points
from math import inf, isnan
from typing import Any
from urllib.parse import quote

from monge.errors import InvalidSetting, PluginError, UnknownName, UsageError
from monge.metrics.metric import MetricSpec
from monge.metrics.plugin_digest import digest_parts
from monge.metrics.rules import Bounds

GROUP = "monge.metrics"
"""The group of entry points in which packages name their metrics."""
RULES = ("max", "mean", "first", "all")
"""What happens with several references: the best score counts, their mean, the score with the
first, or the plugin itself gets the list of all.
"""
SINGULAR = {"hypotheses": "hypothesis", "references": "reference", "sources": "source"}
"""Names of parameters that take all texts, and of those that take the texts of one pair."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]*")
_SHORT = 8


@dataclass(frozen=True)
class MetricPlugin:
    """A user's metric: what computes it, and what monge has to know of it.

    Attributes:
        implementation: A transport metric (`"twmd[layers=3]"`, or a MetricSpec), a function, or an
            object with a method `score`. Parameters named hypothesis, reference and source take the
            texts of one pair and return a number; hypotheses, references and sources take lists and
            return a list of numbers. An object with the methods `count` and `score` is a metric of
            counts: `count` returns the counts of one pair, and `score` maps summed counts to a
            number, so that the score of a system is the score of the counts of all its segments.
        title: One line for `monge metrics`.
        cites: Where it was published.
        version: The version in signatures; by default that of the package with the entry point.
        higher_is_better: The direction of the scores.
        low: The lowest score that there is; a lower one is an error.
        high: The highest score that there is; a higher one is an error.
        takes: The texts that the parameters take, in order, where their names do not say it.
        references: What happens with several references: max, mean, first, or all.
        together: Whether scores depend on all segments of a system, which are then passed at once.
        identity: Whatever else scores depend on, such as the name or the hash of a checkpoint.

    Examples:
        >>> def overlap(hypothesis, reference):
        ...     return len(set(hypothesis.split()) & set(reference.split()))
        >>> monge.register("shared-words", monge.MetricPlugin(overlap, version="1", low=0))
        <registered metric shared-words>
        >>> monge.score(["a cat"], ["a dog"], "shared-words").score
        1.0
        >>> monge.unregister("shared-words")
    """

    implementation: Any
    title: str = ""
    cites: str = ""
    version: str = ""
    higher_is_better: bool = True
    low: float = -inf
    high: float = inf
    takes: tuple[str, ...] = ()
    references: str = "max"
    together: bool = False
    identity: str = ""


@dataclass(frozen=True, repr=False)
class RegisteredMetric:
    """A metric plugin under its name, checked: its call, its texts, its version and digest."""

    name: str
    plugin: MetricPlugin
    version: str

    def __repr__(self) -> str:
        return f"<registered metric {self.name}>"

    @property
    def is_spec(self) -> bool:
        """Whether it is a transport metric, described by its settings."""
        return isinstance(self.plugin.implementation, str | MetricSpec)

    @property
    def counts(self) -> bool:
        """Whether it counts in each pair and scores summed counts, as BLEU does."""
        implementation = self.plugin.implementation
        methods = (getattr(implementation, name, None) for name in ("count", "score"))
        return not self.is_spec and all(map(callable, methods))

    @cached_property
    def call(self) -> Callable[..., Any]:
        """The function of texts: it scores, or it counts where the metric is one of counts."""
        implementation = self.plugin.implementation
        function = getattr(implementation, "count" if self.counts else "score", None)
        if isinstance(implementation, type):
            raise UsageError(
                f"plugin {self.name}: {implementation.__name__} is a class; register an object of "
                f"it: {implementation.__name__}()"
            )
        call: Callable[..., Any] = function if callable(function) else implementation
        if not callable(call):
            raise UsageError(
                f"plugin {self.name}: expected a metric such as 'twmd[layers=3]', a function, or "
                f"an object with a method score, got {type(implementation).__name__}"
            )
        return call

    @cached_property
    def takes(self) -> tuple[str, ...]:
        """The texts that its parameters take, in order."""
        names = self.plugin.takes or _parameter_names(self.call)
        accepted = [*SINGULAR, *SINGULAR.values()]
        unknown = next((name for name in names if name not in accepted), None)
        if unknown is not None:
            raise UnknownName(
                f"plugin {self.name}: parameter",
                unknown,
                accepted,
                "(name the parameters hypothesis, reference, source, or hypotheses, references, "
                "sources; or say takes=(...))",
            )
        plural = {name in SINGULAR for name in names}
        texts = [SINGULAR.get(name, name) for name in names]
        if len(plural) != 1 or "hypothesis" not in texts or len(texts) < 2:
            raise UsageError(
                f"plugin {self.name} takes ({', '.join(names)}): expected hypothesis with "
                "reference or source, or hypotheses with references or sources"
            )
        return tuple(names)

    @property
    def by_pair(self) -> bool:
        """Whether it is called for each pair by itself, rather than with lists of texts."""
        return self.takes[0] not in SINGULAR

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that its parameters take, in order, in the singular."""
        return tuple(SINGULAR.get(name, name) for name in self.takes)

    @property
    def against(self) -> str:
        """The side that hypotheses are compared with."""
        return "references" if "reference" in self.texts else "source"

    @property
    def bounds(self) -> Bounds:
        """The range of its scores, as far as it was declared."""
        plugin = self.plugin
        best = plugin.high if plugin.higher_is_better else plugin.low
        return Bounds(plugin.low, plugin.high, best, None, plugin.higher_is_better)

    @cached_property
    def digest(self) -> str:
        """A hash of its code and of everything that was declared of it."""
        plugin = self.plugin
        declared = replace(plugin, implementation=None, title="", cites="")
        return digest_parts(plugin.implementation, (self.version, repr(declared)))

    @property
    def identity(self) -> str:
        """NAME@VERSION#digest, as a signature has it."""
        return f"{self.name}@{quote(self.version, safe='.+-')}#{self.digest[:_SHORT]}"


_registered: dict[str, RegisteredMetric] = {}
_loaded: dict[tuple[str, str], RegisteredMetric] = {}
_may_load = True


def _parameter_names(call: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the positional parameters without a default."""
    try:
        parameters = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):
        return ()
    by_position = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    )
    return tuple(
        parameter.name
        for parameter in parameters
        if parameter.kind in by_position and parameter.default is inspect.Parameter.empty
    )


def check_plugin(name: str, plugin: MetricPlugin, version: str) -> RegisteredMetric:
    """Return the plugin under its name; raise where it is not a metric."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidSetting(
            f"a metric's name has letters, digits and . + _ - only, got {str(name)[:80]!r}"
        )
    if plugin.references not in RULES:
        raise UnknownName(f"plugin {name}: references rule", plugin.references, RULES)
    if isnan(plugin.low) or isnan(plugin.high) or plugin.low >= plugin.high:
        raise InvalidSetting(
            f"plugin {name}: low must be below high, got low={plugin.low} and high={plugin.high}"
        )
    registered = RegisteredMetric(name, plugin, plugin.version or version or "0")
    if registered.counts:
        _check_counts(registered)
    if not registered.is_spec:
        takes_references = "reference" in registered.texts
        if plugin.references == "all" and not takes_references:
            raise InvalidSetting(f"plugin {name}: references=all, but it takes no references")
    return registered


def _check_counts(registered: RegisteredMetric) -> None:
    """Raise where a metric of counts does not count in one pair at a time, or cannot be summed."""
    name, plugin = registered.name, registered.plugin
    if not registered.by_pair:
        raise UsageError(
            f"plugin {name}: its method count takes ({', '.join(registered.takes)}); expected the "
            "texts of one pair, such as (hypothesis, reference)"
        )
    if plugin.references == "mean" or plugin.together:
        setting = "together=True" if plugin.together else "references=mean"
        raise InvalidSetting(
            f"plugin {name}: a metric of counts sums the counts of its segments and takes no "
            f"{setting} (references: max, first, all)"
        )


def add_plugin(registered: RegisteredMetric) -> None:
    """Keep a metric under its name; an earlier one of that name is replaced."""
    _registered[registered.name] = registered


def remove_plugin(name: str) -> None:
    """Forget a metric that was registered in this process."""
    if name not in _registered:
        raise UnknownName("registered metric", name, _registered or {"(none)"})
    del _registered[name]


@lru_cache(maxsize=4)
def _find_entries(group: str, _path: tuple[str, ...]) -> dict[str, list[EntryPoint]]:
    entries: dict[str, list[EntryPoint]] = {}
    for entry in entry_points(group=group):
        if entry.value not in {same_name.value for same_name in entries.get(entry.name, ())}:
            entries.setdefault(entry.name, []).append(entry)
    return entries


def find_entries(group: str = GROUP) -> dict[str, list[EntryPoint]]:
    """Return the entry points of a group by name; none of them is loaded."""
    return _find_entries(group, tuple(sys.path))


def plugin_names() -> list[str]:
    """Return the names of all metrics of users; nothing is loaded."""
    return list(dict.fromkeys([*_registered, *find_entries()]))


def find_plugin(name: str) -> RegisteredMetric | None:
    """Return the user's metric of a name, loaded now; None where there is none."""
    if name in _registered:
        return _registered[name]
    entries = find_entries().get(name, [])
    if not entries:
        return None
    if not _may_load and (name, entries[0].value) not in _loaded:
        return None
    if len(entries) > 1:
        places = ", ".join(map(describe_entry, entries))
        raise UsageError(f"plugin {name} has several entry points, keep one of them: {places}")
    key = name, entries[0].value
    if key not in _loaded:
        _loaded[key] = _load_entry(name, entries[0])
    return _loaded[key]


def stop_loading() -> None:
    """Load no further plugin in this process: a service runs those that its operator named."""
    global _may_load
    _may_load = False


def describe_entry(entry: EntryPoint) -> str:
    """Return where an entry point leads: the package with its version, and the object."""
    package = f" of {entry.dist.name} {entry.dist.version}" if entry.dist is not None else ""
    return f"{entry.value}{package}"


def load_entry_object(entry: EntryPoint) -> Any:
    """Import what an entry point names; raise PluginError in one line where that fails."""
    try:
        return entry.load()
    except Exception as error:  # code of others may raise anything
        raise PluginError(
            entry.name,
            f"{describe_entry(entry)} cannot be loaded: {describe_exception(error)}",
        ) from error


def _load_entry(name: str, entry: EntryPoint) -> RegisteredMetric:
    content = load_entry_object(entry)
    plugin = content if isinstance(content, MetricPlugin) else MetricPlugin(content)
    return check_plugin(name, plugin, entry.dist.version if entry.dist is not None else "")


def describe_exception(error: BaseException) -> str:
    """Return the type and the first line of an exception."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}{f': {lines[0][:200]}' if lines else ''}"


@dataclass(frozen=True)
class PluginSpec:
    """A user's metric that is a function, by name: it has no settings."""

    name: str

    @property
    def registered(self) -> RegisteredMetric:
        """The plugin of this name; raises where it is not installed or not registered."""
        registered = find_plugin(self.name)
        if registered is None:
            raise UnknownName(
                "plugin",
                self.name,
                plugin_names() or ["(none)"],
                "(install its package, or call monge.register first)",
            )
        return registered

    @property
    def bounds(self) -> Bounds:
        """The range of its scores."""
        return self.registered.bounds

    @property
    def against(self) -> str:
        """The side that hypotheses are compared with."""
        return self.registered.against

    def changed(self, changes: Sequence[str]) -> PluginSpec:
        """Return the spec itself; raise where there is a change: a plugin has no settings."""
        if changes:
            raise InvalidSetting(
                f"{self.name} is a plugin without settings: it has no {changes[0]!r}"
            )
        return self

    def written(self) -> dict[str, str]:
        """Return everything that describes the plugin as text."""
        registered = self.registered
        return {
            "plugin": registered.identity,
            "takes": ", ".join(registered.takes),
            "references": registered.plugin.references,
        }

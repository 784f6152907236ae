"""Registration of a user's own metrics under a name, for this process."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypedDict, Unpack

from monge.errors import UnknownName, UsageError
from monge.metrics import plugins
from monge.metrics.plugins import MetricPlugin, RegisteredMetric
from monge.metrics.presets import is_built_in, preset_of_plugin


class PluginFacts(TypedDict, total=False):
    """What monge has to know of a metric besides its implementation (see `MetricPlugin`)."""

    title: str
    cites: str
    version: str
    higher_is_better: bool
    low: float
    high: float
    takes: tuple[str, ...]
    references: str
    together: bool
    identity: str


def register(name: str, implementation: Any, **facts: Unpack[PluginFacts]) -> RegisteredMetric:
    """Make a metric usable by name in this process.

    Args:
        name: The name, which no metric of monge has. A metric registered before is replaced.
        implementation: A transport metric (`"twmd[layers=3]"`, or a MetricSpec), a function of
            (hypothesis, reference), a function of lists (hypotheses, references), or an object with
            such a method `score`; `source` and `sources` are parameters too. A MetricPlugin has the
            facts within it.
        facts: title, cites, version, higher_is_better, low, high, takes, references, together,
            identity: the fields of MetricPlugin.

    Returns:
        The metric as it is registered.

    Raises:
        UsageError: where the name is taken or the implementation is not a metric.

    Examples:
        >>> monge.register("length", lambda hypothesis, reference: len(hypothesis), version="1")
        <registered metric length>
        >>> monge.score(["four"], ["any"], "length").score
        4.0
        >>> monge.unregister("length")
    """
    unknown = next((fact for fact in facts if fact not in PluginFacts.__annotations__), None)
    if unknown is not None:
        raise UnknownName("fact of a plugin", unknown, PluginFacts.__annotations__)
    base = implementation if isinstance(implementation, MetricPlugin) else None
    plugin = MetricPlugin(implementation) if base is None else base
    registered = plugins.check_plugin(name, replace(plugin, **facts), "")
    if is_built_in(name):
        raise UsageError(f"{name} is a metric of monge: register yours under another name")
    if registered.is_spec:
        preset_of_plugin(registered)
    plugins.add_plugin(registered)
    return registered


def unregister(name: str) -> None:
    """Forget a metric that was registered in this process.

    Examples:
        >>> monge.register("length", lambda hypothesis, reference: len(hypothesis), version="1")
        <registered metric length>
        >>> monge.unregister("length")
    """
    plugins.remove_plugin(name)

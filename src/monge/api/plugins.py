"""Registration of a user's own metrics under a name, for this process."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, TypedDict, Unpack

from monge.errors import UnknownName, UsageError
from monge.metrics import plugins
from monge.metrics.plugins import MetricPlugin, RegisteredMetric
from monge.metrics.presets import is_built_in, preset_of_plugin
from monge.metrics.user_choices import TransportFunction, register_choice, unregister_choice


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


def register(
    name: str, implementation: Any, *, kind: str = "metric", **facts: Unpack[PluginFacts]
) -> RegisteredMetric | None:
    """Make a metric usable by name in this process.

    Args:
        name: The name, which no metric of monge has. A metric registered before is replaced.
        implementation: A transport metric (`"twmd[layers=3]"`, or a MetricSpec), a function of
            (hypothesis, reference), a function of lists (hypotheses, references), an object with
            such a method `score`, or one with the methods `count` and `score` (of summed counts);
            `source` and `sources` are parameters too. A MetricPlugin has the facts within it.
        kind: `metric`; or `ground` or `readout`, for a TransportFunction that transport metrics
            then take: `twmd[ground=NAME]`.
        facts: title, cites, version, higher_is_better, low, high, takes, references, together,
            identity: the fields of MetricPlugin.

    Returns:
        The metric as it is registered; None for a ground or a readout.

    Raises:
        UsageError: where the name is taken or the implementation is not a metric.

    Examples:
        >>> monge.register("length", lambda hypothesis, reference: len(hypothesis), version="1")
        <registered metric length>
        >>> monge.score(["four"], ["any"], "length").score
        4.0
        >>> monge.unregister("length")
    """
    if kind != "metric":
        register_choice(kind, name, _function_of(implementation, facts))
        return None
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


def _function_of(implementation: Any, facts: PluginFacts) -> TransportFunction:
    """Return a function with its facts; raise for a fact that only metrics have."""
    function = (
        implementation
        if isinstance(implementation, TransportFunction)
        else TransportFunction(implementation)
    )
    own_facts = [field.name for field in fields(TransportFunction) if field.name != "function"]
    unknown = next((fact for fact in facts if fact not in own_facts), None)
    if unknown is not None:
        raise UnknownName("fact of a ground or a readout", unknown, own_facts)
    changes: dict[str, Any] = dict(facts)
    return replace(function, **changes)


def unregister(name: str) -> None:
    """Forget a metric that was registered in this process.

    Examples:
        >>> monge.register("length", lambda hypothesis, reference: len(hypothesis), version="1")
        <registered metric length>
        >>> monge.unregister("length")
    """
    if not unregister_choice(name):
        plugins.remove_plugin(name)

"""Grounds and readouts of users as choices of an axis: registered, or found by entry point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isnan
from typing import Any

from monge.errors import InvalidSetting, UnknownName, UsageError
from monge.metrics.axes import AXES, Choice, add_choice, remove_choice
from monge.metrics.plugin_digest import digest_parts
from monge.transport.user_functions import (
    GROUNDS,
    READOUTS,
    UserFunction,
    UserGround,
    UserReadout,
)

GROUPS = {"ground": "monge.grounds", "readout": "monge.readouts"}
"""Axis -> the group of entry points in which packages name their functions."""
_FUNCTIONS = {"ground": GROUNDS, "readout": READOUTS}
_CHOICES: dict[str, Callable[[str], Choice]] = {"ground": UserGround, "readout": UserReadout}
_SHORT = 8


@dataclass(frozen=True)
class TransportFunction:
    """A user's ground or readout: a function of numpy arrays, and what monge has to know of it.

    Attributes:
        function: A ground takes the vectors of two texts, [n, d] and [m, d], and returns [n, m]; a
            readout takes a plan, costs and similarities, each [n, m], and returns a number.
        higher_is_better: A ground is a similarity if higher is better, a distance otherwise.
        low: The lowest value that there is; a lower one is an error.
        high: The highest value that there is; a higher one is an error.
        version: The version, which signatures depend on.

    Examples:
        >>> import numpy as np
        >>> def chebyshev(x, y):
        ...     return np.abs(x[:, None] - y[None]).max(axis=2)
        >>> distance = monge.TransportFunction(chebyshev, higher_is_better=False, low=0)
        >>> monge.register("chebyshev", distance, kind="ground")
        >>> metric = monge.load("wmd[ground=chebyshev]", model="auto")
        >>> round(metric.score(["a cat"], ["a cat"]).score, 6)
        0.0
        >>> monge.unregister("chebyshev")
    """

    function: Callable[..., Any]
    higher_is_better: bool = True
    low: float = -inf
    high: float = inf
    version: str = ""


def register_choice(axis: str, name: str, plugin: TransportFunction) -> None:
    """Make a function a choice of an axis under a name; an earlier one of the user is replaced."""
    if axis not in GROUPS:
        raise UnknownName("kind of plugin", axis, ["metric", *GROUPS])
    if name in AXES[axis] and name not in _FUNCTIONS[axis]:
        raise UsageError(f"{name} is a {axis} of monge: register yours under another name")
    if not name.replace("-", "").replace("_", "").isalnum():
        raise InvalidSetting(f"the name of a {axis} has letters, digits, - and _, got {name!r}")
    if not callable(plugin.function):
        raise UsageError(
            f"{axis} {name}: expected a function, got {type(plugin.function).__name__}"
        )
    if isnan(plugin.low) or isnan(plugin.high) or plugin.low >= plugin.high:
        raise InvalidSetting(
            f"{axis} {name}: low must be below high, got low={plugin.low} and high={plugin.high}"
        )
    facts = (plugin.version, repr((plugin.higher_is_better, plugin.low, plugin.high)))
    digest = digest_parts(plugin.function, facts)[:_SHORT]
    _FUNCTIONS[axis][name] = UserFunction(
        plugin.function, digest, plugin.low, plugin.high, plugin.higher_is_better
    )
    add_choice(axis, _CHOICES[axis](name))


def unregister_choice(name: str) -> bool:
    """Forget the user's ground and readout of a name; return whether there was one."""
    owners = [axis for axis, functions in _FUNCTIONS.items() if name in functions]
    for axis in owners:
        del _FUNCTIONS[axis][name]
        remove_choice(axis, name)
    return bool(owners)


def load_choice(axis: str, name: str) -> bool:
    """Load the ground or readout of a package's entry point; return whether there is one."""
    if axis not in GROUPS:
        return False
    from monge.metrics.plugins import find_entries, load_entry_object

    entries = find_entries(GROUPS[axis]).get(name, [])
    if not entries:
        return False
    content = load_entry_object(entries[0])
    plugin = content if isinstance(content, TransportFunction) else TransportFunction(content)
    register_choice(axis, name, plugin)
    return True

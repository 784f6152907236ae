"""The text form of choices: one grammar for `--set`, `NAME[...]` and signatures.

    AXIS=CHOICE        AXIS=CHOICE(VALUE)        AXIS.FIELD=VALUE        CHOICE,FIELD=VALUE,...

`CHOICE(VALUE)` sets the first field of the choice: `centre=batch(32)`. The axis `layers` has a
grammar of its own: `4`, `0.75`, `last`, `auto`, `last5:mean`, `all:mean`,
`last5:pmeans(-inf,0,1,inf)`, `last5:routing(epanechnikov/width=2/rate=0.5)`.
"""

from __future__ import annotations

import re
from dataclasses import Field, fields, replace
from math import isnan
from typing import Any

from monge.errors import InvalidSetting, UnknownName
from monge.metrics.axes import AXES, Choice, Layers, Routing
from monge.metrics.user_choices import load_choice
from monge.types.settings import Kind, number

_NEXT_FIELD = re.compile(r",(?=[a-z_]+(?:\.[a-z_]+)*=)")
_CALL = re.compile(r"(?P<name>[^()]+)\((?P<value>[^()]*)\)")
_LAYERS = re.compile(
    r"(?:last(?P<span>\d+)|(?P<all>all)):(?P<pool>mean|routing(?:\((?P<routing>[^()]+)\))?|"
    r"barycentre(?:\(zero\))?|pmeans\((?P<p>[^()]+)\))"
)
LAYERS_ACCEPT = (
    "a layer number, a fraction such as 0.75, last, auto, or "
    "lastN:mean|pmeans(p,...)|routing(...)|barycentre"
)


def split_changes(text: str) -> list[str]:
    """Split `a.b=1,c=d(1,2),e.f=3,4` into changes, at commas before a `name=`."""
    return [choice for choice in _NEXT_FIELD.split(text) if choice]


def settable(choice: Choice) -> dict[str, Field[Any]]:
    """Return the fields of a choice that users can set, in order."""
    return {field.name: field for field in fields(choice) if "kind" in field.metadata}


def set_field(axis: str, choice: Choice, name: str, text: str) -> Choice:
    """Return the choice with one field parsed from text."""
    own_fields = settable(choice)
    if name not in own_fields:
        all_fields = {
            field for alternative in AXES[axis].values() for field in settable(alternative)
        }
        if name in all_fields:
            owners = ", ".join(
                alternative.name
                for alternative in AXES[axis].values()
                if name in settable(alternative)
            )
            raise InvalidSetting(
                f"{axis}={choice.name or axis} has no field {name!r}: it belongs to {axis}={owners}"
            )
        raise UnknownName(f"{axis} field", name, all_fields or {"(none)"})
    kind: Kind = own_fields[name].metadata["kind"]
    try:
        value = kind.read(text)
    except ValueError:
        raise InvalidSetting(f"{axis}.{name} takes {kind.accepts}, got {text!r}") from None
    changed: Choice = replace(choice, **{name: value})
    return changed


def read_choice(axis: str, text: str) -> Choice:
    """Parse a choice from `choice`, `choice(value)` or `choice,field=value,...`."""
    if axis not in AXES:
        raise UnknownName("axis", axis, AXES)
    if axis == "layers":
        return read_layers(text)
    choices = AXES[axis]
    head, *settings = split_changes(text) or [""]
    if "" in choices:  # an axis with one choice: fields only
        choice, settings = choices[""], [head, *settings] if head else settings
    else:
        call = _CALL.fullmatch(head) if head not in choices else None
        name = call["name"] if call else head
        if name not in choices and not load_choice(axis, name):
            raise UnknownName(f"{axis} choice", name, choices)
        choice = choices[name]
        if call:
            if not settable(choice):
                raise InvalidSetting(f"{axis}={name} takes no value, got {call['value']!r}")
            choice = set_field(axis, choice, next(iter(settable(choice))), call["value"])
    for change in settings:
        name, equals, value = change.partition("=")
        if not equals:
            raise InvalidSetting(f"{axis} takes field=value, got {change!r}")
        choice = set_field(axis, choice, name, value)
    return choice


def show_choice(choice: Choice) -> str:
    """Return the text of a choice with every field, the inverse of `read_choice`."""
    if isinstance(choice, Layers):
        return show_layers(choice)
    written = [
        f"{name}={field.metadata['kind'].show(getattr(choice, name))}"
        for name, field in settable(choice).items()
    ]
    return ",".join([choice.name, *written] if choice.name else written)


def read_layers(text: str) -> Layers:
    """Parse a choice of layers."""
    match = _LAYERS.fullmatch(text)
    if match:
        span = -1 if match["all"] else int(match["span"])
        pool: Any = match["pool"].partition("(")[0]
        try:
            exponents = tuple(float(p) for p in match["p"].split(",")) if match["p"] else ()
        except ValueError:
            raise InvalidSetting(
                f"layers: pmeans takes numbers, -inf or inf, got {match['p']!r}"
            ) from None
        if any(isnan(p) for p in exponents) or span == 0:
            raise InvalidSetting(
                f"layers={text}: exponents must be numbers, and at least one layer"
            )
        start: Any = "zero" if match["pool"].endswith("(zero)") else "mean"
        routing = _read_routing(match["routing"] or "")
        return Layers("", "last", span, pool, exponents, start, routing)
    if text == "auto":
        return Layers(at="auto")
    if text == "last":
        return Layers(at="last")
    try:
        at = int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        raise InvalidSetting(f"layers takes {LAYERS_ACCEPT}, got {text!r}") from None
    if at < 0 or isnan(at) or (isinstance(at, float) and at > 1):
        raise InvalidSetting(f"layers takes {LAYERS_ACCEPT}, got {text!r}")
    return Layers(at=at)


def _read_routing(text: str) -> Routing:
    """Parse settings of routing: `epanechnikov/rate=0.5/tolerance=0.01`."""
    values: dict[str, Any] = {}
    kinds = {field.name: field.metadata["kind"] for field in fields(Routing)}
    for part in text.split("/") if text else ():
        name, equals, value = part.partition("=")
        name, value = (name, value) if equals else ("kernel", part)
        if name not in kinds:
            raise UnknownName("setting of routing", name, kinds)
        try:
            values[name] = kinds[name].read(value)
        except ValueError:
            raise InvalidSetting(
                f"layers: {name} of routing takes {kinds[name].accepts}, got {value!r}"
            ) from None
    return Routing(**values)


def _show_routing(routing: Routing) -> str:
    """Return the settings that differ from the usual ones, in brackets."""
    changed = [
        f"{field.name}={field.metadata['kind'].show(getattr(routing, field.name))}"
        for field in fields(Routing)
        if getattr(routing, field.name) != field.default
    ]
    return f"({'/'.join(changed)})" if changed else ""


def show_layers(choice: Layers) -> str:
    """Return the text of a choice of layers, the inverse of `read_layers`."""
    if choice.pool == "single":
        return choice.at if isinstance(choice.at, str) else repr(choice.at)
    reach = "all" if choice.span < 0 else f"last{choice.span}"
    inner = f"({','.join(number(p) for p in choice.exponents)})" if choice.pool == "pmeans" else ""
    inner = "(zero)" if choice.start == "zero" else inner
    inner = _show_routing(choice.routing) if choice.pool == "routing" else inner
    return f"{reach}:{choice.pool}{inner}"

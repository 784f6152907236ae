"""Parts as text, one grammar for `--set`, `NAME[...]` and signatures.

    AXIS=CHOICE        AXIS=CHOICE(VALUE)        AXIS.FIELD=VALUE        CHOICE,FIELD=VALUE,...

`CHOICE(VALUE)` sets the first field of the choice: `centre=batch(32)`. The axis `layers` has a
grammar of its own: `4`, `0.75`, `last`, `auto`, `last5:mean`, `all:mean`, `last5:pmeans(-inf,1,inf)`.
"""

from __future__ import annotations

import re
from dataclasses import Field, fields, replace
from math import isnan
from typing import Any

from monge.errors import InvalidSetting, UnknownName
from monge.spec.fields import Kind, number
from monge.spec.parts import AXES, Layers, Part

_NEXT_FIELD = re.compile(r",(?=[a-z_]+(?:\.[a-z_]+)?=)")
_CALL = re.compile(r"(?P<name>[^()]+)\((?P<value>[^()]*)\)")
_LAYERS = re.compile(
    r"(?:last(?P<span>\d+)|(?P<all>all)):(?P<pool>mean|routing|barycentre(?:\(zero\))?|pmeans\((?P<p>[^()]+)\))"
)
LAYERS_ACCEPT = "a layer number, a fraction such as 0.75, last, auto, or lastN:mean|pmeans(p,...)|routing|barycentre"


def split_changes(text: str) -> list[str]:
    """The changes of `a.b=1,c=d(1,2),e.f=3,4`: commas split only before the next `name=`."""
    return [part for part in _NEXT_FIELD.split(text) if part]


def settable(part: Part) -> dict[str, Field[Any]]:
    """The fields of a part that users can set, in order."""
    return {one.name: one for one in fields(part) if "kind" in one.metadata}


def set_field(axis: str, part: Part, name: str, text: str) -> Part:
    """The part with one field read from text."""
    known = settable(part)
    if name not in known:
        every = {field for other in AXES[axis].values() for field in settable(other)}
        if name in every:
            owners = ", ".join(other.name for other in AXES[axis].values() if name in settable(other))
            raise InvalidSetting(f"{axis}={part.name or axis} has no field {name!r}: it belongs to {axis}={owners}")
        raise UnknownName(f"{axis} field", name, every or {"(none)"})
    kind: Kind = known[name].metadata["kind"]
    try:
        value = kind.read(text)
    except ValueError:
        raise InvalidSetting(f"{axis}.{name} takes {kind.accepts}, got {text!r}") from None
    changed: Part = replace(part, **{name: value})
    return changed


def read_part(axis: str, text: str) -> Part:
    """A part from `choice`, `choice(value)` or `choice,field=value,...`."""
    if axis not in AXES:
        raise UnknownName("axis", axis, AXES)
    if axis == "layers":
        return read_layers(text)
    choices = AXES[axis]
    head, *settings = split_changes(text) or [""]
    if "" in choices:  # an axis with one choice: fields only
        part, settings = choices[""], [head, *settings] if head else settings
    else:
        call = _CALL.fullmatch(head) if head not in choices else None
        name = call["name"] if call else head
        if name not in choices:
            raise UnknownName(f"{axis} choice", name, choices)
        part = choices[name]
        if call:
            if not settable(part):
                raise InvalidSetting(f"{axis}={name} takes no value, got {call['value']!r}")
            part = set_field(axis, part, next(iter(settable(part))), call["value"])
    for change in settings:
        name, equals, value = change.partition("=")
        if not equals:
            raise InvalidSetting(f"{axis} takes field=value, got {change!r}")
        part = set_field(axis, part, name, value)
    return part


def show_part(part: Part) -> str:
    """The inverse of `read_part`, every field written out."""
    if isinstance(part, Layers):
        return show_layers(part)
    written = [f"{name}={one.metadata['kind'].show(getattr(part, name))}" for name, one in settable(part).items()]
    return ",".join([part.name, *written] if part.name else written)


def read_layers(text: str) -> Layers:
    """A layer choice from its grammar."""
    match = _LAYERS.fullmatch(text)
    if match:
        span = -1 if match["all"] else int(match["span"])
        pool: Any = match["pool"].partition("(")[0]
        try:
            exponents = tuple(float(p) for p in match["p"].split(",")) if match["p"] else ()
        except ValueError:
            raise InvalidSetting(f"layers: pmeans takes numbers, -inf or inf, got {match['p']!r}") from None
        if any(isnan(p) or p == 0 for p in exponents) or span == 0:
            raise InvalidSetting(f"layers={text}: exponents must be numbers other than 0, and at least one layer")
        start: Any = "zero" if match["pool"].endswith("(zero)") else "mean"
        return Layers(at="last", span=span, pool=pool, exponents=exponents, start=start)
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


def show_layers(part: Layers) -> str:
    """The inverse of `read_layers`."""
    if part.pool == "single":
        return part.at if isinstance(part.at, str) else repr(part.at)
    reach = "all" if part.span < 0 else f"last{part.span}"
    inner = f"({','.join(number(p) for p in part.exponents)})" if part.pool == "pmeans" else ""
    inner = "(zero)" if part.start == "zero" else inner
    return f"{reach}:{part.pool}{inner}"

"""Resolve choices of layers for a model: `auto`, fractions and `last` become layer numbers."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from functools import cache
from importlib.resources import files

from monge.errors import InvalidSetting
from monge.metrics.axes import Layers
from monge.metrics.codec import show_layers

FALLBACK = 0.75


@cache
def _table() -> dict[str, int]:
    data = tomllib.loads((files("monge.metrics") / "model_layers.toml").read_text("utf-8"))
    return {**data["published"], **data["chosen"]}


def automatic_layer(model: str, depth: int) -> int:
    """Return the layer that `auto` means: from model_layers.toml, or round(0.75 * depth)."""
    layer = _table().get(model.rpartition("/")[2].lower())
    return layer if layer is not None and layer <= depth else round(FALLBACK * depth)


def resolve_layers(layers: Layers, model: str, depth: int, tuned: int | None = None) -> Layers:
    """Return the choice with layer numbers, checked against the depth of the model.

    `tuned` is the layer that a tuned model was tuned at, which `auto` stands for; None for other
    models. Static vectors have one layer, 0: there is nothing to pool, so a pooled choice becomes
    that layer.
    """
    if depth == 0 and layers.pool != "single":
        return Layers(at=0)
    if layers.pool != "single":
        if layers.span > depth + 1:
            pooling = show_layers(layers).partition(":")[2]
            raise InvalidSetting(
                f"layers=last{layers.span}: {model} has layers 0 to {depth}; "
                f"give --layers last{depth}:{pooling}, or last{depth + 1} to take layer 0 too"
            )
        return replace(layers, span=depth if layers.span < 0 else layers.span)
    if layers.at == "auto":
        at = automatic_layer(model, depth) if tuned is None else tuned
    elif layers.at == "last":
        at = depth
    else:
        at = layers.at if isinstance(layers.at, int) else round(layers.at * depth)
    if at > depth:
        raise InvalidSetting(f"layers={at} is out of range: {model} has layers 0 to {depth}")
    return replace(layers, at=at)


def layer_numbers(layers: Layers, depth: int) -> tuple[int, ...]:
    """Return the layers of a resolved choice; `all` leaves out 0, the embeddings."""
    if layers.pool == "single":
        assert isinstance(layers.at, int)
        return (layers.at,)
    return tuple(range(depth - layers.span + 1, depth + 1))

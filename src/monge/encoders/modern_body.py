"""The settings and tensors of a ModernBERT encoder: rotary positions, local and global attention,
gated feed-forward networks, norms before each part.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MODERN = "modernbert"
MODERN_WORDS = "embeddings.tok_embeddings.weight"
_LOCAL, _GLOBAL = "sliding_attention", "full_attention"
_THETAS = {
    _GLOBAL: ("global_rope_theta", 160000.0),
    _LOCAL: ("local_rope_theta", 10000.0),
}
"""Of each kind of attention: the setting that older configurations have, and its default."""

MODERN_DEFAULTS: Mapping[str, Any] = {
    "vocab_size": 50368,
    "hidden_size": 768,
    "num_hidden_layers": 22,
    "num_attention_heads": 12,
    "intermediate_size": 1152,
    "max_position_embeddings": 8192,
    "local_attention": 128,
    "pad_token_id": 50283,
}


def read_modern_settings(config: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the settings of a configuration; None where one is not understood.

    `thetas` holds the base of the rotary positions per block, `reaches` how many pieces a block
    looks to each side (None: all).
    """
    settings = {name: config.get(name, value) for name, value in MODERN_DEFAULTS.items()}
    settings["pad_token_id"] = settings["pad_token_id"] or 0
    if not all(type(value) is int and value >= 0 for value in settings.values()):
        return None
    switches = {
        name: config.get(name, False) for name in ("norm_bias", "attention_bias", "mlp_bias")
    }
    eps = config.get("norm_eps", 1e-5)
    is_plain = (
        config.get("hidden_activation", "gelu") == "gelu"
        and not config.get("head_dim")
        and not config.get("rope_scaling")
        and isinstance(eps, float)
        and all(isinstance(value, bool) for value in switches.values())
    )
    depth, heads, width = (
        settings[name] for name in ("num_hidden_layers", "num_attention_heads", "hidden_size")
    )
    if not is_plain or not depth or not heads or width % (2 * heads):
        return None
    kinds, thetas = _attention_kinds(config, depth), _read_thetas(config)
    if kinds is None or thetas is None:
        return None
    reach = settings["local_attention"] // 2
    return (
        settings
        | switches
        | {
            "layer_norm_eps": eps,
            "thetas": [thetas[kind] for kind in kinds],
            "reaches": [reach if kind == _LOCAL else None for kind in kinds],
        }
    )


def _attention_kinds(config: Mapping[str, Any], depth: int) -> list[str] | None:
    """Return the kind of attention of every block; every third block looks at all pieces where a
    configuration does not say which.
    """
    kinds = config.get("layer_types")
    if kinds is None:
        period = config.get("global_attn_every_n_layers", 3)
        if type(period) is not int or period < 1:
            return None
        kinds = [_LOCAL if block % period else _GLOBAL for block in range(depth)]
    is_known = isinstance(kinds, list) and len(kinds) == depth and set(kinds) <= {_LOCAL, _GLOBAL}
    return kinds if is_known else None


def _read_thetas(config: Mapping[str, Any]) -> dict[str, float] | None:
    """Return the base of the rotary positions per kind of attention; None for scaled positions."""
    parameters = config.get("rope_parameters") or {}
    if not isinstance(parameters, dict) or not set(parameters) <= {*_THETAS}:
        return None
    thetas = {}
    for kind, (name, default) in _THETAS.items():
        rope = parameters.get(kind) or {}
        if rope.get("rope_type", "default") != "default" or set(rope) - {"rope_type", "rope_theta"}:
            return None
        theta = rope.get("rope_theta", config.get(name, default))
        if not isinstance(theta, int | float) or theta <= 0:
            return None
        thetas[kind] = float(theta)
    return thetas


def modern_shapes(settings: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return the name and shape of every tensor, the word embeddings first."""
    width, inner = settings["hidden_size"], settings["intermediate_size"]
    shape_of: dict[str, tuple[int, ...]] = {MODERN_WORDS: (settings["vocab_size"], width)}
    norms = ["embeddings.norm", "final_norm"]
    maps: dict[str, tuple[tuple[int, int], str]] = {}
    for block in range(settings["num_hidden_layers"]):
        place = f"layers.{block}"
        norms += [f"{place}.attn_norm"] * (block > 0) + [f"{place}.mlp_norm"]
        maps |= {
            f"{place}.attn.Wqkv": ((3 * width, width), "attention_bias"),
            f"{place}.attn.Wo": ((width, width), "attention_bias"),
            f"{place}.mlp.Wi": ((2 * inner, width), "mlp_bias"),
            f"{place}.mlp.Wo": ((width, inner), "mlp_bias"),
        }
    for name in norms:
        shape_of[f"{name}.weight"] = (width,)
        if settings["norm_bias"]:
            shape_of[f"{name}.bias"] = (width,)
    for name, (size, switch) in maps.items():
        shape_of[f"{name}.weight"] = size
        if settings[switch]:
            shape_of[f"{name}.bias"] = size[:1]
    return shape_of

"""Encoders of the BERT family as tensors by name: what each architecture calls its parts, and the
numbers it needs.

A body is read from a loaded module of transformers or from the files themselves; either way it is
only taken where nothing about it is unknown: every setting has a value that is understood, every
tensor is there in its shape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import log
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from monge.encoders.modern_body import (
    MODERN,
    MODERN_DEFAULTS,
    MODERN_WORDS,
    modern_shapes,
    read_modern_settings,
)

ACTIVATIONS: Mapping[str, Callable[[Tensor], Tensor]] = {"gelu": F.gelu, "relu": F.relu}

OFFSET_POSITIONS = frozenset(
    {"roberta", "xlm-roberta", "camembert", "mpnet", "longformer", "xlm-roberta-xl", "ibert"}
    | {"roberta-prelayernorm", "data2vec-text", "xmod", "luke", "lilt", "markuplm"}
)
"""Model types whose positions are counted from the pad id on."""

_BASE: Mapping[str, Any] = {
    "vocab_size": 30522,
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "hidden_act": "gelu",
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-12,
    "pad_token_id": 0,
}
_BERT = [
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "attention.output.LayerNorm",
    "intermediate.dense",
    "output.dense",
    "output.LayerNorm",
]
_MPNET = [
    "attention.attn.q",
    "attention.attn.k",
    "attention.attn.v",
    "attention.attn.o",
    "attention.LayerNorm",
    "intermediate.dense",
    "output.dense",
    "output.LayerNorm",
]
_DISTILBERT = [
    "attention.q_lin",
    "attention.k_lin",
    "attention.v_lin",
    "attention.out_lin",
    "sa_layer_norm",
    "ffn.lin1",
    "ffn.lin2",
    "output_layer_norm",
]

WORDS = "embeddings.word_embeddings.weight"


@dataclass(frozen=True)
class Family:
    """The names and defaults of an architecture.

    Attributes:
        module: The class of transformers.
        prefix: What stands before the names of tensors that were saved with a head.
        parts: The eight modules of a block: query, key, value, out, norm, up, down, norm.
        defaults: What a configuration means that does not say a setting.
        blocks: Where the blocks are.
        renamed: The settings it calls by another name than `_BASE`.
        words: The name of the word embeddings.
    """

    module: str
    prefix: str
    parts: list[str]
    defaults: Mapping[str, Any]
    blocks: str = "encoder.layer"
    renamed: Mapping[str, str] = field(default_factory=dict)
    words: str = WORDS


FAMILIES: Mapping[str, Family] = {
    "bert": Family("BertModel", "bert.", _BERT, _BASE),
    "electra": Family(
        "ElectraModel",
        "electra.",
        _BERT,
        {
            **_BASE,
            "hidden_size": 256,
            "num_attention_heads": 4,
            "intermediate_size": 1024,
            "embedding_size": 128,
        },
    ),
    "roberta": Family(
        "RobertaModel", "roberta.", _BERT, {**_BASE, "vocab_size": 50265, "pad_token_id": 1}
    ),
    "xlm-roberta": Family("XLMRobertaModel", "roberta.", _BERT, {**_BASE, "pad_token_id": 1}),
    "camembert": Family("CamembertModel", "roberta.", _BERT, {**_BASE, "pad_token_id": 1}),
    "mpnet": Family(
        "MPNetModel",
        "mpnet.",
        _MPNET,
        {
            **_BASE,
            "vocab_size": 30527,
            "pad_token_id": 1,
            "type_vocab_size": 0,
            "relative_attention_num_buckets": 32,
        },
    ),
    "distilbert": Family(
        "DistilBertModel",
        "distilbert.",
        _DISTILBERT,
        {**_BASE, "num_hidden_layers": 6, "type_vocab_size": 0},
        "transformer.layer",
        {
            "hidden_size": "dim",
            "num_hidden_layers": "n_layers",
            "num_attention_heads": "n_heads",
            "intermediate_size": "hidden_dim",
            "hidden_act": "activation",
        },
    ),
    MODERN: Family("ModernBertModel", "model.", [], MODERN_DEFAULTS, "layers", words=MODERN_WORDS),
}
"""By `model_type`. Of type embeddings only the first row is read; MPNet and DistilBERT have
none.
"""

_BUCKETS = 32  # of MPNet's distances; transformers always counts in as many
_FIXED: Mapping[str, dict[str, Any]] = {
    "mpnet": {"type_vocab_size": 0},
    "distilbert": {"type_vocab_size": 0, "layer_norm_eps": 1e-12},
}
"""Settings that an architecture does not read, whatever a configuration says."""
_PLAIN = (
    "is_decoder",
    "add_cross_attention",
    "is_encoder_decoder",
    "pruned_heads",
    "quantization_config",
)
"""Settings that must be off: with them the model is another."""


@dataclass(frozen=True)
class Body:
    """An encoder's numbers and tensors, the latter float32 on the CPU and named as transformers
    names them.

    Attributes:
        kind: The `model_type`.
        settings: Every setting under the names of `_BASE`.
        tensors: All but the word embeddings.
        words: The word embeddings of ids: ``[n] -> [n, e]``.
    """

    kind: str
    settings: Mapping[str, Any]
    tensors: Mapping[str, Tensor]
    words: Callable[[Tensor], Tensor]

    @property
    def depth(self) -> int:
        """The number of blocks."""
        return int(self.settings["num_hidden_layers"])

    @property
    def pad(self) -> int | None:
        """The id that positions are counted from; None where they are counted from 0."""
        if self.kind not in OFFSET_POSITIONS:
            return None
        return 1 if self.kind == "mpnet" else int(self.settings["pad_token_id"])

    @property
    def longest(self) -> int:
        """The largest number of pieces of a text: those that have a position."""
        return readable_length(
            self.kind, self.settings["max_position_embeddings"], self.settings["pad_token_id"]
        )

    def parts(self, block: int) -> list[tuple[Tensor, Tensor]]:
        """Return weight and bias of the eight modules of a block, as in `Family.parts`."""
        family = FAMILIES[self.kind]
        return [self.pair(f"{family.blocks}.{block}.{part}") for part in family.parts]

    def pair(self, name: str) -> tuple[Tensor, Tensor]:
        """Return weight and bias of a module."""
        return self.tensors[f"{name}.weight"], self.tensors[f"{name}.bias"]

    def relative(self, longest: int) -> Tensor | None:
        """Return MPNet's learned bias per distance of two pieces, ``[1, heads, longest, longest]``;
        else None.

        Distances up to 7 have a bucket each, longer ones share buckets of growing width, a half for
        each direction.
        """
        table = self.tensors.get("encoder.relative_attention_bias.weight")
        if table is None:
            return None
        place = torch.arange(longest)
        ahead, half = place[None, :] - place[:, None], _BUCKETS // 2
        near, distance = half // 2, ahead.abs()
        grown = torch.log(distance.float() / near) / log(128 / near) * (half - near)
        far = torch.clamp(near + grown.to(torch.long), max=half - 1)
        bucket = (ahead > 0).to(torch.long) * half + torch.where(distance < near, distance, far)
        return F.embedding(bucket, table).permute(2, 0, 1).unsqueeze(0).contiguous()


MIX = "mix"
"""The name of what an adapter may add: weights [k + 1] of layers 0 to k, whose weighted sum is read
as layer k.
"""


def readable_length(kind: str, positions: int, pad: int | None) -> int:
    """Return how many pieces a position table serves: fewer where positions start after the
    pad id.
    """
    return positions - ((pad or 0) + 1 if kind in OFFSET_POSITIONS else 0)


def read_settings(config: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the settings of a configuration under the names of `_BASE`; None for an unknown or
    special encoder.
    """
    family = FAMILIES.get(str(config.get("model_type")))
    if family is None or any(config.get(name) for name in _PLAIN):
        return None
    if (config.get("position_embedding_type") or "absolute") != "absolute" or config.get(
        "sinusoidal_pos_embds"
    ):
        return None
    kind = str(config["model_type"])
    if kind == MODERN:
        return read_modern_settings(config)
    settings = {
        name: config.get(family.renamed.get(name, name), value)
        for name, value in family.defaults.items()
    }
    settings |= _FIXED.get(kind, {})
    if kind not in OFFSET_POSITIONS:
        settings["pad_token_id"] = settings["pad_token_id"] or 0
    counts = [
        value for name, value in settings.items() if name not in ("hidden_act", "layer_norm_eps")
    ]
    are_counts = all(
        isinstance(value, int) and not isinstance(value, bool) and value >= 0 for value in counts
    )
    if (
        not are_counts
        or not isinstance(settings["layer_norm_eps"], float)
        or settings["hidden_act"] not in [*ACTIVATIONS]
    ):
        return None
    heads = settings["num_attention_heads"]
    even = heads and settings["hidden_size"] % heads == 0
    return (
        settings
        if even and settings.get("relative_attention_num_buckets", _BUCKETS) == _BUCKETS
        else None
    )


def tensor_shapes(kind: str, settings: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return the name and shape of every tensor of a body, the word embeddings first."""
    if kind == MODERN:
        return modern_shapes(settings)
    family, width, inner = FAMILIES[kind], settings["hidden_size"], settings["intermediate_size"]
    narrow = settings.get("embedding_size", width)
    shape_of: dict[str, tuple[int, ...]] = {WORDS: (settings["vocab_size"], narrow)}
    shape_of["embeddings.position_embeddings.weight"] = (
        settings["max_position_embeddings"],
        narrow,
    )
    if settings["type_vocab_size"]:
        shape_of["embeddings.token_type_embeddings.weight"] = (settings["type_vocab_size"], narrow)
    modules: dict[str, tuple[int, ...]] = {"embeddings.LayerNorm": (narrow,)}
    if narrow != width:
        modules["embeddings_project"] = (width, narrow)
    sizes = [(width, width)] * 4 + [(width,), (inner, width), (width, inner), (width,)]
    for block in range(settings["num_hidden_layers"]):
        modules |= {
            f"{family.blocks}.{block}.{part}": size
            for part, size in zip(family.parts, sizes, strict=True)
        }
    for name, size in modules.items():
        shape_of[f"{name}.weight"], shape_of[f"{name}.bias"] = size, size[:1]
    if "relative_attention_num_buckets" in settings:
        shape_of["encoder.relative_attention_bias.weight"] = (
            _BUCKETS,
            settings["num_attention_heads"],
        )
    return shape_of


def body_of_module(model: Any) -> Body | None:
    """Return the body of a transformers module; None unless it is an unmodified one in float32 on
    the CPU.
    """
    config: Any = getattr(model, "config", None)
    settings = read_settings(config.to_dict()) if config is not None else None
    if settings is None or type(model).__name__ != FAMILIES[config.model_type].module:
        return None
    state = model.state_dict()
    expected = tensor_shapes(config.model_type, settings)
    if any(
        tuple(state[name].shape) != size if name in state else True
        for name, size in expected.items()
    ):
        return None
    if any(
        tensor.dtype != torch.float32 or tensor.device.type != "cpu" for tensor in state.values()
    ):
        return None
    tensors = {name: state[name] for name in expected}
    words = tensors.pop(FAMILIES[config.model_type].words)
    return Body(config.model_type, settings, tensors, embedding_lookup(words))


def embedding_lookup(table: Tensor) -> Callable[[Tensor], Tensor]:
    """Return a function that looks up rows of a table ``[n, e]``."""
    return lambda ids: F.embedding(ids, table)

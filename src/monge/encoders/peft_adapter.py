"""Adapters in the form of the library peft: low-rank changes (LoRA) as a directory.

    base_model.model.MODULE.lora_A.weight [r, i]        base_model.model.MODULE.lora_B.weight [o, r]

add ``scale * B A`` to the weight of MODULE, where scale is alpha / r (alpha / sqrt(r) with
`use_rslora`). An adapter of monge holds ``scale * B`` and A. What peft has no place for (the layer
to read, the settings of the metric, the calibration) stands beside it in `monge_card.json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import sqrt
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from monge.encoders import digests
from monge.encoders.adapter import CARD, FORMAT, IN, OUT, WEIGHTS, Adapter
from monge.encoders.model_files import PEFT_CONFIG, PEFT_WEIGHTS, check_content
from monge.encoders.models import ModelFiles
from monge.encoders.packaged import packaged
from monge.errors import ModelError

PEFT_CARD = "monge_card.json"
_PREFIX, _A, _B = "base_model.model.", ".lora_A.weight", ".lora_B.weight"
_OFF = (
    "use_dora",
    "use_qalora",
    "fan_in_fan_out",
    "lora_bias",
    "modules_to_save",
    "trainable_token_indices",
    "target_parameters",
    "alora_invocation_tokens",
    "arrow_config",
)
"""Settings of peft that must be off: with them an adapter is more than low-rank changes."""
_STARTS = (None, True, False, "gaussian", "orthogonal")
"""Values of `init_lora_weights` that leave the weights of the base as they are."""


def export_adapter(adapter: Adapter, base: str | None = None) -> dict[str, bytes]:
    """Return the files of an adapter in the form of peft, by name.

    Args:
        adapter: an adapter whose changes are all of low rank.
        base: what peft is to load as the base model; without it the name in the adapter's card.

    Raises:
        ModelError: the adapter replaces weights or mixes layers.
    """
    replaced = [name for name in adapter.tensors if not name.endswith((OUT, IN))]
    if replaced:
        raise ModelError(
            f"{adapter.name}: it holds {replaced[0]}, and LoRA of peft has low-rank changes only: "
            f"an adapter tuned with method lora can be exported"
        )
    tensors, ranks = {}, {}
    for name, tensor in adapter.tensors.items():
        module = name.removesuffix(OUT).removesuffix(IN).removesuffix(".weight")
        is_out = name.endswith(OUT)
        tensors[f"{_PREFIX}{module}{_B if is_out else _A}"] = tensor.contiguous()
        ranks[module] = tensor.shape[1 if is_out else 0]
    config = _make_config(ranks, base or _base_name(adapter))
    card = json.dumps(dict(adapter.card), indent=1, allow_nan=False) + "\n"
    return {
        PEFT_CONFIG: (json.dumps(config, indent=2) + "\n").encode(),
        PEFT_WEIGHTS: save(tensors, metadata={"format": "pt"}),
        PEFT_CARD: card.encode(),
    }


def _base_name(adapter: Adapter) -> str:
    """Return the name of the base model in a card, in full where it is a packaged one."""
    row = packaged(adapter.base)
    return adapter.base if row is None else row.name


def _make_config(ranks: Mapping[str, int], base: str) -> dict[str, Any]:
    """Return peft's configuration: every module by its full name, alpha equal to the rank."""
    rank = max(ranks.values())
    other_ranks = {name: value for name, value in ranks.items() if value != rank}
    return {
        "peft_type": "LORA",
        "task_type": "FEATURE_EXTRACTION",
        "base_model_name_or_path": base,
        "r": rank,
        "lora_alpha": rank,
        "rank_pattern": other_ranks,
        "alpha_pattern": other_ranks,
        "target_modules": sorted(ranks),
        "lora_dropout": 0.0,
        "bias": "none",
        "inference_mode": True,
    }


def import_adapter(
    directory: Path, model: str, files: ModelFiles, shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, bytes]:
    """Return the files of a monge adapter made of a directory of peft, by name.

    Args:
        directory: where peft saved the adapter.
        model: the base model as the user named it.
        files: the base model.
        shapes: the shapes of the base model's parameters, by name.

    Raises:
        ModelError: the adapter does more than low-rank changes, or does not fit the base.
    """
    config, stored = _read_config(directory), _read_tensors(directory)
    tensors = {}
    for module in sorted({_module_of(directory, name) for name in stored}):
        inwards, outwards = (stored.get(f"{_PREFIX}{module}{end}") for end in (_A, _B))
        if inwards is None or outwards is None:
            raise ModelError(f"{directory}: {module} has one of lora_A and lora_B, not both")
        target = _find_target(directory, module, files, shapes)
        if (outwards.shape[0], inwards.shape[1]) != shapes[target]:
            raise ModelError(
                f"{directory}: {module} changes a weight of {outwards.shape[0]} x "
                f"{inwards.shape[1]}, {target} of {files.name} is "
                f"{' x '.join(map(str, shapes[target]))}"
            )
        scale = _scale(config, module, len(inwards))
        tensors[target + OUT] = outwards if scale == 1 else scale * outwards.float()
        tensors[target + IN] = inwards
    weights = save({name: tensor.contiguous() for name, tensor in tensors.items()})
    card = _make_card(directory, model, files, weights, tensors)
    return {WEIGHTS: weights, CARD: (json.dumps(card, indent=1) + "\n").encode()}


def _read_config(directory: Path) -> Mapping[str, Any]:
    """Read peft's configuration, and raise for one that asks for more than low-rank changes."""
    path = directory / PEFT_CONFIG
    if not path.is_file():
        raise ModelError(f"{directory}: not a directory of peft, it has no {PEFT_CONFIG}")
    config = digests.read_json(path)
    if not isinstance(config, dict) or config.get("peft_type") != "LORA":
        kind = config.get("peft_type") if isinstance(config, dict) else type(config).__name__
        raise ModelError(f"{path}: peft_type is {kind!r}, monge reads 'LORA' only")
    for name in _OFF:
        if config.get(name):
            raise ModelError(f"{path}: {name}={config[name]!r}, monge reads low-rank changes only")
    if config.get("bias") not in (None, "none"):
        raise ModelError(f"{path}: bias={config['bias']!r}, monge reads bias='none' only")
    if config.get("init_lora_weights") not in _STARTS:
        raise ModelError(
            f"{path}: init_lora_weights={config['init_lora_weights']!r} changes the base model too"
        )
    return config


def _read_tensors(directory: Path) -> dict[str, Tensor]:
    """Read the tensors of a directory of peft."""
    path = directory / PEFT_WEIGHTS
    if not path.is_file():
        pickled = (directory / "adapter_model.bin").is_file()
        reason = "only pickled weights, which can run code; " if pickled else ""
        raise ModelError(f"{directory}: {reason}no {PEFT_WEIGHTS}")
    check_content(path)
    try:
        tensors = load(path.read_bytes())
    except (SafetensorError, OSError) as error:
        raise ModelError(f"{path}: cannot be read as safetensors ({error})") from None
    if not tensors:
        raise ModelError(f"{path}: no tensor")
    broken = next((n for n, tensor in tensors.items() if not torch.isfinite(tensor).all()), None)
    if broken is not None:
        raise ModelError(f"{path}: NaN or infinite number in {broken}")
    return tensors


def _module_of(directory: Path, name: str) -> str:
    """Return the module that a tensor changes."""
    module = name.removeprefix(_PREFIX).removesuffix(_A).removesuffix(_B)
    if not name.startswith(_PREFIX) or not name.endswith((_A, _B)):
        raise ModelError(
            f"{directory}: it holds {name}, monge reads lora_A and lora_B of linear maps only"
        )
    return module


def _find_target(
    directory: Path, module: str, files: ModelFiles, shapes: Mapping[str, tuple[int, ...]]
) -> str:
    """Return the base parameter of a module, which peft may name with a head's prefix."""
    for name in (module, module.partition(".")[2]):
        if len(shapes.get(f"{name}.weight", ())) == 2:
            return f"{name}.weight"
    raise ModelError(f"{directory}: it changes {module}, which {files.name} does not have")


def _scale(config: Mapping[str, Any], module: str, rank: int) -> float:
    """Return the factor of a module's change; patterns of names may set another alpha."""
    alpha = config.get("lora_alpha", 8)
    for pattern, value in (config.get("alpha_pattern") or {}).items():
        if re.match(rf"(.*\.)?({pattern})$", module):
            alpha = value
            break
    if not isinstance(alpha, int | float):
        raise ModelError(f"lora_alpha of {module} is {alpha!r}, expected a number")
    return alpha / (sqrt(rank) if config.get("use_rslora") else rank)


def _make_card(
    directory: Path,
    model: str,
    files: ModelFiles,
    weights: bytes,
    tensors: Mapping[str, Tensor],
) -> dict[str, Any]:
    """Return the card: the one that was exported if the tensors are the same, else a short one."""
    digest = digests.of_bytes(weights)
    base = {
        "name": files.name,
        "model": model,
        "weights": files.weights_digest,
        "tokenizer": files.tokenizer_digest,
        "config": files.config_digest,
    }
    exported = directory / PEFT_CARD
    card = digests.read_json(exported) if exported.is_file() else None
    if isinstance(card, dict) and card.get("sha256") == digest:
        same = all(
            card["base"].get(part) == base[part] for part in ("weights", "tokenizer", "config")
        )
        if same:
            return {**card, "base": {**card["base"], "model": model}}
    return {
        "format": FORMAT,
        "base": base,
        "origin": {
            "form": "peft",
            "directory": directory.resolve().name,
            "sha256": digests.of_file(directory / PEFT_WEIGHTS),
        },
        "parameters": sum(tensor.numel() for tensor in tensors.values()),
        "sha256": digest,
    }


def write_files(directory: Path, contents: Mapping[str, bytes]) -> None:
    """Write files into a directory that is new or empty."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if next(directory.iterdir(), None) is not None:
            raise ModelError(f"{directory}: not empty; give a new directory")
        for name, content in contents.items():
            (directory / name).write_bytes(content)
    except OSError as error:
        raise ModelError(f"{directory}: cannot be written ({error.strerror})") from None

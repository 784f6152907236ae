"""The body of an encoder from the safetensors of its directory, without transformers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from monge.encoders.body import (
    FAMILIES,
    Body,
    Family,
    embedding_lookup,
    read_settings,
    tensor_shapes,
)
from monge.encoders.digests import read_json

_WHOLE, _INDEX = "model.safetensors", "model.safetensors.index.json"
_OLD_NAMES = {".gamma": ".weight", ".beta": ".bias"}
"""What TensorFlow called the numbers of a LayerNorm: the weights of the first BERT are published
so.
"""


def read_body_in(directory: Path, config: Mapping[str, Any]) -> Body | None:
    """Read the body in a directory; None where its kind is unknown or a tensor is missing.

    What is declined here is opened by transformers, which says what is wrong with it. Tensors lie
    in the file, which is mapped to memory, until they are used; those of half precision are widened
    to float32.
    """
    settings, paths = read_settings(config), _weight_paths(directory)
    if settings is None or paths is None:
        return None
    kind = str(config["model_type"])
    family = FAMILIES[kind]
    expected, tensors = tensor_shapes(kind, settings), {}
    with ExitStack() as stack:
        try:
            opened = [stack.enter_context(safe_open(path, framework="pt")) for path in paths]
            for name, file, stored in _tensor_names(opened, family):
                if name not in expected:
                    continue
                tensor = file.get_tensor(stored)
                if (
                    name in tensors
                    or tuple(tensor.shape) != expected[name]
                    or not tensor.is_floating_point()
                ):
                    return None
                tensors[name] = tensor.to(torch.float32)
        except (OSError, SafetensorError):
            return None
    return (
        Body(kind, settings, tensors, embedding_lookup(tensors.pop(family.words)))
        if tensors.keys() == expected.keys()
        else None
    )


def _weight_paths(directory: Path) -> list[Path] | None:
    """Return the files of the weights: one, or those that an index names."""
    if (directory / _WHOLE).is_file():
        return [directory / _WHOLE]
    index = read_json(directory / _INDEX) if (directory / _INDEX).is_file() else {}
    names = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(names, dict) or not names:
        return None
    paths = [directory / str(name) for name in sorted(set(names.values()))]
    return paths if all(path.parent == directory and path.is_file() for path in paths) else None


def _tensor_names(files: list[Any], family: Family) -> Iterator[tuple[str, Any, str]]:
    """Yield the name of every tensor in a body, its file, and its name in the file."""
    # no mapping
    stored_names = [(stored, file) for file in files for stored in file.keys()]  # noqa: SIM118
    prefix = family.prefix
    headed = any(stored == prefix + family.words for stored, _ in stored_names)
    for stored, file in stored_names:
        if headed and not stored.startswith(prefix):
            continue
        name = stored.removeprefix(prefix) if headed else stored
        for old, new in _OLD_NAMES.items():
            name = name.removesuffix(old) + new if name.endswith(old) else name
        yield name, file, stored

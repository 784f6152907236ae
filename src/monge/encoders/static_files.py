"""Recognise directories of static vectors by piece: model2vec's, and those of StaticEmbedding."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from monge.encoders import digests
from monge.errors import ModelError

_LAYER = "StaticEmbedding"
WEIGHTS, TOKENIZER, _MODULES = "model.safetensors", "tokenizer.json", "modules.json"


@dataclass(frozen=True)
class StaticFiles:
    """Where a model of static vectors has its table and tokenizer."""

    name: str
    directory: Path
    layer: Path


def find_static_files(directory: Path, name: str) -> StaticFiles | None:
    """Return the files of static vectors in a directory; None for any other kind of model."""
    layers = [directory / _declared_path(directory), directory / f"0_{_LAYER}"]
    layer = next((path for path in layers if (path / WEIGHTS).is_file()), None)
    config = directory / digests.CONFIG
    settings = digests.read_json(config) if config.is_file() else {}
    is_named = isinstance(settings, dict) and (
        settings.get("model_type") == "model2vec"
        or settings.get("architectures") == ["StaticModel"]
    )
    is_layered = bool(_declared_path(directory)) or (directory / f"0_{_LAYER}").is_dir()
    if not is_named and not is_layered:
        return None
    return StaticFiles(name, directory, layer or directory)


def _declared_path(directory: Path) -> str:
    """Return where `modules.json` puts the layer of static vectors, "" where it has none."""
    path = directory / _MODULES
    modules = digests.read_json(path) if path.is_file() else []
    for module in modules if isinstance(modules, list) else []:
        if isinstance(module, dict) and str(module.get("type", "")).endswith(f".{_LAYER}"):
            place = str(module.get("path") or ".")
            if Path(place).is_absolute() or ".." in Path(place).parts:
                raise ModelError(f"{path}: {place!r} is outside of the model's directory")
            return place
    return ""

"""Resolving a model name to a directory, and the digests that identify the model."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from monge.encoders import digests
from monge.encoders.model_files import check_content, check_directory
from monge.encoders.packaged import (
    EMBEDDED,
    PACKAGED,
    STATIC,
    Packaged,
    packaged,
    static_directory,
)
from monge.errors import ModelError

_VOCABULARIES = (
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "spiece.model",
    "sentencepiece.bpe.model",
    "tokenizer.model",
)
_PICKLES = ("pytorch_model.bin", "*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")


@dataclass(frozen=True)
class ModelFiles:
    """A model on disk: its name for people, where it is, and sha256 of weights, tokenizer and
    configuration.

    It is a directory, or the one file of a packaged model that is all in one.
    """

    name: str
    directory: Path
    weights_digest: str
    tokenizer_digest: str
    config_digest: str


def find_model(model: str, *, online: bool = False) -> ModelFiles:
    """Find and check the files of a packaged model (`auto`: the embedded one), a directory, or a
    hub name.

    A packaged name means the package; a directory of the same name is meant by ./NAME.
    """
    row, path = packaged(model), Path(model).expanduser()
    weights = row.path if row is not None else None
    if row is not None and weights is not None:
        return _identify_packaged(row, weights)
    if model == "auto":
        raise ModelError(
            f"no model: install the embedded one ({EMBEDDED.how_to_install}) or name one with "
            f"--model DIRECTORY|NAME"
        )
    directory = find_directory(model, online=online)
    if directory is not None:
        return _identify(path.resolve().name if path.is_dir() else model, directory)
    if path.exists():
        raise ModelError(
            f"{model}: a file, not a model directory (config.json, tokenizer and *.safetensors)"
        )
    assert row is not None
    raise ModelError(f"the model {row.name} is not installed: {row.how_to_install}")


def find_directory(model: str, *, online: bool = False) -> Path | None:
    """Return the directory of a model: the one that is named, or that of a hub name in the local
    cache, fetched first if `online`; None for packaged transformers and files.
    """
    if model == STATIC:
        return static_directory()
    row, path = packaged(model), Path(model).expanduser()
    if model == "auto" or (row is not None and row.path is not None):
        return None
    if path.is_dir():
        return path
    if path.exists() or (row is not None and not online):
        return None
    return _find_in_hub(model, online=online)


def hash_ahead(model: str) -> None:
    """Start hashing the weights of a packaged model before torch is imported, since it will be
    opened soon.
    """
    row = packaged(model)
    weights = row.path if row is not None else None
    if weights is not None:
        digests.start_hashing(weights)


def _identify_packaged(row: Packaged, weights: Path) -> ModelFiles:
    """Return the files of a packaged model, whose weights must be the published ones."""
    if row.whole:
        digest = digests.of_file(weights)
        own = (digests.of_facts(row.distribution, part, digest) for part in ("tokenizer", "config"))
        files = ModelFiles(row.name, weights, digest, *own)
    else:
        files = _identify(row.name, weights.parent)
    if files.weights_digest != row.sha256:
        raise ModelError(
            f"{weights}: the weights of {row.name} have sha256 {files.weights_digest[:8]}, "
            f"expected {row.sha256[:8]}: reinstall {row.distribution}=={row.version}"
        )
    return files


def _find_in_hub(name: str, *, online: bool) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    repository, _, revision = name.partition("@")
    if "@" in name and not revision:
        raise ModelError(f"{name!r}: a revision follows the @ (owner/name@revision)")
    patterns = ["*.json", "*.safetensors", "*.txt", "*.model"]
    try:
        directory = snapshot_download(
            repository,
            revision=revision or None,
            local_files_only=not online,
            allow_patterns=patterns,
        )
        return Path(directory)
    except HFValidationError:
        raise ModelError(
            f"{name!r} is neither a directory nor a hub name (owner/name[@revision])"
        ) from None
    except LocalEntryNotFoundError:
        near = get_close_matches(name.rpartition("/")[2], [row.name for row in PACKAGED], n=1)
        guess = f"; did you mean {near[0]}?" if near else ""
        how = (
            "the hub could not be reached"
            if online
            else "give a directory, or --online to fetch it"
        )
        raise ModelError(
            f"model {name!r} is not a directory and not in the local hub cache{guess} ({how})"
        ) from None
    except (HfHubHTTPError, OSError) as error:
        raise ModelError(
            f"model {name!r} could not be fetched: {str(error).splitlines()[0]}"
        ) from None


def _identify(name: str, directory: Path) -> ModelFiles:
    check_directory(directory)
    config = directory / digests.CONFIG
    if not config.is_file():
        raise ModelError(f"{directory}: not a model directory, it has no {digests.CONFIG}")
    settings = digests.read_json(config)
    if not isinstance(settings, dict):
        raise ModelError(
            f"{config}: a configuration is an object of settings, got {type(settings).__name__}"
        )
    if "auto_map" in settings:
        raise ModelError(
            f"{directory}: the model asks to run its own code (auto_map), which monge never does"
        )
    weights = sorted(directory.glob("*.safetensors"))
    if not weights:
        pickles = sorted({path.name for pattern in _PICKLES for path in directory.glob(pattern)})
        problem = (
            f"only pickled weights ({', '.join(pickles)}), which can run code"
            if pickles
            else "no weights"
        )
        raise ModelError(f"{directory}: {problem}; monge reads *.safetensors only")
    for path in weights:
        check_content(path)
    vocabularies = [directory / name for name in _VOCABULARIES if (directory / name).is_file()]
    for path in vocabularies:
        check_content(path, "a tokenizer")
    if not vocabularies:
        raise ModelError(f"{directory}: no tokenizer (looked for {', '.join(_VOCABULARIES)})")
    return ModelFiles(
        name,
        directory,
        weights_digest=digests.of_weights(weights),
        tokenizer_digest=digests.of_tokenizer(directory),
        config_digest=digests.of_json(config),
    )

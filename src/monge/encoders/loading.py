"""Models of the transformers library from a directory: safetensors only, no remote code, every
weight there.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from monge.encoders.body import FAMILIES, WORDS, Body
from monge.encoders.cutting import last_id
from monge.encoders.models import ModelFiles
from monge.errors import InvalidSetting, ModelError

_MOST_NAMES = 3  # tensors that an error names


def choose_device(device: str) -> str:
    """Return the device to use: `auto` prefers cuda, then mps, then cpu; raises for an unavailable
    one.
    """
    available = {
        "cpu": True,
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
    }
    if device == "auto":
        return next(name for name in ("cuda", "mps", "cpu") if available[name])
    if device.partition(":")[0] not in available:
        raise InvalidSetting(f"device takes auto, cpu, cuda or mps, got {device!r}")
    if not available[device.partition(":")[0]]:
        raise InvalidSetting(f"device {device} is not available on this machine")
    return device


def load_encoder(files: ModelFiles) -> tuple[Any, Any]:
    """Load a model's encoder in float32 without pooler or decoder, and its tokenizer."""
    from transformers import AutoModel

    with _report_errors(files, "a transformers model"):
        config = _config(files)
        kind = AutoModel._model_mapping.get(type(config), None)
        poolable = (
            kind is not None and "add_pooling_layer" in inspect.signature(kind.__init__).parameters
        )
        model, tokenizer, missing = _load(
            files, AutoModel, config, add_pooling_layer=False if poolable else None
        )
    # an encoder that was saved alone (T5EncoderModel) says that it is no encoder-decoder
    has_both = hasattr(model, "encoder") and hasattr(model, "decoder")
    body = model.get_encoder() if model.config.is_encoder_decoder or has_both else model
    read = {id(parameter) for parameter in body.parameters()}
    _check_covered(
        files,
        [
            name
            for name in missing
            if id(model.get_parameter(name)) in read and "pooler" not in name
        ],
    )
    return body.eval(), tokenizer


def make_module(body: Body) -> Any:
    """Return a body as a module of transformers, for devices on which it is not packed."""
    import transformers

    family = FAMILIES[body.kind]
    settings = {family.renamed.get(name, name): value for name, value in body.settings.items()}
    config = transformers.AutoConfig.for_model(body.kind, **settings)
    model = getattr(transformers, family.module)(config, add_pooling_layer=False)
    words = body.words(torch.arange(body.settings["vocab_size"]))
    model.load_state_dict({**body.tensors, WORDS: words})
    return model.eval()


def load_causal(files: ModelFiles) -> tuple[Any, Any]:
    """Load a causal language model with its head in float32, and its tokenizer."""
    from transformers import AutoModelForCausalLM

    endings = ("LMHeadModel", "ForCausalLM")
    with _report_errors(files, "a language model"):
        config = _config(files)
        kinds = config.architectures or ["none named"]
        if not any(kind.endswith(endings) for kind in kinds):
            raise ModelError(
                f"{files.directory}: no causal language model (its architecture is "
                f"{', '.join(kinds)}; wanted one that ends in {' or '.join(endings)})"
            )
        model, tokenizer, missing = _load(files, AutoModelForCausalLM, config)
    _check_covered(files, missing)
    return model.eval(), tokenizer


def _config(files: ModelFiles) -> Any:
    from transformers import AutoConfig

    return AutoConfig.from_pretrained(
        files.directory, local_files_only=True, trust_remote_code=False
    )


def _load(files: ModelFiles, kind: Any, config: Any, **options: Any) -> tuple[Any, Any, list[str]]:
    """Load a model and its tokenizer; also return the parameters that its weights lack."""
    from transformers import AutoTokenizer

    common = {"local_files_only": True, "trust_remote_code": False}
    model, info = kind.from_pretrained(
        files.directory,
        config=config,
        use_safetensors=True,
        dtype=torch.float32,
        output_loading_info=True,
        **common,
        **{name: value for name, value in options.items() if value is not None},
    )
    tokenizer = AutoTokenizer.from_pretrained(files.directory, use_fast=True, **common)
    if not getattr(tokenizer, "is_fast", False):
        raise ModelError(
            f"{files.directory}: its tokenizer has no fast form (tokenizer.json), so offsets are "
            f"unknown"
        )
    rows = model.get_input_embeddings().num_embeddings
    pieces = max(len(tokenizer), last_id(tokenizer.backend_tokenizer) + 1)
    if pieces > rows:
        raise ModelError(
            f"{files.directory}: the tokenizer has {pieces} pieces, the model {rows}: they do not "
            f"match"
        )
    parameters = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    return model, tokenizer, sorted(parameters.intersection(info["missing_keys"]))


def _check_covered(files: ModelFiles, missing: list[str]) -> None:
    """Raise where a configuration asks for tensors that the weights lack: they would be random."""
    if missing:
        names = ", ".join(missing[:_MOST_NAMES])
        more = f" and {len(missing) - _MOST_NAMES} more" if len(missing) > _MOST_NAMES else ""
        raise ModelError(
            f"{files.directory}: the weights do not cover the configuration, they lack "
            f"{names}{more}"
        )


@contextmanager
def _report_errors(files: ModelFiles, kind: str) -> Iterator[None]:
    """Silence progress bars and reports of unused heads, and turn any failure into a one-line
    ModelError.
    """
    from transformers.utils import logging

    level, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    except (ModelError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - the libraries raise anything, tokenizers a bare Exception
        reason = next(
            (line for line in str(error).splitlines() if line.strip()), type(error).__name__
        )
        raise ModelError(f"{files.directory}: cannot be loaded as {kind}: {reason}") from None
    finally:
        logging.set_verbosity(level)
        if bar:
            logging.enable_progress_bar()

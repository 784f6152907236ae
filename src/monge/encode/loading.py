"""Models of the transformers library from a directory: safetensors only, no remote code, every weight there."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from monge.encode.body import FAMILIES, WORDS, Body
from monge.encode.cutting import last_id
from monge.encode.models import ModelFiles
from monge.errors import InvalidSetting, ModelError

_NAMED = 3  # tensors that an error names


def chosen_device(device: str) -> str:
    """`auto` is cuda where there is one, then mps, then cpu; a device that is not there is an error."""
    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if device == "auto":
        return next(name for name in ("cuda", "mps", "cpu") if there[name])
    if device.partition(":")[0] not in there:
        raise InvalidSetting(f"device takes auto, cpu, cuda or mps, got {device!r}")
    if not there[device.partition(":")[0]]:
        raise InvalidSetting(f"device {device} is not available on this machine")
    return device


def load_encoder(files: ModelFiles) -> tuple[Any, Any]:
    """The body of a model (the encoder, of one with a decoder) in float32 without its pooler, and its tokenizer."""
    from transformers import AutoModel

    with _loading(files, "a transformers model"):
        config = _config(files)
        kind = AutoModel._model_mapping.get(type(config), None)
        poolable = kind is not None and "add_pooling_layer" in inspect.signature(kind.__init__).parameters
        model, tokenizer, missing = _loaded(files, AutoModel, config, add_pooling_layer=False if poolable else None)
    body = model.get_encoder() if model.config.is_encoder_decoder else model
    read = {id(one) for one in body.parameters()}
    _check_covered(files, [name for name in missing if id(model.get_parameter(name)) in read and "pooler" not in name])
    return body.eval(), tokenizer


def as_module(body: Body) -> Any:
    """A body as a module of transformers, for devices on which it is not packed."""
    import transformers

    family = FAMILIES[body.kind]
    named = {family.renamed.get(name, name): value for name, value in body.settings.items()}
    config = transformers.AutoConfig.for_model(body.kind, **named)
    model = getattr(transformers, family.module)(config, add_pooling_layer=False)
    words = body.words(torch.arange(body.settings["vocab_size"]))
    model.load_state_dict({**body.tensors, WORDS: words})
    return model.eval()


def load_causal(files: ModelFiles) -> tuple[Any, Any]:
    """A causal language model with its head in float32, and its tokenizer."""
    from transformers import AutoModelForCausalLM

    endings = ("LMHeadModel", "ForCausalLM")
    with _loading(files, "a language model"):
        config = _config(files)
        kinds = config.architectures or ["none named"]
        if not any(kind.endswith(endings) for kind in kinds):
            raise ModelError(
                f"{files.directory}: no causal language model (its architecture is {', '.join(kinds)}; "
                f"wanted one that ends in {' or '.join(endings)})"
            )
        model, tokenizer, missing = _loaded(files, AutoModelForCausalLM, config)
    _check_covered(files, missing)
    return model.eval(), tokenizer


def _config(files: ModelFiles) -> Any:
    from transformers import AutoConfig

    return AutoConfig.from_pretrained(files.directory, local_files_only=True, trust_remote_code=False)


def _loaded(files: ModelFiles, kind: Any, config: Any, **options: Any) -> tuple[Any, Any, list[str]]:
    """The model, its tokenizer, and the names of the parameters that its weights do not have."""
    from transformers import AutoTokenizer

    common = {"local_files_only": True, "trust_remote_code": False}
    model, told = kind.from_pretrained(
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
        raise ModelError(f"{files.directory}: its tokenizer has no fast form (tokenizer.json), so offsets are unknown")
    rows = model.get_input_embeddings().num_embeddings
    pieces = max(len(tokenizer), last_id(tokenizer.backend_tokenizer) + 1)
    if pieces > rows:
        raise ModelError(f"{files.directory}: the tokenizer has {pieces} pieces, the model {rows}: they do not match")
    parameters = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    return model, tokenizer, sorted(parameters.intersection(told["missing_keys"]))


def _check_covered(files: ModelFiles, missing: list[str]) -> None:
    """Raise where a configuration asks for tensors that the weights lack: they would be random."""
    if missing:
        named = ", ".join(missing[:_NAMED])
        more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        raise ModelError(f"{files.directory}: the weights do not cover the configuration, they lack {named}{more}")


@contextmanager
def _loading(files: ModelFiles, what: str) -> Iterator[None]:
    """Loading without progress bars and reports of unused heads; whatever goes wrong is one line."""
    from transformers.utils import logging

    level, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    except (ModelError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - the libraries raise anything, tokenizers a bare Exception
        reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise ModelError(f"{files.directory}: cannot be loaded as {what}: {reason}") from None
    finally:
        logging.set_verbosity(level)
        if bar:
            logging.enable_progress_bar()

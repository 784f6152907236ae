"""A causal language model: how likely it finds a text. Safetensors only, no remote code, offline unless asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from monge.encode.models import ModelFiles, find
from monge.encode.transformer import _quiet, chosen_device
from monge.errors import ModelError

BATCH_PIECES = 2048
_ENDINGS = ("LMHeadModel", "ForCausalLM")
_loaded: dict[tuple[str, ...], CausalModel] = {}


class CausalModel:
    """A loaded language model and its tokenizer, told from others by the digests of both."""

    def __init__(self, files: ModelFiles, *, device: str = "cpu") -> None:
        self.name, self.digest = files.name, files.weights_digest[:8] + files.tokenizer_digest[:8]
        self._device = torch.device(device)
        self._model, self._tokenizer = _load(files)
        self._model = self._model.to(self._device)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True  # a literal <|endoftext|> in a text is text
        self.vocabulary = int(self._model.config.vocab_size)
        self.longest = int(getattr(self._model.config, "max_position_embeddings", None) or 1024)

    def mean_log_likelihoods(self, texts: Sequence[str]) -> list[float | None]:
        """Mean of ln p(piece | pieces before) over the pieces of a text after its first; None where there is no second.

        Texts are read as they are, without a start piece, and cut at the positions the model has (XMoverScore's way).
        Batches are of texts of similar length; what is padded comes after a text, where nothing looks at it.
        """
        every = [encoding.ids[: self.longest] for encoding in self._tokenizer.encode_batch(list(texts))]
        found: list[float | None] = [None] * len(every)
        order = sorted((k for k, ids in enumerate(every) if len(ids) > 1), key=lambda k: len(every[k]))
        while order:
            size = max(1, BATCH_PIECES // len(every[order[-1]]))
            batch, order = order[-size:], order[:-size]
            for k, value in zip(batch, self._means([every[k] for k in batch]).tolist(), strict=True):
                found[k] = value
        return found

    def _means(self, ids: Sequence[Sequence[int]]) -> Tensor:
        longest = max(map(len, ids))
        padded = torch.tensor([[*text, *[0] * (longest - len(text))] for text in ids], device=self._device)
        present = torch.tensor([[1] * len(text) + [0] * (longest - len(text)) for text in ids], device=self._device)
        with torch.inference_mode():
            logits = self._model(input_ids=padded, attention_mask=present).logits[:, :-1].float()
        chosen = logits.gather(2, padded[:, 1:].unsqueeze(2)).squeeze(2) - logits.logsumexp(2)
        there = present[:, 1:].double()
        means: Tensor = (chosen.double() * there).sum(1) / there.sum(1)
        return means.cpu()


def open_causal(model: str, *, device: str = "auto", online: bool = False) -> CausalModel:
    """Load a directory or a hub name; the model that was asked for last stays loaded."""
    files, where = find(model, online=online), chosen_device(device)
    key = files.name, files.weights_digest, files.tokenizer_digest, where
    if key not in _loaded:
        _loaded.clear()
        _loaded[key] = CausalModel(files, device=where)
    return _loaded[key]


def _load(files: ModelFiles) -> tuple[Any, Any]:
    """The model and the rust part of its tokenizer; raises where it is no causal language model with its head."""
    from safetensors import SafetensorError
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    try:
        with _quiet():
            config = AutoConfig.from_pretrained(files.directory, **options)
            kinds = config.architectures or ["none named"]
            if not any(kind.endswith(_ENDINGS) for kind in kinds):
                raise ModelError(
                    f"{files.directory}: no causal language model (its architecture is {', '.join(kinds)}; "
                    f"wanted one that ends in {' or '.join(_ENDINGS)})"
                )
            model, loaded = AutoModelForCausalLM.from_pretrained(
                files.directory, use_safetensors=True, dtype=torch.float32, output_loading_info=True, **options
            )
            tokenizer = AutoTokenizer.from_pretrained(files.directory, use_fast=True, **options)
    except (OSError, ValueError, RuntimeError, KeyError, TypeError, SafetensorError) as error:
        reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise ModelError(f"{files.directory}: cannot be loaded as a language model: {reason}") from None
    if loaded["missing_keys"]:
        missing = sorted(loaded["missing_keys"])
        raise ModelError(f"{files.directory}: the weights lack {missing[0]} (and {len(missing) - 1} more)")
    if not getattr(tokenizer, "is_fast", False):
        raise ModelError(f"{files.directory}: its tokenizer has no fast form (tokenizer.json)")
    if len(tokenizer) > model.get_input_embeddings().num_embeddings:
        raise ModelError(f"{files.directory}: the tokenizer has more pieces than the model: they do not match")
    return model.eval(), tokenizer.backend_tokenizer
